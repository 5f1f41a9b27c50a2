// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/place_blocks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "hpl/geometry/splits.h"
#include "hpl/hpl.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"
#include "hpl/topology/links.h"
#include "tests/messages.h"
#include "tests/printed.h"

namespace place_blocks_tests {

using namespace hpl::launch;
using hpl::geometry::Box;
using hpl::geometry::Index;
using hpl::geometry::SquareMatrix;
using hpl::ir::IndexForm;
using hpl::runtime::DeviceState;

namespace {

std::vector<DeviceState*> allDevices() {
  std::vector<DeviceState*> all;
  for (const auto& device : hpl::runtime::Runtime::get().devices()) all.push_back(device.get());
  return all;
}

/// Links of a test, undone at its end.
class WithLinks {
 public:
  explicit WithLinks(const SquareMatrix& bandwidths) {
    hpl::topology::setLinks({{bandwidths, "a test"}});
  }
  WithLinks(const WithLinks&) = delete;
  WithLinks& operator=(const WithLinks&) = delete;
  ~WithLinks() {
    hpl::topology::setLinks(
        {hpl::topology::equalLinks(static_cast<int>(allDevices().size()), "the end of a test")});
  }
};

SquareMatrix someBandwidths(int devices, std::mt19937& random) {
  SquareMatrix bandwidths(devices);
  for (int i = 0; i < devices; ++i)
    for (int j = 0; j < devices; ++j)
      if (i != j) bandwidths(i, j) = std::uniform_int_distribution(1, 9)(random) * 1e9;
  return bandwidths;
}

/// A star of the radii, over a domain (x, y, z) in which each device owns what it computes.
ExchangeModel starOf(const std::array<Index, 3>& domain, const std::array<int, 3>& radii) {
  std::vector<std::vector<IndexForm>> reads;
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<IndexForm> forms;
    for (int other = 2; other >= 0; --other) {
      const int reach = other == axis ? radii[static_cast<std::size_t>(axis)] : 0;
      forms.push_back(IndexForm::affine(other, -reach, reach));
    }
    reads.push_back(std::move(forms));
  }
  const Box cells({0, 0, 0}, {domain[2], domain[1], domain[0]});
  return ExchangeModel({{Footprint(std::move(reads)), cells, cells, 4, {{2, 1, 0}}}});
}

double costOf(const ExchangeModel& model, const Cutting& cutting, const SquareMatrix& bandwidths) {
  std::vector<std::size_t> devices(cutting.slices.size());
  std::iota(devices.begin(), devices.end(), std::size_t{0});
  const SquareMatrix bytes = model.bytesBetween(cutting, devices);
  double cost = 0;
  for (int to = 0; to < bytes.size(); ++to)
    for (int from = 0; from < bytes.size(); ++from)
      if (to != from) cost += bytes(to, from) / bandwidths(from, to);
  return cost;
}

void blur(hpl::Array<int, 2> out, const hpl::Array<int, 2>& in) {
  using namespace hpl;
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    out[idy][idx] = in[idy - 1][idx] + 2 * in[idy + 1][idx] + 3 * in[idy][idx - 1] +
                    5 * in[idy][idx + 1] + 7 * in[idy][idx];
  }
}

std::vector<int> blurred(const std::vector<int>& in, std::size_t rows, std::size_t columns) {
  std::vector<int> out = in;
  for (std::size_t y = 1; y + 1 < rows; ++y)
    for (std::size_t x = 1; x + 1 < columns; ++x) {
      const std::size_t at = y * columns + x;
      out[at] =
          in[at - columns] + 2 * in[at + columns] + 3 * in[at - 1] + 5 * in[at + 1] + 7 * in[at];
    }
  return out;
}

/// Six steps that the library divides, in place of the same with `choose` of the launcher.
template <class Choose>
std::vector<int> afterSteps(std::vector<int> values, std::size_t rows, std::size_t columns,
                            Choose choose) {
  using Grid = hpl::Array<int, 2>;
  Grid now(rows, columns, values.data()), next(rows, columns);
  next = now;
  for (int step = 0; step < 6; ++step) {
    auto launch = hpl::eval(blur);
    choose(launch)(next, now);
    std::swap(now, next);
  }
  std::vector<int> result(values.size());
  now.copyTo(result.data());
  return result;
}

template <class Change>
void withSettings(Change change, const std::function<void()>& run) {
  const hpl::runtime::Settings before = hpl::runtime::settings();
  hpl::runtime::Settings wanted = before;
  change(wanted);
  hpl::runtime::overrideSettings(wanted);
  run();
  hpl::runtime::overrideSettings(before);
}

}  // namespace

TEST_CASE("blocks go to the devices between which their exchange takes the least time") {
  const std::vector<DeviceState*> devices = allDevices();
  const int n = static_cast<int>(devices.size());
  if (n < 2 || n > 6) return;
  const unsigned seed = 11;
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const std::array<Index, 3> domain{40, 60, 80};
    const std::array<int, 3> radii{std::uniform_int_distribution(0, 3)(random),
                                   std::uniform_int_distribution(0, 3)(random), 1};
    const auto grids = gridsOf(n, {true, true, true});
    const Cutting before = gridCutting(
        domain, grids[std::uniform_int_distribution<std::size_t>(0, grids.size() - 1)(random)], {});
    const ExchangeModel model = starOf(domain, radii);
    const SquareMatrix bandwidths = someBandwidths(n, random);
    const WithLinks links(bandwidths);
    Cutting placed = before;
    const std::string changes = placeBlocks(placed, model, devices, {});
    // By looking at all orders of the blocks.
    double least = costOf(model, before, bandwidths);
    std::vector<int> order(devices.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      Cutting other = before;
      for (std::size_t i = 0; i < order.size(); ++i)
        other.slices[static_cast<std::size_t>(order[i])] = before.slices[i];
      least = std::min(least, costOf(model, other, bandwidths));
    } while (std::next_permutation(order.begin(), order.end()));
    CHECK(costOf(model, placed, bandwidths) == doctest::Approx(least).epsilon(1e-9));
    CHECK(changes.empty() == (placed.slices == before.slices));
    CHECK(placed.cut == before.cut);
    CHECK(std::is_permutation(placed.slices.begin(), placed.slices.end(), before.slices.begin()));
  }
}

TEST_CASE("devices of different weights keep their blocks, and so do those of equal links") {
  const std::vector<DeviceState*> devices = allDevices();
  const int n = static_cast<int>(devices.size());
  if (n < 2) return;
  std::mt19937 random(3);
  const std::array<Index, 3> domain{40, 60, 80};
  const Cutting before = gridCutting(domain, {1, 1, n}, {});
  const ExchangeModel model = starOf(domain, {1, 1, 1});
  std::vector<double> weights(devices.size(), 1.0);
  weights.back() = 2;
  {
    const WithLinks links(someBandwidths(n, random));
    Cutting placed = before;
    CHECK(placeBlocks(placed, model, devices, weights).empty());
    CHECK(placed.slices == before.slices);
  }
  const WithLinks equal(hpl::topology::equalLinks(n, "").bandwidths);
  Cutting placed = before;
  CHECK(placeBlocks(placed, model, devices, {}).empty());
  CHECK(placed.slices == before.slices);
}

TEST_CASE("results do not depend on where blocks are placed") {
  const int n = static_cast<int>(allDevices().size());
  if (n < 2) return;
  const unsigned seed = 5;
  CAPTURE(seed);
  std::mt19937 random(seed);
  const std::size_t rows = 37, columns = 29;
  std::vector<int> values(rows * columns);
  for (int& value : values) value = std::uniform_int_distribution(-9, 9)(random);
  std::vector<int> expected = values;
  for (int step = 0; step < 6; ++step) expected = blurred(expected, rows, columns);
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    const WithLinks links(someBandwidths(n, random));
    CHECK(afterSteps(values, rows, columns,
                     [](auto& launch) -> auto& { return launch.devices(); }) == expected);
  }
}

TEST_CASE(
    "a placement is explained; lists that the program names, and HPL_PLACEMENT=off, have none") {
  const int n = static_cast<int>(allDevices().size());
  if (n < 3) return;
  // Neighbours in the list are far from each other, every second one is near.
  SquareMatrix bandwidths(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (i != j) bandwidths(i, j) = (i % 2 == j % 2 ? 50 : 5) * 1e9;
  const WithLinks links(bandwidths);
  const std::vector<int> values(64 * 8, 1);
  const auto all = [](auto& launch) -> auto& { return launch.devices(); };
  const auto listed = [](auto& launch) -> auto& { return launch.devices(hpl::devices()); };
  const auto told = [&](auto choose, hpl::runtime::PlaceBlocks placement) {
    std::string text;
    withSettings(
        [&](hpl::runtime::Settings& s) {
          s.explain = true;
          s.placement = placement;
        },
        [&] { text = hpl_tests::printed([&] { afterSteps(values, 64, 8, choose); }); });
    return text;
  };
  using hpl_tests::contains;
  const std::string placed = told(all, hpl::runtime::PlaceBlocks::Auto);
  CHECK(contains(placed, "placed by links"));
  CHECK(contains(placed, "us on the links of node 0 (a test)"));
  CHECK_FALSE(contains(told(listed, hpl::runtime::PlaceBlocks::Auto), "placed by links"));
  CHECK_FALSE(contains(told(all, hpl::runtime::PlaceBlocks::Off), "placed by links"));
}

}  // namespace place_blocks_tests
