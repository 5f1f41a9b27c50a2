// SPDX-License-Identifier: Apache-2.0
// Groups that share local memory and stick out of the domain.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "tests/messages.h"

namespace surplus_tests {

namespace {

using namespace hpl;
using hpl_tests::contains;
using hpl_tests::messageOf;

using Numbers = Array<int, 1>;
using Grid = Array<int, 2>;

constexpr int kGroup = 64;

// All pairs, tile by tile: every work-item of a group brings one element of each tile.
void pairs(Array<float, 1> out, const Array<float, 1>& in, Int n) {
  Array<float, 1, Local> tile(kGroup);
  Float own = in[min(cast<int>(idx), n - 1)];
  Float sum = 0.0f;
  for_(Int first = 0, first < n, first += kGroup) {
    tile[lidx] = in[min(first + cast<int>(lidx), n - 1)];
    barrier(LOCAL);
    for_(Int k = 0, k < kGroup, ++k) {
      if_(first + k < n) {
        sum += (tile[k] - own) * (tile[k] - own);
      }
    }
    barrier(LOCAL);
  }
  out[idx] = sum;
}

// The same with a guard in place of the clamp.
void pairsGuarded(Array<float, 1> out, const Array<float, 1>& in) {
  Array<float, 1, Local> tile(kGroup);
  Float own = in[idx];
  Float sum = 0.0f;
  Int tiles = cast<int>((szx + kGroup - 1) / kGroup);
  for_(Int t = 0, t < tiles, ++t) {
    if_(t* kGroup + cast<int>(lidx) < cast<int>(szx)) {
      tile[lidx] = in[t * kGroup + cast<int>(lidx)];
    }
    barrier(LOCAL);
    for_(Int k = 0, k < kGroup, ++k) {
      if_(t* kGroup + k < cast<int>(szx)) {
        sum += (tile[k] - own) * (tile[k] - own);
      }
    }
    barrier(LOCAL);
  }
  out[idx] = sum;
}

constexpr int kSide = 8;

void product(Grid c, const Grid& a, const Grid& b, Int inner) {
  Array<int, 2, Local> as(kSide, kSide), bs(kSide, kSide);
  Int sum = 0;
  for_(Int t = 0, t < inner, t += kSide) {
    as[lidy][lidx] = where(t + cast<int>(lidx) < inner, a[idy][t + cast<int>(lidx)], 0);
    bs[lidy][lidx] = where(t + cast<int>(lidy) < inner, b[t + cast<int>(lidy)][idx], 0);
    barrier(LOCAL);
    for_(Int k = 0, k < kSide, ++k) {
      sum += as[lidy][k] * bs[k][lidx];
    }
    barrier(LOCAL);
  }
  c[idy][idx] = sum;
}

// Each work-item loads the element before its own; the last two of a group load two more.
void threeFromTile(Numbers out, const Numbers& in, Int n) {
  Array<int, 1, Local> tile(kGroup + 2);
  Int before = cast<int>(idx) - 1;
  tile[lidx] = in[clamp(before, 0, n - 1)];
  if_(lidx >= lszx - 2) {
    tile[lidx + 2] = in[min(cast<int>(idx) + 1, n - 1)];
  }
  barrier(LOCAL);
  out[idx] = tile[lidx] + 10 * tile[lidx + 1] + 100 * tile[lidx + 2];
}

// A computed tile, read by neighbours: nothing is combined.
void scaledNeighbours(Numbers out, const Numbers& in, Int n) {
  Array<int, 1, Local> tile(kGroup);
  tile[lidx] = 3 * in[min(cast<int>(idx) + 1, n - 1)] + 1;
  barrier(LOCAL);
  out[idx] = where(lidx > 0, tile[lidx - 1], 0) + tile[lidx];
}

template <class Value, class Combine>
void groupTree(Numbers& out, Value value, Combine combine) {
  Array<int, 1, Local> tile(kGroup);
  tile[lidx] = value;
  barrier(LOCAL);
  for_(Int step = kGroup / 2, step > 0, step /= 2) {
    if_(cast<int>(lidx) < step) {
      tile[lidx] = combine(tile[lidx], tile[cast<int>(lidx) + step]);
    }
    barrier(LOCAL);
  }
  if_(lidx == 0) {
    out[gidx] = tile[0];
  }
}

void groupSums(Numbers out, const Numbers& in) {
  groupTree(out, in[idx] * in[idx], [](auto a, auto b) { return a + b; });
}
void groupMinima(Numbers out, const Numbers& in) {
  groupTree(out, in[idx], [](auto a, auto b) { return min(a, b); });
}
void groupSumsOfNext(Numbers out, const Numbers& in) {
  groupTree(out, in[idx] + 1, [](auto a, auto b) { return a + b; });
}
void groupMinimaGuarded(Numbers out, const Numbers& in) {
  groupTree(out, where(idx < szx, in[idx], 1 << 30), [](auto a, auto b) { return min(a, b); });
}
// A few work-items for many elements.
void strided(Numbers out, const Numbers& in, Int n) {
  Int sum = 0;
  for_(Int i = cast<int>(idx), i < n, i += cast<int>(szx)) {
    sum += in[i];
  }
  groupTree(out, sum, [](auto a, auto b) { return a + b; });
}
void scanned(Numbers out, const Numbers& in) {
  Array<int, 1, Local> tile(kGroup);
  tile[lidx] = in[idx];
  barrier(LOCAL);
  if_(lidx == 0) {
    Int most = -(1 << 30);
    for_(Int k = 0, k < kGroup, ++k) {
      if_(tile[k] > most) {
        most = tile[k];
      }
    }
    out[gidx] = most;
  }
}

// How often depends on memory: a group whose work-items disagree would wait for ever.
void repeated(Numbers out, const Numbers& counts) {
  Array<int, 1, Local> tile(kGroup);
  Int turns = counts[0];
  tile[lidx] = 0;
  for_(Int k = 0, k < turns, ++k) {
    barrier(LOCAL);
    tile[lidx] += cast<int>(lidx);
  }
  barrier(LOCAL);
  out[idx] = tile[lidx];
}

Array<float, 1> floats(int n) {
  Array<float, 1> a(n);
  for (int i = 0; i < n; ++i) a(i) = static_cast<float>((i * 7 + 3) % 16 + 1);
  return a;
}

Numbers numbers(int n, int offset = 1) {
  Numbers a(n);
  for (int i = 0; i < n; ++i) a(i) = (i * 13 + 5) % 23 + offset;
  return a;
}

float pairsOf(Array<float, 1>& in, int i) {
  float sum = 0.0f;
  for (int k = 0; k < static_cast<int>(in.size()); ++k)
    sum += (in(k).value() - in(i).value()) * (in(k).value() - in(i).value());
  return sum;
}

void checkPairs(Array<float, 1>& out, Array<float, 1>& in) {
  for (int i = 0; i < static_cast<int>(in.size()); i += 7) {
    INFO("element " << i);
    REQUIRE(out(i).value() == pairsOf(in, i));
  }
}

template <class Kernel>
void expectRefusal(Kernel kernel, int n) {
  Numbers in = numbers(n), out((n + kGroup - 1) / kGroup);
  out = -1;
  const auto expect = [](const std::string& message) {
    INFO(message);
    CHECK(contains(message, "does not divide the global one"));
    CHECK(contains(message, "local array 'tile"));
    CHECK(contains(message, "surplus_tests.cpp:"));
    CHECK(contains(message, "if_(idx < szx)"));
  };
  const auto domain = static_cast<std::size_t>(n);
  expect(messageOf<LaunchError>([&] { eval(kernel).global(domain).local(kGroup)(out, in); }));
  expect(messageOf<LaunchError>(
      [&] { eval(kernel).global(domain).local(kGroup).interpret(out, in); }));
  CHECK(out(0).value() == -1);
}

template <class Combine>
void checkGroups(Numbers& out, Numbers& in, Combine combine) {
  const int n = static_cast<int>(in.size());
  for (int g = 0; g * kGroup < n; ++g) {
    int result = in(g * kGroup).value();
    for (int i = g * kGroup + 1; i < std::min(n, (g + 1) * kGroup); ++i)
      result = combine(result, in(i).value());
    INFO("group " << g);
    CHECK(out(g).value() == result);
  }
}

}  // namespace

TEST_CASE("tiles of all elements are whole where the group sticks out of the domain") {
  for (const int n : {1000, 64, 65, 63, 10, 1, 129}) {
    CAPTURE(n);
    Array<float, 1> in = floats(n);
    Array<float, 1> out(n);
    eval(pairs).local(kGroup)(out, in, n);
    checkPairs(out, in);
    out = -1.0f;
    eval(pairsGuarded).local(kGroup)(out, in);
    checkPairs(out, in);
    out = -1.0f;
    eval(pairs).local(kGroup).interpret(out, in, n);
    checkPairs(out, in);
    out = -1.0f;
    eval(pairsGuarded).local(kGroup).interpret(out, in);
    checkPairs(out, in);
  }
}

TEST_CASE("tiles of all elements are whole in parts of uneven sizes and in views") {
  const int n = 1001;
  Array<float, 1> in = floats(n);
  Array<float, 1> out(n);
  // A part's tiles are those of its own elements.
  eval(pairsGuarded).local(kGroup).device(Device())(out(Range(3, 502)), in(Range(3, 502)));
  for (int i = 3; i < 503; i += 11) {
    float sum = 0.0f;
    for (int k = 3; k < 503; ++k)
      sum += (in(k).value() - in(i).value()) * (in(k).value() - in(i).value());
    REQUIRE(out(i).value() == sum);
  }
  eval(pairs).devices().local(kGroup)(PART1(out), in, n);
  // Each part compares its first elements with all, as idx counts from the part's first one.
  CHECK(out(0).value() == pairsOf(in, 0));
}

TEST_CASE("blocked matrix products are right for all sizes, along both axes") {
  for (const auto& [rows, columns, inner] :
       {std::array{16, 16, 16}, {17, 5, 9}, {5, 19, 3}, {9, 9, 20}, {1, 1, 1}, {7, 8, 30}}) {
    Grid a(rows, inner), b(inner, columns), c(rows, columns);
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < inner; ++k) a(i, k) = (i * 3 + k * 5) % 7 + 1;
    for (int k = 0; k < inner; ++k)
      for (int j = 0; j < columns; ++j) b(k, j) = (k * 2 + j * 11) % 9 + 1;
    for (const bool interprets : {false, true}) {
      c = -1;
      auto launcher = eval(product).local(kSide, kSide);
      if (interprets) {
        launcher.interpret(c, a, b, inner);
      } else {
        launcher(c, a, b, inner);
      }
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
          int sum = 0;
          for (int k = 0; k < inner; ++k) sum += a(i, k).value() * b(k, j).value();
          INFO(rows << " x " << columns << ", " << inner << ": " << i << ", " << j);
          REQUIRE(c(i, j).value() == sum);
        }
      }
    }
  }
}

TEST_CASE("tiles of neighbours have what lies at the end of the array") {
  for (const int n : {100, 64, 65, 1, 127}) {
    CAPTURE(n);
    Numbers in = numbers(n);
    Numbers out(n);
    for (const bool interprets : {false, true}) {
      out = -1;
      auto three = eval(threeFromTile).local(kGroup);
      auto scaled = eval(scaledNeighbours).local(kGroup);
      const auto at = [&](int i) { return in(std::clamp(i, 0, n - 1)).value(); };
      interprets ? three.interpret(out, in, n) : static_cast<void>(three(out, in, n));
      for (int i = 0; i < n; ++i)
        REQUIRE(out(i).value() == at(i - 1) + 10 * at(i) + 100 * at(i + 1));
      interprets ? scaled.interpret(out, in, n) : static_cast<void>(scaled(out, in, n));
      for (int i = 0; i < n; ++i)
        REQUIRE(out(i).value() == (i % kGroup > 0 ? 3 * at(i) + 1 : 0) + 3 * at(i + 1) + 1);
    }
  }
}

TEST_CASE("sums over groups count zeros beyond the domain") {
  Numbers in = numbers(1000);
  Numbers out(16);
  eval(groupSums).global(1000).local(kGroup)(out, in);
  for (int g = 0; g < 16; ++g) {
    int sum = 0;
    for (int i = g * kGroup; i < std::min(1000, (g + 1) * kGroup); ++i)
      sum += in(i).value() * in(i).value();
    CHECK(out(g).value() == sum);
  }
  // Also of a domain that is smaller than the array.
  Numbers ones(1024);
  ones = 1;
  eval(groupSums).global(1000).local(kGroup)(out, ones);
  CHECK(out(15).value() == 1000 - 15 * kGroup);
  eval(strided).global(100).local(kGroup)(out, in, 1000);
  int sum = 0;
  for (int i = 0; i < 1000; ++i) sum += in(i).value();
  CHECK(out(0).value() + out(1).value() == sum);
  eval(groupMinimaGuarded).global(1000).local(kGroup)(out, in);
  checkGroups(out, in, [](int a, int b) { return std::min(a, b); });
}

TEST_CASE("what a group combines and surplus work-items would spoil is refused") {
  expectRefusal(groupMinima, 1000);
  expectRefusal(groupSumsOfNext, 1000);
  expectRefusal(scanned, 1000);
  // Sizes that divide are no harm.
  Numbers in = numbers(960);
  Numbers out(15);
  eval(groupMinima).global(960).local(kGroup)(out, in);
  checkGroups(out, in, [](int a, int b) { return std::min(a, b); });
  eval(scanned).global(960).local(kGroup)(out, in);
  checkGroups(out, in, [](int a, int b) { return std::max(a, b); });
}

TEST_CASE("reductions over groups are right in the last group, whatever the operator") {
  Numbers in = numbers(1000, 3);
  Numbers out(16);
  eval([](Numbers o, const Numbers& i) { reduce(o[gidx], i[idx], "min").groupSize(kGroup); })
      .global(1000)
      .local(kGroup)(out, in);
  checkGroups(out, in, [](int a, int b) { return std::min(a, b); });
  eval([](Numbers o, const Numbers& i) { reduce(o[gidx], i[idx] + 1, "+").groupSize(kGroup); })
      .global(1000)
      .local(kGroup)(out, in);
  int sum = 0;
  for (int i = 15 * kGroup; i < 1000; ++i) sum += in(i).value() + 1;
  CHECK(out(15).value() == sum);
}

TEST_CASE("surplus work-items reach the barriers of loops whose length is in memory") {
  Numbers counts(1), out(100);
  counts(0) = 3;
  eval(repeated).global(100).local(kGroup)(out, counts);
  for (int i = 0; i < 100; ++i) REQUIRE(out(i).value() == 3 * (i % kGroup));
}

TEST_CASE("surplus work-items perform no atomics and write no global memory") {
  const auto count = [](Numbers total, Numbers seen, const Numbers& in) {
    Array<int, 1, Local> bins(4);
    if_(lidx < 4) {
      bins[lidx] = 0;
    }
    barrier(LOCAL);
    atomic_inc(bins[in[idx] & 3]);
    atomic_inc(total[0]);
    barrier(LOCAL);
    if_(lidx < 4) {
      atomic_add(total[cast<int>(lidx) + 1], bins[lidx]);
    }
    seen[idx] = 1;
  };
  Numbers total(5), seen(1024);
  Numbers in = numbers(1024);
  total = 0;
  seen = 0;
  eval(count).global(1000).local(kGroup)(total, seen, in);
  CHECK(total(0).value() == 1000);
  CHECK(total(1).value() + total(2).value() + total(3).value() + total(4).value() == 1000);
  CHECK(seen(999).value() == 1);
  for (int i = 1000; i < 1024; ++i) CHECK(seen(i).value() == 0);
}

}  // namespace surplus_tests
