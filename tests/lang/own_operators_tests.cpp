// SPDX-License-Identifier: Apache-2.0
// Kernels in a namespace that has operators and functions of its own, whose names hide those that
// `using namespace hpl` brings: C++ finds HPL's by their arguments.
#include <doctest/doctest.h>

#include <algorithm>

#include "hpl/hpl.h"

using namespace hpl;

HPL_STRUCT(OwnOperatorsBody, (float2, place), (int, kind));

namespace own_operators_tests {

// Of a program that computes with intervals on the host.
struct Interval {
  int low, high;
};
#define OWN_BINARY(symbol) \
  [[maybe_unused]] Interval operator symbol(Interval a, Interval) { return a; }
OWN_BINARY(+)
OWN_BINARY(-)
OWN_BINARY(*)
OWN_BINARY(/)
OWN_BINARY(%)
OWN_BINARY(&)
OWN_BINARY(|)
OWN_BINARY(^)
OWN_BINARY(<<)
OWN_BINARY(>>)
OWN_BINARY(==)
OWN_BINARY(!=)
OWN_BINARY(<)
OWN_BINARY(<=)
OWN_BINARY(>)
OWN_BINARY(>=)
OWN_BINARY(&&)
OWN_BINARY(||)
#undef OWN_BINARY
[[maybe_unused]] Interval operator-(Interval a) { return a; }
[[maybe_unused]] Interval operator+(Interval a) { return a; }
[[maybe_unused]] Interval operator~(Interval a) { return a; }
[[maybe_unused]] Interval operator!(Interval a) { return a; }
[[maybe_unused]] Interval min(Interval a, Interval) { return a; }
[[maybe_unused]] Interval max(Interval a, Interval) { return a; }
[[maybe_unused]] Interval sqrt(Interval a) { return a; }
[[maybe_unused]] Interval sum(Interval a) { return a; }
[[maybe_unused]] Interval where(Interval a, Interval, Interval) { return a; }
template <class T>
[[maybe_unused]] Interval cast(Interval a) {
  return a;
}

void ids(Array<int, 1> out, Int n) {
  if_((idx >= 1 && idx < 8 && !(idx == 3)) || idx > 8 || idx != 8 - gridx) {
    out[idx] = cast<int>(min(idx, 7) + max(idx % 5, 2) + idx * 3 - lidx + idx / 2) * n;
    out[idx] += cast<int>((idx << 2) + (idx >> 1) + (idx & 3) + (idx | 4) + (idx ^ 1)) +
                cast<int>(szx - idx) - cast<int>(gridx) + cast<int>(-idx + +idx + ~idx + 1 + idx);
    out[idx] += where(idx <= 4, 100, 200);
  }
}

void parts(Array<float, 1> out, const Array<OwnOperatorsBody, 1>& b, const Array<float4, 1>& f) {
  out[idx] = b[idx].place.x * 2.0f + b[idx].kind - sqrt(f[idx].y) + f[idx].z / 2.0f - -f[idx].x;
}

TEST_CASE("operators of a program's namespace do not hide those of positions") {
  constexpr int kSize = 16;
  Array<int, 1> out(kSize);
  out = 0;
  eval(ids).local(4)(out, 5);
  for (int i = 0; i < kSize; ++i) {
    CAPTURE(i);
    const int lid = i % 4;
    int expected = 0;
    if ((i >= 1 && i < 8 && i != 3) || i > 8 || i != 8 - i) {
      expected = (std::min(i, 7) + std::max(i % 5, 2) + i * 3 - lid + i / 2) * 5;
      expected += (i << 2) + (i >> 1) + (i & 3) + (i | 4) + (i ^ 1) + kSize - i - i;
      expected += i <= 4 ? 100 : 200;
    }
    CHECK(out(i) == expected);
  }
  CHECK(out(0) + out(1) == out(1) + out(0));
  CHECK(hpl::sum(out) > 0);
}

TEST_CASE("operators of a program's namespace do not hide those of members and lanes") {
  Array<OwnOperatorsBody, 1> bodies(3);
  Array<float4, 1> vectors(3);
  Array<float, 1> out(3);
  for (int i = 0; i < 3; ++i) {
    bodies(i) = OwnOperatorsBody{{1.5f + static_cast<float>(i), 0.0f}, i};
    vectors(i) = float4{1.0f, 4.0f, 6.0f, 0.0f};
  }
  eval(parts)(out, bodies, vectors);
  for (int i = 0; i < 3; ++i) CHECK(out(i) == 5.0f + 3.0f * static_cast<float>(i));
}

}  // namespace own_operators_tests
