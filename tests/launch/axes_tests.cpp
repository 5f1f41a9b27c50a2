// SPDX-License-Identifier: Apache-2.0
// Kernels that index arrays as a[idx][idy] run with swapped axes; the results do not show it.
#include "hpl/layout/axes.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "hpl/error.h"
#include "hpl/hpl.h"
#include "hpl/launch/detail/kernel_entry.h"
#include "hpl/runtime/runtime.h"

namespace axes_tests {

using namespace hpl;
using layout::Axes;

namespace {

void columns(Array<int, 2> a) { a[idx][idy] = cast<int>(idx * 10000 + idy * 100 + szx * 10 + szy); }
void rows(Array<int, 2> a) { a[idy][idx] = cast<int>(idx * 10000 + idy * 100 + szx * 10 + szy); }
void blur(Array<float, 2> out, const Array<float, 2>& in) {
  if_(idx > 0 && idx < szx - 1 && idy > 0 && idy < szy - 1) {
    out[idx][idy] = in[idx - 1][idy] + 2.0f * in[idx][idy - 1] + 4.0f * in[idx][idy + 1];
  }
}
void volume(Array<int, 3> a) { a[idx][idy][idz] = cast<int>(idx * 10000 + idy * 100 + idz); }
void mixedVolume(Array<int, 3> a) { a[idy][idx][idz] = cast<int>(idx * 10000 + idy * 100 + idz); }
void rowOnly(Array<int, 1> a) { a[idx] = cast<int>(idx + 100 * szx); }
void grouped(Array<int, 2> a) { a[idx][idy] = cast<int>(lszx * 100 + lszy); }

template <class F>
Axes axesOf(F* kernel) {
  runtime::DeviceState& device = runtime::Runtime::get().defaultDevice();
  return launch::entryOf(kernel).entry->version(device, {})->axes.dimension;
}

int expected(int x, int y, int sizeX, int sizeY) {
  return x * 10000 + y * 100 + sizeX * 10 + sizeY;
}

}  // namespace

TEST_CASE("a[idx][idy] gives the same results, ids and sizes as it says, whatever the domain") {
  REQUIRE(axesOf(columns) == Axes{1, 0, 2});
  REQUIRE(axesOf(rows) == layout::kNaturalAxes);
  for (const auto& [sizeX, sizeY] : {std::pair{7, 5}, {1, 9}, {9, 1}, {300, 3}, {3, 300}}) {
    INFO("domain (" << sizeX << ", " << sizeY << ")");
    const auto x = static_cast<std::size_t>(sizeX), y = static_cast<std::size_t>(sizeY);
    Array<int, 2> a(sizeX, sizeY), b(sizeY, sizeX), c(sizeX, sizeY);
    eval(columns).global(x, y)(a);
    eval(rows).global(x, y)(b);
    eval(columns).global(x, y).interpret(c);
    bool same = true;
    for (int i = 0; i < sizeX; ++i)
      for (int j = 0; j < sizeY; ++j) {
        const int value = expected(i, j, sizeX, sizeY);
        same = same && a(i, j).value() == value && b(j, i).value() == value &&
               c(i, j).value() == value;
      }
    CHECK(same);
  }
}

TEST_CASE("a local domain is the user's along the user's axes, also where it does not divide") {
  for (const auto& [localX, localY] : {std::pair{4, 2}, {2, 8}, {1, 16}, {16, 1}, {5, 3}}) {
    INFO("local (" << localX << ", " << localY << ")");
    Array<int, 2> a(20, 12);
    a = -1;
    eval(columns).global(18, 11).local(static_cast<std::size_t>(localX),
                                       static_cast<std::size_t>(localY))(a);
    bool same = true;
    for (int i = 0; i < 20; ++i)
      for (int j = 0; j < 12; ++j)
        same = same && a(i, j).value() == (i < 18 && j < 11 ? expected(i, j, 18, 11) : -1);
    CHECK(same);
  }
  // Kernels that can see their groups are left alone.
  REQUIRE(axesOf(grouped) == layout::kNaturalAxes);
  Array<int, 2> groups(8, 8);
  eval(grouped).local(4, 2)(groups);
  CHECK(groups(7, 7).value() == 402);
}

TEST_CASE("a stencil along swapped axes, on whole arrays and on views") {
  constexpr int n = 33, m = 50;
  Array<float, 2> in(n, m), out(n, m), part(n, m);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) in(i, j) = static_cast<float>(i * 31 + j * j % 17);
  out = 0.0f;
  part = 0.0f;
  REQUIRE(axesOf(blur) == Axes{1, 0, 2});
  eval(blur).global(n, m)(out, in);
  const Range r(2, 20), s(3, 44);
  eval(blur).global(19, 42)(part(r, s), in(r, s));
  const auto value = [&](int i, int j) {
    return in(i - 1, j).value() + 2.0f * in(i, j - 1).value() + 4.0f * in(i, j + 1).value();
  };
  bool whole = true, view = true;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      const bool inside = i > 0 && i < n - 1 && j > 0 && j < m - 1;
      whole = whole && out(i, j).value() == (inside ? value(i, j) : 0.0f);
      const bool insideView = i > 2 && i < 20 && j > 3 && j < 44;
      view = view && part(i, j).value() == (insideView ? value(i, j) : 0.0f);
    }
  CHECK(whole);
  CHECK(view);
}

TEST_CASE("three axes in any order") {
  REQUIRE(axesOf(volume) == Axes{2, 1, 0});
  REQUIRE(axesOf(mixedVolume) == Axes{1, 2, 0});
  for (const bool local : {false, true}) {
    Array<int, 3> a(5, 7, 9), b(7, 5, 9);
    auto plain = eval(volume).global(5, 7, 9);
    auto mixed = eval(mixedVolume).global(5, 7, 9);
    if (local) {
      plain.local(2, 4, 3);
      mixed.local(2, 4, 3);
    }
    plain(a);
    mixed(b);
    bool same = true;
    for (int x = 0; x < 5; ++x)
      for (int y = 0; y < 7; ++y)
        for (int z = 0; z < 9; ++z) {
          const int value = x * 10000 + y * 100 + z;
          same = same && a(x, y, z).value() == value && b(y, x, z).value() == value;
        }
    CHECK(same);
  }
}

TEST_CASE("a launch of fewer dimensions than the swapped axes need keeps them") {
  Array<int, 2> a(6, 4);
  a = -1;
  eval(columns).global(6)(a);
  for (int i = 0; i < 6; ++i) {
    CHECK(a(i, 0).value() == expected(i, 0, 6, 1));
    CHECK(a(i, 1).value() == -1);
  }
  Array<int, 1> row(10);
  eval(rowOnly)(row);
  CHECK(row(9).value() == 1009);
}

TEST_CASE("swapped axes give way to the device's limits on the user's local domain") {
  DeviceProperties device;
  device.maxWorkItemSizes = {1024, 1024, 64};
  const Axes swapped{2, 1, 0};
  CHECK(layout::axesFor(swapped, 3, Domain(), device) == swapped);
  CHECK(layout::axesFor(swapped, 3, Domain(64, 1, 1), device) == swapped);
  CHECK(layout::axesFor(swapped, 3, Domain(128, 1, 1), device) == layout::kNaturalAxes);
  CHECK(layout::axesFor(swapped, 2, Domain(), device) == layout::kNaturalAxes);
  CHECK(layout::axesFor({1, 0, 2}, 2, Domain(), device) == Axes{1, 0, 2});
  CHECK(layout::fastestAxis(swapped) == 2);
  CHECK(layout::rowOf(swapped, 3, 8) == Domain(1, 1, 8));
  std::size_t out[3];
  layout::toDevice({1, 2, 0}, {10, 20, 30}, out);
  CHECK((out[0] == 30 && out[1] == 10 && out[2] == 20));
}

}  // namespace axes_tests
