// SPDX-License-Identifier: Apache-2.0
// Kernels are compiled once for the ranks of a node.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <thread>

#include "hpl/ranks/world.h"
#include "hpl/runtime/programs.h"
#include "hpl/runtime/settings.h"
#include "hpl/runtime/shared_builds.h"
#include "program_on_ranks.h"
#include "tests/faults/opencl_faults.h"
#include "tests/messages.h"

namespace builds_tests {

using namespace hpl;
using namespace ranks_tests;

namespace {

/// A rank that hangs ends so, and its status says it.
constexpr unsigned kHangs = 60;
/// Building included; on a quiet machine it takes a tenth.
constexpr double kSoon = 5000;

/// Neither the driver nor the library keeps programs on disk. PoCL deletes its folder when a
/// process ends, also under others that compile in it: each has one of its own, in `folder`.
void keepNothing(const std::filesystem::path& folder) {
  setenv("POCL_KERNEL_CACHE", "0", 1);
  setenv("POCL_CACHE_DIR", (folder / std::to_string(getpid())).c_str(), 1);
  runtime::Settings own = runtime::settings();
  own.cache = runtime::DiskCache::Off;
  runtime::overrideSettings(own);
}

/// Goes with this object. Ranks end without destroying what the test has made.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "hpl-tests-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~Folder() {
    std::error_code problem;
    std::filesystem::remove_all(path_, problem);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The sum of a count over all ranks.
std::uint64_t overRanks(std::uint64_t own) {
  std::uint64_t sum = 0;
  for (const auto& blob : ranks::world()->courier().allgather(std::as_bytes(std::span(&own, 1)))) {
    std::uint64_t other = 0;
    std::memcpy(&other, blob.data(), sizeof other);
    sum += other;
  }
  return sum;
}

/// Without this any rank may be the first.
void letRankZeroBuildFirst() {
  ranks::world()->courier().allAgree(true);
  if (ranks::world()->rank() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void nothing(InOut<Array<int, 1>>) {}

std::size_t foldersOf(int process) {
  std::size_t count = 0;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", problem))
    count += entry.path().filename().string().starts_with(fmt::format("hpl-builds-{}-", process));
  return count;
}

}  // namespace

TEST_CASE("ranks of a node compile each kernel once, and the others get it") {
  const Folder folder;
  for (const int ranks : {2, 3}) {
    const auto reports = hpl_tests::inWorlds(ranks, [&folder, ranks] {
      keepNothing(folder.path());
      listDevices({ranks, 1, ranks::world()->rank()});
      const auto before = runtime::programCacheStatistics();
      Grid a(30, 20), b(30, 20);
      setCells(a, 1);
      setCells(b, 2);
      eval(fivePoint).devices(ranks)(PART1(b, 1), PART1(a, 1));
      Numbers c(100);
      setCells(c, 3);
      eval(increment).devices(ranks)(PART1(c));
      const auto after = runtime::programCacheStatistics();
      const std::uint64_t compiled = overRanks(after.misses - before.misses);
      const std::uint64_t taken = overRanks(after.diskHits - before.diskHits);
      // A kernel of this rank alone is built here alone.
      if (ranks::world()->rank() == 0) {
        Numbers own(10, HPL_RANK_LOCAL);
        own = 1;
        eval([](Numbers d) { d[idx] *= 3; })(own);
      }
      return fmt::format("{} {} ", compiled, taken) + cellsOf(b);
    });
    for (const auto& report : reports) {
      INFO(report.thrown);
      CHECK(report.said.starts_with(fmt::format("2 {} ", 2 * (ranks - 1))));
      CHECK(report.said == reports.front().said);
    }
  }
}

TEST_CASE("a kernel that no driver builds is the same BuildError on all ranks, and they go on") {
  const Folder folder;
  for (const int ranks : {2, 3}) {
    const auto reports = hpl_tests::inWorlds(ranks, [&folder, ranks] {
      alarm(kHangs);
      keepNothing(folder.path());
      listDevices({ranks, 1, ranks::world()->rank()});
      Numbers a(100);
      setCells(a, 1);
      nativeHandle(nothing, "nothing", "kernel void nothing(global int* a) { a[0] = undeclared; }");
      std::string said;
      try {
        eval(nothing).devices(ranks)(PART1(a));
      } catch (const BuildError& error) {
        said = hpl_tests::contains(error.what(), "undeclared") ? "not built " : error.what();
      }
      eval(increment).devices(ranks)(PART1(a));
      return said + cellsOf(a);
    });
    for (const auto& report : reports) {
      INFO(report.thrown);
      CHECK(report.status == 0);
      CHECK(report.said.starts_with("not built "));
      CHECK(report.said == reports.front().said);
    }
  }
}

TEST_CASE("the builder's driver fails: the others build by themselves, and all have its error") {
  const Folder folder;
  const auto reports = hpl_tests::inWorlds(3, [&folder] {
    alarm(kHangs);
    keepNothing(folder.path());
    const int rank = ranks::world()->rank();
    listDevices({3, 1, rank});
    Grid a(30, 20), b(30, 20);
    setCells(a, 1);
    setCells(b, 2);
    letRankZeroBuildFirst();
    if (rank == 0) hpl_faults_arm("clBuildProgram", 1, -6, 1000);
    std::string said;
    const auto launch = [&] { eval(fivePoint).devices(3)(PART1(b, 1), PART1(a, 1)); };
    try {
      launch();
    } catch (const BuildError& error) {
      const bool isNamed = rank == 0 || hpl_tests::contains(error.what(), "rank 0: ");
      said = isNamed ? "not built " : error.what();
    }
    hpl_faults_disarm();
    launch();
    return said + cellsOf(b);
  });
  for (const auto& report : reports) {
    INFO(report.thrown);
    CHECK(report.said.starts_with("not built "));
    CHECK(report.said == reports.front().said);
  }
}

TEST_CASE("a rank that dies while it builds for others gives its turn back, and is named to them") {
  const Folder folder;
  // Before it has built, and when it is about to hand on what it has built.
  for (const char* at : {"clBuildProgram", "clGetProgramInfo"}) {
    CAPTURE(at);
    const auto reports = hpl_tests::inWorlds(3, [&folder, at] {
      alarm(kHangs);
      keepNothing(folder.path());
      const int rank = ranks::world()->rank();
      listDevices({3, 1, rank});
      Grid a(30, 20), b(30, 20);
      setCells(a, 1);
      setCells(b, 2);
      letRankZeroBuildFirst();
      if (rank == 0) hpl_faults_arm(at, 1, SIGKILL, 1);
      for (int step = 0; step < 100; ++step)
        eval(fivePoint).devices(3)(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
      return cellsOf(b);
    });
    for (const std::size_t rank : {1U, 2U}) {
      INFO(reports[rank].thrown << " after " << reports[rank].milliseconds << " ms");
      CHECK(hpl_tests::contains(reports[rank].thrown, "Rank 0 has failed"));
      CHECK(hpl_tests::contains(reports[rank].thrown, "was killed by signal 9 (Killed)"));
      CHECK(reports[rank].milliseconds < kSoon);
      CHECK(reports[rank].status == 0);
    }
  }
}

TEST_CASE(
    "the folder of a session's builds goes with it, and that of a process that died at last") {
  const auto reports = hpl_tests::inWorlds(2, [] {
    const bool isThere = ranks::world()->rank() != 0 || foldersOf(getpid()) == 1;
    return fmt::format("{} {}", isThere, getpid());
  });
  const int process = std::stoi(reports[0].said.substr(5));
  CHECK(reports[0].said.starts_with("true "));
  CHECK(foldersOf(process) == 0);
  const auto dying = hpl_tests::inWorlds(2, [] {
    if (ranks::world()->rank() == 0) {
      // Its process has no time for anything.
      kill(getpid(), SIGKILL);
    }
    return std::string();
  });
  const auto left = runtime::makeBuildsFolder();
  std::size_t others = 0;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(left.parent_path(), problem)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("hpl-builds-")) continue;
    const int owner = std::atoi(name.c_str() + 11);
    if (kill(owner, 0) != 0) ++others;
  }
  CHECK(others == 0);
  std::filesystem::remove_all(left, problem);
}

}  // namespace builds_tests
