// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstring>
#include <numeric>

#include "hpl/error.h"
#include "hpl/ir/interpreter.h"
#include "tests/ir/ir_builder.h"

namespace interpreter_memory_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

NDRange range1(std::uint64_t global, std::uint64_t local) {
  return NDRange{1, {global, 1, 1}, {local, 1, 1}};
}

InterpreterOptions checkUninitialised() {
  InterpreterOptions options;
  options.detectUninitialised = true;
  return options;
}
InterpreterOptions checkRaces() {
  InterpreterOptions options;
  options.detectRaces = true;
  return options;
}

}  // namespace

TEST_CASE("an access outside a global array names array, index, extent, work-item and line") {
  IrBuilder b("blur");
  auto a = b.array("a", kFloat, 2);
  b.at(17, "blur.cpp");
  b.set(a(b.idy(), b.idx()), 1);
  const Kernel k = b.finish();
  std::vector<float> height(64 * 64);
  CHECK_THROWS_WITH_AS(
      interpret(k, NDRange{2, {65, 64, 1}, {5, 1, 1}},
                {arrayArgument(height.data(), {64, 64}, "height")}),
      "kernel 'blur': a[0][64] is out of bounds: index 64 in dimension 2 of 'height' (extent 64), "
      "work-item (64, 0), blur.cpp:17",
      hpl::BoundsError);
}

TEST_CASE("indices below zero are reported as such, whatever their type") {
  IrBuilder b("left");
  auto a = b.array("a", kInt, 1);
  b.set(a(b.idx()), a(b.idx() - 1));
  const Kernel k = b.finish();
  std::vector<std::int32_t> cells(4);
  CHECK_THROWS_WITH_AS(interpret(k, range1(4, 4), {arrayArgument(cells.data(), {4})}),
                       "kernel 'left': a[-1] is out of bounds: index -1 in dimension 1 (extent 4), "
                       "work-item (0)",
                       hpl::BoundsError);
}

TEST_CASE("private and local arrays are checked, in functions too") {
  for (const Space space : {Space::Private, Space::Local}) {
    IrBuilder b("kernel");
    const Function* write = b.function("write", kVoid, [&] {
      auto v = b.array("v", kInt, 1, {.space = space});
      auto i = b.scalar("i", kInt);
      b.set(v(i), 1);
    });
    auto out = b.array("out", kInt, 1);
    auto mine = b.local("mine", kInt, {3}, space);
    b.call(write, {b.whole(mine), b.convert(b.idx(), kInt)});
    b.set(out(b.idx()), 1);
    const Kernel k = b.finish();
    std::vector<std::int32_t> cells(4);
    CHECK_THROWS_WITH_AS(interpret(k, range1(4, 2), {arrayArgument(cells.data(), {4})}),
                         "kernel 'kernel', function 'write': v[3] is out of bounds: index 3 in "
                         "dimension 1 of 'mine' (extent 3), work-item (3)",
                         hpl::BoundsError);
  }
}

TEST_CASE("aliases start anywhere in any memory and may look back") {
  IrBuilder b("stencil");
  auto in = b.array("in", kInt, 2, {.readOnly = true});
  auto out = b.array("out", kInt, 1);
  auto p = b.alias("p", kInt, Space::Global, true);
  b.bind(p, in(1, b.idx()));
  // One row up, one down, and one step to the right through a second alias.
  auto q = b.alias("q", kInt, Space::Global, true);
  b.bind(q, p(1));
  b.set(out(b.idx()), p(-4) * 10000 + p(4) * 100 + q(0));
  const Kernel k = b.finish();
  std::vector<std::int32_t> cells(12);
  std::iota(cells.begin(), cells.end(), 10);
  std::vector<std::int32_t> result(4);
  interpret(k, range1(4, 2),
            {arrayArgument(cells.data(), {3, 4}), arrayArgument(result.data(), {4})});
  CHECK(result == std::vector<std::int32_t>{101815, 111916, 122017, 132118});
  CHECK_THROWS_WITH_AS(
      interpret(k, range1(4, 1),
                {arrayArgument(cells.data(), {2, 4}, "image"), arrayArgument(result.data(), {4})}),
      "kernel 'stencil': p[4] is out of bounds: it is element 8 of 'image' (elements 0 to 7), "
      "work-item (0)",
      hpl::BoundsError);
}

TEST_CASE("an alias differs between work-items, even in the memory that it points into") {
  IrBuilder b("either");
  auto out = b.array("out", kInt, 1);
  auto tile = b.local("tile", kInt, {2});
  auto mine = b.local("mine", kInt, {2}, Space::Private);
  auto p = b.alias("p", kInt, Space::Private);
  b.set(mine(1), b.convert(b.idx(), kInt) + 5);
  b.bind(p, mine(0));
  b.set(tile(b.lidx()), p(1) * 2);
  b.barrier();
  auto q = b.alias("q", kInt, Space::Local);
  b.bind(q, tile(1));
  b.set(out(b.idx()), q(-1) * 100 + q(0));
  const Kernel k = b.finish();
  std::vector<std::int32_t> result(4);
  interpret(k, range1(4, 2), {arrayArgument(result.data(), {4})}, checkUninitialised());
  CHECK(result == std::vector<std::int32_t>{1012, 1012, 1416, 1416});
}

TEST_CASE("an unbound alias is reported") {
  IrBuilder b("loose");
  auto out = b.array("out", kInt, 1);
  auto p = b.alias("p", kInt);
  b.set(out(0), p(0));
  const Kernel k = b.finish();
  std::int32_t cell = 0;
  CHECK_THROWS_WITH_AS(interpret(k, NDRange{}, {arrayArgument(&cell, {1})}),
                       "kernel 'loose': the alias 'p' is used before it is bound to an element, "
                       "work-item (0)",
                       hpl::KernelError);
}

TEST_CASE("views with strides are written in place and nowhere else") {
  IrBuilder b("view");
  auto a = b.array("a", kShort, 2);
  b.set(a(b.idy(), b.idx()), b.convert(b.idy() * 10 + b.idx(), kShort));
  const Kernel k = b.finish();
  std::vector<std::int16_t> root(5 * 6, -1);
  ArrayArgument view = arrayArgument(root.data() + 6 + 2, {3, 2});
  view.strides = {6, 1};
  interpret(k, NDRange{2, {2, 3, 1}, {2, 1, 1}}, {view});
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 6; ++x) {
      const bool inside = y >= 1 && y < 4 && x >= 2 && x < 4;
      CHECK(root[static_cast<std::size_t>(y * 6 + x)] == (inside ? (y - 1) * 10 + x - 2 : -1));
    }
  }
}

TEST_CASE("parts of vectors, complex numbers and structs are assigned alone") {
  struct Cell {
    std::int8_t tag;
    float value[4];
  };
  static const StructType cellType{
      "Cell", {{"tag", kChar, 0}, {"value", vec(kFloat, 4), 4}}, sizeof(Cell), 4};
  const Type cell{Scalar::Void, 1, false, &cellType};
  IrBuilder b("parts");
  auto cells = b.array("cells", cell, 1);
  auto numbers = b.array("numbers", complexOf(kDouble), 1);
  const E mine = cells(b.idx());
  b.set(mine.field(1).lane({2, 0}),
        b.construct(vec(kFloat, 2), {b.real(kFloat, 5), b.real(kFloat, 6)}));
  auto copy = b.var("copy", cell, mine);
  b.set((*copy).field(0), 7);
  b.set((*copy).field(1).lane({1}), mine.field(1).lane({2}));
  b.set(cells(b.idx()), *copy);
  b.set(numbers(b.idx()).lane({1}), 3);
  const Kernel k = b.finish();
  std::vector<Cell> host(2, Cell{1, {1, 2, 3, 4}});
  std::vector<double> complexes{1, 1, 2, 2};
  interpret(k, range1(2, 1),
            {arrayArgument(host.data(), {2}), arrayArgument(complexes.data(), {2})},
            checkUninitialised());
  for (const Cell& c : host) {
    CHECK(c.tag == 7);
    CHECK(std::vector<float>(c.value, c.value + 4) == std::vector<float>{6, 5, 5, 4});
  }
  CHECK(complexes == std::vector<double>{1, 3, 2, 3});
}

TEST_CASE("swapping lanes of one vector reads before it writes") {
  IrBuilder b("swap");
  auto out = b.array("out", vec(kInt, 2), 1);
  auto v = b.var("v", vec(kInt, 2), b.construct(vec(kInt, 2), {b.lit(1), b.lit(2)}));
  b.set((*v).lane({0, 1}), (*v).lane({1, 0}));
  b.set(out(0), *v);
  const Kernel k = b.finish();
  std::int32_t result[2] = {};
  interpret(k, NDRange{}, {arrayArgument(result, {1})});
  CHECK(result[0] == 2);
  CHECK(result[1] == 1);
}

TEST_CASE("atomics return the old value and update the cell in work-item order") {
  struct Case {
    AtomicOp op;
    std::vector<std::int32_t> operands;
    std::int32_t start;
    std::int32_t end;
  };
  const std::vector<Case> cases{
      {AtomicOp::Add, {3}, 10, 22},         {AtomicOp::Sub, {3}, 10, -2},
      {AtomicOp::Inc, {}, 10, 14},          {AtomicOp::Dec, {}, 10, 6},
      {AtomicOp::Xchg, {7}, 10, 7},         {AtomicOp::CmpXchg, {10, 5}, 10, 5},
      {AtomicOp::CmpXchg, {11, 5}, 10, 10}, {AtomicOp::Min, {-4}, 10, -4},
      {AtomicOp::Max, {-4}, 10, 10},        {AtomicOp::And, {6}, 10, 2},
      {AtomicOp::Or, {5}, 10, 15},          {AtomicOp::Xor, {1}, 10, 10},
      {AtomicOp::Add, {2147483647}, 1, -3}};
  for (const Case& c : cases) {
    IrBuilder b("atomic");
    auto cell = b.array("cell", kInt, 1);
    auto olds = b.array("olds", kInt, 1);
    auto old = b.var("old", kInt, -99);
    std::vector<const Expr*> operands;
    for (const std::int32_t operand : c.operands) operands.push_back(b.lit(operand));
    b.atomic(c.op, cell(0), operands, old);
    b.set(olds(b.idx()), *old);
    const Kernel k = b.finish();
    std::int32_t value = c.start;
    std::vector<std::int32_t> seen(4);
    interpret(k, range1(4, 2), {arrayArgument(&value, {1}), arrayArgument(seen.data(), {4})},
              checkRaces());
    INFO(toString(c.op));
    CHECK(value == c.end);
    CHECK(seen[0] == c.start);
  }
}

TEST_CASE("unsigned minima, float exchange and counters in local memory") {
  IrBuilder b("more");
  auto u = b.array("u", kUint, 1);
  auto f = b.array("f", kFloat, 1);
  auto out = b.array("out", kInt, 1);
  auto count = b.local("count", kInt, {});
  b.if_(b.lidx() == 0, [&] { b.set(count, 0); });
  b.barrier();
  b.atomic(AtomicOp::Add, *count, {b.lit(2)});
  b.atomic(AtomicOp::Min, u(0), {b.lit(kUint, -1)});
  b.atomic(AtomicOp::Xchg, f(0), {b.real(kFloat, 1.5)});
  b.barrier();
  b.set(out(b.idx()), *count);
  const Kernel k = b.finish();
  std::uint32_t least = 5;
  float swapped = 0;
  std::vector<std::int32_t> counts(6);
  InterpreterOptions options = checkRaces();
  options.detectUninitialised = true;
  interpret(
      k, range1(6, 3),
      {arrayArgument(&least, {1}), arrayArgument(&swapped, {1}), arrayArgument(counts.data(), {6})},
      options);
  CHECK(least == 5);
  CHECK(swapped == 1.5f);
  CHECK(counts == std::vector<std::int32_t>(6, 6));
}

TEST_CASE("reading what was never written is reported on request") {
  IrBuilder b("fresh");
  auto out = b.array("out", kInt, 1);
  b.at(4, "fresh.cpp");
  auto x = b.var("x", kInt);
  b.if_(b.idx() < 2, [&] { b.set(x, 1); });
  b.set(out(b.idx()), *x);
  const Kernel k = b.finish();
  std::vector<std::int32_t> result(3);
  CHECK_NOTHROW(interpret(k, range1(3, 1), {arrayArgument(result.data(), {3})}));
  CHECK(result[1] == 1);
  CHECK_THROWS_WITH_AS(
      interpret(k, range1(3, 1), {arrayArgument(result.data(), {3})}, checkUninitialised()),
      "kernel 'fresh': 'x' is read before it is written, work-item (2), fresh.cpp:4",
      hpl::KernelError);
}

TEST_CASE("a declaration forgets the last iteration's value, and lanes are told apart") {
  IrBuilder b("forget");
  auto out = b.array("out", kFloat, 1);
  auto v = b.var("v", vec(kFloat, 2));
  b.set((*v).lane({1}), 2);
  b.set(out(0), (*v).lane({1}));
  b.count("i", kInt, 0, 2, [&](A i) {
    auto x = b.var("x", kFloat);
    b.if_(*i == 0, [&] { b.set(x, 1); });
    b.set(out(0), *x);
  });
  const Kernel k = b.finish();
  float result = 0;
  CHECK_THROWS_WITH_AS(interpret(k, NDRange{}, {arrayArgument(&result, {1})}, checkUninitialised()),
                       "kernel 'forget': 'x' is read before it is written, work-item (0)",
                       hpl::KernelError);
}

TEST_CASE("races between groups are found in overlapping arrays, atomics are exempt") {
  IrBuilder b("shift");
  auto to = b.array("to", kInt, 1);
  auto from = b.array("from", kInt, 1, {.readOnly = true});
  b.set(to(b.idx()), from(b.idx()));
  const Kernel k = b.finish();
  std::vector<std::int32_t> cells(9);
  CHECK_NOTHROW(interpret(k, range1(8, 2),
                          {arrayArgument(cells.data(), {8}), arrayArgument(cells.data(), {8})},
                          checkRaces()));
  CHECK_THROWS_WITH_AS(
      interpret(
          k, range1(8, 2),
          {arrayArgument(cells.data(), {8}, "to"), arrayArgument(cells.data() + 1, {8}, "from")},
          checkRaces()),
      "kernel 'shift': data race on 'to', element 1: written here and read by work-item (0) of the "
      "same group without a barrier in between, work-item (1)",
      hpl::KernelError);
}

}  // namespace interpreter_memory_tests
