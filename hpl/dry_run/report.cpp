// SPDX-License-Identifier: Apache-2.0
#include "hpl/dry_run/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

namespace hpl::dry_run {

std::uint64_t Traffic::allMessages() const noexcept {
  return std::accumulate(messages.begin(), messages.end(), std::uint64_t{0});
}

std::uint64_t Traffic::allBytes() const noexcept {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

Traffic& Traffic::add(const Traffic& other, std::uint64_t times) noexcept {
  for (std::size_t link = 0; link < kLinks; ++link) {
    messages[link] += times * other.messages[link];
    bytes[link] += times * other.bytes[link];
  }
  return *this;
}

ProfileBytes& ProfileBytes::add(const ProfileBytes& other) noexcept {
  hostToDevice += other.hostToDevice;
  deviceToHost += other.deviceToHost;
  deviceToDevice += other.deviceToDevice;
  return *this;
}

int Report::fullest() const noexcept {
  const auto most = std::max_element(memory.begin(), memory.end());
  return most == memory.end() ? -1 : static_cast<int>(most - memory.begin());
}

int Report::overfull() const noexcept {
  int count = 0;
  for (std::size_t d = 0; d < memory.size(); ++d) count += memory[d] > capacity[d] ? 1 : 0;
  return count;
}

namespace {

/// Rows of the table of operations.
constexpr std::size_t kMostRows = 12;

std::string sizeOf(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string timeOf(double seconds) {
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", 1e3 * seconds);
  return fmt::format("{:.2f} us", 1e6 * seconds);
}

std::string counted(std::uint64_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

void addTraffic(std::string& text, const Traffic& traffic) {
  for (std::size_t link = 0; link < kLinks; ++link) {
    if (traffic.messages[link] == 0) continue;
    text += fmt::format("    {:<10}{:>12} {:>12}\n", nameOf(static_cast<Link>(link)),
                        traffic.messages[link], sizeOf(traffic.bytes[link]));
  }
}

void addMemory(std::string& text, const Report& report) {
  const int fullest = report.fullest();
  if (fullest < 0) return;
  const auto d = static_cast<std::size_t>(fullest);
  text += fmt::format("  memory: at most {} of {} on a device (device {})\n",
                      sizeOf(report.memory[d]), sizeOf(report.capacity[d]), fullest);
  if (const int overfull = report.overfull(); overfull > 0)
    text += fmt::format("  {} of {} devices would have to hold more than they can\n", overfull,
                        report.devices);
}

void addOperations(std::string& text, const Report& report) {
  std::vector<const OperationSums*> rows;
  for (const OperationSums& row : report.operations) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const OperationSums* a, const OperationSums* b) {
    return a->times > b->times;
  });
  text += fmt::format("  {:<34}{:>9} {:>8} {:>10} {:>12}\n", "operation", "times", "devices",
                      "messages", "bytes");
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const OperationSums& row = *rows[i];
    const std::string name = fmt::format("{} {}{}", row.kind, row.name, row.isSum ? " (sum)" : "");
    text += fmt::format("    {:<32}{:>9} {:>8} {:>10} {:>12}\n", name, row.times, row.devices,
                        row.traffic.allMessages(), sizeOf(row.traffic.allBytes()));
  }
  if (rows.size() > kMostRows) text += fmt::format("    and {} more\n", rows.size() - kMostRows);
}

void addLoop(std::string& text, const Report& report) {
  const Loop& loop = report.loop;
  if (loop.operations.empty()) return;
  std::string names;
  for (std::size_t i = 0, count = 1; i < loop.operations.size(); i += count, count = 1) {
    while (i + count < loop.operations.size() && loop.operations[i + count] == loop.operations[i])
      ++count;
    const OperationSums& row = report.operations[static_cast<std::size_t>(loop.operations[i])];
    names += fmt::format("{}{}{} {}", names.empty() ? "" : ", ",
                         count > 1 ? fmt::format("{} x ", count) : "", row.kind, row.name);
  }
  constexpr std::size_t kLongest = 150;
  if (names.size() > kLongest) names.replace(kLongest, std::string::npos, "...");
  text += fmt::format("  step, repeated {} times: {}\n", loop.times, names);
  addTraffic(text, loop.traffic);
  if (loop.mostTraffic.messages > 0)
    text +=
        fmt::format("    worst device: {} sends and receives {} with {}\n", loop.mostTraffic.device,
                    counted(loop.mostTraffic.messages, "message"), sizeOf(loop.mostTraffic.bytes));
  if (loop.mostWork.workSeconds > 0)
    text += fmt::format("    most work: device {} computes for {}\n", loop.mostWork.device,
                        timeOf(loop.mostWork.workSeconds));
  text += fmt::format("    modelled time {}", timeOf(loop.seconds));
  if (loop.devices > 0)
    text += fmt::format(", efficiency {:.1f} % on {} against one of them", 100 * loop.efficiency,
                        counted(static_cast<std::uint64_t>(loop.devices), "device"));
  text += "\n";
}

void addHostReads(std::string& text, const Report& report) {
  if (report.hostReads.empty()) return;
  text +=
      "  the host read what devices computed; the program saw other values than a run would "
      "give it:\n";
  constexpr std::size_t kMost = 8;
  for (std::size_t i = 0; i < std::min(report.hostReads.size(), kMost); ++i) {
    const HostReads& reads = report.hostReads[i];
    text += fmt::format("    {}, {}, {}{}\n", reads.array, counted(reads.times, "time"),
                        sizeOf(reads.bytes),
                        reads.computedBy.empty() ? "" : ", after " + reads.computedBy);
  }
  if (report.hostReads.size() > kMost)
    text += fmt::format("    and {} more\n", report.hostReads.size() - kMost);
}

nlohmann::ordered_json jsonOf(const Traffic& traffic) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (std::size_t link = 0; link < kLinks; ++link)
    json[nameOf(static_cast<Link>(link))] = {{"messages", traffic.messages[link]},
                                             {"bytes", traffic.bytes[link]}};
  return json;
}

nlohmann::ordered_json jsonOf(const Loop& loop) {
  const auto worst = [](const WorstDevice& device) {
    return nlohmann::ordered_json{{"device", device.device},
                                  {"messages", device.messages},
                                  {"bytes", device.bytes},
                                  {"work_s", device.workSeconds}};
  };
  return {{"operations", loop.operations},     {"times", loop.times},
          {"launches", loop.launches},         {"devices", loop.devices},
          {"links", jsonOf(loop.traffic)},     {"most_traffic", worst(loop.mostTraffic)},
          {"most_work", worst(loop.mostWork)}, {"time_s", loop.seconds},
          {"work_s", loop.workSeconds},        {"efficiency", loop.efficiency}};
}

}  // namespace

std::string toText(const Report& report) {
  std::string text = fmt::format("hpl: dry run for {}: {} on {}\n", report.machine,
                                 counted(static_cast<std::uint64_t>(report.devices), "device"),
                                 counted(static_cast<std::uint64_t>(report.nodes), "node"));
  text += fmt::format("  {}, {}, modelled time {}\n",
                      fmt::format("{} launches of kernels", report.launches),
                      counted(report.transfers, "transfer"), timeOf(report.seconds));
  addMemory(text, report);
  text += fmt::format("  {:<12}{:>12} {:>12}\n", "link", "messages", "bytes");
  addTraffic(text, report.traffic);
  addOperations(text, report);
  addLoop(text, report);
  addHostReads(text, report);
  for (const std::string& remark : report.remarks) text += "  " + remark + "\n";
  return text;
}

std::string toJson(const Report& report) {
  using nlohmann::ordered_json;
  ordered_json json{{"machine", report.machine},
                    {"nodes", report.nodes},
                    {"devices", report.devices},
                    {"launches", report.launches},
                    {"transfers", report.transfers},
                    {"bytes_host_to_device", report.profile.hostToDevice},
                    {"bytes_device_to_host", report.profile.deviceToHost},
                    {"bytes_device_to_device", report.profile.deviceToDevice},
                    {"links", jsonOf(report.traffic)},
                    {"time_s", report.seconds},
                    {"memory_bytes", report.memory},
                    {"overfull_devices", report.overfull()}};
  json["operations"] = ordered_json::array();
  for (const OperationSums& row : report.operations)
    json["operations"].push_back({{"kind", row.kind},
                                  {"name", row.name},
                                  {"times", row.times},
                                  {"devices", row.devices},
                                  {"launches", row.launches},
                                  {"transfers", row.transfers},
                                  {"links", jsonOf(row.traffic)},
                                  {"is_sum", row.isSum}});
  json["step"] = report.loop.operations.empty() ? ordered_json() : jsonOf(report.loop);
  json["host_reads"] = ordered_json::array();
  for (const HostReads& reads : report.hostReads)
    json["host_reads"].push_back({{"array", reads.array},
                                  {"computed_by", reads.computedBy},
                                  {"times", reads.times},
                                  {"bytes", reads.bytes}});
  json["remarks"] = report.remarks;
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace hpl::dry_run
