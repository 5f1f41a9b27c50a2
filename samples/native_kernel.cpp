// SPDX-License-Identifier: Apache-2.0
// Kernels written in OpenCL C, from a string and from a file, run like any other: the library
// moves the data, because the C++ functions say which arguments are read and written.
#include <cstdio>

#include "hpl/hpl.h"

using namespace hpl;

// The parameters of the OpenCL C kernels. These functions are never called, so they are empty.
void addHandle(InOut<Array<float, 1>>, In<Array<float, 1>>) {}
void scaleHandle(Out<Array<float, 1>>, In<Array<float, 1>>, Float) {}

constexpr const char* kAddSource = R"(
  kernel void add(global float* sum, global const float* other) {
    const size_t i = get_global_id(0);
    sum[i] += other[i];
  }
)";

int main(int argc, char**) {
  if (argc > 1) {
    std::puts("native_kernel takes no arguments");
    return 0;
  }
  constexpr int n = 4096;
  Array<float, 1> a(n), b(n), result(n);
  float* pa = a.data(HPL_WR);
  float* pb = b.data(HPL_WR);
  for (int i = 0; i < n; ++i) {
    pa[i] = static_cast<float>(i);
    pb[i] = 1.0f;
  }

  nativeHandle(addHandle, "add", kAddSource);
  nativeHandle(scaleHandle, "scale", HPL_SAMPLES_DIR "/native_kernel.cl");

  eval(addHandle)(a, b);               // a += b
  eval(scaleHandle)(result, a, 0.5f);  // result = a / 2: `a` stays on the device in between

  for (int i = 0; i < n; ++i) {
    const float expected = 0.5f * (static_cast<float>(i) + 1.0f);
    const float found = result(i);
    if (found != expected) {
      std::printf("native_kernel: result(%d) is %g, expected %g\n", i, found, expected);
      return 1;
    }
  }
  std::printf("native_kernel: %d elements are right\n", n);
  return 0;
}
