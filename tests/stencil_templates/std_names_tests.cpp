// SPDX-License-Identifier: Apache-2.0
// Kernels of a program that says `using namespace std`, too.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numeric>

#include "stencil_templates/stencil_templates.h"

namespace std_names_tests {

using namespace std;
using namespace hpl;

void realNumbers(Array<float, 1> out, const Array<float, 1>& a, const Array<float, 1>& b) {
  Float x = a[idx], y = b[idx];
  out[idx] = min(x, y) + max(a[idx], b[idx]) + sqrt(x) + abs(y) + pow(x, y) + floor(y) +
             min(x, 1.0f) + fmod(x, 2.0f) + clamp(x, y, y) + hypot(x, y) + round(x) + fma(x, y, x);
  out[idx] = where(isnan(x), 0.0f, out[idx]);
}

void integers(Array<int, 1> out) {
  Int i = idx, j = 2 * idx;
  swap(i, j);
  out[idx] = i + abs(-j) + max(i, j) + clamp(i, 0, 5) + cast<int>(min(idx, idx) + max(idx, szx));
}

TEST_CASE("kernels after `using namespace std` call functions of kernel values") {
  Array<float, 1> a(4), b(4), out(4);
  a = 3.0f, b = 4.0f;
  swap(a, b);
  eval(realNumbers)(out, a, b);  // x = 4, y = 3
  CHECK(out(2) == 3.0f + 4 + 2 + 3 + 64 + 3 + 1 + 0 + 3 + 5 + 4 + 16);
  CHECK(sum(a) == 16.0f);
  CHECK(min(a) == 4.0f);
  CHECK(max(b) == 3.0f);
  CHECK(dot(a, b) == 48.0f);
  Array<int, 1> numbers(6);
  eval(integers)(numbers);
  for (int i = 0; i < 6; ++i) CHECK(numbers(i) == 2 * i + i + 2 * i + min(2 * i, 5) + i + 6);
  Stencil median(
      [](Neighbourhood<float, 1> t) { return max(min(t(-1), t(0)), min(max(t(-1), t(0)), t(1))); });
  median.boundary(Nearest());
  a(2) = 9.0f;
  median(a, out);
  CHECK(out(2) == 4.0f);
}

}  // namespace std_names_tests
