// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/shared_plan.h"

#include <algorithm>
#include <string>

#include "hpl/error.h"
#include "hpl/launch/detail/shares.h"
#include "hpl/layout/arguments.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/settings.h"

namespace hpl::launch {

using memory::detail::DeviceLaunch;
using memory::detail::Transaction;

namespace {

std::size_t viewCount(const Argument& argument) {
  if (argument.kind == Argument::Kind::Array || argument.kind == Argument::Kind::PartExtent)
    return 1;
  return argument.kind == Argument::Kind::PerDevice ? argument.values : 0;
}

memory::View* viewAt(const Argument& argument, std::size_t i) {
  return argument.kind == Argument::Kind::PerDevice ? argument.onDevice(i).view : argument.view;
}

bool isForDevices(const Argument& argument, const std::vector<runtime::DeviceState*>& devices) {
  const std::vector<Device>* own = argument.devices();
  if (own == nullptr) return devices.empty();
  return std::equal(own->begin(), own->end(), devices.begin(), devices.end(),
                    [](const Device& a, const runtime::DeviceState* b) { return &a.state() == b; });
}

bool matchesEntry(const SharesKey::Entry& entry, const Argument& argument) {
  if (argument.kind != entry.kind || !(argument.annotation() == entry.annotation) ||
      argument.partDim != entry.partDim || argument.values != entry.values) {
    return false;
  }
  if (!isForDevices(argument, entry.devices)) return false;
  if (argument.kind == Argument::Kind::LocalArray)
    return *argument.localExtents == entry.extents[0];
  for (std::size_t v = 0; v < viewCount(argument); ++v) {
    memory::View* view = viewAt(argument, v);
    if (view != entry.views[v]) return false;
    // A dead array's view may be reborn at the same address with another shape.
    if (view != nullptr && (entry.roots[v].expired() || !(view->extents == entry.extents[v])))
      return false;
  }
  return true;
}

}  // namespace

SharesKey SharesKey::of(const LaunchOptions& options, Arguments arguments) {
  SharesKey key;
  if (options.shares) key.options = *options.shares;
  key.global = options.global;
  key.local = options.local;
  key.fp = options.fp;
  key.checked = runtime::settings().checkBounds;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    Entry entry;
    entry.kind = argument.kind;
    entry.annotation = argument.annotation();
    entry.partDim = argument.partDim;
    entry.values = argument.values;
    if (const std::vector<Device>* own = argument.devices())
      for (const Device& device : *own) entry.devices.push_back(&device.state());
    if (argument.kind == Argument::Kind::LocalArray)
      entry.extents.push_back(*argument.localExtents);
    for (std::size_t v = 0; v < viewCount(argument); ++v) {
      memory::View* view = viewAt(argument, v);
      entry.views.push_back(view);
      if (view != nullptr) entry.held.emplace_back(*view);
      entry.roots.push_back(view ? view->root().weak_from_this() : std::weak_ptr<memory::Root>());
      entry.extents.push_back(view ? view->extents : geometry::Extents());
    }
    key.entries.push_back(std::move(entry));
  }
  return key;
}

bool SharesKey::matches(const LaunchOptions& asked, Arguments arguments) const {
  if (arguments.size() != entries.size() || !(asked.global == global) || !(asked.local == local) ||
      asked.fp != fp || runtime::settings().checkBounds != checked)
    return false;
  if (asked.shares ? !(*asked.shares == options) : !(options == ShareOptions())) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!matchesEntry(entries[i], arguments[i])) return false;
  return true;
}

bool isShared(const LaunchOptions& options, Arguments arguments) {
  if (options.shares) return true;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].isDistributed()) return true;
  return false;
}

SharedPlan::SharedPlan(SharesKey key, std::vector<Share> shares, bool hasGhosts)
    : key_(std::move(key)), shares_(std::move(shares)), hasGhosts_(hasGhosts) {
  for (const Share& share : shares_) {
    plans_.push_back(share.plan.get());
    bytesPerShare_ = std::max(bytesPerShare_, (share.plan->scalarBytes + 15) / 16 * 16);
    roots.insert(roots.end(), share.plan->roots.begin(), share.plan->roots.end());
  }
  scalarBytes = bytesPerShare_ * shares_.size();
  version = plans_.front()->version;
  device = plans_.front()->device;
}

bool SharedPlan::needsLockReleased() const {
  return std::any_of(plans_.begin(), plans_.end(),
                     [](const DevicePlan* plan) { return plan->needsLockReleased(); });
}

void SharedPlan::begin() {
  for (DevicePlan* plan : plans_) plan->begin();
}

void SharedPlan::end() {
  for (DevicePlan* plan : plans_) plan->end();
}

void SharedPlan::packScalars(Arguments arguments, std::byte* packed) const {
  for (const Share& share : shares_) {
    const DevicePlan& plan = *share.plan;
    for (const DevicePlan::ScalarArg& scalar : plan.scalars) {
      const Argument& given = arguments[scalar.parameter];
      Argument own = given;
      if (given.kind == Argument::Kind::PartExtent) {
        own = Argument::scalar(share.partExtents[scalar.parameter]);
      } else if (given.kind == Argument::Kind::PerDevice) {
        own = given.onDevice(share.position);
      }
      layout::convertScalar(own, scalar.type, packed + scalar.at, plan.version->name,
                            scalar.parameter);
    }
    packed += bytesPerShare_;
  }
}

bool SharedPlan::isFresh() const {
  return std::all_of(plans_.begin(), plans_.end(), [](const DevicePlan* plan) {
    return Transaction::isFresh(plan->uses, plan->tickets);
  });
}

/// Once a kernel is on its way, the launch cannot be undone: what fails then may succeed at a
/// second attempt, on a device that was short of something for a moment.
cl::Event SharedPlan::submit(std::size_t number, const memory::detail::WaitList& waits,
                             const std::byte* packed) {
  DevicePlan& plan = *plans_[number];
  const auto attempt = [&] { return plan.submit(waits, packed); };
  if (number == 0) return attempt();
  try {
    return attempt();
  } catch (const Error&) {
    return attempt();
  }
}

/// The launch has failed after some of its kernels were enqueued.
void SharedPlan::abandon(Transaction& transaction, const Error& cause) {
  const std::string& kernel = plans_.front()->version->name;
  const auto isLaunched = [](const DeviceLaunch& launch) { return launch.launched; };
  const auto begun = std::count_if(launches_.begin(), launches_.end(), isLaunched);
  if (begun == 0) throw;
  const std::string lost =
      transaction.abandonAll(launches_, "a launch of kernel '" + kernel + "' failed half-way");
  if (lost.empty()) throw;
  const auto* error = dynamic_cast<const DeviceError*>(&cause);
  throw DeviceError(
      std::string(cause.what()) + "; before that, " + std::to_string(begun) + " of " +
          std::to_string(launches_.size()) + " parts of the launch of kernel '" + kernel +
          "' had begun, so that these cells have no value any more: " + lost +
          "; assign to them, or launch a kernel that writes all of them, before they are read",
      error != nullptr ? error->code() : 0);
}

void SharedPlan::enqueueFresh(Transaction& transaction, const std::byte* packed) {
  std::size_t p = 0;
  try {
    for (; p < plans_.size(); ++p, packed += bytesPerShare_) {
      if (plans_[p]->isElsewhere) [[unlikely]]
        continue;
      transaction.touch(*plans_[p]->device, submit(p, {}, packed), plans_[p]->tickets);
    }
  } catch (const Error& error) {
    beginLaunches();
    for (std::size_t i = 0; i < p; ++i) launches_[i].launched = true;
    abandon(transaction, error);
  }
}

void SharedPlan::beginLaunches() {
  launches_.resize(plans_.size());
  for (std::size_t p = 0; p < plans_.size(); ++p) {
    DevicePlan& plan = *plans_[p];
    DeviceLaunch& launch = launches_[p];
    launch.device = plan.device;
    launch.uses = plan.uses;
    launch.placements = plan.placements;
    launch.tickets = plan.tickets;
    launch.waits.clear();
    launch.launched = false;
  }
}

void SharedPlan::submitAll(Transaction& transaction, const std::byte* packed) {
  try {
    for (std::size_t p = 0; p < plans_.size(); ++p, packed += bytesPerShare_) {
      launches_[p].event = submit(p, launches_[p].waits, packed);
      launches_[p].launched = true;
    }
  } catch (const Error& error) {
    abandon(transaction, error);
  }
}

void SharedPlan::enqueuePrepared(Transaction& transaction, const std::byte* packed,
                                 bool checksGhosts) {
  beginLaunches();
  if (checksGhosts)
    transaction.requireFreshGhosts(launches_, *records_, plans_.front()->version->name);
  if (transaction.prepareAll(launches_, *records_))
    for (DevicePlan* plan : plans_) plan->placeArrays();
  submitAll(transaction, packed);
  transaction.commitAll(launches_);
}

void SharedPlan::enqueue(Transaction& transaction, const std::byte* packed) {
  const bool checksGhosts = hasGhosts_ && runtime::settings().checkGhosts;
  if (!checksGhosts && isFresh()) {
    enqueueFresh(transaction, packed);
  } else {
    enqueuePrepared(transaction, packed, checksGhosts);
  }
  // No device may be left waiting for one that was never told to begin. The launch has taken place:
  // later waits tell a device again that could not be told so, or say why not.
  for (DevicePlan* plan : plans_) {
    try {
      Transaction::flush(*plan->device);
    } catch (const DeviceError& error) {
      runtime::log::warn(error.what());
    }
  }
}

}  // namespace hpl::launch
