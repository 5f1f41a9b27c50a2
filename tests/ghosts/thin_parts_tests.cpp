// SPDX-License-Identifier: Apache-2.0
// Ghosts wider than parts: they come from several owners, of which some are no direct neighbours.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "support.h"

namespace thin_parts_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

using Launch = std::function<void(Grid& out, Grid& in, SyncMode sync)>;

// Runs ninePoint for several steps, exchanging every `interval` steps, and compares with one
// device.
void compare(int rows, int columns, int interval, const Launch& launch) {
  for (const SyncMode sync : {MANUAL_SYNC, AUTO_SYNC}) {
    for (const bool check : {false, true}) {
      CAPTURE(static_cast<int>(sync));
      CAPTURE(check);
      const WithSettings checking([&](runtime::Settings& s) { s.checkGhosts = check; });
      Grid a(rows, columns), b(rows, columns);
      std::vector<int> x = someValues(a.size(), 1), y = someValues(a.size(), 2);
      a.copyFrom(x.data());
      b.copyFrom(y.data());
      for (int step = 1; step <= 3 * interval + 2; ++step) {
        launch(b, a, sync);
        if (sync == MANUAL_SYNC && step % interval == 0) b.syncGhosts();
        swap(a, b);
        y = ninePointStep(x, y, rows, columns);
        std::swap(x, y);
      }
      CHECK(valuesOf(a) == x);
      CHECK(valuesOf(b) == y);
    }
  }
}

}  // namespace

TEST_CASE("parts may be thinner than the ghosts of their neighbours") {
  const int n = deviceCount();
  for (const int perDevice : {1, 2, 4}) {
    for (const int r : {perDevice + 1, 6, 20}) {
      for (const int extra : {0, 1}) {
        CAPTURE(perDevice);
        CAPTURE(r);
        CAPTURE(extra);
        const int cells = perDevice * n + extra;
        const auto rows = [=](Grid& out, Grid& in, SyncMode sync) {
          eval(ninePoint)(PART1(out, r, sync), PART1(in, r, sync));
        };
        compare(cells, 7, std::min(r, 6), rows);
        const auto columns = [=](Grid& out, Grid& in, SyncMode sync) {
          eval(ninePoint)(PART2(out, r, sync), PART2(in, r, sync));
        };
        compare(7, cells, std::min(r, 6), columns);
      }
    }
  }
}

TEST_CASE("lopsided ghosts may be wider than parts, too") {
  const int cells = 3 * deviceCount() + 1;
  compare(cells, 6, 1, [](Grid& out, Grid& in, SyncMode sync) {
    eval(ninePoint)(PART1(out, 7, 1, sync), PART1(in, 7, 1, sync));
  });
  compare(6, cells, 2, [](Grid& out, Grid& in, SyncMode sync) {
    eval(ninePoint)(PART2(out, 2, 9, sync), PART2(in, 2, 9, sync));
  });
}

TEST_CASE("weights may make parts thinner than ghosts") {
  std::vector<double> weights;
  for (int d = 0; d < deviceCount(); ++d) weights.push_back(d % 2 == 0 ? 1 : 6);
  compare(5 * deviceCount(), 6, 4, [&](Grid& out, Grid& in, SyncMode sync) {
    eval(ninePoint).weights(weights)(PART1(out, 4, sync), PART1(in, 4, sync));
  });
}

TEST_CASE("blocks may be thinner than their ghosts") {
  for (const int size : {4, 5, 7}) {
    CAPTURE(size);
    compare(size, size, 3, [](Grid& out, Grid& in, SyncMode sync) {
      eval(ninePoint)(PART12(out, 3, 3, sync), PART12(in, 3, 3, sync));
    });
  }
}

TEST_CASE("every ghost comes from its owner, however far away that is") {
  const int n = deviceCount();
  Grid g(2 * n, 3);
  g = 0;
  eval([](Grid a, Int c) { a[idy][idx] = c; }).devices(n)(PART1(g, 5), [&] {
    std::vector<int> numbers;
    for (int d = 0; d < n; ++d) numbers.push_back(d);
    return numbers;
  }());
  const auto transfers = ghostTransfers(g);
  std::size_t cells = 0;
  for (const auto& transfer : transfers) {
    cells += transfer.bytes / sizeof(int);
    CHECK(transfer.cells.lo(0) / 2 == (transfer.cells.hi(0) - 1) / 2);  // of one owner
  }
  std::size_t wanted = 0;
  for (int d = 0; d < n; ++d)
    wanted +=
        static_cast<std::size_t>(3 * (std::min(2 * n, 2 * d + 7) - std::max(0, 2 * d - 5) - 2));
  CHECK(cells == wanted);
  const Traffic traffic;
  g.syncGhosts();
  CHECK(traffic.betweenDevices() == wanted * sizeof(int));
  // Each part now sees all owners' numbers.
  Grid far(2 * n, 3);
  far = -1;
  eval([](Grid out, const Grid& in) {
    if_(idy + 5 < szy) {
      out[idy][idx] = in[idy + 5][idx];
    }
  })(PART1(far, 5), PART1(g, 5));
  for (int row = 0; row + 5 < 2 * n; ++row) CHECK(far(row, 1) == (row + 5) / 2);
}

TEST_CASE("more devices than rows, and ghosts beyond all of them") {
  compare(std::max(1, deviceCount() - 1), 8, 3, [](Grid& out, Grid& in, SyncMode sync) {
    eval(ninePoint)(PART1(out, 30, sync), PART1(in, 30, sync));
  });
}

TEST_CASE("views of thin parts that are not theirs alone mean the array") {
  const int cells = 2 * deviceCount();
  Numbers a(cells), b(cells);
  a = 1;
  b = 2;
  eval(copyNumbers)(PART1(a, cells), PART1(b, cells));
  // Every part has all cells.
  a(Range(0, cells - 1))(Range(cells - 1)) = 7;
  CHECK(a(cells - 1) == 7);
  a(Range(0)) = b(Range(cells - 1));
  a(Range(cells - 1)) = 9;
  CHECK(a(0) == 2);
  CHECK(a(cells - 1) == 9);
}

}  // namespace thin_parts_tests
