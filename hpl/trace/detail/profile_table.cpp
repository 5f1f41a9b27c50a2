// SPDX-License-Identifier: Apache-2.0
#include "hpl/trace/detail/profile_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace hpl::trace::detail {
namespace {

// With two lines of heading, one of what is left out, up to five of transfers and one of the host.
constexpr std::size_t kMostRows = 15;
constexpr std::size_t kNameWidth = 28;
constexpr std::size_t kStrategyWidth = 12;

/// 1536 -> "1.5 KB": powers of ten, as GB/s are.
std::string bytesText(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  for (const char* unit : {"KB", "MB", "GB"}) {
    value *= 1e-3;
    if (value < 999.5) return fmt::format("{:.{}f} {}", value, value < 10 ? 1 : 0, unit);
  }
  return fmt::format("{:.1f} TB", value * 1e-3);
}

std::string rateText(std::uint64_t bytes, double seconds) {
  return seconds > 0 ? fmt::format("{:.2f}", 1e-9 * static_cast<double>(bytes) / seconds) : "-";
}

/// The end of a long name is left out, as launches differ at its beginning.
std::string cut(std::string_view text, std::size_t width) {
  if (text.size() <= width) return std::string(text);
  return std::string(text.substr(0, width - 2)) + "..";
}

std::string deviceText(const ProfileReport& report, int device) {
  const auto name = report.devices.find(device);
  return name == report.devices.end() ? fmt::format("{}", device)
                                      : fmt::format("{} {}", device, cut(name->second, 20));
}

std::string rowOf(double seconds, std::uint64_t count, std::uint64_t bytes,
                  const std::string& what) {
  return fmt::format("{:>10.6f} {:>9} {:>9} {:>8}  {}\n", seconds, count, bytesText(bytes),
                     rateText(bytes, seconds), what);
}

std::string kernelRows(const ProfileReport& report) {
  std::vector<LaunchSums> launches = report.launches;
  std::ranges::stable_sort(launches, std::ranges::greater{}, &LaunchSums::seconds);
  std::string text;
  const std::size_t shown = std::min(launches.size(), kMostRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const LaunchSums& each = launches[i];
    text += rowOf(each.seconds, each.launches, each.bytes,
                  fmt::format("{:<{}} {:<{}} {}", cut(each.kernel, kNameWidth), kNameWidth,
                              cut(each.strategy, kStrategyWidth), kStrategyWidth,
                              deviceText(report, each.device)));
  }
  if (shown == launches.size()) return text;
  LaunchSums rest;
  for (std::size_t i = shown; i < launches.size(); ++i) {
    rest.seconds += launches[i].seconds;
    rest.launches += launches[i].launches;
    rest.bytes += launches[i].bytes;
  }
  return text + rowOf(rest.seconds, rest.launches, rest.bytes,
                      fmt::format("({} more)", launches.size() - shown));
}

std::string transferRows(const ProfileReport& report) {
  static constexpr const char* kKinds[] = {"transfers to devices", "transfers from devices",
                                           "transfers between devices"};
  std::string text;
  for (int kind = 0; kind < 3; ++kind) {
    const TransferSums& sums = report.transfers[kind];
    if (sums.count > 0) text += rowOf(sums.seconds, sums.count, sums.bytes, kKinds[kind]);
  }
  if (report.exchanges.count > 0)
    text += rowOf(report.exchanges.seconds, report.exchanges.count, report.exchanges.bytes,
                  "exchanges of ghosts (among the transfers)");
  return text;
}

}  // namespace

std::string profileTable(const ProfileReport& report) {
  const std::string rows = kernelRows(report) + transferRows(report);
  if (rows.empty()) return {};
  std::string text =
      "hpl: profile (HPL_PROFILE): device time; what ran at the same time counts twice\n";
  text += fmt::format("{:>10} {:>9} {:>9} {:>8}  {:<{}} {:<{}} {}\n", "seconds", "count", "bytes",
                      "GB/s", "kernel", kNameWidth, "strategy", kStrategyWidth, "device");
  text += rows;
  if (report.secsCreation + report.secsCompilation > 0)
    text += fmt::format("{:>10.6f} {:>28}  on the host, capturing kernels and compiling them\n",
                        report.secsCreation + report.secsCompilation, "");
  return text;
}

}  // namespace hpl::trace::detail
