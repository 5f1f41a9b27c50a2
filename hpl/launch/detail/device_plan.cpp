// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/device_plan.h"

#include <cstring>
#include <utility>

#include "hpl/error.h"
#include "hpl/geometry/layout.h"
#include "hpl/launch/detail/online_tuning.h"
#include "hpl/launch/detail/part_facts.h"
#include "hpl/layout/arguments.h"
#include "hpl/memory/contents.h"
#include "hpl/runtime/compile_watch.h"
#include "hpl/runtime/events.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"
#include "hpl/trace/timeline.h"

namespace hpl::launch {
namespace {

using memory::detail::Placement;
using memory::detail::Transaction;

template <class T>
void setArgument(DevicePlan& plan, int index, const T& value) {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): of handles it is their own size that counts
  runtime::check(clSetKernelArg(plan.kernel(), static_cast<cl_uint>(index), sizeof value, &value),
                 "clSetKernelArg", plan.device, runtime::Concern::kernel(plan.version->name));
}

/// Sets what changed of where an array is; views move when replicas grow or are evicted.
void placeArray(DevicePlan& plan, DevicePlan::ArrayArgs& args, const Placement& placement) {
  if (args.lastBuffer != placement.buffer) {
    args.lastBuffer = nullptr;
    setArgument(plan, args.buffer, placement.buffer);
    args.lastBuffer = placement.buffer;
  }
  if (args.offset >= 0 && args.lastOffset != placement.offset) {
    setArgument(plan, args.offset, static_cast<cl_ulong>(placement.offset));
    args.lastOffset = placement.offset;
  }
  if (args.lastStrides == placement.strides) return;
  args.lastStrides = geometry::Extents();
  for (const auto& [argument, dimension] : args.strides)
    setArgument(plan, argument, static_cast<cl_ulong>(placement.strides[dimension]));
  args.lastStrides = placement.strides;
}

/// Whether the view fills the device's memory from the start without gaps.
bool isDense(const memory::detail::DeviceUse& use, const Placement& placement) {
  return placement.offset == 0 &&
         (placement.box == use.view->box() ||
          placement.strides == geometry::rowMajorStrides(use.view->extents));
}

void setScalars(DevicePlan& plan, const std::byte* packed) {
  if (plan.scalars.empty() ||
      (plan.scalarsSet && std::memcmp(plan.scalarValues.data(), packed, plan.scalarBytes) == 0))
    return;
  for (const DevicePlan::ScalarArg& scalar : plan.scalars) {
    std::byte* last = plan.scalarValues.data() + scalar.at;
    const std::byte* now = packed + scalar.at;
    if (plan.scalarsSet && std::memcmp(last, now, scalar.bytes) == 0) continue;
    runtime::check(
        clSetKernelArg(plan.kernel(), static_cast<cl_uint>(scalar.argument), scalar.bytes, now),
        "clSetKernelArg", plan.device, runtime::Concern::kernel(plan.version->name));
    std::memcpy(last, now, scalar.bytes);
  }
  plan.scalarsSet = true;
}

/// As the C interface takes it: cl::Event is one cl_event and nothing else, as opencl.hpp itself
/// relies on.
const cl_event* listOf(const memory::detail::WaitList& waits) {
  return waits.empty() ? nullptr : reinterpret_cast<const cl_event*>(waits.data());
}

cl::NDRange rangeOf(cl_uint dims, const std::size_t (&sizes)[3]) {
  return dims == 1   ? cl::NDRange(sizes[0])
         : dims == 2 ? cl::NDRange(sizes[0], sizes[1])
                     : cl::NDRange(sizes[0], sizes[1], sizes[2]);
}

}  // namespace

DevicePlan::~DevicePlan() {
  runtime::drop(kernel);
  runtime::drop(errors);
  if (probes) runtime::drop(probes->values);
}

bool DevicePlan::needsLockReleased() const {
  return !standIns.empty() || checked != nullptr || probes != nullptr ||
         (tuning && tuning->needsPreparation());
}

/// Launches are enqueued, and that is all.
bool DevicePlan::isPlain() const noexcept {
  const runtime::Settings& settings = runtime::settings();
  return !tuning && !checked && !probes && standIns.empty() && !settings.checkBounds &&
         !settings.checkGhosts;
}

bool DevicePlan::isRepeatedBy(const LaunchKey& asked) const noexcept {
  if (asked.arguments.size() != given.size() || asked.device != device || asked.fp != fp)
    return false;
  const memory::detail::Ticket* ticket = tickets.data();
  for (std::size_t i = 0; i < asked.arguments.size(); ++i) {
    const Argument& argument = asked.arguments[i];
    if (argument.view != given[i]) return false;
    if (argument.view == nullptr) {
      if (argument.kind != Argument::Kind::Scalar) return false;
    } else if (argument.view->root().epoch() != ticket++->epoch) {
      return false;  // among others a dead array's view, reborn at the same address
    }
  }
  return asked.global == domains.global && asked.local == domains.local && isPlain();
}

bool DevicePlan::repeat(const std::byte* packed) {
  if (!isPlain() || !Transaction::isFresh(uses, tickets)) return false;
  enqueueAgain(packed);
  return true;
}

cl::Event DevicePlan::enqueueAgain(const std::byte* packed, Timing timing) {
  if (isElsewhere) [[unlikely]]
    return {};
  cl::Event done = submitItself({}, packed, Transaction::wantsEvent(*device), timing);
  Transaction::touch(*device, done, tickets);
  return done;
}

bool DevicePlan::matches(const LaunchOptions& asked, Arguments arguments) const {
  if (arguments.size() != given.size() || asked.device != device || asked.fp != fp ||
      !(asked.global == domains.global) || !(asked.local == domains.local))
    return false;
  const bool checks = runtime::settings().checkBounds && version->kernel != nullptr && !isElsewhere;
  if ((checked != nullptr) != checks) return false;
  std::size_t array = 0;
  std::size_t localArray = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (version->params[i].isScalar() != (argument.kind == Argument::Kind::Scalar)) return false;
    if (argument.kind == Argument::Kind::Array) {
      // A dead array's view may be reborn at the same address with another shape.
      if (array == views.size() || argument.view != views[array] ||
          !(argument.view->extents == extents[array]) || roots[array].expired())
        return false;
      ++array;
    } else if (argument.kind == Argument::Kind::LocalArray) {
      if (localArray == localExtents.size() ||
          !(*argument.localExtents == localExtents[localArray]))
        return false;
      ++localArray;
    }
  }
  return array == views.size() && localArray == localExtents.size();
}

void DevicePlan::packScalars(Arguments arguments, std::byte* packed) const {
  for (const ScalarArg& scalar : scalars) {
    const Argument& argument = arguments[scalar.parameter];
    if (argument.type == scalar.type) {
      std::memcpy(packed + scalar.at, argument.value(), scalar.bytes);
    } else {
      layout::convertScalar(argument, scalar.type, packed + scalar.at, version->name,
                            scalar.parameter);
    }
  }
}

void DevicePlan::placeArrays() {
  if (isElsewhere) return;
  std::size_t parameter = 0;
  for (std::size_t i = 0; i < arrays.size(); ++i, ++parameter) {
    while (given[parameter] == nullptr) ++parameter;
    if (version->params[parameter].isDense && !isDense(uses[i], placements[i]))
      throw LaunchError((version->native ? "native kernel '" : "kernel '") + version->name +
                        "': device " + device->name() + " holds more of " +
                        uses[i].view->root().describe() +
                        " than the part that the launch works on, so that the part is not dense, "
                        "as OpenCL C is promised; use the array with this annotation only");
    placeArray(*this, arrays[i], placements[i]);
  }
}

trace::LaunchCost DevicePlan::cost() const {
  std::uint64_t bytes = 0;
  for (const memory::detail::DeviceUse& use : uses) {
    const auto once = static_cast<std::uint64_t>(use.cells().volume()) *
                      static_cast<std::uint64_t>(use.view->root().elementSize());
    bytes += (use.read ? once : 0) + (use.write ? once : 0);
  }
  return {choice, bytes};
}

cl::Event DevicePlan::submit(const memory::detail::WaitList& waits, const std::byte* packed) {
  if (tuning) return tuning->submit(*this, waits, packed);
  return submitItself(waits, packed, true, Timing::None);
}

cl::Event DevicePlan::submitItself(const memory::detail::WaitList& waits, const std::byte* packed,
                                   bool wantsEvent, Timing timing) {
  if (isElsewhere) [[unlikely]]
    return {};
  setScalars(*this, packed);
  if (checked) {
    const std::vector<cl_int> zeros(codegen::ErrorBuffer::kWords, 0);
    runtime::guarded(device, runtime::Concern::kernel(version->name), [&] {
      device->computeQueue().enqueueWriteBuffer(errors, CL_TRUE, 0, zeros.size() * sizeof(cl_int),
                                                zeros.data());
    });
  }
  if (probes) clearProbes(*this);
  if (timing == Timing::Own) [[unlikely]]
    return submitTimed(waits);
  cl::Event event(hasRun ? enqueueKernel(waits, wantsEvent || trace::enabled())
                         : enqueueFirst(waits, wantsEvent || trace::enabled()));
  trace::recordLaunch(version->name, device->index(), event(), [this] { return cost(); });
  return event;
}

cl_event DevicePlan::enqueueKernel(const memory::detail::WaitList& waits, bool wantsEvent) {
  cl_event event = nullptr;
  runtime::check(clEnqueueNDRangeKernel(device->computeQueue()(), kernel(), dims, nullptr, global,
                                        local, static_cast<cl_uint>(waits.size()), listOf(waits),
                                        wantsEvent ? &event : nullptr),
                 "clEnqueueNDRangeKernel", device, runtime::Concern::kernel(version->name));
  return event;
}

cl_event DevicePlan::enqueueFirst(const memory::detail::WaitList& waits, bool wantsEvent) {
  cl::Event before = runtime::beforeFirstLaunch(*device, *program,
                                                static_cast<cl_uint>(waits.size()), listOf(waits));
  const bool isWatched = before() != nullptr;
  const cl_event event = enqueueKernel(waits, wantsEvent || isWatched);
  hasRun = true;
  runtime::watchFirstLaunch(*device, program, choice, std::move(before), event);
  return event;
}

/// In another queue, between what the compute queue has and what it gets: its order is kept.
cl::Event DevicePlan::submitTimed(const memory::detail::WaitList& waits) {
  std::vector<cl::Event> done(1);
  cl::Event before;
  const cl::CommandQueue& compute = device->computeQueue();
  const cl::CommandQueue& timing = device->timingQueue();
  runtime::guarded(device, runtime::Concern::kernel(version->name), [&] {
    memory::detail::WaitList all = waits;
    compute.enqueueMarkerWithWaitList(nullptr, &all.emplace_back());
    runtime::check(runtime::flushed(compute), "clFlush", device);
    timing.enqueueNDRangeKernel(kernel, cl::NullRange, rangeOf(dims, global), rangeOf(dims, local),
                                &all, &done.front());
    before = std::move(all.back());
  });
  // The launch has taken place, whatever fails from now on.
  const cl_event event = done.front()();
  if (!std::exchange(hasRun, true) && runtime::watchesFirstLaunch(*device, *program))
    runtime::watchFirstLaunch(*device, program, choice, std::move(before), event);
  const auto holdBack = [&] { return clEnqueueBarrierWithWaitList(compute(), 1, &event, nullptr); };
  if (runtime::flushed(timing) != CL_SUCCESS || runtime::insist(holdBack) != CL_SUCCESS)
    runtime::endOf(event);
  trace::recordLaunch(version->name, device->index(), event, [this] { return cost(); });
  return done.front();
}

void DevicePlan::begin() {
  if (tuning && tuning->needsPreparation()) tuning->prepare(*this);
  // The copies take the coherence lock themselves.
  for (StandIn& standIn : standIns)
    if (standIn.in) memory::copy(standIn.packed->whole(), *standIn.view);
}

void DevicePlan::end() {
  for (StandIn& standIn : standIns)
    if (standIn.out) memory::copy(*standIn.view, standIn.packed->whole());
  if (probes) showProbes(*this);
  if (checked) reportViolation(*this);
}

void DevicePlan::enqueue(Transaction& transaction, const std::byte* packed) {
  if (tuning) return tuning->enqueue(*this, transaction, packed);
  enqueueItself(transaction, packed);
}

cl::Event DevicePlan::enqueueItself(Transaction& transaction, const std::byte* packed,
                                    Timing timing) {
  const bool checksGhosts = mayBeParts && runtime::settings().checkGhosts;
  if (!checksGhosts && Transaction::isFresh(uses, tickets)) return enqueueAgain(packed, timing);
  return enqueuePrepared(transaction, packed, checksGhosts, timing);
}

cl::Event DevicePlan::enqueuePrepared(Transaction& transaction, const std::byte* packed,
                                      bool checksGhosts, Timing timing) {
  if (checksGhosts && !std::exchange(hasExplicitFacts, true)) {
    noteExplicitFacts(*this);
    repeats.reset();
  }
  if (repeats == nullptr) repeats = std::make_unique<Repeats>();
  memory::detail::DeviceLaunch& launch = repeats->launch;
  launch.device = device;
  launch.uses = uses;
  launch.placements = placements;
  launch.tickets = tickets;
  launch.waits.clear();
  const std::span<memory::detail::DeviceLaunch> launches(&launch, 1);
  if (checksGhosts) transaction.requireFreshGhosts(launches, *repeats->records, version->name);
  if (transaction.prepareAll(launches, *repeats->records)) placeArrays();
  cl::Event done = submitItself(launch.waits, packed, true, timing);
  launch.event = done;
  // The list keeps its memory, not the driver's events.
  launch.waits.clear();
  transaction.commitAll(launches);
  return done;
}

}  // namespace hpl::launch
