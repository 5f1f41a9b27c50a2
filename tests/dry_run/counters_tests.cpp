// SPDX-License-Identifier: Apache-2.0
// The same program on devices and as a dry run for a machine of as many devices: what was counted
// is equal.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hpl/dry_run/books.h"
#include "hpl/hpl.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/dry_run.h"
#include "hpl/trace/detail/recorder.h"
#include "stencil_templates/stencil_templates.h"
#include "tests/dry_run/machine_of.h"
#include "tests/messages.h"
#include "tests/runtime/subprocess.h"

namespace counters_tests {

using namespace hpl;
using hpl_tests::contains;

namespace {

/// The counters of the process, transfers included (HPL_PROFILE=1 counts them on devices), and the
/// bytes that arrays occupy.
std::string counters() {
  const ProfilingData profile = getTotalProfile();
  std::uint64_t transfers = 0;
  std::string memory;
  if (const dry_run::Books* books = runtime::booksOfDryRun()) {
    const dry_run::Report report = books->report();
    transfers = report.transfers;
    for (const std::uint64_t bytes : report.memory) memory += fmt::format(" {}", bytes);
  } else {
    for (const auto& sums : trace::detail::Recorder::get().report().transfers)
      transfers += sums.count;
    for (const Device& device : devices())
      memory += fmt::format(" {}", device.state().memoryUsed());
  }
  return fmt::format("counters: {} {} {} bytes, {} transfers, {} launches, memory{}\n",
                     profile.bytesHostToDevice, profile.bytesDeviceToHost,
                     profile.bytesDeviceToDevice, transfers, profile.launches, memory);
}

std::string countersIn(const subprocess::Result& result) {
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  const std::size_t at = result.output.find("counters: ");
  REQUIRE(at != std::string::npos);
  return result.output.substr(at, result.output.find('\n', at) - at);
}

/// Runs a child on 1 to 8 devices, and as dry runs.
void compare(const std::string& child) {
  const DeviceProperties like = Device(CPU).getProperties();
  const subprocess::TemporaryFolder folder;
  for (const int count : {1, 2, 3, 5, 8}) {
    CAPTURE(count);
    const std::string machine = folder / "machine.json";
    hpl_tests::writeMachine(machine, count, like);
    const std::string common = "HPL_TUNE=off HPL_PROFILE=1 HPL_ZERO_COPY=off ";
    const std::string real = countersIn(
        subprocess::run(child, common + "HPL_DEVICES='cpu:0*" + std::to_string(count) + "'"));
    const std::string dry = countersIn(subprocess::run(child, common + "HPL_DRY_RUN=" + machine));
    CHECK(dry == real);
  }
}

void smooth(Array<float, 2> next, const Array<float, 2>& now) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    next[idy][idx] =
        0.25f * (now[idy - 1][idx] + now[idy + 1][idx] + now[idy][idx - 1] + now[idy][idx + 1]);
  }
}

}  // namespace

TEST_CASE("child: heat" * doctest::skip()) {
  Stencil heat([](Neighbourhood<float, 2> t, Float rate) {
    return t(0, 0) + rate * (t(-1, 0) + t(1, 0) + t(0, -1) + t(0, 1) - 4.0f * t(0, 0));
  });
  heat.boundary(Fixed(0.0f));
  Array<float, 2> now(61, 40), next(61, 40);
  std::vector<float> begin(61 * 40, 1.0f);
  now.copyFrom(begin.data());
  StencilLauncher on = heat.devices(ANY, getDeviceNumber());
  // A single device would do all steps in one launch.
  if (getDeviceNumber() == 1) on.timeTile(4);
  on.iterate(23)(now, next, 0.1f);
  const Array<float, 2>& result = now;
  static_cast<void>(result(3, 3));
  std::fputs(counters().c_str(), stdout);
}

TEST_CASE("an iterated stencil moves in a dry run what it moves on devices") {
  compare("child: heat");
}

TEST_CASE("child: annotated" * doctest::skip()) {
  Array<float, 2> a(64, 33), b(64, 33);
  a = 1.0f;
  b = 2.0f;
  for (int i = 0; i < 10; ++i) {
    eval(smooth).devices()(PART1(b, 1), PART1(a, 1));
    b.syncGhosts();
    swap(a, b);
  }
  for (int i = 0; i < 6; ++i) {
    eval(smooth).devices()(PART1(b, 2, AUTO_SYNC), PART1(a, 2, AUTO_SYNC));
    swap(a, b);
  }
  a(Range(10, 50), Range(0, 32)) = b(Range(2, 42), Range(0, 32));
  for (int i = 0; i < 4; ++i) eval(smooth).devices()(b, a);
  a.data(HPL_RDWR)[5] = 3;
  eval(smooth)(b, a);
  static_cast<void>(b.reduce(std::plus<float>()));
  std::fputs(counters().c_str(), stdout);
}

TEST_CASE(
    "annotated launches, exchanges, assignments and host accesses move in a dry run what they "
    "move on devices") {
  compare("child: annotated");
}

TEST_CASE("child: host reads" * doctest::skip()) {
  Array<float, 2> a(40, 40), b(40, 40);
  a.label("field");
  a = 2.5f;
  CHECK(a(3, 3) == 2.5f);
  eval(smooth).devices()(PART1(b, 1), PART1(a, 1));
  b.syncGhosts();
  b.label("next");
  CHECK(b(3, 3) == 0.0f);
  a = 7.0f;  // on a device
  CHECK(a(0, 0) == 7.0f);
  CHECK(isDryRun());
  Stencil still([](Neighbourhood<float, 2> t) { return t(0, 0); });
  const auto run = still.devices().until(1e30, 5).iterate(50)(a, b);
  CHECK(run.steps == 50);
  CHECK_FALSE(run.converged);
}

TEST_CASE("a dry run needs no driver, and names what the host reads") {
  const subprocess::TemporaryFolder folder;
  hpl_tests::writeMachine(folder / "machine.json", 4, Device(CPU).getProperties(), 3);
  const std::string report = folder / "report.json";
  const subprocess::Result result = subprocess::run(
      "child: host reads", "OCL_ICD_VENDORS=" + folder.path().string() + "/none HPL_DEVICES= " +
                               "HPL_DRY_RUN=" + (folder / "machine.json").string() +
                               " HPL_DRY_RUN_REPORT=" + report);
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  CHECK(contains(result.output, "hpl: dry run for test: 12 devices on 3 nodes"));
  CHECK(contains(result.output, "array \"next\", 1 time, "));
  CHECK(contains(result.output, "after kernel 'smooth"));
  std::ifstream file(report);
  const nlohmann::json json =
      nlohmann::json::parse(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  CHECK(json["devices"] == 12);
  CHECK(json["host_reads"].size() >= 2);
  CHECK(json["links"]["network"]["messages"].get<int>() > 0);
}

TEST_CASE("child: large" * doctest::skip()) {
  constexpr std::size_t kSide = std::size_t{1} << 20;  // 4 TiB each
  Array<float, 2> a(kSide, kSide), b(kSide, kSide);
  a = 0.0f;
  for (int i = 0; i < 4; ++i) {
    eval(smooth).devices()(b, a);
    swap(a, b);
  }
  CHECK(a(5, 5) == 0.0f);
}

TEST_CASE("arrays of a dry run may be larger than memory") {
  const subprocess::TemporaryFolder folder;
  hpl_tests::writeMachine(folder / "machine.json", 4, Device(CPU).getProperties(), 500);
  const subprocess::Result result =
      subprocess::run("child: large", "HPL_DRY_RUN=" + (folder / "machine.json").string());
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  CHECK(contains(result.output, "2000 devices on 500 nodes"));
}

TEST_CASE("child: wrong file" * doctest::skip()) {
  try {
    getDeviceNumber();
  } catch (const SettingsError& error) {
    std::printf("caught %s\n", error.what());
  }
}

TEST_CASE("a wrong machine file is an error of the first use of a device") {
  const subprocess::TemporaryFolder folder;
  std::ofstream(folder / "m.json") << "{\n\"nodes\": 3}";
  const std::string file = folder / "m.json";
  const subprocess::Result result = subprocess::run("child: wrong file", "HPL_DRY_RUN=" + file);
  CHECK(contains(result.output, "caught " + file +
                                    ", line 2: \"nodes\" is a list of at least one node, not a "
                                    "number"));
}

}  // namespace counters_tests
