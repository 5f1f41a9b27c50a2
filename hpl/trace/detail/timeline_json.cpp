// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "hpl/trace/detail/recorder.h"

namespace hpl::trace::detail {
namespace {

constexpr int hostProcess = 0;

int processOf(int device) { return device + 1; }

int trackOf(Queue queue) { return queue == Queue::Compute ? 1 : 2; }

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
  void nameProcess(int process, std::string_view name) {
    add(fmt::format(R"({{"name":"process_name","ph":"M","pid":{},"args":{{"name":{}}}}})", process,
                    quoted(name)));
    add(fmt::format(
        R"({{"name":"process_sort_index","ph":"M","pid":{0},"args":{{"sort_index":{0}}}}})",
        process));
  }
  void nameTrack(int process, int track, std::string_view name) {
    add(fmt::format(R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})",
                    process, track, quoted(name)));
  }
  void span(int process, int track, std::string_view name, std::string_view category, double begin,
            double end, const std::string& arguments) {
    add(fmt::format(
        R"({{"name":{},"cat":"{}","ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f}{}}})",
        quoted(name), category, process, track, begin * 1e6, (end - begin) * 1e6, arguments));
  }
  /// An arrow from the end of one span to the begin of another.
  void flow(int id, char phase, int process, int track, double at) {
    add(fmt::format(
        R"({{"name":"ghosts","cat":"ghosts","ph":"{}","id":{},"pid":{},"tid":{},"ts":{:.3f}{}}})",
        phase, id, process, track, at * 1e6, phase == 'f' ? R"(,"bp":"e")" : ""));
  }
  std::string finish() && {
    return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + text_ + "\n]}\n";
  }

 private:
  void add(const std::string& event) {
    if (!text_.empty()) text_ += ",\n";
    text_ += event;
  }
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

}  // namespace

std::string toJson(const Timeline& timeline) {
  EventWriter writer;
  writer.nameProcess(hostProcess, "host");
  std::set<int> threads;
  for (const Span& span : timeline.spans) threads.insert(span.thread);
  for (int thread : threads) {
    const auto named = timeline.threads.find(thread);
    writer.nameTrack(
        hostProcess, thread,
        named != timeline.threads.end() ? named->second : fmt::format("thread {}", thread));
  }
  for (const auto& [device, name] : timeline.devices) {
    writer.nameProcess(processOf(device), name);
    writer.nameTrack(processOf(device), trackOf(Queue::Compute), "compute");
    writer.nameTrack(processOf(device), trackOf(Queue::Transfer), "transfer");
  }
  for (const Span& span : timeline.spans) {
    writer.span(hostProcess, span.thread, span.name, "host", span.begin, span.end, "");
  }
  for (const Command& command : timeline.commands) {
    const auto offset = timeline.clockOffsets.find(command.device);
    writeCommand(writer, command, offset == timeline.clockOffsets.end() ? 0 : offset->second);
  }
  writeFlows(writer, timeline);
  return std::move(writer).finish();
}

}  // namespace hpl::trace::detail
