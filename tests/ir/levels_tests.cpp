// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/levels.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hpl/ir/verifier.h"
#include "tests/ir/ir_builder.h"

namespace levels_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

struct Fixture {
  IrBuilder b{"k"};
  A u = b.array("u", kInt, 2);
  A t = b.scalar("t", kInt), s = b.scalar("s", kInt);

  E id() { return b.cast(kInt, b.query(Query::GlobalId, 0)); }
  /// Level `to` is computed from the neighbours in `from`.
  void step(E to, E from) { b.set(u(to, id()), u(from, id() + 1)); }
  void step(int to, int from) { step(b.lit(kInt, to), b.lit(kInt, from)); }
};

using Build = std::function<void(Fixture&)>;

std::shared_ptr<const Kernel> made(const Build& build) {
  Fixture f;
  build(f);
  auto kernel = std::make_shared<const Kernel>(f.b.finish());
  verify(*kernel);
  return kernel;
}

std::vector<LevelScalar> scalarsOf(const Build& build) {
  const auto kernel = made(build);
  return levelScalarsOf(*kernel, analyze(*kernel));
}

/// The accesses of the kernel for these values, and whether no level is read and written.
std::string withValues(const Build& build, const std::vector<std::uint64_t>& values) {
  const auto kernel = made(build);
  const auto scalars = levelScalarsOf(*kernel, analyze(*kernel));
  REQUIRE(scalars.size() == values.size());
  const auto known = withLevels(*kernel, scalars, values);
  verify(*known);
  const AccessSummary summary = analyze(*known);
  const ArrayAccess& access = summary.arrays.front();
  return toString(access.reads.front()) + " -> " + toString(access.writes.front()) +
         (access.readsOtherLevels(1) ? "" : ", meet");
}

/// The scalar t, which chooses levels of u.
LevelScalar byPeriod(std::uint64_t period, int parameter = 1, std::uint64_t least = 0) {
  return {parameter, period, least, {{0, 0}}};
}

}  // namespace

TEST_CASE("scalars that choose levels are found, and by which number their remainder counts") {
  const auto one = [](const LevelScalar& scalar) { return std::vector<LevelScalar>{scalar}; };
  CHECK(scalarsOf([](Fixture& f) { f.step((*f.t + 1) % 2, *f.t % 2); }) == one(byPeriod(2)));
  CHECK(scalarsOf([](Fixture& f) { f.step(1 - *f.t % 2, *f.t % 2); }) == one(byPeriod(2)));
  CHECK(scalarsOf([](Fixture& f) { f.step((*f.t - 1) & 1, *f.t & 1); }) == one(byPeriod(2)));
  CHECK(scalarsOf([](Fixture& f) {
          A now = f.b.var("now", kInt, *f.t % 2);
          f.step(1 - *now, *now);
        }) == one(byPeriod(2)));
  CHECK(scalarsOf([](Fixture& f) { f.step(1 - *f.t, *f.t); }) == one(byPeriod(0)));
  CHECK(scalarsOf([](Fixture& f) { f.step((*f.t + 1) % 3, *f.t % 3); }) == one(byPeriod(3)));
  CHECK(scalarsOf([](Fixture& f) { f.step(*f.t % 2, *f.t % 3); }) == one(byPeriod(6)));
  // A difference may be negative, and -1 % 2 is -1.
  CHECK(scalarsOf([](Fixture& f) { f.step((*f.t - 1) % 3, *f.t % 3); }) == one(byPeriod(3, 1, 1)));
  CHECK(scalarsOf([](Fixture& f) { f.step((*f.t + 1 - 1 - 2) % 3, *f.t % 3); }) ==
        one(byPeriod(3, 1, 3)));
  CHECK(scalarsOf([](Fixture& f) { f.step((*f.t - 1) % 3, *f.t); }) == one(byPeriod(0, 1, 1)));
  CHECK(scalarsOf([](Fixture& f) { f.step(*f.t, *f.t % 2); }) == one(byPeriod(0)));
  CHECK(scalarsOf([](Fixture& f) { f.step(*f.s, *f.t); }) ==
        std::vector<LevelScalar>{byPeriod(0, 1), byPeriod(0, 2)});
}

TEST_CASE("no levels: ids, memory, variables that change, arrays that are only written") {
  CHECK(scalarsOf([](Fixture& f) { f.step(f.id() + *f.t, f.id()); }).empty());
  CHECK(scalarsOf([](Fixture& f) { f.step(f.u(0, 0), f.u(1, 1)); }).empty());
  CHECK(scalarsOf([](Fixture& f) {
          A now = f.b.var("now", kInt, *f.t);
          f.b.set(now, *now + 1);
          f.step(*now, f.u(0, 0));
        }).empty());
  CHECK(scalarsOf([](Fixture& f) { f.b.set(f.u(*f.t, f.id()), 1); }).empty());
  CHECK(scalarsOf([](Fixture& f) { f.step(1, 0); }).empty());
}

TEST_CASE("a number in the place of a scalar tells levels apart") {
  const Build byBit = [](Fixture& f) { f.step((*f.t + 1) % 2, *f.t % 2); };
  CHECK(withValues(byBit, {0}) == "[0] -> [1]");
  CHECK(withValues(byBit, {1}) == "[1] -> [0]");
  CHECK(withValues([](Fixture& f) { f.step((*f.t + *f.t + 1) % 2, (*f.t + 3) & 1); }, {1}) ==
        "[0] -> [1]");
  const Build byNumber = [](Fixture& f) { f.step(1 - *f.t, *f.t); };
  CHECK(withValues(byNumber, {0}) == "[0] -> [1]");
  CHECK(withValues(byNumber, {1}) == "[1] -> [0]");
  CHECK(withValues([](Fixture& f) { f.step(*f.t ^ 1, *f.t); }, {1}) == "[1] -> [0]");
  CHECK(withValues([](Fixture& f) { f.step(f.b.lit(kInt, 1) ^ *f.t, *f.t + 2); }, {1}) ==
        "[3] -> [0]");
  const Build byTwo = [](Fixture& f) { f.step(*f.s, *f.t); };
  CHECK(withValues(byTwo, {3, 7}) == "[3] -> [7]");
  CHECK(withValues(byTwo, {3, 3}) == "[3] -> [3], meet");
  CHECK(withValues([](Fixture& f) { f.step((*f.t + 1) % 3, *f.t % 3); }, {2}) == "[2] -> [0]");
  const Build difference = [](Fixture& f) { f.step(*f.t % 3, (*f.t + 3 - 4) % 3); };
  CHECK(withValues(difference, {4}) == "[0] -> [1]");
  CHECK(withValues(difference, {6}) == "[2] -> [0]");
  // Of a difference that has no scalar to the left, or that subtracts one, nothing is known.
  const auto meets = [](const Build& build) {
    return withValues(build, {5}).find("meet") != std::string::npos;
  };
  CHECK(meets([](Fixture& f) { f.step(*f.t % 3, (f.b.lit(kInt, 1) - 3 + *f.t) % 3); }));
  CHECK(meets([](Fixture& f) { f.step(*f.t % 3, (7 - *f.t) % 3); }));
}

TEST_CASE("levels that are also read at the same index, and elements that somebody else writes") {
  const auto meets = [](const Build& build) {
    const auto kernel = made(build);
    return !analyze(*kernel).arrays.front().readsOtherLevels(1);
  };
  CHECK_FALSE(
      meets([](Fixture& f) { f.b.set(f.u(1, f.id()), f.u(1, f.id()) + f.u(0, f.id() + 1)); }));
  CHECK(meets([](Fixture& f) { f.b.set(f.u(1, f.id()), f.u(0, f.id()) + f.u(1, f.id() + 1)); }));
  CHECK(meets([](Fixture& f) {
    f.step(1, 0);
    f.step(0, 1);
  }));
  CHECK_FALSE(meets([](Fixture& f) {
    f.step(2, 0);
    f.step(1, 0);
  }));
}

}  // namespace levels_tests
