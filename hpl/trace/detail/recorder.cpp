// SPDX-License-Identifier: Apache-2.0
#include "hpl/trace/detail/recorder.h"

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <utility>

namespace hpl::trace::detail {
namespace {

/// A small number for the calling thread, in the order of first use.
int threadNumber() {
  static std::atomic<int> last{0};
  thread_local const int mine = ++last;
  return mine;
}

double profilingSeconds(cl_event event, cl_profiling_info what) {
  cl_ulong nanoseconds = 0;
  const cl_int code =
      clGetEventProfilingInfo(event, what, sizeof nanoseconds, &nanoseconds, nullptr);
  return code == CL_SUCCESS ? 1e-9 * static_cast<double>(nanoseconds) : 0;
}

/// Whether the command is over, successfully or not.
bool isOver(cl_event event) {
  cl_int status = CL_QUEUED;
  const cl_int code =
      clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  return code != CL_SUCCESS || status <= CL_COMPLETE;
}

}  // namespace

Recorder& Recorder::get() {
  static Recorder& instance = *new Recorder;
  return instance;
}

void Recorder::addCommand(Kind kind, Queue queue, int device, std::string_view name,
                          std::size_t bytes, cl_event event) {
  const std::lock_guard lock(mutex_);
  const Command command{.kind = kind,
                        .queue = queue,
                        .device = device,
                        .name = intern(name),
                        .bytes = bytes,
                        .strategy = {},
                        .exchange = exchangeOfThread,
                        .message = phaseOfThread.message,
                        .phase = phaseOfThread.phase};
  TransferSums& sums = transfers_[static_cast<int>(kind)];
  sums.count += bytes > 0 ? 1 : 0;  // halves of staged copies count once
  sums.bytes += bytes;
  if (command.exchange != 0) {
    if (command.exchange != lastExchange_) ++exchanges_.count;
    lastExchange_ = command.exchange;
    exchanges_.bytes += bytes;
  }
  keep(command, event);
}

void Recorder::addLaunch(std::string_view name, std::string_view strategy, int device,
                         std::size_t bytes, cl_event event) {
  const std::lock_guard lock(mutex_);
  const Command command{Kind::Kernel,    Queue::Compute, device, intern(name), bytes, 0, 0,
                        intern(strategy)};
  ++kernel(name).launches;
  LaunchSums& sums = sumsOf(command);
  ++sums.launches;
  sums.bytes += bytes;
  keep(command, event);
}

LaunchSums& Recorder::sumsOf(const Command& launch) {
  LaunchSums& sums = launches_[{launch.name, launch.strategy, launch.device}];
  if (sums.launches == 0) {
    sums.kernel = launch.name;
    sums.strategy = launch.strategy;
    sums.device = launch.device;
  }
  return sums;
}

void Recorder::keep(const Command& command, cl_event event) {
  if (!event || clRetainEvent(event) != CL_SUCCESS) return;
  Pending pending;
  pending.command = command;
  pending.event = event;
  pending.recordedAt = hostSeconds();
  pending_[{command.device, command.queue}].push_back(pending);
  constexpr std::size_t harvestEvery = 256;  // bounds the events held without asking too often
  if (++sinceHarvest_ >= harvestEvery) harvest();
}

void Recorder::harvest() {
  sinceHarvest_ = 0;
  for (auto& [queue, pending] : pending_) {
    while (!pending.empty() && isOver(pending.front().event)) {
      account(pending.front());
      clReleaseEvent(pending.front().event);
      pending.pop_front();
    }
  }
}

void Recorder::account(const Pending& pending) {
  Command command = pending.command;
  command.begin = profilingSeconds(pending.event, CL_PROFILING_COMMAND_START);
  command.end = profilingSeconds(pending.event, CL_PROFILING_COMMAND_END);
  if (command.begin <= 0 || command.end < command.begin) return;  // the queue does not measure
  const double spent = command.end - command.begin;
  switch (command.kind) {
    case Kind::HostToDevice:
      seconds_.secsDataHostToDevice += spent;
      break;
    case Kind::DeviceToHost:
      seconds_.secsDataDeviceToHost += spent;
      break;
    case Kind::DeviceToDevice:
      seconds_.secsDataDeviceToDevice += spent;
      break;
    case Kind::Kernel:
      seconds_.secsKernelExecution += spent;
      kernel(command.name).secsExecution += spent;
      sumsOf(command).seconds += spent;
      break;
  }
  if (command.kind != Kind::Kernel) transfers_[static_cast<int>(command.kind)].seconds += spent;
  if (command.exchange != 0) exchanges_.seconds += spent;
  if (file_.empty()) return;
  timeline_.commands.push_back(command);
  // The device stamped "queued" shortly before the host took `recordedAt`, so the smallest
  // difference seen is the best estimate of how far apart the two clocks are.
  const double queued = profilingSeconds(pending.event, CL_PROFILING_COMMAND_QUEUED);
  if (queued <= 0) return;
  const double offset = pending.recordedAt - queued;
  const auto [it, isFirst] = timeline_.clockOffsets.emplace(command.device, offset);
  if (!isFirst) it->second = std::min(it->second, offset);
}

void Recorder::waitForAll() {
  std::vector<cl_event> events;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [queue, pending] : pending_) {
      // All of them: several threads may have recorded in another order than they enqueued.
      for (const Pending& each : pending) {
        if (clRetainEvent(each.event) == CL_SUCCESS) events.push_back(each.event);
      }
    }
  }
  for (cl_event event : events) {
    // A command that failed is over, too; commands that depend on it report the failure.
    clWaitForEvents(1, &event);
    clReleaseEvent(event);
  }
  const std::lock_guard lock(mutex_);
  harvest();
}

void Recorder::addSpan(std::string_view name, double begin, double end) {
  const std::lock_guard lock(mutex_);
  if (!file_.empty()) timeline_.spans.push_back({threadNumber(), intern(name), begin, end});
}

MessageNumber Recorder::addMessage(int peer, bool isOutgoing, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (file_.empty()) return 0;
  timeline_.messages.push_back({peer, isOutgoing, bytes, {}});
  return static_cast<MessageNumber>(timeline_.messages.size());
}

void Recorder::addPhase(MessageNumber message, const Message::Part& part) {
  const std::lock_guard lock(mutex_);
  if (message <= timeline_.messages.size()) timeline_.messages[message - 1].parts.push_back(part);
}

void Recorder::addCreation(std::string_view name, double seconds) {
  const std::lock_guard lock(mutex_);
  seconds_.secsKernelCreation += seconds;
  kernel(name).secsCreation += seconds;
  if (file_.empty()) return;
  const double now = hostSeconds();
  timeline_.spans.push_back(
      {threadNumber(), intern("capture " + std::string(name)), now - seconds, now});
}

void Recorder::addCompilation(std::string_view name, double seconds) {
  const std::lock_guard lock(mutex_);
  seconds_.secsKernelCompilation += seconds;
  kernel(name).secsCompilation += seconds;
}

void Recorder::nameThread(std::string_view name) {
  const std::lock_guard lock(mutex_);
  timeline_.threads[threadNumber()] = name;
}

void Recorder::nameDevice(int device, std::string_view name) {
  const std::lock_guard lock(mutex_);
  timeline_.devices[device] = name;
}

void Recorder::setTimelineFile(const std::string& file) {
  const std::lock_guard lock(mutex_);
  file_ = file;
}

std::string Recorder::timelineFile() {
  const std::lock_guard lock(mutex_);
  return file_;
}

ProfilingData Recorder::seconds() {
  const std::lock_guard lock(mutex_);
  return seconds_;
}

ProfilingData Recorder::exchangeReported(const ProfilingData& now) {
  const std::lock_guard lock(mutex_);
  return std::exchange(reported_, now);
}

std::vector<KernelProfile> Recorder::kernels() {
  const std::lock_guard lock(mutex_);
  std::vector<KernelProfile> result;
  result.reserve(kernels_.size());
  for (const auto& [name, profile] : kernels_) result.push_back(profile);
  std::ranges::stable_sort(result, std::ranges::greater{}, &KernelProfile::secsExecution);
  return result;
}

ProfileReport Recorder::report() {
  const std::lock_guard lock(mutex_);
  ProfileReport report;
  for (const auto& [key, sums] : launches_) report.launches.push_back(sums);
  std::ranges::copy(transfers_, report.transfers);
  report.exchanges = exchanges_;
  report.devices = timeline_.devices;
  report.secsCreation = seconds_.secsKernelCreation;
  report.secsCompilation = seconds_.secsKernelCompilation;
  return report;
}

Timeline Recorder::timeline() {
  const std::lock_guard lock(mutex_);
  return timeline_;
}

void Recorder::reset() {
  const std::lock_guard lock(mutex_);
  for (auto& [queue, pending] : pending_) {
    for (const Pending& each : pending) clReleaseEvent(each.event);
  }
  pending_.clear();
  seconds_ = {};
  reported_ = {};
  kernels_.clear();
  launches_.clear();
  for (TransferSums& sums : transfers_) sums = {};
  exchanges_ = {};
  lastExchange_ = 0;
  timeline_.commands.clear();
  timeline_.spans.clear();
  timeline_.messages.clear();
}

std::string_view Recorder::intern(std::string_view text) {
  return *strings_.emplace(text).first;  // nodes of the set stay where they are
}

KernelProfile& Recorder::kernel(std::string_view name) {
  // Compilers know "heat.cpp:12" as heat_cpp_12.
  std::string key(name);
  for (char& c : key)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  KernelProfile& profile = kernels_[key];
  if (profile.name.empty()) profile.name = name;
  return profile;
}

}  // namespace hpl::trace::detail
