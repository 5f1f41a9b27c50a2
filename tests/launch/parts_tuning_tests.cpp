// SPDX-License-Identifier: Apache-2.0
// Tuning of launches on several devices: each part is tuned for the kind of its device and its
// size, wherever it lies. The test "launch_devices" runs these with three devices.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/launch/detail/online_tuning.h"
#include "hpl/launch/detail/shares.h"
#include "hpl/launch/detail/tuning_bench.h"
#include "hpl/layout/findings.h"
#include "hpl/runtime/programs.h"
#include "tests/runtime/subprocess.h"

namespace parts_tuning_tests {

using namespace hpl;
using subprocess::TemporaryFolder;

namespace {

constexpr int kRows = 150;
constexpr int kColumns = 200;

void partBlur(Array<float, 2> out, const Array<float, 2>& in, Float weight) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    out[idy][idx] =
        weight * (in[idy - 1][idx] + in[idy + 1][idx] + in[idy][idx - 1] + in[idy][idx + 1]) +
        in[idy][idx];
  }
  else_ { out[idy][idx] = in[idy][idx] - weight; }
}

void partSum(Array<int, 1> out, const Array<int, 1>& in) {
  if_(idx > 1 && idx + 2 < szx) {
    out[idx] = in[idx - 2] + 3 * in[idx + 1] - in[idx + 2];
  }
}

/// Other settings as long as it lives, with a folder of its own.
struct Setting {
  explicit Setting(runtime::TuneMode mode) : before(runtime::settings()) {
    runtime::Settings changed = before;
    changed.cacheDir = folder.path().string();
    changed.tune = mode;
    runtime::overrideSettings(changed);
    reeval(partBlur);
  }
  ~Setting() {
    runtime::overrideSettings(before);
    reeval(partBlur);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  TemporaryFolder folder;
  runtime::Settings before;
};

struct QuickOptions {
  QuickOptions() {
    layout::onlineOptions() = {
        .start = 1e-6, .share = 1e6, .making = 0, .candidates = 2, .measurement = 1e-6};
  }
  ~QuickOptions() { layout::onlineOptions() = usual; }
  QuickOptions(const QuickOptions&) = delete;
  QuickOptions& operator=(const QuickOptions&) = delete;
  layout::OnlineOptions usual = layout::onlineOptions();
};

struct Pair {
  Array<float, 2> in{kRows, kColumns}, out{kRows, kColumns};

  Pair() {
    float* values = in.data(HPL_WR);
    for (int i = 0; i < kRows * kColumns; ++i) values[i] = valueAt(i);
    out = -1.0f;
  }
  static float valueAt(int i) { return static_cast<float>(i * 7919 % 211 - 100); }
  /// By C++.
  static std::vector<float> expected(float weight) {
    std::vector<float> values;
    for (int y = 0; y < kRows; ++y) {
      for (int x = 0; x < kColumns; ++x) {
        const int i = y * kColumns + x;
        const bool inside = x > 0 && x + 1 < kColumns && y > 0 && y + 1 < kRows;
        // Whole numbers: exact in any order.
        values.push_back(inside ? weight * (valueAt(i - kColumns) + valueAt(i + kColumns) +
                                            valueAt(i - 1) + valueAt(i + 1)) +
                                      valueAt(i)
                                : valueAt(i) - weight);
      }
    }
    return values;
  }
  std::vector<float> result() const {
    std::vector<float> values(out.size());
    out.copyTo(values.data());
    return values;
  }
};

launch::LaunchOptions onDevices(int count) {
  launch::LaunchOptions options = launch::resolved({}, true);
  options.shares = std::make_shared<launch::ShareOptions>();
  for (int d = 0; d < count; ++d) options.shares->devices.push_back(&Device(CPU, d).state());
  return options;
}

/// The key under which parts of `rows` rows are tuned.
std::string keyOfRows(int rows) {
  Array<float, 2> in(rows, kColumns), out(rows, kColumns);
  const std::vector<launch::Argument> list{launch::makeArgument(out), launch::makeArgument(in),
                                           launch::makeArgument(0.25f)};
  launch::LaunchOptions options = launch::resolved({}, false);
  options.device = &Device(CPU, 0).state();
  return launch::TuningBench(*launch::entryOf<decltype(&partBlur)>(&partBlur).entry, options, list)
      .key();
}

tune::Store& findings() { return layout::findingsOf(Device(CPU, 0).state()); }

/// How each device lays out its part.
std::vector<std::string> choicesFor(const launch::LaunchOptions& options, const Pair& pair) {
  const std::vector<launch::Argument> list{
      launch::makeArgument(pair.out), launch::makeArgument(pair.in), launch::makeArgument(0.25f)};
  const auto plan =
      launch::makeSharedPlan(*launch::entryOf<decltype(&partBlur)>(&partBlur).entry, options, list);
  std::vector<std::string> choices;
  for (const launch::DevicePlan* part : plan->plans()) choices.push_back(part->choice);
  return choices;
}

}  // namespace

TEST_CASE("parts of several devices take what was found for their size, wherever they lie") {
  const int count = getDeviceNumber(CPU);
  if (count < 2) return;
  const Setting setting(runtime::TuneMode::Quick);
  const Pair pair;
  tune::Finding finding;
  finding.best = {{"strategy", 2}, {"lanes", 4}, {"vectors", 2}, {"jam", 2}, {"band", 32}};
  finding.ratio = 0.5;
  finding.complete = true;
  REQUIRE(findings().keep(keyOfRows(kRows / count), finding));
  const launch::LaunchOptions equal = onDevices(count);
  for (const std::string& choice : choicesFor(equal, pair)) {
    CAPTURE(choice);
    CHECK(choice.find("rows: 4 lanes, 2 vectors side by side, 2 rows at once") == 0);
  }
  // The first part is as large as two or more of these now, and was not tuned.
  launch::LaunchOptions uneven = onDevices(2);
  uneven.shares->weights = {9, 1};
  for (const std::string& choice : choicesFor(uneven, pair))
    CHECK(choice.find("rows: 4 lanes, 2 vectors") == std::string::npos);
}

TEST_CASE("parts of several devices are tuned while they run") {
  const int count = getDeviceNumber(CPU);
  if (count < 2) return;
  const QuickOptions options;
  for (const bool annotated : {false, true}) {
    CAPTURE(annotated);
    const Setting setting(runtime::TuneMode::Quick);
    const std::string key = keyOfRows(kRows / count);
    Pair pair;
    const std::vector<float> expected = Pair::expected(0.25f);
    const auto isDone = [&] {
      const auto found = findings().find(key);
      return found && found->complete;
    };
    int launches = 0, after = 0;
    // Some more, in which the other devices take over what was found.
    for (; launches < 4000 && after < 20; ++launches) {
      pair.out = -1.0f;
      if (annotated) {
        eval(partBlur).devices(CPU, count)(PART1(pair.out, 1), PART1(pair.in, 1), 0.25f);
      } else {
        eval(partBlur).devices(CPU, count)(pair.out, pair.in, 0.25f);
      }
      REQUIRE(pair.result() == expected);
      after += isDone() ? 1 : 0;
    }
    CHECK(after == 20);
  }
}

TEST_CASE("parts of several devices: a short run tries nothing") {
  const int count = getDeviceNumber(CPU);
  if (count < 2) return;
  const Setting setting(runtime::TuneMode::Quick);
  Pair pair;
  eval(partBlur).devices(CPU, count)(pair.out, pair.in, 0.25f);
  pair.result();
  const auto before = runtime::programCacheStatistics();
  for (int n = 0; n < 100; ++n) eval(partBlur).devices(CPU, count)(pair.out, pair.in, 0.25f);
  CHECK(pair.result() == Pair::expected(0.25f));
  const auto after = runtime::programCacheStatistics();
  CHECK(after.misses == before.misses);
  CHECK(after.memoryHits == before.memoryHits);
  CHECK(after.diskHits == before.diskHits);
  CHECK_FALSE(findings().find(keyOfRows(kRows / count)));
}

TEST_CASE("parts of several devices: the bench of a slice leaves the arrays alone") {
  if (getDeviceNumber(CPU) < 2) return;
  const Setting setting(runtime::TuneMode::Quick);
  const Pair pair;
  launch::ShareContext slice;
  slice.slice = layout::SliceOfDomain{{0, 50, 0}, {kColumns, kRows, 1}};
  slice.cells.resize(3);
  slice.cells[0].own = geometry::Box({50, 0}, {100, kColumns});
  slice.cells[1].own = geometry::Box({49, 0}, {101, kColumns});
  const std::vector<launch::Argument> list{
      launch::makeArgument(pair.out), launch::makeArgument(pair.in), launch::makeArgument(0.25f)};
  launch::LaunchOptions options = launch::resolved({}, false);
  options.device = &Device(CPU, 1).state();
  options.global = Domain(kColumns, 50);
  launch::TuningBench bench(*launch::entryOf<decltype(&partBlur)>(&partBlur).entry, options, list,
                            slice);
  double now = 0;
  bench.setClock([&] { return now += 1.5; });
  REQUIRE(bench.points().size() > 4);
  // 1.5 s by the clock, of as many launches as take some milliseconds: one.
  CHECK(bench.measure(bench.points()[0]) == 1.5);
  CHECK(bench.measure(bench.points()[1]) == 1.5);
  CHECK(bench.key() == keyOfRows(50));
  CHECK(pair.result() == std::vector<float>(pair.out.size(), -1.0f));
}

TEST_CASE("parts of several devices: HPL_TUNE=full tunes each kind and size once") {
  const int count = getDeviceNumber(CPU);
  if (count < 2) return;
  const Setting setting(runtime::TuneMode::Full);
  constexpr int kCells = 9000;
  Array<int, 1> in(kCells), out(kCells);
  int* values = in.data(HPL_WR);
  for (int i = 0; i < kCells; ++i) values[i] = i * 7919 % 211;
  for (const bool annotated : {false, true}) {
    CAPTURE(annotated);
    out = 5;
    if (annotated) {
      reeval(partSum).devices(CPU, count)(PART1(out, 2), PART1(in, 2));
    } else {
      reeval(partSum).devices(CPU, count)(out, in);
    }
    std::vector<int> sums(kCells);
    out.copyTo(sums.data());
    for (int i = 2; i + 2 < kCells; ++i)
      REQUIRE(sums[static_cast<std::size_t>(i)] ==
              (i - 2) * 7919 % 211 + 3 * ((i + 1) * 7919 % 211) - (i + 2) * 7919 % 211);
    CHECK(sums.front() == 5);
    CHECK(sums.back() == 5);
    // One entry: the parts have the same kind of device, and about the same size.
    std::ostringstream text;
    text << std::ifstream(findings().file()).rdbuf();
    CHECK(subprocess::occurrences(text.str(), "partSum ") == 1);
    CHECK(subprocess::occurrences(text.str(), "\"thorough\": true") == 1);
  }
}

}  // namespace parts_tuning_tests
