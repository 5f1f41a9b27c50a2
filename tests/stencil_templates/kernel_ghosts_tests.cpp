// SPDX-License-Identifier: Apache-2.0
// Parts of a distribution: what is computed in their ghosts, and what is left alone.
#include <doctest/doctest.h>

#include "hpl/runtime/settings.h"
#include "kernel_support.h"

namespace kernel_ghosts_tests {

using namespace hpl;
using namespace kernel_tests;

namespace {

using Grid = Array<int, 2>;

template <char Letter, StencilForm Form>
using Kernel = SumKernel<Letter, Form, int, int, 2, 1, 2, 1, 0>;

constexpr int kCols = 13;

class WithGhostCheck {
 public:
  WithGhostCheck() : before_(runtime::settings()) {
    runtime::Settings wanted = before_;
    wanted.checkGhosts = true;
    runtime::overrideSettings(wanted);
  }
  ~WithGhostCheck() { runtime::overrideSettings(before_); }

 private:
  runtime::Settings before_;
};

/// Several steps with ghosts for `steps` steps, refreshed once in between: ghost cell expansion.
template <char Letter, StencilForm Form>
bool expansionAgrees(int parts, SyncMode sync) {
  constexpr int kSteps = 3;
  const int rows = 12 * parts + 5;
  const Shape n = {1, rows, kCols};
  std::vector<int> first = someValues<int>(static_cast<std::size_t>(rows * kCols), 4);
  std::vector<int> second = first;
  Grid a = arrayOf<int, 2>(n, first), b = arrayOf<int, 2>(n, second);
  const auto part = [&](Grid& array) { return PART1(array, kSteps, 2 * kSteps, sync); };
  auto s = PrepareStencilKernel2D<1, 2, 1, 0, Form>(part(a), firstDevices(parts), Domain(8, 4), 2);
  for (int step = 0; step < 2 * kSteps; ++step) {
    eval(Kernel<Letter, Form>())
        .devices(s.devices)
        .global(s.global)
        .local(s.local)(part(a), part(b), s.temp, s.helper);
    if (sync == MANUAL_SYNC && (step + 1) % kSteps == 0) b.syncGhosts();
    second = stepOnHost<Letter, int, int, 2, 1, 2, 1, 0>(n, first, second);
    swap(a, b);
    std::swap(first, second);
  }
  std::vector<int> result(first.size());
  a.copyTo(result.data());
  return result == first;
}

void fillWith(Grid a, Int value) { a[idy][idx] = value; }
void copyPart(Grid to, Grid from) { to[idy][idx] = from[idy][idx]; }

}  // namespace

TEST_CASE("ghost cell expansion: several steps between two exchanges") {
  for (const int parts : {1, deviceCount()}) {
    CAPTURE(parts);
    CHECK(expansionAgrees<'F', StencilForm::Direct>(parts, MANUAL_SYNC));
    CHECK(expansionAgrees<'F', StencilForm::Tile>(parts, MANUAL_SYNC));
    CHECK(expansionAgrees<'M', StencilForm::Direct>(parts, AUTO_SYNC));
    CHECK(expansionAgrees<'M', StencilForm::Tile>(parts, AUTO_SYNC));
  }
}

TEST_CASE("the direct form tells how far it reaches: no false alarm of the freshness check") {
  const WithGhostCheck guard;
  CHECK(expansionAgrees<'N', StencilForm::Direct>(deviceCount(), MANUAL_SYNC));
}

TEST_CASE_TEMPLATE("ghosts that lack a neighbour are left as they are", Kind,
                   std::integral_constant<StencilForm, StencilForm::Direct>,
                   std::integral_constant<StencilForm, StencilForm::Tile>) {
  constexpr StencilForm kForm = Kind::value;
  if (deviceCount() < 2) return;
  constexpr int kRows = 24, kGhosts = 4, kOld = -12345;
  const Shape n = {1, kRows, kCols};
  const std::vector<int> x = someValues<int>(kRows * kCols, 6);
  Grid in = arrayOf<int, 2>(n, x), out(kRows, kCols);
  auto s = PrepareStencilKernel2D<1, 2, 1, 0, kForm>(PART1(in, kGhosts), firstDevices(2),
                                                     Domain(8, 4), 2);
  eval(fillWith).devices(s.devices)(PART1(out, kGhosts), kOld);
  eval(Kernel<'F', kForm>())
      .devices(s.devices)
      .global(s.global)
      .local(s.local)(PART1(in, kGhosts), PART1(out, kGhosts), s.temp, s.helper);
  // Each device has 12 rows and 4 of the other's.
  std::vector<Grid> copies{Grid(12 + kGhosts, kCols), Grid(12 + kGhosts, kCols)};
  eval(copyPart).devices(s.devices)(copies, PART1(out, kGhosts));
  const auto wanted =
      stepOnHost<'F', int, int, 2, 1, 2, 1, 0>(n, x, std::vector<int>(x.size(), kOld));
  for (int device = 0; device < 2; ++device) {
    const int firstRow = device == 0 ? 0 : 12 - kGhosts;
    for (int row = 0; row < 12 + kGhosts; ++row) {
      // One row above and two below are needed.
      const bool isComputed = device == 0 ? row + 2 < 12 + kGhosts : row >= 1;
      for (int col = 0; col < kCols; ++col) {
        CAPTURE(device);
        CAPTURE(row);
        const int value = wanted[static_cast<std::size_t>((firstRow + row) * kCols + col)];
        REQUIRE(copies[static_cast<std::size_t>(device)](row, col) == (isComputed ? value : kOld));
      }
    }
  }
}

TEST_CASE("parts of the second and third dimension, and blocks of two") {
  for (const int parts : {1, deviceCount()}) {
    CAPTURE(parts);
    const Run columns{{1, 11, 43}, Domain(8, 4), 2, parts, 2, 1};
    CHECK(agrees<'N', StencilForm::Direct, int, int, 2, 1, 2, 1, 0>(columns));
    CHECK(agrees<'N', StencilForm::Tile, int, int, 2, 1, 2, 1, 0>(columns));
    const Run depth{{6, 7, 31}, Domain(4, 2, 2), 2, parts, 3, 0};
    CHECK(agrees<'F', StencilForm::Direct, int, int, 3, 0, 1, 1, 0, 1, 1>(depth));
    CHECK(agrees<'F', StencilForm::Tile, int, int, 3, 0, 1, 1, 0, 1, 1>(depth));
    const Shape n = {1, 22, 26};
    const std::vector<int> x = someValues<int>(22 * 26, 9);
    Grid in = arrayOf<int, 2>(n, x), out(22, 26);
    auto s = PrepareStencilKernel2D<1, 2, 1, 0, StencilForm::Tile>(
        PART12(in, 2, 1), firstDevices(parts), Domain(8, 4), 2);
    eval(Kernel<'M', StencilForm::Tile>())
        .devices(s.devices)
        .global(s.global)
        .local(s.local)(PART12(in, 2, 1), PART12(out, 2, 1), s.temp, s.helper);
    std::vector<int> result(x.size());
    out.copyTo(result.data());
    CHECK(result == stepOnHost<'M', int, int, 2, 1, 2, 1, 0>(n, x, x));
  }
}

TEST_CASE("devices that get no element have nothing to do") {
  const Shape n = {1, 1, 20};
  const std::vector<int> x = someValues<int>(20, 2);
  Grid in = arrayOf<int, 2>(n, x), out(1, 20);
  // One row for all devices; no row is needed from above or below.
  auto s =
      PrepareStencilKernel2D<0, 0, 1, 1, StencilForm::Tile>(in, 1, deviceCount(), Domain(8, 4), 2);
  eval(SumKernel<'F', StencilForm::Tile, int, int, 2, 0, 0, 1, 1>())
      .devices(s.devices)
      .global(s.global)
      .local(s.local)(PART1(in), PART1(out), s.temp, s.helper);
  std::vector<int> result(x.size());
  out.copyTo(result.data());
  CHECK(result == stepOnHost<'F', int, int, 2, 0, 0, 1, 1>(n, x, x));
}

}  // namespace kernel_ghosts_tests
