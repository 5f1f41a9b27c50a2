// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "stencil_templates/stencil_templates.h"

/// References for the tests of skeletons: plain loops over the cells of one to three dimensions.
namespace skeleton_tests {

/// z, y, x; 1 for dimensions that there are not.
using Sizes3 = std::array<int, 3>;

struct Box {
  Sizes3 first{};
  Sizes3 extents{};

  bool contains(const Sizes3& at) const;
  friend bool operator==(const Box&, const Box&) = default;
};

/// A pattern in three dimensions, its neighbours in the order in which they are added.
struct Weighted {
  Sizes3 low{}, high{};
  struct Neighbour {
    Sizes3 offset;
    float weight;
  };
  std::vector<Neighbour> neighbours;
  float factor = 1;
};

Weighted weightedOf(const hpl::StencilPattern& pattern);

/// A value for each cell, the same on all ranks; not exact in sums, so that their order matters.
float startOf(const Sizes3& sizes, const Sizes3& at);
std::vector<float> startCells(const Sizes3& sizes);

/// The steps of EPSILOD's skeleton: cells that lack neighbours of the box stay as they are.
std::vector<float> afterSteps(std::vector<float> cells, const Sizes3& sizes,
                              const Weighted& pattern, int steps);

/// An even cut into a grid of blocks, the last dimension fastest; longer blocks first.
std::vector<Box> evenBlocks(const Sizes3& sizes, const Sizes3& grid);

/// Bytes of one exchange, cell by cell: what the blocks read at these offsets and do not own.
std::uint64_t bytesRead(const Sizes3& sizes, const std::vector<Box>& blocks,
                        const std::vector<Sizes3>& offsets);
/// The same where each block gets whole slices of the first dimension of `dims`.
std::uint64_t bytesOfBands(const Sizes3& sizes, const std::vector<Box>& blocks, int dims,
                           const Weighted& pattern);

std::vector<Sizes3> offsetsOf(const Weighted& pattern);
/// All of the box.
std::vector<Sizes3> boxOf(const Weighted& pattern);

/// A random pattern: any reach, some weights 0, some directions not read at all.
hpl::StencilPattern randomPattern(int dims, std::mt19937& random);

/// A part as a Box.
template <class T, std::size_t N>
Box boxOf(const hpl::LocalPart<T, N>& part) {
  Box box{{0, 0, 0}, {1, 1, 1}};
  for (std::size_t d = 0; d < N; ++d) {
    box.first[3 - N + d] = static_cast<int>(part.first()[d]);
    box.extents[3 - N + d] = static_cast<int>(part.extents()[d]);
  }
  return box;
}

/// Calls f(cell, z, y, x) for each cell of a part.
template <class T, std::size_t N, class F>
void forEachCell(const hpl::LocalPart<T, N>& part, const F& f) {
  const Box box = boxOf(part);
  for (int z = box.first[0]; z < box.first[0] + box.extents[0]; ++z)
    for (int y = box.first[1]; y < box.first[1] + box.extents[1]; ++y)
      for (int x = box.first[2]; x < box.first[2] + box.extents[2]; ++x) {
        if constexpr (N == 1) f(part(x), Sizes3{z, y, x});
        if constexpr (N == 2) f(part(y, x), Sizes3{z, y, x});
        if constexpr (N == 3) f(part(z, y, x), Sizes3{z, y, x});
      }
}

/// Sets the values of startOf().
template <int N>
auto startsIn(const Sizes3& sizes) {
  return [sizes](const hpl::LocalPart<float, N>& part) {
    forEachCell(part, [&](float& cell, const Sizes3& at) { cell = startOf(sizes, at); });
  };
}

/// The four stencils of EPSILOD's evaluation (Fig. 6).
hpl::StencilPattern star4();
hpl::StencilPattern box9();
hpl::StencilPattern star9();
hpl::StencilPattern upwind5();

}  // namespace skeleton_tests
