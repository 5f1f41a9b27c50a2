// SPDX-License-Identifier: Apache-2.0
// y = a x + y: the smallest complete program.
#include <cstdio>

#include "hpl/hpl.h"
#include "samples/common/arguments.h"

using namespace hpl;

void saxpy(Array<float, 1> y, const Array<float, 1>& x, Float a) { y[idx] = a * x[idx] + y[idx]; }

int main(int argc, char** argv) try {
  const int n = samples::numberArgument(argc, argv, {"saxpy", "elements", 1 << 20, 4, 1 << 27});
  constexpr float a = 2.0f;
  Array<float, 1> x(n), y(n);
  float* px = x.data(HPL_WR);
  float* py = y.data(HPL_WR);
  for (int i = 0; i < n; ++i) {
    px[i] = static_cast<float>(i % 1000);
    py[i] = 1.0f;
  }

  eval(saxpy)(y, x, a);  // one thread per element of y, the first argument

  // Small whole numbers are exact in float, so the comparison is exact too.
  const float* result = y.data(HPL_RD);
  for (int i = 0; i < n; ++i) {
    const float expected = a * static_cast<float>(i % 1000) + 1.0f;
    if (result[i] != expected) {
      std::printf("saxpy: y[%d] is %g, expected %g\n", i, result[i], expected);
      return 1;
    }
  }
  std::printf("saxpy: %d elements are right; y(3) = %g\n", n, result[3]);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "saxpy: %s\n", error.what());
  return 1;
}
