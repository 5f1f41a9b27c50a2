// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/placement.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "hpl/error.h"
#include "hpl/geometry/hierarchy.h"
#include "tests/messages.h"
#include "tests/seeds.h"

namespace placement_tests {

using namespace hpl;
using namespace hpl::geometry;

namespace {

using hpl_tests::messageOf;

std::vector<int> identity(int n) {
  std::vector<int> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

SquareMatrix randomMatrix(std::mt19937& random, int n, unsigned most) {
  SquareMatrix matrix(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) matrix(i, j) = static_cast<double>(random() % most);
  return matrix;
}

/// The least and the largest cost of all placements.
std::pair<double, double> extremes(const SquareMatrix& flow, const SquareMatrix& distance) {
  std::vector<int> deviceOf = identity(flow.size());
  double least = std::numeric_limits<double>::infinity(), most = 0;
  do {
    const double cost = placementCost(flow, distance, deviceOf);
    least = std::min(least, cost);
    most = std::max(most, cost);
  } while (std::next_permutation(deviceOf.begin(), deviceOf.end()));
  return {least, most};
}

bool isPermutation(std::vector<int> deviceOf) {
  std::sort(deviceOf.begin(), deviceOf.end());
  return deviceOf == identity(static_cast<int>(deviceOf.size()));
}

/// Six GPUs in two triads, as in a node of Summit: 50 GB/s in a triad, 32 GB/s between them.
SquareMatrix summitDistances() {
  SquareMatrix distance(6);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      if (i != j) distance(i, j) = 1.0 / (i / 3 == j / 3 ? 50.0 : 32.0);
  return distance;
}

}  // namespace

TEST_CASE("placements are as cheap as the cheapest of all") {
  for (const unsigned seed : Seeds(1, 150)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const int n = 1 + static_cast<int>(random() % 7);
    const SquareMatrix flow = randomMatrix(random, n, seed % 3 == 0 ? 3 : 100);
    const SquareMatrix distance = randomMatrix(random, n, seed % 5 == 0 ? 2 : 50);
    const Placement placed = place(flow, distance);
    CHECK(placed.isExact);
    CHECK(isPermutation(placed.deviceOf));
    CHECK(placed.cost == doctest::Approx(placementCost(flow, distance, placed.deviceOf)));
    CHECK(placed.cost == doctest::Approx(extremes(flow, distance).first));
  }
}

TEST_CASE("nine devices are placed as cheaply as the cheapest of all") {
  for (const unsigned seed : Seeds(1, 6)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    SquareMatrix flow = randomMatrix(random, 9, seed % 3 == 0 ? 3 : 100);
    SquareMatrix distance = randomMatrix(random, 9, seed % 3 == 1 ? 3 : 50);
    // Every other one is symmetric, as exchanges of equal halos over links are.
    for (int i = 0; seed % 2 == 0 && i < 9; ++i) {
      for (int j = 0; j < i; ++j) {
        flow(i, j) = flow(j, i);
        distance(i, j) = distance(j, i);
      }
    }
    const Placement placed = place(flow, distance);
    CHECK(placed.isExact);
    CHECK(isPermutation(placed.deviceOf));
    CHECK(placed.cost == placementCost(flow, distance, placed.deviceOf));
    CHECK(placed.cost == extremes(flow, distance).first);
  }
}

TEST_CASE("placements over missing paths are the cheapest of those that need none") {
  for (const unsigned seed : Seeds(1, 60)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const int n = 3 + static_cast<int>(random() % 4);
    const SquareMatrix flow = randomMatrix(random, n, seed % 2 == 0 ? 2 : 4);
    SquareMatrix distance = randomMatrix(random, n, 9);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (i != j && random() % 5 == 0) distance(i, j) = std::numeric_limits<double>::infinity();
    CHECK(place(flow, distance).cost == extremes(flow, distance).first);
  }
}

TEST_CASE("the blocks of figure 11 are placed best on a node of two triads") {
  PartitionProblem problem;
  problem.domain = {1440, 1452, 700};
  problem.fields = {{{3, 3, 3}, {3, 3, 3}, 16}};
  problem.periodic = {true, true, true};
  problem.nodes = {std::vector<double>(6, 1.0)};
  const Hierarchy made = partition(problem);
  CHECK(made.blocks.front().cells == Box({0, 0, 0}, {720, 484, 700}));
  const std::vector<Index> bytes = exchangedBytes(problem, made.blocks);
  const SquareMatrix flow(6, std::vector<double>(bytes.begin(), bytes.end()));
  const SquareMatrix distance = summitDistances();
  const Placement placed = place(flow, distance);
  const auto [least, most] = extremes(flow, distance);
  CHECK(placed.cost == doctest::Approx(least));
  CHECK(most / least > 1.1);
}

TEST_CASE("equally cheap placements leave the blocks where they are") {
  const SquareMatrix flow(8, std::vector<double>(64, 1.0));
  const SquareMatrix distance(8, std::vector<double>(64, 2.0));
  CHECK(place(flow, distance).deviceOf == identity(8));
}

TEST_CASE("devices without a path do not get blocks that exchange") {
  const double none = std::numeric_limits<double>::infinity();
  // Blocks 0 and 1 exchange; devices 0 and 2 have a path.
  const SquareMatrix flow(3, {0, 5, 0, 5, 0, 0, 0, 0, 0});
  const SquareMatrix distance(3, {0, none, 1, none, 0, none, 1, none, 0});
  const Placement placed = place(flow, distance);
  CHECK(placed.cost == 10);
  CHECK(placed.deviceOf[2] == 1);
}

TEST_CASE("many blocks find a ring again that was shuffled") {
  for (const int n : {10, 16, 24}) {
    CAPTURE(n);
    std::mt19937 random(7);
    std::vector<int> shuffled = identity(n);
    for (int i = n - 1; i > 0; --i)
      std::swap(shuffled[static_cast<std::size_t>(i)],
                shuffled[random() % (static_cast<std::size_t>(i) + 1)]);
    SquareMatrix flow(n), distance(n);
    for (int i = 0; i < n; ++i) {
      const int a = shuffled[static_cast<std::size_t>(i)];
      const int b = shuffled[static_cast<std::size_t>((i + 1) % n)];
      flow(a, b) = flow(b, a) = 1;
      for (int j = 0; j < n; ++j) {
        const int steps = std::abs(i - j);
        distance(i, j) = std::min(steps, n - steps);
      }
    }
    const Placement placed = place(flow, distance);
    CHECK_FALSE(placed.isExact);
    CHECK(isPermutation(placed.deviceOf));
    CHECK(placed.cost == placementCost(flow, distance, placed.deviceOf));
    // 2 n is the least, and n * n / 2 what chance gives.
    CHECK(placed.cost <= 3.5 * n);
    CHECK(place(flow, distance).deviceOf == placed.deviceOf);
  }
}

TEST_CASE("a placement that another method found is not lost") {
  for (const unsigned seed : Seeds(1, 12)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const int n = 10 + static_cast<int>(random() % 30);
    // Blocks on a line, devices on the same one in another order: only that order costs n - 1, and
    // chance does not find it.
    std::vector<int> known = identity(n);
    for (int i = n - 1; i > 0; --i)
      std::swap(known[static_cast<std::size_t>(i)],
                known[random() % (static_cast<std::size_t>(i) + 1)]);
    SquareMatrix flow(n), distance(n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        flow(i, j) = std::abs(i - j) == 1 ? 1 : 0;
        distance(known[static_cast<std::size_t>(i)], known[static_cast<std::size_t>(j)]) =
            (i - j) * (i - j);
      }
    std::vector<int> nearly = known;
    std::swap(nearly[0], nearly[1]);
    const std::vector<std::vector<int>> beginnings{nearly};
    CHECK(place(flow, distance, beginnings).cost == 2 * (n - 1));
  }
}

TEST_CASE("beginnings of a placement give each block a device of its own") {
  const SquareMatrix three(3);
  const auto with = [&](const std::vector<int>& beginning) {
    return messageOf<ArgumentError>(
        [&] { place(three, three, std::vector<std::vector<int>>{beginning}); });
  };
  const std::string message =
      "placement: a beginning gives 3 blocks to devices; it must give each of 3 blocks a device of "
      "its own";
  CHECK(with({0, 1, 1}) == message);
  CHECK(with({0, 1, 3}) == message);
  CHECK(with({0, 1, -1}) == message);
  CHECK(with({0, 1}) ==
        "placement: a beginning gives 2 blocks to devices; it must give each of 3 "
        "blocks a device of its own");
}

TEST_CASE("placements of matrices that fit nothing are refused") {
  const SquareMatrix two(2), three(3);
  CHECK(messageOf<ArgumentError>([&] { place(two, three); }) ==
        "placement: 2 blocks on 3 devices; both need the same number, 1 or more");
  SquareMatrix negative(2);
  negative(1, 0) = -1;
  CHECK(messageOf<ArgumentError>([&] { place(negative, two); }) ==
        "placement: the flow from block 0 to 1 is -1; it must be a number, 0 or more");
  CHECK(messageOf<ArgumentError>([&] { place(two, negative); }) ==
        "placement: the distance from device 0 to 1 is -1; it must be 0 or more");
  CHECK(messageOf<ArgumentError>([] {
          SquareMatrix(2, {1, 2, 3});
        }) == "a square matrix of 2 rows has 3 values; it needs 4");
}

}  // namespace placement_tests
