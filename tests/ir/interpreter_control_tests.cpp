// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <numeric>

#include "hpl/error.h"
#include "hpl/ir/interpreter.h"
#include "tests/ir/ir_builder.h"

namespace interpreter_control_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

NDRange range1(std::uint64_t global, std::uint64_t local) {
  return NDRange{1, {global, 1, 1}, {local, 1, 1}};
}

/// Runs a kernel whose only argument is an int array of `n` cells, one per work-item.
std::vector<std::int32_t> run(const Kernel& kernel, std::int64_t n, std::uint64_t local = 1,
                              InterpreterOptions options = {}) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(n), -1);
  options.detectUninitialised = true;
  options.detectRaces = true;
  interpret(kernel, range1(static_cast<std::uint64_t>(n), local),
            {arrayArgument(out.data(), {n}, "out")}, options);
  return out;
}

}  // namespace

TEST_CASE("work-items know their place in one, two and three dimensions") {
  IrBuilder b("place");
  auto out = b.array("out", kUlong, 4);
  for (int q = 0; q < 6; ++q) {
    for (int dim = 0; dim < 3; ++dim) {
      b.set(out(b.idz(), b.idy(), b.idx(), 3 * q + dim), b.query(static_cast<Query>(q), dim));
    }
  }
  const Kernel k = b.finish();
  const NDRange range{3, {4, 6, 2}, {2, 3, 1}};
  std::vector<std::uint64_t> ids(2 * 6 * 4 * 18);
  interpret(k, range, {arrayArgument(ids.data(), {2, 6, 4, 18})});
  std::size_t at = 0;
  for (std::uint64_t z = 0; z < 2; ++z) {
    for (std::uint64_t y = 0; y < 6; ++y) {
      for (std::uint64_t x = 0; x < 4; ++x) {
        const std::uint64_t expected[] = {x, y, z, x % 2, y % 3, 0, x / 2, y / 3, z,
                                          4, 6, 2, 2,     3,     1, 2,     2,     2};
        for (const std::uint64_t value : expected) CHECK(ids[at++] == value);
      }
    }
  }
}

TEST_CASE("if and else split the work-items and join them again") {
  IrBuilder b("branches");
  auto out = b.array("out", kInt, 1);
  auto x = b.var("x", kInt, 0);
  b.if_(
      b.idx() % 2 == 0,
      [&] {
        b.if_(
            b.idx() > 3, [&] { b.set(x, 1); }, [&] { b.set(x, 2); });
      },
      [&] { b.set(x, 3); });
  b.set(out(b.idx()), x + 10);
  CHECK(run(b.finish(), 6) == std::vector<std::int32_t>{12, 13, 12, 13, 11, 13});
}

TEST_CASE("loops run as long for each work-item as its own condition says") {
  IrBuilder b("triangular");
  auto out = b.array("out", kInt, 1);
  auto sum = b.var("sum", kInt, 0);
  auto i = b.var("i", kInt, 0);
  b.for_(
      *i <= b.convert(b.idx(), kInt), [&] { b.set(i, i + 1); }, [&] { b.set(sum, sum + i); });
  b.set(out(b.idx()), *sum);
  CHECK(run(b.finish(), 6) == std::vector<std::int32_t>{0, 1, 3, 6, 10, 15});
}

TEST_CASE("continue goes to the step, break leaves one loop only") {
  IrBuilder b("jumps");
  auto out = b.array("out", kInt, 1);
  auto sum = b.var("sum", kInt, 0);
  const E me = b.convert(b.idx(), kInt);
  b.count("i", kInt, 0, 10, [&](A i) {
    b.if_(*i == me, [&] { b.continue_(); });
    b.count("j", kInt, 0, 10, [&](A j) {
      b.if_(*j == 2, [&] { b.break_(); });
      b.set(sum, sum + 1);
    });
    b.if_(*i > me + 2, [&] { b.break_(); });
  });
  b.set(out(b.idx()), *sum);
  std::vector<std::int32_t> expected;
  for (int me2 = 0; me2 < 12; ++me2) {
    int s = 0;
    for (int i = 0; i < 10; ++i) {
      if (i == me2) continue;
      s += 2;
      if (i > me2 + 2) break;
    }
    expected.push_back(s);
  }
  CHECK(run(b.finish(), 12, 4) == expected);
}

TEST_CASE("while loops without a step and do loops test at the right end") {
  IrBuilder b("whiles");
  auto out = b.array("out", kInt, 1);
  auto x = b.var("x", kInt, b.convert(b.idx(), kInt));
  auto n = b.var("n", kInt, 0);
  b.while_(*x > 0, [&] {
    b.set(x, x / 2);
    b.set(n, n + 1);
  });
  auto m = b.var("m", kInt, 0);
  b.doWhile(*m < b.convert(b.idx(), kInt), [&] {
    b.set(m, m + 1);
    b.if_(*m == 3, [&] { b.continue_(); });
    b.if_(*m == 6, [&] { b.break_(); });
  });
  b.set(out(b.idx()), n * 100 + m);
  std::vector<std::int32_t> expected;
  for (int id = 0; id < 9; ++id) {
    int bits = 0;
    for (int v = id; v > 0; v /= 2) ++bits;
    expected.push_back(bits * 100 + std::min(std::max(id, 1), 6));
  }
  CHECK(run(b.finish(), 9, 3) == expected);
}

TEST_CASE("the statements that prepare a condition run before every test") {
  IrBuilder b("prepared");
  auto out = b.array("out", kInt, 1);
  auto x = b.var("x", kInt, 0);
  auto tests = b.var("tests", kInt, 0);
  const Block* prepare = b.block([&] { b.set(tests, tests + 1); });
  const Block* body = b.block([&] { b.set(x, x + 1); });
  b.stmt(Loop{prepare, *x < b.convert(b.idx(), kInt), nullptr, body});
  b.stmt(DoLoop{body, prepare, *x < 2});
  b.set(out(b.idx()), tests * 10 + x);
  CHECK(run(b.finish(), 3) == std::vector<std::int32_t>{32, 32, 43});
}

TEST_CASE("return ends the kernel for the work-items that reach it") {
  IrBuilder b("early");
  auto out = b.array("out", kInt, 1);
  b.count("i", kInt, 0, 5, [&](A i) {
    b.if_(b.convert(b.idx(), kInt) == *i, [&] {
      b.set(out(b.idx()), i * 10);
      b.ret();
    });
  });
  b.set(out(b.idx()), 99);
  CHECK(run(b.finish(), 7) == std::vector<std::int32_t>{0, 10, 20, 30, 40, 99, 99});
}

TEST_CASE("functions take values, arrays and aliases, and return from anywhere") {
  IrBuilder b("caller");
  const Function* pick = b.function("pick", kInt, [&] {
    auto values = b.array("values", kInt, 2, {.readOnly = true});
    auto n = b.scalar("n", kInt);
    b.if_(*n > 2, [&] { b.ret(b.lit(-1)); });
    b.set(n, n * 2);
    b.ret(values(1, n) + n);
  });
  const Function* bump = b.function("bump", kVoid, [&] {
    auto cell = b.aliasParam("cell", kInt);
    auto by = b.scalar("by", kInt);
    b.set(cell(0), cell(0) + by);
  });
  auto in = b.array("in", kInt, 2, {.readOnly = true});
  auto out = b.array("out", kInt, 1);
  auto r = b.var("r", kInt, 0);
  const E me = b.convert(b.idx(), kInt);
  b.call(pick, {b.whole(in), me}, r);
  b.set(out(b.idx()), *r);
  auto p = b.alias("p", kInt);
  b.bind(p, out(b.idx()));
  b.if_(*r > 0, [&] { b.call(bump, {b.whole(p), b.lit(1000)}); });
  const Kernel k = b.finish();
  std::vector<std::int32_t> table(2 * 6);
  std::iota(table.begin(), table.end(), 0);
  std::vector<std::int32_t> result(5, 7);
  interpret(k, range1(5, 5),
            {arrayArgument(table.data(), {2, 6}), arrayArgument(result.data(), {5})});
  CHECK(result == std::vector<std::int32_t>{1006, 1010, 1014, -1, -1});
}

TEST_CASE("functions may call functions and work on private and local arrays") {
  IrBuilder b("layers");
  const Function* twice = b.function("twice", kInt, [&] {
    auto x = b.scalar("x", kInt);
    b.ret(x * 2);
  });
  const Function* fill = b.function("fill", kVoid, [&] {
    auto values = b.array("values", kInt, 1, {.space = Space::Private});
    auto first = b.scalar("first", kInt);
    auto t = b.var("t", kInt);
    b.call(twice, {*first}, t);
    b.set(values(0), *t);
    b.call(twice, {*t}, t);
    b.set(values(1), *t);
  });
  auto out = b.array("out", kInt, 1);
  auto mine = b.local("mine", kInt, {2}, Space::Private);
  b.call(fill, {b.whole(mine), b.convert(b.idx(), kInt) + 1});
  b.set(out(b.idx()), mine(0) * 100 + mine(1));
  CHECK(run(b.finish(), 3) == std::vector<std::int32_t>{204, 408, 612});
}

TEST_CASE("a reduction in local memory needs its barriers") {
  const auto reduction = [](bool withBarrier) {
    IrBuilder b("reduction");
    auto out = b.array("out", kInt, 1);
    auto tile = b.local("tile", kInt, {8});
    b.set(tile(b.lidx()), b.convert(b.idx(), kInt));
    b.barrier();
    auto half = b.var("half", kInt, 4);
    b.at(21, "sum.cpp");
    b.while_(*half > 0, [&] {
      b.if_(b.convert(b.lidx(), kInt) < *half, [&] {
        b.set(tile(b.lidx()), tile(b.lidx()) + tile(b.convert(b.lidx(), kInt) + half));
      });
      if (withBarrier) b.barrier();
      b.set(half, half / 2);
    });
    b.if_(b.lidx() == 0, [&] { b.set(out(b.gidx()), tile(0)); });
    return b.finish();
  };
  std::vector<std::int32_t> sums(3, 0);
  InterpreterOptions options;
  options.detectRaces = true;
  interpret(reduction(true), range1(24, 8), {arrayArgument(sums.data(), {3})}, options);
  CHECK(sums == std::vector<std::int32_t>{28, 92, 156});
  CHECK_THROWS_WITH_AS(
      interpret(reduction(false), range1(24, 8), {arrayArgument(sums.data(), {3})}, options),
      "kernel 'reduction': data race on 'tile', element 2: read here and written by work-item (2) "
      "of the same group without a barrier in between, work-item (0), sum.cpp:21",
      hpl::KernelError);
}

TEST_CASE("a barrier that some work-items miss is an error that names one") {
  IrBuilder b("diverge");
  auto out = b.array("out", kInt, 1);
  b.at(5, "diverge.cpp");
  b.if_(b.idx() != 2, [&] { b.barrier(); });
  b.set(out(b.idx()), 1);
  const Kernel k = b.finish();
  std::vector<std::int32_t> out4(4);
  CHECK_THROWS_WITH_AS(
      interpret(k, range1(4, 4), {arrayArgument(out4.data(), {4})}),
      "kernel 'diverge': barrier in divergent control flow: work-item (2) does not "
      "reach it while others of its group do, diverge.cpp:5",
      hpl::KernelError);
  // Groups of one work-item cannot diverge.
  CHECK_NOTHROW(interpret(k, range1(4, 1), {arrayArgument(out4.data(), {4})}));
}

TEST_CASE("surplus work-items reach barriers, read zeros and change nothing outside their group") {
  IrBuilder b("masked");
  auto in = b.array("in", kInt, 1, {.readOnly = true});
  auto out = b.array("out", kInt, 1);
  auto counter = b.array("counter", kInt, 1);
  auto tile = b.local("tile", kInt, {4});
  b.set(tile(b.lidx()), in(b.idx()));
  b.barrier();
  auto old = b.var("old", kInt, 5);
  b.atomic(AtomicOp::Inc, counter(0), {}, old);
  b.set(out(b.idx()), tile(0) + tile(1) + tile(2) + tile(3));
  const Kernel k = b.finish();
  std::vector<std::int32_t> values{1, 2, 4, 8, 16, 32};
  std::vector<std::int32_t> sums(6, -1);
  std::int32_t count = 0;
  interpret(k, range1(6, 4),
            {arrayArgument(values.data(), {6}), arrayArgument(sums.data(), {6}),
             arrayArgument(&count, {1})});
  CHECK(sums == std::vector<std::int32_t>{15, 15, 15, 15, 48, 48});
  CHECK(count == 6);
}

TEST_CASE("without barriers surplus work-items do nothing") {
  IrBuilder b("rounded");
  auto out = b.array("out", kUlong, 2);
  b.set(out(b.idy(), b.idx()), b.query(Query::GlobalSize, 0) * 10 + b.query(Query::NumGroups, 1));
  const Kernel k = b.finish();
  std::vector<std::uint64_t> cells(5 * 3, 0);
  interpret(k, NDRange{2, {3, 5, 1}, {2, 4, 1}}, {arrayArgument(cells.data(), {5, 3})});
  for (const std::uint64_t cell : cells) CHECK(cell == 32);
}

TEST_CASE("many groups give the same whatever is executed together") {
  IrBuilder b("many");
  auto out = b.array("out", kInt, 1);
  auto x = b.var("x", kInt, b.convert(b.idx(), kInt));
  b.while_(*x >= 7, [&] { b.set(x, x - 7); });
  b.set(out(b.idx()), *x * 1000 + b.convert(b.gidx(), kInt));
  const auto result = run(b.finish(), 1000, 5);
  for (int i = 0; i < 1000; ++i) CHECK(result[static_cast<std::size_t>(i)] == i % 7 * 1000 + i / 5);
}

TEST_CASE("a loop without end is stopped when a limit is set") {
  IrBuilder b("endless");
  auto out = b.array("out", kInt, 1);
  b.at(3, "endless.cpp");
  b.while_(b.lit(1), [&] { b.set(out(b.idx()), 1); });
  InterpreterOptions options;
  options.maxLoopIterations = 100;
  CHECK_THROWS_WITH_AS(run(b.finish(), 1, 1, options),
                       "kernel 'endless': a loop runs longer than 100 iterations, endless.cpp:3 "
                       "(InterpreterOptions::maxLoopIterations)",
                       hpl::KernelError);
}

TEST_CASE("ranges and arguments that do not fit are refused") {
  IrBuilder b("strict");
  auto out = b.array("out", kInt, 2);
  auto n = b.scalar("n", kInt);
  auto tile = b.array("tile", kInt, 1, {.space = Space::Local});
  b.set(tile(0), *n);
  b.set(out(0, 0), tile(0));
  const Kernel k = b.finish();
  std::int32_t cell = 0;
  const Argument array = arrayArgument(&cell, {1, 1});
  const Argument scalar = scalarArgument(std::int32_t{4});
  const Argument local = LocalArgument{{1}};
  interpret(k, NDRange{}, {array, scalar, local});
  CHECK(cell == 4);
  CHECK_THROWS_WITH_AS(interpret(k, NDRange{}, {array, scalar}),
                       "kernel 'strict' takes 3 arguments, got 2", hpl::ArgumentError);
  CHECK_THROWS_WITH_AS(interpret(k, NDRange{}, {scalar, scalar, local}),
                       "kernel 'strict': argument 1 ('out') is an array of rank 2: pass an "
                       "ArrayArgument with as many extents (and strides, if any)",
                       hpl::ArgumentError);
  CHECK_THROWS_WITH_AS(
      interpret(k, NDRange{}, {array, scalarArgument(std::int64_t{4}), local}),
      "kernel 'strict': argument 2 ('n') is a int: pass a ScalarArgument of 4 bytes",
      hpl::ArgumentError);
  CHECK_THROWS_WITH_AS(interpret(k, NDRange{}, {array, scalar, array}),
                       "kernel 'strict': argument 3 ('tile') is a local array of rank 1: pass a "
                       "LocalArgument with as many extents",
                       hpl::ArgumentError);
  CHECK_THROWS_WITH_AS(interpret(k, NDRange{1, {0, 1, 1}, {1, 1, 1}}, {array, scalar, local}),
                       "kernel 'strict': the global size of dimension 0 is 0; sizes are at least 1",
                       hpl::LaunchError);
}

}  // namespace interpreter_control_tests
