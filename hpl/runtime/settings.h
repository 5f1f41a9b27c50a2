// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpl/runtime/fp_mode.h"

namespace hpl::runtime {

enum class ZeroCopy { Auto, On, Off };
/// The courier's way to wait while messages are on their way between ranks.
enum class RanksWait { Spin, Yield, Sleep };
/// Whether a way of cells from one memory to another is used.
enum class Use {
  Auto,     ///< Where it is there.
  Never,    ///< Not even where it is there.
  Required  ///< It is an error if it is not there.
};
/// The ways that cells may take; without them they pass through the hosts' memory, and by messages.
struct Transports {
  Use self = Use::Auto;    ///< A copy within a device, to images of its own cells.
  Use direct = Use::Auto;  ///< One command of a driver, between devices of one context.
  Use window = Use::Auto;  ///< Memory that the ranks of a node share.
  /// Messages that leave from and arrive in the memory in which devices work.
  Use inPlace = Use::Auto;
  friend bool operator==(const Transports&, const Transports&) = default;
};
/// Decides which cells travel in one message between ranks.
enum class Messages {
  Ranks,    ///< All that one rank has for another one in an exchange.
  Nodes,    ///< All that one node has for another one, and one rank for another of its node.
  Devices,  ///< The cells that one device has for another one.
  Fields    ///< The same of one array.
};
/// Whether the library chooses which block goes to which device of a node.
enum class PlaceBlocks { Auto, Off };
/// Auto: compiled programs are kept where the driver does not keep them itself.
enum class DiskCache { Auto, On, Off };
enum class Overlap { Auto, On, Off };
enum class Pack { Auto, On, Off };
/// How many queues the transfers of a device have.
enum class TransferQueues { Auto, One, Two };
/// Whom the groups of persistent kernels wait for after each exchange.
enum class GroupsWait { Neighbours, All };
/// Whether groups that wait for each other take turns at a machine's processors with those of other
/// programs.
enum class Units { Shared, Own };
enum class LogLevel { Off, Error, Warn, Info, Debug };
enum class TuneMode { Off, Quick, Full };
/// Findings of tuning on disk hold these numbers.
enum class Strategy { Auto, Direct, Rows, Tile, Stream, Columns };

/// The values of the HPL_* environment variables.
struct Settings {
  /// HPL_DEVICES; empty: all devices. The grammar is documented at hpl::Device.
  std::string devices;
  /// HPL_DRY_RUN: the machine file; empty: the program runs on devices.
  std::string dryRun;
  /// HPL_DRY_RUN_REPORT: file of the report as JSON; empty: none.
  std::string dryRunReport;
  /// HPL_CACHE_DIR; empty: $XDG_CACHE_HOME/hpl or ~/.cache/hpl.
  std::string cacheDir;
  /// HPL_CACHE: whether compiled programs and findings of tuning are kept on disk.
  DiskCache cache = DiskCache::Auto;
  /// HPL_DUMP_KERNELS: folder for the generated sources; empty: none.
  std::string dumpKernels;
  /// HPL_CHECK: bounds, ghosts.
  bool checkBounds = false;
  bool checkGhosts = false;
  /// HPL_FP.
  FpMode fp = DEFAULT_FP;
  /// HPL_PROFILE: whether seconds are measured.
  bool profile = false;
  /// HPL_TRACE: file of the timeline; empty: none.
  std::string trace;
  /// HPL_ZERO_COPY.
  ZeroCopy zeroCopy = ZeroCopy::Auto;
  /// HPL_OVERLAP: whether launches on several devices first compute the cells that neighbours wait
  /// for, so that the exchange runs beside the rest.
  Overlap overlap = Overlap::Auto;
  /// HPL_PACK: whether kernels gather strided faces before they are moved between devices. Off: nor
  /// are faces of several arrays gathered, which CPUs do without kernels.
  Pack pack = Pack::Auto;
  /// HPL_TRANSFER_QUEUES: whether transfers from a device have a queue of their own.
  TransferQueues transferQueues = TransferQueues::Auto;
  /// HPL_DEVICE_MEMORY: bytes that the arrays on each device may occupy; 0: the device's memory.
  std::size_t deviceMemory = 0;
  /// HPL_LOG.
  LogLevel log = LogLevel::Warn;
  /// HPL_EXPLAIN: whether launches print their decisions and the reasons.
  bool explain = false;
  /// HPL_PROBE_LINES: lines of probe() for each launch on a device.
  int probeLines = 20;
  /// HPL_STRATEGY: how kernels are laid out for the device; "persistent" lays them out as Auto
  /// does, and asks iterations of stencils to be one launch where that is possible.
  Strategy strategy = Strategy::Auto;
  bool persistent = false;
  /// HPL_PATIENCE: how often a group of a persistent kernel looks at a flag in vain before it gives
  /// up; 0: as the device needs.
  int patience = 0;
  Units units = Units::Shared;
  GroupsWait groupsWait = GroupsWait::Neighbours;
  /// HPL_RANKS: processes that a Session forks; 0: as they were started. `mpiRanks`: MPI has
  /// started them, even if its launcher is not known.
  int ranks = 0;
  bool mpiRanks = false;
  /// HPL_RANKS_WAIT.
  RanksWait ranksWait = RanksWait::Sleep;
  /// HPL_RANKS_BIND.
  bool ranksBind = true;
  /// HPL_TRANSPORT.
  Transports transport;
  /// HPL_MESSAGES.
  Messages messages = Messages::Ranks;
  /// HPL_TOPOLOGY: hwloc's description of this node as XML; empty: the node is asked.
  std::string topology;
  /// HPL_PLACEMENT.
  PlaceBlocks placement = PlaceBlocks::Auto;
  /// HPL_TUNE.
  TuneMode tune = TuneMode::Quick;
};

/// The settings: the environment, read at the first call. Misspelt HPL_* names are reported to
/// stderr once, with the nearest match. Throws SettingsError (variable, value, accepted values).
const Settings& settings();

/// For tests: replaces the settings. Devices that were already found stay as they are.
void overrideSettings(const Settings& values);

/// For tests: reads the environment again, reports typos again.
void reloadSettings();

/// One row of the settings table.
struct SettingInfo {
  std::string_view name;
  /// The accepted values, e.g. "on|off".
  std::string_view accepts;
  std::string_view defaultValue;
  std::string_view help;
};

/// The settings table, in the order of the documentation.
std::span<const SettingInfo> settingsTable();

/// The settings table as a Markdown table, for the guide.
std::string settingsDocumentation();

/// Name and value of an environment variable.
using Variable = std::pair<std::string, std::string>;

/// Reads the settings from a list of variables. Throws SettingsError on a malformed value.
Settings parseSettings(std::span<const Variable> variables);

/// One sentence per HPL_* name that no setting has: "HPL_DEVICE is not a setting; did you mean
/// HPL_DEVICES?".
std::vector<std::string> unknownSettings(std::span<const Variable> variables);

}  // namespace hpl::runtime
