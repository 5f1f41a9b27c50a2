// SPDX-License-Identifier: Apache-2.0
#include "hpl/dry_run/machine_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <span>
#include <utility>

#include "hpl/dry_run/detail/json_tree.h"
#include "hpl/error.h"
#include "hpl/runtime/spelling.h"

namespace hpl::dry_run {

using detail::failAt;
using detail::JsonTree;

const char* nameOf(Link link) noexcept {
  constexpr const char* kNames[] = {"device", "context", "host", "node", "network"};
  return kNames[static_cast<std::size_t>(link)];
}

Link MachineFile::linkBetween(int from, int to) const {
  if (from < 0 || to < 0) return Link::Host;
  if (from == to) return Link::Device;
  const Device& a = devices[static_cast<std::size_t>(from)];
  const Device& b = devices[static_cast<std::size_t>(to)];
  if (a.context == b.context) return Link::Context;
  return a.node == b.node ? Link::Node : Link::Network;
}

namespace {

constexpr double kGiga = 1e9;
constexpr double kMicro = 1e-6;
constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
constexpr double kKiB = 1024.0;

/// Figures of a device that its file does not mention.
struct Defaults {
  double computeUnits;
  double workGroupSize;
  double localMemory;  // KiB
  std::size_t cacheLine;
  unsigned vectorWidth;
};
constexpr Defaults kGpu{100, 1024, 48, 128, 1};
constexpr Defaults kCpu{16, 4096, 512, 64, 8};

/// An object of the file: finds its members, and knows what they may be.
class Reader {
 public:
  /// `what` it is: "a device". All members are to be among `keys`.
  Reader(const std::string& file, const JsonTree& tree, const char* what,
         std::initializer_list<std::string_view> keys)
      : file_(file), tree_(tree), what_(what) {
    if (tree.kind != JsonTree::Kind::Object)
      failAt(file, tree.line, fmt::format("{} is an object, not {}", what, tree.describe()));
    const std::span<const std::string_view> known(keys.begin(), keys.size());
    for (const JsonTree::Member& member : tree.members) {
      if (std::find(keys.begin(), keys.end(), member.key) != keys.end()) continue;
      const std::string_view nearest = runtime::nearestWord(member.key, known);
      const std::string advice =
          nearest.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", nearest);
      failAt(file, member.line,
             fmt::format("{} has no \"{}\"{} (it may have {})", what, member.key, advice,
                         fmt::join(keys, ", ")));
    }
  }

  const JsonTree* find(std::string_view key) const {
    for (const JsonTree::Member& member : tree_.members)
      if (member.key == key) return &member.value;
    return nullptr;
  }
  const JsonTree& get(std::string_view key) const {
    if (const JsonTree* found = find(key)) return *found;
    failAt(file_, tree_.line, fmt::format("{} needs \"{}\"", what_, key));
  }
  std::string text(std::string_view key, const std::string& otherwise) const {
    const JsonTree* found = find(key);
    if (found == nullptr) return otherwise;
    if (found->kind != JsonTree::Kind::Text)
      failAt(file_, found->line, fmt::format("\"{}\" is a text, not {}", key, found->describe()));
    return found->text;
  }
  /// A number greater than `least`, or, with `mayBeLeast`, equal to it.
  double number(std::string_view key, double least, bool mayBeLeast) const {
    return checked(key, get(key), least, mayBeLeast);
  }
  double positive(std::string_view key) const { return number(key, 0, false); }
  double positive(std::string_view key, double otherwise) const {
    const JsonTree* found = find(key);
    return found == nullptr ? otherwise : checked(key, *found, 0, false);
  }
  int count(std::string_view key) const {
    const JsonTree* found = find(key);
    if (found == nullptr) return 1;
    if (found->kind != JsonTree::Kind::Number || !found->isWhole || !(found->number >= 1) ||
        found->number > kMostDevices)
      failAt(file_, found->line,
             fmt::format("\"{}\" is a whole number from 1 to {}", key, kMostDevices));
    return static_cast<int>(found->number);
  }
  const std::vector<JsonTree>& list(std::string_view key, const char* of) const {
    const JsonTree& found = get(key);
    if (found.kind != JsonTree::Kind::List || found.items.empty())
      failAt(file_, found.line,
             fmt::format("\"{}\" is a list of at least one {}{}", key, of,
                         found.kind == JsonTree::Kind::List
                             ? std::string()
                             : fmt::format(", not {}", found.describe())));
    return found.items;
  }
  [[noreturn]] void fail(std::string_view key, const std::string& problem) const {
    const JsonTree* found = find(key);
    failAt(file_, found != nullptr ? found->line : tree_.line, problem);
  }

 private:
  double checked(std::string_view key, const JsonTree& value, double least, bool mayBeLeast) const {
    const bool isNumber = value.kind == JsonTree::Kind::Number && std::isfinite(value.number);
    if (isNumber && (value.number > least || (mayBeLeast && value.number == least)))
      return value.number;
    const std::string is =
        value.kind == JsonTree::Kind::Number ? fmt::format("{}", value.number) : value.describe();
    failAt(file_, value.line,
           fmt::format("\"{}\" of {} is {}; it has to be a number {} {}", key, what_, is,
                       mayBeLeast ? "from" : "above", least));
  }

  const std::string& file_;
  const JsonTree& tree_;
  const char* what_;
};

/// Reads the parts of a file one after another.
class Parser {
 public:
  explicit Parser(const std::string& file) : file_(file) {}

  MachineFile parse(const JsonTree& tree) {
    const Reader top(file_, tree, "the machine", {"name", "nodes", "links"});
    machine_.name = top.text("name", file_);
    for (const JsonTree& node : top.list("nodes", "node")) addNodes(node);
    const Reader links(file_, top.get("links"), "\"links\"",
                       {"context", "host", "node", "network"});
    readLinks(links);
    return std::move(machine_);
  }

 private:
  struct Entry {
    int model = 0;
    int count = 0;
    bool sharesContext = false;
  };

  void addNodes(const JsonTree& tree) {
    const Reader node(file_, tree, "a node", {"count", "devices"});
    std::vector<Entry> entries;
    for (const JsonTree& device : node.list("devices", "device"))
      entries.push_back(readDevice(device));
    for (int n = node.count("count"); n > 0; --n) {
      const std::size_t before = machine_.devices.size();
      for (const Entry& entry : entries) addDevices(entry, tree.line);
      usesNode_ = usesNode_ || machine_.devices.back().context != machine_.devices[before].context;
      ++machine_.nodes;
    }
  }

  void addDevices(const Entry& entry, int line) {
    if (machine_.devices.size() + static_cast<std::size_t>(entry.count) > kMostDevices)
      failAt(file_, line,
             fmt::format("up to this node there are more than {} devices", kMostDevices));
    for (int d = 0; d < entry.count; ++d) {
      if (d == 0 || !entry.sharesContext) ++context_;
      machine_.devices.push_back({entry.model, machine_.nodes, context_});
    }
    usesContext_ = usesContext_ || (entry.sharesContext && entry.count > 1);
  }

  Entry readDevice(const JsonTree& tree) {
    const Reader device(
        file_, tree, "a device",
        {"count", "kind", "name", "memory_GiB", "gflops", "bandwidth_GBs", "launch_us", "context",
         "compute_units", "work_group_size", "local_memory_KiB", "float_lanes"});
    DeviceModel model;
    DeviceProperties& p = model.properties;
    p.type = kindOf(device);
    const Defaults& defaults = p.type == CPU ? kCpu : kGpu;
    p.name = device.text("name", runtimeName(p.type));
    p.platform = "dry run";
    p.globalMemory = static_cast<std::size_t>(device.positive("memory_GiB") * kGiB);
    p.maxAllocation = p.globalMemory;
    p.constantMemory = static_cast<std::size_t>(64 * kKiB);
    p.localMemory =
        static_cast<std::size_t>(device.positive("local_memory_KiB", defaults.localMemory) * kKiB);
    p.maxWorkGroupSize =
        static_cast<std::size_t>(device.positive("work_group_size", defaults.workGroupSize));
    p.maxWorkItemSizes.fill(p.maxWorkGroupSize);
    p.computeUnits = static_cast<unsigned>(device.positive("compute_units", defaults.computeUnits));
    p.cacheLine = defaults.cacheLine;
    p.preferredFloatVector =
        static_cast<unsigned>(device.positive("float_lanes", defaults.vectorWidth));
    p.addressAlignBits = 1024;
    p.hasDouble = p.hasHalf = true;
    p.hasWideAtomics = p.hasWideMinMaxAtomics = true;
    p.hasDedicatedLocalMemory = p.type != CPU;
    model.operationsPerSecond = kGiga * device.positive("gflops");
    model.bytesPerSecond = kGiga * device.positive("bandwidth_GBs");
    model.launchOverhead = kMicro * device.number("launch_us", 0, true);
    machine_.models.push_back(model);
    const std::string context = device.text("context", "own");
    if (context != "own" && context != "shared")
      device.fail("context",
                  fmt::format("\"context\" is \"own\" or \"shared\", not \"{}\"", context));
    return {static_cast<int>(machine_.models.size()) - 1, device.count("count"),
            context == "shared"};
  }

  static std::string runtimeName(DeviceType type) {
    return type == GPU ? "GPU" : type == CPU ? "CPU" : "accelerator";
  }

  DeviceType kindOf(const Reader& device) const {
    const JsonTree& kind = device.get("kind");
    if (kind.text == "gpu") return GPU;
    if (kind.text == "cpu") return CPU;
    if (kind.text == "accelerator") return ACCELERATOR;
    device.fail("kind",
                fmt::format("\"kind\" is \"gpu\", \"cpu\" or \"accelerator\", not {}",
                            kind.kind == JsonTree::Kind::Text ? fmt::format("\"{}\"", kind.text)
                                                              : std::string(kind.describe())));
  }

  void readLinks(const Reader& links) {
    const auto read = [&](Link link, bool isNeeded, const char* why) {
      const JsonTree* tree = links.find(nameOf(link));
      if (tree == nullptr && !isNeeded) return;
      if (tree == nullptr)
        links.fail("", fmt::format("\"links\" needs \"{}\": {}", nameOf(link), why));
      const Reader one(file_, *tree, "a link", {"bandwidth_GBs", "latency_us"});
      machine_.links[static_cast<std::size_t>(link)] = {kGiga * one.positive("bandwidth_GBs"),
                                                        kMicro * one.number("latency_us", 0, true)};
    };
    read(Link::Host, true, "arrays begin in the hosts' memory");
    read(Link::Context, usesContext_, "some devices share a context");
    read(Link::Node, usesNode_, "some node has several devices");
    read(Link::Network, machine_.nodes > 1, "there are several nodes");
  }

  const std::string& file_;
  MachineFile machine_;
  int context_ = 0;
  bool usesContext_ = false;
  bool usesNode_ = false;
};

}  // namespace

MachineFile parseMachineFile(std::string_view text, const std::string& name) {
  return Parser(name).parse(detail::parseJson(text, name));
}

MachineFile readMachineFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad())
    throw SettingsError(fmt::format(
        "HPL_DRY_RUN={}: the machine file cannot be read; docs/dry-run.md shows one", path));
  return parseMachineFile(text, path);
}

}  // namespace hpl::dry_run
