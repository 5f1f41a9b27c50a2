// SPDX-License-Identifier: Apache-2.0
#include "hpl/trace/timeline.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>

#include "hpl/error.h"
#include "hpl/trace/detail/profile_table.h"
#include "hpl/trace/detail/recorder.h"

namespace hpl::trace {
namespace detail {

constinit Counters counters{};
constinit std::atomic<bool> timing{false};
thread_local constinit std::uint32_t exchangeOfThread = 0;
thread_local constinit PhaseOfThread phaseOfThread;

using Clock = std::chrono::steady_clock;

Clock::time_point timelineBegin() {
  static const Clock::time_point begin = Clock::now();
  return begin;
}

double hostSeconds() {
  const Clock::time_point begin = timelineBegin();  // before now
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void keepTransfer(Transfer kind, std::size_t bytes, int device, cl_event event,
                  std::string_view label, Queue queue) {
  static_assert(static_cast<int>(Kind::HostToDevice) == static_cast<int>(Transfer::HostToDevice) &&
                static_cast<int>(Kind::DeviceToDevice) ==
                    static_cast<int>(Transfer::DeviceToDevice));
  Recorder::get().addCommand(static_cast<Kind>(kind), queue, device,
                             label.empty() ? std::string_view("array") : label, bytes, event);
}

void keepLaunch(std::string_view kernel, int device, cl_event event, const LaunchCost& cost) {
  const std::string_view strategy = cost.strategy.substr(0, cost.strategy.find_first_of(",:;("));
  Recorder::get().addLaunch(kernel, strategy, device, cost.bytes, event);
}

bool beginExchange() {
  if (exchangeOfThread != 0) return false;  // part of another one
  static std::atomic<std::uint32_t> last{0};
  exchangeOfThread = ++last;
  return true;
}

void endExchange() { exchangeOfThread = 0; }

void keepHostScope(std::string_view name, double begin, double end) {
  Recorder::get().addSpan(name, begin, end);
}

MessageNumber keepMessage(int peer, bool isOutgoing, std::size_t bytes) {
  return Recorder::get().addMessage(peer, isOutgoing, bytes);
}

void keepPhase(MessageNumber message, Phase phase, double begin, double end) {
  Recorder::get().addPhase(message, {phase, begin, end});
}

}  // namespace detail

using detail::Recorder;

double clockSeconds() {
  return std::chrono::duration<double>(detail::Clock::now().time_since_epoch()).count();
}

double clockSecondsAtBegin() {
  return std::chrono::duration<double>(detail::timelineBegin().time_since_epoch()).count();
}

std::string takeJointEvents(const JointProcess& process) {
  if (Recorder::get().timelineFile().empty()) return {};
  Recorder::get().waitForAll();
  std::string events = detail::toEvents(Recorder::get().timeline(), process);
  Recorder::get().setTimelineFile({});
  return events;
}

namespace {
constinit std::atomic<bool> isPrinted{true};
}  // namespace

void printAtStop(bool wanted) { isPrinted.store(!wanted); }

void printProfile() noexcept {
  if (isPrinted.exchange(true)) return;
  try {
    Recorder::get().waitForAll();
    std::fputs(detail::profileTable(Recorder::get().report()).c_str(), stderr);
  } catch (const std::exception&) {
    std::fputs("hpl: the profile could not be made\n", stderr);
  }
}

void recordKernelCreation(std::string_view kernel, double seconds) {
  if (enabled()) Recorder::get().addCreation(kernel, seconds);
}

void recordKernelCompilation(std::string_view kernel, double seconds) {
  if (enabled()) Recorder::get().addCompilation(kernel, seconds);
}

void nameThread(std::string_view name) { Recorder::get().nameThread(name); }

void nameDevice(int device, std::string_view name) { Recorder::get().nameDevice(device, name); }

void configure(bool profile, const std::string& timelineFile) {
  std::string file = timelineFile;
  for (std::size_t at = 0; (at = file.find("%p", at)) != std::string::npos;) {
    file.replace(at, 2, std::to_string(getpid()));
  }
  Recorder::get().setTimelineFile(file);
  detail::hostSeconds();  // times count from here
  detail::timing.store(profile || !file.empty(), std::memory_order_relaxed);
}

void flush() {
  const std::string path = Recorder::get().timelineFile();
  if (path.empty()) return;
  Recorder::get().waitForAll();
  std::ofstream file(path);
  file << detail::toJson(Recorder::get().timeline());
  file.close();
  if (!file) {
    throw Error(fmt::format(
        "HPL_TRACE: the timeline cannot be written to {}: is its folder there and writable?",
        path));
  }
}

void stop() {
  detail::timing.store(false, std::memory_order_relaxed);
  Recorder::get().waitForAll();
  printProfile();
  flush();
  Recorder::get().setTimelineFile({});
}

void reset() {
  Recorder::get().reset();
  for (auto& bytes : detail::counters.bytes) bytes.store(0, std::memory_order_relaxed);
  detail::counters.launches.store(0, std::memory_order_relaxed);
}

}  // namespace hpl::trace
