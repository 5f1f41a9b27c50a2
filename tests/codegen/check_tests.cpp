// SPDX-License-Identifier: Apache-2.0
// Checked kernels on a device: the first access outside an array is reported, the others do no
// harm.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/codegen/device_run.h"
#include "tests/ir/ir_builder.h"

namespace check_tests {

namespace {

using namespace hpl::ir;             // NOLINT: the builder's operators and names
using namespace hpl::ir::test;       // NOLINT
using namespace hpl::codegen::test;  // NOLINT
using hpl::codegen::AccessViolation;
using hpl::codegen::EmitOptions;
using hpl::codegen::EmittedKernel;
using hpl::codegen::ErrorBuffer;

#define REQUIRE_DEVICE()                  \
  if (!hasDevice()) {                     \
    MESSAGE("no OpenCL device: not run"); \
    return;                               \
  }

struct Outcome {
  bool violated = false;
  AccessViolation violation;
};

Outcome check(const Kernel& kernel, std::vector<hpl::codegen::test::Argument> arguments,
              const hpl::codegen::test::Range& range, int guardDims = 0) {
  EmitOptions options;
  options.checkBounds = true;
  options.guardDims = guardDims;
  std::array<std::int32_t, ErrorBuffer::kWords> words{};
  const EmittedKernel emitted = run(kernel, options, std::move(arguments), range, &words);
  Outcome outcome;
  outcome.violated = decodeViolation(emitted, words.data(), outcome.violation);
  return outcome;
}

}  // namespace

TEST_CASE("a correct kernel computes the same when it is checked") {
  REQUIRE_DEVICE();
  IrBuilder b("fine");
  A out = b.array("out", kInt, 2), in = b.array("in", kInt, 2, {.readOnly = true});
  A tile = b.local("tile", kInt, {2, 4});
  b.set(tile(1, b.lidx()), in(b.idy(), b.idx()));
  b.barrier();
  b.set(out(b.idy(), b.idx()), tile(1, b.lidx()) + 1);
  const Kernel kernel = b.finish();
  std::vector<int> in_(24), out_(24, 0), expected(24);
  std::iota(in_.begin(), in_.end(), 0);
  std::iota(expected.begin(), expected.end(), 1);
  CHECK_FALSE(check(kernel, {array(out_, {3, 8}), array(in_, {3, 8})}, {{8, 3}, {4, 1}}).violated);
  CHECK(out_ == expected);
  // With a rounded domain, whose surplus items are outside all arrays.
  std::fill(out_.begin(), out_.end(), 0);
  CHECK_FALSE(
      check(kernel, {array(out_, {4, 6}), array(in_, {4, 6})}, {{6, 4}, {4, 1}}, 1).violated);
  CHECK(out_ == expected);
}

TEST_CASE("a load outside is reported with array, index, extent, work-item and line") {
  REQUIRE_DEVICE();
  IrBuilder b("blur");
  A out = b.array("out", kInt, 2), in = b.array("in", kInt, 2, {.readOnly = true});
  b.at(41, "blur.cpp");
  b.set(out(b.idy(), b.idx()), in(b.idy() - 2, b.idx()));
  const Kernel kernel = b.finish();
  std::vector<int> in_(6, 7), out_(6, 0);
  const Outcome found = check(kernel, {array(out_, {2, 3}), array(in_, {2, 3})}, {{1, 2}, {1, 1}});
  REQUIRE(found.violated);
  const AccessViolation& v = found.violation;
  CHECK(v.site.array == "in");
  CHECK(v.site.function == "blur");
  CHECK(v.site.param == 1);
  CHECK(v.param == 1);
  CHECK_FALSE(v.site.write);
  CHECK(v.dimension == 0);
  CHECK((v.index == -2 || v.index == -1));
  CHECK(v.globalId[1] == v.index + 2);
  CHECK(v.extent == 2);
  CHECK(std::string(v.site.where.file) == "blur.cpp");
  CHECK(v.site.where.line == 41);
  // The load was redirected to element 0 of its row.
  CHECK(out_[0] == 7);
}

TEST_CASE("a store outside is reported and dropped, in any dimension") {
  REQUIRE_DEVICE();
  IrBuilder b("late");
  A out = b.array("out", kInt, 2);
  b.set(out(0, b.idx()), b.cast(kInt, b.idx()) + 1);
  const Kernel kernel = b.finish();
  std::vector<int> out_(9, 0);
  const Outcome found = check(kernel, {array(out_, {3, 3})}, {{5}, {1}});
  REQUIRE(found.violated);
  CHECK(found.violation.site.write);
  CHECK(found.violation.dimension == 1);
  CHECK(found.violation.extent == 3);
  CHECK(found.violation.index == static_cast<std::int64_t>(found.violation.globalId[0]));
  // Without the check, idx 3 would have changed the next row.
  CHECK(out_ == std::vector<int>{1, 2, 3, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("functions report the array that they were given") {
  REQUIRE_DEVICE();
  IrBuilder b("outer");
  const Function* inner = b.function("inner", kInt, [&] {
    A x = b.array("x", kInt, 1, {.readOnly = true});
    A i = b.scalar("i", kInt);
    b.at(9, "outer.cpp");
    b.ret(x(i));
  });
  A out = b.array("out", kInt, 1), first = b.array("first", kInt, 1),
    second = b.array("second", kInt, 1);
  A r = b.var("r", kInt), s = b.var("s", kInt);
  b.call(inner, {b.whole(first), b.lit(4)}, r);
  b.call(inner, {b.whole(second), b.lit(4)}, s);
  b.set(out(0), r + s);
  const Kernel kernel = b.finish();
  std::vector<int> out_(1), first_(5, 1), second_(4, 2);
  const Outcome found = check(kernel, {array(out_), array(first_), array(second_)}, {{1}, {1}});
  REQUIRE(found.violated);
  CHECK(found.violation.param == 2);
  CHECK(found.violation.site.param == -1);
  CHECK(found.violation.site.array == "x");
  CHECK(found.violation.site.function == "inner");
  CHECK(found.violation.index == 4);
  CHECK(found.violation.extent == 4);
  CHECK(found.violation.site.where.line == 9);
}

TEST_CASE("aliases may reach all of the array behind them and nothing else") {
  REQUIRE_DEVICE();
  IrBuilder b("pointers");
  const Function* shifted = b.function("shifted", kInt, [&] {
    A q = b.aliasParam("q", kInt, Space::Global, true);
    A by = b.scalar("by", kInt);
    b.ret(q(by));
  });
  A out = b.array("out", kInt, 1), m = b.array("m", kInt, 2), by = b.scalar("by", kInt);
  A p = b.alias("p", kInt);
  b.bind(p, m(1, 0));
  A r = b.var("r", kInt);
  b.call(shifted, {b.whole(p), *by}, r);
  b.set(out(0), r + p(-4));
  const Kernel kernel = b.finish();
  std::vector<int> out_(1), m_(12);
  std::iota(m_.begin(), m_.end(), 0);
  for (int shift : {-4, 0, 7}) {
    CAPTURE(shift);
    CHECK_FALSE(
        check(kernel, {array(out_), array(m_, {3, 4}), scalar(shift)}, {{1}, {1}}).violated);
    CHECK(out_[0] == shift + 4);
  }
  for (int shift : {-5, 8}) {
    CAPTURE(shift);
    const Outcome found =
        check(kernel, {array(out_), array(m_, {3, 4}), scalar(shift)}, {{1}, {1}});
    REQUIRE(found.violated);
    CHECK(found.violation.site.alias);
    CHECK(found.violation.param == 1);
    CHECK(found.violation.index == shift + 4);
    CHECK(found.violation.extent == 12);
  }
}

TEST_CASE("atomics outside do not happen and give 0") {
  REQUIRE_DEVICE();
  IrBuilder b("histogram");
  A bins = b.array("bins", kInt, 1), out = b.array("out", kInt, 1);
  A old = b.var("old", kInt, 5);
  b.atomic(AtomicOp::Add, bins(3), {*old}, old);
  b.set(out(0), *old);
  const Kernel kernel = b.finish();
  std::vector<int> bins_(3, 8), out_(1, -1);
  CHECK(check(kernel, {array(bins_), array(out_)}, {{1}, {1}}).violated);
  CHECK(out_[0] == 0);
  CHECK(bins_ == std::vector<int>{8, 8, 8});
}

}  // namespace check_tests
