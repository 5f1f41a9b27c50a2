// SPDX-License-Identifier: Apache-2.0
// Reductions of views and of arrays that are spread over devices; run with several HPL_DEVICES.
#include <doctest/doctest.h>

#include "hpl/memory/homes.h"
#include "hpl/runtime/settings.h"
#include "support.h"

namespace distributed_tests {

using namespace hpl;
using namespace algorithms_tests;

namespace {

void twice(Array<int, 2> out, const Array<int, 2>& in) { out[idy][idx] = in[idy][idx] * 2; }
void smooth(Array<int, 2> out, const Array<int, 2>& in) {
  if_(idy > 0 && idy + 1 < szy) {
    out[idy][idx] = in[idy - 1][idx] + in[idy + 1][idx];
  }
  else_ { out[idy][idx] = 1; }
}

constexpr int kRows = 61, kColumns = 47;

/// Weighted by place, so that no cell can stand for another one.
long weightedSum(const Array<int, 2>& a, const Array<int, 2>& weights) {
  return sum([](Int x, Int w) { return cast<long>(x) * cast<long>(w); }, a, weights).value();
}

struct Field {
  Array<int, 2> a{kRows, kColumns}, b{kRows, kColumns}, weights{kRows, kColumns};
  std::vector<int> values = smallNumbers<int>(kRows * kColumns, 3);

  Field() {
    fill(a, values);
    std::vector<int> places(values.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int>(i * i % 1009);
    fill(weights, places);
  }

  /// Every reduction of `array` equals that of `expected` on the host.
  void check(const Array<int, 2>& array, const std::vector<int>& expected) const {
    long total = 0, least = 0, most = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      total += static_cast<long>(expected[i]) * static_cast<long>(i * i % 1009);
      if (expected[i] < expected[static_cast<std::size_t>(least)]) least = static_cast<long>(i);
      if (expected[i] > expected[static_cast<std::size_t>(most)]) most = static_cast<long>(i);
    }
    CHECK(weightedSum(array, weights) == total);
    CHECK(argmin(array).index() == least);
    const auto found = argmax(array);
    CHECK(found.index() == most);
    CHECK(found.value() == expected[static_cast<std::size_t>(most)]);
    CHECK(found.indices() == std::array<std::int64_t, 2>{most / kColumns, most % kColumns});
    Array<int, 1> cell(1);
    max(array).into(cell);
    CHECK(cell(0) == expected[static_cast<std::size_t>(most)]);
  }

  std::vector<int> doubled() const {
    std::vector<int> expected = values;
    for (int& value : expected) value *= 2;
    return expected;
  }
};

std::uint64_t bytesMoved() {
  const ProfilingData data = getTotalProfile();
  return data.bytesHostToDevice + data.bytesDeviceToHost + data.bytesDeviceToDevice;
}

}  // namespace

TEST_CASE("views of any rank, with gaps and without, equal loops of the host") {
  std::mt19937 random(20);
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    const auto range = [&](int extent) {
      const int lo = static_cast<int>(random() % static_cast<unsigned>(extent));
      return Range(lo, lo + static_cast<int>(random() % static_cast<unsigned>(extent - lo)));
    };
    const auto length = [](const Range& r) { return r.last - r.first + 1; };
    Array<int, 2> a(40, 53);
    fill(a, smallNumbers<int>(40 * 53, static_cast<unsigned>(round)));
    const Range i = range(40), j = round % 3 == 0 ? Range(0, 52) : range(53);
    long total = 0, best = -1000, place = 0;
    for (auto y = i.first; y <= i.last; ++y)
      for (auto x = j.first; x <= j.last; ++x) {
        const long value = a(y, x);
        total += value;
        if (value <= best) continue;
        best = value;
        place = (y - i.first) * length(j) + x - j.first;
      }
    CHECK(sum(a(i, j)).value() == total);
    CHECK(max(a(i, j)).value() == best);
    CHECK(argmax(a(i, j)).index() == place);
  }
  Array<int, 3> b(9, 11, 13);
  fill(b, smallNumbers<int>(9 * 11 * 13, 21));
  Array<float, 4> c(5, 6, 7, 8);
  fill(c, smallNumbers<float>(5 * 6 * 7 * 8, 22));
  Array<int, 5> d(3, 4, 5, 6, 7);
  fill(d, smallNumbers<int>(3 * 4 * 5 * 6 * 7, 23));
  long three = 0;
  float four = 0;
  long five = 0;
  for (int i = 2; i <= 6; ++i)
    for (int j = 1; j <= 10; ++j)
      for (int k = 4; k <= 12; ++k) three += b(i, j, k);
  for (int h = 1; h <= 3; ++h)
    for (int i = 0; i <= 5; ++i)
      for (int j = 2; j <= 4; ++j)
        for (int k = 3; k <= 7; ++k) four += c(h, i, j, k);
  for (int g = 0; g <= 1; ++g)
    for (int h = 1; h <= 3; ++h)
      for (int i = 0; i <= 4; ++i)
        for (int j = 2; j <= 3; ++j)
          for (int k = 1; k <= 5; ++k) five += d(g, h, i, j, k);
  CHECK(sum(b(Range(2, 6), Range(1, 10), Range(4, 12))).value() == three);
  CHECK(sum(c(Range(1, 3), Range(0, 5), Range(2, 4), Range(3, 7))).value() == four);
  CHECK(sum(d(Range(0, 1), Range(1, 3), Range(0, 4), Range(2, 3), Range(1, 5))).value() == five);
}

TEST_CASE("distributed arrays are combined whatever their distribution is") {
  const Field field;
  Array<int, 2> b = field.b, a = field.a;
  SUBCASE("rows") { eval(twice)(PART1(b), PART1(a)); }
  SUBCASE("columns") { eval(twice)(PART2(b), PART2(a)); }
  SUBCASE("blocks") { eval(twice)(PART12(b), PART12(a)); }
  SUBCASE("rows with ghosts") { eval(twice)(PART1(b, 2), PART1(a, 2)); }
  SUBCASE("by the library") { eval(twice).devices()(b, a); }
  SUBCASE("on the last device alone") { eval(twice).device(testDevices().back())(b, a); }
  field.check(b, field.doubled());
  // Again, when cells have been read elsewhere, and through views.
  static_cast<void>(b(3, 4));
  field.check(b, field.doubled());
  long total = 0;
  for (int i = 7; i <= 50; ++i)
    for (int j = 3; j <= 30; ++j)
      total += 2 * field.values[static_cast<std::size_t>(i * kColumns + j)];
  CHECK(sum(b(Range(7, 50), Range(3, 30))).value() == total);
}

TEST_CASE("ghosts that a device has computed for itself do not count") {
  const Field field;
  Array<int, 2> a = field.a, b = field.b;
  // The rim of each part is 1 there, a ghost of which the neighbour knows better.
  eval(smooth)(PART1(b, 1), PART1(a, 1));
  const auto at = [&](int i, int j) {
    return field.values[static_cast<std::size_t>(i * kColumns + j)];
  };
  std::vector<int> expected(field.values.size());
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j)
      expected[static_cast<std::size_t>(i * kColumns + j)] =
          i > 0 && i + 1 < kRows ? at(i - 1, j) + at(i + 1, j) : 1;
  field.check(b, expected);
}

TEST_CASE("every part is combined where it is: no cell moves") {
  const runtime::Settings before = runtime::settings();
  runtime::Settings profiled = before;
  profiled.profile = true;
  runtime::overrideSettings(profiled);
  const Field field;
  Array<int, 2> a = field.a, b = field.b;
  eval(twice)(PART1(b, 1), PART1(a, 1));
  Array<int, 1> cell(1);
  sum([](Int x) { return x; }, b).value();
  const std::uint64_t first = bytesMoved();
  CHECK(sum([](Int x) { return x; }, b).value() == sum(b).value());
  // Partial results, and nothing of the size of the array.
  CHECK(bytesMoved() - first < sizeof(int) * kRows * kColumns / 4);
  std::vector<memory::Home> homes;
  CHECK(memory::homesOf(b.hostView(), homes));
  CHECK(homes.size() == testDevices().size());
  runtime::overrideSettings(before);
}

TEST_CASE("the same array gives the same bits each time") {
  Array<float, 1> a(1'000'003), b(1'000'003);
  std::mt19937 random(4);
  for (int i = 0; i < 1'000'003; ++i) a(i) = static_cast<float>(random()) * 1e-9f;
  eval([](Array<float, 1> to, const Array<float, 1>& from) { to[idx] = from[idx]; })(PART1(b, 3),
                                                                                     PART1(a, 3));
  const float once = sum(b);
  for (int i = 0; i < 5; ++i) CHECK(sum(b).value() == once);
}

}  // namespace distributed_tests
