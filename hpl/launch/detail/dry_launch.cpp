// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/dry_launch.h"

#include <algorithm>
#include <memory>

#include "hpl/launch/detail/device_plan.h"
#include "hpl/memory/planned_launch.h"
#include "hpl/strategies/point_cost.h"

namespace hpl::launch {
namespace {

using memory::LaunchStep;
using memory::detail::DeviceUse;

/// Arithmetic of one work-item, which is the same for all plans of one version.
class ItemCost {
 public:
  double of(const KernelVersion& version) {
    if (&version == last_) return operations_;
    last_ = &version;
    operations_ = version.kernel == nullptr
                      ? 0
                      : strategies::costOf(*version.kernel, version.access).operations;
    return operations_;
  }

 private:
  const KernelVersion* last_ = nullptr;
  double operations_ = 0;
};

dry_run::Work workOf(const DevicePlan& plan, ItemCost& cost) {
  dry_run::Work work;
  work.device = plan.device->index();
  for (const DeviceUse& use : plan.uses) {
    const double once = static_cast<double>(use.cells().volume()) *
                        static_cast<double>(use.view->root().elementSize());
    work.bytes += (use.read ? once : 0) + (use.write ? once : 0);
  }
  work.operations = cost.of(*plan.version) * static_cast<double>(plan.global[0]) *
                    static_cast<double>(plan.global[1]) * static_cast<double>(plan.global[2]);
  return work;
}

/// Operands are roots in the order of their first uses, as in the operation that is planned.
int operandOf(memory::Root& root, std::vector<std::uint64_t>& arrays) {
  const std::uint64_t number = memory::numberOf(root);
  const auto found = std::find(arrays.begin(), arrays.end(), number);
  const auto operand = static_cast<int>(found - arrays.begin());
  if (found == arrays.end()) arrays.push_back(number);
  return operand;
}

std::unique_ptr<DryLaunch> makeDryLaunch(std::span<DevicePlan* const> plans) {
  auto dry = std::make_unique<DryLaunch>();
  if (plans.empty()) return dry;
  dry->operation.kind = dry_run::Operation::Kind::Launch;
  dry->operation.name = plans.front()->version->name;
  ItemCost cost;
  for (std::size_t p = 0; p < plans.size(); ++p) {
    dry_run::Work work = workOf(*plans[p], cost);
    // The last piece of a part is the interior.
    work.isBorder = p + 1 < plans.size() && plans[p + 1]->device == plans[p]->device;
    dry->operation.works.push_back(work);
    for (const DeviceUse& use : plans[p]->uses) {
      const int operand = operandOf(use.view->root(), dry->arrays);
      std::vector<int>& written = dry->operation.written;
      if (use.write && std::find(written.begin(), written.end(), operand) == written.end())
        written.push_back(operand);
    }
  }
  return dry;
}

void noteNewStep(dry_run::Books& books, std::span<DevicePlan* const> plans,
                 const LaunchStep& step) {
  for (const DevicePlan* plan : plans) {
    memory::holdUses(books, plan->uses, *plan->device, step);
    for (const DeviceUse& use : plan->uses)
      if (use.write) memory::noteWriter(use.view->root(), plan->version->name);
  }
  memory::holdTransfers(books, step);
}

}  // namespace

void noteLaunch(dry_run::Books& books, Launchable& plan) {
  constexpr std::size_t kMostKnown = 8;
  const LaunchStep step = memory::takeLaunchStep();
  DryLaunch* dry = plan.dry.get();
  if (dry != nullptr) {
    for (const auto& [known, number] : dry->known)
      if (known == step.step) return books.repeat(number, dry->arrays);
  }
  const std::span<DevicePlan* const> plans = plan.plans();
  if (dry == nullptr) dry = (plan.dry = makeDryLaunch(plans)).get();
  noteNewStep(books, plans, step);
  dry_run::Operation operation = dry->operation;
  if (step.step != nullptr) operation.messages = memory::messagesOf(step);
  const int number = books.note(std::move(operation), dry->arrays);
  if (number < 0) return;
  if (dry->known.size() < kMostKnown) {
    dry->known.emplace_back(step.step, number);
  } else {
    dry->known[dry->oldest++ % kMostKnown] = {step.step, number};
  }
}

}  // namespace hpl::launch
