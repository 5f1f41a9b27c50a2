// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

#include "hpl/dry_run/books.h"
#include "hpl/launch/detail/shares.h"
#include "hpl/memory/contents.h"
#include "hpl/memory/operations.h"
#include "hpl/runtime/dry_run.h"
#include "hpl/runtime/log.h"

namespace hpl::launch {
namespace {

using Clock = std::chrono::steady_clock;
using runtime::DeviceState;

/// The first share of an even split, on copies of the arguments' contents, which every device runs
/// in turn: what the launch works on stays as it is.
struct Trial {
  std::vector<Argument> arguments;
  std::vector<std::shared_ptr<memory::Root>> copies;
  LaunchOptions options;
  ShareContext context;
};

/// Cells beyond the ends of a periodic array need not have values.
memory::View& copyOf(Trial& trial, memory::Root& root, const geometry::Box& box) {
  trial.copies.push_back(memory::scratchLike(root, box.extents()));
  memory::Root& copy = *trial.copies.back();
  const geometry::Box inside = intersect(box, root.whole().box());
  memory::copy(copy.view(inside.translatedBack(box.lo())), root.view(inside));
  return copy.whole();
}

Trial makeTrial(const ShareJob& job) {
  ShareJob even = job;
  even.weights.clear();
  Trial trial;
  trial.options = job.options;
  trial.options.shares.reset();
  const bool divided = !job.anyAnnotated() && !job.anyPerDevice();
  std::vector<Cut> cuts(job.arguments.size());
  if (divided) {
    const Division division = divide(even, true);
    trial.options.global = division.global;
    for (std::size_t a = 0; a < 3; ++a)
      trial.options.global.size[a] = static_cast<std::size_t>(
          std::max<geometry::Index>(1, division.slices.front()[a].length()));
    trial.context.cells = division.cells.front();
    SliceOfDomain& slice = trial.context.slice.emplace();
    std::copy(division.global.size, division.global.size + 3, slice.whole);
  } else {
    cuts = cutArguments(even);
    trial.options = optionsOf(even, 0, partDomains(even, cuts));
  }
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    Argument argument = job.arguments[i];
    if (argument.kind == Argument::Kind::PerDevice) argument = argument.onDevice(0);
    if (argument.kind == Argument::Kind::PartExtent) {
      geometry::Index extent = argument.view->extents[argument.partDim];
      for (std::size_t a = 0; a < job.arguments.size(); ++a)
        if (!cuts[a].empty() && job.arguments[a].view == argument.view)
          extent = cuts[a].front().full.extent(argument.partDim);
      argument = Argument::scalar(static_cast<std::size_t>(extent));
    }
    if (argument.kind == Argument::Kind::Array) {
      const geometry::Box box = cuts[i].empty() ? argument.view->box() : cuts[i].front().full;
      argument.view = &copyOf(trial, argument.view->root(), box);
      argument.annotate(nullptr);
      // The copy counts from 0.
      if (divided) {
        TouchedCells& cells = trial.context.cells[i];
        cells.own = cells.own.translatedBack(box.lo());
        cells.around = cells.around.translatedBack(box.lo());
      }
    }
    trial.arguments.push_back(argument);
  }
  return trial;
}

/// The launch on one device, ready to be measured.
struct Runner {
  DeviceState* device;
  std::shared_ptr<DevicePlan> plan;
  std::vector<std::byte> scalars;
  int batch = 1;
  std::vector<double> turns = {};  ///< seconds of one launch

  double seconds() {
    const Clock::time_point begin = Clock::now();
    for (int n = 0; n < batch; ++n) {
      memory::detail::Transaction transaction;
      plan->enqueueItself(transaction, scalars.data());
    }
    device->finish();
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }
};

Runner makeRunner(const ShareJob& job, const Trial& trial, DeviceState& device) {
  LaunchOptions options = trial.options;
  options.device = &device;
  Runner runner{&device, makePlan(*job.entry, options, device, trial.arguments, trial.context), {}};
  runner.scalars.resize(runner.plan->scalarBytes);
  runner.plan->packScalars(trial.arguments, runner.scalars.data());
  runner.seconds();  // builds, uploads
  if (!device.isLocal()) return runner;
  // A device that shares its cores with another program has all of them for some milliseconds, and
  // none for as many: shorter batches would only see one or the other.
  constexpr double kLongEnough = 10e-3;
  while (runner.batch < 4096 && runner.seconds() < kLongEnough) runner.batch *= 2;
  return runner;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

constexpr int kTurns = 7;

/// Where devices belong to several ranks: one device after another, since a turn of another one
/// would move the cells between ranks. Its owner measures, and tells the others.
std::vector<double> agreedSpeedsOf(const ShareJob& job, const Trial& trial) {
  std::vector<double> speeds(job.devices.size(), 1);
  for (std::size_t d = 0; d < job.devices.size(); ++d) {
    Runner runner = makeRunner(job, trial, *job.devices[d]);
    if (!runner.device->isLocal()) continue;
    for (int turn = 0; turn < kTurns; ++turn)
      runner.turns.push_back(runner.seconds() / runner.batch);
    speeds[d] = 1 / median(runner.turns);
  }
  return memory::detail::valuesOfOwners(speeds, job.devices);
}

/// By turns, so that what else the machine does meets all devices alike; of each the median, which
/// forgets a turn that was disturbed and, unlike the best one, counts what always disturbs it.
std::vector<double> speedsOf(const ShareJob& job) {
  const Trial trial = makeTrial(job);
  if (runtime::hasRanks() && !job.options.isOwn) return agreedSpeedsOf(job, trial);
  std::vector<Runner> runners;
  runners.reserve(job.devices.size());
  for (DeviceState* device : job.devices) runners.push_back(makeRunner(job, trial, *device));
  for (int turn = 0; turn < kTurns; ++turn) {
    for (Runner& runner : runners) runner.turns.push_back(runner.seconds() / runner.batch);
  }
  std::vector<double> speeds;
  speeds.reserve(runners.size());
  for (const Runner& runner : runners) speeds.push_back(1 / median(runner.turns));
  return speeds;
}

/// The part of the whole that every device needs: the cells that its neighbours read of it.
double leastShare(const ShareJob& job) {
  double least = 0;
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const Argument& argument = job.arguments[i];
    if (argument.kind != Argument::Kind::Array) continue;
    for (int n = 0; n < argument.annotation().count; ++n) {
      const DimAnnotation& split = argument.annotation().dims[n];
      const auto extent = static_cast<double>(argument.view->extents[split.dim]);
      // One more, since shares are rounded to whole cells.
      const auto wanted = static_cast<double>(std::max(split.before, split.after) + 1);
      least = std::max(least, wanted / extent);
    }
  }
  return least;
}

std::string keyOf(const ShareJob& job) {
  // Addresses are not the same on all ranks, who have to measure together.
  std::string key = runtime::hasRanks() && !job.options.isOwn
                        ? job.version->name
                        : std::to_string(reinterpret_cast<std::uintptr_t>(job.entry));
  for (const DeviceState* device : job.devices) key += " " + std::to_string(device->serial());
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    key += ";" + std::to_string(job.arguments[i].annotation().count);
    if (job.arguments[i].kind == Argument::Kind::Array)
      key += job.arguments[i].view->extents.toString();
  }
  return key;
}

}  // namespace

std::vector<double> sharesOf(std::vector<double> speeds, double least) {
  if (least * static_cast<double>(speeds.size()) >= 1) least = 0;  // no shares would do
  std::vector<char> isRaised(speeds.size(), 0);
  for (;;) {
    // The fast devices give, in proportion, the cells that the slow ones gain.
    double left = 1, others = 0;
    for (std::size_t d = 0; d < speeds.size(); ++d) {
      if (isRaised[d]) {
        left -= least;
      } else {
        others += speeds[d];
      }
    }
    bool changed = false;
    for (std::size_t d = 0; d < speeds.size(); ++d) {
      if (isRaised[d] || speeds[d] / others * left >= least) continue;
      isRaised[d] = 1;
      changed = true;
    }
    if (changed) continue;
    for (std::size_t d = 0; d < speeds.size(); ++d)
      speeds[d] = isRaised[d] ? least : speeds[d] / others * left;
    return speeds;
  }
}

namespace {

/// For the machine of a dry run: most kernels that are worth several devices wait for memory.
std::vector<double> modelledSpeeds(const ShareJob& job, const dry_run::Books& books) {
  std::vector<double> speeds;
  speeds.reserve(job.devices.size());
  for (const DeviceState* device : job.devices)
    speeds.push_back(books.machine().modelOf(device->index()).bytesPerSecond);
  return speeds;
}

}  // namespace

std::vector<double> measuredWeights(const ShareJob& job) {
  static std::mutex mutex;
  static auto* known = new std::map<std::string, std::vector<double>>;
  const std::string key = keyOf(job);
  {
    const std::lock_guard lock(mutex);
    const auto found = known->find(key);
    if (found != known->end()) return found->second;
  }
  const dry_run::Books* books = runtime::booksOfDryRun();
  const std::vector<double> weights =
      sharesOf(books != nullptr ? modelledSpeeds(job, *books) : speedsOf(job), leastShare(job));
  std::string text;
  for (const double weight : weights) text += " " + std::to_string(weight);
  runtime::log::info("kernel '" + job.version->name + "': measured weights" + text);
  const std::lock_guard lock(mutex);
  return known->emplace(key, weights).first->second;
}

}  // namespace hpl::launch
