// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/deal.h"

#include <doctest/doctest.h>

#include <numeric>

namespace deal_tests {

using hpl::CPU;
using hpl::DeviceType;
using hpl::GPU;
using hpl::runtime::deal;
using hpl::runtime::Dealt;

namespace {

std::vector<Dealt> dealt(std::vector<DeviceType> types, int place, int processes) {
  return deal(types, place, processes);
}

}  // namespace

TEST_CASE("each of L processes gets every L-th device of its node") {
  const std::vector<DeviceType> types(5, GPU);
  CHECK(dealt(types, 0, 2) == std::vector<Dealt>{{0}, {2}, {4}});
  CHECK(dealt(types, 1, 2) == std::vector<Dealt>{{1}, {3}});
  CHECK(dealt(types, 0, 1).size() == 5);
  CHECK(dealt(types, 4, 5) == std::vector<Dealt>{{4}});
}

TEST_CASE("where devices are fewer than processes, CPUs are divided and GPUs shared") {
  CHECK(dealt({GPU, CPU}, 0, 5) == std::vector<Dealt>{{0, 0, 1, true}});
  CHECK(dealt({GPU, CPU}, 1, 5) == std::vector<Dealt>{{1, 0, 2, false}});
  CHECK(dealt({GPU, CPU}, 2, 5) == std::vector<Dealt>{{0, 0, 1, true}});
  CHECK(dealt({GPU, CPU}, 3, 5) == std::vector<Dealt>{{1, 1, 2, false}});
  CHECK(dealt({GPU, CPU}, 4, 5) == std::vector<Dealt>{{0, 0, 1, true}});
  CHECK(dealt({GPU, CPU}, 1, 3) == std::vector<Dealt>{{1}});
}

TEST_CASE("a node without devices deals none") { CHECK(dealt({}, 1, 3).empty()); }

TEST_CASE("every device is dealt, and every part of it once") {
  for (int devices = 1; devices <= 6; ++devices) {
    for (int processes = 1; processes <= 9; ++processes) {
      CAPTURE(devices);
      CAPTURE(processes);
      std::vector<double> given(static_cast<std::size_t>(devices));
      for (int place = 0; place < processes; ++place)
        for (const Dealt& one : dealt(std::vector<DeviceType>(given.size(), CPU), place, processes))
          given[one.device] += 1.0 / one.parts;
      for (const double share : given) CHECK(share == doctest::Approx(1));
    }
  }
}

}  // namespace deal_tests
