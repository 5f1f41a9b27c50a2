// SPDX-License-Identifier: Apache-2.0
// Figures 1 and 3 of the HPL paper on stencils and ghost regions.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "hpl/HPL.h"

namespace figures_tests {

using namespace HPL;

namespace figure1 {

static void simpleKernel(Array<float, 1> b, Array<float, 1> a) { b[idx] = 2 * a[idx]; }

}  // namespace figure1

TEST_CASE("Figure 1 runs as printed") {
  const int N = 100;
  Array<float, 1> a(N), b(N);
  for (int i = 0; i < N; i++) b(i) = static_cast<float>(i);
  // The figure passes (a, b) to parameters named (b, a).
  eval(figure1::simpleKernel)(a, b);
  for (int i = 0; i < N; i++) CHECK(a(i).value() == 2.0f * static_cast<float>(i));
}

namespace figure3 {

// As printed: reads tmp[-1], and has no barrier between filling and reading the tile.
static void printedKernel(Array<float, 1> input, Array<float, 1> accum, Int nelems) {
  Array<float, 1, Local> tmp(64 + 2);
  if_(idx < nelems) {
    tmp[lidx + 1] = input[idx];
    if_(!lidx) {
      tmp[0] = where(idx, input[idx - 1], 0.f);
      tmp[65] = where(idx + 64 < nelems, input[idx + 64], 0.f);
    }
    accum[idx] = tmp[lidx - 1] + tmp[lidx] + tmp[lidx + 1];
  }
}

// The same with both slips put right.
static void simpleKernel(Array<float, 1> input, Array<float, 1> accum, Int nelems) {
  Array<float, 1, Local> tmp(64 + 2);
  if_(idx < nelems) {
    tmp[lidx + 1] = input[idx];
    if_(!lidx) {
      tmp[0] = where(idx, input[idx - 1], 0.f);
      tmp[65] = where(idx + 64 < nelems, input[idx + 64], 0.f);
    }
  }
  barrier(LOCAL);
  if_(idx < nelems) {
    accum[idx] = tmp[lidx] + tmp[lidx + 1] + tmp[lidx + 2];
  }
}

static void update(Array<float, 1> accum, Array<float, 1> array) { array[idx] = accum[idx]; }

}  // namespace figure3

TEST_CASE("Figure 3 computes the stencil that the text states") {
  const int N = 256;
  Array<float, 1> input(N), accum(N);
  std::vector<float> expected(N), next(N);
  for (int i = 0; i < N; i++) {
    input(i) = static_cast<float>(i % 7);
    expected[static_cast<std::size_t>(i)] = static_cast<float>(i % 7);
  }
  for (int i = 0; i < 10; i++) {
    eval(figure3::simpleKernel).local(64)(input, accum, N);
    eval(figure3::update)(accum, input);
    for (std::size_t k = 0; k < expected.size(); ++k)
      next[k] = (k > 0 ? expected[k - 1] : 0.0f) + expected[k] +
                (k + 1 < expected.size() ? expected[k + 1] : 0.0f);
    expected.swap(next);
  }
  for (int i = 0; i < N; i++) {
    INFO("element " << i);
    CHECK(input(i).value() == expected[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("the interpreter finds the slip in Figure 3 as printed") {
  const int N = 64;
  Array<float, 1> input(N), accum(N);
  input = 1.0f;
  std::string message;
  try {
    eval(figure3::printedKernel).local(64).interpret(input, accum, N);
  } catch (const BoundsError& error) {
    message = error.what();
  }
  INFO(message);
  CHECK(message.find("figures_tests.cpp:40") != std::string::npos);
}

}  // namespace figures_tests
