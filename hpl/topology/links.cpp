// SPDX-License-Identifier: Apache-2.0
#include "hpl/topology/links.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "hpl/error.h"
#include "hpl/runtime/dry_run.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"
#include "hpl/topology/detail/kept_links.h"
#include "hpl/topology/measure.h"

namespace hpl::topology {
namespace {

using geometry::SquareMatrix;

/// Calls f(row, column) for all places but those of the diagonal.
template <class F>
void forEachPair(int size, F&& f) {
  for (int row = 0; row < size; ++row)
    for (int column = 0; column < size; ++column)
      if (row != column) f(row, column);
}

double fastest(const SquareMatrix& bandwidths) {
  double most = 0;
  forEachPair(bandwidths.size(), [&](int i, int j) { most = std::max(most, bandwidths(i, j)); });
  return most;
}

std::string nameOf(const DeviceProperties& device) {
  if (device.pciAddress.empty()) return device.name;
  return fmt::format("{} at {}", device.name, device.pciAddress);
}

}  // namespace

bool NodeLinks::areEqual() const noexcept {
  const double most = fastest(bandwidths);
  bool areAll = true;
  forEachPair(bandwidths.size(),
              [&](int i, int j) { areAll = areAll && bandwidths(i, j) == most; });
  return areAll;
}

SquareMatrix NodeLinks::distances() const {
  SquareMatrix times(bandwidths.size());
  forEachPair(bandwidths.size(), [&](int i, int j) {
    times(i, j) =
        bandwidths(i, j) > 0 ? 1 / bandwidths(i, j) : std::numeric_limits<double>::infinity();
  });
  return times;
}

NodeLinks equalLinks(int devices, std::string reason) {
  NodeLinks links{SquareMatrix(devices), std::move(reason)};
  forEachPair(devices, [&](int i, int j) { links.bandwidths(i, j) = 1; });
  return links;
}

std::vector<int> matchDevices(const NodeTopology& topology,
                              const std::vector<DeviceProperties>& devices) {
  std::vector<int> found(devices.size(), -1);
  std::set<int> taken;
  for (std::size_t i = 0; i < devices.size(); ++i)
    for (std::size_t k = 0; k < topology.devices.size() && !devices[i].pciAddress.empty(); ++k)
      if (topology.devices[k].pciAddress == devices[i].pciAddress) {
        found[i] = static_cast<int>(k);
        taken.insert(found[i]);
      }
  std::size_t next = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!devices[i].pciAddress.empty()) continue;
    while (next < topology.devices.size() && taken.contains(static_cast<int>(next))) ++next;
    if (next < topology.devices.size()) found[i] = static_cast<int>(next++);
  }
  return found;
}

std::optional<NodeLinks> linksFrom(const NodeTopology& topology,
                                   const std::vector<DeviceProperties>& devices,
                                   const std::string& name) {
  const std::vector<int> known = matchDevices(topology, devices);
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (known[i] < 0)
      throw SettingsError(
          fmt::format("{} does not know device {} of this node, {}: it has {} device{}, {} to {}. "
                      "Write it on the "
                      "node itself (lstopo node.xml), or choose devices with HPL_DEVICES",
                      name, i, nameOf(devices[i]), topology.devices.size(),
                      topology.devices.size() == 1 ? "" : "s", topology.devices.front().name,
                      topology.devices.back().name));
  if (!topology.bandwidths) return std::nullopt;
  const double nearest = fastest(*topology.bandwidths);
  NodeLinks links{SquareMatrix(static_cast<int>(devices.size())), name};
  forEachPair(links.bandwidths.size(), [&](int i, int j) {
    const int from = known[static_cast<std::size_t>(i)];
    const int to = known[static_cast<std::size_t>(j)];
    links.bandwidths(i, j) = from == to ? nearest : (*topology.bandwidths)(from, to);
  });
  return links;
}

SquareMatrix inClasses(const SquareMatrix& bandwidths, double sameClass) {
  std::vector<double> values;
  forEachPair(bandwidths.size(), [&](int i, int j) { values.push_back(bandwidths(i, j)); });
  std::sort(values.rbegin(), values.rend());
  SquareMatrix classes = bandwidths;
  for (std::size_t k = 0; k < values.size();) {
    const double top = values[k];
    while (k < values.size() && values[k] >= sameClass * top) ++k;
    forEachPair(bandwidths.size(), [&](int i, int j) {
      if (bandwidths(i, j) <= top && bandwidths(i, j) >= sameClass * top) classes(i, j) = top;
    });
  }
  return classes;
}

std::optional<NodeLinks> knownLinks(const std::vector<DeviceProperties>& devices,
                                    const std::string& node) {
  const auto count = static_cast<int>(devices.size());
  if (const std::string& file = runtime::settings().topology; !file.empty() && count > 0) {
    const std::string name = "HPL_TOPOLOGY=" + file;
    if (auto links = linksFrom(readTopology(file), devices, name)) return links;
  }
  if (count < 3) return equalLinks(count, "fewer than three devices");
  const auto isCpu = [](const DeviceProperties& device) { return device.type == CPU; };
  if (std::all_of(devices.begin(), devices.end(), isCpu))
    return equalLinks(count, "CPUs share the node's memory");
  const auto hasAddress = [](const DeviceProperties& device) { return !device.pciAddress.empty(); };
  if (std::all_of(devices.begin(), devices.end(), hasAddress)) {
    const std::optional<NodeTopology> here = probeTopology();
    if (here) {
      const std::vector<int> known = matchDevices(*here, devices);
      if (std::find(known.begin(), known.end(), -1) == known.end())
        return linksFrom(*here, devices, "hwloc");
    }
  }
  return keptLinks(subjectOf(devices, node), devices.size());
}

void keepLinks(const std::vector<DeviceProperties>& devices, const std::string& node,
               const NodeLinks& links) {
  keepLinks(subjectOf(devices, node), links);
}

namespace {

/// By node. Never destroyed: arrays may die after it.
struct AllLinks {
  std::mutex mutex;
  std::vector<NodeLinks> ofNodes;
  std::optional<NodeLinks> betweenNodes;
};

AllLinks& allLinks() {
  static auto& all = *new AllLinks;
  return all;
}

NodeLinks linksOfOwn(const std::vector<runtime::DeviceState*>& devices, const std::string& node) {
  std::vector<DeviceProperties> properties;
  properties.reserve(devices.size());
  for (const runtime::DeviceState* device : devices) properties.push_back(device->properties());
  if (runtime::isDryRun() && runtime::settings().topology.empty())
    return equalLinks(static_cast<int>(devices.size()), "the machine file has one speed for all");
  if (auto known = knownLinks(properties, node)) return std::move(*known);
  if (runtime::isDryRun())
    return equalLinks(static_cast<int>(devices.size()), "the topology has no bandwidths");
  NodeLinks links{inClasses(measureOwn(devices).between), "measured"};
  keepLinks(properties, node, links);
  return links;
}

/// Processes without a Session do not tell each other where they run.
std::string nameOfNode(const runtime::DeviceState& device) {
  if (!device.nodeName().empty()) return device.nodeName();
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::vector<NodeLinks> findLinks() {
  std::vector<std::vector<runtime::DeviceState*>> byNode;
  for (const auto& device : runtime::Runtime::get().devices()) {
    const auto node = static_cast<std::size_t>(device->node());
    if (node >= byNode.size()) byNode.resize(node + 1);
    byNode[node].push_back(device.get());
  }
  std::vector<NodeLinks> all;
  for (const auto& devices : byNode) {
    // The nodes of a dry run are often all the same.
    const bool isAsBefore = !all.empty() && runtime::isDryRun() &&
                            all.back().bandwidths.size() == static_cast<int>(devices.size());
    all.push_back(isAsBefore
                      ? all.back()
                      : linksOfOwn(devices, devices.empty() ? "" : nameOfNode(*devices.front())));
  }
  return all;
}

}  // namespace

const NodeLinks& linksOf(int node) {
  AllLinks& all = allLinks();
  const std::lock_guard lock(all.mutex);
  if (all.ofNodes.empty()) all.ofNodes = findLinks();
  return all.ofNodes.at(static_cast<std::size_t>(node));
}

void setLinks(std::vector<NodeLinks> ofNodes) {
  AllLinks& all = allLinks();
  const std::lock_guard lock(all.mutex);
  all.ofNodes = std::move(ofNodes);
}

std::optional<NodeLinks> knownLinksBetween(const std::vector<std::string>& nodes) {
  const auto count = static_cast<int>(nodes.size());
  if (count < 3) return equalLinks(count, "fewer than three nodes");
  if (runtime::settings().placement == runtime::PlaceBlocks::Off)
    return equalLinks(count, "HPL_PLACEMENT=off");
  if (count > kMostMeasuredNodes)
    return equalLinks(count, fmt::format("more than {} nodes", kMostMeasuredNodes));
  return keptLinks(subjectOf(nodes), nodes.size());
}

void keepLinksBetween(const std::vector<std::string>& nodes, const NodeLinks& links) {
  keepLinks(subjectOf(nodes), links);
}

NodeLinks linksBetweenNodes() {
  AllLinks& all = allLinks();
  const std::lock_guard lock(all.mutex);
  if (all.betweenNodes) return *all.betweenNodes;
  int nodes = 0;
  for (const auto& device : runtime::Runtime::get().devices())
    nodes = std::max(nodes, device->node() + 1);
  return equalLinks(nodes, "not measured");
}

void setLinksBetweenNodes(NodeLinks links) {
  AllLinks& all = allLinks();
  const std::lock_guard lock(all.mutex);
  all.betweenNodes = std::move(links);
}

std::string describe(const NodeLinks& links, const std::vector<std::string>& names) {
  const int size = links.bandwidths.size();
  if (links.areEqual()) return fmt::format("  all count the same ({})\n", links.origin);
  std::size_t width = 4;
  for (const std::string& name : names) width = std::max(width, name.size());
  std::string text =
      fmt::format("  GB/s from row to column ({})\n  {:{}}", links.origin, "", width);
  for (const std::string& name : names) text += fmt::format(" {:>7}", name);
  for (int i = 0; i < size; ++i) {
    text += fmt::format("\n  {:>{}}", names[static_cast<std::size_t>(i)], width);
    for (int j = 0; j < size; ++j)
      text += i == j ? fmt::format(" {:>7}", "-")
                     : fmt::format(" {:>7.1f}", links.bandwidths(i, j) * 1e-9);
  }
  return text + "\n";
}

}  // namespace hpl::topology
