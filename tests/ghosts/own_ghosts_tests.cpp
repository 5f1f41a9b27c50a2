// SPDX-License-Identifier: Apache-2.0
// Values that a part wrote into its ghosts stay there for the part's next launch, whatever else
// reads the array meanwhile.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "hpl/memory/detail/device_access.h"
#include "hpl/runtime/device_state.h"
#include "support.h"

namespace own_ghosts_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

constexpr int kCells = 20;

void number(Numbers a, Int value) { a[idx] = value; }

void around(Numbers out, const Numbers& in) {
  if_(idx >= 2 && idx + 2 < szx) {
    out[idx] = in[idx - 2] + 100 * in[idx + 2];
  }
}

const Range kLower(0, 11), kUpper(8, 19);  // cores of ten cells, two ghosts each

// Two parts, of which the first wrote 1 and the second wrote 2 into all of their cells.
class Owners {
 public:
  explicit Owners(bool annotated) : annotated_(annotated) {
    a = 0;
    for (int round = 0; round < 2; ++round) {
      if (annotated_) {
        eval(number).devices(2)(PART1(a, 2), std::vector<int>{1, 2});
      } else {
        eval(number).device(devices_[0])(a(kLower), 1);
        eval(number).device(devices_[1])(a(kUpper), 2);
      }
    }
  }

  // Values of the cells beside the border, computed from what the parts have.
  std::vector<int> seenByParts() {
    Numbers b(kCells);
    b = -1;
    if (annotated_) {
      eval(around).devices(2)(PART1(b, 2), PART1(a, 2));
    } else {
      eval(around).device(devices_[0])(b(kLower), a(kLower));
      eval(around).device(devices_[1])(b(kUpper), a(kUpper));
    }
    return {b(7), b(8), b(9), b(10), b(11), b(12)};
  }

  Numbers a{kCells};

 private:
  bool annotated_;
  std::vector<Device> devices_ = testDevices();
};

const std::vector<int> kOwn = {101, 101, 101, 202, 202, 202};
const std::vector<int> kExchanged = {101, 201, 201, 201, 201, 202};

struct Reader {
  std::string name;
  std::function<void(Numbers&)> read;
};

std::vector<Reader> readers() {
  const auto expectCores = [](Numbers& seen) {
    CHECK(seen(10) == 1 + 200);
    CHECK(seen(7) == 1 + 100);
  };
  return {
      {"an automatic launch",
       [=](Numbers& a) {
         Numbers c(kCells);
         eval(around).devices(2)(c, a);
         expectCores(c);
       }},
      {"a launch on the whole array",
       [=](Numbers& a) {
         for (const Device& device : testDevices()) {
           Numbers c(kCells);
           eval(around).device(device)(c, a);
           expectCores(c);
         }
       }},
      {"another split",
       [=](Numbers& a) {
         Numbers c(kCells);
         const std::vector<double> weights{3, 1};
         eval(copyNumbers).devices(2).weights(weights)(PART1(c, 3), PART1(a, 3));
         for (int i = 0; i < kCells; ++i) CHECK(c(i) == (i < 10 ? 1 : 2));
       }},
      {"a view",
       [](Numbers& a) {
         Numbers c(kCells);
         for (const Device& device : testDevices()) {
           eval(copyNumbers).device(device)(c(Range(5, 16)), a(Range(5, 16)));
           for (int i = 5; i < 17; ++i) CHECK(c(i) == (i < 10 ? 1 : 2));
         }
       }},
      {"the host", [](Numbers& a) { CHECK(a(9) + 10 * a(10) == 21); }},
      {"an assignment",
       [](Numbers& a) {
         Numbers c(kCells), d(5);
         c = a;
         d = a(Range(8, 12));
         CHECK(c(9) + 10 * c(10) == 21);
         CHECK(d(1) + 10 * d(2) == 21);
       }},
      {"a reduction",
       [](Numbers& a) { CHECK(a.reduce([](int p, int q) { return p + q; }) == 30); }},
  };
}

}  // namespace

TEST_CASE("a launch that only reads leaves the ghosts of parts as they are") {
  if (deviceCount() < 2) return;
  for (const bool annotated : {true, false}) {
    for (const Reader& reader : readers()) {
      CAPTURE(annotated);
      CAPTURE(reader.name);
      Owners owners(annotated);
      reader.read(owners.a);
      CHECK(owners.seenByParts() == kOwn);
      reader.read(owners.a);
      reader.read(owners.a);
      CHECK(owners.seenByParts() == kOwn);
    }
  }
}

TEST_CASE("an exchange after other launches have read brings the owners' values") {
  if (deviceCount() < 2) return;
  for (const bool annotated : {true, false}) {
    for (const Reader& reader : readers()) {
      CAPTURE(annotated);
      CAPTURE(reader.name);
      Owners owners(annotated);
      reader.read(owners.a);
      owners.a.syncGhosts();
      CHECK(owners.seenByParts() == kExchanged);
      reader.read(owners.a);
      CHECK(owners.seenByParts() == kExchanged);
    }
  }
}

TEST_CASE("a launch that writes makes parts forget the ghosts that it writes") {
  if (deviceCount() < 2) return;
  for (const Reader& reader : readers()) {
    CAPTURE(reader.name);
    Owners owners(true);
    reader.read(owners.a);
    eval(number).device(testDevices()[1])(owners.a(Range(10, 10)), 5);
    CHECK(owners.seenByParts() == std::vector<int>{101, 501, 201, 201, 201, 205});
  }
}

TEST_CASE("assignments by hand read and write ghosts after other launches have read them") {
  if (deviceCount() < 2) return;
  for (const Reader& reader : readers()) {
    CAPTURE(reader.name);
    Owners owners(true);
    reader.read(owners.a);
    Numbers taken(1);
    taken = owners.a(kLower)(Range(10));  // device 0's own copy of cell 10
    CHECK(taken(0) == 1);
    owners.a(kLower)(Range(11)) = owners.a(kUpper)(Range(3));
    CHECK(owners.seenByParts() == std::vector<int>{101, 101, 201, 202, 202, 202});
    reader.read(owners.a);
    owners.a(kLower)(Range(10)) = 7;
    CHECK(owners.seenByParts() == std::vector<int>{101, 701, 201, 202, 202, 202});
    CHECK(owners.a(10) == 2);
  }
}

TEST_CASE("ghosts of parts survive that their device lacks memory") {
  if (deviceCount() < 2) return;
  for (const bool annotated : {true, false}) {
    for (const bool syncs : {false, true}) {
      CAPTURE(annotated);
      CAPTURE(syncs);
      Owners owners(annotated);
      std::vector<std::size_t> limits;
      for (const Device& device : testDevices()) {
        limits.push_back(device.state().memoryLimit());
        device.state().setMemoryLimit(device.state().memoryUsed() + 400);
      }
      {
        Numbers large(200);
        large = 0;
        eval(increment).devices(2)(PART1(large, 2));
        for (int d = 0; d < 2; ++d)
          CHECK(memory::detail::replicaBox(owners.a.hostView().root(),
                                           testDevices()[static_cast<std::size_t>(d)].state())
                    .rank() == 0);
        for (const Reader& reader : readers()) reader.read(owners.a);
        if (syncs) owners.a.syncGhosts();
        CHECK(owners.seenByParts() == (syncs ? kExchanged : kOwn));
        eval(increment).devices(2)(PART1(large, 2));
        CHECK(owners.seenByParts() == (syncs ? kExchanged : kOwn));
        CHECK(large(100) == 2);
      }
      for (std::size_t d = 0; d < limits.size(); ++d)
        testDevices()[d].state().setMemoryLimit(limits[d]);
    }
  }
}

}  // namespace own_ghosts_tests
