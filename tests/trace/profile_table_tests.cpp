// SPDX-License-Identifier: Apache-2.0
#include "hpl/trace/detail/profile_table.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "hpl/hpl.h"
#include "hpl/trace/timeline.h"
#include "tests/device_type.h"
#include "tests/runtime/subprocess.h"

namespace profile_table_tests {

using namespace hpl;
using trace::detail::LaunchSums;
using trace::detail::ProfileReport;
using trace::detail::profileTable;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t countOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

/// The output of the child under HPL_PROFILE=1: on one device, or on three that exchange ghosts.
subprocess::Result profileOf(const std::string& child, const std::string& more = "") {
  return subprocess::run(child, "HPL_PROFILE=1 HPL_TUNE=off HPL_DEVICES='" +
                                    hpl_tests::deviceType() + ":0*3' HPL_ZERO_COPY=off " + more);
}

void twice(Array<float, 1> a) { a[idx] *= 2.0f; }

void launchTwice() {
  static Array<float, 1> a(1024);
  a = 1.0f;
  for (int i = 0; i < 3; ++i) eval(twice)(a);
  if (a(0) != 8.0f) std::abort();
}

void fail() { throw std::runtime_error("unexpected"); }

void smooth(Array<float, 2> to, const Array<float, 2>& from) {
  if_(idy > 0 && idy + 1 < szy) {
    to[idy][idx] = from[idy - 1][idx] + from[idy + 1][idx];
  }
}

}  // namespace

TEST_CASE("the table shows launches by time, transfers and exchanges with their rates") {
  ProfileReport report;
  report.devices = {{0, "cpu-zen4 with a very long name"}};
  report.launches = {{"short", "direct", 0, 7, 0.5, 1000000000}, {"long", "rows", 1, 2, 2, 500}};
  report.transfers[0] = {4, 0.25, 2500000};
  report.transfers[2] = {6, 0.001, 12};
  report.exchanges = {3, 0.001, 12};
  report.secsCreation = 0.25;
  report.secsCompilation = 0.5;
  CHECK(
      profileTable(report) ==
      "hpl: profile (HPL_PROFILE): device time; what ran at the same time counts twice\n"
      "   seconds     count     bytes     GB/s  kernel                       strategy     device\n"
      "  2.000000         2     500 B     0.00  long                         rows         1\n"
      "  0.500000         7    1.0 GB     2.00  short                        direct       "
      "0 cpu-zen4 with a ve..\n"
      "  0.250000         4    2.5 MB     0.01  transfers to devices\n"
      "  0.001000         6      12 B     0.00  transfers between devices\n"
      "  0.001000         3      12 B     0.00  exchanges of ghosts (among the transfers)\n"
      "  0.750000                               on the host, capturing kernels and compiling "
      "them\n");
}

TEST_CASE("the table of many kernels fits a screen and loses no time") {
  ProfileReport report;
  for (int i = 0; i < 100; ++i)
    report.launches.push_back({"kernel" + std::to_string(i), "direct", 0, 1, 1.0, 10});
  for (auto& transfers : report.transfers) transfers = {1, 1, 1};
  report.exchanges = {1, 1, 1};
  report.secsCreation = 1;
  const std::string table = profileTable(report);
  CHECK(std::ranges::count(table, '\n') <= 24);
  CHECK(contains(table, " 85.000000        85     850 B     0.00  (85 more)\n"));
}

TEST_CASE("a program that used no device has no table") { CHECK(profileTable({}).empty()); }

TEST_CASE("child: launches a kernel three times" * doctest::skip()) { launchTwice(); }
TEST_CASE("child: launches and calls exit()" * doctest::skip()) {
  launchTwice();
  std::exit(0);
}
TEST_CASE("child: launches and ends by an exception that nobody catches" * doctest::skip()) {
  launchTwice();
  []() noexcept { fail(); }();
}
TEST_CASE("child: launches and has a child of its own" * doctest::skip()) {
  launchTwice();
  const pid_t child = fork();
  if (child == 0) std::exit(0);
  int status = 0;
  waitpid(child, &status, 0);
}
TEST_CASE("child: three devices exchange ghosts" * doctest::skip()) {
  Array<float, 2> a(48, 64), b(48, 64);
  a = 1.0f, b = 1.0f;
  a.label("old");
  for (int t = 0; t < 4; ++t) {
    eval(smooth)(PART1(b, 1), PART1(a, 1));
    b.syncGhosts();
    swap(a, b);
  }
  if (a(24, 0) != 16.0f) std::abort();
}

TEST_CASE("HPL_PROFILE=1 prints a table at the program's end, once, however it ends") {
  for (const char* child :
       {"child: launches a kernel three times", "child: launches and calls exit()",
        "child: launches and ends by an exception that nobody catches",
        "child: launches and has a child of its own"}) {
    CAPTURE(child);
    const auto result = profileOf(child);
    CAPTURE(result.output);
    CHECK(countOf(result.output, "hpl: profile (HPL_PROFILE)") == 1);
    // Three launches read and write 1024 floats.
    CHECK(contains(result.output, "         3     25 KB "));
    CHECK(contains(result.output, "  twice  "));
    CHECK(contains(result.output, "  4.1 KB "));
    CHECK(contains(result.output, "  transfers from devices\n"));
  }
}

TEST_CASE("without HPL_PROFILE nothing is printed") {
  const auto result = subprocess::run("child: launches a kernel three times", "HPL_PROFILE=off");
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  CHECK_FALSE(contains(result.output, "profile"));
}

TEST_CASE("the table counts exchanges of ghosts and their bytes, and launches by device") {
  const auto result = profileOf("child: three devices exchange ghosts");
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  // Four exchanges; in each, two borders give a row of 64 floats to both sides.
  CHECK(contains(result.output, "         4    4.1 KB "));
  CHECK(contains(result.output, "  exchanges of ghosts (among the transfers)\n"));
  for (const char* device : {"0", "1", "2"})
    CHECK(countOf(result.output, std::string("  ") + device + " ") >= 1);
  CHECK(countOf(result.output, "  smooth  ") == 3);
}

}  // namespace profile_table_tests
