// SPDX-License-Identifier: Apache-2.0
#include "hpl/topology/node_topology.h"

#include "hpl/error.h"

#ifdef HPL_WITH_HWLOC

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "hpl/topology/detail/xml_text.h"

namespace hpl::topology {
namespace {

using geometry::SquareMatrix;

/// hwloc counts bandwidths in MB/s, PCI links in GB/s.
constexpr double kMega = 1e6;
constexpr double kGiga = 1e9;
/// Where hwloc does not know a PCI link's speed: one of eight lanes of the third generation.
constexpr double kSomePciLink = 8e9;

struct Destroy {
  void operator()(hwloc_topology* topology) const noexcept { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

Topology emptyTopology() {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) throw SettingsError("hwloc cannot begin to read a topology");
  hwloc_topology_set_io_types_filter(made, HWLOC_TYPE_FILTER_KEEP_ALL);
  return Topology(made);
}

/// hwloc lists a device of the program as one of these, or as several.
bool isDevice(hwloc_obj_t object) {
  return object->attr->osdev.type == HWLOC_OBJ_OSDEV_COPROC ||
         object->attr->osdev.type == HWLOC_OBJ_OSDEV_GPU;
}

hwloc_obj_t pciOf(hwloc_obj_t object) {
  while (object != nullptr && object->type != HWLOC_OBJ_PCI_DEVICE) object = object->parent;
  return object;
}

std::string addressOf(hwloc_obj_t object) {
  const hwloc_obj_t pci = pciOf(object);
  if (pci == nullptr) return {};
  const auto& at = pci->attr->pcidev;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", at.domain, at.bus, at.dev, at.func);
}

double pciSpeedOf(hwloc_obj_t object) {
  const hwloc_obj_t pci = pciOf(object);
  const double speed =
      pci == nullptr ? 0 : static_cast<double>(pci->attr->pcidev.linkspeed) * kGiga;
  return speed > 0 ? speed : kSomePciLink;
}

/// Reads the devices, and the bandwidths between all of them if there are any.
class Reader {
 public:
  explicit Reader(hwloc_topology_t topology) : topology_(topology) {
    for (hwloc_obj_t object = nullptr;
         (object = hwloc_get_next_osdev(topology, object)) != nullptr;)
      if (isDevice(object)) add(object);
  }

  NodeTopology result() const {
    std::array<hwloc_distances_s*, 16> all{};
    auto count = static_cast<unsigned>(all.size());
    if (hwloc_distances_get(topology_, &count, all.data(), HWLOC_DISTANCES_KIND_MEANS_BANDWIDTH,
                            0) != 0)
      count = 0;
    count = std::min(count, static_cast<unsigned>(all.size()));
    std::optional<NodeTopology> result;
    for (unsigned i = 0; i < count; ++i) {
      if (!result) result = topologyOf(*all[i]);
      hwloc_distances_release(topology_, all[i]);
    }
    if (result) return *result;
    // A display that computes nothing is no device, where there are devices that compute.
    NodeTopology plain;
    const bool hasOpenCl = std::find(isOpenCl_.begin(), isOpenCl_.end(), true) != isOpenCl_.end();
    for (std::size_t i = 0; i < devices_.size(); ++i)
      if (isOpenCl_[i] || !hasOpenCl) plain.devices.push_back(devices_[i]);
    return plain;
  }
  /// Two OpenCL devices of one name; nullptr: there are none.
  const char* twice() const { return twice_; }

 private:
  void add(hwloc_obj_t object) {
    const bool isOpenCl =
        object->subtype != nullptr && std::string_view(object->subtype) == "OpenCL";
    const std::string address = addressOf(object);
    if (isOpenCl && !names_.emplace(object->name, 0).second) twice_ = object->name;
    // Objects at one address are one device: OpenCL's, NVML's, a display.
    const auto known = std::find_if(
        devices_.begin(), devices_.end(),
        [&](const KnownDevice& other) { return !address.empty() && other.pciAddress == address; });
    if (known == devices_.end()) {
      if (isOpenCl || !address.empty()) {
        devices_.push_back({object->name, address});
        objects_.push_back(object);
        isOpenCl_.push_back(isOpenCl);
      }
    } else if (isOpenCl) {
      known->name = object->name;
      isOpenCl_[static_cast<std::size_t>(known - devices_.begin())] = true;
    }
  }

  /// Number of the device that the object is, or is a part of; -1: none.
  int deviceOf(hwloc_obj_t object) const {
    const std::string address = object == nullptr ? "" : addressOf(object);
    for (std::size_t i = 0; i < devices_.size(); ++i)
      if (objects_[i] == object || (!address.empty() && devices_[i].pciAddress == address))
        return static_cast<int>(i);
    return -1;
  }

  /// The devices of the matrix; nothing if it lacks an OpenCL device, or has no device at all.
  std::optional<NodeTopology> topologyOf(const hwloc_distances_s& given) const {
    std::map<int, unsigned> place;
    for (unsigned i = 0; i < given.nbobjs; ++i)
      if (const int device = deviceOf(given.objs[i]); device >= 0) place.emplace(device, i);
    for (std::size_t i = 0; i < devices_.size(); ++i)
      if (isOpenCl_[i] && !place.contains(static_cast<int>(i))) return std::nullopt;
    if (place.empty()) return std::nullopt;
    NodeTopology found;
    std::vector<hwloc_obj_t> objects;
    std::vector<unsigned> rows;
    for (const auto& [device, row] : place) {
      found.devices.push_back(devices_[static_cast<std::size_t>(device)]);
      objects.push_back(objects_[static_cast<std::size_t>(device)]);
      rows.push_back(row);
    }
    SquareMatrix matrix(static_cast<int>(rows.size()));
    for (std::size_t from = 0; from < rows.size(); ++from)
      for (std::size_t to = 0; to < rows.size(); ++to) {
        if (from == to) continue;
        const hwloc_uint64_t megabytes = given.values[rows[from] * given.nbobjs + rows[to]];
        matrix(static_cast<int>(from), static_cast<int>(to)) =
            megabytes > 0 ? static_cast<double>(megabytes) * kMega
                          : std::min(pciSpeedOf(objects[from]), pciSpeedOf(objects[to]));
      }
    found.bandwidths = std::move(matrix);
    return found;
  }

  hwloc_topology_t topology_;
  std::vector<KnownDevice> devices_;
  std::vector<hwloc_obj_t> objects_;
  std::vector<bool> isOpenCl_;
  std::map<std::string, int> names_;
  const char* twice_ = nullptr;
};

[[noreturn]] void refuse(const std::string& path, int line, const std::string& what) {
  throw SettingsError(fmt::format("HPL_TOPOLOGY: {}{}: {}", path,
                                  line > 0 ? fmt::format(", line {}", line) : "", what));
}

/// hwloc leaves out devices of a matrix that it does not find: refuses such a matrix.
void checkMatrix(const std::string& path, const std::string& xml, const NodeTopology& found) {
  const int line = lineOf(xml, "<distances2");
  if (line == 0 || found.bandwidths) return;
  refuse(
      path, line,
      fmt::format("the matrix does not tell of all {} devices of the file; a matrix of bandwidths "
                  "(kind 9 or 10) lists each of them by its gp_index",
                  found.devices.size()));
}

}  // namespace

NodeTopology readTopology(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string xml{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || xml.empty())
    refuse(path, 0, "there is no such file to read; lstopo node.xml writes one");
  if (const std::optional<XmlDefect> defect = firstDefect(xml))
    refuse(path, defect->line, defect->what);
  if (lineOf(xml, "<topology") == 0)
    refuse(path, 1, "there is no <topology>; lstopo node.xml writes one");
  const Topology topology = emptyTopology();
  if (hwloc_topology_set_xml(topology.get(), path.c_str()) != 0)
    refuse(path, lineOf(xml, "<topology"), "hwloc does not know this version of topologies");
  if (hwloc_topology_load(topology.get()) != 0)
    refuse(
        path, lineOf(xml, "<distances2"),
        "hwloc refuses the topology: an attribute is wrong, or a list has not as many numbers as "
        "it says");
  const Reader reader(topology.get());
  if (reader.twice() != nullptr)
    refuse(path, lineOf(xml, fmt::format("name=\"{}\"", reader.twice()), 1),
           fmt::format("device {} is listed twice", reader.twice()));
  NodeTopology found = reader.result();
  if (found.devices.empty())
    refuse(path, std::max(1, lineOf(xml, "<object")),
           "there is neither an OpenCL device nor a GPU; lstopo lists them where the package "
           "libhwloc-plugins is installed");
  checkMatrix(path, xml, found);
  return found;
}

std::optional<NodeTopology> probeTopology() {
  const Topology topology = emptyTopology();
  // It would open all drivers a second time.
  hwloc_topology_set_components(topology.get(), HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "opencl");
  if (hwloc_topology_load(topology.get()) != 0) return std::nullopt;
  NodeTopology found = Reader(topology.get()).result();
  if (!found.bandwidths) return std::nullopt;
  return found;
}

}  // namespace hpl::topology

#else

namespace hpl::topology {

NodeTopology readTopology(const std::string& path) {
  throw SettingsError(
      "HPL_TOPOLOGY: " + path +
      " cannot be read: this library was built without hwloc (package libhwloc-dev)");
}

std::optional<NodeTopology> probeTopology() { return std::nullopt; }

}  // namespace hpl::topology

#endif
