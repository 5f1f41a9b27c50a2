// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "hpl/trace/detail/profile_table.h"
#include "hpl/trace/profile.h"
#include "hpl/trace/timeline.h"

namespace hpl::trace::detail {

/// The kind of a recorded command.
enum class Kind { HostToDevice, DeviceToHost, DeviceToDevice, Kernel };

/// The exchange of ghosts that the calling thread works at; 0: none.
extern thread_local constinit std::uint32_t exchangeOfThread;

/// A finished command with its device times, in seconds of the device's own clock.
struct Command {
  Kind kind = Kind::Kernel;
  Queue queue = Queue::Compute;
  int device = 0;
  std::string_view name;
  std::size_t bytes = 0;
  double begin = 0;
  double end = 0;
  /// For kernels: the layout.
  std::string_view strategy;
  /// For transfers: the exchange of ghosts to which they belong; 0: none.
  std::uint32_t exchange = 0;
  /// For transfers: the message of which they are a phase; 0: none.
  MessageNumber message = 0;
  Phase phase = Phase::Reading;
};

/// A span of host time.
struct Span {
  int thread = 0;
  std::string_view name;
  double begin = 0;
  double end = 0;
};

/// A message to or from another process.
struct Message {
  int peer = 0;
  bool isOutgoing = false;
  std::size_t bytes = 0;
  struct Part {
    Phase phase = Phase::Waiting;
    double begin = 0;
    double end = 0;
  };
  /// Parts of host time; the work of devices for them is in commands.
  std::vector<Part> parts;
};

/// Everything needed to write a timeline, copied out of the recorder.
struct Timeline {
  std::map<int, std::string> devices;
  /// Host clock minus device clock, in seconds.
  std::map<int, double> clockOffsets;
  std::map<int, std::string> threads;
  std::vector<Command> commands;
  std::vector<Span> spans;
  /// Message n is at n - 1.
  std::vector<Message> messages;
};

/// The timeline in the JSON format of chrome://tracing and ui.perfetto.dev: one process per device
/// with a track per queue, and one for the host with a track per thread.
std::string toJson(const Timeline& timeline);
/// The same as events of a file of several processes.
std::string toEvents(const Timeline& timeline, const JointProcess& process);

/// Keeps events until they are complete, then their times. All functions lock.
class Recorder {
 public:
  /// The recorder; never destroyed, so that it outlives every static object.
  static Recorder& get();

  void addCommand(Kind kind, Queue queue, int device, std::string_view name, std::size_t bytes,
                  cl_event event);
  void addLaunch(std::string_view kernel, std::string_view strategy, int device, std::size_t bytes,
                 cl_event event);
  void addSpan(std::string_view name, double begin, double end);
  /// 0: there is no timeline.
  MessageNumber addMessage(int peer, bool isOutgoing, std::size_t bytes);
  void addPhase(MessageNumber message, const Message::Part& part);
  void addCreation(std::string_view kernel, double seconds);
  void addCompilation(std::string_view kernel, double seconds);
  void nameThread(std::string_view name);
  void nameDevice(int device, std::string_view name);
  void setTimelineFile(const std::string& file);
  std::string timelineFile();

  /// Waits for the recorded commands and takes their times.
  void waitForAll();
  /// The seconds so far; bytes and launches are left 0.
  ProfilingData seconds();
  /// Remembers what getProfile() has reported, and returns what it had reported before.
  ProfilingData exchangeReported(const ProfilingData& now);
  std::vector<KernelProfile> kernels();
  /// All that the table at the program's end says.
  ProfileReport report();
  Timeline timeline();
  /// Forgets what was measured, and events in flight.
  void reset();

 private:
  struct Pending {
    Command command;
    cl_event event = nullptr;
    double recordedAt = 0;
  };

  void keep(const Command& command, cl_event event);
  LaunchSums& sumsOf(const Command& launch);
  /// Takes the times of commands that are complete, in the order of their queues.
  void harvest();
  void account(const Pending& pending);
  std::string_view intern(std::string_view text);
  KernelProfile& kernel(std::string_view name);

  std::mutex mutex_;
  std::string file_;
  std::unordered_set<std::string> strings_;
  std::map<std::pair<int, Queue>, std::deque<Pending>> pending_;
  std::size_t sinceHarvest_ = 0;
  ProfilingData seconds_;
  ProfilingData reported_;
  std::map<std::string, KernelProfile, std::less<>> kernels_;
  std::map<std::tuple<std::string_view, std::string_view, int>, LaunchSums> launches_;
  TransferSums transfers_[3];
  TransferSums exchanges_;
  std::uint32_t lastExchange_ = 0;
  Timeline timeline_;
};

}  // namespace hpl::trace::detail
