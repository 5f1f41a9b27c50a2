// SPDX-License-Identifier: Apache-2.0
// Emitted control flow, masks, functions and memory, run on a device and compared with numbers
// computed here.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "hpl/error.h"
#include "tests/codegen/device_run.h"
#include "tests/ir/ir_builder.h"

namespace device_tests {

namespace {

using namespace hpl::ir;             // NOLINT: the builder's operators and names
using namespace hpl::ir::test;       // NOLINT
using namespace hpl::codegen::test;  // NOLINT
using hpl::codegen::EmitOptions;

#define REQUIRE_DEVICE()                  \
  if (!hasDevice()) {                     \
    MESSAGE("no OpenCL device: not run"); \
    return;                               \
  }

EmitOptions guarded(int dims) {
  EmitOptions options;
  options.guardDims = dims;
  return options;
}

}  // namespace

TEST_CASE("surplus work-items of a rounded domain return where there is no barrier") {
  REQUIRE_DEVICE();
  IrBuilder b("fill");
  A out = b.array("out", kInt, 2);
  b.set(out(b.idy(), b.idx()),
        b.cast(kInt, b.query(Query::GlobalSize, 0) * 1000 + b.idy() * 10 + b.idx()));
  const Kernel kernel = b.finish();
  // The array is larger than the domain: whatever lies outside must stay.
  std::vector<int> data(8 * 16, -1);
  run(kernel, guarded(2), {array(data, {8, 16})}, {{7, 5}, {4, 4}});
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 16; ++x) {
      CAPTURE(y);
      CAPTURE(x);
      CHECK(data[static_cast<std::size_t>(y * 16 + x)] ==
            (y < 5 && x < 7 ? 7000 + y * 10 + x : -1));
    }
  }
}

TEST_CASE("places are computed in 32 bits where that is enough, those behind aliases never") {
  REQUIRE_DEVICE();
  IrBuilder b("narrow");
  A out = b.array("out", kInt, 2), in = b.array("in", kInt, 2);
  A p = b.alias("p", kInt);
  b.bind(p, in(1, 2));
  // Also before the alias' own place.
  b.set(out(b.idy(), b.idx()), in(b.idy() + 1, b.idx() + 2) + p(b.convert(b.idx(), kLong) - 3));
  const Kernel kernel = b.finish();
  EmitOptions options;
  options.narrowPlaces = true;
  std::vector<int> data(5 * 7, 0), values(6 * 9);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i * i);
  const std::string source =
      run(kernel, options, {array(data, {5, 7}), array(values, {6, 9})}, {{7, 5}, {7, 1}}).source;
  CAPTURE(source);
  CHECK(source.find("out[(int)idy * (int)out_s0 + (int)idx]") != std::string::npos);
  CHECK(source.find("in[(long)((int)idy * (int)in_s0 + (int)idx) +\n      (long)in_s0 + 2]") !=
        std::string::npos);
  CHECK(source.find("p[(long)idx - 3]") != std::string::npos);
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 7; ++x)
      CHECK(data[static_cast<std::size_t>(y * 7 + x)] ==
            values[static_cast<std::size_t>((y + 1) * 9 + x + 2)] +
                values[static_cast<std::size_t>(11 + x - 3)]);
}

TEST_CASE("surplus work-items take part in barriers, read 0 and change nothing") {
  REQUIRE_DEVICE();
  constexpr int kItems = 100, kGroup = 32;
  IrBuilder b("groupSum");
  A out = b.array("out", kInt, 1), in = b.array("in", kInt, 1), count = b.array("count", kInt, 1);
  A tile = b.local("tile", kInt, {kGroup});
  // Dividing by the 0 that they load must not trap in surplus items; it gives 0.
  b.set(tile(b.lidx()), in(b.idx()) + b.lit(100) / in(b.idx()));
  b.atomic(AtomicOp::Inc, count(0), {});
  A old = b.var("old", kInt);
  b.atomic(AtomicOp::Add, count(1), {in(b.idx())}, old);
  b.barrier();
  A half = b.var("half", kUint, kGroup / 2);
  b.for_(
      half > 0, [&] { b.set(half, half / 2); },
      [&] {
        b.if_(b.lidx() < half,
              [&] { b.set(tile(b.lidx()), tile(b.lidx()) + tile(b.lidx() + *half)); });
        b.barrier();
      });
  b.set(out(b.idx()), tile(0) + old * 0);
  const Kernel kernel = b.finish();
  std::vector<int> in_(128), out_(128, -1), counts(2, 0);
  std::iota(in_.begin(), in_.end(), 1);
  const auto emitted =
      run(kernel, guarded(1), {array(out_), array(in_), array(counts)}, {{kItems}, {kGroup}});
  CHECK(emitted.hasBarrier);
  CHECK(counts[0] == kItems);
  CHECK(counts[1] == kItems * (kItems + 1) / 2);
  for (int i = 0; i < 128; ++i) {
    int sum = 0;
    for (int j = i / kGroup * kGroup; j < (i / kGroup + 1) * kGroup && j < kItems; ++j) {
      sum += j + 1 + 100 / (j + 1);
    }
    CAPTURE(i);
    CHECK(out_[static_cast<std::size_t>(i)] == (i < kItems ? sum : -1));
  }
}

TEST_CASE("continue reaches the step of every form of loop") {
  REQUIRE_DEVICE();
  IrBuilder b("loops");
  A out = b.array("out", kInt, 1);
  A i = b.var("i", kInt), steps = b.var("steps", kInt, 0), turns = b.var("turns", kInt, 0);
  // A plain step.
  b.set(i, 0);
  b.for_(
      i < 10, [&] { b.set(i, i + 1); },
      [&] {
        b.if_(i % 3 == 0, [&] { b.continue_(); });
        b.set(turns, turns + 1);
      });
  b.set(out(0), *turns);
  // A step that stores.
  b.set(i, 0);
  b.set(turns, 0);
  b.for_(
      i < 10,
      [&] {
        b.set(i, i + 1);
        b.set(out(1), out(1) + 1);
      },
      [&] {
        b.if_(i % 2 == 0, [&] { b.continue_(); });
        b.if_(i == 7, [&] { b.break_(); });
        b.set(turns, turns + 1);
      });
  b.set(out(2), *turns);
  // A condition that needs statements, evaluated before every turn.
  b.set(turns, 0);
  A old = b.var("old", kInt);
  const Block* prepare = b.block([&] { b.atomic(AtomicOp::Add, out(3), {b.lit(2)}, old); });
  const Block* body = b.block([&] {
    b.set(turns, turns + 1);
    b.if_(turns == 2, [&] { b.continue_(); });
    b.set(out(4), out(4) + 1);
  });
  b.stmt(Loop{prepare, old < 10, b.block([&] { b.set(steps, steps + 1); }), body});
  b.set(out(5), *turns);
  b.set(out(6), *steps);
  // do ... while, with and without statements before the condition.
  b.set(i, 0);
  b.doWhile(i < 5, [&] {
    b.set(i, i + 1);
    b.if_(i == 5, [&] { b.continue_(); });
    b.set(out(7), out(7) + 1);
  });
  b.set(i, 0);
  const Block* doBody = b.block([&] {
    b.set(i, i + 1);
    b.if_(i == 2, [&] { b.continue_(); });
    b.set(out(8), out(8) + 1);
  });
  const Block* doPrepare = b.block([&] { b.atomic(AtomicOp::Inc, out(9), {}, old); });
  b.stmt(DoLoop{doBody, doPrepare, old < 3});
  // Without continue the general forms are simpler.
  b.set(i, 0);
  b.stmt(DoLoop{b.block([&] { b.set(i, i + 1); }),
                b.block([&] { b.atomic(AtomicOp::Inc, out(10), {}, old); }), old < 2});
  b.set(out(11), *i);
  b.stmt(Loop{nullptr, nullptr, nullptr, b.block([&] {
                b.set(i, i + 1);
                b.if_(i > 50, [&] { b.break_(); });
              })});
  b.set(out(12), *i);
  const Kernel kernel = b.finish();
  std::vector<int> data(13, 0);
  run(kernel, {}, {array(data)}, {{1}, {1}});
  CHECK(data == std::vector<int>{6, 7, 3, 12, 4, 5, 5, 4, 3, 4, 3, 3, 51});
}

TEST_CASE("functions share their local arrays and run masked") {
  REQUIRE_DEVICE();
  constexpr int kItems = 20, kGroup = 16;
  IrBuilder b("callers");
  // Reverses the group's part of `a` through a local array; counts the group's calls.
  const Function* reversed = b.function("reversed", kInt, [&] {
    A a = b.array("a", kInt, 2, {.readOnly = true});
    A row = b.scalar("row", kInt);
    A tile = b.local("tile", kInt, {kGroup});
    A calls = b.local("calls", kInt, {});
    b.if_(b.lidx() == 0, [&] { b.set(calls, 0); });
    b.barrier();
    b.set(tile(b.lidx()), a(row, b.idx()));
    b.atomic(AtomicOp::Inc, *calls, {});
    b.barrier();
    b.ret(tile(b.query(Query::LocalSize, 0) - b.lidx() - 1) * 100 + calls +
          b.cast(kInt, b.query(Query::GlobalSize, 0)) * 10000);
  });
  const Function* twice = b.function("twice", kInt, [&] {
    A a = b.array("a", kInt, 2, {.readOnly = true});
    A r = b.var("r", kInt), s = b.var("s", kInt);
    b.call(reversed, {b.whole(a), b.lit(0)}, r);
    b.barrier();
    b.call(reversed, {b.whole(a), b.lit(1)}, s);
    b.ret(r + s);
  });
  A out = b.array("out", kInt, 1), a = b.array("a", kInt, 2, {.readOnly = true});
  A r = b.var("r", kInt);
  b.call(twice, {b.whole(a)}, r);
  b.set(out(b.idx()), *r);
  const Kernel kernel = b.finish();
  std::vector<int> out_(32, -1), a_(64);
  std::iota(a_.begin(), a_.end(), 1);
  run(kernel, guarded(1), {array(out_), array(a_, {2, 32})}, {{kItems}, {kGroup}});
  const auto cell = [&](int row, int i) {
    const int group = i / kGroup, mirrored = group * kGroup + kGroup - 1 - i % kGroup;
    const int loaded = mirrored < kItems ? row * 32 + mirrored + 1 : 0;
    return loaded * 100 + (group == 0 ? kGroup : kItems - kGroup) + kItems * 10000;
  };
  for (int i = 0; i < 32; ++i) {
    CAPTURE(i);
    CHECK(out_[static_cast<std::size_t>(i)] == (i < kItems ? cell(0, i) + cell(1, i) : -1));
  }
}

TEST_CASE("views are reached through offsets and strides") {
  REQUIRE_DEVICE();
  IrBuilder b("view");
  A out = b.array("out", kInt, 2), in = b.array("in", kInt, 3, {.readOnly = true});
  A p = b.alias("p", kInt, Space::Global, true);
  b.bind(p, in(1, b.idy(), 1));
  b.set(out(b.idy(), b.idx()), in(0, b.idy(), b.idx()) * 1000 + p(b.convert(b.idx(), kLong) - 1));
  const Kernel kernel = b.finish();
  std::vector<int> in_(4 * 5 * 6), out_(20, -1);
  std::iota(in_.begin(), in_.end(), 0);
  // The view begins at (1, 2, 3) of in and at (1, 1) of out.
  hpl::codegen::test::Argument from = array(in_, {2, 2, 3});
  from.strides = {30, 6, 1};
  from.offset = 1 * 30 + 2 * 6 + 3;
  hpl::codegen::test::Argument to = array(out_, {2, 3});
  to.strides = {5, 1};
  to.offset = 6;
  EmitOptions options;
  options.offset = {true, true};
  run(kernel, options, {to, from}, {{3, 2}, {}});
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 3; ++x) {
      const int at = 30 + (y + 2) * 6 + x + 3;
      CHECK(out_[static_cast<std::size_t>((y + 1) * 5 + x + 1)] == at * 1000 + at + 30);
    }
  }
  CHECK(std::count(out_.begin(), out_.end(), -1) == 14);
}

TEST_CASE("private and local arrays of two dimensions are linear in memory") {
  REQUIRE_DEVICE();
  IrBuilder b("arrays");
  const Function* trace = b.function("trace", kInt, [&] {
    A m = b.array("m", kInt, 2, {.space = Space::Private});
    A s = b.var("s", kInt, 0);
    b.count("i", kInt, 0, 3, [&](A i) { b.set(s, s + m(i, i)); });
    b.ret(*s);
  });
  A out = b.array("out", kInt, 1);
  A shared = b.array("shared", kInt, 2, {.space = Space::Local});
  A m = b.local("m", kInt, {3, 4}, Space::Private);
  A flags = b.local("flags", kBool, {2}, Space::Private);
  b.count("i", kInt, 0, 3,
          [&](A i) { b.count("j", kInt, 0, 4, [&](A j) { b.set(m(i, j), i * 10 + j); }); });
  A r = b.var("r", kInt);
  b.call(trace, {b.whole(m)}, r);
  b.set(out(0), *r);
  b.set(shared(1, 2), m(2, 3));
  b.set(flags(1), b.convert(shared(1, 2), kBool));
  b.set(flags(0), b.lit(kBool, 0));
  b.set(out(1), shared(1, 2) + b.convert(flags(1), kInt) + b.convert(flags(0), kInt));
  const Kernel kernel = b.finish();
  std::vector<int> data(2);
  run(kernel, {}, {array(data), local(2 * 5 * 4, {2, 5})}, {{1}, {1}});
  CHECK(data == std::vector<int>{33, 24});
}

TEST_CASE("atomics return the old value") {
  REQUIRE_DEVICE();
  IrBuilder b("atomics");
  A out = b.array("out", kInt, 1), cell = b.array("cell", kUint, 1), f = b.array("f", kFloat, 1);
  A old = b.var("old", kUint);
  int at = 0;
  const auto step = [&](AtomicOp op, std::vector<const Expr*> operands) {
    b.atomic(op, cell(0), std::move(operands), old);
    b.set(out(at++), b.cast(kInt, *old));
  };
  const E six = b.lit(kUint, 6);
  step(AtomicOp::Add, {six});
  step(AtomicOp::Sub, {b.lit(kUint, 1)});
  step(AtomicOp::Inc, {});
  step(AtomicOp::Dec, {});
  step(AtomicOp::Max, {b.lit(kUint, 100)});
  step(AtomicOp::Min, {b.lit(kUint, 12)});
  step(AtomicOp::And, {six});
  step(AtomicOp::Or, {b.lit(kUint, 3)});
  step(AtomicOp::Xor, {b.lit(kUint, 5)});
  step(AtomicOp::CmpXchg, {b.lit(kUint, 2), b.lit(kUint, 77)});
  step(AtomicOp::CmpXchg, {*old, *old + 1});
  step(AtomicOp::Xchg, {b.lit(kUint, 9)});
  A oldFloat = b.var("oldFloat", kFloat);
  b.atomic(AtomicOp::Xchg, f(0), {b.real(kFloat, 2.5)}, oldFloat);
  b.set(f(1), *oldFloat);
  const Kernel kernel = b.finish();
  std::vector<int> out_(12);
  std::vector<std::uint32_t> cell_{10};
  std::vector<float> f_{1.5f, 0};
  run(kernel, {}, {array(out_), array(cell_), array(f_)}, {{1}, {1}});
  CHECK(out_ == std::vector<int>{10, 16, 15, 16, 15, 100, 12, 4, 7, 2, 77, 77});
  CHECK(cell_[0] == 9);
  CHECK(f_ == std::vector<float>{2.5f, 1.5f});
}

TEST_CASE("where a device lacks some atomics of 64 bits, the others stand for them") {
  REQUIRE_DEVICE();
  IrBuilder b("wide");
  A cells = b.array("cells", kLong, 1);
  A tile = b.local("tile", kUlong, {1});
  const auto item = b.convert(b.idx(), kLong);
  b.atomic(AtomicOp::Min, cells(0), {item});
  b.atomic(AtomicOp::Max, cells(1), {item});
  b.atomic(AtomicOp::Or, cells(2), {item});
  b.atomic(AtomicOp::Add, cells(3), {item});
  b.if_(b.lidx() == 0, [&] { b.set(tile(0), b.lit(kUlong, 0)); });
  b.barrier();
  b.atomic(AtomicOp::Xor, tile(0), {b.idx()});
  b.barrier();
  b.if_(b.lidx() == 0, [&] { b.set(cells(b.lit(4) + b.gidx()), b.convert(tile(0), kLong)); });
  const Kernel kernel = b.finish();
  EmitOptions options;
  options.hasWideMinMaxAtomics = false;
  const std::string source = emit(kernel, options).source;
  CHECK(source.find("long hpl_atomic_min_long_global(volatile __global long* cell") !=
        std::string::npos);
  CHECK(source.find("hpl_atomic_xor_ulong_local(&tile[0]") != std::string::npos);
  CHECK(source.find("atom_add(&cells[3]") != std::string::npos);
  CHECK(source.find("cl_khr_int64_extended_atomics") == std::string::npos);
  CHECK(source.find("cl_khr_int64_base_atomics") != std::string::npos);
  std::vector<std::int64_t> cells_{100, -100, 0, 0, -1, -1};
  run(kernel, options, {array(cells_)}, {{32}, {16}});
  CHECK(cells_ == std::vector<std::int64_t>{0, 31, 31, 496, 0, 0});
}

TEST_CASE("atomics of 64 bits on a device without any are refused with their line") {
  IrBuilder b("wide");
  A sum = b.array("sum", kDouble, 1);
  b.atomic(AtomicOp::Add, sum(0), {b.real(kDouble, 1)});
  const Kernel kernel = b.finish();
  EmitOptions options;
  options.hasWideAtomics = false;
  std::string message = "nothing was thrown";
  try {
    emit(kernel, options);
  } catch (const hpl::DeviceError& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(message.find("Kernel 'wide' calls atomic_add on double") == 0);
  CHECK(message.find("use int, unsigned or float there") != std::string::npos);
}

TEST_CASE("vectors loaded by surplus work-items divide like scalars") {
  REQUIRE_DEVICE();
  const Type i4 = vec(kInt, 4);
  IrBuilder b("divide");
  A out = b.array("out", i4, 1), in = b.array("in", i4, 1, {.readOnly = true});
  b.barrier();
  b.set(out(b.idx()), b.convert(b.lit(100), i4) / in(b.idx()) + b.convert(b.lit(7), i4) % in(0));
  A q = b.var("q", i4, in(b.idx()) / in(b.idx()));
  b.set(out(b.idx()), out(b.idx()) + q);
  const Kernel kernel = b.finish();
  std::vector<int> in_(16, 3), out_(16, -1);
  run(kernel, guarded(1), {array(out_), array(in_)}, {{3}, {4}});
  CHECK(out_ == std::vector<int>{35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, -1, -1, -1, -1});
}

}  // namespace device_tests
