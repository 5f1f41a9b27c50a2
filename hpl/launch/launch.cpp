// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "hpl/error.h"
#include "hpl/launch/detail/plan.h"
#include "hpl/memory/contents.h"
#include "hpl/runtime/detail/events.h"
#include "hpl/runtime/detail/runtime.h"
#include "hpl/runtime/settings.h"

namespace hpl::launch {
namespace {

using memory::detail::Transaction;

/// Mixes one word into a hash; the quality of a multiply-xorshift is enough, as equal hashes are
/// told apart by Plan::matches.
std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

std::uint64_t hashOf(const LaunchOptions& options, const Argument* arguments, std::size_t count) {
  std::uint64_t hash = mix(options.device->serial(), static_cast<std::uint64_t>(options.fp));
  for (int d = 0; d < options.global.dims; ++d) hash = mix(hash, options.global.size[d]);
  for (int d = 0; d < options.local.dims; ++d) hash = mix(hash, options.local.size[d]);
  for (std::size_t i = 0; i < count; ++i)
    if (arguments[i].kind == Argument::Kind::Array)
      hash = mix(hash, reinterpret_cast<std::uint64_t>(arguments[i].view));
  return hash;
}

/// Packed scalars of a launch: on the stack when they are few.
class Scalars {
 public:
  explicit Scalars(std::size_t bytes) {
    if (bytes > sizeof inline_) large_.resize(bytes);
  }
  std::byte* data() { return large_.empty() ? inline_ : large_.data(); }

 private:
  alignas(16) std::byte inline_[256];
  std::vector<std::byte> large_;
};

/// A native kernel's stand-ins are filled before the launch and copied back after it. The copies
/// take the coherence lock themselves.
void fillStandIns(Plan& plan) {
  for (Plan::StandIn& standIn : plan.standIns)
    if (standIn.in) memory::copy(standIn.packed->whole(), *standIn.view);
}
void emptyStandIns(Plan& plan) {
  for (Plan::StandIn& standIn : plan.standIns)
    if (standIn.out) memory::copy(*standIn.view, standIn.packed->whole());
}

void finishLaunch(Plan& plan) {
  if (!plan.standIns.empty()) emptyStandIns(plan);
  if (plan.checked) reportViolation(plan);
}

void launchPlan(Plan& plan, const std::byte* scalars) {
  if (!plan.standIns.empty()) fillStandIns(plan);
  {
    Transaction transaction;
    plan.enqueue(transaction, scalars);
  }
  finishLaunch(plan);
}

LaunchOptions resolved(const LaunchOptions& options) {
  LaunchOptions result = options;
  if (result.device == nullptr) result.device = &runtime::Runtime::get().defaultDevice();
  if (!result.fpChosen) result.fp = runtime::settings().fp;
  return result;
}

}  // namespace

FRunner PlanAccess::makeRunner(std::shared_ptr<Plan> plan) {
  FRunner runner;
  if (plan->scalarBytes > sizeof runner.inline_) runner.large_.resize(plan->scalarBytes);
  runner.plan_ = std::move(plan);
  return runner;
}

std::byte* PlanAccess::scalarsOf(FRunner& runner) {
  return runner.large_.empty() ? runner.inline_ : runner.large_.data();
}

FRunner launch(const EntryHandle& handle, const LaunchOptions& asked, const Argument* arguments,
               std::size_t count) {
  KernelEntry& entry = *handle.entry;
  const LaunchOptions options = resolved(asked);
  const std::uint64_t hash = hashOf(options, arguments, count);
  std::shared_ptr<Plan> plan;
  {
    Transaction transaction;
    const std::shared_ptr<Plan>* known = entry.findPlan(hash);
    if (known != nullptr && (*known)->matches(options, arguments, count)) {
      FRunner runner = PlanAccess::makeRunner(*known);
      (*known)->packScalars(arguments, PlanAccess::scalarsOf(runner));
      if (!(*known)->needsLockReleased()) {
        (*known)->enqueue(transaction, PlanAccess::scalarsOf(runner));
        return runner;
      }
      plan = *known;
    }
  }
  const bool isNew = plan == nullptr;
  if (isNew) plan = makePlan(entry, options, *options.device, arguments, count);
  FRunner runner = PlanAccess::makeRunner(plan);
  plan->packScalars(arguments, PlanAccess::scalarsOf(runner));
  launchPlan(*plan, PlanAccess::scalarsOf(runner));
  if (isNew) entry.addPlan(hash, std::move(plan));
  return runner;
}

}  // namespace hpl::launch

namespace hpl {

void FRunner::run() {
  if (!plan_) throw LaunchError("this FRunner holds no launch; assign eval(f)(arguments) to it");
  for (std::size_t i = 0; i < plan_->roots.size(); ++i)
    if (plan_->roots[i].expired())
      throw ArgumentError("FRunner::run: array argument " + std::to_string(i + 1) + " of kernel '" +
                          plan_->version->name +
                          "' no longer exists; keep the arrays of a launch "
                          "that is to be repeated");
  launch::launchPlan(*plan_, launch::PlanAccess::scalarsOf(*this));
}

void FRunner::wait() const {
  if (!plan_) return;
  cl::Event done;
  runtime::guarded(plan_->device, runtime::Concern::kernel(plan_->version->name), [&] {
    plan_->device->computeQueue().enqueueMarkerWithWaitList(nullptr, &done);
  });
  runtime::wait(done, plan_->device, runtime::Concern::kernel(plan_->version->name));
}

}  // namespace hpl
