// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hpl/ranks/path_speed.h"
#include "hpl/runtime/dry_run.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"
#include "hpl/topology/links.h"

namespace hpl::ranks {
namespace {

using runtime::DeviceState;

constexpr std::size_t kSmall = 4096;
constexpr std::size_t kLarge = std::size_t{1} << 20;
constexpr int kSmallTimes = 20;
constexpr int kLargeTimes = 4;
/// A table of more devices tells less than its rules.
constexpr std::size_t kMostDevices = 16;

std::string_view pathBetween(const World& world, const DeviceState& a, const DeviceState& b) {
  if (&a == &b) return "-";
  const bool isDirect = runtime::settings().transport.direct != runtime::Use::Never;
  if (a.rank() == b.rank()) return isDirect && a.sharesContextWith(b) ? "direct" : "host";
  if (a.node() != b.node()) return "network";
  return world.sharesOnNode() ? "window" : "message";
}

Link measure(World& world, int from, int to) {
  const bool begins = world.rank() == from;
  const int other = begins ? to : from;
  const double small = secondsOfMessage(world, other, begins, kSmall, kSmallTimes);
  const double large = secondsOfMessage(world, other, begins, kLarge, kLargeTimes);
  return {from, to, small * 1e6, static_cast<double>(kLarge) / large};
}

std::string describePaths(const World& world,
                          const std::vector<std::unique_ptr<DeviceState>>& devices) {
  std::string text = "\nPaths between devices\n      ";
  for (const auto& to : devices) text += fmt::format(" {:>7}", fmt::format("#{}", to->index()));
  for (const auto& from : devices) {
    text += fmt::format("\n  {:>4}", fmt::format("#{}", from->index()));
    for (const auto& to : devices) text += fmt::format(" {:>7}", pathBetween(world, *from, *to));
  }
  text +=
      "\n  direct: one context; host: through the memory of one process; window: through memory "
      "that\n  processes share; message: between processes of a node; network: between nodes\n";
  // Each exchange decides which rows do (memory/detail/in_place.h).
  if (world.size() > 1 && runtime::settings().transport.inPlace != runtime::Use::Never)
    text +=
        "  (messages leave from and arrive in the memory of devices that work in the host's: in "
        "place)\n";
  return text;
}

}  // namespace

namespace {

std::string describeDevice(const DeviceState& device) {
  const DeviceProperties& p = device.properties();
  return fmt::format("    {}  {}, {} units, {:.1f} GiB ({})\n", device.name(),
                     deviceTypeName(p.type), p.computeUnits,
                     static_cast<double>(p.globalMemory) / 0x1p30, p.platform);
}

/// The machine of a dry run, of which the one process is no part.
std::string describePlanned() {
  const auto& devices = runtime::Runtime::get().devices();
  std::string text;
  int node = -1;
  for (const auto& device : devices) {
    if (device->node() != node) {
      node = device->node();
      text += fmt::format("node {}\n", node);
    }
    text += describeDevice(*device);
  }
  return fmt::format("A dry run of {} devices on {} node{}\n", devices.size(), node + 1,
                     node == 0 ? "" : "s") +
         text;
}

}  // namespace

std::string describeTopology(const World& world) {
  if (runtime::isDryRun()) return describePlanned();
  const auto& devices = runtime::Runtime::get().devices();
  std::string text = fmt::format(
      "{} rank{} on {} node{}, {} device{}\n", world.size(), world.size() == 1 ? "" : "s",
      world.nodes(), world.nodes() == 1 ? "" : "s", devices.size(), devices.size() == 1 ? "" : "s");
  for (int node = 0; node < world.nodes(); ++node) {
    text += fmt::format("node {} ({})\n", node, world.nodeName(node));
    for (int rank = 0; rank < world.size(); ++rank) {
      if (world.nodeOf(rank) != node) continue;
      text += fmt::format("  rank {}\n", rank);
      for (const auto& device : devices) {
        if (device->rank() == rank) text += describeDevice(*device);
      }
    }
  }
  if (devices.size() > 1 && devices.size() <= kMostDevices) text += describePaths(world, devices);
  return text;
}

std::vector<Link> measureLinks(World& world) {
  Courier& courier = world.courier();
  std::vector<Link> own;
  for (int from = 0; from < world.size(); ++from) {
    for (int to = from + 1; to < world.size(); ++to) {
      courier.allAgree(true);  // the other ranks are quiet
      if (world.rank() == from) own.push_back(measure(world, from, to));
      if (world.rank() == to) measure(world, from, to);
    }
  }
  std::vector<Link> all;
  for (const auto& blob : courier.allgather(std::as_bytes(std::span(own)))) {
    const std::size_t before = all.size();
    all.resize(before + blob.size() / sizeof(Link));
    if (!blob.empty()) std::memcpy(all.data() + before, blob.data(), blob.size());
  }
  return all;
}

std::string describeLinks(const World& world, const std::vector<Link>& links) {
  std::string text = "Messages between ranks, one way\n";
  for (const Link& link : links) {
    text += fmt::format("  {} - {}: {:6.1f} us for 4 KiB, {:6.2f} GB/s for 1 MiB{}\n", link.from,
                        link.to, link.latency, link.bandwidth * 1e-9,
                        world.nodeOf(link.from) == world.nodeOf(link.to) ? "" : " (network)");
  }
  return text;
}

}  // namespace hpl::ranks
