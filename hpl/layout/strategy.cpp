// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "hpl/error.h"
#include "hpl/layout/detail/group_layouts.h"
#include "hpl/layout/detail/hidden_value.h"
#include "hpl/layout/findings.h"
#include "hpl/layout/heuristic_choice.h"
#include "hpl/layout/rewriter.h"
#include "hpl/layout/rewritten_kernels.h"
#include "hpl/memory/root.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/explain.h"
#include "hpl/runtime/global_list.h"
#include "hpl/runtime/quirks.h"
#include "hpl/runtime/settings.h"

namespace hpl::layout {
namespace {

thread_local int quietTrials = 0;

using detail::dividedUp;
using detail::roundedUp;
using detail::valueOf;
using strategies::Hidden;
using strategies::Rows;
using strategies::RowsOptions;

/// A written array is passed a second time, so that what one work-item writes may be what another
/// name reads.
bool hasAliases(const LaunchRequest& request) {
  for (std::size_t i = 0; i < request.arguments.size(); ++i) {
    const ir::ArrayAccess* access = request.version->params[i].access;
    if (access == nullptr || !access->written || request.arguments[i].kind != Argument::Kind::Array)
      continue;
    const memory::View& written = *request.arguments[i].view;
    for (std::size_t j = 0; j < request.arguments.size(); ++j) {
      if (i == j || request.arguments[j].kind != Argument::Kind::Array) continue;
      const memory::View& other = *request.arguments[j].view;
      if (&other.root() == &written.root() && other.box().intersects(written.box())) return true;
    }
  }
  return false;
}

/// Ids per work-item along each axis: as the variant says, else so that every unit gets several
/// blocks, but there are no more than a few hundred: each costs a function call.
std::array<std::size_t, 3> blocksFor(const Shape& shape, const Rows& rows,
                                     const RowsOptions& options, unsigned units,
                                     const Variant& variant) {
  std::array<std::size_t, 3> block{1, 1, 1};
  const auto row = static_cast<std::size_t>(options.order[0]);
  const std::size_t groups = std::size_t{8} * std::max(1u, units);
  block[row] = shape.size[row];
  if (options.dims >= 2) {
    const auto middle = static_cast<std::size_t>(options.order[1]);
    const auto slow = static_cast<std::size_t>(options.order[options.dims == 3 ? 2 : 1]);
    const auto jam = static_cast<std::size_t>(std::max(1, rows.jam));
    block[middle] = std::min<std::size_t>(shape.size[middle], options.dims == 3 ? 32 : 16);
    block[slow] = std::max(jam, options.dims == 3 ? std::size_t{8} : block[slow]);
    if (variant.band > 0)
      block[middle] = std::min(shape.size[middle], static_cast<std::size_t>(variant.band));
    if (variant.depth > 0 && options.dims == 3)
      block[slow] = std::min(shape.size[slow], static_cast<std::size_t>(variant.depth));
    if (variant.band > 0 || variant.depth > 0) return block;
    const auto count = [&] {
      std::size_t product = 1;
      for (std::size_t a = 0; a < 3; ++a) product *= dividedUp(shape.size[a], block[a]);
      return product;
    };
    while (count() < groups && block[middle] > jam && middle == slow)
      block[middle] = std::max(jam, roundedUp(block[middle] / 2, jam));
    if (count() < groups && middle != slow) block[slow] = std::max(jam, std::size_t{4});
    while (count() < groups && middle != slow && block[middle] > 4) block[middle] /= 2;
    // From this many operations on, the cost of a group does not show.
    constexpr std::size_t kWorthIt = 65536;
    while (middle == slow && block[middle] * block[row] < kWorthIt && block[middle] < 64 &&
           count() >= 2 * groups)
      block[middle] *= 2;
    if (count() >= groups) return block;
  }
  // Too few rows for all units: they are cut.
  std::size_t others = 1;
  for (std::size_t a = 0; a < 3; ++a)
    if (a != row) others *= dividedUp(shape.size[a], block[a]);
  const std::size_t pieces = std::max<std::size_t>(1, dividedUp(groups, others));
  const auto vector = static_cast<std::size_t>(rows.lanes) * static_cast<std::size_t>(rows.vectors);
  block[row] = std::max(std::min<std::size_t>(1024, shape.size[row]),
                        roundedUp(dividedUp(shape.size[row], pieces), vector));
  return block;
}

/// Plans for other views, and parts on other devices of a kind, repeat what is said once.
void explain(const LaunchRequest& request, const std::string& choice) {
  runtime::explainOnce(
      fmt::format("kernel '{}' on {}: {}", request.version->name, request.device->name(), choice));
}

/// True if the rewritten kernel keeps the launch's groups.
bool keepsGroups(const LaunchRequest& request) {
  return request.device->type() == CPU && request.version->access.usesBarrier;
}

/// Why launches like this one run as written, whatever the kernel; empty: they need not.
std::string defect(const LaunchRequest& request) {
  const runtime::Settings& settings = runtime::settings();
  if (settings.strategy == runtime::Strategy::Direct) return "HPL_STRATEGY says so";
  if (settings.checkBounds) return "HPL_CHECK=bounds checks kernels as they are written";
  if (request.version->access.usesProbe) return "it has a probe";
  if (request.domains.local.dims > 0 && !keepsGroups(request))
    return "the launch chose its local domain";
  if (hasAliases(request)) return "a written array is passed twice";
  return "";
}

/// Groups whose work-items wait for each other, each of them by one work-item.
Layout inGroups(const LaunchRequest& request, const Shape& shape, std::string& reason) {
  Layout result{nullptr, {}, shape, true, runtime::Strategy::Rows, 0};
  if (!keepsGroups(request) || request.slice || shape.guardDims > 0) {
    reason = "its work-items share local memory or wait for each other";
    return result;
  }
  std::array<int, 3> local{1, 1, 1};
  std::array<std::size_t, 3> groups{1, 1, 1};
  for (std::size_t a = 0; a < shape.dims; ++a) {
    local[a] = static_cast<int>(shape.local[a]);
    groups[a] = shape.size[a] / shape.local[a];
  }
  const std::shared_ptr<const strategies::GroupLoops> loops =
      request.version->rewritten->groupLoops(*request.version, static_cast<int>(shape.dims), local);
  reason = loops->reason;
  if (!loops->kernel) return result;
  const std::size_t units = std::max(1u, request.device->properties().computeUnits);
  const std::size_t pieces = std::max<std::size_t>(1, 8 * units / (groups[1] * groups[2]));
  const std::size_t block = std::max<std::size_t>(1, groups[0] / pieces);
  for (const Hidden& hidden : loops->hidden)
    result.hidden.push_back(valueOf(hidden, request, shape, {block, 1, 1}));
  result.kernel = loops->kernel;
  result.vectorBits =
      lanesFor(*request.version, *request.device) * widestElement(*request.version) * 8;
  result.distinctArrays = true;
  result.shape.axes = kNaturalAxes;
  for (std::size_t a = 0; a < 3; ++a) {
    result.shape.global[a] = a == 0 ? dividedUp(groups[0], block) : groups[a];
    result.shape.local[a] = 1;
  }
  reason = "rows: " + reason + fmt::format(", {} at a time", block);
  return result;
}

/// Arrays in which work-items may count on their own. None, where that would be more work than what
/// they count.
std::map<int, std::vector<std::int64_t>> countersOf(const LaunchRequest& request,
                                                    const Shape& shape) {
  std::map<int, std::vector<std::int64_t>> counters;
  if (!request.version->access.usesAtomics) return counters;
  std::size_t bytes = 0, elements = 0;
  for (const int param : strategies::countedArrays(*request.version->kernel)) {
    const geometry::Extents& extents =
        request.arguments[static_cast<std::size_t>(param)].view->extents;
    std::vector<std::int64_t>& own = counters[param];
    std::size_t product = 1;
    for (int d = 0; d < extents.rank(); ++d) {
      own.push_back(static_cast<std::int64_t>(extents[d]));
      product *= static_cast<std::size_t>(extents[d]);
    }
    elements += product;
    bytes += product * ir::sizeOf(request.version->params[static_cast<std::size_t>(param)].type);
  }
  const std::size_t groups =
      std::size_t{8} * std::max(1u, request.device->properties().computeUnits);
  const std::size_t workItems = shape.size[0] * shape.size[1] * shape.size[2];
  if (!strategies::fitsCounters(bytes) || 4 * groups * elements > workItems) counters.clear();
  return counters;
}

Layout inRows(const LaunchRequest& request, const Shape& shape, const Variant& variant,
              std::string& reason) {
  if (variant.isDefault() && request.version->access.usesBarrier)
    return inGroups(request, shape, reason);
  Layout result{nullptr, {}, shape, true, runtime::Strategy::Rows, 0};
  RowsOptions options;
  options.dims = static_cast<int>(shape.dims);
  options.order = orderOf(shape);
  options.lanes = variant.lanes > 0 ? variant.lanes : lanesFor(*request.version, *request.device);
  options.vectors =
      variant.vectors > 0 ? variant.vectors : vectorsFor(*request.version, shape, options.lanes);
  options.jam = variant.jam;
  // Variants count the lanes of wider elements.
  if (variant.lanes == 0 && runtime::quirksOf(request.device->properties()).hasLongVectors)
    options.vectorBytes = options.lanes * widestElement(*request.version);
  options.exact = request.fp == STRICT;
  options.counters = countersOf(request, shape);
  options.streams = leavesCaches(request, shape);
  for (std::size_t a = 0; a < 3; ++a) options.size[a] = shape.whole[a];
  const std::shared_ptr<const Rows> rows =
      request.version->rewritten->rows(*request.version, options);
  reason = rows->reason;
  if (!rows->kernel) return result;
  const auto block =
      blocksFor(shape, *rows, options, request.device->properties().computeUnits, variant);
  for (const Hidden& hidden : rows->hidden)
    result.hidden.push_back(valueOf(hidden, request, shape, block));
  result.kernel = rows->kernel;
  result.vectorBits = options.lanes * widestElement(*request.version) * 8;
  result.distinctArrays = true;
  result.shape.axes = kNaturalAxes;
  for (std::size_t a = 0; a < 3; ++a) {
    result.shape.global[a] = dividedUp(shape.size[a], block[a]);
    result.shape.local[a] = 1;
  }
  reason =
      "rows: " + reason + fmt::format(", blocks of {} x {} x {}", block[0], block[1], block[2]);
  return result;
}

/// The kernel's own rewriter decides: the captured kernel is nothing that could be launched.
Layout customRewrite(const LaunchRequest& request, const Shape& shape) {
  const DeviceProperties& device = request.device->properties();
  const KernelVersion& version = *request.version;
  const RewriteResult rewritten =
      version.rewriter->rewrite({*version.kernel,
                                 version.access,
                                 request.device->type() == CPU,
                                 device.computeUnits,
                                 lanesFor(version, *request.device),
                                 device.localMemory,
                                 shape.groupLimit > 0 ? shape.groupLimit : device.maxWorkGroupSize,
                                 request.fp == STRICT,
                                 {shape.size[0], shape.size[1], shape.size[2]}});
  if (!rewritten.kernel)
    throw LaunchError("kernel '" + version.name + "' cannot be generated for device " +
                      request.device->name() + ": " + rewritten.reason);
  Layout result{rewritten.kernel, {}, shape, true, runtime::Strategy::Auto, 0};
  for (const Hidden& hidden : rewritten.hidden)
    result.hidden.push_back(valueOf(hidden, request, shape, rewritten.block));
  if (rewritten.lanes > 1) result.vectorBits = rewritten.lanes * widestElement(version) * 8;
  result.shape.axes = kNaturalAxes;
  result.shape.guardDims = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    result.shape.local[a] = rewritten.local[a];
    result.shape.global[a] = rewritten.groups[a] * rewritten.local[a];
  }
  result.choice = rewritten.reason;
  if (!QuietTrials::areOn()) explain(request, result.choice);
  return result;
}

}  // namespace

QuietTrials::QuietTrials() { ++quietTrials; }
QuietTrials::~QuietTrials() { --quietTrials; }
bool QuietTrials::areOn() { return quietTrials > 0; }

int nativeLanes(const runtime::DeviceState& device, std::size_t elementBytes) {
  const bool isWide = elementBytes >= 8;
  cl_uint lanes = 0;
  if (runtime::hasRanks()) {
    // All ranks have to know the same of all devices.
    const unsigned floats = device.properties().preferredFloatVector;
    lanes = isWide ? floats / 2 : floats;
    return lanes >= 16 ? 16 : lanes >= 8 ? 8 : isWide && lanes < 4 ? 2 : 4;
  }
  const cl_int code = clGetDeviceInfo(
      device.device()(),
      isWide ? CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE : CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT,
      sizeof lanes, &lanes, nullptr);
  if (code != CL_SUCCESS) lanes = 0;
  return lanes >= 16 ? 16 : lanes >= 8 ? 8 : isWide && lanes < 4 ? 2 : 4;
}

namespace {

Layout inStrategy(runtime::Strategy strategy, const LaunchRequest& request, const Shape& shape,
                  const Variant& variant, std::string& reason) {
  Layout result;
  if (request.version->rewritten->isGivenUp(strategy)) {
    reason = doesNotCompile(strategy);
  } else if (strategy == runtime::Strategy::Rows) {
    result = inRows(request, shape, variant, reason);
  } else if (strategy == runtime::Strategy::Tile) {
    result = detail::inTiles(request, shape, variant, reason);
  } else if (strategy == runtime::Strategy::Stream) {
    result = detail::inStreams(request, shape, variant, reason);
  } else if (strategy == runtime::Strategy::Columns) {
    result = detail::inColumns(request, shape, variant, reason);
  }
  if (result.kernel) {
    // Rewritten kernels know where their ids end.
    result.shape.guardDims = 0;
    result.choice = reason;
    return result;
  }
  Layout direct{request.version->kernel, {}, shape, false, runtime::Strategy::Direct, 0};
  direct.choice = "direct: " + reason;
  return direct;
}

/// The variant that was asked for, or an empty result where it does not apply.
Layout inVariant(const LaunchRequest& request, const Shape& shape, const Variant& variant,
                 std::string& reason) {
  if (variant.strategy == runtime::Strategy::Direct) reason = "measured";
  Layout result = inStrategy(variant.strategy, request, shape, variant, reason);
  if (!result.isRewritten && variant.strategy != runtime::Strategy::Direct) result.kernel = nullptr;
  return result;
}

}  // namespace

Layout chooseLayout(const LaunchRequest& request, const Shape& shape, const Variant* variant) {
  if (request.version->rewriter != nullptr) return customRewrite(request, shape);
  std::string reason = defect(request);
  const bool tunable = reason.empty() && request.domains.local.dims == 0 &&
                       runtime::settings().strategy == runtime::Strategy::Auto;
  Layout result;
  std::string remark;
  if (variant != nullptr && !variant->isDefault()) {
    if (reason.empty()) result = inVariant(request, shape, *variant, reason);
    if (!result.kernel)
      throw LaunchError("kernel '" + request.version->name +
                        "' cannot be laid out as asked: " + reason);
  } else if (tunable && variant == nullptr) {
    if (const auto finding = findingFor(request, shape);
        finding && !(finding->best == tune::Point())) {
      result = inVariant(request, shape, Variant::from(finding->best), reason);
      remark = remarkOn(*finding);
      if (!result.kernel) reason.clear();
    }
  }
  if (!result.kernel) {
    remark.clear();
    std::vector<runtime::Strategy> refused;
    do {
      const HeuristicChoice usual = reason.empty()
                                        ? heuristicChoice(request, shape, refused)
                                        : HeuristicChoice{runtime::Strategy::Direct, reason};
      std::string words = usual.reason;
      result = inStrategy(usual.strategy, request, shape, {}, words);
      if (result.isRewritten && !usual.reason.empty()) result.choice += ", for " + usual.reason;
      refused.push_back(usual.strategy);
    } while (tunable && !result.isRewritten &&
             (refused.back() == runtime::Strategy::Stream ||
              refused.back() == runtime::Strategy::Columns));
  }
  result.isTunable = tunable;
  if (variant == nullptr) explain(request, result.choice + remark);
  return result;
}

Layout asWritten(const LaunchRequest& request, const Shape& shape, const std::string& reason) {
  Layout result{request.version->kernel, {}, shape, false, runtime::Strategy::Direct, 0};
  result.choice = "direct: " + reason;
  explain(request, result.choice);
  return result;
}

std::string doesNotCompile(runtime::Strategy strategy) {
  return std::string("what the strategy ") + nameOf(strategy) + " wrote does not compile";
}

int lanesFor(const KernelVersion& version, const runtime::DeviceState& device) {
  return nativeLanes(device, static_cast<std::size_t>(widestElement(version)));
}

int vectorsFor(const KernelVersion& version, const Shape& shape, int lanes) {
  const strategies::Pointwise& pointwise = version.rewritten->pointwise(version);
  const auto row = static_cast<std::size_t>(orderOf(shape)[0]);
  return pointwise.isPointwise ? strategies::vectorsFor(pointwise, shape.size[row], lanes) : 0;
}

}  // namespace hpl::layout
