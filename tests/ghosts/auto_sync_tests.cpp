// SPDX-License-Identifier: Apache-2.0
// AUTO_SYNC must be right for kernels that leave more of their part unwritten than they reach.
#include <doctest/doctest.h>

#include "support.h"

namespace auto_sync_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

using Step = std::vector<int> (*)(const std::vector<int>& in, std::vector<int> out);

// Runs `kernel` with ghosts of width r and compares with `step` on the whole vector.
void compare(void (*kernel)(Numbers, Numbers), Step step, int r) {
  CAPTURE(r);
  Numbers a(120), b(120);
  std::vector<int> x = someValues(120, 21), y = someValues(120, 22);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  for (int i = 0; i < 15; ++i) {
    eval(kernel)(PART1(b, r, AUTO_SYNC), PART1(a, r, AUTO_SYNC));
    swap(a, b);
    y = step(x, y);
    std::swap(x, y);
  }
  CHECK(valuesOf(a) == x);
  CHECK(valuesOf(b) == y);
}

int sum3(const std::vector<int>& in, std::size_t i) {
  return static_cast<int>(static_cast<unsigned>(in[i - 1]) + static_cast<unsigned>(in[i]) +
                          static_cast<unsigned>(in[i + 1]));
}

// The guard is wider than the reach.
void wideGuard(Numbers out, Numbers in) {
  if_(idx >= 3 && idx + 3 < szx) {
    out[idx] = in[idx - 1] + in[idx] + in[idx + 1];
  }
}

std::vector<int> wideGuardStep(const std::vector<int>& in, std::vector<int> out) {
  for (std::size_t i = 3; i + 3 < in.size(); ++i) out[i] = sum3(in, i);
  return out;
}

// The cells that are written depend on data.
void onlyEven(Numbers out, Numbers in) {
  if_(idx > 0 && idx + 1 < szx) {
    if_(in[idx] % 2 == 0) {
      out[idx] = in[idx - 1] + in[idx] + in[idx + 1];
    }
  }
}

std::vector<int> onlyEvenStep(const std::vector<int>& in, std::vector<int> out) {
  for (std::size_t i = 1; i + 1 < in.size(); ++i)
    if (in[i] % 2 == 0) out[i] = sum3(in, i);
  return out;
}

// Both branches write.
void bothBranches(Numbers out, Numbers in) {
  if_(idx == 0 || idx + 1 == szx) {
    out[idx] = in[idx];
  }
  else_ { out[idx] = in[idx - 1] + in[idx] + in[idx + 1]; }
}

std::vector<int> bothBranchesStep(const std::vector<int>& in, std::vector<int> out) {
  for (std::size_t i = 1; i + 1 < in.size(); ++i) out[i] = sum3(in, i);
  out.front() = in.front();
  out.back() = in.back();
  return out;
}

}  // namespace

TEST_CASE("AUTO_SYNC is right when the kernel's guard is wider than its reach") {
  for (const int r : {3, 4, 6}) compare(wideGuard, wideGuardStep, r);
}

TEST_CASE("AUTO_SYNC is right when data decides what is written") {
  for (const int r : {1, 2, 4}) compare(onlyEven, onlyEvenStep, r);
}

TEST_CASE("AUTO_SYNC is right when every branch writes") {
  for (const int r : {1, 2, 4}) compare(bothBranches, bothBranchesStep, r);
}

TEST_CASE("arrays that differ in what is not split share trust along what is") {
  const int rows = 20 * deviceCount(), columns = 6;
  Grid a(rows, columns), b(rows, columns);
  Array<int, 1> sums(rows);
  std::vector<int> x = someValues(a.size(), 61), y = someValues(a.size(), 62);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  sums = 0;
  const auto sumRows = [](Numbers out, const Grid& in, Int width) {
    Int sum = 0;
    for_(Int i = 0, i < width, i += 1) {
      sum += in[idx][i];
    }
    out[idx] = sum;
  };
  for (int step = 0; step < 4; ++step) {
    eval(ninePoint)(PART1(b, 2, AUTO_SYNC), PART1(a, 2, AUTO_SYNC));
    // Reads its own row only: stale ghosts do not matter.
    const Traffic traffic;
    eval(sumRows)(PART1(sums, 2, AUTO_SYNC), PART1(b, 2, AUTO_SYNC), columns);
    CHECK(traffic.betweenDevices() == 0);
    swap(a, b);
    y = ninePointStep(x, y, rows, columns);
    std::swap(x, y);
  }
  for (int r = 0; r < rows; ++r) {
    unsigned sum = 0;
    for (int c = 0; c < columns; ++c)
      sum += static_cast<unsigned>(x[static_cast<std::size_t>(r * columns + c)]);
    CHECK(sums(r) == static_cast<int>(sum));
  }
}

}  // namespace auto_sync_tests
