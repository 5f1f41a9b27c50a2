// SPDX-License-Identifier: Apache-2.0
// What the model thinks that a point function asks of a processor.
#include "hpl/strategies/point_cost.h"

#include <doctest/doctest.h>

#include "stencil_templates/detail/recipe.h"
#include "stencil_templates/detail/tile_choice.h"
#include "stencil_templates/stencil_templates.h"

namespace point_cost_tests {

using namespace hpl;
using namespace hpl::stencils;

namespace {

template <class F>
PointCost costOfPoint(F function) {
  const auto point = makePointFunction(std::move(function));
  return findFacts(*point, point->signature().outputs).cost;
}

using Cells = Neighbourhood<int, 2>;

auto neighboursOf(const Cells& p) {
  return p(-1, -1) + p(-1, 0) + p(-1, 1) + p(0, -1) + p(0, 1) + p(1, -1) + p(1, 0) + p(1, 1);
}

/// The best that the model knows for such a function in a grid of 8192 x 8192 cells.
std::string choiceFor(const PointCost& cost) {
  strategies::TimeProgram program;
  program.dims = 2;
  program.fields = {{0, 1}};
  program.steps = 2;
  strategies::TimeStage stage;
  strategies::TimeRead read;
  read.offsets[0] = read.offsets[1] = {-1, 1};
  stage.reads = {read};
  stage.writes = {0};
  program.stages = {stage};
  TileProblem problem;
  problem.program = &program;
  problem.cost = cost;
  problem.bytes = {4};
  problem.extents = {8192, 8192, 1};
  problem.units = 2;
  problem.localMemory = 1 << 20;
  std::string why;
  const TileEstimate best = bestDepth(problem, 100, why);
  return describe(problem, best.tile);
}

}  // namespace

TEST_CASE("point cost: what is written down twice counts once, as if it had a name") {
  const PointCost named = costOfPoint([](Cells p) {
    const Int n = neighboursOf(p);
    return cast<int>(n == 3 || (n == 2 && p(0, 0) == 1));
  });
  const PointCost unnamed = costOfPoint([](Cells p) {
    const auto n = neighboursOf(p);
    return cast<int>(n == 3 || (n == 2 && p(0, 0) == 1));
  });
  const PointCost repeated = costOfPoint([](Cells p) {
    return cast<int>(neighboursOf(p) == 3 || (neighboursOf(p) == 2 && p(0, 0) == 1));
  });
  // Seven additions, three comparisons, an "or" and an "and".
  CHECK(unnamed.operations == 12);
  CHECK(repeated.operations == 12);
  CHECK(named.operations == 12);
  for (const PointCost& cost : {named, unnamed, repeated}) {
    CHECK(cost.reads == 9);
    CHECK(cost.writes == 1);
    CHECK(choiceFor(cost) == choiceFor(named));
    CHECK(choiceFor(cost).find(" steps per pass in tiles of ") != std::string::npos);
  }
}

TEST_CASE("point cost: other operands, operations and types are other values") {
  const PointCost cost = costOfPoint([](Cells p) {
    return (p(0, 0) + p(0, 1)) * (p(0, 1) + p(0, 0)) + (p(0, 0) - p(0, 1)) * (p(0, 0) + 2);
  });
  CHECK(cost.operations == 7);
  CHECK(cost.reads == 2);
  const PointCost wide = costOfPoint([](Neighbourhood<float, 1> p) {
    return p(0) * p(1) + cast<float>(cast<double>(p(0)) * cast<double>(p(1)));
  });
  // The first product is one operation with the sum.
  CHECK(wide.operations == 2);
}

TEST_CASE("point cost: divisions and roots of floats cost little more than sums") {
  const auto costOfReal = [](auto function) { return costOfPoint(function).operations; };
  const double sum = costOfReal([](Neighbourhood<float, 1> p) { return p(0) + p(1); });
  const double quotient = costOfReal([](Neighbourhood<float, 1> p) { return p(0) / p(1); });
  const double root = costOfReal([](Neighbourhood<float, 1> p) { return sqrt(p(0)); });
  const double power = costOfReal([](Neighbourhood<float, 1> p) { return exp(p(0)); });
  CHECK(sum == 1);
  CHECK(quotient > sum);
  CHECK(quotient < 10);
  CHECK(root < 10);
  CHECK(power > 10 * sum);
  CHECK(costOfPoint([](Cells p) { return p(0, 0) / p(0, 1); }).operations > quotient);
}

TEST_CASE(
    "point cost: a product that is added is one operation with the sum, a shared one is not") {
  const auto costOfReal = [](auto function) { return costOfPoint(function).operations; };
  CHECK(costOfReal([](Neighbourhood<float, 1> p) { return p(0) * p(1) + p(2); }) == 1);
  CHECK(costOfReal([](Neighbourhood<float, 1> p) { return p(0) * p(1) + p(2) * p(3); }) == 2);
  CHECK(costOfReal([](Neighbourhood<float, 1> p) {
          const auto product = p(0) * p(1);
          return (product + p(2)) * (product + p(3));
        }) == 3);
  CHECK(costOfPoint([](Cells p) { return p(0, 0) * p(0, 1) + 1; }).operations == 2);
}

TEST_CASE("point cost: variables that change have other values after it") {
  const PointCost cost = costOfPoint([](Cells p) {
    Int sum = p(0, 0);
    const Int before = (sum + 1) * 3;
    sum = sum + p(0, 1);
    const Int after = (sum + 1) * 3;
    return before + after;
  });
  // Twice an addition and a product, the assignment's addition, and the last one.
  CHECK(cost.operations == 6);
  CHECK(cost.reads == 2);
}

TEST_CASE("point cost: bodies of loops still count for each cell that they read") {
  const PointCost cost = costOfPoint([](Neighbourhood<float, 1> p) {
    Float sum = 0.0f;
    Int i;
    for_(i = -3, i <= 3, i++) {
      sum += p(i) * 0.5f;
    }
    return sum;
  });
  CHECK(cost.reads == 7);
  CHECK(cost.operations >= 14);
}

TEST_CASE("point cost: integers are divided by constants with products, by variables one by one") {
  const auto costOfInts = [](auto function) { return costOfPoint(function).operations; };
  const double byVariable = costOfInts([](Cells p) { return p(0, 0) / p(0, 1); });
  const double byConstant = costOfInts([](Cells p) { return p(0, 0) / 159; });
  const double byNegative = costOfInts([](Cells p) { return p(0, 0) / -159; });
  const double byPower = costOfInts([](Cells p) { return p(0, 0) / 16; });
  const double remainder = costOfInts([](Cells p) { return p(0, 0) % 159; });
  const double byShift = costOfInts([](Neighbourhood<unsigned, 1> p) { return p(0) / 16u; });
  const double wide = costOfInts([](Neighbourhood<long, 1> p) { return p(0) / 159; });
  CHECK(byShift == 1);
  CHECK(byPower > byShift);
  CHECK(byConstant > byPower);
  CHECK(byNegative == byConstant);
  CHECK(remainder > byConstant);
  CHECK(remainder < 20);
  CHECK(wide > remainder);
  CHECK(byVariable > 10 * byConstant);
}

}  // namespace point_cost_tests
