// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hpl/trace/detail/recorder.h"

namespace hpl::trace::detail {
namespace {

int processOf(int device) { return device + 1; }

/// Where the events of a process stand in the file.
struct Frame {
  /// Above the numbers of devices, which all processes have in common.
  static constexpr int kHosts = 1000000;
  /// Ids of arrows and messages of each process.
  static constexpr int kIds = 1 << 24;

  explicit Frame(const JointProcess* joint)
      : host(joint == nullptr ? 0 : kHosts + joint->number),
        firstId(joint == nullptr ? 0 : joint->number * std::int64_t{kIds}),
        firstPlace(joint == nullptr ? 0 : joint->number * std::int64_t{kHosts}),
        prefix(joint == nullptr ? "" : joint->name + ": "),
        shift(joint == nullptr ? 0 : joint->shift),
        rate(joint == nullptr ? 1 : joint->rate) {}

  double microseconds(double at) const { return (shift + rate * at) * 1e6; }

  int host;
  std::int64_t firstId;
  std::int64_t firstPlace;
  std::string prefix;
  double shift;
  double rate;
};

int trackOf(Queue queue) { return 1 + static_cast<int>(queue); }

/// Text as a JSON string; bytes that are not UTF-8 are replaced.
std::string quoted(std::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string_view categoryOf(Kind kind) {
  switch (kind) {
    case Kind::HostToDevice:
      return "host to device";
    case Kind::DeviceToHost:
      return "device to host";
    case Kind::DeviceToDevice:
      return "device to device";
    case Kind::Kernel:
      break;
  }
  return "kernel";
}

/// Writes one event per line, separated by commas.
class EventWriter {
 public:
  explicit EventWriter(const Frame& frame) : frame_(frame) {}

  /// `place`: where it stands among those of its process.
  void nameProcess(int process, int place, std::string_view name) {
    const std::string whole = frame_.prefix + std::string(name);
    add(fmt::format(R"({{"name":"process_name","ph":"M","pid":{},"args":{{"name":{}}}}})", process,
                    quoted(std::string_view(whole))));
    add(fmt::format(
        R"({{"name":"process_sort_index","ph":"M","pid":{},"args":{{"sort_index":{}}}}})", process,
        frame_.firstPlace + place));
  }
  void nameTrack(int process, int track, std::string_view name) {
    add(fmt::format(R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})",
                    process, track, quoted(name)));
  }
  void span(int process, int track, std::string_view name, std::string_view category, double begin,
            double end, const std::string& arguments) {
    add(fmt::format(
        R"({{"name":{},"cat":"{}","ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f}{}}})",
        quoted(name), category, process, track, frame_.microseconds(begin),
        frame_.microseconds(end) - frame_.microseconds(begin), arguments));
  }
  /// One end of a span that may overlap others of its kind; spans of one id lie within each other.
  void message(int id, std::string_view name, char end, double at, std::size_t bytes) {
    add(fmt::format(
        R"({{"name":"{}","cat":"message","ph":"{}","id":{},"pid":{},"tid":0,"ts":{:.3f},)"
        R"("args":{{"bytes":{}}}}})",
        name, end, frame_.firstId + id, frame_.host, frame_.microseconds(at), bytes));
  }
  /// An arrow from the end of one span to the begin of another.
  void flow(int id, char phase, int process, int track, double at) {
    add(fmt::format(
        R"({{"name":"ghosts","cat":"ghosts","ph":"{}","id":{},"pid":{},"tid":{},"ts":{:.3f}{}}})",
        phase, frame_.firstId + id, process, track, frame_.microseconds(at),
        phase == 'f' ? R"(,"bp":"e")" : ""));
  }
  std::string finish() && { return std::move(text_); }

 private:
  void add(const std::string& event) {
    if (!text_.empty()) text_ += ",\n";
    text_ += event;
  }
  const Frame& frame_;
  std::string text_;
};

void writeCommand(EventWriter& writer, const Command& command, double clockOffset) {
  std::string name(command.name);
  std::string arguments;
  if (command.kind != Kind::Kernel) {
    const double seconds = command.end - command.begin;
    const double rate = seconds > 0 ? 1e-9 * static_cast<double>(command.bytes) / seconds : 0;
    arguments = fmt::format(R"(,"args":{{"bytes":{},"GB/s":{:.3f}}})", command.bytes, rate);
    name += command.kind == Kind::HostToDevice   ? " (to device)"
            : command.kind == Kind::DeviceToHost ? " (to host)"
            : command.exchange != 0              ? " (ghosts)"
                                                 : " (between devices)";
  } else if (!command.strategy.empty()) {
    arguments = fmt::format(R"(,"args":{{"strategy":{},"bytes":{}}})", quoted(command.strategy),
                            command.bytes);
  }
  writer.span(processOf(command.device), trackOf(command.queue), name, categoryOf(command.kind),
              command.begin + clockOffset, command.end + clockOffset, arguments);
}

/// Arrows from each exchange of ghosts to the kernels that it was made for: on every device, the
/// first that begins once the device has its cells.
void writeFlows(EventWriter& writer, const Timeline& timeline) {
  std::map<std::pair<std::uint32_t, int>, const Command*> lastOf;
  for (const Command& command : timeline.commands) {
    if (command.kind == Kind::Kernel || command.exchange == 0) continue;
    const Command*& last = lastOf[{command.exchange, command.device}];
    if (last == nullptr || last->end < command.end) last = &command;
  }
  std::map<int, std::map<double, const Command*>> kernels;
  for (const Command& command : timeline.commands)
    if (command.kind == Kind::Kernel) kernels[command.device].emplace(command.begin, &command);
  int id = 0;
  for (const auto& [key, last] : lastOf) {
    const auto& there = kernels[last->device];
    const auto found = there.lower_bound(last->end);
    if (found == there.end()) continue;
    const Command* next = found->second;
    const auto offset = timeline.clockOffsets.find(last->device);
    const double shift = offset == timeline.clockOffsets.end() ? 0 : offset->second;
    ++id;
    // From within the span: viewers tie arrows to spans that are open at their time.
    writer.flow(id, 's', processOf(last->device), trackOf(last->queue),
                (last->begin + last->end) / 2 + shift);
    writer.flow(id, 'f', processOf(next->device), trackOf(next->queue),
                (next->begin + next->end) / 2 + shift);
  }
}

void writeNames(EventWriter& writer, const Frame& frame, const Timeline& timeline) {
  writer.nameProcess(frame.host, 0, "host");
  std::set<int> threads;
  for (const Span& span : timeline.spans) threads.insert(span.thread);
  for (int thread : threads) {
    const auto named = timeline.threads.find(thread);
    writer.nameTrack(
        frame.host, thread,
        named != timeline.threads.end() ? named->second : fmt::format("thread {}", thread));
  }
  std::set<int> haveQueueOut;
  for (const Command& command : timeline.commands)
    if (command.queue == Queue::TransferOut) haveQueueOut.insert(command.device);
  for (const auto& [device, name] : timeline.devices) {
    writer.nameProcess(processOf(device), processOf(device), name);
    writer.nameTrack(processOf(device), trackOf(Queue::Compute), "compute");
    writer.nameTrack(processOf(device), trackOf(Queue::Transfer), "transfer");
    if (haveQueueOut.contains(device))
      writer.nameTrack(processOf(device), trackOf(Queue::TransferOut), "transfer out");
  }
}

std::string_view nameOf(Phase phase) {
  switch (phase) {
    case Phase::Packing:
      return "packing";
    case Phase::Reading:
      return "reading";
    case Phase::Waiting:
      return "waiting";
    case Phase::Sending:
      return "sending";
    case Phase::Receiving:
      return "receiving";
    case Phase::Writing:
      return "writing";
    case Phase::Unpacking:
      break;
  }
  return "unpacking";
}

/// The phases of each message. Several devices may be at several phases: each ends where the next
/// one begins.
std::vector<std::map<Phase, Message::Part>> phasesOf(const Timeline& timeline) {
  std::vector<std::map<Phase, Message::Part>> phases(timeline.messages.size());
  const auto add = [&](std::size_t message, const Message::Part& part) {
    const auto [it, isFirst] = phases[message].emplace(part.phase, part);
    it->second.begin = std::min(it->second.begin, part.begin);
    it->second.end = std::max(it->second.end, part.end);
  };
  for (std::size_t m = 0; m < phases.size(); ++m)
    for (const Message::Part& part : timeline.messages[m].parts) add(m, part);
  for (const Command& command : timeline.commands) {
    if (command.message == 0 || command.message > phases.size()) continue;
    const auto offset = timeline.clockOffsets.find(command.device);
    const double shift = offset == timeline.clockOffsets.end() ? 0 : offset->second;
    add(command.message - 1, {command.phase, command.begin + shift, command.end + shift});
  }
  for (auto& ofMessage : phases) {
    double next = std::numeric_limits<double>::infinity();
    for (auto it = ofMessage.rbegin(); it != ofMessage.rend(); ++it) {
      it->second.begin = std::min(it->second.begin, next);
      it->second.end = std::min(it->second.end, next);
      next = it->second.begin;
    }
  }
  return phases;
}

void writeMessages(EventWriter& writer, const Timeline& timeline) {
  int id = Frame::kIds / 2;  // above those of arrows
  const auto phases = phasesOf(timeline);
  for (std::size_t m = 0; m < phases.size(); ++m) {
    if (phases[m].empty()) continue;
    const Message& message = timeline.messages[m];
    const std::string name =
        fmt::format("{} rank {}", message.isOutgoing ? "to" : "from", message.peer);
    writer.message(id, name, 'b', phases[m].begin()->second.begin, message.bytes);
    for (const auto& [phase, part] : phases[m])
      for (const auto& [end, at] : {std::pair('b', part.begin), std::pair('e', part.end)})
        writer.message(id, nameOf(phase), end, at, message.bytes);
    writer.message(id, name, 'e', phases[m].rbegin()->second.end, message.bytes);
    ++id;
  }
}

std::string eventsOf(const Timeline& timeline, const Frame& frame) {
  EventWriter writer(frame);
  writeNames(writer, frame, timeline);
  for (const Span& span : timeline.spans) {
    writer.span(frame.host, span.thread, span.name, "host", span.begin, span.end, "");
  }
  for (const Command& command : timeline.commands) {
    const auto offset = timeline.clockOffsets.find(command.device);
    writeCommand(writer, command, offset == timeline.clockOffsets.end() ? 0 : offset->second);
  }
  writeFlows(writer, timeline);
  writeMessages(writer, timeline);
  return std::move(writer).finish();
}

}  // namespace

std::string toJson(const Timeline& timeline) {
  return fmt::format("{}{}{}", jointBegin, eventsOf(timeline, Frame(nullptr)), jointEnd);
}

std::string toEvents(const Timeline& timeline, const JointProcess& process) {
  return eventsOf(timeline, Frame(&process));
}

}  // namespace hpl::trace::detail
