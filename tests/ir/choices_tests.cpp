// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/choices.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/ir/printer.h"
#include "hpl/ir/verifier.h"
#include "tests/ir/index_kernel.h"
#include "tests/ir/random_kernel.h"
#include "tests/ir/touch_evaluator.h"
#include "tests/seeds.h"

namespace choices_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

/// The text of a kernel of one vector `v` with choices; each statement is a line.
struct Fixture {
  IrBuilder b{"k"};
  A v = b.array("v", kInt, 1);
  A n = b.scalar("n", kInt);
  E x = b.cast(kInt, b.query(Query::GlobalId, 0));
  E size = b.cast(kInt, b.query(Query::GlobalSize, 0));

  A declare(const std::string& name, E value) { return b.var(name, kInt, value); }
  void use(E index) { b.set(v(x), v(index)); }
};

std::shared_ptr<const Kernel> chosen(const Kernel& kernel, const SizesInScalars& sizes = {}) {
  auto result = withChoices(std::make_shared<Kernel>(kernel), sizes);
  verify(*result);
  return result;
}

/// The body's text, without its first and last line.
std::string bodyOf(const Kernel& kernel) {
  const std::string text = print(kernel, {.lines = false});
  const std::size_t begin = text.find('{') + 2, end = text.rfind('}');
  return text.substr(begin, end - begin);
}

std::string textOf(const std::function<void(Fixture&)>& build, const SizesInScalars& sizes = {}) {
  Fixture f;
  build(f);
  return bodyOf(*chosen(f.b.finish(), sizes));
}

bool isKept(const std::function<void(Fixture&)>& build) {
  Fixture f;
  build(f);
  const auto kernel = std::make_shared<const Kernel>(f.b.finish());
  return withChoices(kernel) == kernel;
}

}  // namespace

TEST_CASE("an integer that a branch changes is chosen") {
  CHECK(textOf([](Fixture& f) {
          A i = f.declare("i", f.x + 1);
          f.b.if_(*i == f.size, [&] { f.b.set(i, 0); });
          f.use(*i);
        }) ==
        "  int i_0 = (int)idx + 1;\n"
        "  int i = i_0 == (int)szx ? 0 : i_0;\n"
        "  v[(int)idx] = v[i];\n");
}

TEST_CASE("each value of an integer has a name, also between its changes") {
  CHECK(textOf([](Fixture& f) {
          A i = f.declare("i", f.x), j = f.b.var("j", kInt);
          f.b.if_(
              *i > 3,
              [&] {
                f.b.set(i, *i - 1);
                f.b.set(j, f.x + 5);
              },
              [&] { f.b.set(j, 2); });
          f.use(*i + *j);
          f.b.set(j, *i * 2);
          f.b.count("k", kInt, 0, 3, [&](A k) { f.use(*i + *j + *k); });
        }) ==
        "  int i_0 = (int)idx;\n"
        "  int i = i_0 > 3 ? i_0 - 1 : i_0;\n"
        "  int j_0 = i_0 > 3 ? (int)idx + 5 : 2;\n"
        "  v[(int)idx] = v[i + j_0];\n"
        "  int j = i * 2;\n"
        "  int k = 0;\n"
        "  for (; k < 3; k = k + 1) {\n"
        "    v[(int)idx] = v[i + j + k];\n"
        "  }\n");
}

TEST_CASE("a remainder by the domain's size is one where it is no id") {
  CHECK(textOf([](Fixture& f) { f.use((f.x + 1) % f.size); }) ==
        "  v[(int)idx] = v[(int)idx + 1 < (int)szx ? (int)idx + 1 : ((int)idx + 1) % (int)szx];\n");
  CHECK(textOf([](Fixture& f) { f.use((f.x + f.size - 2) % f.size); }) ==
        "  v[(int)idx] = "
        "v[(int)idx >= 2 ? (int)idx - 2 : ((int)idx + (int)szx - 2) % (int)szx];\n");
  CHECK(textOf([](Fixture& f) { f.use(f.x % f.size); }) == "  v[(int)idx] = v[(int)idx];\n");
}

TEST_CASE("an id within limits is chosen") {
  const auto call = [](Fixture& f, Builtin builtin, std::vector<const Expr*> args) {
    return f.b.builtin(builtin, kInt, args);
  };
  CHECK(textOf([&](Fixture& f) {
          f.use(call(f, Builtin::max_, {f.b.lit(0), f.x - 1}));
        }) == "  v[(int)idx] = v[(int)idx - 1 >= 0 ? (int)idx - 1 : 0];\n");
  CHECK(textOf([&](Fixture& f) {
          f.use(call(f, Builtin::clamp_, {f.x + 1, f.b.lit(0), f.size - 1}));
        }) ==
        "  v[(int)idx] = v[((int)idx + 1 >= 0 ? (int)idx + 1 : 0) <= (int)szx - 1 ? "
        "((int)idx + 1 >= 0 ? (int)idx + 1 : 0) : (int)szx - 1];\n");
  CHECK(isKept([&](Fixture& f) { f.use(call(f, Builtin::min_, {f.x, *f.n})); }));
  CHECK(isKept([&](Fixture& f) { f.use(call(f, Builtin::min_, {f.v(f.x), f.b.lit(7)})); }));
}

TEST_CASE("short loops over neighbours that ask for the ends are written out") {
  CHECK(textOf([](Fixture& f) {
          f.b.count("k", kInt, -1, 2, [&](A k) {
            A i = f.declare("i", f.x + *k);
            f.b.if_(*k != 0 && *i >= 0, [&] { f.use(*i); });
          });
        }) ==
        "  int k = 2;\n"
        "  int i_0 = (int)idx + -1;\n"
        "  if (i_0 >= 0) {\n"
        "    v[(int)idx] = v[i_0];\n"
        "  }\n"
        "  int i_1 = (int)idx + 0;\n"
        "  int i_2 = (int)idx + 1;\n"
        "  if (i_2 >= 0) {\n"
        "    v[(int)idx] = v[i_2];\n"
        "  }\n");
}

TEST_CASE("the variable of a loop that is written out has its last value afterwards") {
  CHECK(textOf([](Fixture& f) {
          A k = f.b.var("k", kInt, f.b.lit(7));
          f.use(*k);
          f.b.set(k, f.b.lit(1));
          f.b.for_(
              *k <= 2, [&] { f.b.set(k, *k + 1); },
              [&] { f.use(f.b.select(f.x < *k, f.x, f.x - *k)); });
          f.use(*k);
        }) ==
        "  int k = 7;\n"
        "  v[(int)idx] = v[k];\n"
        "  k = 3;\n"
        "  v[(int)idx] = v[(int)idx < 1 ? (int)idx : (int)idx - 1];\n"
        "  v[(int)idx] = v[(int)idx < 2 ? (int)idx : (int)idx - 2];\n"
        "  v[(int)idx] = v[k];\n");
}

TEST_CASE("other loops stay") {
  // Nothing to decide.
  CHECK(isKept([](Fixture& f) { f.b.count("k", kInt, 0, 3, [&](A k) { f.use(f.x + *k); }); }));
  // Too long.
  CHECK(isKept([](Fixture& f) {
    f.b.count("k", kInt, 0, 10, [&](A k) { f.use(f.b.select(f.x < *k, f.x, f.x + *k)); });
  }));
  // Left before its end.
  CHECK(isKept([](Fixture& f) {
    f.b.count("k", kInt, 0, 3, [&](A k) {
      f.use(f.x + *k);
      f.b.if_(f.x == *k, [&] { f.b.break_(); });
    });
  }));
  // It changes its variable itself.
  CHECK(isKept([](Fixture& f) {
    f.b.count("k", kInt, 0, 3, [&](A k) {
      f.use(f.b.select(f.x < *k, f.x, f.x + *k));
      f.b.set(k, *k + 1);
    });
  }));
}

TEST_CASE("which cells a choice means is known by what it asks") {
  Fixture f;
  A i = f.declare("i", f.x - 2);
  f.b.if_(*i < 0, [&] { f.b.set(i, *i + f.size); });
  f.b.if_(*i >= f.size, [&] { f.b.set(i, *i - f.size); });
  f.use(*i);
  const auto kernel = chosen(f.b.finish());
  CHECK(toString(analyze(*kernel).arrays.front().reads.front()) ==
        "[idx-2 or {-2..0} or szx+{-2..-1}]");
}

TEST_CASE("what is no cheap choice of an integer stays as it is") {
  // A load, which may lie outside of the array.
  CHECK(isKept([](Fixture& f) {
    A i = f.declare("i", f.x);
    f.b.if_(*i > 3, [&] { f.b.set(i, f.v(*i)); });
    f.use(*i);
  }));
  // Changed in a loop, too.
  CHECK(isKept([](Fixture& f) {
    A i = f.declare("i", f.x);
    f.b.if_(*i > 3, [&] { f.b.set(i, 0); });
    f.b.count("k", kInt, 0, 30, [&](A k) { f.b.set(i, *i + *k); });
    f.use(*i);
  }));
  // Declared outside of the block.
  CHECK(isKept([](Fixture& f) {
    A i = f.declare("i", f.x);
    f.b.count("k", kInt, 0, 30, [&](A k) { f.b.if_(*k > 1, [&] { f.b.set(i, 0); }); });
    f.use(*i);
  }));
  // No value where the branch is not taken.
  CHECK(isKept([](Fixture& f) {
    A i = f.b.var("i", kInt);
    f.b.if_(f.x > 3, [&] { f.b.set(i, 0); });
    f.use(*i);
  }));
  // A branch that does something else, too.
  CHECK(isKept([](Fixture& f) {
    A i = f.declare("i", f.x);
    f.b.if_(*i > 3, [&] {
      f.b.set(i, 0);
      f.b.set(f.v(f.x), 1);
    });
    f.use(*i);
  }));
  // No choices.
  CHECK(isKept([](Fixture& f) {
    A i = f.declare("i", f.x);
    f.b.set(i, *i + 1);
    f.use(*i);
  }));
}

TEST_CASE("remainders by other numbers, and of other ids, stay as they are") {
  CHECK(isKept([](Fixture& f) { f.use((f.x + 1) % f.n); }));
  CHECK(isKept([](Fixture& f) { f.use((f.x + 1) % 64); }));
  CHECK(isKept([](Fixture& f) { f.use((f.x + 1) % (f.size - 1)); }));
  CHECK(isKept([](Fixture& f) { f.use((f.x * 2) % f.size); }));
  CHECK(isKept(
      [](Fixture& f) { f.use((f.b.cast(kInt, f.b.query(Query::GlobalId, 1)) + 1) % f.size); }));
  // A number below 0 remains one.
  CHECK(isKept([](Fixture& f) { f.use((f.x - 1) % f.size); }));
}

TEST_CASE("a remainder by a scalar is a choice where launches give the domain's size") {
  const auto next = [](Fixture& f) { f.use((f.x + 1) % *f.n); };
  CHECK(textOf(next, {0, 0b1}) ==
        "  v[(int)idx] = v[(int)idx + 1 < n ? (int)idx + 1 : ((int)idx + 1) % n];\n");
  // Both axes of a square.
  CHECK(textOf(next, {0, 0b11}) == textOf(next, {0, 0b1}));
  // The size along another axis.
  CHECK(textOf(next, {0, 0b10}) == textOf(next));
  CHECK(textOf([](Fixture& f) { f.use((f.x + *f.n - 1) % *f.n); }, {0, 0b1}) ==
        "  v[(int)idx] = v[(int)idx >= 1 ? (int)idx - 1 : ((int)idx + n - 1) % n];\n");
  // After the kernel has changed it, the value of the scalar is unknown.
  const auto changed = [](Fixture& f) {
    f.b.set(f.n, *f.n - 1);
    f.use((f.x + 1) % *f.n);
  };
  CHECK(textOf(changed, {0, 0b1}) == textOf(changed));
}

TEST_CASE("kernels ask for the sizes that would make choices") {
  const auto asked = [](const std::function<void(Fixture&)>& build) {
    Fixture f;
    build(f);
    return sizesAskedFor(*chosen(f.b.finish()));
  };
  using Asked = std::vector<std::size_t>;
  CHECK(asked([](Fixture& f) { f.use((f.x + 1) % *f.n); }) == Asked{1});
  CHECK(asked([](Fixture& f) {
          f.use(f.b.builtin(Builtin::min_, kInt, {f.x + 1, *f.n - 1}));
        }) == Asked{1});
  CHECK(asked([](Fixture& f) {
          A right = f.declare("right", f.x + 1);
          f.b.if_(*right == *f.n, [&] { f.b.set(right, 0); });
          f.use(*right);
        }) == Asked{1});
  CHECK(asked([](Fixture& f) { f.use((f.x + 1) % f.size); }) == Asked{});
  CHECK(asked([](Fixture& f) { f.use(*f.n % 7); }) == Asked{});
  CHECK(asked([](Fixture& f) { f.b.if_(f.x < *f.n, [&] { f.use(f.x); }); }) == Asked{});
}

TEST_CASE("expressions that share parts exponentially often are rewritten once per node") {
  Fixture f;
  A i = f.b.var("i", kInt);
  E e = f.x + f.size;
  for (int k = 0; k < 60; ++k) e = e + e;
  f.b.set(f.v(f.x), e);
  f.b.set(i, f.x);
  f.b.if_(*i > 3, [&] { f.b.set(i, 0); });
  f.b.set(f.v(*i), e + *i);
  f.use((f.x + 1) % f.size);
  chosen(f.b.finish());
}

TEST_CASE("random kernels with choices touch and compute what they touched and computed") {
  int changed = 0, compared = 0;
  const Seeds seeds(1, 1500);
  for (const unsigned seed : seeds) {
    CAPTURE(seed);
    IndexKernel random(seed);
    const auto kernel = std::make_shared<const Kernel>(random.kernel);
    // Half of the kernels are told along which axes `n` is the domain's size.
    const unsigned axesOfN = seed % 2 == 0 ? 0 : seed / 2 % 8;
    const auto other = withChoices(kernel, random.sizesInN(axesOfN));
    if (other == kernel) continue;
    ++changed;
    REQUIRE_NOTHROW(verify(*other));
    std::mt19937 values(seed);
    for (int item = 0; item < 8; ++item) {
      TouchEvaluator before;
      for (const A& array : {random.matrix, random.vector, random.other}) {
        auto& storage = before.arrays[array.v];
        storage.extents.assign(static_cast<std::size_t>(array.v->rank),
                               array.v->rank == 1 ? kLength : kExtent);
        std::int64_t size = 1;
        for (const std::int64_t extent : storage.extents) size *= extent;
        for (std::int64_t i = 0; i < size; ++i)
          storage.cells.push_back(static_cast<std::int64_t>(values() % 16));
      }
      before.scalars[random.n.v] = static_cast<std::int64_t>(values() % 12);
      TouchEvaluator after = before;
      after.mostSteps *= 2;
      std::vector<std::int64_t> ids, sizes;
      for (int d = 0; d < 3; ++d) {
        ids.push_back(static_cast<std::int64_t>(values() % 9));
        sizes.push_back(ids.back() + 1 + static_cast<std::int64_t>(values() % 3));
      }
      if (axesOfN != 0) {
        const std::int64_t size = *std::max_element(sizes.begin(), sizes.end());
        for (std::size_t d = 0; d < 3; ++d)
          if ((axesOfN >> d & 1U) != 0) sizes[d] = size;
        before.scalars[random.n.v] = after.scalars[random.n.v] = size;
      }
      try {
        before.run(*kernel->entry, ids, sizes);
      } catch (const TouchEvaluator::Illegal&) {
        continue;
      }
      ++compared;
      CAPTURE(print(*kernel));
      CAPTURE(print(*other));
      REQUIRE_NOTHROW(after.run(*other->entry, ids, sizes));
      REQUIRE(before.touches.size() == after.touches.size());
      for (std::size_t i = 0; i < before.touches.size(); ++i) {
        REQUIRE(before.touches[i].array == after.touches[i].array);
        REQUIRE(before.touches[i].index == after.touches[i].index);
        REQUIRE(before.touches[i].write == after.touches[i].write);
      }
      for (const auto& [array, storage] : before.arrays)
        REQUIRE(storage.cells == after.arrays.at(array).cells);
    }
  }
  MESSAGE(changed << " kernels changed, " << compared << " work-items compared");
  CHECK(changed > 100);
  CHECK(compared > 500);
}

TEST_CASE("random kernels of all kinds compute the same with choices") {
  int changed = 0;
  for (const unsigned seed : Seeds(1, 1000)) {
    CAPTURE(seed);
    RandomKernel random = makeRandomKernel(seed);
    const auto kernel = std::make_shared<const Kernel>(random.kernel);
    const auto other = withChoices(kernel);
    if (other == kernel) continue;
    ++changed;
    REQUIRE_NOTHROW(verify(*other));
    const auto expected = interpretRandomKernel(random);
    random.kernel = *other;
    CAPTURE(print(*kernel));
    CAPTURE(print(*other));
    REQUIRE(interpretRandomKernel(random) == expected);
  }
  MESSAGE(changed << " kernels changed");
  CHECK(changed > 0);
}

}  // namespace choices_tests
