// SPDX-License-Identifier: Apache-2.0
// The sum of an array: each group adds up its part as a tree in local memory, the host the rest.
#include <cstdio>
#include <functional>

#include "hpl/hpl.h"
#include "samples/common/arguments.h"

using namespace hpl;

constexpr int kGroup = 64;

void sumOfGroup(Array<int, 1> sums, const Array<int, 1>& values) {
  Array<int, 1, Local> tree(kGroup);
  tree[lidx] = values[idx];
  barrier(LOCAL);
  // This C++ loop runs while the kernel is captured: the generated code has six steps, no loop.
  for (int half = kGroup / 2; half > 0; half /= 2) {
    if_(lidx < half) {
      tree[lidx] += tree[lidx + half];
    }
    barrier(LOCAL);  // every thread of the group comes here, those that added nothing too
  }
  if_(lidx == 0) {
    sums[gidx] = tree[0];
  }
}

int main(int argc, char** argv) try {
  const int n = samples::numberArgument(
      argc, argv, {"reduction", "elements", 1 << 16, kGroup, 1 << 23, kGroup});  // the sum fits int
  Array<int, 1> values(n), sums(n / kGroup);
  int* p = values.data(HPL_WR);
  int expected = 0;
  for (int i = 0; i < n; ++i) {
    p[i] = i % 1000 - 300;
    expected += p[i];
  }

  eval(sumOfGroup).global(n).local(kGroup)(sums, values);

  const int onDevice = sums.reduce(std::plus<int>());
  const int onHost = values.reduce(std::plus<int>());
  std::printf("reduction: %d on the device, %d on the host, expected %d\n", onDevice, onHost,
              expected);
  return onDevice == expected && onHost == expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "reduction: %s\n", error.what());
  return 1;
}
