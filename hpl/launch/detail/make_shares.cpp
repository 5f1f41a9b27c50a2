// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hpl/error.h"
#include "hpl/geometry/ownership.h"
#include "hpl/launch/detail/cutting.h"
#include "hpl/launch/detail/pieces.h"
#include "hpl/launch/detail/shares.h"
#include "hpl/launch/detail/tuning_bench.h"
#include "hpl/layout/arguments.h"
#include "hpl/layout/outside.h"
#include "hpl/runtime/global_list.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"

namespace hpl::launch {
namespace {

using geometry::Box;
using runtime::DeviceState;

/// The devices that arguments were made for; empty: none was.
std::vector<DeviceState*> devicesOfArguments(Arguments arguments) {
  std::vector<DeviceState*> devices;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::vector<Device>* known = arguments[i].devices();
    if (known == nullptr || known->empty()) continue;
    std::vector<DeviceState*> own;
    for (const Device& device : *known) own.push_back(&device.state());
    if (!devices.empty() && own != devices)
      throw LaunchError(fmt::format(
          "eval: argument {} was made for other devices than an argument before it; make both for "
          "the same devices, or name those of the launch with .devices(...)",
          i + 1));
    devices = std::move(own);
  }
  return devices;
}

/// The devices that were named, or those that arguments were made for, or all of the default
/// device's type.
std::vector<DeviceState*> devicesAskedFor(const LaunchOptions& options, Arguments arguments) {
  if (options.shares && !options.shares->devices.empty()) return options.shares->devices;
  if (options.device != nullptr && !options.shares) return {options.device};
  if (std::vector<DeviceState*> known = devicesOfArguments(arguments); !known.empty()) return known;
  runtime::Runtime& runtime = runtime::Runtime::get();
  const DeviceState& usual = options.isOwn ? runtime.ownDefaultDevice() : runtime.defaultDevice();
  const DeviceType type = usual.type();
  std::vector<DeviceState*> devices;
  for (const auto& device : runtime.devices())
    if (device->type() == type) devices.push_back(device.get());
  return devices;
}

/// Those among them that may take part: arrays of this rank alone are on its own devices.
std::vector<DeviceState*> devicesOf(const LaunchOptions& options, Arguments arguments) {
  std::vector<DeviceState*> devices = devicesAskedFor(options, arguments);
  if (!options.isOwn) return devices;
  std::erase_if(devices, [](const DeviceState* device) { return !device->isLocal(); });
  if (devices.empty())
    throw DeviceError(
        "a launch on arrays of this rank alone (HPL_RANK_LOCAL) names devices of other ranks only; "
        "leave them out, and name this rank's own: Device::isLocal()");
  return devices;
}

void checkWeights(const ShareJob& job) {
  if (job.weights.empty()) return;
  if (job.weights.size() != job.devices.size())
    throw LaunchError(
        fmt::format("kernel '{}': .weights(...) has {} weights for {} devices; give "
                    "one per device, in the order of the devices",
                    job.version->name, job.weights.size(), job.devices.size()));
  for (std::size_t i = 0; i < job.weights.size(); ++i)
    if (!std::isfinite(job.weights[i]) || job.weights[i] <= 0)
      throw LaunchError(
          fmt::format("kernel '{}': the weight of device {} ({}) is {}; weights are "
                      "positive numbers, so leave a device without work out of the "
                      "list",
                      job.version->name, i, job.devices[i]->name(), job.weights[i]));
}

void checkBlocks(const ShareJob& job) {
  if (!job.options.shares || job.options.shares->blocks.dims == 0) return;
  const Domain& blocks = job.options.shares->blocks;
  std::size_t number = 1;
  for (int axis = 0; axis < blocks.dims; ++axis) number *= blocks.size[axis];
  if (number != job.devices.size())
    throw LaunchError(
        fmt::format("kernel '{}': {} are {} blocks, but the launch goes to {} device{}; ask for as "
                    "many blocks as there are devices",
                    job.version->name, nameOfBlocks(blocks), number, job.devices.size(),
                    job.devices.size() == 1 ? "" : "s"));
  if (job.isCut())
    throw LaunchError(
        fmt::format("kernel '{}': {} says how the library cuts arrays by itself, but the arguments "
                    "say how they are cut; leave out the one or the other",
                    job.version->name, nameOfBlocks(blocks)));
}

void checkPerDevice(const ShareJob& job) {
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const Argument& argument = job.arguments[i];
    if (argument.kind == Argument::Kind::PerDevice && argument.values != job.devices.size())
      throw ArgumentError(fmt::format(
          "argument {} of kernel '{}' is a std::vector of {} values, but the launch goes to {} "
          "devices; give one value per device",
          i + 1, job.version->name, argument.values, job.devices.size()));
  }
  const auto checkDomains = [&](const std::vector<Domain>& domains, const char* which) {
    if (!domains.empty() && domains.size() != job.devices.size())
      throw LaunchError(
          fmt::format("kernel '{}': .{}(...) has {} domains for {} devices; give one "
                      "per device",
                      job.version->name, which, domains.size(), job.devices.size()));
  };
  if (!job.options.shares) return;
  checkDomains(job.options.shares->global, "global");
  checkDomains(job.options.shares->local, "local");
}

/// The argument that stands for the kernel's parameter when types are checked.
Argument sampleOf(const Argument& argument) {
  if (argument.kind == Argument::Kind::PerDevice && argument.values > 0)
    return argument.onDevice(0);
  return argument.kind == Argument::Kind::PartExtent ? Argument::scalar(std::size_t{0}) : argument;
}

bool writesArgument(const ShareJob& job, std::size_t i) {
  const Parameter& parameter = job.version->params[i];
  if (!parameter.isBuffer()) return false;
  return parameter.access != nullptr ? parameter.access->written : parameter.mode != NativeMode::In;
}

/// Devices that write the same cells at the same time would leave nothing definite behind.
void checkReplicated(const ShareJob& job) {
  if (job.devices.size() < 2) return;
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const Argument& argument = job.arguments[i];
    if (!writesArgument(job, i)) continue;
    if (argument.kind == Argument::Kind::Array && argument.annotation().count == 0)
      throw LaunchError(fmt::format(
          "kernel '{}' writes argument {} ({}), which is not annotated and so the same on all {} "
          "devices; split it with PART1(...) or the like, or pass a std::vector of disjoint views",
          job.version->name, i + 1, argument.view->root().describe(), job.devices.size()));
    if (argument.kind != Argument::Kind::PerDevice) continue;
    for (std::size_t a = 0; a < argument.values; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const memory::View& x = *argument.onDevice(a).view;
        const memory::View& y = *argument.onDevice(b).view;
        if (&x.root() != &y.root() || !x.box().intersects(y.box())) continue;
        const geometry::DeviceView views[] = {{x.box(), 0}, {y.box(), 1}};
        if (geometry::areGhostNeighbours(views[0], views[1])) continue;
        throw LaunchError(fmt::format(
            "kernel '{}' writes argument {} ({}): devices {} and {} get views {} and {}, of which "
            "one contains the other; give them views that are disjoint, or overlap as neighbours",
            job.version->name, i + 1, x.root().describe(), b, a, y.box().toString(),
            x.box().toString()));
      }
    }
  }
}

/// The arguments of one device.
struct DeviceArguments {
  std::vector<Argument> list;
  std::vector<std::size_t> partExtents;
  ShareContext context;
  /// The device has work to do.
  bool works = true;
};

std::size_t partExtent(const ShareJob& job, const std::vector<Cut>& cuts, std::size_t i,
                       std::size_t device) {
  const Argument& extent = job.arguments[i];
  for (std::size_t a = 0; a < job.arguments.size(); ++a) {
    if (cuts[a].empty() || job.arguments[a].view != extent.view) continue;
    const Box& full = cuts[a][device].full;
    return full.empty() ? 0 : static_cast<std::size_t>(full.extent(extent.partDim));
  }
  return static_cast<std::size_t>(extent.view->extents[extent.partDim]);
}

DeviceArguments argumentsOf(const ShareJob& job, const std::vector<Cut>& cuts,
                            const std::vector<coherence::DistributionPtr>& distributions,
                            std::size_t device) {
  DeviceArguments result;
  result.context.distributions = distributions;
  result.partExtents.assign(job.arguments.size(), 0);
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    Argument argument = job.arguments[i];
    if (argument.kind == Argument::Kind::PartExtent) {
      result.partExtents[i] = partExtent(job, cuts, i, device);
      argument = Argument::scalar(result.partExtents[i]);
    } else if (argument.kind == Argument::Kind::PerDevice) {
      argument = argument.onDevice(device);
    } else if (!cuts[i].empty()) {
      const Box& full = cuts[i][device].full;
      if (full.empty()) {
        result.works = false;
        return result;
      }
      argument.view = &argument.view->root().view(full);
      argument.annotate(nullptr);
    }
    result.list.push_back(argument);
  }
  return result;
}

void addPlan(const ShareJob& job, std::vector<Share>& shares, std::size_t device,
             const DeviceArguments& arguments, const LaunchOptions& options) {
  if (runtime::settings().tune == runtime::TuneMode::Full && !runtime::hasRanks() &&
      !job.runAtOnce())
    tunePartBefore(*job.entry, options, arguments.list, arguments.context);
  shares.push_back(
      {makePlan(*job.entry, options, *job.devices[device], arguments.list, arguments.context),
       device, arguments.partExtents});
}

/// The axes along which some of the slices differ.
AxisSet axesCut(const std::vector<Slice>& slices) {
  AxisSet cut{};
  for (std::size_t a = 0; a < 3; ++a)
    for (const Slice& slice : slices) cut[a] = cut[a] || !(slice[a] == slices.front()[a]);
  return cut;
}

/// A plan for a slice of the domain that the context speaks of; the cells that it touches are
/// known.
void addSlice(const ShareJob& job, std::vector<Share>& shares, std::size_t device,
              DeviceArguments& arguments, const Slice& slice, LaunchOptions options) {
  for (std::size_t a = 0; a < 3; ++a) {
    arguments.context.slice->first[a] = static_cast<std::size_t>(slice[a].lo);
    options.global.size[a] = static_cast<std::size_t>(slice[a].length());
  }
  addPlan(job, shares, device, arguments, options);
}

std::vector<TouchedCells> cellsOf(const ShareJob& job, const DeviceArguments& arguments,
                                  const Slice& slice, const AxisSet& cut) {
  std::vector<TouchedCells> cells(job.arguments.size());
  SlicedDomain domain{{}, cut};
  std::copy_n(arguments.context.slice->whole, 3, domain.size.begin());
  for (std::size_t i = 0; i < job.arguments.size(); ++i)
    if (arguments.list[i].kind == Argument::Kind::Array)
      cells[i] = cellsTouched(*job.version->params[i].access, arguments.list[i].view->box(), slice,
                              domain);
  return cells;
}

/// One plan for each piece of the device's part, each a slice of the part's own domain.
void addPieces(const ShareJob& job, std::vector<Share>& shares, std::size_t device,
               DeviceArguments arguments, const std::vector<Slice>& pieces) {
  const LaunchOptions options = optionsOf(job, device, {});
  const Shape whole = layout::chooseShape(domainsOf(options), layout::firstArray(arguments.list),
                                          *job.devices[device], job.version->name);
  layout::checkAccesses(*job.version, arguments.list, whole, true);
  std::copy(whole.size, whole.size + 3, arguments.context.slice.emplace().whole);
  LaunchOptions own = options;
  own.global.dims = static_cast<int>(whole.dims);
  for (const Slice& piece : pieces) {
    arguments.context.cells = cellsOf(job, arguments, piece, axesCut(pieces));
    addSlice(job, shares, device, arguments, piece, own);
  }
}

/// True: some argument is cut with overlaps.
bool addAnnotatedPlans(const ShareJob& job, std::vector<Share>& shares) {
  const std::vector<Cut> cuts = cutArguments(job);
  const std::vector<Domain> domains = partDomains(job, cuts);
  checkReplicated(job);
  const std::vector<coherence::DistributionPtr> distributions = distributionsOf(job, cuts);
  std::vector<PartLaunch> launches;
  for (std::size_t d = 0; d < job.devices.size(); ++d) {
    DeviceArguments arguments = argumentsOf(job, cuts, distributions, d);
    if (!arguments.works) continue;
    const std::size_t before = shares.size();
    const std::vector<Slice> pieces = piecesOfPart(job, cuts, d);
    if (pieces.empty()) {
      addPlan(job, shares, d, arguments, optionsOf(job, d, domains));
    } else {
      addPieces(job, shares, d, std::move(arguments), pieces);
    }
    PartLaunch& launch = launches.emplace_back();
    for (std::size_t p = before; p < shares.size(); ++p)
      launch.plans.push_back(shares[p].plan.get());
    launch.partExtents = shares.back().partExtents;
    launch.global = optionsOf(job, d, domains).global;
  }
  return !launches.empty() && notePartFacts(job, launches);
}

void addDividedPlans(const ShareJob& job, std::vector<Share>& shares) {
  const Division division = divide(job);
  for (std::size_t d = 0; d < job.devices.size(); ++d) {
    const Slice& slice = division.slices[d];
    if (isEmpty(slice)) continue;
    DeviceArguments arguments;
    arguments.list.assign(job.arguments.begin(), job.arguments.end());
    for (Argument& argument : arguments.list)
      if (argument.kind == Argument::Kind::PerDevice) argument = argument.onDevice(d);
    arguments.partExtents.assign(job.arguments.size(), 0);
    std::copy(division.global.size, division.global.size + 3,
              arguments.context.slice.emplace().whole);
    arguments.context.cells = division.cells[d];
    LaunchOptions options = optionsOf(job, d, {});
    options.global = division.global;
    const std::vector<Slice> pieces = piecesOfBlock(job, division, d);
    if (pieces.empty()) addSlice(job, shares, d, arguments, slice, options);
    for (const Slice& piece : pieces) {
      arguments.context.cells = cellsOf(job, arguments, piece, division.cut);
      addSlice(job, shares, d, arguments, piece, options);
    }
  }
}

}  // namespace

std::string nameOfBlocks(const Domain& blocks) {
  std::vector<std::size_t> counts(blocks.size, blocks.size + blocks.dims);
  return fmt::format(".blocks({})", fmt::join(counts, ", "));
}

LaunchOptions optionsOf(const ShareJob& job, std::size_t device,
                        const std::vector<Domain>& domains) {
  LaunchOptions options = job.options;
  options.shares.reset();
  options.device = job.devices[device];
  if (!domains.empty()) options.global = domains[device];
  const ShareOptions* shares = job.options.shares.get();
  if (shares != nullptr && !shares->global.empty()) options.global = shares->global[device];
  if (shares != nullptr && !shares->local.empty()) options.local = shares->local[device];
  return options;
}

namespace {

/// The kernel that devices run on their slices of the domain: numbers of groups are those of the
/// whole.
KernelEntry& entryForSlices(KernelEntry& entry, const KernelVersion& version, const Domain& local) {
  if (!version.access.usesGroupId || local.dims == 0) return entry;
  ir::GroupSize size{1, 1, 1};
  std::copy_n(local.size, local.dims, size.begin());
  return entry.forGroups(size);
}

}  // namespace

std::shared_ptr<SharedPlan> makeSharedPlan(KernelEntry& entry, const LaunchOptions& options,
                                           Arguments arguments) {
  ShareJob job{&entry, options, arguments, nullptr, devicesOf(options, arguments), {}};
  std::vector<std::string> labels(arguments.size());
  std::vector<Argument> samples;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    samples.push_back(sampleOf(arguments[i]));
    if (samples[i].kind == Argument::Kind::Array) labels[i] = samples[i].view->root().label();
  }
  job.version = entry.version(*job.devices.front(), labels);
  if (!job.isCut() && job.devices.size() > 1) {
    job.entry = &entryForSlices(entry, *job.version, options.local);
    job.version = job.entry->version(*job.devices.front(), labels);
  }
  layout::checkArguments(*job.version, samples);
  checkPerDevice(job);
  if (options.shares) job.weights = options.shares->weights;
  checkWeights(job);
  checkBlocks(job);
  if (options.shares && options.shares->measured) job.weights = measuredWeights(job);
  std::vector<Share> shares;
  bool hasGhosts = false;
  if (job.isCut() || job.devices.size() == 1) {
    hasGhosts = addAnnotatedPlans(job, shares);
  } else {
    addDividedPlans(job, shares);
  }
  return std::make_shared<SharedPlan>(SharesKey::of(options, arguments), std::move(shares),
                                      hasGhosts);
}

}  // namespace hpl::launch

namespace hpl {
Launcher& Launcher::plan(const ExecutionPlan& plan) {
  std::vector<Device> list;
  std::vector<double> percentages;
  for (const ExecutionPlan::Share& share : plan.shares()) {
    list.push_back(share.device);
    percentages.push_back(share.percentage);
  }
  devices(list);
  weights(percentages);
  launch::sharesOf(options_).measured = plan.search() == PlanSearch::ONCE;
  return *this;
}

}  // namespace hpl
