// SPDX-License-Identifier: Apache-2.0
// The programs of the paper's figures, typing errors aside, on whatever devices there are.
#include <doctest/doctest.h>

#include "support.h"

namespace figures_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

// Figure 2.
void simple(Numbers a, Numbers b) { a[idx] = a[idx] + b[idx]; }

// Figures 3 and 4: the work-items of a group, and the neighbours of the first and the last of them.
void simpleKernel(Numbers input, Numbers accum, Int nelems) {
  const int group = groupSize();  // the paper's 64, where devices take so many
  Array<int, 1, Local> tmp(group + 2);
  tmp[lidx + 1] = input[idx];
  if_(lidx == 0) {
    tmp[0] = where(idx == 0, 0, input[idx - 1]);
    Int after = cast<int>(idx) + group;
    tmp[group + 1] = where(after >= nelems, 0, input[after]);
  }
  barrier(LOCAL);
  accum[idx] = tmp[lidx] + tmp[lidx + 1] + tmp[lidx + 2];
}

void update(Numbers accum, Numbers array) { array[idx] = accum[idx]; }

void obtainSubarraySizes(int n, std::vector<int>& s_s, std::vector<int>& s_e, int ndevices) {
  int accum_work = 0;
  const int last = ndevices - 1;
  for (int j = 0; j < ndevices; j++) {
    const int current_work = j == last ? n - accum_work : n / ndevices;
    s_s.push_back(accum_work - (j != 0));
    s_e.push_back(accum_work + (current_work + (j != last)) - 1);
    accum_work += current_work;
  }
}

std::vector<int> reference(std::vector<int> x, int steps) {
  for (int step = 0; step < steps; ++step) {
    std::vector<int> next = x;
    for (std::size_t i = 0; i < x.size(); ++i)
      next[i] = static_cast<int>((i > 0 ? static_cast<unsigned>(x[i - 1]) : 0u) +
                                 static_cast<unsigned>(x[i]) +
                                 (i + 1 < x.size() ? static_cast<unsigned>(x[i + 1]) : 0u));
    x = next;
  }
  return x;
}

// A number of elements for which every part with its ghosts is a multiple of 64 but for the ends,
// which the library masks.
constexpr int kElements = 64 * 12;

}  // namespace

TEST_CASE("Figure 2: explicit subarrays on several devices") {
  const int n = 1000;
  Numbers a(n), b(n);
  std::vector<int> x = someValues(n, 1), y = someValues(n, 2);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  const auto devices = testDevices();
  const int ndevices = deviceCount();
  for (int i = 0; i < ndevices; i++) {
    const Range r(i * (n / ndevices), i + 1 == ndevices ? n - 1 : (i + 1) * (n / ndevices) - 1);
    eval(simple).device(devices[static_cast<std::size_t>(i)])(a(r), b(r));
  }
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  CHECK(valuesOf(a) == x);
}

TEST_CASE("Figure 4: subarrays with manual updates of the ghosts") {
  Numbers input(kElements), accum(kElements);
  std::vector<int> s_s, s_e;
  const auto devices = testDevices();
  const int ndevices = deviceCount();
  const std::vector<int> x = someValues(kElements, 3);
  input.copyFrom(x.data());
  obtainSubarraySizes(kElements, s_s, s_e, ndevices);
  const auto u = [](int j) { return static_cast<std::size_t>(j); };
  for (int i = 0; i < 10; i++) {
    for (int j = 0; j < ndevices; j++)
      eval(simpleKernel)
          .device(devices[u(j)])
          .local(groupSize())(input(Range(s_s[u(j)], s_e[u(j)])),
                              accum(Range(s_s[u(j)], s_e[u(j)])), s_e[u(j)] - s_s[u(j)] + 1);
    for (int j = 0; j < ndevices; j++)
      eval(update).device(devices[u(j)])(accum(Range(s_s[u(j)], s_e[u(j)])),
                                         input(Range(s_s[u(j)], s_e[u(j)])));
    for (int j = 1; j < ndevices; j++) {
      input(Range(s_s[u(j)], s_e[u(j)]))(Range(0)) =
          input(Range(s_s[u(j - 1)], s_e[u(j - 1)]))(Range(s_e[u(j - 1)] - s_s[u(j - 1)] - 1));
      input(Range(s_s[u(j - 1)], s_e[u(j - 1)]))(Range(s_e[u(j - 1)] - s_s[u(j - 1)])) =
          input(Range(s_s[u(j)], s_e[u(j)]))(Range(1));
    }
  }
  CHECK(valuesOf(input) == reference(x, 10));
}

TEST_CASE("Figure 7: subarrays with syncGhosts") {
  Numbers input(kElements), accum(kElements);
  std::vector<int> s_s, s_e;
  const auto devices = testDevices();
  const int ndevices = deviceCount();
  const std::vector<int> x = someValues(kElements, 4);
  input.copyFrom(x.data());
  obtainSubarraySizes(kElements, s_s, s_e, ndevices);
  const auto u = [](int j) { return static_cast<std::size_t>(j); };
  for (int i = 0; i < 10; i++) {
    for (int j = 0; j < ndevices; j++)
      eval(simpleKernel)
          .device(devices[u(j)])
          .local(groupSize())(input(Range(s_s[u(j)], s_e[u(j)])),
                              accum(Range(s_s[u(j)], s_e[u(j)])), s_e[u(j)] - s_s[u(j)] + 1);
    for (int j = 0; j < ndevices; j++)
      eval(update).device(devices[u(j)])(accum(Range(s_s[u(j)], s_e[u(j)])),
                                         input(Range(s_s[u(j)], s_e[u(j)])));
    input.syncGhosts();
  }
  CHECK(valuesOf(input) == reference(x, 10));
}

TEST_CASE("Figure 8: annotations with syncGhosts") {
  Numbers input(kElements), accum(kElements);
  const std::vector<int> x = someValues(kElements, 5);
  input.copyFrom(x.data());
  for (int i = 0; i < 10; i++) {
    eval(simpleKernel).local(groupSize())(PART1(input, 1), PART1(accum, 1), input.part(1));
    eval(update)(PART1(accum, 1), PART1(input, 1));
    input.syncGhosts();
  }
  CHECK(valuesOf(input) == reference(x, 10));
}

TEST_CASE("a manual update moves a value between the copies that two devices have of one cell") {
  if (deviceCount() < 2) return;
  const auto devices = testDevices();
  Numbers a(20);
  a = 0;
  const auto set = [](Numbers x, Int value) { x[idx] = value; };
  Numbers& lower = a(Range(0, 11));
  Numbers& upper = a(Range(8, 19));
  for (int round = 0; round < 2; ++round) {
    eval(set).device(devices[0])(lower, 1);
    eval(set).device(devices[1])(upper, 2);
  }
  // The overlap, cells 8 to 11, is cut in the middle.
  CHECK(a(9) == 1);
  CHECK(a(10) == 2);
  Numbers copies(12);
  eval(copyNumbers).device(devices[0])(copies, lower);
  CHECK(copies(10) == 1);
  lower(Range(10)) = upper(Range(2));
  eval(copyNumbers).device(devices[0])(copies, lower);
  CHECK(copies(10) == 2);
  CHECK(copies(11) == 1);
  a.syncGhosts();
  eval(copyNumbers).device(devices[0])(copies, lower);
  CHECK(copies(11) == 2);
  CHECK(valuesOf(a) ==
        std::vector<int>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2});
}

TEST_CASE("a part that overwrites the only present copy of another part's cells loses nothing") {
  if (deviceCount() < 2) return;
  const auto devices = testDevices();
  Numbers a(52);
  a = 0;
  const auto set = [](Numbers x, Int value) { x[idx] = value; };
  // Device 0 has a part; then the array is used in another way, which leaves the upper half on
  // device 1 alone; then device 1 gets a part that overlaps the one of device 0.
  eval(set).device(devices[0])(a(Range(0, 49)), 1);
  eval(set).devices({devices[0], devices[1]})(a, 2);
  eval(set).device(devices[1])(a(Range(28, 51)), 3);
  // The overlap, cells 28 to 49, is cut in the middle: 28 to 38 belong to device 0's part.
  for (int i = 0; i < 52; ++i) {
    CAPTURE(i);
    CHECK(a(i) == (i < 39 ? 2 : 3));
  }
}

}  // namespace figures_tests
