// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/unfold.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "hpl/ir/printer.h"
#include "hpl/ir/verifier.h"
#include "tests/ir/ir_builder.h"
#include "tests/ir/touch_evaluator.h"

namespace unfold_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

/// A kernel of a vector `v` and a scalar `w`, which is parameter 1.
struct Fixture {
  IrBuilder b{"k"};
  A v = b.array("v", kInt, 1);
  A w = b.scalar("w", kInt);
  A other = b.scalar("other", kInt);
  E id = b.query(Query::GlobalId, 0);
  E i = b.cast(kInt, id);

  void use(E value) { b.set(v(i), value); }
};

using Build = std::function<void(Fixture&)>;

std::optional<RowLength> lengthOf(const Build& build) {
  Fixture f;
  build(f);
  const Kernel kernel = f.b.finish();
  verify(kernel);
  return rowLengthOf(kernel);
}

std::string bodyOf(const Kernel& kernel) {
  const std::string text = print(kernel, {.lines = false});
  const std::size_t begin = text.find('{') + 2, end = text.rfind('}');
  return text.substr(begin, end - begin);
}

const std::optional<RowLength> kByW = RowLength{1, 0};

}  // namespace

TEST_CASE("ids are divided by a scalar or a number") {
  CHECK(lengthOf([](Fixture& f) { f.use(f.i % *f.w); }) == kByW);
  CHECK(lengthOf([](Fixture& f) { f.use(f.i / *f.w + f.i % *f.w); }) == kByW);
  CHECK(lengthOf([](Fixture& f) { f.use(f.b.cast(kInt, f.id % f.b.cast(kUlong, *f.w))); }) == kByW);
  CHECK(lengthOf([](Fixture& f) {
          A x = f.b.var("x", kInt, f.i);
          f.use(*x % 128);
        }) == RowLength{-1, 128});
}

TEST_CASE("kernels that divide by several lengths, or by none, have none") {
  const auto hasNone = [](const Build& build) { return !lengthOf(build).has_value(); };
  CHECK(hasNone([](Fixture& f) { f.use(f.i + *f.w); }));
  // A quotient alone tells rows apart, but columns are not used.
  CHECK(hasNone([](Fixture& f) { f.use(f.i / *f.w); }));
  CHECK(hasNone([](Fixture& f) { f.use(f.i % *f.w + f.i % *f.other); }));
  CHECK(hasNone([](Fixture& f) { f.use(f.i % *f.w + f.i / 64); }));
  CHECK(hasNone([](Fixture& f) { f.use((f.i + 1) % *f.w); }));
  CHECK(hasNone([](Fixture& f) { f.use(f.i % (*f.w + 1)); }));
  CHECK(hasNone([](Fixture& f) {
    f.b.set(f.w, *f.w + 1);
    f.use(f.i % *f.w);
  }));
  // A variable that is an id at first is another number in the next turn.
  CHECK(hasNone([](Fixture& f) {
    A x = f.b.var("x", kInt, f.i);
    f.b.count("k", kInt, 0, 3, [&](A) {
      f.use(*x % *f.w);
      f.b.set(x, *x + 1);
    });
  }));
}

TEST_CASE("kernels whose work-items know more than their number stay as they are") {
  const auto hasNone = [](const Build& build) {
    return !lengthOf([&](Fixture& f) {
              f.use(f.i % *f.w);
              build(f);
            }).has_value();
  };
  CHECK(hasNone([](Fixture& f) { f.use(f.b.cast(kInt, f.b.query(Query::GlobalId, 1))); }));
  CHECK(hasNone([](Fixture& f) { f.use(f.b.cast(kInt, f.b.query(Query::LocalId, 0))); }));
  CHECK(hasNone([](Fixture& f) { f.use(f.b.cast(kInt, f.b.query(Query::Origin, 0))); }));
  CHECK(hasNone([](Fixture& f) { f.b.barrier(); }));
  CHECK(hasNone([](Fixture& f) { f.b.local("tile", kInt, {4}); }));
}

TEST_CASE("over rows and columns nothing is divided") {
  Fixture f;
  f.use(f.i / *f.w * 3 + f.i % *f.w + f.b.cast(kInt, f.b.query(Query::GlobalSize, 0)));
  const Kernel kernel = f.b.finish();
  const auto both = unfolded(kernel, RowLength{1, 0});
  verify(*both);
  CHECK(bodyOf(*both) ==
        "  v[(int)(idy * szx + idx)] = (int)idy * 3 + (int)idx + (int)(szy * szx);\n");
  // Another capture of the kernel may divide by something else.
  CHECK(bodyOf(*unfolded(kernel, RowLength{2, 0})).find('%') != std::string::npos);
}

TEST_CASE("unfolded kernels touch and compute what they touched and computed") {
  Fixture f;
  A x = f.b.var("x", kInt, f.i % *f.w), y = f.b.var("y", kInt, f.i / *f.w);
  f.b.if_(*x > 0 && *y > 0, [&] { f.use(f.v(f.i - *f.w) * 3 + f.v(f.i - 1) + *x * 5 + *y); });
  f.b.if_(*x == 0, [&] {
    f.use((f.i / *f.w + f.i % *f.w) * (f.b.cast(kInt, f.b.query(Query::GlobalSize, 0)) - f.i));
  });
  const Kernel kernel = f.b.finish();
  const auto both = unfolded(kernel, kByW.value());
  verify(*both);
  constexpr std::int64_t kRow = 7, kRows = 5;
  TouchEvaluator before;
  before.arrays[f.v.v].extents = {kRow * kRows};
  for (std::int64_t i = 0; i < kRow * kRows; ++i) before.arrays[f.v.v].cells.push_back(i * 11 % 17);
  before.scalars[f.w.v] = kRow;
  before.scalars[f.other.v] = 2;
  TouchEvaluator after = before;
  for (std::int64_t i = 0; i < kRow * kRows; ++i) {
    before.run(*kernel.entry, {i, 0, 0}, {kRow * kRows, 1, 1});
    after.run(*both->entry, {i % kRow, i / kRow, 0}, {kRow, kRows, 1});
  }
  REQUIRE(before.touches.size() == after.touches.size());
  for (std::size_t i = 0; i < before.touches.size(); ++i)
    CHECK(before.touches[i].index == after.touches[i].index);
  CHECK(before.arrays[f.v.v].cells == after.arrays[f.v.v].cells);
}

}  // namespace unfold_tests
