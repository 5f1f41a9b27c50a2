// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/compile_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "hpl/runtime/log.h"
#include "hpl/runtime/program.h"
#include "hpl/runtime/quirks.h"
#include "hpl/runtime/runtime.h"

namespace hpl::runtime {

using Clock = std::chrono::steady_clock;

struct CompileWatch::Entry {
  std::string device;
  std::string kernel;
  std::string choice;
  /// Null: the driver is building a program.
  cl::Event before;
  cl::Event launch;
  std::shared_ptr<const Program> program;
  /// When the compilation began, as far as it is known to have begun.
  Clock::time_point begin = Clock::now();
  bool mayHaveBegun = true;
  std::atomic<bool> hasSpoken{false};
};

namespace {

using Entry = CompileWatch::Entry;

constexpr std::chrono::seconds kPatience{1};
/// Between two looks at the events of first launches.
constexpr std::chrono::milliseconds kLook{250};

cl_int statusOf(const cl::Event& event) noexcept {
  cl_int status = CL_QUEUED;
  const cl_int code =
      clGetEventInfo(event(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  return code == CL_SUCCESS ? status : code;
}

std::string messageOf(const Entry& entry) {
  const std::string laidOut = entry.choice.empty() ? "" : fmt::format(" ({})", entry.choice);
  const char* const so = "drivers usually keep the result for the next run";
  if (entry.launch() == nullptr)
    return fmt::format("kernel '{}'{} has been compiling for 1 s on device {}; {}", entry.kernel,
                       laidOut, entry.device, so);
  return fmt::format(
      "kernel '{}'{}: its first launch on device {} was due 1 s ago and has not begun, most likely "
      "because the driver compiles it; {}",
      entry.kernel, laidOut, entry.device, so);
}

/// The thread and what it looks after. Never destroyed.
class Watches {
 public:
  static Watches& get() {
    static auto& watches = *new Watches;
    return watches;
  }

  void add(const std::shared_ptr<Entry>& entry) {
    const std::lock_guard lock(mutex_);
    if (isStopped_) return;
    entries_.push_back(entry);
    if (isRunning_) return wake_.notify_one();
    try {
      std::thread([this] { run(); }).detach();
      isRunning_ = true;
    } catch (const std::system_error&) {
      entries_.clear();  // the program does without the warning
    }
  }

  void remove(const std::shared_ptr<Entry>& entry) {
    const std::lock_guard lock(mutex_);
    std::erase(entries_, entry);
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    isStopped_ = true;
    entries_.clear();
    wake_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!entries_.empty()) {
      wake_.wait_until(lock, nextLook());
      std::vector<std::string> messages;
      std::erase_if(entries_, [&](const auto& entry) { return isOver(*entry, messages); });
      if (messages.empty()) continue;
      lock.unlock();
      for (const std::string& message : messages) log::warn(message);
      lock.lock();
    }
    isRunning_ = false;
  }

  Clock::time_point nextLook() const {
    const Clock::time_point now = Clock::now();
    Clock::time_point next = now + kPatience;
    for (const auto& entry : entries_)
      next = std::min(next, entry->mayHaveBegun ? entry->begin + kPatience : now + kLook);
    return std::max(next, now);
  }

  /// Looks at a compilation that may have lasted long enough; true if nothing is left to be said.
  bool isOver(Entry& entry, std::vector<std::string>& messages) {
    const Clock::time_point now = Clock::now();
    if (entry.launch() != nullptr) {
      const cl_int launch = statusOf(entry.launch);
      if (launch <= CL_RUNNING) return true;
      const cl_int before = entry.mayHaveBegun ? CL_COMPLETE : statusOf(entry.before);
      if (before < CL_COMPLETE) return true;
      // A command that is only queued waits for a flush.
      const bool isDue = before == CL_COMPLETE && launch == CL_SUBMITTED;
      if (!isDue || !std::exchange(entry.mayHaveBegun, isDue)) {
        entry.mayHaveBegun = isDue;
        entry.begin = now;
        return false;
      }
    }
    if (now < entry.begin + kPatience) return false;
    // Several devices compile the same kernel at the same time.
    if (told_.insert(entry.kernel + '\n' + entry.choice).second)
      messages.push_back(messageOf(entry));
    entry.hasSpoken = true;
    if (entry.program) entry.program->isKnownToBeLong = true;
    return true;
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<Entry>> entries_;
  std::set<std::string> told_;
  bool isRunning_ = false;
  bool isStopped_ = false;
};

}  // namespace

CompileWatch::CompileWatch(const DeviceState& device, const std::string& kernel,
                           const std::string& choice) {
  if (!log::shows(LogLevel::Warn)) return;
  entry_ = std::make_shared<Entry>();
  entry_->device = device.name();
  entry_->kernel = kernel;
  entry_->choice = choice;
  Watches::get().add(entry_);
}

CompileWatch::~CompileWatch() {
  if (entry_) Watches::get().remove(entry_);
}

bool CompileWatch::hasSpoken() const { return entry_ && entry_->hasSpoken; }

bool watchesFirstLaunch(const DeviceState& device, const Program& program) noexcept {
  return !program.isKnownToBeLong && log::shows(LogLevel::Warn) &&
         !quirksOf(device.properties()).runsInFlush;
}

cl::Event beforeFirstLaunch(DeviceState& device, const Program& program, cl_uint waitCount,
                            const cl_event* waits) noexcept {
  if (!watchesFirstLaunch(device, program)) return {};
  cl_event marker = nullptr;
  const cl_int code =
      clEnqueueMarkerWithWaitList(device.computeQueue()(), waitCount, waits, &marker);
  return code == CL_SUCCESS ? cl::Event(marker) : cl::Event();
}

void watchFirstLaunch(const DeviceState& device, std::shared_ptr<const Program> program,
                      const std::string& choice, cl::Event before, cl_event launch) {
  if (before() == nullptr || launch == nullptr) return;
  // Not by the bindings, which throw: the launch has taken place.
  if (retained(clRetainEvent, launch) != CL_SUCCESS) return;
  auto entry = std::make_shared<Entry>();
  entry->device = device.name();
  entry->kernel = program->kernelName;
  entry->choice = choice;
  entry->program = std::move(program);
  entry->before = std::move(before);
  entry->launch = cl::Event(launch);
  entry->mayHaveBegun = statusOf(entry->before) == CL_COMPLETE;
  Watches::get().add(entry);
}

void stopCompileWatch() noexcept { Watches::get().stop(); }

}  // namespace hpl::runtime
