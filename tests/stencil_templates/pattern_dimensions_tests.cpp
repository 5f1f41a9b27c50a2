// SPDX-License-Identifier: Apache-2.0
// Patterns of more than three dimensions, against loops on the host.
#include <doctest/doctest.h>

#include <array>
#include <random>
#include <vector>

#include "hpl/error.h"
#include "stencil_templates/pattern.h"

namespace pattern_dimensions_tests {

using namespace hpl;

namespace {

using Extents = std::vector<int>;

/// Counts through a box in row-major order. False after the last cell.
bool advance(Extents& at, const Extents& first, const Extents& last) {
  for (std::size_t d = at.size(); d-- > 0;) {
    if (++at[d] <= last[d]) return true;
    at[d] = first[d];
  }
  return false;
}

std::size_t offsetOf(const Extents& at, const Extents& extents) {
  std::size_t offset = 0;
  for (std::size_t d = 0; d < at.size(); ++d)
    offset = offset * static_cast<std::size_t>(extents[d]) + static_cast<std::size_t>(at[d]);
  return offset;
}

/// One step; cells without all neighbours of the box keep what `out` has.
template <class T>
void reference(const StencilPattern& p, const Extents& extents, const std::vector<T>& in,
               std::vector<T>& out) {
  Extents lows, highs, first, last;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    lows.push_back(p.shape()[d].first);
    highs.push_back(p.shape()[d].second);
    first.push_back(-lows[d]);
    last.push_back(extents[d] - 1 - highs[d]);
    if (first[d] > last[d]) return;
  }
  Extents at = first;
  do {
    T sum = 0;
    std::size_t weight = 0;
    Extents offset = lows;
    do {
      Extents from = at;
      for (std::size_t d = 0; d < at.size(); ++d) from[d] += offset[d];
      sum += static_cast<T>(p.weights()[weight++]) * in[offsetOf(from, extents)];
    } while (advance(offset, lows, highs));
    out[offsetOf(at, extents)] = sum / static_cast<T>(p.factor());
  } while (advance(at, first, last));
}

/// Small whole numbers, whose sums are exact in any order.
template <class T>
std::vector<T> someValues(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(static_cast<int>(random() % 64) - 20);
  return values;
}

template <class T, int N>
Array<T, N> arrayOf(const Extents& extents, const std::vector<T>& values) {
  const auto made = [&]<std::size_t... D>(std::index_sequence<D...>) {
    return Array<T, N>(extents[D]...);
  }(std::make_index_sequence<N>());
  Array<T, N> array = made;
  array.copyFrom(values.data());
  return array;
}

template <class T, int N>
std::vector<T> valuesOf(const Array<T, N>& array) {
  std::vector<T> values(array.size());
  array.copyTo(values.data());
  return values;
}

std::size_t cellsOf(const Extents& extents) {
  std::size_t cells = 1;
  for (const int extent : extents) cells *= static_cast<std::size_t>(extent);
  return cells;
}

/// Compact or not, symmetric or not, some weights 0.
StencilPattern randomPattern(int dimensions, std::mt19937& random) {
  std::vector<StencilPattern::Range> shape;
  std::size_t cells = 1;
  for (int d = 0; d < dimensions; ++d) {
    const int lo = -static_cast<int>(random() % 3), hi = static_cast<int>(random() % 2);
    shape.emplace_back(lo, hi);
    cells *= static_cast<std::size_t>(hi - lo + 1);
  }
  std::vector<double> weights(cells, 0.0);
  weights[random() % cells] = 1;
  for (double& weight : weights)
    if (random() % 4 == 0) weight = static_cast<int>(random() % 7) - 3;
  return StencilPattern(shape, weights, 1 << random() % 3);
}

template <class T, int N>
void checkRandomPattern(unsigned seed) {
  CAPTURE(seed);
  std::mt19937 random(seed);
  StencilPattern pattern = randomPattern(N, random);
  Extents extents;
  for (const auto& [lo, hi] : pattern.shape())
    extents.push_back(hi - lo + 1 + static_cast<int>(random() % 4));
  extents.back() += 30;  // room for vectors
  const std::vector<T> values = someValues<T>(cellsOf(extents), seed);
  std::vector<T> expected(values.size(), T(-99));
  reference(pattern, extents, values, expected);
  Array<T, N> in = arrayOf<T, N>(extents, values);
  Array<T, N> specific = arrayOf<T, N>(extents, std::vector<T>(values.size(), T(-99)));
  Array<T, N> generic = arrayOf<T, N>(extents, std::vector<T>(values.size(), T(-99)));
  const auto step = pattern.specific<T, N>();
  step(in, specific);
  CHECK(valuesOf(specific) == expected);
  FRunner again = pattern.generic(in, generic);
  CHECK(valuesOf(generic) == expected);
  generic = T(-99);
  again.run();
  CHECK(valuesOf(generic) == expected);
}

/// The mean of the 8 neighbours across faces in four dimensions, and the cell itself.
StencilPattern star8() { return StencilPattern::read("samples/patterns/star8.pattern"); }

std::string refusalOf(const std::string& text) {
  try {
    StencilPattern::parse(text, "test.pattern");
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("random patterns of four and five dimensions compute what loops on the host do") {
  for (const unsigned seed : {1u, 2u}) checkRandomPattern<float, 4>(seed);
  checkRandomPattern<double, 4>(4);
  checkRandomPattern<float, 5>(5);
}

TEST_CASE("a pattern of eight dimensions reads its one neighbour") {
  std::vector<StencilPattern::Range> shape(8, {0, 0});
  shape[0] = {-1, 0};
  shape[7] = {0, 1};
  const StencilPattern corner(shape, {0, 3, 0, 0});  // the cell before and beside
  const Extents extents{3, 1, 2, 1, 1, 2, 1, 4};
  const std::vector<float> values = someValues<float>(cellsOf(extents), 8);
  std::vector<float> expected(values.size(), 0.0f);
  reference(corner, extents, values, expected);
  Array<float, 8> in = arrayOf<float, 8>(extents, values);
  Array<float, 8> out = arrayOf<float, 8>(extents, std::vector<float>(values.size(), 0.0f));
  const auto step = corner.specific<float, 8>();
  step(in, out);
  CHECK(valuesOf(out) == expected);
}

TEST_CASE("stencils: patterns of four dimensions are iterated on all devices") {
  const Extents extents{4, 9, 7, 21};
  // Eighths of whole numbers: exact for a few steps.
  std::vector<float> now = someValues<float>(cellsOf(extents), 3), next = now;
  const StencilPattern pattern = star8();
  const auto step = pattern.specific<float, 4>().devices(getDeviceNumber(defaultDevice().type()));
  for (const int steps : {0, 1, 2, 3}) {
    CAPTURE(steps);
    Array<float, 4> a = arrayOf<float, 4>(extents, now);
    Array<float, 4> b = arrayOf<float, 4>(extents, std::vector<float>(now.size(), 7.0f));
    step.iterate(steps)(a, b);
    std::vector<float> expected = now, other = now;
    for (int s = 0; s < steps; ++s) {
      reference(pattern, extents, expected, other);
      std::swap(expected, other);
    }
    CHECK(valuesOf(a) == expected);
  }
}

TEST_CASE("views of arrays of four dimensions are iterated in place") {
  const Extents extents{4, 5, 5, 9};
  const std::vector<float> values = someValues<float>(cellsOf(extents), 2);
  Array<float, 4> whole(6, 5, 5, 9), b = arrayOf<float, 4>(extents, values);
  whole = 0.0f;
  Array<float, 4>& part = whole(Range(1, 4), Range(0, 4), Range(0, 4), Range(0, 8));
  part.copyFrom(values.data());
  const StencilPattern pattern = star8();
  pattern.specific<float, 4>().iterate(1)(part, b);
  std::vector<float> expected = values;
  reference(pattern, extents, values, expected);
  CHECK(valuesOf(part) == expected);
  CHECK(whole(2, 2, 2, 2) == expected[offsetOf({1, 2, 2, 2}, extents)]);
  CHECK(whole(0, 2, 2, 2) == 0.0f);
}

TEST_CASE("kernels of patterns of four dimensions loop over the first one") {
  const std::string source = star8().openClSource("star");
  const auto has = [&](const char* what) { return source.find(what) != std::string::npos; };
  CAPTURE(source);
  CHECK(has("__kernel void star("));
  CHECK(has("size0"));
  CHECK(has("for ("));
  CHECK(has("get_global_id(2)"));
}

TEST_CASE("pattern files of any number of dimensions are read, wrong ones refused with the line") {
  const StencilPattern p = StencilPattern::parse("shape 0:0 -1:0 0:0 0:1 0:0\nweights 1 2 0 4\n");
  CHECK(p.dimensions() == 5);
  CHECK(p.neighbours().size() == 3);
  CHECK(p.neighbours()[1].offset == std::array<int, kMostPatternDimensions>{0, -1, 0, 1});
  CHECK(refusalOf("shape 0:0 0:0 0:0 0:0 0:0 0:0 0:0 0:0 0:0\nweights 1\n") ==
        "test.pattern:2: a pattern has one to 8 dimensions, not 9");
  CHECK(refusalOf("shape 0:1 0:1 0:1 0:1\nweights 1 2 3\n") ==
        "test.pattern:2: a box of 16 cells has 3 weights; give one for each, row by row, 0 for "
        "those that are not read");
  CHECK(refusalOf("shape 0:0 0:0 0:0 0:1\nweights 1 inf\n") ==
        "test.pattern:2: 'inf' is no weight: give a finite number");
  CHECK(refusalOf("shape 0:0 0:0 0:0 0:1\nweights 1 2 fact\n") ==
        "test.pattern:2: unknown word 'fact'; expected a number, shape, weights or factor");
  CHECK(refusalOf("shape -2147483648:2147483647 -2147483648:2147483647 0:0 0:0\nweights 1\n") ==
        "test.pattern:2: a box of 1099511627776 cells has 1 weights; give one for each, row by "
        "row, 0 for those that are not read");
}

TEST_CASE("arrays that do not fit a pattern of four dimensions are refused") {
  const StencilPattern pattern = star8();
  Array<float, 4> a(3, 3, 3, 3), b(3, 3, 3, 4), thin(3, 2, 3, 3), other(3, 2, 3, 3);
  const auto step = pattern.specific<float, 4>();
  CHECK_THROWS_WITH_AS(step(a, b),
                       "a step of a pattern: the input is 3 x 3 x 3 x 3 and the output 3 x 3 x 3 x "
                       "4; give both the same shape",
                       ShapeError);
  CHECK_THROWS_WITH_AS(step(thin, other),
                       "a step of a pattern: it reaches from -1 to 1 along dimension 2, of which "
                       "the arrays have 2 cells; use larger arrays",
                       ShapeError);
  CHECK_THROWS_WITH_AS(step(a, a),
                       "a step of a pattern: input and output share cells, which would be read "
                       "after they were overwritten; give another array",
                       ArgumentError);
  CHECK_THROWS_WITH_AS(step.iterate(-1),
                       "a pattern cannot be iterated -1 times; give 0 or more steps",
                       ArgumentError);
  CHECK_THROWS_WITH_AS((pattern.specific<float, 5>()), "the pattern has 4 dimensions, not 5",
                       ArgumentError);
}

}  // namespace pattern_dimensions_tests
