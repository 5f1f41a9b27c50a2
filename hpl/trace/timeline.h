// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Declared by the OpenCL headers, too; named here so that recording needs none of them.
typedef struct _cl_event* cl_event;

/// Counters and timeline. Recording is one predictable branch plus a relaxed counter unless
/// HPL_PROFILE or HPL_TRACE is set. Safe from several threads.
namespace hpl::trace {

enum class Transfer { HostToDevice, DeviceToHost, DeviceToDevice };
enum class Queue { Compute, Transfer, TransferOut };

/// The phases of a message between processes, of an outgoing one and an incoming one (Pearson et
/// al. 2021, Figure 9). Packing and unpacking are kernels of the device; a message waits for those
/// before it.
enum class Phase : std::uint8_t {
  Packing,
  Reading,
  Waiting,
  Sending,
  Receiving,
  Writing,
  Unpacking
};
/// A message in the timeline; 0: none.
using MessageNumber = std::uint32_t;

/// The entries of a launch in the profile besides its time.
struct LaunchCost {
  /// How the kernel was laid out, up to the first comma or colon.
  std::string_view strategy;
  /// Bytes of the cells that it may read, and of those that it may write.
  std::uint64_t bytes = 0;
};

namespace detail {
struct Counters {
  std::atomic<std::uint64_t> bytes[3];
  std::atomic<std::uint64_t> launches;
};
extern Counters counters;
extern std::atomic<bool> timing;
void keepTransfer(Transfer kind, std::size_t bytes, int device, cl_event event,
                  std::string_view label, Queue queue);
void keepLaunch(std::string_view kernel, int device, cl_event event, const LaunchCost& cost);
bool beginExchange();
void endExchange();
double hostSeconds();
void keepHostScope(std::string_view name, double begin, double end);
MessageNumber keepMessage(int peer, bool isOutgoing, std::size_t bytes);
void keepPhase(MessageNumber message, Phase phase, double begin, double end);
/// The phase to which the transfers of the calling thread belong.
struct PhaseOfThread {
  MessageNumber message = 0;
  Phase phase = Phase::Reading;
};
extern thread_local constinit PhaseOfThread phaseOfThread;
}  // namespace detail

/// True if seconds are measured: then pass events to the functions below.
inline bool enabled() noexcept { return detail::timing.load(std::memory_order_relaxed); }

/// Counts a transfer. `device` is the index of the device whose queue runs it, and `label` the
/// array's name. `event` is retained where needed; null: the transfer is only counted.
inline void recordTransfer(Transfer kind, std::size_t bytes, int device, cl_event event,
                           std::string_view label, Queue queue = Queue::Transfer) {
  detail::counters.bytes[static_cast<int>(kind)].fetch_add(bytes, std::memory_order_relaxed);
  if (enabled()) [[unlikely]]
    detail::keepTransfer(kind, bytes, device, event, label, queue);
}

/// Counts a kernel launch on the device's compute queue. `cost()` gives its LaunchCost, which is
/// asked for only where seconds are measured.
template <class Cost>
void recordLaunch(std::string_view kernel, int device, cl_event event, const Cost& cost) {
  detail::counters.launches.fetch_add(1, std::memory_order_relaxed);
  if (enabled()) [[unlikely]]
    detail::keepLaunch(kernel, device, event, cost());
}
inline void recordLaunch(std::string_view kernel, int device, cl_event event) {
  recordLaunch(kernel, device, event, [] { return LaunchCost(); });
}

/// While it lives, transfers of the calling thread are those of one exchange of ghosts.
class ExchangeScope {
 public:
  ExchangeScope() : isOpen_(enabled() && detail::beginExchange()) {}
  ~ExchangeScope() {
    if (isOpen_) [[unlikely]]
      detail::endExchange();
  }
  ExchangeScope(const ExchangeScope&) = delete;
  ExchangeScope& operator=(const ExchangeScope&) = delete;

 private:
  bool isOpen_;
};

/// Adds host time spent capturing a kernel and generating its code.
void recordKernelCreation(std::string_view kernel, double seconds);
/// Adds host time spent compiling a kernel or loading it from the cache.
void recordKernelCompilation(std::string_view kernel, double seconds);

/// A span of host time in the timeline, from construction to destruction, on the track of the
/// calling thread. `name` must outlive the scope.
class HostScope {
 public:
  explicit HostScope(std::string_view name)
      : name_(name), begin_(enabled() ? detail::hostSeconds() : -1) {}
  ~HostScope() {
    if (begin_ >= 0) [[unlikely]]
      detail::keepHostScope(name_, begin_, detail::hostSeconds());
  }
  HostScope(const HostScope&) = delete;
  HostScope& operator=(const HostScope&) = delete;

 private:
  std::string_view name_;
  double begin_;
};

/// Adds a message to or from another process to the timeline.
inline MessageNumber beginMessage(int peer, bool isOutgoing, std::size_t bytes) {
  return enabled() ? detail::keepMessage(peer, isOutgoing, bytes) : 0;
}
/// When a phase of a message begins, for recordPhase().
inline double phaseBegin(MessageNumber message) { return message != 0 ? detail::hostSeconds() : 0; }
/// A phase of a message that ends now. Any thread.
inline void recordPhase(MessageNumber message, Phase phase, double begin) {
  if (message != 0) [[unlikely]]
    detail::keepPhase(message, phase, begin, detail::hostSeconds());
}
/// While it lives, transfers of the calling thread are a phase of a message.
class PhaseScope {
 public:
  PhaseScope(MessageNumber message, Phase phase) : before_(detail::phaseOfThread) {
    detail::phaseOfThread = {message, phase};
  }
  /// Another phase of the message that they belong to anyway.
  explicit PhaseScope(Phase phase) : PhaseScope(detail::phaseOfThread.message, phase) {}
  ~PhaseScope() { detail::phaseOfThread = before_; }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  detail::PhaseOfThread before_;
};

/// Names the calling thread in the timeline.
void nameThread(std::string_view name);

/// Switches measuring on or off; `timelineFile` empty: no timeline. `%p` in the file name becomes
/// the process id. The runtime calls it with the settings.
void configure(bool profile, const std::string& timelineFile);

/// Whether stop() prints the profile on stderr. The runtime calls it with the settings.
void printAtStop(bool wanted);

/// Waits for the commands in flight and prints the profile, where printAtStop() asked for it, and
/// not a second time. For programs that end without stop().
void printProfile() noexcept;

/// Names a device in the timeline. The runtime calls it for every device.
void nameDevice(int device, std::string_view name);

/// Waits for the commands in flight and writes the timeline so far; does nothing without a file.
/// Throws hpl::Error when the file cannot be written.
void flush();

/// A moment of this process's steady clock, and of the timeline's begin on it, in seconds.
/// Processes of one machine share that clock.
double clockSeconds();
double clockSecondsAtBegin();

/// One of several processes whose timelines are to be one.
struct JointProcess {
  int number = 0;
  /// Stands before the names of its devices, such as "rank 2".
  std::string name;
  /// The joint timeline shows the moment t of this one's, in seconds, at shift + rate * t.
  double shift = 0;
  double rate = 1;
};
/// Waits for the commands in flight. The events so far, for a file made by jointTimeline(), which
/// flush() and stop() then no longer write; empty without a timeline.
std::string takeJointEvents(const JointProcess& process);
/// Begin and end of a file of events of several processes, with commas and newlines between them.
inline constexpr std::string_view jointBegin = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
inline constexpr std::string_view jointEnd = "\n]}\n";

/// Calls flush() and printProfile(), then measures no more and holds no event. The runtime calls it
/// at exit, while the drivers still work. Throws like flush().
void stop();

/// For tests: forgets everything recorded and sets the counters to 0.
void reset();

}  // namespace hpl::trace
