// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>
#include <vector>

#include "stencil_reference.h"
#include "stencil_support.h"
#include "stencil_templates/detail/time_recipe.h"

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
  Index3 extents{1, 1, 1};
  std::vector<RandomFunction> functions;
};

RandomProgram randomProgram(std::mt19937& random);
std::string describe(const RandomProgram& program);
/// What one step makes of the fields, function after function.
void referenceStep(const RandomProgram& program, std::vector<Grid<int>>& fields);
/// The recipe of the program, for kernels that do up to `tile.depth` steps at once.
std::unique_ptr<hpl::stencils::TimeRecipe> recipeOf(const RandomProgram& program,
                                                    const hpl::stencils::TimeTile& tile);

}  // namespace stencil_tests
