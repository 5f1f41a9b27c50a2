// SPDX-License-Identifier: Apache-2.0
// Kernels that change an array in place, one colour of a chessboard at a time: devices exchange the
// rows beside their own before each colour.
#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support.h"
#include "tests/seeds.h"

namespace colours_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

constexpr int kMask = 1023;
using Volume = Array<int, 3>;

Expr<int> isInside() { return idx > 0 && idy > 0 && idx + 1 < szx && idy + 1 < szy; }

void relaxCell(Grid& u, Int y, Int x) {
  u[y][x] = (u[y - 1][x] * 3 + u[y + 1][x] - u[y][x - 1] + u[y][x + 1] * 2 + u[y][x] + x) & kMask;
}

// The same colour in several words.
void bySizes(Grid u, Int colour) {
  if_(isInside() && cast<int>(idx + idy) % 2 == colour) {
    relaxCell(u, cast<int>(idy), cast<int>(idx));
  }
}
void byInts(Grid u, Int colour) {
  Int x = cast<int>(idx), y = cast<int>(idy);
  if_(isInside()) {
    if_((x + y + colour) % 2 == 0) {
      relaxCell(u, y, x);
    }
  }
}
void byBits(Grid u, Int colour) {
  Int x = cast<int>(idx), y = cast<int>(idy);
  Int mine = (x ^ y) & 1;
  if_(isInside() && mine == colour) {
    relaxCell(u, y, x);
  }
}
void byReturn(Grid u, Int colour) {
  if_(cast<int>((idx + idy) % 2) != colour) {
    return_();
  }
  if_(!isInside()) {
    return_();
  }
  relaxCell(u, cast<int>(idy), cast<int>(idx));
}
void byComparison(Grid u, Int colour) {
  Uint row = cast<unsigned>(idy) % 2u, column = (cast<unsigned>(idx) + cast<unsigned>(colour)) % 2u;
  if_(isInside() && row == column) {
    relaxCell(u, cast<int>(idy), cast<int>(idx));
  }
}
void byTruth(Grid u, Int colour) {
  if_(isInside()) {
    if_((cast<int>(idx) - cast<int>(idy) + colour) % 2) {
    }
    else_ { relaxCell(u, cast<int>(idy), cast<int>(idx)); }
  }
}

constexpr std::array kWritten{bySizes, byInts, byBits, byReturn, byComparison, byTruth};

void relaxOnHost(std::vector<int>& u, int rows, int columns, int colour) {
  for (int y = 1; y + 1 < rows; ++y)
    for (int x = 1; x + 1 < columns; ++x) {
      if ((x + y) % 2 != colour) continue;
      const auto at = [&](int row, int column) { return u[place(row, column, columns)]; };
      u[place(y, x, columns)] =
          (at(y - 1, x) * 3 + at(y + 1, x) - at(y, x - 1) + at(y, x + 1) * 2 + at(y, x) + x) &
          kMask;
    }
}

/// Each of four colours reads all eight neighbours.
void ofFour(Grid u, Int right, Int down) {
  Int x = cast<int>(idx), y = cast<int>(idy);
  if_(isInside() && x % 2 == right && y % 2 == down) {
    Int sum = u[y][x];
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (dx != 0 || dy != 0) sum += (dx + 3 * dy) * u[y + dy][x + dx];
    u[y][x] = sum & kMask;
  }
}

void ofVolume(Volume u, Int colour) {
  Int x = cast<int>(idx), y = cast<int>(idy), z = cast<int>(idz);
  if_(x > 0 && y > 0 && z > 0 && x < cast<int>(szx) - 1 && y < cast<int>(szy) - 1 &&
      z < cast<int>(szz) - 1 && (x + y + z) % 2 == colour) {
    u[z][y][x] = (u[z - 1][y][x] + u[z + 1][y][x] * 2 + u[z][y - 1][x] - u[z][y + 1][x] +
                  u[z][y][x - 1] + u[z][y][x + 1] * 3) &
                 kMask;
  }
}

// Neighbours beyond an end are those of the other end.
void onTorus(Grid u, Int colour) {
  if_((cast<int>(idx) + cast<int>(idy)) % 2 == colour) {
    Int up = where(idy == 0, szy - 1, idy - 1), left = where(idx == 0, szx - 1, idx - 1);
    u[idy][idx] = (u[up][idx] * 3 - u[(idy + 1) % szy][idx] + u[idy][left] * 2 +
                   u[idy][(idx + 1) % szx] + u[idy][idx]) &
                  kMask;
  }
}

}  // namespace

TEST_CASE("one colour after the other, in place, exchanges the rows beside each device's own") {
  const int rows = 40, columns = 21, sweeps = 4;
  for (std::size_t way = 0; way < kWritten.size(); ++way) {
    CAPTURE(way);
    Grid u(rows, columns);
    std::vector<int> cells = someValues(u.size(), 3);
    u.copyFrom(cells.data());
    std::optional<Traffic> traffic;
    for (int sweep = 0; sweep < 2 * sweeps; ++sweep) {
      if (sweep == 1) traffic.emplace();
      eval(kWritten[way])
          .devices(deviceCount())
          .blocks(1, static_cast<std::size_t>(deviceCount()))(u, sweep % 2);
      relaxOnHost(cells, rows, columns, sweep % 2);
    }
    CHECK(traffic->betweenDevices() ==
          bytesOf((2 * sweeps - 1) * 2 * (deviceCount() - 1), columns));
    CHECK(valuesOf(u) == cells);
  }
}

TEST_CASE("colours in place on blocks, with weights, between other launches, and on one device") {
  for (const unsigned seed : Seeds(1, 8)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    const int rows = pick(6, 50), columns = pick(6, 40);
    Grid u(rows, columns), other(rows, columns);
    std::vector<int> cells = someValues(u.size(), seed);
    u.copyFrom(cells.data());
    std::vector<double> weights;
    for (int d = 0; d < deviceCount(); ++d) weights.push_back(pick(1, 4));
    const auto copy = [](Grid out, Grid in) { out[idy][idx] = in[idy][idx]; };
    for (int step = 0; step < 8; ++step) {
      const int colour = pick(0, 1);
      auto launch = eval(kWritten[static_cast<std::size_t>(pick(0, 5))]);
      const int how = pick(0, 4);
      if (how > 0) launch.devices(deviceCount());
      if (how == 2) launch.weights(weights);
      if (how == 3) launch.blocks(static_cast<std::size_t>(deviceCount()), 1);
      launch(u, colour);
      relaxOnHost(cells, rows, columns, colour);
      if (pick(0, 3) == 0) {
        eval(copy).devices(deviceCount())(other, u);
        swap(u, other);
      }
      if (pick(0, 2) == 0) REQUIRE(valuesOf(u) == cells);
    }
    REQUIRE(valuesOf(u) == cells);
  }
}

TEST_CASE("a chessboard on a torus closes where its sides are even") {
  const int steps = 6;
  for (const auto& [rows, columns] : std::vector<std::pair<int, int>>{{36, 14}, {8, 30}, {2, 2}}) {
    Grid u(rows, columns);
    std::vector<int> cells = someValues(u.size(), 4);
    u.copyFrom(cells.data());
    std::optional<Traffic> traffic;
    for (int step = 0; step < steps; ++step) {
      if (step == 1) traffic.emplace();
      eval(onTorus).devices(deviceCount())(u, step % 2);
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x) {
          if ((x + y) % 2 != step % 2) continue;
          const auto at = [&, height = rows, width = columns](int row, int column) {
            return cells[place((row + height) % height, (column + width) % width, width)];
          };
          cells[place(y, x, columns)] =
              (at(y - 1, x) * 3 - at(y + 1, x) + at(y, x - 1) * 2 + at(y, x + 1) + at(y, x)) &
              kMask;
        }
    }
    if (rows == 36)
      CHECK(traffic->betweenDevices() == bytesOf((steps - 1) * 2 * deviceCount(), columns));
    CHECK(valuesOf(u) == cells);
  }
  if (deviceCount() < 2) return;
  // Where a side is odd, cells of one colour are neighbours across the ends.
  Grid odd(15, 15);
  odd = 3;
  expectMessage(messageOf<LaunchError>([&] { eval(onTorus).devices()(odd, 0); }),
                {"reads argument 1", "which it also writes"});
}

TEST_CASE("four colours, and the two of a volume, in place on several devices") {
  const int rows = 33, columns = 30;
  Grid u(rows, columns);
  std::vector<int> cells = someValues(u.size(), 5);
  u.copyFrom(cells.data());
  for (int step = 0; step < 8; ++step) {
    const int right = step % 2, down = step / 2 % 2;
    eval(ofFour).devices(deviceCount())(u, right, down);
    for (int y = 1; y + 1 < rows; ++y)
      for (int x = 1; x + 1 < columns; ++x) {
        if (x % 2 != right || y % 2 != down) continue;
        int sum = cells[place(y, x, columns)];
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx)
            if (dx != 0 || dy != 0) sum += (dx + 3 * dy) * cells[place(y + dy, x + dx, columns)];
        cells[place(y, x, columns)] = sum & kMask;
      }
  }
  CHECK(valuesOf(u) == cells);

  const int depth = 14;
  Volume v(depth, 9, 11);
  std::vector<int> volume = someValues(v.size(), 6);
  v.copyFrom(volume.data());
  for (int step = 0; step < 4; ++step) {
    eval(ofVolume).devices(deviceCount())(v, step % 2);
    const auto at = [&](int z, int y, int x) -> int& {
      return volume[static_cast<std::size_t>((z * 9 + y) * 11 + x)];
    };
    for (int z = 1; z + 1 < depth; ++z)
      for (int y = 1; y < 8; ++y)
        for (int x = 1; x < 10; ++x)
          if ((x + y + z) % 2 == step % 2)
            at(z, y, x) = (at(z - 1, y, x) + at(z + 1, y, x) * 2 + at(z, y - 1, x) -
                           at(z, y + 1, x) + at(z, y, x - 1) + at(z, y, x + 1) * 3) &
                          kMask;
  }
  CHECK(valuesOf(v) == volume);
}

namespace {

/// A kernel in place with a condition of many kinds; only some of them are chessboards.
struct Sweep {
  /// (ax * x + ay * y + shift) % modulus == 0, or not.
  int ax, ay, shift, modulus;
  bool isEqual, inAnd, byReturn, readsElsewhere;
  std::vector<std::array<int, 2>> offsets;

  bool chooses(int y, int x) const { return ((ax * x + ay * y + shift) % modulus == 0) == isEqual; }
  void operator()(Grid u) const {
    Int x = cast<int>(idx), y = cast<int>(idy);
    const auto left = (ax * x + ay * y + shift) % modulus;
    const auto inside = x >= 2 && y >= 2 && x + 2 < cast<int>(szx) && y + 2 < cast<int>(szy);
    Int sum = u[y][x];
    const auto read = [&] {
      for (const auto& [dy, dx] : offsets) sum += u[y + dy][x + dx] * (3 + dy - 2 * dx);
    };
    if (byReturn) {
      if_(!inside) {
        return_();
      }
      if (isEqual) {
        if_(left != 0) {
          return_();
        }
      } else {
        if_(left == 0) {
          return_();
        }
      }
      read();
      u[y][x] = sum & kMask;
      return;
    }
    if_(inside) {
      if (readsElsewhere) read();
      const Expr<int> condition = isEqual ? left == 0 : left != 0;
      if_(inAnd ? condition&& sum >= 0 : condition) {
        if (!readsElsewhere) read();
        u[y][x] = sum & kMask;
      }
    }
  }
  /// Whether a work-item reads what another one writes.
  bool races(int rows, int columns) const {
    const auto isInside = [&](int y, int x) {
      return x >= 2 && y >= 2 && x + 2 < columns && y + 2 < rows;
    };
    for (int y = 2; y + 2 < rows; ++y)
      for (int x = 2; x + 2 < columns; ++x)
        for (const auto& [dy, dx] : offsets)
          if ((dy != 0 || dx != 0) && (readsElsewhere || chooses(y, x)) &&
              isInside(y + dy, x + dx) && chooses(y + dy, x + dx))
            return true;
    return false;
  }
  void onHost(std::vector<int>& u, int rows, int columns) const {
    const std::vector<int> before = u;
    for (int y = 2; y + 2 < rows; ++y)
      for (int x = 2; x + 2 < columns; ++x) {
        if (!chooses(y, x)) continue;
        int sum = before[place(y, x, columns)];
        for (const auto& [dy, dx] : offsets)
          sum += before[place(y + dy, x + dx, columns)] * (3 + dy - 2 * dx);
        if (!inAnd || before[place(y, x, columns)] >= 0) u[place(y, x, columns)] = sum & kMask;
      }
  }
};

}  // namespace

TEST_CASE("what races between work-items is never shared out, and what is shared out is right") {
  if (deviceCount() < 2) return;
  int shared = 0, racing = 0;
  for (const unsigned seed : Seeds(1, 24)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    Sweep sweep{pick(0, 2),
                pick(0, 2),
                pick(0, 2),
                pick(0, 4) == 0 ? 3 : 2,
                pick(0, 3) != 0,
                pick(0, 2) == 0,
                pick(0, 2) == 0,
                pick(0, 5) == 0,
                {}};
    if (sweep.byReturn) sweep.inAnd = sweep.readsElsewhere = false;
    // Else few of them are chessboards.
    const bool isLikely = pick(0, 2) > 0;
    if (isLikely) sweep.ax = sweep.ay = 1, sweep.modulus = 2, sweep.readsElsewhere = false;
    for (int k = pick(1, 4); k > 0; --k) {
      int dy = pick(-2, 2), dx = pick(-2, 2);
      if (isLikely && (dx + dy) % 2 == 0) dx += dx > 0 ? -1 : 1;
      sweep.offsets.push_back({dy, dx});
    }
    const int rows = pick(12, 30), columns = pick(12, 30);
    Grid u(rows, columns);
    std::vector<int> cells = someValues(u.size(), seed);
    u.copyFrom(cells.data());
    const bool races = sweep.races(rows, columns);
    racing += races ? 1 : 0;
    try {
      eval(sweep).devices(deviceCount())(u);
      ++shared;
      // Along an axis where it reads none but its own cells, devices have nothing to do with each
      // other; what one of them makes of a race is the program's.
      sweep.onHost(cells, rows, columns);
      if (!races) REQUIRE(valuesOf(u) == cells);
      const auto staysOn = [&](std::size_t axis) {
        return std::all_of(sweep.offsets.begin(), sweep.offsets.end(),
                           [&](const auto& offset) { return offset[axis] == 0; });
      };
      if (races) REQUIRE((staysOn(0) || staysOn(1)));
    } catch (const LaunchError& error) {
      CHECK(std::string(error.what()).find("which it also writes") != std::string::npos);
      CHECK(valuesOf(u) == cells);
    }
  }
  CHECK(shared > 0);
  CHECK(racing > 0);
}

TEST_CASE("colours that may differ, or that some access does not keep to, are refused") {
  if (deviceCount() < 2) return;
  Grid u(20, 20);
  u = 7;
  const auto expectRefusal = [&](const auto& launch) {
    expectMessage(messageOf<LaunchError>(launch),
                  {"reads argument 1", "which it also writes", "elsewhere than at its own idy"});
  };
  const auto otherThan = [](Grid v, Int colour) {
    if_(isInside() && cast<int>(idx + idy) % 2 != colour) {
      v[idy][idx] += v[idy - 1][idx] + v[idy][idx - 1];
    }
  };
  expectRefusal([&] { eval(otherThan).devices()(u, 5); });
  const auto bothBranches = [](Grid v, Int colour) {
    if_(isInside()) {
      if_(cast<int>(idx + idy) % 2 == colour) {
        v[idy][idx] += v[idy - 1][idx] + v[idy][idx - 1];
      }
      else_ { v[idy][idx] += 1; }
    }
  };
  expectRefusal([&] { eval(bothBranches).devices()(u, 0); });
  const auto changing = [](Grid v, Int colour) {
    Int turn = 0;
    while_(turn < 2) {
      if_(isInside() && (cast<int>(idx + idy) + turn) % 2 == colour) {
        v[idy][idx] += v[idy - 1][idx] + v[idy][idx - 1];
      }
      turn += 1;
    }
  };
  expectRefusal([&] { eval(changing).devices()(u, 0); });
  const auto fromArray = [](Grid v, Grid colours) {
    if_(isInside() && cast<int>(idx + idy) % 2 == colours[idy][idx]) {
      v[idy][idx] += v[idy - 1][idx] + v[idy][idx - 1];
    }
  };
  Grid colours(20, 20);
  colours = 0;
  expectRefusal([&] { eval(fromArray).devices()(u, colours); });
  const auto changed = [](Grid v, Int colour) {
    if_(idx > 5) {
      colour += 1;
    }
    if_(isInside() && cast<int>(idx + idy) % 2 == colour) {
      v[idy][idx] += v[idy - 1][idx] + v[idy][idx - 1];
    }
  };
  expectRefusal([&] { eval(changed).devices()(u, 0); });
  CHECK(valuesOf(u) == std::vector<int>(400, 7));
}

TEST_CASE("each device's own value as the colour is no chessboard") {
  if (deviceCount() < 2) return;
  Grid u(20, 20);
  u = 7;
  std::vector<int> each(static_cast<std::size_t>(deviceCount()), 0);
  CHECK_THROWS_AS(eval(bySizes).devices()(u, each), Error);
  CHECK(valuesOf(u) == std::vector<int>(400, 7));
}

TEST_CASE("a chessboard of views that each device is given waits for the other devices' rows") {
  const int columns = 17, inner = 6 * deviceCount(), rows = inner + 2;
  const auto sweep = [](Grid own, const Grid& around, Int colour) {
    if_(idx > 0 && idx + 1 < szx && cast<int>(idx + idy) % 2 == colour) {
      own[idy][idx] = (around[idy][idx] * 3 + around[idy + 2][idx] - around[idy + 1][idx - 1] +
                       around[idy + 1][idx + 1]) &
                      kMask;
    }
  };
  Grid u(rows, columns);
  std::vector<int> cells = someValues(u.size(), 6);
  u.copyFrom(cells.data());
  std::vector<Grid> own, around;
  for (int d = 0; d < deviceCount(); ++d) {
    own.push_back(u(Range(1 + 6 * d, 6 + 6 * d), Range(0, columns - 1)));
    around.push_back(u(Range(6 * d, 7 + 6 * d), Range(0, columns - 1)));
  }
  for (int step = 0; step < 40; ++step) {
    eval(sweep).devices(deviceCount())(own, around, step % 2);
    for (int y = 1; y <= inner; ++y)
      for (int x = 1; x + 1 < columns; ++x) {
        if ((x + y - 1) % 2 != step % 2) continue;
        const auto at = [&](int row, int column) { return cells[place(row, column, columns)]; };
        cells[place(y, x, columns)] =
            (at(y - 1, x) * 3 + at(y + 1, x) - at(y, x - 1) + at(y, x + 1)) & kMask;
      }
  }
  CHECK(valuesOf(u) == cells);
}

}  // namespace colours_tests
