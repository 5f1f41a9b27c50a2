// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <charconv>
#include <memory>
#include <mutex>
#include <optional>

#include "hpl/error.h"
#include "hpl/runtime/detail/device_list.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/spelling.h"

namespace hpl::runtime {
namespace {

/// A setting: its documentation and how its value is stored. `apply` returns false when it does
/// not accept the value.
struct Setting {
  SettingInfo info;
  bool (*apply)(Settings&, const std::string& value);
};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool applySwitch(bool& target, const std::string& value) {
  const std::string v = lower(value);
  if (v == "1" || v == "on" || v == "true" || v == "yes") return target = true, true;
  if (v == "0" || v == "off" || v == "false" || v == "no") return target = false, true;
  return false;
}

template <class T, std::size_t N>
bool applyChoice(T& target, const std::string& value,
                 const std::array<std::pair<std::string_view, T>, N>& choices) {
  const std::string v = lower(value);
  const auto it = std::ranges::find(choices, v, [](const auto& c) { return std::string(c.first); });
  if (it == choices.end()) return false;
  target = it->second;
  return true;
}

bool applyCache(Settings& s, const std::string& value) {
  bool wanted = true;
  if (lower(value) == "auto") return s.cache = DiskCache::Auto, true;
  if (!applySwitch(wanted, value)) return false;
  s.cache = wanted ? DiskCache::On : DiskCache::Off;
  return true;
}

bool applyChecks(Settings& s, const std::string& value) {
  s.checkBounds = s.checkGhosts = false;
  const std::string v = lower(value);
  for (std::size_t begin = 0; begin <= v.size();) {
    const std::size_t end = std::min(v.find(',', begin), v.size());
    const std::string word = v.substr(begin, end - begin);
    if (word != "bounds" && word != "ghosts" && word != "all" && word != "none") return false;
    s.checkBounds |= word == "bounds" || word == "all";
    s.checkGhosts |= word == "ghosts" || word == "all";
    begin = end + 1;
  }
  return true;
}

/// "512M", "1.5G", "4096": bytes with an optional suffix, powers of 1024.
std::optional<std::size_t> parseBytes(const std::string& value) {
  // Not std::stod: it follows the locale, and takes signs, blanks and "nan".
  double number = 0;
  const char* const last = value.data() + value.size();
  const auto [end, error] = std::from_chars(value.data(), last, number, std::chars_format::fixed);
  if (error != std::errc{} || !(number > 0)) return std::nullopt;
  std::string suffix = lower(std::string_view(end, static_cast<std::size_t>(last - end)));
  if (suffix.ends_with("ib")) suffix.resize(suffix.size() - 2);
  if (suffix.ends_with("b")) suffix.resize(suffix.size() - 1);
  static constexpr std::string_view units = "kmgt";
  double factor = 1;
  if (!suffix.empty()) {
    const std::size_t unit = units.find(suffix);
    if (suffix.size() != 1 || unit == std::string_view::npos) return std::nullopt;
    for (std::size_t i = 0; i <= unit; ++i) factor *= 1024;
  }
  const double bytes = number * factor;
  if (!(bytes >= 1) || bytes >= 0x1p63) return std::nullopt;
  return static_cast<std::size_t>(bytes);
}

bool applyBytes(std::size_t& target, const std::string& value) {
  const auto bytes = parseBytes(value);
  if (bytes) target = *bytes;
  return bytes.has_value();
}

bool applyCount(int& target, const std::string& value) {
  constexpr int kMost = 1000000;
  int count = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (code != std::errc() || end != value.data() + value.size() || count < 0 || count > kMost)
    return false;
  target = count;
  return true;
}

bool applyRanks(Settings& s, const std::string& value) {
  constexpr int kMostRanks = 64;  // forked ones, on one machine
  s.mpiRanks = lower(value) == "mpi";
  s.ranks = 0;
  return s.mpiRanks || (applyCount(s.ranks, value) && s.ranks >= 1 && s.ranks <= kMostRanks);
}

bool applyText(std::string& target, const std::string& value) {
  target = value;
  return true;
}

/// "auto", or names with a minus: never; "window": required.
bool applyTransports(Settings& s, const std::string& value) {
  s.transport = {};
  const std::string v = lower(value);
  if (v == "auto") return true;
  for (std::size_t begin = 0; begin <= v.size();) {
    const std::size_t end = std::min(v.find(',', begin), v.size());
    const std::string word = v.substr(begin, end - begin);
    Use* const way = word == "-self"      ? &s.transport.self
                     : word == "-direct"  ? &s.transport.direct
                     : word == "-window"  ? &s.transport.window
                     : word == "-inplace" ? &s.transport.inPlace
                                          : nullptr;
    if (way != nullptr && *way == Use::Auto) {
      *way = Use::Never;
    } else if (word == "window" && s.transport.window == Use::Auto) {
      s.transport.window = Use::Required;
    } else if (word == "inplace" && s.transport.inPlace == Use::Auto) {
      s.transport.inPlace = Use::Required;
    } else {
      return false;
    }
    begin = end + 1;
  }
  return true;
}

constexpr std::string_view switchValues = "on|off (also 1|0, true|false, yes|no)";

const std::array<Setting, 30>& table() {
  using S = Settings;
  using V = const std::string&;
  static const std::array<Setting, 30> settings{{
      {{"HPL_DEVICES",
        "list of gpu|cpu|accelerator|any|part of a platform's name, each [:n][/k][*k]",
        "all devices",
        "Selects devices, splits them into k sub-devices (/k), opens them k times (*k)."},
       [](S& s, V v) {
         parseDeviceList(v);  // throws its own, more precise message
         return applyText(s.devices, v);
       }},
      {{"HPL_DRY_RUN", "a machine file", "none",
        "Plans the program for the machine that the file describes, without its devices, and "
        "prints "
        "what it would move and how long it would take (docs/dry-run.md)."},
       [](S& s, V v) { return applyText(s.dryRun, v); }},
      {{"HPL_DRY_RUN_REPORT", "a file (%p: process id)", "none",
        "Writes the report of a dry run there, as JSON."},
       [](S& s, V v) { return applyText(s.dryRunReport, v); }},
      {{"HPL_CACHE_DIR", "a folder", "$XDG_CACHE_HOME/hpl or ~/.cache/hpl",
        "Where compiled programs and tuning results are kept."},
       [](S& s, V v) { return applyText(s.cacheDir, v); }},
      {{"HPL_CACHE", "auto|on|off", "auto",
        "Whether compiled programs and tuning results are kept on disk; auto: programs only where "
        "the driver does not keep them itself."},
       applyCache},
      {{"HPL_DUMP_KERNELS", "a folder", "none",
        "Writes the OpenCL C of every kernel there, as <kernel>_<hash>.cl."},
       [](S& s, V v) { return applyText(s.dumpKernels, v); }},
      {{"HPL_CHECK", "list of bounds|ghosts|all|none", "none",
        "Checks kernels while they run: accesses out of bounds, stale ghost cells."},
       applyChecks},
      {{"HPL_FP", "default|strict|fast", "default",
        "Floating point: as fast as rounding allows, equal to the host, or relaxed."},
       [](S& s, V v) {
         return applyChoice<FpMode, 3>(
             s.fp, v, {{{"default", DEFAULT_FP}, {"strict", STRICT}, {"fast", FAST}}});
       }},
      {{"HPL_PROFILE", switchValues, "off",
        "Measures the seconds that getProfile() returns, and prints a table of kernels and "
        "transfers at exit."},
       [](S& s, V v) { return applySwitch(s.profile, v); }},
      {{"HPL_TRACE", "a file (%p: process id, %r: rank)", "none",
        "Writes a timeline for chrome://tracing or ui.perfetto.dev at exit."},
       [](S& s, V v) { return applyText(s.trace, v); }},
      {{"HPL_ZERO_COPY", "auto|on|off", "auto",
        "Whether CPU devices work in the arrays' host memory; auto measures if they can."},
       [](S& s, V v) {
         return applyChoice<ZeroCopy, 3>(
             s.zeroCopy, v,
             {{{"auto", ZeroCopy::Auto}, {"on", ZeroCopy::On}, {"off", ZeroCopy::Off}}});
       }},
      {{"HPL_OVERLAP", "auto|on|off", "auto",
        "Whether parts compute the cells that neighbours wait for first; auto: where it pays."},
       [](S& s, V v) {
         return applyChoice<Overlap, 3>(
             s.overlap, v, {{{"auto", Overlap::Auto}, {"on", Overlap::On}, {"off", Overlap::Off}}});
       }},
      {{"HPL_PACK", "auto|on|off", "auto",
        "Whether a kernel gathers the ghosts of an array for another device before they move, and "
        "one scatters them there; auto: not on CPUs; off: nor do ghosts of several arrays travel "
        "together."},
       [](S& s, V v) {
         return applyChoice<Pack, 3>(
             s.pack, v, {{{"auto", Pack::Auto}, {"on", Pack::On}, {"off", Pack::Off}}});
       }},
      {{"HPL_TRANSFER_QUEUES", "auto|one|two", "auto",
        "Whether transfers to a device and from it share a queue; auto: two queues on devices with "
        "memory of their own."},
       [](S& s, V v) {
         return applyChoice<TransferQueues, 3>(s.transferQueues, v,
                                               {{{"auto", TransferQueues::Auto},
                                                 {"one", TransferQueues::One},
                                                 {"two", TransferQueues::Two}}});
       }},
      {{"HPL_DEVICE_MEMORY", "bytes, with suffix K, M, G or T if need be", "the device's memory",
        "Limits what the arrays may occupy on each device."},
       [](S& s, V v) { return applyBytes(s.deviceMemory, v); }},
      {{"HPL_LOG", "off|error|warn|info|debug", "warn", "What is reported on stderr."},
       [](S& s, V v) {
         return applyChoice<LogLevel, 5>(s.log, v,
                                         {{{"off", LogLevel::Off},
                                           {"error", LogLevel::Error},
                                           {"warn", LogLevel::Warn},
                                           {"info", LogLevel::Info},
                                           {"debug", LogLevel::Debug}}});
       }},
      {{"HPL_EXPLAIN", switchValues, "off", "Launches say on stderr what they decided and why."},
       [](S& s, V v) { return applySwitch(s.explain, v); }},
      {{"HPL_PROBE_LINES", "a number up to 1000000", "20",
        "How many values of probe() a launch shows on stderr for each device; 0: none."},
       [](S& s, V v) { return applyCount(s.probeLines, v); }},
      {{"HPL_STRATEGY", "auto|direct|rows|tile|stream|columns|persistent", "auto",
        "How kernels are laid out: as written, as vectors along rows, from tiles in local memory, "
        "plane by plane, or several elements of a column per work-item; auto: for the device; "
        "persistent: the same, with all steps of "
        "iterations in one launch."},
       [](S& s, V v) {
         s.persistent = lower(v) == "persistent";
         if (s.persistent) return s.strategy = Strategy::Auto, true;
         return applyChoice<Strategy, 6>(s.strategy, v,
                                         {{{"auto", Strategy::Auto},
                                           {"direct", Strategy::Direct},
                                           {"rows", Strategy::Rows},
                                           {"tile", Strategy::Tile},
                                           {"stream", Strategy::Stream},
                                           {"columns", Strategy::Columns}}});
       }},
      {{"HPL_PATIENCE", "a number of looks from 1 on, or auto", "auto",
        "How often a group of a persistent kernel looks at its neighbour's flag in vain before the "
        "steps are launched one by one instead; auto: for about a second."},
       [](S& s, V v) {
         s.patience = 0;
         if (lower(v) == "auto") return true;
         const auto [end, error] = std::from_chars(v.data(), v.data() + v.size(), s.patience);
         return error == std::errc{} && end == v.data() + v.size() && s.patience >= 1;
       }},
      {{"HPL_UNITS", "shared|own", "shared",
        "Whether programs of a machine take turns at its processors when groups of persistent "
        "kernels wait for each other; own: this program asks no other one."},
       [](S& s, V v) {
         return applyChoice<Units, 2>(s.units, v,
                                      {{{"shared", Units::Shared}, {"own", Units::Own}}});
       }},
      {{"HPL_GROUPS_WAIT", "neighbours|all", "neighbours",
        "Whom groups of persistent kernels wait for after each exchange of cells: those around "
        "them, or all (a device barrier, to compare with)."},
       [](S& s, V v) {
         return applyChoice<GroupsWait, 2>(
             s.groupsWait, v, {{{"neighbours", GroupsWait::Neighbours}, {"all", GroupsWait::All}}});
       }},
      {{"HPL_RANKS", "a number from 1 to 64, or mpi", "as the program was started",
        "How many processes a Session forks on this machine; mpi: the program was started by MPI, "
        "even if it does not look so."},
       applyRanks},
      {{"HPL_RANKS_WAIT", "spin|yield|sleep", "sleep",
        "What the thread that passes messages between ranks does while it waits for one: keep its "
        "core, offer it to others, or nap."},
       [](S& s, V v) {
         return applyChoice<RanksWait, 3>(s.ranksWait, v,
                                          {{{"spin", RanksWait::Spin},
                                            {"yield", RanksWait::Yield},
                                            {"sleep", RanksWait::Sleep}}});
       }},
      {{"HPL_RANKS_BIND", switchValues, "on",
        "Whether the threads of a rank that has a share of PoCL's CPU keep to the cores of that "
        "share."},
       [](S& s, V v) { return applySwitch(s.ranksBind, v); }},
      {{"HPL_TRANSPORT", "auto, or some of window, -window, inplace, -inplace, -direct, -self",
        "auto",
        "How cells get from one memory to another: by a copy within a device to its own ghosts "
        "(self), by one command between devices of a context (direct), through memory that the "
        "ranks of a node share (window), by messages that leave from and arrive in the memory of "
        "devices that work in the host's (inplace), through the hosts' memory and by messages. "
        "-window, -inplace, -direct and -self do without; window, inplace: an error where that is "
        "not there."},
       applyTransports},
      {{"HPL_MESSAGES", "ranks|nodes|devices|fields", "ranks",
        "What one message between ranks has in an exchange: all that one rank has for another; all "
        "that one node has for another, gathered and handed out by one rank of each; what one "
        "device has for another; or that of one array."},
       [](S& s, V v) {
         return applyChoice<Messages, 4>(s.messages, v,
                                         {{{"ranks", Messages::Ranks},
                                           {"nodes", Messages::Nodes},
                                           {"devices", Messages::Devices},
                                           {"fields", Messages::Fields}}});
       }},
      {{"HPL_TOPOLOGY", "a file", "this node, as hwloc sees it",
        "hwloc's XML description of a node (lstopo node.xml), from which to take the bandwidths "
        "between its devices."},
       [](S& s, V v) { return applyText(s.topology, v); }},
      {{"HPL_PLACEMENT", "auto|off", "auto",
        "Which device of a node gets which block that the library has cut: those with fast links "
        "between them get the blocks that exchange most, or each the next in order."},
       [](S& s, V v) {
         return applyChoice<PlaceBlocks, 2>(
             s.placement, v, {{{"auto", PlaceBlocks::Auto}, {"off", PlaceBlocks::Off}}});
       }},
      {{"HPL_TUNE", "off|quick|full", "quick",
        "Measured choice of how kernels are laid out: none, while long runs run, or before the "
        "first launch."},
       [](S& s, V v) {
         return applyChoice<TuneMode, 3>(
             s.tune, v,
             {{{"off", TuneMode::Off}, {"quick", TuneMode::Quick}, {"full", TuneMode::Full}}});
       }},
  }};
  return settings;
}

std::vector<Variable> hplEnvironment() {
  std::vector<Variable> result;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (!text.starts_with("HPL_") || equals == std::string_view::npos) continue;
    result.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return result;
}

std::atomic<const Settings*> current{nullptr};
std::mutex currentMutex;

/// Makes `values` the current settings. The old ones are kept, because callers may hold references.
const Settings& publish(const Settings& values) {
  static auto& all = *new std::vector<std::unique_ptr<const Settings>>;
  all.push_back(std::make_unique<const Settings>(values));
  current.store(all.back().get(), std::memory_order_release);
  return *all.back();
}

const Settings& loadFromEnvironment() {
  const std::vector<Variable> variables = hplEnvironment();
  const Settings& loaded = publish(parseSettings(variables));
  for (const std::string& message : unknownSettings(variables)) log::warn(message);
  return loaded;
}

}  // namespace

const Settings& settings() {
  if (const Settings* found = current.load(std::memory_order_acquire)) return *found;
  const std::lock_guard lock(currentMutex);
  if (const Settings* found = current.load(std::memory_order_acquire)) return *found;
  return loadFromEnvironment();
}

void overrideSettings(const Settings& values) {
  const std::lock_guard lock(currentMutex);
  publish(values);
}

void reloadSettings() {
  const std::lock_guard lock(currentMutex);
  loadFromEnvironment();
}

std::span<const SettingInfo> settingsTable() {
  static const std::vector<SettingInfo> infos = [] {
    std::vector<SettingInfo> result;
    for (const Setting& setting : table()) result.push_back(setting.info);
    return result;
  }();
  return infos;
}

std::string settingsDocumentation() {
  const auto escaped = [](std::string_view text) {
    std::string result;
    for (char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
    return result;
  };
  std::string text = "| Variable | Values | Default | Meaning |\n|---|---|---|---|\n";
  for (const SettingInfo& info : settingsTable()) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", info.name, escaped(info.accepts),
                        info.defaultValue, escaped(info.help));
  }
  return text;
}

Settings parseSettings(std::span<const Variable> variables) {
  Settings result;
  for (const auto& [name, value] : variables) {
    const auto it = std::ranges::find(table(), name, [](const Setting& s) { return s.info.name; });
    if (it == table().end() || value.empty()) continue;  // empty is unset, as shells have it
    if (!it->apply(result, value)) {
      throw SettingsError(
          fmt::format("{}={} is not understood: accepted is {}; unset, it is {}. {}", name, value,
                      it->info.accepts, it->info.defaultValue, it->info.help));
    }
  }
  // Without devices there is nothing to measure or to check.
  if (!result.dryRun.empty()) {
    result.tune = TuneMode::Off;
    result.checkBounds = false;
  }
  return result;
}

std::vector<std::string> unknownSettings(std::span<const Variable> variables) {
  std::vector<std::string> messages;
  for (const auto& [name, value] : variables) {
    // CMake's find_package(HPL) reads these two from the environment.
    if (!name.starts_with("HPL_") || name == "HPL_DIR" || name == "HPL_ROOT") continue;
    const auto distance = [&](const SettingInfo& s) { return editDistance(name, s.name); };
    const auto nearest = std::ranges::min_element(settingsTable(), {}, distance);
    if (distance(*nearest) == 0) continue;
    if (distance(*nearest) <= std::max<std::size_t>(2, (name.size() - 4) / 2)) {
      messages.push_back(
          fmt::format("{} is not a setting of HPL; did you mean {}?", name, nearest->name));
    } else {
      std::vector<std::string_view> names;
      for (const SettingInfo& info : settingsTable()) names.push_back(info.name);
      messages.push_back(fmt::format("{} is not a setting of HPL; the settings are {}", name,
                                     fmt::join(names, ", ")));
    }
  }
  return messages;
}

}  // namespace hpl::runtime
