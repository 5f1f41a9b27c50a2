// SPDX-License-Identifier: Apache-2.0
// Launches that repeat one of the last: they find its plan without looking it up, and do nothing
// but enqueue.
#include <doctest/doctest.h>

#include <vector>

#include "hpl/hpl.h"
#include "hpl/memory/detail/device_access.h"
#include "hpl/runtime/device_state.h"

namespace repetition_tests {

using namespace hpl;

namespace {

using memory::detail::Transaction;

void addScaled(Array<int, 1> y, const Array<int, 1>& x, Int a) { y[idx] += a * x[idx]; }
void addTransposed(Int a, const Array<int, 1>& x, Array<int, 1> y) { y[idx] += a * x[idx]; }

bool nextHasEvent() {
  const auto lock = Transaction::takeLock();
  return Transaction::wantsEvent(defaultDevice().state());
}

}  // namespace

TEST_CASE("launches that take turns on many arrays, with scalars that change, are all different") {
  constexpr int kArrays = 9;
  constexpr int kRounds = 4;
  std::vector<Array<int, 1>> sums;
  std::vector<int> expected(kArrays, 0);
  Array<int, 1> x(64);
  x = 1;
  for (int k = 0; k < kArrays; ++k) {
    sums.emplace_back(64 + 16 * (k % 2));
    sums.back() = 0;
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int k = 0; k < kArrays; ++k) {
      // Every third one twice, then backwards: repetitions and returns of all distances.
      const int which = round % 2 == 0 ? k : kArrays - 1 - k;
      for (int again = 0; again <= (which % 3 == 0 ? 1 : 0); ++again) {
        const int a = 100 * round + which + again;
        eval(addScaled).global(64)(sums[static_cast<std::size_t>(which)], x, a);
        expected[static_cast<std::size_t>(which)] += a;
      }
    }
  }
  for (std::size_t k = 0; k < kArrays; ++k) {
    CHECK(sums[k](0).value() == expected[k]);
    CHECK(sums[k](63).value() == expected[k]);
    if (k % 2 == 1) CHECK(sums[k](64).value() == 0);
  }
}

TEST_CASE("what the host writes between two launches, the second one sees") {
  Array<int, 1> y(32), x(32);
  y = 0;
  x = 1;
  FRunner runner = eval(addScaled)(y, x, 1);
  for (int i = 0; i < 5; ++i) {
    x(31) = 10 * i;
    eval(addScaled)(y, x, 1);
    runner.run();
  }
  CHECK(y(0).value() == 11);
  CHECK(y(31).value() == 1 + 2 * (0 + 10 + 20 + 30 + 40));
}

TEST_CASE("domains, devices' modes and positions of arguments tell repetitions apart") {
  Array<int, 1> y(32), x(32);
  y = 0;
  x = 1;
  for (int i = 0; i < 3; ++i) {
    eval(addScaled)(y, x, 1);
    eval(addScaled).global(16)(y, x, 10);
    eval(addScaled).global(16).local(4)(y, x, 100);
    eval(addScaled).fp(STRICT)(y, x, 1000);
    eval(addTransposed)(10000, x, y);
  }
  CHECK(y(0).value() == 33333);
  CHECK(y(15).value() == 33333);
  CHECK(y(16).value() == 33003);
  CHECK_THROWS_AS(eval(addScaled)(1, x, y), ArgumentError);
  CHECK(y(31).value() == 33003);
}

TEST_CASE("a kernel that was forgotten is captured again, though its launches were just repeated") {
  int factor = 1;
  const auto scale = [&factor](Array<int, 1> y) { y[idx] += factor; };
  const auto reuse = +[](Array<int, 1> y) { y[idx] += 1; };
  Array<int, 1> y(16);
  y = 0;
  for (int i = 0; i < 3; ++i) eval(reuse)(y);
  for (int i = 0; i < 3; ++i) {
    reeval(reuse)(y);
    reeval(scale)(y);
    factor *= 10;
  }
  CHECK(y(15).value() == 6 + 111);
}

TEST_CASE("launches that nobody waits for do without events, and who reads at last waits for all") {
  Array<int, 1> y(64), x(64);
  y = 0;
  x = 1;
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < 600; ++i) eval(addScaled)(y, x, 1);
    CHECK_FALSE(nextHasEvent());
    CHECK(y(63).value() == 600 * round);
    CHECK(nextHasEvent());  // somebody has waited: there will be events for a while
  }
  FRunner runner = eval(addScaled)(y, x, 1);
  for (int i = 0; i < 600; ++i) runner.run();
  CHECK_FALSE(nextHasEvent());
  runner.wait();
  CHECK(y(0).value() == 1800 + 601);
}

TEST_CASE("transfers wait for launches without events, too") {
  Array<int, 1> y(64), x(64), copy(64);
  y = 0;
  x = 1;
  for (int i = 0; i < 600; ++i) eval(addScaled)(y, x, 1);
  copy = y;
  x = 2;
  eval(addScaled)(y, x, 1);
  CHECK(copy(63).value() == 600);
  CHECK(y(63).value() == 602);
}

}  // namespace repetition_tests
