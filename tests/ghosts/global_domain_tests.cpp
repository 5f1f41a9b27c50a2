// SPDX-License-Identifier: Apache-2.0
// `.global(...)` together with annotations: the domain of the whole, of which parts get theirs.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/ghosts/support.h"

namespace global_domain_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

// Writes the inner cells only: one work-item for each of them.
void inner(Numbers out, Numbers in) { out[idx + 1] = in[idx] + in[idx + 1] + in[idx + 2]; }
// Four elements per work-item along the rows.
void fourPerItem(Grid a) {
  for_(Int k = 0, k < 4, ++k) {
    a[idy][4 * cast<int>(idx) + k] += 1;
  }
}
// idx runs through rows.
void transposed(Grid a) { a[idx][idy] += 1; }
void rowSums(Numbers sums, Grid a, Int columns) {
  Int sum = 0;
  for_(Int k = 0, k < columns, ++k) {
    sum += a[idx][k];
  }
  sums[idx] = sum;
}
void sumOfPart(Numbers total, Numbers x, Int n) {
  Int sum = 0;
  for_(Int k = 0, k < n, ++k) {
    sum += x[k];
  }
  total[idx] = sum;
}
void mark(Grid a) { a[idy][idx] += 1; }

std::vector<int> twos(std::size_t n) { return std::vector<int>(n, 2); }

}  // namespace

TEST_CASE("a global domain of the arrays' shape is shared out as the arrays are") {
  const int n = deviceCount();
  Numbers a(40 * n), b(40 * n);
  a = 1;
  eval(increment).global(40 * n)(PART1(a));
  CHECK(valuesOf(a) == twos(a.size()));
  Grid c(8 * n, 9);
  c = 1;
  eval(mark).global(9, 8 * n)(PART1(c));
  CHECK(valuesOf(c) == twos(c.size()));
  eval(mark).global(9, 8 * n).local(4, 4)(PART1(c, 1));
  c.syncGhosts();
  CHECK(valuesOf(c) == std::vector<int>(c.size(), 3));
  Grid d(9, 8 * n);
  d = 1;
  eval(mark).global(8 * n, 9)(PART2(d));
  CHECK(valuesOf(d) == twos(d.size()));
  // 8 x 8 cells on any number of devices, also more than there are rows to share out evenly.
  Grid e(8, 8);
  e = 1;
  eval(mark).global(8, 8)(PART1(e));
  CHECK(valuesOf(e) == twos(e.size()));
  eval(mark).global(8, 8)(PART12(e, 0, 0));
  CHECK(valuesOf(e) == std::vector<int>(e.size(), 3));
}

TEST_CASE("stencils with a global domain give what they give without") {
  const int n = deviceCount();
  const int rows = 12 * n, columns = 33;
  const std::vector<int> values = someValues(static_cast<std::size_t>(rows * columns), 11);
  Grid a(rows, columns), b(rows, columns);
  a.copyFrom(values.data());
  b.copyFrom(values.data());
  std::vector<int> now = values, next = values;
  for (int t = 0; t < 5; ++t) {
    eval(fivePoint).global(columns, rows)(PART1(b, 1), PART1(a, 1));
    b.syncGhosts();
    swap(a, b);
    next = fivePointStep(now, next, rows, columns);
    std::swap(now, next);
  }
  CHECK(valuesOf(a) == now);
  a.copyFrom(values.data());
  b.copyFrom(values.data());
  for (int t = 0; t < 5; ++t) {
    eval(fivePoint).global(columns, rows)(PART1(b, 2, AUTO_SYNC), PART1(a, 2, AUTO_SYNC));
    swap(a, b);
  }
  CHECK(valuesOf(a) == now);
}

TEST_CASE("along dimensions that are not split each device gets all of the domain") {
  const int n = deviceCount();
  Grid a(8 * n, 12);
  a = 1;
  eval(fourPerItem).global(3, 8 * n)(PART1(a));
  CHECK(valuesOf(a) == twos(a.size()));
  Grid half(8 * n, 12);
  half = 1;
  eval(mark).global(6, 8 * n)(PART1(half));
  for (int y = 0; y < 8 * n; ++y)
    for (int x = 0; x < 12; ++x) REQUIRE(half(y, x).value() == (x < 6 ? 2 : 1));
}

TEST_CASE("the axis that walks through the split dimension is the one that the kernel uses") {
  const int n = deviceCount();
  Grid a(6 * n, 10);
  a = 1;
  eval(transposed).global(6 * n, 10)(PART1(a));
  CHECK(valuesOf(a) == twos(a.size()));
  Numbers sums(6 * n);
  eval(rowSums).global(6 * n)(PART1(sums), PART1(a), 10);
  CHECK(valuesOf(sums) == std::vector<int>(sums.size(), 20));
}

TEST_CASE("a domain that leaves the rim of the arrays alone works where ghosts cover the borders") {
  const int n = deviceCount();
  const int size = 20 * n;
  const std::vector<int> values = someValues(static_cast<std::size_t>(size), 5);
  Numbers in(size), out(size);
  in.copyFrom(values.data());
  std::vector<int> expected(values.size(), 7);
  for (std::size_t i = 1; i + 1 < values.size(); ++i)
    expected[i] =
        static_cast<int>(static_cast<unsigned>(values[i - 1]) + static_cast<unsigned>(values[i]) +
                         static_cast<unsigned>(values[i + 1]));
  for (const int ghosts : {1, 2, 3}) {
    out = 7;
    eval(inner).global(size - 2)(PART1(out, ghosts), PART1(in, ghosts));
    CHECK(valuesOf(out) == expected);
  }
  if (n < 2) return;
  out = 7;
  out.label("result");
  expectMessage(
      messageOf<LaunchError>([&] { eval(inner).global(size - 2)(PART1(out), PART1(in)); }),
      {"kernel 'inner'", "cannot be shared out over", "argument 1 (array \"result\")",
       "ghosts of 1 cells would cover them", "std::vector<Domain>"});
  CHECK(valuesOf(out) == std::vector<int>(out.size(), 7));
}

TEST_CASE("domains that are not the whole of anything are refused, and change nothing") {
  const int n = deviceCount();
  if (n < 2) return;
  Numbers a(40 * n), total(n);
  a = 1;
  total = 0;
  a.label("numbers");
  const auto refusal = [&](auto launch) { return messageOf<LaunchError>(launch); };
  expectMessage(refusal([&] { eval(increment).global(80 * n)(PART1(a)); }),
                {"kernel 'increment'", "argument 1 (array \"numbers\")", "the domain has",
                 "leave .global(...) out"});
  expectMessage(refusal([&] { eval(increment).global(10)(PART1(a)); }),
                {"argument 1 (array \"numbers\")"});
  expectMessage(refusal([&] { eval(sumOfPart).global(1)(PART1(total), PART1(a), a.part(1)); }),
                {"cannot be shared out"});
  Grid g(8 * n, 8);
  g = 1;
  expectMessage(refusal([&] { eval(mark).global(8)(PART1(g)); }),
                {"no axis of the domain, which has 1 dimension, walks through them"});
  expectMessage(refusal([&] { eval(fourPerItem).global(8 * n, 2)(PART2(g)); }), {"the domain has"});
  CHECK(valuesOf(a) == std::vector<int>(a.size(), 1));
  CHECK(valuesOf(g) == std::vector<int>(g.size(), 1));
  // Each device's own domain is taken as it is.
  eval(sumOfPart).global(std::vector<Domain>(static_cast<std::size_t>(n), Domain(1)))(
      PART1(total), PART1(a), a.part(1));
  CHECK(valuesOf(total) == std::vector<int>(total.size(), 40));
}

TEST_CASE("each device's own domain must stay within its part where the analysis sees it") {
  const int n = deviceCount();
  if (n < 2) return;
  Numbers a(40 * n);
  a = 1;
  a.label("numbers");
  expectMessage(messageOf<LaunchError>([&] {
                  eval(increment).global(
                      std::vector<Domain>(static_cast<std::size_t>(n), Domain(64)))(PART1(a));
                }),
                {"outside of argument 1 (array \"numbers\", a part of 40 cells of", "[idx] is 40"});
  CHECK(valuesOf(a) == std::vector<int>(a.size(), 1));
  eval(increment).global(std::vector<Domain>(static_cast<std::size_t>(n), Domain(39)))(PART1(a));
  CHECK(a(38).value() == 2);
  CHECK(a(39).value() == 1);
  CHECK(a(40).value() == 2);
}

TEST_CASE("measured shares measure the domain of a part") {
  const int n = deviceCount();
  Numbers a(4000 * n);
  a = 1;
  eval(increment).global(4000 * n).weights(MEASURED)(PART1(a));
  CHECK(valuesOf(a) == twos(a.size()));
}

}  // namespace global_domain_tests
