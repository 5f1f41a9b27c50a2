// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "hpl/error.h"
#include "hpl/launch/detail/mapped_launch.h"
#include "hpl/launch/detail/online_tuning.h"
#include "hpl/launch/detail/operation.h"
#include "hpl/launch/detail/shares.h"
#include "hpl/launch/detail/specialised.h"
#include "hpl/launch/detail/tuning_bench.h"
#include "hpl/memory/contents.h"
#include "hpl/runtime/dry_run.h"
#include "hpl/runtime/events.h"
#include "hpl/runtime/global_list.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"
#include "hpl/trace/timeline.h"

namespace hpl::launch {
namespace {

using memory::detail::Party;
using memory::detail::Transaction;

/// Mixes one word into a hash; the quality of a multiply-xorshift is enough, as equal hashes are
/// told apart by Plan::matches.
std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

std::uint64_t mixPointer(std::uint64_t hash, const void* pointer) {
  return mix(hash, reinterpret_cast<std::uint64_t>(pointer));
}

std::uint64_t mixDomain(std::uint64_t hash, const Domain& domain) {
  // Domains of a wrong number of dimensions come here before they are refused.
  for (const std::size_t size : domain.size) hash = mix(hash, size);
  return mix(hash, static_cast<std::uint64_t>(domain.dims));
}

std::uint64_t mixDomains(std::uint64_t hash, const LaunchOptions& options) {
  return mixDomain(mixDomain(hash, options.global), options.local);
}

std::uint64_t hashOf(const LaunchOptions& options, Arguments arguments) {
  std::uint64_t hash = mix(options.device->serial(), static_cast<std::uint64_t>(options.fp));
  hash = mixDomains(hash, options);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].kind == Argument::Kind::Array) hash = mixPointer(hash, arguments[i].view);
  return hash;
}

std::uint64_t sharedHashOf(const LaunchOptions& options, Arguments arguments) {
  std::uint64_t hash = mixDomains(mix(1, static_cast<std::uint64_t>(options.fp)), options);
  if (options.shares) {
    const ShareOptions& shares = *options.shares;
    for (const auto* device : shares.devices) hash = mix(hash, device->serial());
    hash = mixDomain(hash, shares.blocks);
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    hash = mix(hash, static_cast<std::uint64_t>(argument.annotation().count) + argument.values);
    for (int d = 0; d < argument.annotation().count; ++d)
      hash = mix(hash, static_cast<std::uint64_t>(argument.annotation().dims[d].before));
    if (const std::vector<Device>* devices = argument.devices())
      for (const Device& device : *devices) hash = mix(hash, device.state().serial());
    if (argument.view != nullptr) hash = mixPointer(hash, argument.view);
    for (std::size_t v = 0; v < argument.values; ++v)
      if (const memory::View* view = argument.onDevice(v).view) hash = mixPointer(hash, view);
  }
  return hash;
}

/// To be called under the lock under which the launch was planned.
void noteIfDry(Launchable& plan) {
  if (auto* books = runtime::booksOfDryRun()) [[unlikely]]
    noteLaunch(*books, plan);
}

/// Enqueues under the lock; what has to be done without it is the caller's business.
void enqueue(Launchable& plan, Transaction& transaction, const std::byte* scalars) {
  plan.enqueue(transaction, scalars);
  noteIfDry(plan);
}

void launchPlan(Launchable& plan, const std::byte* scalars, bool isFirst = false) {
  plan.begin();
  {
    Transaction transaction;
    if (isFirst) transaction.agreeFirst();
    enqueue(plan, transaction, scalars);
  }
  plan.end();
}

runtime::DeviceState* deviceOf(const LaunchOptions& options) {
  if (options.device != nullptr) return options.device;
  const runtime::Runtime& runtime = runtime::Runtime::get();
  return options.isOwn ? &runtime.ownDefaultDevice() : &runtime.defaultDevice();
}

/// The options of a launch on arrays of this rank alone, which no other rank's device can take.
LaunchOptions optionsOfOwn(const LaunchOptions& asked, KernelEntry& entry) {
  LaunchOptions options = asked;
  options.isOwn = true;
  if (options.device != nullptr && !options.device->isLocal())
    throw DeviceError("launch of '" + entry.describe() + "': device " +
                      std::to_string(options.device->index()) + " (" + options.device->name() +
                      ") is of rank " + std::to_string(options.device->rank()) +
                      ", but the arrays are of this rank alone (HPL_RANK_LOCAL); name one of this "
                      "rank's devices: Device::isLocal()");
  return options;
}

FpMode fpOf(const LaunchOptions& options) {
  return options.fpChosen ? options.fp : runtime::settings().fp;
}

}  // namespace

LaunchOptions resolved(const LaunchOptions& options, bool shared) {
  LaunchOptions result = options;
  if (!shared) result.device = deviceOf(options);
  result.fp = fpOf(options);
  return result;
}

void PlanAccess::setPlan(FRunner& runner, const std::shared_ptr<Launchable>& plan) {
  if (plan->scalarBytes > sizeof runner.inline_) runner.large_.resize(plan->scalarBytes);
  runner.plan_ = plan;
}

Launchable& PlanAccess::planOf(FRunner& runner) { return *runner.plan_; }

void PlanAccess::setAround(FRunner& runner, std::shared_ptr<Around> around) {
  runner.around_ = std::move(around);
}

std::byte* PlanAccess::scalarsOf(FRunner& runner) {
  return runner.large_.empty() ? runner.inline_ : runner.large_.data();
}

namespace {

/// A new plan, of a kernel that was perhaps not captured before: specialises entry and options.
/// `isFirst`: all ranks have to know whether it could be made.
std::shared_ptr<Launchable> planAnew(KernelEntry*& entry, LaunchOptions& options, bool shared,
                                     Arguments arguments, bool isFirst) {
  // Ranks would measure different things.
  const bool tunes =
      runtime::settings().tune == runtime::TuneMode::Full && !shared && !runtime::hasRanks();
  try {
    specialise(entry, options, arguments);
    if (tunes) tuneBefore(*entry, options, arguments);
    if (shared) return makeSharedPlan(*entry, options, arguments);
    return makePlan(*entry, options, *options.device, arguments);
  } catch (const RankError&) {
    throw;
  } catch (const Error&) {
    if (isFirst) memory::detail::agree(std::current_exception());
    throw;
  }
}

/// A launch that does not repeat one of the last, or not so simply.
void launchOther(FRunner& runner, KernelEntry* entry, LaunchOptions options, bool shared,
                 Arguments arguments) {
  const auto hash = [&] {
    return shared ? sharedHashOf(options, arguments) : hashOf(options, arguments);
  };
  std::shared_ptr<Launchable> plan;
  {
    Transaction transaction;
    const std::shared_ptr<Launchable>* known = entry->findPlan(hash());
    if (known != nullptr && (*known)->matches(options, arguments)) {
      PlanAccess::setPlan(runner, *known);
      (*known)->packScalars(arguments, PlanAccess::scalarsOf(runner));
      // The runner keeps the plan, which others may drop while this launch waits.
      if (!(*known)->needsLockReleased())
        return enqueue(PlanAccess::planOf(runner), transaction, PlanAccess::scalarsOf(runner));
      plan = *known;
    }
  }
  const bool isNew = plan == nullptr;
  const bool isJoint = runtime::hasRanks() && !options.isOwn;
  const bool isFirst = isJoint && isNew && !entry->isAgreed(signatureOf(options, arguments));
  if (isNew) plan = planAnew(entry, options, shared, arguments, isFirst);
  if (isFirst)
    memory::detail::renameOperation("launch of '" + plan->version->name + "'",
                                    contentOf(*plan->version));
  PlanAccess::setPlan(runner, plan);
  plan->packScalars(arguments, PlanAccess::scalarsOf(runner));
  launchPlan(*plan, PlanAccess::scalarsOf(runner), isFirst);
  // The signature of the launch as it was planned: that is where the next one looks.
  if (isFirst) entry->noteAgreed(signatureOf(options, arguments));
  if (isNew) entry->addPlan(hash(), std::move(plan));
}

/// A launch that repeats one of the last, perhaps with other scalars; false, and nothing done, when
/// it does not.
bool launchAgain(FRunner& runner, KernelEntry& entry, const LaunchKey& key) {
  const auto lock = Transaction::takeLock();
  const KernelEntry::Repeated known = entry.findRepeated(key);
  if (known.plan == nullptr) return false;
  DevicePlan& plan = *known.plan;
  PlanAccess::setPlan(runner, *known.owner);
  std::byte* scalars = PlanAccess::scalarsOf(runner);
  plan.packScalars(key.arguments, scalars);
  plan.enqueueAgain(scalars);
  noteIfDry(plan);
  return true;
}

FRunner launchBy(Party party, const EntryHandle& handle, const LaunchOptions& asked,
                 Arguments arguments) {
  KernelEntry& entry = entryForScalars(*handle.entry, asked, arguments);
  FRunner runner;
  const bool shared = isShared(asked, arguments);
  memory::detail::beginOperation(party, [&](memory::detail::OperationName& name) {
    nameLaunch(name, entry, asked, arguments);
  });
  if (!shared) {
    const LaunchKey key{deviceOf(asked), fpOf(asked), asked.global, asked.local, arguments};
    if (launchAgain(runner, entry, key)) return runner;
  }
  memory::detail::withRanks(
      party, [&] { launchOther(runner, &entry, resolved(asked, shared), shared, arguments); });
  return runner;
}

}  // namespace

FRunner launch(const EntryHandle& handle, const LaunchOptions& asked, Arguments arguments) {
  hpl::detail::refuseInKernel("eval(f)(arguments)");
  if (MappedLaunch::isNeeded(arguments)) [[unlikely]] {
    const MappedLaunch boxes(handle, asked, arguments);
    return launch(boxes.handle(), boxes.options(), boxes.arguments());
  }
  if (const auto rows = rowsAndColumns(*handle.entry, asked, arguments)) {
    LaunchOptions options = asked;
    options.global = *rows;
    return launch({&handle.entry->unfolded(), handle.owner}, options, arguments);
  }
  const Party party = partyOf(*handle.entry, arguments);
  if (party == Party::ThisRank) [[unlikely]]
    return launchBy(party, handle, optionsOfOwn(asked, *handle.entry), arguments);
  return launchBy(party, handle, asked, arguments);
}

FRunner runAround(FRunner runner, std::shared_ptr<Around> around) {
  PlanAccess::setAround(runner, std::move(around));
  return runner;
}

}  // namespace hpl::launch

namespace hpl {

void FRunner::run() {
  detail::refuseInKernel("FRunner::run()");
  if (around_ == nullptr) return runPlan();
  around_->before();
  runPlan();
  around_->after();
}

void FRunner::runPlan() {
  if (!plan_) throw LaunchError("this FRunner holds no launch; assign eval(f)(arguments) to it");
  for (std::size_t i = 0; i < plan_->roots.size(); ++i)
    if (plan_->roots[i].expired())
      throw ArgumentError("FRunner::run: array argument " + std::to_string(i + 1) + " of kernel '" +
                          plan_->version->name +
                          "' no longer exists; keep the arrays of a launch "
                          "that is to be repeated");
  const auto party = runtime::hasRanks() && !plan_->roots.empty()
                         ? memory::detail::partyOf(*plan_->roots.front().lock())
                         : memory::detail::Party::AllRanks;
  memory::detail::beginOperation(
      party, [&](memory::detail::OperationName& name) { launch::nameRepetition(name, *plan_); });
  const std::byte* scalars = launch::PlanAccess::scalarsOf(*this);
  {
    const auto lock = launch::Transaction::takeLock();
    if (plan_->repeat(scalars)) return launch::noteIfDry(*plan_);
  }
  memory::detail::withRanks(party, [&] { launch::launchPlan(*plan_, scalars); });
}

void FRunner::wait() const {
  if (!plan_) return;
  const trace::HostScope scope("wait");
  std::vector<cl::Event> done;
  for (const launch::DevicePlan* plan : plan_->plans()) {
    if (plan->isElsewhere) continue;
    runtime::guarded(plan->device, runtime::Concern::kernel(plan->version->name), [&] {
      plan->device->computeQueue().enqueueMarkerWithWaitList(nullptr, &done.emplace_back());
      // The transfers that it waits for, too.
      plan->device->flush();
    });
  }
  runtime::waitAll(done, plan_->device, runtime::Concern::kernel(plan_->version->name));
  runtime::requireSession();
}

}  // namespace hpl
