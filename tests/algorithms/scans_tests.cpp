// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "support.h"

using namespace hpl;
using namespace algorithms_tests;

HPL_STRUCT(ScansTestsParticle, (float2, place), (int, id));

namespace scans_tests {

namespace {

const std::size_t kLengths[] = {1, 2, 1000, 1024, 2047, 50'003};

template <class T>
std::vector<T> valuesOf(const Array<T, 1>& array) {
  std::vector<T> values(array.size());
  array.copyTo(values.data());
  return values;
}

template <class S, class T>
void checkScans(std::size_t n) {
  CAPTURE(n);
  const std::vector<T> values = smallNumbers<T>(n, static_cast<unsigned>(n));
  std::vector<S> inclusive(n), exclusive(n);
  std::inclusive_scan(values.begin(), values.end(), inclusive.begin(), std::plus<S>(), S(0));
  std::exclusive_scan(values.begin(), values.end(), exclusive.begin(), S(0), std::plus<S>());
  Array<T, 1> in(n);
  fill(in, values);
  Array<S, 1> out(n);
  inclusiveScan(out, in);
  CHECK(valuesOf(out) == inclusive);
  exclusiveScan(out, in);
  CHECK(valuesOf(out) == exclusive);
}

template <class K>
std::vector<K> randomKeys(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<K> keys(n);
  for (K& key : keys) {
    if constexpr (std::is_floating_point_v<K>) {
      key = static_cast<K>(static_cast<double>(static_cast<std::int64_t>(random())) * 1e-15);
      if (random() % 5 == 0) key = static_cast<K>(std::trunc(key / 1000));
      key += K(0);  // -0 and 0 are equal, but not among sorted keys
    } else {
      key = static_cast<K>(random() % 3 == 0 ? random() % 7 : random());
    }
  }
  return keys;
}

template <class K>
void checkSort(std::size_t n) {
  CAPTURE(n);
  CAPTURE(sizeof(K));
  std::vector<K> keys = randomKeys<K>(n, static_cast<unsigned>(n));
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  Array<K, 1> sorted(n);
  Array<int, 1> values(n);
  fill(sorted, keys);
  fill(values, order);
  sortByKey(sorted, values);
  std::stable_sort(order.begin(), order.end(), [&](int p, int q) {
    return keys[static_cast<std::size_t>(p)] < keys[static_cast<std::size_t>(q)];
  });
  std::sort(keys.begin(), keys.end());
  CHECK(valuesOf(sorted) == keys);
  CHECK(valuesOf(values) == order);
}

}  // namespace

TEST_CASE("prefix sums of all lengths equal those of the host, in the type of the result") {
  for (const std::size_t n : kLengths) {
    checkScans<int, int>(n);
    checkScans<long, signed char>(n);
    checkScans<float, float>(n);
  }
}

TEST_CASE("a scan may replace its input, and keeps the order of an operator's operands") {
  const std::size_t n = 30'000;
  const std::vector<int> values = smallNumbers<int>(n, 3);
  Array<int, 1> a(n);
  fill(a, values);
  // The later one of two numbers that is not 0: associative, not commutative.
  inclusiveScan([](Int p, Int q) { return where(q != 0, q, p); }, 0, a, a);
  std::vector<int> expected(n);
  std::inclusive_scan(values.begin(), values.end(), expected.begin(),
                      [](int p, int q) { return q != 0 ? q : p; });
  CHECK(valuesOf(a) == expected);
  fill(a, values);
  exclusiveScan([](Int p, Int q) { return max(p, q); }, -100, a, a);
  std::exclusive_scan(values.begin(), values.end(), expected.begin(), -100,
                      [](int p, int q) { return std::max(p, q); });
  CHECK(valuesOf(a) == expected);
}

TEST_CASE("compact keeps the elements that a function chooses, in their order") {
  for (const std::size_t n : kLengths) {
    CAPTURE(n);
    const std::vector<int> values = smallNumbers<int>(n, static_cast<unsigned>(n) + 1);
    Array<int, 1> in(n), out(n + 5);
    fill(in, values);
    out = -77;
    const long kept = compact([](Int v) { return v % 3 == 0; }, out, in);
    std::vector<int> expected;
    std::copy_if(values.begin(), values.end(), std::back_inserter(expected),
                 [](int v) { return v % 3 == 0; });
    CHECK(kept == static_cast<long>(expected.size()));
    expected.resize(n + 5, -77);
    CHECK(valuesOf(out) == expected);
  }
  Array<ScansTestsParticle, 1> particles(5000), inside(5000);
  for (int i = 0; i < 5000; ++i)
    particles(i) = ScansTestsParticle{float2(static_cast<float>(i % 10), 0.0f), i};
  using Particle = Array<ScansTestsParticle, 0>;
  const float edge = 2.5f;
  CHECK(compact([edge](Particle p) { return p.place.x > edge; }, inside, particles) == 3500);
  CHECK(inside(0)->id == 3);
  CHECK(inside(3499)->id == 4999);
}

TEST_CASE("a histogram counts each bin, and leaves out what belongs to none") {
  for (const std::size_t n : kLengths) {
    CAPTURE(n);
    const std::vector<int> values = smallNumbers<int>(n, static_cast<unsigned>(n) + 2);
    Array<int, 1> in(n);
    fill(in, values);
    Array<int, 1> counts(7);
    counts = 1000;
    histogram(counts, in);
    Array<unsigned long, 1> shifted(20);
    histogram(
        shifted, [](Int v) { return v + 9; }, in);
    for (int bin = 0; bin < 7; ++bin)
      CHECK(counts(bin) == std::count(values.begin(), values.end(), bin));
    for (int bin = 0; bin < 20; ++bin)
      CHECK(shifted(bin) ==
            static_cast<unsigned long>(std::count(values.begin(), values.end(), bin - 9)));
  }
  Array<float, 1> reals(10'000);
  for (int i = 0; i < 10'000; ++i) reals(i) = static_cast<float>(i) * 1e-4f;
  Array<unsigned, 1> tenths(10);
  histogram(
      tenths, [](Float v) { return cast<int>(v * 10.0f); }, reals);
  CHECK(sum(tenths).value() == 10'000);
}

TEST_CASE("bytes are counted in as many bins as they have values, in fewer and in more") {
  for (const int bins : {255, 256, 300}) {
    CAPTURE(bins);
    const std::size_t n = 50'021;
    Array<unsigned char, 1> in(n);
    std::vector<unsigned char> values(n);
    for (std::size_t i = 0; i < n; ++i)
      values[i] = static_cast<unsigned char>(i * i * 2654435761u >> 13);
    fill(in, values);
    Array<int, 1> counts(bins);
    histogram(counts, in);
    for (int bin = 0; bin < bins; ++bin)
      CHECK(counts(bin) == std::count(values.begin(), values.end(), bin));
  }
}

TEST_CASE("sorting by keys of every type is stable") {
  for (const std::size_t n : {1u, 2u, 1500u, 20'011u}) {
    checkSort<int>(n);
    checkSort<float>(n);
  }
  checkSort<unsigned>(5000);
  checkSort<signed char>(5000);
  checkSort<unsigned char>(5000);
  checkSort<short>(5000);
  checkSort<unsigned short>(5000);
  checkSort<long>(5000);
  checkSort<unsigned long>(5000);
  if (haveDoubles()) checkSort<double>(5000);
}

TEST_CASE("infinities and NaN have their places among sorted keys") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::vector<float> keys = {
      1.0f, std::numeric_limits<float>::quiet_NaN(), -kInf, 0.0f, kInf, -0.0f, -2.0f};
  Array<float, 1> sorted(keys.size());
  Array<int, 1> places(keys.size());
  fill(sorted, keys);
  fill(places, std::vector<int>{0, 1, 2, 3, 4, 5, 6});
  sortByKey(sorted, places);
  CHECK(valuesOf(places) == std::vector<int>{2, 6, 5, 3, 0, 4, 1});
}

TEST_CASE("distributed arrays and views are scanned, counted and sorted, too") {
  const std::size_t n = 9001;
  const std::vector<int> values = smallNumbers<int>(n, 31);
  Array<int, 1> a(n), b(n);
  fill(a, values);
  eval([](Array<int, 1> to, const Array<int, 1>& from) { to[idx] = from[idx]; })(PART1(b, 2),
                                                                                 PART1(a, 2));
  const Range part(100, 8000);
  Array<int, 1> sums(7901);
  inclusiveScan(sums, b(part));
  CHECK(sums(7900) == std::accumulate(values.begin() + 100, values.begin() + 8001, 0));
  Array<int, 1> counts(10);
  histogram(counts, b);
  CHECK(counts(3) == std::count(values.begin(), values.end(), 3));
  sortByKey(b, a);
  std::vector<int> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  CHECK(valuesOf(a) == sorted);
  CHECK(valuesOf(b) == sorted);
}

TEST_CASE("scans refuse arrays of wrong lengths, and arrays that overlap where that is wrong") {
  Array<int, 1> x(10), y(11);
  x.label("x");
  y.label("y");
  x = 1;
  y = 1;
  CHECK(messageOf<ShapeError>([&] { inclusiveScan(y, x); }) ==
        "inclusiveScan: array \"y\" has 11 cells, but needs 10 for the 10 of array \"x\"");
  CHECK(messageOf<ShapeError>([&] { compact([](Int v) { return v > 0; }, x, y); }) ==
        "compact: array \"x\" has 10 cells, but needs at least 11 for the 11 of array \"y\"");
  CHECK(messageOf<ArgumentError>([&] { compact([](Int v) { return v > 0; }, x, x); }) ==
        "compact: both arrays are cells of array \"x\"; pass one that shares no cell with the "
        "other");
  CHECK(contains(messageOf<ArgumentError>([&] { sortByKey(x, x); }), "sortByKey: both arrays"));
  CHECK(contains(messageOf<ShapeError>([&] { sortByKey(x, y); }), "but needs 10"));
}

}  // namespace scans_tests
