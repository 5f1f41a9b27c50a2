// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <optional>

#include "support.h"

namespace automatic_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

void fivePointOf(Grid out, Grid in, Int rows, Int columns) {
  Int y = cast<int>(idy), x = cast<int>(idx);
  if_(x > 0 && x + 1 < columns && y > 0 && y + 1 < rows) {
    out[idy][idx] = in[idy][idx] + 2 * in[idy - 1][idx] + 3 * in[idy + 1][idx] -
                    5 * in[idy][idx - 1] + 7 * in[idy][idx + 1];
  }
}

Int placeOf() { return cast<int>(idy * szx + idx); }

}  // namespace

TEST_CASE("a stencil without annotations is distributed by its accesses") {
  const int rows = 37, columns = 29;
  Grid a(rows, columns), b(rows, columns);
  std::vector<int> x = someValues(a.size(), 1), y = someValues(a.size(), 2);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  std::optional<Traffic> traffic;
  for (int step = 0; step < 9; ++step) {
    if (step == 1) traffic.emplace();
    eval(fivePointOf).devices(deviceCount())(b, a, rows, columns);
    swap(a, b);
    y = fivePointStep(x, y, rows, columns);
    std::swap(x, y);
  }
  const std::uint64_t rowBytes = columns * sizeof(int);
  const auto borders = static_cast<std::uint64_t>(deviceCount() - 1);
  // One row in each direction over each border, from the second step on; nothing where all devices
  // work in the host's memory.
  CHECK(traffic->betweenDevices() == (devicesShareHostMemory() ? 0 : 8 * 2 * borders * rowBytes));
  CHECK(valuesOf(a) == x);
  CHECK(valuesOf(b) == y);
}

TEST_CASE("automatic distribution follows weights, views and domains") {
  const int rows = 40, columns = 16;
  Grid a(rows, columns), b(rows, columns);
  std::vector<int> x = someValues(a.size(), 3), y = someValues(a.size(), 4);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  std::vector<double> weights;
  for (int d = 0; d < deviceCount(); ++d) weights.push_back(1 + 2 * d);
  eval([](Grid out, Grid in) { out[idy][idx] = in[idy][idx] * 3; })
      .devices(deviceCount())
      .weights(weights)(b, a);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * 3;
  CHECK(valuesOf(b) == y);
  // Only a part of the domain, of a view.
  eval([](Grid out, Grid in) { out[idy + 0][idx] = in[idy + 1][idx] + 1; })
      .devices(deviceCount())
      .global(10, 20)(b(Range(5, 30), Range(2, 12)), a(Range(6, 35), Range(1, 15)));
  for (int r = 0; r < 20; ++r)
    for (int c = 0; c < 10; ++c)
      y[static_cast<std::size_t>((r + 5) * columns + c + 2)] =
          x[static_cast<std::size_t>((r + 7) * columns + c + 1)] + 1;
  CHECK(valuesOf(b) == y);
}

TEST_CASE("ids and sizes are those of the whole domain, in called functions as well") {
  const int rows = 21, columns = 18;
  Grid a(rows, columns), b(rows, columns);
  std::vector<int> x = someValues(a.size(), 8), y = someValues(a.size(), 9);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  for (int step = 0; step < 5; ++step) {
    // Guards with szx and szy.
    eval(ninePoint).devices(deviceCount())(b, a);
    swap(a, b);
    y = ninePointStep(x, y, rows, columns);
    std::swap(x, y);
  }
  CHECK(valuesOf(a) == x);
  eval([](Grid g) { g[idy][idx] = call(placeOf)() + cast<int>(szy) * 10000; })
      .devices(deviceCount())
      .local(8, 4)(a);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      if (a(r, c) != r * columns + c + rows * 10000)
        FAIL("at " << r << ' ' << c << ": " << a(r, c));
}

TEST_CASE("a kernel that reads anywhere gets whole arrays on every device") {
  Numbers out(50), in(50), order(50);
  std::vector<int> x = someValues(50, 5), p(50);
  for (int i = 0; i < 50; ++i) p[static_cast<std::size_t>(i)] = (i * 7 + 3) % 50;
  in.copyFrom(x.data());
  order.copyFrom(p.data());
  eval([](Numbers o, Numbers i, Numbers where) {
    o[idx] = i[where[idx]];
  }).devices(deviceCount())(out, in, order);
  for (std::size_t i = 0; i < 50; ++i) CHECK(out(i) == x[static_cast<std::size_t>(p[i])]);
}

TEST_CASE("kernels that cannot be divided are refused with the access that forbids it") {
  if (deviceCount() < 2) return;
  Numbers a(40), b(40);
  a = 1;
  b = 2;
  const int n = deviceCount();
  const auto refusal = [&](auto kernel) {
    return messageOf<LaunchError>([&] { eval(kernel).devices(n)(a, b); });
  };
  const auto contains = [](const std::string& text, const char* part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  contains(refusal([](Numbers x, Numbers y) { x[39 - idx] = y[idx]; }),
           "elsewhere than at its own idx (");
  contains(refusal([](Numbers x, Numbers y) { x[y[idx]] = 1; }), "elsewhere than at its own idx");
  contains(refusal([](Numbers x, Numbers y) { x[idx] = x[idx + 1] + y[idx]; }),
           "which it also writes, elsewhere than at its own idx");
  contains(refusal([](Numbers x, Numbers y) { atomic_add(x[0], y[idx]); }), "atomics");
  contains(refusal([](Numbers x, Numbers y) { x[idx] = y[lidx]; }), "asks for local ids");
  contains(messageOf<LaunchError>(
               [&] { eval([](Numbers x, Numbers y) { x[idx] = y[idx + 1]; }).devices(n)(a, a); }),
           "is written and also passed as argument 2");
  contains(refusal([](Numbers x, Numbers y) { x[39 - idx] = y[idx]; }), "annotate the arrays");
  CHECK(valuesOf(a) == std::vector<int>(40, 1));
}

TEST_CASE("one array as two arguments, each work-item in its own cell, is shared out") {
  const int rows = 40, columns = 12;
  const auto combine = [](Grid out, Grid in, Grid more) {
    out[idy][idx] = out[idy][idx] * 2 + in[idy][idx];
    out[idy][idx] += more[idy][idx];
  };
  Grid a(rows, columns), b(rows, columns);
  const std::vector<int> before = someValues(a.size(), 4), others = someValues(a.size(), 5);
  std::vector<int> expected = before;
  a.copyFrom(before.data());
  b.copyFrom(others.data());
  for (int step = 0; step < 3; ++step) {
    eval(combine).devices(deviceCount())(a, a, b);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = expected[i] * 3 + others[i];
  }
  CHECK(valuesOf(a) == expected);
  // Along rows each device has its own cells; along columns it would read another one's.
  const auto firstOfRow = [](Grid out, Grid in) {
    out[idy][idx + 1] = in[idy][idx + 1] + in[idy][0];
  };
  Grid c(rows, columns);
  c = 1;
  eval(firstOfRow)
      .devices(deviceCount())
      .blocks(1, static_cast<std::size_t>(deviceCount()))
      .global(columns - 1, rows)(c, c);
  for (int y = 0; y < rows; ++y) REQUIRE(c(y, columns - 1) == 2);
  if (deviceCount() < 2) return;
  const auto fifthOfRow = [](Grid out, Grid in) { out[idy][idx] = in[idy][idx] + in[idy][5]; };
  const std::string message = messageOf<LaunchError>([&] {
    eval(fifthOfRow)
        .devices(deviceCount())
        .blocks(static_cast<std::size_t>(deviceCount()), 1)(c, c);
  });
  CHECK(message.find("is written and also passed as argument 2") != std::string::npos);
}

TEST_CASE("measured weights give the right result and are positive shares") {
  const int rows = 60, columns = 50;
  Grid a(rows, columns), b(rows, columns);
  std::vector<int> x = someValues(a.size(), 6), y = someValues(a.size(), 7);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  eval(fivePointOf).devices(deviceCount()).weights(MEASURED)(b, a, rows, columns);
  y = fivePointStep(x, y, rows, columns);
  CHECK(valuesOf(b) == y);
  eval(ninePoint).devices(deviceCount()).weights(MEASURED)(PART1(a, 1), PART1(b, 1));
  x = ninePointStep(y, x, rows, columns);
  CHECK(valuesOf(a) == x);
}

TEST_CASE("an ExecutionPlan names devices and shares") {
  Numbers a(100);
  a = 1;
  std::vector<ExecutionPlan::Share> shares;
  for (const Device& device : testDevices()) shares.push_back({device, 10.0 * (device.id() + 1)});
  eval(increment).plan(ExecutionPlan(shares))(PART1(a));
  eval(increment).plan(ExecutionPlan(testDevices()))(PART1(a));
  CHECK(valuesOf(a) == std::vector<int>(100, 3));
}

}  // namespace automatic_tests
