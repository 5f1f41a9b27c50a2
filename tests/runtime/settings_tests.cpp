// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/settings.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "hpl/error.h"
#include "subprocess.h"

namespace settings_tests {

using namespace hpl;
using namespace hpl::runtime;

namespace {

Settings parse(const std::string& name, const std::string& value) {
  const std::vector<Variable> variables{{name, value}};
  return parseSettings(variables);
}

std::string failure(const std::string& name, const std::string& value) {
  try {
    parse(name, value);
  } catch (const SettingsError& error) {
    return error.what();
  }
  return "(accepted)";
}

std::vector<std::string> unknown(const std::string& name) {
  const std::vector<Variable> variables{{name, "1"}};
  return unknownSettings(variables);
}

}  // namespace

TEST_CASE("without variables every setting has its documented default") {
  const Settings s = parseSettings({});
  CHECK(s.devices.empty());
  CHECK(s.cacheDir.empty());
  CHECK(s.cache == DiskCache::Auto);
  CHECK(s.dumpKernels.empty());
  CHECK_FALSE(s.checkBounds);
  CHECK_FALSE(s.checkGhosts);
  CHECK(s.fp == DEFAULT_FP);
  CHECK_FALSE(s.profile);
  CHECK(s.trace.empty());
  CHECK(s.zeroCopy == ZeroCopy::Auto);
  CHECK(s.deviceMemory == 0);
  CHECK(s.log == LogLevel::Warn);
  CHECK_FALSE(s.explain);
  CHECK(s.tune == TuneMode::Quick);
}

TEST_CASE("an empty value counts as unset") {
  for (const SettingInfo& info : settingsTable()) {
    CAPTURE(info.name);
    CHECK_NOTHROW(parse(std::string(info.name), ""));
  }
  CHECK(parse("HPL_CACHE", "").cache == DiskCache::Auto);
}

TEST_CASE("switches accept the usual words in any case") {
  for (const char* word : {"1", "on", "ON", "true", "Yes"}) {
    CAPTURE(word);
    CHECK(parse("HPL_PROFILE", word).profile);
    CHECK(parse("HPL_EXPLAIN", word).explain);
    CHECK(parse("HPL_CACHE", word).cache == DiskCache::On);
  }
  for (const char* word : {"0", "off", "OFF", "false", "no"}) {
    CAPTURE(word);
    CHECK_FALSE(parse("HPL_PROFILE", word).profile);
    CHECK(parse("HPL_CACHE", word).cache == DiskCache::Off);
  }
}

TEST_CASE("choices are read without regard to case") {
  CHECK(parse("HPL_CACHE", "AUTO").cache == DiskCache::Auto);
  CHECK(parse("HPL_FP", "strict").fp == STRICT);
  CHECK(parse("HPL_FP", "FAST").fp == FAST);
  CHECK(parse("HPL_FP", "default").fp == DEFAULT_FP);
  CHECK(parse("HPL_PACK", "on").pack == Pack::On);
  CHECK(parse("HPL_TRANSFER_QUEUES", "two").transferQueues == TransferQueues::Two);
  CHECK(parse("HPL_OVERLAP", "on").overlap == Overlap::On);
  CHECK(parse("HPL_OVERLAP", "Off").overlap == Overlap::Off);
  CHECK(parse("HPL_ZERO_COPY", "on").zeroCopy == ZeroCopy::On);
  CHECK(parse("HPL_ZERO_COPY", "off").zeroCopy == ZeroCopy::Off);
  CHECK(parse("HPL_LOG", "off").log == LogLevel::Off);
  CHECK(parse("HPL_LOG", "debug").log == LogLevel::Debug);
  CHECK(parse("HPL_TUNE", "full").tune == TuneMode::Full);
  CHECK(parse("HPL_STRATEGY", "direct").strategy == Strategy::Direct);
  CHECK(parse("HPL_STRATEGY", "Rows").strategy == Strategy::Rows);
  CHECK(parse("HPL_STRATEGY", "tile").strategy == Strategy::Tile);
  CHECK(parse("HPL_STRATEGY", "stream").strategy == Strategy::Stream);
  CHECK(parse("HPL_STRATEGY", "columns").strategy == Strategy::Columns);
  CHECK(parse("HPL_STRATEGY", "persistent").strategy == Strategy::Auto);
  CHECK(parse("HPL_STRATEGY", "persistent").persistent);
  CHECK_FALSE(parse("HPL_STRATEGY", "auto").persistent);
  CHECK(parse("HPL_PATIENCE", "17").patience == 17);
  CHECK(parse("HPL_PATIENCE", "auto").patience == 0);
  CHECK(parse("HPL_UNITS", "own").units == runtime::Units::Own);
  CHECK(parse("HPL_GROUPS_WAIT", "all").groupsWait == runtime::GroupsWait::All);
  CHECK(parse("HPL_GROUPS_WAIT", "neighbours").groupsWait == runtime::GroupsWait::Neighbours);
  CHECK(parse("HPL_RANKS", "4").ranks == 4);
  CHECK_FALSE(parse("HPL_RANKS", "4").mpiRanks);
  CHECK(parse("HPL_RANKS", "MPI").mpiRanks);
  CHECK(parse("HPL_RANKS", "mpi").ranks == 0);
  CHECK(parse("HPL_RANKS_WAIT", "spin").ranksWait == RanksWait::Spin);
  CHECK(parse("HPL_RANKS_WAIT", "sleep").ranksWait == RanksWait::Sleep);
  CHECK(parse("HPL_RANKS_BIND", "on").ranksBind);
  CHECK_FALSE(parse("HPL_RANKS_BIND", "off").ranksBind);
  CHECK(parse("HPL_TRANSPORT", "auto").transport == Transports{});
  CHECK(parse("HPL_TRANSPORT", "-window").transport.window == Use::Never);
  CHECK(parse("HPL_TRANSPORT", "window").transport.window == Use::Required);
  CHECK(parse("HPL_TRANSPORT", "-window,-inplace").transport.inPlace == Use::Never);
  CHECK(parse("HPL_TRANSPORT", "inplace").transport.inPlace == Use::Required);
  CHECK(parse("HPL_TRANSPORT", "-self,-Direct").transport ==
        Transports{Use::Never, Use::Never, Use::Auto});
  CHECK(parse("HPL_MESSAGES", "fields").messages == Messages::Fields);
  CHECK(parse("HPL_MESSAGES", "devices").messages == Messages::Devices);
  CHECK(parse("HPL_MESSAGES", "ranks").messages == Messages::Ranks);
  CHECK(parse("HPL_TOPOLOGY", "node.xml").topology == "node.xml");
  CHECK(parse("HPL_PLACEMENT", "off").placement == PlaceBlocks::Off);
}

TEST_CASE("checks are a list") {
  struct Case {
    const char* value;
    bool bounds, ghosts;
  };
  for (const Case& c :
       {Case{"bounds", true, false}, Case{"ghosts", false, true}, Case{"bounds,ghosts", true, true},
        Case{"all", true, true}, Case{"none", false, false}}) {
    CAPTURE(c.value);
    CHECK(parse("HPL_CHECK", c.value).checkBounds == c.bounds);
    CHECK(parse("HPL_CHECK", c.value).checkGhosts == c.ghosts);
  }
}

TEST_CASE("bytes take binary suffixes") {
  struct Case {
    const char* value;
    std::size_t bytes;
  };
  for (const Case& c : {Case{"4096", 4096}, Case{"1K", 1024}, Case{"64k", 65536},
                        Case{"1.5M", 1572864}, Case{"2G", 2147483648}, Case{"2GiB", 2147483648},
                        Case{"1T", 1099511627776}, Case{"512MB", 536870912}, Case{"7B", 7}}) {
    CAPTURE(c.value);
    CHECK(parse("HPL_DEVICE_MEMORY", c.value).deviceMemory == c.bytes);
  }
}

TEST_CASE("paths are taken as they are") {
  CHECK(parse("HPL_CACHE_DIR", "/a b/c").cacheDir == "/a b/c");
  CHECK(parse("HPL_DUMP_KERNELS", "here").dumpKernels == "here");
  CHECK(parse("HPL_TRACE", "t%p.json").trace == "t%p.json");
  CHECK(parse("HPL_DEVICES", "gpu, pocl:0*2").devices == "gpu, pocl:0*2");
}

TEST_CASE("a malformed value is reported with variable, value and what is accepted") {
  struct Case {
    const char* name;
    const char* value;
    const char* accepted;
  };
  for (const Case& c : {Case{"HPL_CACHE", "maybe", "auto|on|off"},
                        Case{"HPL_CHECK", "bound", "bounds|ghosts|all|none"},
                        Case{"HPL_CHECK", "bounds,,ghosts", "bounds|ghosts|all|none"},
                        Case{"HPL_FP", "precise", "default|strict|fast"},
                        Case{"HPL_PROFILE", "2", "on|off"},
                        Case{"HPL_ZERO_COPY", "yes", "auto|on|off"},
                        Case{"HPL_DEVICE_MEMORY", "-1", "suffix K"},
                        Case{"HPL_DEVICE_MEMORY", "0", "suffix K"},
                        Case{"HPL_DEVICE_MEMORY", "12Q", "suffix K"},
                        Case{"HPL_DEVICE_MEMORY", "1e300", "suffix K"},
                        Case{"HPL_DEVICE_MEMORY", "1KM", "suffix K"},
                        Case{"HPL_DEVICE_MEMORY", "nan", "suffix K"},
                        Case{"HPL_DEVICE_MEMORY", "much", "suffix K"},
                        Case{"HPL_LOG", "loud", "off|error|warn|info|debug"},
                        Case{"HPL_EXPLAIN", "why", "on|off"},
                        Case{"HPL_PROBE_LINES", "-1", "a number up to 1000000"},
                        Case{"HPL_PROBE_LINES", "1000001", "a number up to 1000000"},
                        Case{"HPL_PROBE_LINES", "few", "a number up to 1000000"},
                        Case{"HPL_TUNE", "slow", "off|quick|full"},
                        Case{"HPL_PATIENCE", "0", "from 1 on"},
                        Case{"HPL_PATIENCE", "9x", "from 1 on"},
                        Case{"HPL_RANKS", "0", "from 1 to 64, or mpi"},
                        Case{"HPL_RANKS", "65", "from 1 to 64, or mpi"},
                        Case{"HPL_RANKS", "four", "from 1 to 64, or mpi"},
                        Case{"HPL_RANKS_WAIT", "nap", "spin|yield|sleep"},
                        Case{"HPL_TRANSPORT", "pigeon", "auto, or some of"},
                        Case{"HPL_TRANSPORT", "window,-window", "auto, or some of"},
                        Case{"HPL_TRANSPORT", "direct", "auto, or some of"},
                        Case{"HPL_MESSAGES", "letters", "ranks|nodes|devices|fields"},
                        Case{"HPL_TRANSPORT", "inplace,-inplace", "auto, or some of"},
                        Case{"HPL_PLACEMENT", "best", "auto|off"}}) {
    const std::string message = failure(c.name, c.value);
    CAPTURE(message);
    CHECK(message.find(std::string(c.name) + "=" + c.value) != std::string::npos);
    CHECK(message.find("accepted is ") != std::string::npos);
    CHECK(message.find(c.accepted) != std::string::npos);
  }
}

TEST_CASE("a misspelt name is reported with the nearest setting") {
  struct Case {
    const char* wrong;
    const char* right;
  };
  for (const Case& c :
       {Case{"HPL_DEVICE", "HPL_DEVICES"}, Case{"HPL_CACHEDIR", "HPL_CACHE_DIR"},
        Case{"HPL_PROFIL", "HPL_PROFILE"}, Case{"HPL_DUMP_KERNEL", "HPL_DUMP_KERNELS"},
        Case{"HPL_TRACES", "HPL_TRACE"}, Case{"HPL_ZEROCOPY", "HPL_ZERO_COPY"}}) {
    const auto messages = unknown(c.wrong);
    CAPTURE(c.wrong);
    REQUIRE(messages.size() == 1);
    CHECK(messages[0] ==
          std::string(c.wrong) + " is not a setting of HPL; did you mean " + c.right + "?");
  }
}

TEST_CASE("a name like no setting is reported with the list of settings") {
  const auto messages = unknown("HPL_SOMETHING_ELSE_ENTIRELY");
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].find("is not a setting of HPL; the settings are HPL_DEVICES, ") !=
        std::string::npos);
}

TEST_CASE("known names, other programs' names and CMake's names are not reported") {
  for (const SettingInfo& info : settingsTable()) CHECK(unknown(std::string(info.name)).empty());
  for (const char* name : {"PATH", "HPLX", "HPL_DIR", "HPL_ROOT"}) {
    CAPTURE(name);
    CHECK(unknown(name).empty());
  }
}

TEST_CASE("the documentation is a table with one row per setting") {
  const std::string text = settingsDocumentation();
  for (const SettingInfo& info : settingsTable()) {
    CAPTURE(info.name);
    CHECK(subprocess::occurrences(text, "| `" + std::string(info.name) + "` |") == 1);
    CHECK_FALSE(info.help.empty());
  }
  CHECK(subprocess::occurrences(text, "\n") == static_cast<int>(settingsTable().size()) + 2);
  CHECK(text.find("strict\\|fast") != std::string::npos);  // | would end the cell
}

TEST_CASE("tests can replace the settings and read the environment again") {
  const Settings before = settings();
  Settings other = before;
  other.fp = STRICT;
  overrideSettings(other);
  CHECK(settings().fp == STRICT);
  setenv("HPL_FP", "fast", 1);
  reloadSettings();
  CHECK(settings().fp == FAST);
  unsetenv("HPL_FP");
  overrideSettings(before);
  CHECK(settings().fp == before.fp);
}

TEST_CASE("child: asks for the settings twice" * doctest::skip()) {
  settings();
  settings();
}

TEST_CASE("misspelt names in the environment are reported on stderr once") {
  const auto result = subprocess::run("child: asks for the settings twice", "HPL_DEVICE=gpu");
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  CHECK(subprocess::occurrences(
            result.output,
            "hpl: warning: HPL_DEVICE is not a setting of HPL; did you mean HPL_DEVICES?") == 1);
  const auto silent =
      subprocess::run("child: asks for the settings twice", "HPL_DEVICE=gpu HPL_LOG=off");
  CHECK(silent.output.find("HPL_DEVICE ") == std::string::npos);
}

}  // namespace settings_tests
