// SPDX-License-Identifier: Apache-2.0
#include "skeleton_support.h"

#include <algorithm>

namespace skeleton_tests {
namespace {

std::size_t placeOf(const Sizes3& sizes, const Sizes3& at) {
  return static_cast<std::size_t>((at[0] * sizes[1] + at[1]) * sizes[2] + at[2]);
}

Sizes3 sum(const Sizes3& a, const Sizes3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

bool isInside(const Sizes3& at, const Sizes3& sizes) {
  for (std::size_t d = 0; d < 3; ++d)
    if (at[d] < 0 || at[d] >= sizes[d]) return false;
  return true;
}

template <class F>
void forEachIn(const Box& box, const F& f) {
  for (int z = box.first[0]; z < box.first[0] + box.extents[0]; ++z)
    for (int y = box.first[1]; y < box.first[1] + box.extents[1]; ++y)
      for (int x = box.first[2]; x < box.first[2] + box.extents[2]; ++x) f(Sizes3{z, y, x});
}

/// The cells [first, first + extent) of one part along one dimension.
std::pair<int, int> partOf(int cells, int parts, int number) {
  const int each = cells / parts, more = cells % parts;
  return {number * each + std::min(number, more), each + (number < more ? 1 : 0)};
}

}  // namespace

bool Box::contains(const Sizes3& at) const {
  for (std::size_t d = 0; d < 3; ++d)
    if (at[d] < first[d] || at[d] >= first[d] + extents[d]) return false;
  return true;
}

Weighted weightedOf(const hpl::StencilPattern& pattern) {
  const auto dims = static_cast<std::size_t>(pattern.dimensions());
  Weighted result;
  for (std::size_t d = 0; d < dims; ++d)
    std::tie(result.low[3 - dims + d], result.high[3 - dims + d]) = pattern.shape()[d];
  for (const hpl::PatternNeighbour& n : pattern.neighbours()) {
    Weighted::Neighbour neighbour{{}, static_cast<float>(n.weight)};
    for (std::size_t d = 0; d < dims; ++d) neighbour.offset[3 - dims + d] = n.offset[d];
    result.neighbours.push_back(neighbour);
  }
  result.factor = static_cast<float>(pattern.factor());
  return result;
}

float startOf(const Sizes3& sizes, const Sizes3& at) {
  const auto place = static_cast<std::uint32_t>(placeOf(sizes, at));
  return static_cast<float>((place * 2654435761U) >> 20) / 4096.0f;
}

std::vector<float> startCells(const Sizes3& sizes) {
  std::vector<float> cells;
  forEachIn({{0, 0, 0}, sizes}, [&](const Sizes3& at) { cells.push_back(startOf(sizes, at)); });
  return cells;
}

std::vector<float> afterSteps(std::vector<float> cells, const Sizes3& sizes,
                              const Weighted& pattern, int steps) {
  std::vector<float> next = cells;
  for (int step = 0; step < steps; ++step) {
    forEachIn({{0, 0, 0}, sizes}, [&](const Sizes3& at) {
      if (!isInside(sum(at, pattern.low), sizes) || !isInside(sum(at, pattern.high), sizes)) return;
      float total = 0;
      for (const Weighted::Neighbour& n : pattern.neighbours)
        total += n.weight * cells[placeOf(sizes, sum(at, n.offset))];
      next[placeOf(sizes, at)] = total / pattern.factor;
    });
    std::swap(cells, next);
  }
  return cells;
}

std::vector<Box> evenBlocks(const Sizes3& sizes, const Sizes3& grid) {
  std::vector<Box> blocks;
  forEachIn({{0, 0, 0}, grid}, [&](const Sizes3& at) {
    Box box;
    for (std::size_t d = 0; d < 3; ++d)
      std::tie(box.first[d], box.extents[d]) = partOf(sizes[d], grid[d], at[d]);
    blocks.push_back(box);
  });
  return blocks;
}

std::uint64_t bytesRead(const Sizes3& sizes, const std::vector<Box>& blocks,
                        const std::vector<Sizes3>& offsets) {
  std::uint64_t cells = 0;
  for (const Box& block : blocks) {
    std::vector<char> touched(static_cast<std::size_t>(sizes[0] * sizes[1] * sizes[2]), 0);
    forEachIn(block, [&](const Sizes3& at) {
      for (const Sizes3& offset : offsets) {
        const Sizes3 other = sum(at, offset);
        if (isInside(other, sizes) && !block.contains(other)) touched[placeOf(sizes, other)] = 1;
      }
    });
    cells += static_cast<std::uint64_t>(std::count(touched.begin(), touched.end(), 1));
  }
  return cells * sizeof(float);
}

std::uint64_t bytesOfBands(const Sizes3& sizes, const std::vector<Box>& blocks, int dims,
                           const Weighted& pattern) {
  const auto d = static_cast<std::size_t>(3 - dims);
  std::uint64_t slices = 0;
  for (const Box& block : blocks) {
    const int before = std::min(-pattern.low[d], block.first[d]);
    const int end = block.first[d] + block.extents[d];
    slices += static_cast<std::uint64_t>(before + std::min(pattern.high[d], sizes[d] - end));
  }
  return slices * static_cast<std::uint64_t>(sizes[0] * sizes[1] * sizes[2] / sizes[d]) *
         sizeof(float);
}

std::vector<Sizes3> offsetsOf(const Weighted& pattern) {
  std::vector<Sizes3> offsets;
  for (const Weighted::Neighbour& n : pattern.neighbours) offsets.push_back(n.offset);
  return offsets;
}

std::vector<Sizes3> boxOf(const Weighted& pattern) {
  std::vector<Sizes3> offsets;
  Box box{pattern.low, {}};
  for (std::size_t d = 0; d < 3; ++d) box.extents[d] = pattern.high[d] - pattern.low[d] + 1;
  forEachIn(box, [&](const Sizes3& offset) { offsets.push_back(offset); });
  return offsets;
}

hpl::StencilPattern randomPattern(int dims, std::mt19937& random) {
  const auto upTo = [&](unsigned most) { return static_cast<int>(random() % (most + 1)); };
  std::vector<hpl::StencilPattern::Range> shape;
  std::size_t cells = 1;
  for (int d = 0; d < dims; ++d) {
    shape.emplace_back(-upTo(dims == 3 ? 1 : 2), upTo(dims == 3 ? 1 : 2));
    cells *= static_cast<std::size_t>(shape.back().second - shape.back().first + 1);
  }
  std::vector<double> weights(cells, 0.0);
  const unsigned density = 1 + random() % 3;
  for (double& weight : weights)
    if (random() % density == 0) weight = 0.1 * (upTo(20) - 10);
  if (std::all_of(weights.begin(), weights.end(), [](double w) { return w == 0; }))
    weights.front() = 0.7;
  return {shape, weights, upTo(1) == 0 ? 1.0 : 3.0};
}

hpl::StencilPattern star4() { return hpl::StencilPattern::read("samples/patterns/star4.pattern"); }
hpl::StencilPattern box9() { return hpl::StencilPattern::read("samples/patterns/box9.pattern"); }
hpl::StencilPattern star9() { return hpl::StencilPattern::read("samples/patterns/star9.pattern"); }
hpl::StencilPattern upwind5() {
  return hpl::StencilPattern::read("samples/patterns/upwind5.pattern");
}

}  // namespace skeleton_tests
