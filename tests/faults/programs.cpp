// SPDX-License-Identifier: Apache-2.0
// Programs that use what the samples do not.
#include "tests/faults/programs.h"

#include <algorithm>
#include <numeric>

#include "hpl/hpl.h"
#include "stencil_templates/stencil_templates.h"

namespace faults_tests {

using namespace hpl;

namespace {

using Numbers = Array<int, 1>;

void increment(Numbers a) { a[idx] += 1; }
void neighbours(Numbers out, const Numbers& in) {
  if_(idx > 0 && idx + 1 < szx) {
    out[idx] = in[idx - 1] + 2 * in[idx + 1];
  }
}

std::vector<int> someNumbers(std::size_t n) {
  std::vector<int> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<int>(i * 7919 % 101);
  return values;
}

std::vector<double> numbersOf(const std::vector<int>& values) {
  return {values.begin(), values.end()};
}

std::vector<double> numbersOf(const Numbers& array) {
  std::vector<int> values(array.size());
  array.copyTo(values.data());
  return numbersOf(values);
}

/// One step of neighbours().
std::vector<int> neighboursOf(const std::vector<int>& in, std::vector<int> out) {
  for (std::size_t i = 1; i + 1 < in.size(); ++i) out[i] = in[i - 1] + 2 * in[i + 1];
  return out;
}

int deviceCount() { return getDeviceNumber(Device().type()); }

}  // namespace

Program iterateProgram(int devices) {
  constexpr int kRows = 40, kColumns = 30, kSteps = 9;
  const auto start = [] {
    std::vector<int> cells(std::size_t{kRows} * kColumns);
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<int>(i * 7919 % 101);
    return cells;
  };
  std::vector<int> now = start();
  const auto at = [&now](int row, int column) {
    const bool inside = row >= 0 && row < kRows && column >= 0 && column < kColumns;
    return inside ? now[static_cast<std::size_t>(row * kColumns + column)] : 0;
  };
  for (int step = 0; step < kSteps; ++step) {
    std::vector<int> next(now.size());
    for (int y = 0; y < kRows; ++y)
      for (int x = 0; x < kColumns; ++x)
        next[static_cast<std::size_t>(y * kColumns + x)] =
            (at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1) + 3 * at(y, x)) % 1000;
    now = next;
  }
  const auto run = [start, devices] {
    Stencil mix([](Neighbourhood<int, 2> p) {
      return (p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1) + 3 * p()) % 1000;
    });
    mix.boundary(Fixed(0));
    Array<int, 2> a(kRows, kColumns), b(kRows, kColumns);
    a.label("field");
    a.copyFrom(start().data());
    mix.devices(devices).timeTile(4).iterate(kSteps)(a, b);
    std::vector<int> values(a.size());
    a.copyTo(values.data());
    return numbersOf(values);
  };
  return {"iterate on " + std::to_string(devices) + " devices", run, numbersOf(now)};
}

Program autoSyncProgram() {
  constexpr int kSteps = 3;
  const std::vector<int> start = someNumbers(60);
  std::vector<int> now = start, next = start;
  for (int step = 0; step < kSteps; ++step) {
    next = neighboursOf(now, next);
    for (int& value : next) ++value;
    std::swap(now, next);
  }
  const auto run = [start] {
    Numbers a(60), b(60);
    a.label("now");
    a.copyFrom(start.data());
    b.copyFrom(start.data());
    for (int step = 0; step < kSteps; ++step) {
      eval(neighbours)(PART1(b, 2, AUTO_SYNC), PART1(a, 2, AUTO_SYNC));
      eval(increment)(PART1(b, 2, AUTO_SYNC));
      swap(a, b);
    }
    return numbersOf(a);
  };
  return {"AUTO_SYNC", run, numbersOf(now)};
}

Program automaticProgram() {
  constexpr int kSteps = 3;
  const std::vector<int> start = someNumbers(60);
  std::vector<int> now = start, next = start;
  for (int step = 0; step < kSteps; ++step) {
    next = neighboursOf(now, next);
    for (int& value : next) ++value;
    std::swap(now, next);
  }
  const auto run = [start] {
    Numbers a(60), b(60);
    a.label("now");
    a.copyFrom(start.data());
    b.copyFrom(start.data());
    for (int step = 0; step < kSteps; ++step) {
      eval(neighbours).devices(deviceCount())(b, a);
      eval(increment).devices(deviceCount())(b);
      swap(a, b);
    }
    return numbersOf(a);
  };
  return {"automatic distribution", run, numbersOf(now)};
}

Program assignmentsProgram() {
  const std::vector<int> start = someNumbers(64);
  std::vector<int> a = start, b(64, 5);
  for (int& value : a) ++value;
  for (int i = 0; i < 64; ++i) b[static_cast<std::size_t>(i)] = a[static_cast<std::size_t>(i)] + 1;
  std::copy_backward(b.begin(), b.begin() + 50, b.begin() + 60);
  a[3] = 77;
  std::fill(a.begin() + 10, a.begin() + 20, -3);
  for (int& value : a) ++value;
  std::vector<int> expected = a;
  expected.insert(expected.end(), b.begin(), b.end());
  const auto run = [start] {
    const std::vector<Device> all = devices(Device().type());
    std::vector<int> memory = start;
    Numbers b(64);
    b = 5;
    {
      Numbers a(64, memory.data());
      eval(increment).device(all.front())(a);
      eval(increment).device(all.back())(b);
      b = a;
      eval(increment).device(all.back())(b);
      b(Range(10, 59)) = b(Range(0, 49));
      a(3) = 77;
      eval(increment).device(all.back())(a(Range(32, 63)));
      a(Range(10, 19)) = -3;
      eval(increment).device(all.front())(a(Range(0, 31)));
    }
    std::vector<double> numbers = numbersOf(memory);
    const std::vector<double> more = numbersOf(b);
    numbers.insert(numbers.end(), more.begin(), more.end());
    return numbers;
  };
  return {"assignments", run, numbersOf(expected)};
}

}  // namespace faults_tests
