// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>

#include "hpl/runtime/runtime.h"

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
  if (a.rank() == b.rank()) return a.sharesContextWith(b) ? "direct" : "host";
  if (a.node() != b.node()) return "network";
  return world.sharesOnNode() ? "window" : "message";
}

/// Waits for a message.
class Arrival {
 public:
  Courier::Done done() {
    return [this](const std::exception_ptr& failure, std::size_t) {
      failure ? promise_.set_exception(failure) : promise_.set_value();
    };
  }
  void wait() { promise_.get_future().get(); }

 private:
  std::promise<void> promise_;
};

/// Seconds of a message to the other rank and back.
double pingPong(Courier& courier, int other, bool begins, std::span<std::byte> bytes, int times) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int i = 0; i < times; ++i) {
    Arrival sent;
    Arrival received;
    courier.receive(other, bytes, received.done());
    const auto begin = Clock::now();
    if (!begins) received.wait();
    courier.send(other, bytes, sent.done());
    if (begins) received.wait();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
    sent.wait();
  }
  return best;
}

Link measure(Courier& courier, int from, int to) {
  const bool begins = courier.rank() == from;
  const int other = begins ? to : from;
  std::vector<std::byte> bytes(kLarge);
  const double small =
      pingPong(courier, other, begins, std::span(bytes).first(kSmall), kSmallTimes);
  const double large = pingPong(courier, other, begins, bytes, kLargeTimes);
  return {from, to, small / 2 * 1e6, static_cast<double>(kLarge) / (large / 2)};
}

std::string describePaths(const World& world,
                          const std::vector<std::unique_ptr<DeviceState>>& devices) {
  std::string text = "\nPaths between devices\n      ";
  for (const auto& to : devices) text += fmt::format(" {:>7}", fmt::format("#{}", to->index()));
  for (const auto& from : devices) {
    text += fmt::format("\n  {:>4}", fmt::format("#{}", from->index()));
    for (const auto& to : devices) text += fmt::format(" {:>7}", pathBetween(world, *from, *to));
  }
  return text +
         "\n  direct: one context; host: through the memory of one process; window: through memory "
         "that\n  processes share; message: between processes of a node; network: between nodes\n";
}

}  // namespace

std::string describeTopology(const World& world) {
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
        if (device->rank() != rank) continue;
        const DeviceProperties& p = device->properties();
        text += fmt::format("    {}  {}, {} units, {:.1f} GiB ({})\n", device->name(),
                            deviceTypeName(p.type), p.computeUnits,
                            static_cast<double>(p.globalMemory) / 0x1p30, p.platform);
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
      if (world.rank() == from) own.push_back(measure(courier, from, to));
      if (world.rank() == to) measure(courier, from, to);
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
