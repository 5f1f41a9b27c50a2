// SPDX-License-Identifier: Apache-2.0
// Mistakes and mishaps of one rank in the middle of a program: a named error on every rank, soon,
// or the right cells.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <random>

#include "hpl/error.h"
#include "hpl/ranks/detail/arena.h"
#include "hpl/ranks/world.h"
#include "program_on_ranks.h"
#include "tests/faults/opencl_faults.h"
#include "tests/messages.h"
#include "tests/ranks/soon.h"

namespace planted_faults_tests {

using namespace hpl;
using namespace ranks_tests;
using hpl_tests::contains;
using hpl_tests::messageOf;
using hpl_tests::RankReport;

namespace {

/// A rank that hangs ends so, and its status says it.
constexpr unsigned kHangs = 60;
constexpr long kAlways = 1000000;

std::vector<RankReport> reportsOf(int ranks, const std::function<std::string(int rank)>& body) {
  return hpl_tests::inWorlds(ranks, [&] {
    alarm(kHangs);
    const int rank = ranks::world()->rank();
    listDevices({ranks, 1, rank});
    return body(rank);
  });
}

void step(Numbers& a, Numbers& b) {
  eval(threePoint).devices(getDeviceNumber())(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
  swap(a, b);
}

void expectDivergence(const std::vector<RankReport>& reports) {
  for (const RankReport& report : reports) {
    INFO(report.thrown << " after " << report.milliseconds << " ms");
    CHECK(contains(report.thrown, "all ranks must do the same operations"));
    CHECK(report.milliseconds < hpl_tests::soon());
    CHECK(report.status == 0);
  }
}

/// All ranks but `guilty` name it.
void expectNamed(const std::vector<RankReport>& reports, std::size_t guilty,
                 const std::string& part) {
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    if (rank == guilty) continue;
    INFO(reports[rank].thrown << " after " << reports[rank].milliseconds << " ms");
    CHECK(contains(reports[rank].thrown, fmt::format("ank {}", guilty)));
    CHECK(contains(reports[rank].thrown, part));
    CHECK(reports[rank].milliseconds < hpl_tests::soon());
    CHECK(reports[rank].status == 0);
  }
}

/// Memory that is gone with this object: later uses crash.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes),
        begin_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (begin_ == MAP_FAILED) std::abort();
  }
  ~Pages() { munmap(begin_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  int* numbers() { return static_cast<int*>(begin_); }

 private:
  std::size_t bytes_;
  void* begin_;
};

}  // namespace

TEST_CASE("kernels that differ between ranks are found out at their first launch") {
  const auto reports = reportsOf(2, [](int rank) {
    Numbers a(100);
    setCells(a, 1);
    const int amount = 3 + rank;
    const auto add = [amount](Numbers n) { n[idx] += amount; };
    eval(add).devices(2)(PART1(a));
    return cellsOf(a);
  });
  expectDivergence(reports);
}

TEST_CASE("ranks that make different numbers of steps are named, wherever they meet") {
  for (const int behind : {0, 2}) {
    const auto reports = reportsOf(3, [behind](int rank) {
      Numbers a(100), b(100);
      setCells(a, 1);
      setCells(b, 2);
      for (int i = 0; i < (rank == behind ? 29 : 30); ++i) step(a, b);
      return cellsOf(a);
    });
    expectDivergence(reports);
  }
}

TEST_CASE("a kernel that the driver of one rank does not build is a BuildError on all ranks") {
  const auto reports = reportsOf(2, [](int rank) {
    Numbers a(100), b(100);
    setCells(a, 1);
    setCells(b, 2);
    if (rank == 1) hpl_faults_arm("clBuildProgram", 1, -11, kAlways);
    std::string said;
    try {
      step(a, b);
      said = "nothing was thrown";
    } catch (const BuildError& error) {
      said = rank == 1 || contains(error.what(), "rank 1: ") ? "not built " : error.what();
    }
    hpl_faults_disarm();
    step(a, b);
    return said + cellsOf(a);
  });
  for (const RankReport& report : reports) {
    CHECK(report.thrown == "");
    CHECK(contains(report.said, "not built "));
    CHECK(report.said == reports.front().said);
  }
}

TEST_CASE("a rank that is killed between two launches is named to all others") {
  const auto reports = reportsOf(3, [](int rank) {
    Numbers a(100), b(100);
    setCells(a, 1);
    setCells(b, 2);
    for (int i = 0; i < 1000; ++i) {
      if (rank == 2 && i == 20) raise(SIGKILL);
      step(a, b);
    }
    return cellsOf(a);
  });
  expectNamed(reports, 2, "its process was killed by signal 9 (Killed)");
}

TEST_CASE("a call of a driver that fails on one rank is an error on all ranks, or does no harm") {
  const auto program = [](int rank, const char* function, int use, long times) {
    Numbers a(100), b(100);
    setCells(a, 1);
    setCells(b, 2);
    for (int i = 0; i < 3; ++i) step(a, b);
    if (rank == 1) hpl_faults_arm(function, use, -5, times);
    for (int i = 0; i < 5; ++i) step(a, b);
    const std::string said = std::to_string(a(60).value()) + " ";
    step(a, b);
    const std::string cells = cellsOf(a);
    hpl_faults_disarm();
    return said + cells;
  };
  const std::string expected = saidOn(1, 1, [&] { return program(0, "clFlush", 1, 0); });
  std::mt19937 random(7);
  int thrown = 0;
  for (const char* function :
       {"clEnqueueNDRangeKernel", "clEnqueueReadBuffer", "clEnqueueWriteBuffer", "clFlush",
        "clCreateUserEvent", "clSetEventCallback", "clSetKernelArg", "clSetUserEventStatus"}) {
    const int use = 1 + static_cast<int>(random() % 4);
    const long times = random() % 2 == 0 ? 1 : kAlways;
    CAPTURE(function);
    CAPTURE(use);
    CAPTURE(times);
    const auto reports =
        reportsOf(2, [&](int rank) { return program(rank, function, use, times); });
    const bool isThrown = !reports[1].thrown.empty();
    thrown += isThrown ? 1 : 0;
    for (const RankReport& report : reports) {
      INFO(report.thrown);
      CHECK(report.status == 0);
      CHECK(report.thrown.empty() == !isThrown);
      CHECK(report.said == (isThrown ? "" : expected));
    }
    if (isThrown) expectNamed(reports, 1, "");
  }
  CHECK(thrown >= 3);
}

TEST_CASE("a rank without any device takes part in programs") {
  const auto program = [] {
    Grid a(31, 12), b(31, 12);
    setCells(a, 1);
    setCells(b, 2);
    std::string said;
    for (int i = 0; i < 5; ++i) {
      eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
      swap(a, b);
      eval(fivePoint).devices()(b, a);
      swap(a, b);
      said += std::to_string(a(15, 3 + i).value()) + " ";
      b = a;
    }
    return said + cellsOf(a) + std::to_string(sum(a));
  };
  const std::string expected = saidOn(1, 1, program);
  for (const int without : {0, 1, 2}) {
    CAPTURE(without);
    const auto reports = hpl_tests::inWorlds(3, [&] {
      alarm(kHangs);
      listDevices({3, 1, ranks::world()->rank(), without});
      return program();
    });
    for (const RankReport& report : reports) {
      CHECK(report.thrown == "");
      CHECK(report.said == expected);
    }
  }
}

TEST_CASE("more ranks than rows: some have nothing to do, or all refuse alike") {
  for (const int rows : {1, 2, 3}) {
    CAPTURE(rows);
    const auto program = [rows] {
      Grid a(rows, 9), b(rows, 9);
      setCells(a, 1);
      setCells(b, 2);
      std::string said;
      // Without the part's device, whose name tells where it was opened.
      const auto attempt = [&](const auto& launch) {
        try {
          launch();
          swap(a, b);
        } catch (const RankError&) {
          throw;
        } catch (const Error& error) {
          const std::string what = error.what();
          said += what.substr(0, what.find("(#")) + what.substr(what.rfind(')')) + "\n";
        }
      };
      const int n = getDeviceNumber();
      attempt([&] { eval(fivePoint).devices(n)(PART1(b), PART1(a)); });
      attempt([&] { eval(fivePoint).devices()(b, a); });
      attempt([&] { eval(fivePoint).devices(n)(PART1(b, 2, AUTO_SYNC), PART1(a, 2, AUTO_SYNC)); });
      attempt([&] { eval(fivePoint).devices(n)(PART1(b, 2, PERIODIC), PART1(a, 2, PERIODIC)); });
      return said + cellsOf(a) + cellsOf(b);
    };
    // Four devices of one process are the measure.
    CHECK(saidOn(4, 1, program) == saidOn(1, 4, program));
  }
}

TEST_CASE("memory of the program's own is left alone once an exception is under way") {
  const auto reports = reportsOf(2, [](int rank) {
    Numbers a(4096);
    const auto compute = [&] {
      Pages pages(4096 * sizeof(int));
      Numbers over(4096, pages.numbers());
      over = 1;
      a = 2;
      eval(threePoint).devices(2)(PART1(over, 1), PART1(a, 1));
      if (rank == 1) throw std::runtime_error("out of ideas");
      for (int i = 0; i < 100; ++i) eval(threePoint).devices(2)(PART1(over, 1), PART1(a, 1));
    };
    compute();
    return cellsOf(a);
  });
  CHECK(reports[1].thrown == "out of ideas");
  CHECK(reports[1].status == 0);
  expectNamed(reports, 1, "has failed");
}

TEST_CASE("a rank that takes its memory away too early dies of it, and is named to the others") {
  const auto reports = reportsOf(3, [](int rank) {
    // Instead of doctest's.
    std::signal(SIGSEGV, SIG_DFL);
    constexpr std::size_t kBytes = 40960 * sizeof(int);
    auto pages = std::make_unique<Pages>(kBytes);
    Numbers over(40960, pages->numbers()), a(40960), b(40960);
    over = 1;
    b = 1;
    setCells(a, 1);
    eval(threePoint).devices(3)(PART1(over, 1), PART1(a, 1));
    if (rank == 1) pages.reset();
    cellsOf(over);
    // The others may have got all cells before it dies. It computes some of these.
    eval(threePoint).devices(3)(PART1(b, 1), PART1(a, 1));
    return cellsOf(b);
  });
  expectNamed(reports, 1, "its process was killed by signal 11 (Segmentation fault)");
}

TEST_CASE("ranks that cannot share memory are not started, and the message says why") {
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit little = before;
  little.rlim_cur =
      pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + (std::size_t{64} << 20);
  setrlimit(RLIMIT_AS, &little);
  // 64 ranks have 4032 pairs of a third of a megabyte each.
  const std::string message = messageOf<Error>([] { ranks::Arena arena(64); });
  setrlimit(RLIMIT_AS, &before);
  CHECK(contains(message, "shared memory"));
  CHECK(contains(message, "64 ranks"));
}

}  // namespace planted_faults_tests
