// SPDX-License-Identifier: Apache-2.0
// Where the compiler rejects what a strategy wrote, kernels run as they were written.
#include <doctest/doctest.h>

#include "hpl/hpl.h"
#include "hpl/runtime/settings.h"
#include "tests/launch/planted_builds.h"
#include "tests/messages.h"
#include "tests/runtime/subprocess.h"

namespace build_fallback_tests {

using namespace hpl;
using hpl::test::FailingBuilds;
using hpl_tests::contains;
using hpl_tests::messageOf;

namespace {

constexpr int kRows = 40, kColumns = 70;

/// Sets the strategy for a scope, and keeps the cache on disk out: binaries have no source.
class WithStrategy {
 public:
  explicit WithStrategy(runtime::Strategy strategy) : before_(runtime::settings()) {
    runtime::Settings wanted = before_;
    wanted.strategy = strategy;
    wanted.cache = runtime::DiskCache::Off;
    runtime::overrideSettings(wanted);
  }
  ~WithStrategy() { runtime::overrideSettings(before_); }

 private:
  runtime::Settings before_;
};

/// The sum of three in a column and one beside it; the number makes each test's kernel its own.
template <int Number>
void column(Array<int, 2> out, const Array<int, 2>& in) {
  if_(idy > 0 && idy + 1 < szy && idx > 0) {
    out[idy][idx] = in[idy - 1][idx] + in[idy][idx] + in[idy + 1][idx] + in[idy][idx - 1] + Number;
  }
}

struct Grids {
  Array<int, 2> in{kRows, kColumns}, out{kRows, kColumns};
  Grids() {
    int* cells = in.data(HPL_WR);
    for (int i = 0; i < kRows * kColumns; ++i) cells[i] = i % 89;
    out = -1;
  }
  bool isRight(int number) const {
    for (int y = 0; y < kRows; ++y)
      for (int x = 0; x < kColumns; ++x) {
        const bool isInside = y > 0 && y + 1 < kRows && x > 0;
        const int wanted =
            isInside ? in(y - 1, x) + in(y, x) + in(y + 1, x) + in(y, x - 1) + number : -1;
        if (out(y, x) != wanted) return false;
      }
    return true;
  }
};

/// The text that only code of the strategy contains.
const char* markOf(runtime::Strategy strategy) {
  return strategy == runtime::Strategy::Rows      ? "begin_"
         : strategy == runtime::Strategy::Columns ? "end_x"
                                                  : "__local";
}

template <int Number>
void checkFallback(runtime::Strategy strategy) {
  const WithStrategy asked(strategy);
  Grids grids;
  {
    const FailingBuilds compiler(markOf(strategy));
    eval(column<Number>)(grids.out, grids.in);
    CHECK(FailingBuilds::rejected() == 1);
    CHECK(FailingBuilds::builds() == 2);
    CHECK(grids.isRight(Number));
    // Remembered: another shape of arrays tries nothing that failed.
    Array<int, 2> other(33, 20), more(33, 20);
    other = 1;
    eval(column<Number>)(more, other);
    CHECK(more(5, 5) == 4 + Number);
    CHECK(FailingBuilds::rejected() == 1);
    const int builds = FailingBuilds::builds();
    eval(column<Number>)(grids.out, grids.in);
    CHECK(FailingBuilds::builds() == builds);
  }
  grids.out = -1;
  eval(column<Number>)(grids.out, grids.in);
  CHECK(grids.isRight(Number));
}

}  // namespace

TEST_CASE("build fallback: a strategy whose code does not compile gives way to the kernel itself") {
  checkFallback<1>(runtime::Strategy::Rows);
  checkFallback<2>(runtime::Strategy::Tile);
  checkFallback<3>(runtime::Strategy::Stream);
  checkFallback<17>(runtime::Strategy::Columns);
}

TEST_CASE("build fallback: several devices, measured weights and repeated runs") {
  const WithStrategy asked(runtime::Strategy::Rows);
  const FailingBuilds compiler("begin_");
  Grids grids;
  const int devices = getDeviceNumber(defaultDevice().type());
  FRunner run = eval(column<4>).devices(devices)(grids.out, grids.in);
  CHECK(grids.isRight(4));
  grids.out = -1;
  run.run();
  CHECK(grids.isRight(4));
}

TEST_CASE("build fallback: a kernel that does not compile as written either is reported so") {
  const WithStrategy asked(runtime::Strategy::Rows);
  Grids grids;
  {
    const FailingBuilds compiler("__kernel");
    try {
      eval(column<5>)(grids.out, grids.in);
      FAIL("nothing was thrown");
    } catch (const BuildError& error) {
      // The source is that of the kernel as written.
      CHECK(!contains(error.source(), "begin_"));
      CHECK(contains(error.what(), "does not compile on device"));
    }
    CHECK(FailingBuilds::rejected() == 2);
  }
  // Nothing was given up: the strategy is tried again.
  const FailingBuilds counting("never in a source");
  eval(column<5>)(grids.out, grids.in);
  CHECK(FailingBuilds::builds() == 1);
  CHECK(grids.isRight(5));
}

TEST_CASE("build fallback: native kernels have nothing to fall back on") {
  const WithStrategy asked(runtime::Strategy::Rows);
  const FailingBuilds counting("never in a source");
  static const auto broken = [](Out<Array<int, 1>>) {};
  using Kernel = void (*)(Out<Array<int, 1>>);
  const Kernel kernel = +broken;
  nativeHandle(kernel, "broken", "__kernel void broken(__global int* a) { a[0] = nonsense; }");
  Array<int, 1> a(10);
  CHECK(contains(messageOf<BuildError>([&] { eval(kernel)(a); }), "nonsense"));
  CHECK(FailingBuilds::builds() == 1);
}

TEST_CASE("build fallback: the warning names the kernel and the strategy, once") {
  const auto told = subprocess::run(
      "build fallback: a strategy whose code does not compile gives way to the kernel itself",
      "HPL_LOG=warn");
  CAPTURE(told.output);
  CHECK(told.exitCode == 0);
  for (const char* strategy : {"rows", "tile", "stream"}) {
    const std::string text = std::string("what the strategy ") + strategy +
                             " wrote does not compile, which is a defect of HPL";
    const std::size_t first = told.output.find(text);
    CHECK(first != std::string::npos);
    CHECK(told.output.find(text, first + 1) == std::string::npos);
  }
  CHECK(contains(told.output, "kernel 'column"));
}

}  // namespace build_fallback_tests
