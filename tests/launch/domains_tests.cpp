// SPDX-License-Identifier: Apache-2.0
// Domains that no device can run, and `.devices()`.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "hpl/hpl.h"
#include "tests/messages.h"

namespace domains_tests {

namespace {

using namespace hpl;
using hpl_tests::contains;
using hpl_tests::messageOf;

void increment(Array<int, 1> a) { a[idx] += 1; }
void increment2(Array<int, 2> a) { a[idy][idx] += 1; }
void increment3(Array<int, 3> a) { a[idz][idy][idx] += 1; }

constexpr std::size_t kHuge = std::size_t{1} << 62;

template <class Launch>
std::string refusal(Launch launch) {
  return messageOf<LaunchError>(launch);
}

void expect(const std::string& message, const std::vector<std::string>& parts) {
  INFO(message);
  for (const std::string& part : parts) {
    INFO(part);
    CHECK(contains(message, part));
  }
}

}  // namespace

TEST_CASE("negative sizes are refused as what they are") {
  Array<int, 1> a(16);
  a = 1;
  expect(refusal([&] { eval(increment).global(-1)(a); }),
         {"kernel 'increment'", "global domain (-1)", "negative in dimension 1", "at least 1"});
  expect(refusal([&] { eval(increment).global(16).local(-4)(a); }),
         {"local domain (-4)", "negative in dimension 1"});
  expect(refusal([&] { eval(increment).global(-1).interpret(a); }), {"negative"});
  Array<int, 2> b(4, 4);
  b = 1;
  expect(refusal([&] { eval(increment2).global(4, -7)(b); }),
         {"global domain (4, -7)", "negative in dimension 2"});
  expect(refusal([&] { eval(increment2).global(4, 4).local(2, -2)(b); }),
         {"local domain (2, -2)", "negative in dimension 2"});
  expect(refusal([&] { eval(increment2).local(2, 0)(b); }), {"local domain (2, 0)", "is empty"});
  for (int i = 0; i < 16; ++i) CHECK(a(i).value() == 1);
  CHECK(b(3, 3).value() == 1);
}

TEST_CASE("more work-items than can be counted are refused, also after rounding up") {
  Array<int, 2> a(4, 4);
  a = 1;
  expect(refusal([&] { eval(increment2).global(kHuge, 4)(a); }),
         {"global domain (4611686018427387904, 4) has more than 9223372036854775807 work-items",
          "smaller .global"});
  expect(refusal([&] { eval(increment2).global(kHuge, kHuge)(a); }), {"more than"});
  Array<int, 3> b(2, 2, 2);
  b = 1;
  expect(
      refusal([&] { eval(increment3).global(std::size_t{1} << 32, std::size_t{1} << 32, 2)(b); }),
      {"more than"});
  Array<int, 1> c(4);
  c = 1;
  const auto most = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  expect(refusal([&] { eval(increment).global(most).local(16)(c); }),
         {"rounded up to whole groups", "more than"});
  CHECK(a(0, 0).value() == 1);
  CHECK(b(0, 0, 0).value() == 1);
  CHECK(c(0).value() == 1);
}

TEST_CASE("groups that no device holds are refused, one size and the product alike") {
  Array<int, 3> a(8, 8, 8);
  a = 1;
  const auto limit = Device().getProperties().maxWorkGroupSize;
  expect(refusal([&] { eval(increment3).local(limit, limit, limit)(a); }), {"local domain ("});
  expect(refusal([&] { eval(increment3).local(limit, 2, 2)(a); }), {"local domain ("});
  expect(refusal([&] { eval(increment3).global(8, 8).local(2, 2, 2)(a); }),
         {"the local domain has 3 dimensions and the global one 2"});
  Domain broken(4);
  broken.dims = 4;
  expect(refusal([&] { eval(increment3).global(broken)(a); }), {"4 dimensions", "1 to 3"});
  broken.dims = -1;
  expect(refusal([&] { eval(increment3).local(broken)(a); }), {"-1 dimensions", "1 to 3"});
  CHECK(a(7, 7, 7).value() == 1);
  // Fewer local dimensions than global ones: 1 along the others.
  eval(increment3).local(4)(a);
  CHECK(a(7, 7, 7).value() == 2);
}

TEST_CASE("devices() without a number means all devices of the default device's type") {
  Array<int, 1> a(64), b(64);
  a = 1;
  eval(increment).devices()(a);
  eval(increment).devices()(PART1(a));
  for (int i = 0; i < 64; ++i) CHECK(a(i).value() == 3);
  const auto all = devices(defaultDevice().type());
  // One weight per device.
  eval(increment).devices().weights(std::vector<double>(all.size(), 1.0))(a);
  CHECK(a(63).value() == 4);
  CHECK_THROWS_AS(
      eval(increment).devices().weights(std::vector<double>(all.size() + 1, 1.0))(PART1(a)),
      LaunchError);
}

TEST_CASE("copies of a launcher keep choices of their own") {
  Array<int, 1> a(64);
  a = 1;
  const std::vector<double> tooMany(devices(defaultDevice().type()).size() + 1, 1.0);
  Launcher all = eval(increment).devices();
  Launcher weighted = all;
  weighted.weights(tooMany);
  all(PART1(a));
  CHECK(a(63).value() == 2);
  CHECK_THROWS_AS(weighted(PART1(a)), LaunchError);
  // Both ways: what the first one chooses later is not for its copy.
  Launcher first = eval(increment).devices();
  Launcher second = first;
  first.weights(tooMany);
  second(PART1(a));
  CHECK(a(63).value() == 3);
  CHECK_THROWS_AS(first(PART1(a)), LaunchError);
}

}  // namespace domains_tests
