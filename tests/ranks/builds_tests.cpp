// SPDX-License-Identifier: Apache-2.0
// Kernels are compiled once for the ranks of a node.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>

#include "hpl/ranks/world.h"
#include "hpl/runtime/programs.h"
#include "hpl/runtime/settings.h"
#include "hpl/runtime/shared_builds.h"
#include "program_on_ranks.h"

using namespace hpl;
using namespace ranks_tests;

namespace {

/// Neither the driver nor the library keeps programs on disk.
void keepNothing() {
  setenv("POCL_KERNEL_CACHE", "0", 1);
  runtime::Settings own = runtime::settings();
  own.cache = runtime::DiskCache::Off;
  runtime::overrideSettings(own);
}

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

std::size_t foldersOf(int process) {
  std::size_t count = 0;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", problem))
    count += entry.path().filename().string().starts_with(fmt::format("hpl-builds-{}-", process));
  return count;
}

}  // namespace

TEST_CASE("ranks of a node compile each kernel once, and the others get it") {
  for (const int ranks : {2, 3}) {
    const auto reports = hpl_tests::inWorlds(ranks, [ranks] {
      keepNothing();
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
