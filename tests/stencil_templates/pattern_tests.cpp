// SPDX-License-Identifier: Apache-2.0
// Stencils that are given by weights.
#include "stencil_templates/pattern.h"

#include <doctest/doctest.h>

#include <random>

#include "hpl/error.h"

namespace pattern_tests {

using namespace hpl;

namespace {

/// The patterns of EPSILOD's evaluation (Section 5.1): compact, not compact, asymmetric.
StencilPattern star4() {
  return StencilPattern({{-1, 1}, {-1, 1}}, {0, 1, 0, 1, 0, 1, 0, 1, 0}, 4);
}
StencilPattern box9() {
  return StencilPattern({{-1, 1}, {-1, 1}}, {1, 2, 1, 2, 4, 2, 1, 2, 1}, 16);
}
StencilPattern wide9() {
  std::vector<double> weights(25, 0.0);
  for (const int i : {2, 7, 10, 11, 12, 13, 14, 17, 22}) weights[static_cast<std::size_t>(i)] = i;
  return StencilPattern({{-2, 2}, {-2, 2}}, weights, 8);
}
StencilPattern asymmetric5() {
  return StencilPattern({{-2, 0}, {-2, 0}}, {0, 0, 1, 0, 0, 2, 1, 2, -3}, 2);
}

void fill(Array<float, 2>& array, unsigned seed) {
  std::mt19937 random(seed);
  float* values = array.data(HPL_WR);
  for (std::size_t i = 0; i < array.size(); ++i) values[i] = static_cast<float>(random() % 64);
}

/// One step in plain C++; cells without all neighbours of the box keep what `out` has.
void reference(const StencilPattern& p, const Array<float, 2>& in, std::vector<float>& out) {
  const auto rows = static_cast<int>(in.getDimension(0));
  const auto columns = static_cast<int>(in.getDimension(1));
  const float* from = in.data();
  const auto [y0, y1] = p.shape()[0];
  const auto [x0, x1] = p.shape()[1];
  for (int y = -y0; y + y1 < rows; ++y) {
    for (int x = -x0; x + x1 < columns; ++x) {
      float sum = 0;
      std::size_t w = 0;
      for (int j = y0; j <= y1; ++j) {
        for (int i = x0; i <= x1; ++i) {
          sum += static_cast<float>(p.weights()[w++]) * from[(y + j) * columns + x + i];
        }
      }
      out[static_cast<std::size_t>(y * columns + x)] = sum / static_cast<float>(p.factor());
    }
  }
}

std::string messageOf(const std::string& text) {
  try {
    StencilPattern::parse(text, "test.pattern");
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("specific and generic kernels of patterns compute the weighted sums") {
  // Small whole numbers: sums are exact in any order.
  for (const StencilPattern& pattern : {star4(), box9(), wide9(), asymmetric5()}) {
    Array<float, 2> in(23, 45), specific(23, 45), generic(23, 45);
    fill(in, 4);
    specific = -1.0f;
    generic = -1.0f;
    std::vector<float> expected(in.size(), -1.0f);
    reference(pattern, in, expected);
    pattern.specific<float, 2>()(in, specific);
    FRunner again = pattern.generic(in, generic);
    generic = -1.0f;
    again.run();
    std::vector<float> got(in.size());
    specific.copyTo(got.data());
    CHECK(got == expected);
    generic.copyTo(got.data());
    CHECK(got == expected);
  }
}

TEST_CASE("patterns of one and three dimensions reach as far as their weights") {
  Array<double, 1> a(10), b(10);
  for (int i = 0; i < 10; ++i) a(i) = i * i;
  b = 0.0;
  const StencilPattern second({{-1, 1}}, {1, -2, 1});
  second.specific<double, 1>()(a, b);
  CHECK(b(0) == 0.0);
  CHECK(b(5) == 2.0);
  second.generic(a, b);
  CHECK(b(8) == 2.0);

  std::vector<double> weights(27, 0.0);
  weights[4] = 1;    // the plane before
  weights[13] = -2;  // the cell
  Array<float, 3> c(4, 4, 5), d(4, 4, 5), e(4, 4, 5);
  for (int z = 0; z < 4; ++z) c(Range(z), Range(0, 3), Range(0, 4)) = static_cast<float>(z + 1);
  d = 0.0f;
  e = 0.0f;
  const StencilPattern planes({{-1, 1}, {-1, 1}, {-1, 1}}, weights);
  planes.specific<float, 3>()(c, d);
  planes.generic(c, e);
  CHECK(d(2, 1, 1) == -4.0f);
  CHECK(e(2, 1, 1) == -4.0f);
}

TEST_CASE("the specific kernel reads only neighbours with a weight, and prints as OpenCL C") {
  CHECK(wide9().neighbours().size() == 9);
  const std::string source = star4().openClSource("poisson");
  CHECK(source.find("__kernel void poisson(") != std::string::npos);
  const auto reads = [&](const char* what) { return source.find(what) != std::string::npos; };
  CHECK(reads("in[(idy - 1)"));
  CHECK(reads("in[(idy + 1)"));
  CHECK(reads("/= 4"));
  CHECK_FALSE(reads("in[(idy - 1) * in_s0 + idx - 1]"));
}

TEST_CASE("pattern files are read word by word, with comments") {
  const StencilPattern p = StencilPattern::parse(
      "# heat\nshape -1:1 0:1\nweights 0 1\n  2 3 # middle\n  4 5\nfactor 2.5\n");
  CHECK(p.dimensions() == 2);
  CHECK(p.weights() == std::vector<double>{0, 1, 2, 3, 4, 5});
  CHECK(p.factor() == 2.5);
  CHECK(p.neighbours().front().offset == std::array<int, kMostPatternDimensions>{-1, 1});
}

TEST_CASE("wrong patterns are refused with the line and what was expected") {
  CHECK(
      messageOf("shape -1:1\nweights 1 2\n") ==
      "test.pattern:2: a box of 3 cells has 2 weights; give one for each, row by row, 0 for those "
      "that are not read");
  CHECK(messageOf("shape -1:1\nweights 1 nan 1\n") ==
        "test.pattern:2: 'nan' is no weight: give a finite number");
  CHECK(messageOf("shape -1:1\nwheights 1 2 3\n") ==
        "test.pattern:2: 'wheights' is no range; give offsets such as -1:1");
  CHECK(messageOf("size 3\n") ==
        "test.pattern:1: unknown word 'size'; expected shape, weights or factor");
  CHECK(messageOf("weights 1\n") ==
        "test.pattern:1: there is no shape; add a line such as 'shape -1:1 -1:1'");
  CHECK(messageOf("shape -1:1\nweights 1 1e999 1\n") ==
        "test.pattern:2: '1e999' is no weight: give a finite number");
  CHECK(messageOf("shape 1:2\nweights 1 1\n") ==
        "test.pattern:1: the range 1:2 does not contain the cell itself; it begins at 0 or before, "
        "and ends at 0 or after");
  // A range that is turned round, and one that is empty before another.
  for (const char* range : {"1:-1", "3:2", "0:-1"})
    CHECK(messageOf(std::string("shape ") + range + " -1:1\nweights 1 1 1\n")
              .find(std::string("test.pattern:1: the range ") + range + " does not contain") == 0);
  CHECK(messageOf("shape -1:1\n\nfactor 2\n") ==
        "test.pattern:3: there are no weights; add a line such as 'weights 1 -2 1'");
  CHECK(messageOf("shape -1:1\nweights 1 -2 1\nfactor\n") ==
        "test.pattern:3: the factor is missing; give a number such as 'factor 4'");
  CHECK(messageOf("shape -1:1\nfactor\nweights 1 -2 1\n") ==
        "test.pattern:3: the factor is missing before 'weights'; give a number");
  CHECK(messageOf("shape -1:1\nweights 1 -2 1\nfactor 2 3\n") ==
        "test.pattern:3: unknown word '3'; the factor is one number, and is 2 already");
  CHECK(messageOf("shape -1:1\nweights 1 -2 1\nfactor nan\n") ==
        "test.pattern:3: 'nan' is no factor: give a finite number");
  CHECK(messageOf("shape 0:0\nweights 0\n").find("all weights of the pattern are 0") !=
        std::string::npos);
  CHECK(messageOf("shape 0:0\nweights 1\nfactor 0\n").find("factor 0") != std::string::npos);
  CHECK_THROWS_WITH_AS((StencilPattern({{-1, 1}}, {1, 2, 3}).specific<float, 2>()),
                       "the pattern has 1 dimension, not 2", ArgumentError);
  CHECK_THROWS_WITH_AS(StencilPattern::read("/nowhere/x.pattern"),
                       "pattern file /nowhere/x.pattern cannot be read", ArgumentError);
}

}  // namespace pattern_tests
