// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>
#include <vector>

#include "stencil_reference.h"
#include "stencil_support.h"
#include "stencil_templates/detail/function_join.h"

/// Random programs of several functions over several fields, and what they should compute.
namespace stencil_tests {

/// A neighbour of one input, and its weight.
struct InputTap {
  std::size_t input = 0;
  Tap tap;
};

struct RandomFunction {
  /// The fields that its inputs are, and each one's rules.
  std::vector<int> reads;
  std::vector<Rules> rules;
  std::vector<int> writes;
  /// For each output, the sum that it gets.
  std::vector<std::vector<InputTap>> sums;
  /// The cells that it leaves out before and after, per dimension (of three).
  Index3 low{0, 0, 0};
  Index3 high{0, 0, 0};
};

struct RandomProgram {
  int dims = 1;
  int fields = 1;
  /// Lifetimes of the fields; none: all written fields go from step to step.
  std::vector<hpl::strategies::Lifetime> lifetimes;
  Index3 extents{1, 1, 1};
  std::vector<RandomFunction> functions;
};

/// Rows are `longer` cells longer than other dimensions.
RandomProgram randomProgram(std::mt19937& random, int longer = 0);
/// Functions of which each reads inputs and what those before it have written; what is read is a
/// temporary field or a result. With `updates` one of the inputs changes from step to step.
RandomProgram randomChain(std::mt19937& random, bool updates);
/// One function of one field that reads the cell and its nearest neighbours along each dimension.
RandomProgram starProgram(int dims, const Index3& extents);
std::string describe(const RandomProgram& program);
/// Applies a function to the fields.
void referenceFunction(const RandomProgram& program, const RandomFunction& f,
                       std::vector<Grid<int>>& fields);
/// Applies one step to the fields, function after function.
void referenceStep(const RandomProgram& program, std::vector<Grid<int>>& fields);
/// The recipe of the program, for kernels that do up to `tile.depth` steps at once. `joins`: of its
/// functions put together where that is possible. `residual`: of kernels with looks; null: how much
/// the cells have changed.
std::unique_ptr<hpl::stencils::TimeRecipe> recipeOf(
    const RandomProgram& program, const hpl::stencils::TimeTile& tile, bool joins = false,
    std::shared_ptr<const hpl::stencils::ResidualFunction> residual = nullptr);

bool isPeriodic(const RandomProgram& program);
/// The same without functions that write fields which others have written, and with regions that
/// are not empty: what StencilProgram accepts.
RandomProgram oncePerField(RandomProgram program);

/// A random function as users would write it.
template <int N>
struct RandomBody {
  RandomFunction function;

  hpl::Array<int, 0> sum(std::size_t output, const hpl::Neighbourhood<int, N>* inputs) const {
    hpl::Array<int, 0> sum = 0;
    for (const InputTap& tap : function.sums[output]) {
      const Index3& o = tap.tap.offset;
      const hpl::Neighbourhood<int, N>& p = inputs[tap.input];
      if constexpr (N == 1) sum += tap.tap.weight * p(o[2]);
      if constexpr (N == 2) sum += tap.tap.weight * p(o[1], o[2]);
      if constexpr (N == 3) sum += tap.tap.weight * p(o[0], o[1], o[2]);
    }
    return sum;
  }
};

/// Adds a function of a random program to a program over these arrays and temporaries.
template <int N>
void addTo(hpl::StencilProgram& run, const RandomProgram& program, const RandomFunction& f,
           const std::vector<hpl::stencils::ProgramArgument>& arrays) {
  using Cells = hpl::Neighbourhood<int, N>;
  using Next = hpl::Output<int>;
  const RandomBody<N> body{f};
  const auto add = [&](auto point, const auto&... fields) {
    hpl::Stencil stencil(point);
    for (std::size_t i = 0; i < f.rules.size(); ++i)
      setRules(stencil, f.rules[i], N, static_cast<int>(i) + 1);
    std::vector<hpl::Range> ranges;
    for (std::size_t d = 3 - N; d < 3; ++d)
      ranges.emplace_back(f.low[d], program.extents[d] - f.high[d] - 1);
    const Index3 none{0, 0, 0};
    if (f.low == none && f.high == none) {
      run.apply(stencil)(fields...);
      return;
    }
    if (ranges.size() == 1) run.apply(stencil).over(ranges[0])(fields...);
    if (ranges.size() == 2) run.apply(stencil).over(ranges[0], ranges[1])(fields...);
    if (ranges.size() == 3) run.apply(stencil).over(ranges[0], ranges[1], ranges[2])(fields...);
  };
  const auto at = [&](const std::vector<int>& list, std::size_t i) -> const auto& {
    return arrays[static_cast<std::size_t>(list[i])];
  };
  if (f.reads.size() == 1 && f.writes.size() == 1)
    add([body](Cells a) { return body.sum(0, &a); }, at(f.reads, 0), at(f.writes, 0));
  if (f.reads.size() == 2 && f.writes.size() == 1)
    add(
        [body](Cells a, Cells b) {
          const Cells inputs[] = {a, b};
          return body.sum(0, inputs);
        },
        at(f.reads, 0), at(f.reads, 1), at(f.writes, 0));
  if (f.reads.size() == 1 && f.writes.size() == 2)
    add(
        [body](Cells a, Next x, Next y) {
          x = body.sum(0, &a);
          y = body.sum(1, &a);
        },
        at(f.reads, 0), at(f.writes, 0), at(f.writes, 1));
  if (f.reads.size() == 2 && f.writes.size() == 2)
    add(
        [body](Cells a, Cells b, Next x, Next y) {
          const Cells inputs[] = {a, b};
          x = body.sum(0, inputs);
          y = body.sum(1, inputs);
        },
        at(f.reads, 0), at(f.reads, 1), at(f.writes, 0), at(f.writes, 1));
}

}  // namespace stencil_tests
