// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/programs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "devices_for_tests.h"
#include "hpl/error.h"
#include "hpl/runtime/binary_store.h"
#include "hpl/runtime/program.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"
#include "tests/messages.h"

namespace programs_tests {

using namespace hpl;
using namespace hpl::runtime;
using subprocess::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

using hpl_tests::contains;

/// A cache folder of its own, and an empty memory cache, for the length of a test.
struct FreshCache {
  TemporaryFolder folder;
  Settings before = settings();
  FreshCache() {
    Settings changed = before;
    changed.cache = DiskCache::On;
    changed.cacheDir = folder / "cache";
    overrideSettings(changed);
    clearProgramCache();
  }
  ~FreshCache() { overrideSettings(before); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> result;
    if (!fs::exists(folder / "cache")) return result;
    for (const auto& entry : fs::directory_iterator(folder / "cache"))
      result.push_back(entry.path());
    return result;
  }
};

/// The change of the statistics since the object was made.
struct Difference {
  ProgramCacheStatistics before = programCacheStatistics();
  std::uint64_t memoryHits() const {
    return programCacheStatistics().memoryHits - before.memoryHits;
  }
  std::uint64_t diskHits() const { return programCacheStatistics().diskHits - before.diskHits; }
  std::uint64_t misses() const { return programCacheStatistics().misses - before.misses; }
  std::uint64_t writes() const { return programCacheStatistics().writes - before.writes; }
  std::uint64_t failures() const { return programCacheStatistics().failures - before.failures; }
};

std::string sourceAdding(int k) {
  return "kernel void add(global int* a) { a[get_global_id(0)] += " + std::to_string(k) + "; }\n";
}

/// Runs the kernel on one cell that holds 100.
int runAdd(DeviceState& state, const Program& program) {
  cl::Buffer buffer(state.context(), CL_MEM_READ_WRITE, sizeof(int));
  int value = 100;
  state.transferQueue().enqueueWriteBuffer(buffer, CL_TRUE, 0, sizeof value, &value);
  cl::Kernel kernel = program.createKernel();
  kernel.setArg(0, buffer);
  state.computeQueue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
  state.finish();
  state.transferQueue().enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof value, &value);
  return value;
}

std::string contentOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("a program is compiled, then found in memory, then on disk") {
  const FreshCache cache;
  DeviceState& state = Runtime::get().defaultDevice();
  const Difference d;
  const auto first = buildProgram(state, "add", sourceAdding(1));
  CHECK(d.misses() == 1);
  CHECK(d.writes() == 1);
  CHECK(runAdd(state, *first) == 101);
  const auto second = buildProgram(state, "add", sourceAdding(1));
  CHECK(second == first);
  CHECK(d.memoryHits() == 1);
  clearProgramCache();
  const auto third = buildProgram(state, "add", sourceAdding(1));
  CHECK(d.diskHits() == 1);
  CHECK(d.misses() == 1);
  CHECK(d.failures() == 0);
  CHECK(third != first);
  CHECK(runAdd(state, *third) == 101);
  CHECK(runAdd(state, *first) == 101);  // programs in use outlive the cache
}

TEST_CASE("source, options and device tell programs apart") {
  const FreshCache cache;
  const auto copies = openDevices("any:0*2");
  const Difference d;
  const auto a = buildProgram(*copies[0], "add", sourceAdding(1));
  const auto b = buildProgram(*copies[0], "add", sourceAdding(2));
  const auto c = buildProgram(*copies[0], "add", sourceAdding(1), "-DX=1");
  const auto e = buildProgram(*copies[1], "add", sourceAdding(1));
  CHECK(d.memoryHits() == 0);
  // The copy of the device takes the binary of the first, unless its driver wants them apart.
  const unsigned apart = copies[1]->buildTag().empty() ? 0 : 1;
  CHECK(d.misses() == 3 + apart);
  CHECK(d.diskHits() == 1 - apart);
  CHECK(runAdd(*copies[0], *a) == 101);
  CHECK(runAdd(*copies[0], *b) == 102);
  CHECK(runAdd(*copies[0], *c) == 101);
  CHECK(runAdd(*copies[1], *e) == 101);
}

TEST_CASE("sub-devices of one context keep their binaries apart") {
  const FreshCache cache;
  std::vector<std::unique_ptr<DeviceState>> parts;
  try {
    parts = openDevices("any:0/2");
  } catch (const DeviceError& error) {
    MESSAGE("this device cannot be split: " << error.what());
    return;
  }
  for (int round = 0; round < 2; ++round) {  // compiled, then restored
    for (const auto& part : parts) {
      CHECK(runAdd(*part, *buildProgram(*part, "add", sourceAdding(3))) == 103);
    }
    clearProgramCache();
  }
}

TEST_CASE("a damaged cache file is dropped and the program compiled again") {
  const FreshCache cache;
  DeviceState& state = Runtime::get().defaultDevice();
  buildProgram(state, "add", sourceAdding(4));
  REQUIRE(cache.files().size() == 1);
  const fs::path file = cache.files()[0];
  const std::string whole = contentOf(file);
  struct Case {
    const char* name;
    std::string content;
  };
  std::string flipped = whole;
  flipped[flipped.size() / 2] ^= 1;
  for (const Case& c : {Case{"empty", ""}, Case{"half", whole.substr(0, whole.size() / 2)},
                        Case{"one byte changed", flipped}, Case{"text", "this is no program\n"}}) {
    CAPTURE(c.name);
    std::ofstream(file, std::ios::binary) << c.content;
    clearProgramCache();
    const Difference d;
    CHECK(runAdd(state, *buildProgram(state, "add", sourceAdding(4))) == 104);
    CHECK(d.misses() == 1);
    CHECK(d.failures() == 1);
    CHECK(d.writes() == 1);
    clearProgramCache();
    buildProgram(state, "add", sourceAdding(4));
    CHECK(d.diskHits() == 1);
  }
}

TEST_CASE("a binary that the driver refuses is dropped and the program compiled again") {
  const FreshCache cache;
  DeviceState& state = Runtime::get().defaultDevice();
  if (state.properties().platform == "Portable Computing Language") {
    // PoCL recognises its binaries by their first bytes; other drivers may not survive this.
    buildProgram(state, "add", sourceAdding(5));
    const fs::path file = cache.files().at(0);
    const std::string whole = contentOf(file);
    std::string key = whole.substr(40);
    const std::uint64_t keyLength = *reinterpret_cast<const std::uint64_t*>(whole.data() + 8);
    key.resize(keyLength);
    const BinaryStore store(file.parent_path());
    REQUIRE(store.fileOf(key) == file);
    REQUIRE(store.save(key, "sound to us, nonsense to the driver"));
    clearProgramCache();
    const Difference d;
    CHECK(runAdd(state, *buildProgram(state, "add", sourceAdding(5))) == 105);
    CHECK(d.failures() == 1);
    CHECK(d.misses() == 1);
    clearProgramCache();
    buildProgram(state, "add", sourceAdding(5));
    CHECK(d.diskHits() == 1);
  }
}

TEST_CASE("HPL_CACHE=off neither reads nor writes files") {
  const FreshCache cache;
  Settings off = settings();
  off.cache = DiskCache::Off;
  overrideSettings(off);
  const Difference d;
  DeviceState& state = Runtime::get().defaultDevice();
  CHECK(runAdd(state, *buildProgram(state, "add", sourceAdding(6))) == 106);
  CHECK(cache.files().empty());
  CHECK(d.misses() == 1);
  CHECK(d.writes() == 0);
  CHECK(d.failures() == 0);
}

TEST_CASE("HPL_CACHE=auto leaves programs to drivers that keep them") {
  const FreshCache cache;
  Settings automatic = settings();
  automatic.cache = DiskCache::Auto;
  overrideSettings(automatic);
  const Difference d;
  DeviceState& state = Runtime::get().defaultDevice();
  CHECK(runAdd(state, *buildProgram(state, "add", sourceAdding(16))) == 116);
  CHECK(d.misses() == 1);
  CHECK(d.writes() == (state.keepsPrograms() ? 0 : 1));
  CHECK(cache.files().size() == d.writes());
  CHECK(d.failures() == 0);
}

TEST_CASE("threads that ask for one program build it once") {
  const FreshCache cache;
  DeviceState& state = Runtime::get().defaultDevice();
  const Difference d;
  std::vector<std::shared_ptr<const Program>> programs(6);
  std::vector<std::thread> threads;
  for (auto& program : programs) {
    threads.emplace_back([&] { program = buildProgram(state, "add", sourceAdding(7)); });
  }
  for (auto& thread : threads) thread.join();
  CHECK(d.misses() == 1);
  CHECK(d.memoryHits() == programs.size() - 1);
  CHECK(std::ranges::count(programs, programs[0]) == static_cast<long>(programs.size()));
}

TEST_CASE("a kernel that does not compile is reported with the log against numbered source") {
  const FreshCache cache;
  DeviceState& state = Runtime::get().defaultDevice();
  const std::string source =
      "kernel void broken(global int* a) {\n  int x = 1;\n  a[0] = x + nonesuch;\n}\n";
  const Difference d;
  try {
    buildProgram(state, "broken", source, "-DK=2");
    FAIL("it compiled");
  } catch (const BuildError& error) {
    const std::string message = error.what();
    CAPTURE(message);
    CHECK(message.starts_with("kernel \"broken\" does not compile on device " + state.name()));
    CHECK(contains(message, "options \"-DK=2\""));
    CHECK(contains(message, "  2 |   int x = 1;\n"));
    CHECK(contains(message, "> 3 |   a[0] = x + nonesuch;\n"));
    CHECK(contains(message, "nonesuch'"));
    CHECK(error.kernel() == "broken");
    CHECK(error.source() == source);
    CHECK(contains(error.log(), "nonesuch"));
  }
  SUBCASE("and harms no other") {
    CHECK(runAdd(state, *buildProgram(state, "add", sourceAdding(8))) == 108);
  }
  SUBCASE("and is not remembered") {
    CHECK_THROWS_AS(buildProgram(state, "broken", source, "-DK=2"), BuildError);
    CHECK(d.misses() == 2);
    CHECK(d.memoryHits() == 0);
    CHECK(cache.files().empty());
    const auto cured = buildProgram(state, "broken", source, "-DK=2 -Dnonesuch=41");
    CHECK(runAdd(state, *cured) == 42);
  }
}

TEST_CASE("threads that ask for one broken kernel all learn of it") {
  const FreshCache cache;
  DeviceState& state = Runtime::get().defaultDevice();
  std::atomic<int> thrown{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      try {
        buildProgram(state, "k", "kernel void k( {");
      } catch (const BuildError&) {
        ++thrown;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(thrown == 3);
}

TEST_CASE("build logs of all styles mark the lines they name") {
  const std::string source = "one\ntwo\nthree\n";
  CHECK(annotateBuildLog(source, "error: /tmp/x.cl:2:3: bad\n") ==
        "  1 | one\n> 2 | two\n    |   ^ bad\n  3 | three\n");
  CHECK(annotateBuildLog(source, "<kernel>:1:1: error: worse\r\n<kernel>:1:2: note: why\n") ==
        "> 1 | one\n    | ^ error: worse\n    |  ^ note: why\n  2 | two\n  3 | three\n");
  CHECK(annotateBuildLog(source, "\"a.cl\", line 3: error: old style\n") ==
        "  1 | one\n  2 | two\n> 3 | three\n    | ^ error: old style\n");
  CHECK(annotateBuildLog(source, "nothing with a place\n") ==
        "  1 | one\n  2 | two\n  3 | three\n");
  CHECK(annotateBuildLog("", "x:1:1: y") == "");
  std::string twelve;
  for (int i = 0; i < 12; ++i) twelve += "x\n";
  CHECK(annotateBuildLog(twelve, "").starts_with("   1 | x\n"));
}

TEST_CASE("HPL_DUMP_KERNELS writes the source of every kernel") {
  const FreshCache cache;
  Settings dumping = settings();
  dumping.dumpKernels = cache.folder / "sources";
  overrideSettings(dumping);
  DeviceState& state = Runtime::get().defaultDevice();
  buildProgram(state, "add", sourceAdding(9));
  buildProgram(state, "add", sourceAdding(10));
  buildProgram(state, "add", sourceAdding(10));
  CHECK_THROWS_AS(buildProgram(state, "broken", "kernel void broken("), BuildError);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(dumping.dumpKernels)) {
    names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  REQUIRE(names.size() == 3);
  CHECK(names[0].starts_with("add_"));
  CHECK(names[0].size() == std::string("add_12345678.cl").size());
  CHECK(names[2].starts_with("broken_"));
  const std::string one = contentOf(fs::path(dumping.dumpKernels) / names[0]);
  CHECK((one == sourceAdding(9) || one == sourceAdding(10)));
}

TEST_CASE("child: builds two programs and prints the statistics" * doctest::skip()) {
  DeviceState& state = Runtime::get().defaultDevice();
  for (int k : {1, 2}) {
    const int result = runAdd(state, *buildProgram(state, "add", sourceAdding(k)));
    std::printf("result %d\n", result);
  }
  const auto s = programCacheStatistics();
  std::printf("disk hits %d misses %d writes %d failures %d\n", static_cast<int>(s.diskHits),
              static_cast<int>(s.misses), static_cast<int>(s.writes), static_cast<int>(s.failures));
}

TEST_CASE("processes that race on a cold cache all succeed and leave one file per program") {
  const TemporaryFolder folder;
  const std::string environment = "HPL_CACHE=on HPL_CACHE_DIR=" + (folder / "cache").string();
  const std::string child =
      subprocess::command("child: builds two programs and prints the statistics", environment);
  std::string line;
  for (int i = 0; i < 3; ++i)
    line += "(" + child + ") > " + (folder / std::to_string(i)).string() + " & ";
  subprocess::runShell(line + "wait");
  for (int i = 0; i < 3; ++i) {
    const std::string output = contentOf(folder / std::to_string(i));
    CAPTURE(output);
    CHECK(contains(output, "result 101\nresult 102\n"));
    CHECK(contains(output, "failures 0"));
  }
  CHECK(std::distance(fs::directory_iterator(folder / "cache"), {}) == 2);
  const auto warm =
      subprocess::run("child: builds two programs and prints the statistics", environment);
  CAPTURE(warm.output);
  CHECK(contains(warm.output, "disk hits 2 misses 0 writes 0 failures 0"));
}

TEST_CASE("PoCL keeps programs itself unless POCL_KERNEL_CACHE=0") {
  if (Runtime::get().defaultDevice().properties().platform != "Portable Computing Language") return;
  const TemporaryFolder folder;
  const char* child = "child: builds two programs and prints the statistics";
  const std::string environment =
      "HPL_CACHE=auto HPL_CACHE_DIR=" + (folder / "cache").string() + " POCL_KERNEL_CACHE=";
  const auto kept = subprocess::run(child, environment + "1");
  CAPTURE(kept.output);
  CHECK(contains(kept.output, "disk hits 0 misses 2 writes 0 failures 0"));
  const auto forgotten = subprocess::run(child, environment + "0");
  CAPTURE(forgotten.output);
  CHECK(contains(forgotten.output, "disk hits 0 misses 2 writes 2 failures 0"));
}

TEST_CASE("an unusable cache folder costs one warning and nothing else") {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "in the way";
  for (const std::string& path : {(folder / "file").string(), std::string("/proc/hpl")}) {
    const auto result = subprocess::run("child: builds two programs and prints the statistics",
                                        "HPL_CACHE=on HPL_CACHE_DIR=" + path);
    CAPTURE(result.output);
    CHECK(result.exitCode == 0);
    CHECK(contains(result.output, "result 101\nresult 102\n"));
    CHECK(contains(result.output, "disk hits 0 misses 2 writes 0 failures 2"));
    CHECK(subprocess::occurrences(
              result.output, "hpl: warning: compiled kernels cannot be kept in " + path + " (") ==
          1);
    CHECK(contains(result.output, "set HPL_CACHE_DIR to a writable folder, or HPL_CACHE=off"));
  }
}

}  // namespace programs_tests
