// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

#include "hpl/launch/detail/shares.h"
#include "hpl/memory/contents.h"
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

memory::View& copyOf(Trial& trial, memory::View& view) {
  memory::RootOptions options;
  options.shape = view.extents;
  options.elementSize = view.root().elementSize();
  options.type = view.root().type();
  options.label = view.root().label();
  options.hostMemory = memory::HostMemory::None;
  trial.copies.push_back(memory::Root::create(std::move(options)));
  memory::View& copy = trial.copies.back()->whole();
  memory::copy(copy, view);
  return copy;
}

Trial makeTrial(const ShareJob& job) {
  ShareJob even = job;
  even.weights.clear();
  Trial trial;
  trial.options = job.options;
  trial.options.shares.reset();
  const bool divided = !job.anyAnnotated() && !job.anyPerDevice();
  std::vector<Cut> cuts(job.count);
  if (divided) {
    const Division division = divide(even);
    trial.options.global = division.global;
    trial.options.global.size[division.axis] =
        static_cast<std::size_t>(std::max<geometry::Index>(1, division.slices.front().length()));
    trial.context.cells = division.cells.front();
    std::copy(division.global.size, division.global.size + 3, trial.context.whole);
  } else {
    cuts = cutArguments(even);
  }
  for (std::size_t i = 0; i < job.count; ++i) {
    Argument argument = job.arguments[i];
    if (argument.kind == Argument::Kind::PerDevice) argument = argument.onDevice(0);
    if (argument.kind == Argument::Kind::PartExtent) {
      geometry::Index extent = argument.view->extents[argument.partDim];
      for (std::size_t a = 0; a < job.count; ++a)
        if (!cuts[a].empty() && job.arguments[a].view == argument.view)
          extent = cuts[a].front().full.extent(argument.partDim);
      argument = Argument::scalar(static_cast<std::size_t>(extent));
    }
    if (argument.kind == Argument::Kind::Array) {
      memory::View* view = argument.view;
      if (!cuts[i].empty()) view = &view->root().view(cuts[i].front().full);
      argument.view = &copyOf(trial, *view);
      argument.annotation = {};
      // The copy counts from 0.
      if (divided) trial.context.cells[i] = trial.context.cells[i].translatedBack(view->box().lo());
    }
    trial.arguments.push_back(argument);
  }
  return trial;
}

void runOnce(Plan& plan, const std::vector<std::byte>& scalars) {
  memory::detail::Transaction transaction;
  plan.enqueue(transaction, scalars.data());
}

/// Seconds of one launch on the device: the best of a few batches that are long enough to measure.
double secondsOn(const ShareJob& job, const Trial& trial, DeviceState& device) {
  LaunchOptions options = trial.options;
  options.device = &device;
  const auto plan =
      makePlan(job.entry, options, device, trial.arguments.data(), job.count, trial.context);
  std::vector<std::byte> scalars(plan->scalarBytes);
  plan->packScalars(trial.arguments.data(), scalars.data());
  runOnce(*plan, scalars);  // builds, uploads
  device.finish();
  constexpr double kLongEnough = 2e-3;
  double best = 0;
  for (int batch = 1, measured = 0; measured < 3;) {
    const Clock::time_point begin = Clock::now();
    for (int n = 0; n < batch; ++n) runOnce(*plan, scalars);
    device.finish();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (seconds < kLongEnough && batch < 256) {
      batch *= 4;
      continue;
    }
    const double one = seconds / batch;
    best = measured++ == 0 ? one : std::min(best, one);
  }
  return best;
}

std::string keyOf(const ShareJob& job) {
  std::string key = std::to_string(reinterpret_cast<std::uintptr_t>(&job.entry));
  for (const DeviceState* device : job.devices) key += " " + std::to_string(device->serial());
  for (std::size_t i = 0; i < job.count; ++i) {
    key += ";" + std::to_string(job.arguments[i].annotation.count);
    if (job.arguments[i].kind == Argument::Kind::Array)
      key += job.arguments[i].view->extents.toString();
  }
  return key;
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
  const Trial trial = makeTrial(job);
  std::vector<double> weights;
  weights.reserve(job.devices.size());
  for (DeviceState* device : job.devices) weights.push_back(1 / secondsOn(job, trial, *device));
  const double sum = [&] {
    double total = 0;
    for (const double weight : weights) total += weight;
    return total;
  }();
  std::string text;
  for (double& weight : weights) {
    weight /= sum;
    text += " " + std::to_string(weight);
  }
  runtime::log::info("kernel '" + job.version->name + "': measured weights" + text);
  const std::lock_guard lock(mutex);
  return known->emplace(key, std::move(weights)).first->second;
}

}  // namespace hpl::launch
