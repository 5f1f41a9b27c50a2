// SPDX-License-Identifier: Apache-2.0
// Grids that lie in vectors, whose cells programs count by themselves: devices share out rows or
// planes of them, and exchange those beside their own.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support.h"
#include "tests/seeds.h"

namespace flat_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

constexpr int kMask = 1023;

/// The source of the length of a row.
enum class Width { Argument, Domain, Int };

template <Width width>
Int widthOf(const Int& w) {
  if constexpr (width == Width::Argument) return w;
  Int size = cast<int>(szx);
  return size;
}

/// A star of reach 1, with the corner above on the right; the rim stays.
template <Width width>
void star(Numbers out, Numbers in, Int w, Int h) {
  if constexpr (width == Width::Domain) {
    Ulong i = idy * szx + idx;
    if_(idx > 0 && idy > 0 && idx + 1 < szx && idy + 1 < szy) {
      out[i] =
          (in[i - szx] * 3 + in[i + szx] - in[i - 1] + in[i + 1] * 2 + in[i - szx + 1]) & kMask;
    }
  } else {
    Int x = cast<int>(idx), y = cast<int>(idy), columns = widthOf<width>(w), i = y * columns + x;
    if_(x > 0 && y > 0 && x < columns - 1 && y < h - 1) {
      out[i] = (in[(y - 1) * columns + x] * 3 + in[i + columns] - in[i - 1] +
                in[x + 1 + y * columns] * 2 + in[i - columns + 1]) &
               kMask;
    }
  }
}

/// Two rows below, and the row's own cells of another array: everywhere but in the last rows.
template <Width width>
void below(Numbers out, Numbers in, Int w, Int h) {
  Int x = cast<int>(idx), y = cast<int>(idy), columns = widthOf<width>(w), i = x + columns * y;
  if_(y + 2 < h) {
    out[i] = (out[i] + in[i + 2 * columns] * 5) & kMask;
  }
}

/// Cells that only some of the neighbours ask for, some of which do not exist.
template <Width width>
void someAsk(Numbers out, Numbers in, Int w, Int h) {
  Int x = cast<int>(idx), y = cast<int>(idy), columns = widthOf<width>(w), i = y * columns + x;
  Int sum = where(y > 0 && in[i - columns] > 500, in[i - columns], 1);
  if_(in[i] % 3 == 0) {
    sum += where(y + 1 < h && x + 1 < columns && in[i + columns + 1] % 2 == 1, 5, in[i] * 2);
  }
  if_((x > 1 || y > 0) && in[i - 2] > 300) {
    sum += in[i - 2];
  }
  out[i] = sum & kMask;
}

/// The star in a launch of one dimension, which finds rows and columns by dividing.
void starOfIds(Numbers out, Numbers in, Int w, Int h) {
  Int i = cast<int>(idx), x = i % w, y = i / w;
  if_(x > 0 && y > 0 && x < w - 1 && y < h - 1) {
    out[i] = (in[i - w] * 3 + in[i + w] - in[i - 1] + in[i + 1] * 2 + in[i - w + 1]) & kMask;
  }
}

/// Columns that lie one after another: idx is the slower one in memory.
void byColumns(Numbers out, Numbers in, Int w, Int h) {
  Int x = cast<int>(idx), y = cast<int>(idy), i = x * h + y;
  if_(x > 0 && x + 1 < w) {
    out[i] = (in[i - h] * 3 + in[i + h] + in[i]) & kMask;
  }
}

/// All cells, also what lies beyond the grid.
void each(Numbers out, Numbers in) { out[idx] = (in[idx] * 3 + 1) & kMask; }

using Kernel = void (*)(Numbers, Numbers, Int, Int);

using Cells = std::vector<int>;

Cells starOnHost(const Cells& out, const Cells& in, int w, int h) {
  Cells result = out;
  for (int y = 1; y + 1 < h; ++y)
    for (int x = 1; x + 1 < w; ++x) {
      const auto i = static_cast<std::size_t>(y * w + x), row = static_cast<std::size_t>(w);
      result[i] =
          (in[i - row] * 3 + in[i + row] - in[i - 1] + in[i + 1] * 2 + in[i - row + 1]) & kMask;
    }
  return result;
}

Cells belowOnHost(const Cells& out, const Cells& in, int w, int h) {
  Cells result = out;
  for (std::size_t i = 0; i < static_cast<std::size_t>(w * std::max(0, h - 2)); ++i)
    result[i] = (out[i] + in[i + 2 * static_cast<std::size_t>(w)] * 5) & kMask;
  return result;
}

Cells someAskOnHost(const Cells& out, const Cells& in, int w, int h) {
  Cells result = out;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const auto i = static_cast<std::size_t>(y * w + x), row = static_cast<std::size_t>(w);
      int sum = y > 0 && in[i - row] > 500 ? in[i - row] : 1;
      if (in[i] % 3 == 0) sum += y + 1 < h && x + 1 < w && in[i + row + 1] % 2 == 1 ? 5 : in[i] * 2;
      if ((x > 1 || y > 0) && in[i - 2] > 300) sum += in[i - 2];
      result[i] = sum & kMask;
    }
  return result;
}

Cells byColumnsOnHost(const Cells& out, const Cells& in, int w, int h) {
  Cells result = out;
  for (std::size_t i = static_cast<std::size_t>(h); i < static_cast<std::size_t>((w - 1) * h); ++i)
    result[i] =
        (in[i - static_cast<std::size_t>(h)] * 3 + in[i + static_cast<std::size_t>(h)] + in[i]) &
        kMask;
  return result;
}

struct Written {
  Kernel kernel;
  Cells (*onHost)(const Cells&, const Cells&, int, int);
};

const std::vector<Written> kWritten{
    {star<Width::Argument>, starOnHost},  {star<Width::Domain>, starOnHost},
    {star<Width::Int>, starOnHost},       {below<Width::Argument>, belowOnHost},
    {below<Width::Int>, belowOnHost},     {someAsk<Width::Argument>, someAskOnHost},
    {someAsk<Width::Int>, someAskOnHost}, {byColumns, byColumnsOnHost}};

/// Planes of rows: neighbours in all six directions.
void cube(Numbers out, Numbers in, Int w, Int h) {
  Int x = cast<int>(idx), y = cast<int>(idy), z = cast<int>(idz), i = (z * h + y) * w + x;
  if_(x > 0 && y > 0 && z > 0 && x + 1 < w && y + 1 < h && idz + 1 < szz) {
    out[i] = (in[i - w * h] * 3 + in[i + h * w] - in[i - w] + in[i + w] * 2 + in[i - 1] +
              in[z * w * h + y * w + x + 1]) &
             kMask;
  }
}

Cells cubeOnHost(const Cells& out, const Cells& in, int w, int h, int d) {
  Cells result = out;
  for (int z = 1; z + 1 < d; ++z)
    for (int y = 1; y + 1 < h; ++y)
      for (int x = 1; x + 1 < w; ++x) {
        const auto i = static_cast<std::size_t>((z * h + y) * w + x);
        const auto row = static_cast<std::size_t>(w), plane = static_cast<std::size_t>(w * h);
        result[i] = (in[i - plane] * 3 + in[i + plane] - in[i - row] + in[i + row] * 2 + in[i - 1] +
                     in[i + 1]) &
                    kMask;
      }
  return result;
}

std::size_t cells(int w, int h) {
  return static_cast<std::size_t>(w) * static_cast<std::size_t>(h);
}

/// Steps over that many rows or planes, from one vector to another: launch(out, in) and the same on
/// the host. Each device gets those beside its own before each step.
template <class Launch, class OnHost>
void expectSlabsExchanged(int slabs, std::size_t cellsOfSlab, Launch launch, OnHost onHost) {
  const int steps = 5;
  const auto length = static_cast<std::size_t>(slabs) * cellsOfSlab;
  Numbers a(length), b(length);
  Cells now = someValues(length, 5), next = now;
  a.copyFrom(now.data());
  b.copyFrom(now.data());
  std::optional<Traffic> traffic;
  for (int step = 0; step < steps; ++step) {
    if (step == 1) traffic.emplace();
    launch(b, a);
    swap(a, b);
    next = onHost(next, now);
    std::swap(now, next);
  }
  CHECK(traffic->betweenDevices() == bytesOf((steps - 1) * 2 * (deviceCount() - 1), cellsOfSlab));
  CHECK(valuesOf(a) == now);
}

}  // namespace

TEST_CASE("devices exchange the rows beside their own of a grid in a vector") {
  const int w = 21, h = 48;
  const auto onHost = [=](const Cells& out, const Cells& in) { return starOnHost(out, in, w, h); };
  for (const Kernel kernel : {star<Width::Argument>, star<Width::Domain>, star<Width::Int>}) {
    const auto launch = [=](Numbers& out, Numbers& in) {
      eval(kernel).devices(deviceCount()).global(w, h)(out, in, w, h);
    };
    expectSlabsExchanged(h, cells(w, 1), launch, onHost);
  }
}

TEST_CASE("devices exchange the rows beside their own where a kernel divides its ids") {
  const int w = 70, h = 48;
  expectSlabsExchanged(
      h, cells(w, 1),
      [=](Numbers& out, Numbers& in) { eval(starOfIds).devices(deviceCount())(out, in, w, h); },
      [=](const Cells& out, const Cells& in) { return starOnHost(out, in, w, h); });
}

TEST_CASE("devices exchange the planes beside their own of a volume in a vector") {
  const int w = 9, h = 7, d = 24;
  expectSlabsExchanged(
      d, cells(w, h),
      [=](Numbers& out, Numbers& in) {
        eval(cube).devices(deviceCount()).global(w, h, d)(out, in, w, h);
      },
      [=](const Cells& out, const Cells& in) { return cubeOnHost(out, in, w, h, d); });
}

TEST_CASE("random kernels on grids in vectors give on several devices what they give on the host") {
  for (const unsigned seed : Seeds(1, 60)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    const int w = pick(3, 40), h = pick(3, 40), length = w * h + std::max(0, pick(-20, 20));
    Numbers a(length), b(length);
    Cells inA = someValues(a.size(), seed), inB = someValues(a.size(), seed + 1);
    a.copyFrom(inA.data());
    b.copyFrom(inB.data());
    std::vector<double> weights;
    for (int d = 0; d < deviceCount(); ++d) weights.push_back(pick(1, 4));
    std::string done;
    for (int step = 0; step < 6; ++step) {
      const int which = pick(0, static_cast<int>(kWritten.size()));
      done += std::to_string(which) + " ";
      CAPTURE(done);
      if (which == static_cast<int>(kWritten.size())) {
        eval(each).devices(deviceCount())(b, a);
        std::transform(inA.begin(), inA.end(), inB.begin(),
                       [](int cell) { return (cell * 3 + 1) & kMask; });
        continue;
      }
      const Written& one = kWritten[static_cast<std::size_t>(which)];
      auto launch = eval(one.kernel);
      launch.global(static_cast<std::size_t>(w), static_cast<std::size_t>(h));
      const int how = pick(0, 3);
      if (how > 0) launch.devices(deviceCount());
      if (how == 2) launch.weights(weights);
      launch(b, a, w, h);
      inB = one.onHost(inB, inA, w, h);
      if (pick(0, 1) == 0) {
        swap(a, b);
        std::swap(inA, inB);
      }
      if (pick(0, 2) == 0) REQUIRE(valuesOf(b) == inB);
    }
    REQUIRE(valuesOf(a) == inA);
    REQUIRE(valuesOf(b) == inB);
  }
}

TEST_CASE("a vector that was shared out as such is shared out by rows nearly as before") {
  const int w = 24, h = 40;
  Numbers a(w * h), b(w * h);
  const auto set = [](Numbers x) { x[idx] = cast<int>(idx) & kMask; };
  eval(set).devices(deviceCount())(a);
  eval(set).devices(deviceCount())(b);
  const Traffic traffic;
  eval(star<Width::Argument>).devices(deviceCount()).global(w, h)(b, a, w, h);
  // The rows beside each device's own, and for one of them less than half a row more of both.
  CHECK(traffic.betweenDevices() <= bytesOf(deviceCount() - 1, cells(w, 3)));
  Cells start(cells(w, h));
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<int>(i) & kMask;
  CHECK(valuesOf(b) == starOnHost(start, start, w, h));
}

TEST_CASE("one colour of a chessboard in a vector, in place") {
  const auto relax = [](Numbers u, Int w, Int h, Int colour) {
    Int x = cast<int>(idx), y = cast<int>(idy), i = y * w + x;
    if_(x > 0 && y > 0 && x + 1 < w && y + 1 < h && (x + y) % 2 == colour) {
      u[i] = (u[i - w] * 3 + u[i + w] - u[i - 1] + u[i + 1] * 2 + u[i]) & kMask;
    }
  };
  for (const auto& [w, h] : std::vector<std::pair<int, int>>{{130, 61}, {64, 64}, {31, 40}}) {
    Numbers u(w * h);
    Cells now = someValues(u.size(), 8);
    u.copyFrom(now.data());
    for (int step = 0; step < 6; ++step) {
      const int colour = step % 2;
      eval(relax).global(static_cast<std::size_t>(w), static_cast<std::size_t>(h))(u, w, h, colour);
      // The other colour does not change.
      for (int y = 1; y + 1 < h; ++y)
        for (int x = 1; x + 1 < w; ++x) {
          if ((x + y) % 2 != colour) continue;
          const auto i = static_cast<std::size_t>(y * w + x), row = static_cast<std::size_t>(w);
          now[i] = (now[i - row] * 3 + now[i + row] - now[i - 1] + now[i + 1] * 2 + now[i]) & kMask;
        }
    }
    CHECK(valuesOf(u) == now);
  }
}

TEST_CASE("the product of matrices in vectors") {
  const auto product = [](Numbers c, Numbers a, Numbers b, Int n) {
    Int sum = 0;
    for_(Int k = 0, k < n, k++) {
      sum += a[cast<int>(idy) * n + k] * b[k * n + cast<int>(idx)];
    }
    c[cast<int>(idy) * n + cast<int>(idx)] = sum;
  };
  const int n = 75;
  const auto side = static_cast<std::size_t>(n);
  Numbers a(n * n), b(n * n), c(n * n);
  const Cells left = someValues(a.size(), 1), right = someValues(a.size(), 2);
  a.copyFrom(left.data());
  b.copyFrom(right.data());
  Cells expected(a.size(), 0);
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t k = 0; k < side; ++k)
      for (std::size_t j = 0; j < side; ++j)
        expected[i * side + j] += left[i * side + k] * right[k * side + j];
  eval(product).global(side, side)(c, a, b, n);
  CHECK(valuesOf(c) == expected);
  c = 0;
  eval(product).global(side, side).devices(deviceCount())(c, a, b, n);
  CHECK(valuesOf(c) == expected);
}

TEST_CASE("the last row of a grid in a vector may be shorter than the others") {
  const auto someOf = [](Numbers out, Numbers in, Int w, Int n) {
    Int i = cast<int>(idy) * w + cast<int>(idx);
    if_(i < n) {
      out[i] = where(i + w < n, in[i + w] * 3, 5) + in[i];
    }
  };
  const int w = 37, h = 20;
  for (const int n : {w * h - 9, w * h - 36, w * h, w * (h - 3) + 1}) {
    CAPTURE(n);
    Numbers a(n), b(n);
    const Cells in = someValues(a.size(), 4);
    a.copyFrom(in.data());
    for (const int devices : {1, deviceCount()}) {
      b = -1;
      auto launch = eval(someOf);
      launch.global(w, h);
      if (devices > 1) launch.devices(devices);
      launch(b, a, w, n);
      Cells expected;
      for (std::size_t i = 0; i < in.size(); ++i)
        expected.push_back((i + w < in.size() ? in[i + w] * 3 : 5) + in[i]);
      CHECK(valuesOf(b) == expected);
    }
  }
}

TEST_CASE("a row that is longer or shorter than the domain is still the program's") {
  // Shorter: neighbours overlap, and the last ones write what others write as well.
  const auto copy = [](Numbers out, Numbers in, Int w) {
    Int i = cast<int>(idy) * w + cast<int>(idx);
    out[i] = in[i] + 1;
  };
  for (const int w : {30, 31, 40, 29, 20}) {
    CAPTURE(w);
    Numbers a(w * 12 + 30), b(w * 12 + 30);
    const Cells before = someValues(a.size(), 3);
    a.copyFrom(before.data());
    b = 0;
    eval(copy).global(30, 12)(b, a, w);
    Cells expected(a.size(), 0);
    for (int y = 0; y < 12; ++y)
      for (int x = 0; x < 30; ++x) {
        const auto i = static_cast<std::size_t>(y * w + x);
        expected[i] = before[i] + 1;
      }
    CHECK(valuesOf(b) == expected);
  }
}

}  // namespace flat_tests
