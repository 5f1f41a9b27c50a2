// SPDX-License-Identifier: Apache-2.0
// Random programs on arrays of several shapes: staggered, coarser, transposed, of one and three
// dimensions. Launches that the library shares out, annotated ones, assignments and the host give
// what the same program gives on one device.
#include <doctest/doctest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "support.h"
#include "tests/seeds.h"

namespace shapes_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

constexpr int kMask = 1023;
using Volume = Array<int, 3>;

// ---- kernels: a is n x m, c has a row more, d a column more, t is transposed ------------------

void rowSweep(Grid a, Int m) {
  for_(Int x = 1, x < m, x++) {
    a[idx][x] = (a[idx][x] + a[idx][x - 1] * 3) & kMask;
  }
}
void columnSweep(Grid a, Int n) {
  for_(Int y = 1, y < n, y++) {
    a[y][idx] = (a[y][idx] * 3 - a[y - 1][idx]) & kMask;
  }
}
void fluxDown(Grid c, Grid a, Int n) {
  c[idy][idx] = 0;
  if_(idy > 0 && cast<int>(idy) < n) {
    c[idy][idx] = a[idy][idx] - a[idy - 1][idx];
  }
}
void fluxRight(Grid d, Grid a, Int m) {
  Int x = cast<int>(idx);
  Int left = max(x - 1, 0), right = min(x, m - 1);
  d[idy][idx] = a[idy][right] - a[idy][left];
}
void diverge(Grid a, Grid c, Grid d) {
  a[idy][idx] =
      (a[idy][idx] + c[idy + 1][idx] - c[idy][idx] + (d[idy][idx + 1] - d[idy][idx]) * 2) & kMask;
}
void rowSums(Numbers v, Grid a, Int m) {
  Int sum = 0;
  for_(Int x = 0, x < m, x++) {
    sum += a[idx][x];
  }
  v[idx] = sum & kMask;
}
void columnSums(Numbers w, Grid a, Int n) {
  Int sum = 0;
  for_(Int y = 0, y < n, y++) {
    sum += a[y][idx];
  }
  w[idx] = sum & kMask;
}
void addSums(Grid a, Numbers v, Numbers w) {
  a[idy][idx] = (a[idy][idx] + v[idy] - w[idx]) & kMask;
}
void coarsen(Grid s, Grid a) {
  s[idy][idx] = (a[2 * idy][2 * idx] + a[2 * idy + 1][2 * idx + 1] * 2) & kMask;
}
void refine(Grid a, Grid s) {
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k) a[2 * idy + i][2 * idx + k] += s[idy][idx] & (i + k);
}
void refineByOne(Grid a, Grid s, Int rows, Int columns) {
  Int y = cast<int>(idy) / 2, x = cast<int>(idx) / 2;
  if_(y < rows && x < columns) {
    a[idy][idx] = (a[idy][idx] + s[y][x] + s[min(y + 1, rows - 1)][x]) & kMask;
  }
}
void transpose(Grid t, Grid a) { t[idy][idx] = a[idx][idy] + 1; }
void transposeBack(Grid a, Grid t) { a[idx][idy] = t[idy][idx] & kMask; }
void layers(Volume u, Grid a) { u[idz][idy][idx] = a[idy][idx] * cast<int>(idz + 1); }
void project(Grid a, Volume u, Int depth) {
  Int most = 0;
  for_(Int z = 0, z < depth, z++) {
    most = max(most, u[z][idy][idx] & kMask);
  }
  a[idy][idx] = most;
}
void lift(Volume u, Grid a, Int depth) {
  for_(Int z = 0, z < depth, z++) {
    u[z][idy][idx] += a[idy][idx] - z;
  }
}
void inside(Grid b, Grid a) {
  b[idy + 1][idx + 1] =
      (a[idy][idx + 1] + a[idy + 2][idx + 1] * 2 - a[idy + 1][idx] + a[idy + 1][idx + 2]) & kMask;
}
void sweepColour(Grid a, Int colour) {
  if_(idx > 0 && idy > 0 && idx + 1 < szx && idy + 1 < szy &&
      (cast<int>(idx) + cast<int>(idy)) % 2 == colour) {
    a[idy][idx] = (a[idy - 1][idx] + a[idy + 1][idx] * 3 - a[idy][idx - 1] + a[idy][idx]) & kMask;
  }
}
void onTorus(Grid b, Grid a) {
  b[idy][idx] =
      (a[(idy + 1) % szy][idx] * 3 - a[(idy + szy - 1) % szy][(idx + 1) % szx] + 5) & kMask;
}
void fromAway(Grid b, Grid a, Int by) { b[idy][idx] = a[idy + by][idx] + 1; }
void corner(Grid b, Grid a) { b[idy][idx] = (a[idy + 3][idx + 2] * 3 + b[idy][idx]) & kMask; }
void guarded(Grid a, Grid b, Int n, Int m) {
  if_(idy >= n || idx >= m) {
    return_();
  }
  a[idy][idx] = (a[idy][idx] * 5 + b[idy][idx]) & kMask;
}
void both(Grid a, Grid b) {
  Int old = a[idy][idx];
  a[idy][idx] = b[idy][idx];
  b[idy][idx] = (old + 1) & kMask;
}
void fromEnds(Grid a, Grid b, Int n) {
  a[idy][idx] = (a[idy][idx] + b[0][0] + b[n - 1][idx] * 2 + b[idy][0]) & kMask;
}
void upsideDown(Grid b, Grid a, Int n) { b[idy][idx] = a[n - 1 - cast<int>(idy)][idx]; }
void coarsenInGroups(Grid s, Grid a) {
  Array<int, 2, Local> tile(2, 2);
  tile[lidy][lidx] = a[idy][idx];
  barrier(LOCAL);
  if_(lidx == 0 && lidy == 0) {
    s[gidy][gidx] = (tile[0][0] + tile[1][1] * 2 - tile[0][1] + cast<int>(gidy)) & kMask;
  }
}
void coarsenEverySecond(Grid s, Grid a) {
  if_(idx % 2 == 0 && idy % 2 == 0) {
    s[idy / 2][idx / 2] = (s[idy / 2][idx / 2] + a[idy][idx] + a[idy + 1][idx + 1] * 3) & kMask;
  }
}
void numberGroups(Grid a) {
  a[idy][idx] = (a[idy][idx] + cast<int>(gidy * 5 + gidx * 3 + ngroupsy)) & kMask;
}
void point(Grid a, Grid b) { a[idy][idx] = (a[idy][idx] + b[idy][idx] * 7) & kMask; }
void half(Grid a, Int n) {
  // Only some rows, and those in strides.
  if_(cast<int>(3 * idy + 1) < n) {
    a[3 * idy + 1][idx] += 1;
  }
}

/// One copy of the program's arrays.
struct Arrays {
  int n, m;
  Grid a, b, c, d, s, t;
  Numbers v, w;
  Volume u;

  Arrays(int rows, int columns)
      : n(rows),
        m(columns),
        a(n, m),
        b(n, m),
        c(n + 1, m),
        d(n, m + 1),
        s(n / 2, m / 2),
        t(m, n),
        v(n),
        w(m),
        u(3, n, m) {
    const std::vector<int> cells = someValues(a.size(), 5);
    a.copyFrom(cells.data());
    b.copyFrom(cells.data());
    c = 1;
    d = 2;
    s = 3;
    t = 4;
    v = 5;
    w = 6;
    u = 7;
  }
  std::vector<std::vector<int>> values() const {
    return {valuesOf(a), valuesOf(b), valuesOf(c), valuesOf(d), valuesOf(s),
            valuesOf(t), valuesOf(v), valuesOf(w), valuesOf(u)};
  }
};

/// How launches of a program are made.
using Prepare = std::function<void(Launcher&)>;

struct Step {
  const char* name;
  std::function<void(Arrays&, const Prepare&, int)> run;
};

/// A launch over the cells that are whole in a grid of half as many rows and columns.
std::vector<std::size_t> evenCells(const Arrays& x) {
  return {static_cast<std::size_t>(x.m / 2 * 2), static_cast<std::size_t>(x.n / 2 * 2)};
}

template <class K, class... A>
void launch(K* kernel, const Prepare& prepare, std::vector<std::size_t> global, A&&... arguments) {
  auto launcher = eval(kernel);
  prepare(launcher);
  if (global.size() == 1) launcher.global(global[0]);
  if (global.size() == 2) launcher.global(global[0], global[1]);
  launcher(std::forward<A>(arguments)...);
}

std::size_t sized(int n) { return static_cast<std::size_t>(n); }

const std::vector<Step> kSteps{
    {"rowSweep",
     [](Arrays& x, const Prepare& p, int) { launch(rowSweep, p, {sized(x.n)}, x.a, x.m); }},
    {"columnSweep",
     [](Arrays& x, const Prepare& p, int) { launch(columnSweep, p, {sized(x.m)}, x.a, x.n); }},
    {"fluxDown", [](Arrays& x, const Prepare& p, int) { launch(fluxDown, p, {}, x.c, x.a, x.n); }},
    {"fluxRight",
     [](Arrays& x, const Prepare& p, int) { launch(fluxRight, p, {}, x.d, x.a, x.m); }},
    {"diverge", [](Arrays& x, const Prepare& p, int) { launch(diverge, p, {}, x.a, x.c, x.d); }},
    {"rowSums", [](Arrays& x, const Prepare& p, int) { launch(rowSums, p, {}, x.v, x.a, x.m); }},
    {"columnSums",
     [](Arrays& x, const Prepare& p, int) { launch(columnSums, p, {}, x.w, x.a, x.n); }},
    {"addSums", [](Arrays& x, const Prepare& p, int) { launch(addSums, p, {}, x.a, x.v, x.w); }},
    {"coarsen", [](Arrays& x, const Prepare& p, int) { launch(coarsen, p, {}, x.s, x.a); }},
    {"refine",
     [](Arrays& x, const Prepare& p, int) {
       launch(refine, p, {sized(x.m / 2), sized(x.n / 2)}, x.a, x.s);
     }},
    {"refineByOne", [](Arrays& x, const Prepare& p,
                       int) { launch(refineByOne, p, {}, x.a, x.s, x.n / 2, x.m / 2); }},
    {"transpose", [](Arrays& x, const Prepare& p, int) { launch(transpose, p, {}, x.t, x.a); }},
    {"transposeBack",
     [](Arrays& x, const Prepare& p, int) {
       launch(transposeBack, p, {sized(x.n), sized(x.m)}, x.a, x.t);
     }},
    {"layers", [](Arrays& x, const Prepare& p, int) { launch(layers, p, {}, x.u, x.a); }},
    {"project", [](Arrays& x, const Prepare& p, int) { launch(project, p, {}, x.a, x.u, 3); }},
    {"lift",
     [](Arrays& x, const Prepare& p, int) {
       launch(lift, p, {sized(x.m), sized(x.n)}, x.u, x.b, 3);
     }},
    {"inside",
     [](Arrays& x, const Prepare& p, int) {
       launch(inside, p, {sized(x.m - 2), sized(x.n - 2)}, x.b, x.a);
     }},
    {"sweepColour",
     [](Arrays& x, const Prepare& p, int r) { launch(sweepColour, p, {}, x.a, r % 2); }},
    {"onTorus", [](Arrays& x, const Prepare& p, int) { launch(onTorus, p, {}, x.b, x.a); }},
    {"fromAway",
     [](Arrays& x, const Prepare& p, int r) {
       const int by = r % 4;
       launch(fromAway, p, {sized(x.m), sized(x.n - by)}, x.b, x.a, by);
     }},
    {"corner",
     [](Arrays& x, const Prepare& p, int) {
       launch(corner, p, {sized(x.m - 2), sized(x.n - 3)}, x.b, x.a);
     }},
    {"guarded",
     [](Arrays& x, const Prepare& p, int r) {
       launch(guarded, p, {sized(x.m + r % 20), sized(x.n + r % 70)}, x.a, x.b, x.n, x.m);
     }},
    {"both", [](Arrays& x, const Prepare& p, int) { launch(both, p, {}, x.a, x.b); }},
    {"fromEnds", [](Arrays& x, const Prepare& p, int) { launch(fromEnds, p, {}, x.a, x.b, x.n); }},
    {"upsideDown",
     [](Arrays& x, const Prepare& p, int) { launch(upsideDown, p, {}, x.b, x.a, x.n); }},
    {"half", [](Arrays& x, const Prepare& p, int) { launch(half, p, {}, x.a, x.n); }},
    {"coarsenInGroups",
     [](Arrays& x, const Prepare& p, int) {
       const Prepare inGroups = [&](Launcher& launcher) { p(launcher), launcher.local(2, 2); };
       launch(coarsenInGroups, inGroups, evenCells(x), x.s, x.a);
     }},
    {"coarsenEverySecond", [](Arrays& x, const Prepare& p,
                              int) { launch(coarsenEverySecond, p, evenCells(x), x.s, x.a); }},
    {"numberGroups",
     [](Arrays& x, const Prepare& p, int r) {
       const Prepare inGroups = [&](Launcher& launcher) {
         p(launcher);
         launcher.local(sized(1 + r % 5), sized(1 + r % 3));
       };
       launch(numberGroups, inGroups, {}, x.a);
     }},
    {"views",
     [](Arrays& x, const Prepare& p, int r) {
       const int y = r % 3, left = r % 4;
       launch(point, p, {}, x.a(Range(y, x.n - 3), Range(left, x.m - 2)),
              x.b(Range(0, x.n - 3 - y), Range(1, x.m - 1 - left)));
     }},
    {"annotated", [](Arrays& x, const Prepare&,
                     int) { eval(point).devices(deviceCount())(PART1(x.a), PART1(x.b)); }},
    {"annotated with ghosts",
     [](Arrays& x, const Prepare&, int) {
       eval(point).devices(deviceCount())(PART1(x.b, 1, AUTO_SYNC), PART1(x.a, 1, AUTO_SYNC));
     }},
    {"swap", [](Arrays& x, const Prepare&, int) { swap(x.a, x.b); }},
    {"assign", [](Arrays& x, const Prepare&, int) { x.b = x.a; }},
    {"fill rows", [](Arrays& x, const Prepare&,
                     int r) { x.a(Range(r % x.n, x.n - 1), Range(0, x.m - 1)) = r & kMask; }},
    {"host cell", [](Arrays& x, const Prepare&, int r) { x.a(r % x.n, r % x.m) = r & kMask; }},
    {"host vector", [](Arrays& x, const Prepare&, int r) { x.v(r % x.n) = r & kMask; }},
};

}  // namespace

TEST_CASE("random programs on arrays of several shapes give on several devices what one gives") {
  const std::vector<Device> devices = testDevices();
  for (const unsigned seed : Seeds(1, 18)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    const int n = pick(6, 50), m = pick(6, 40);
    Arrays spread(n, m), alone(n, m);
    std::vector<double> weights;
    for (int d = 0; d < deviceCount(); ++d) weights.push_back(pick(1, 3));
    std::string done = std::to_string(n) + " x " + std::to_string(m) + ": ";
    for (int count = 0; count < 12; ++count) {
      const Step& step =
          kSteps[static_cast<std::size_t>(pick(0, static_cast<int>(kSteps.size()) - 1))];
      const int how = pick(0, 5), value = pick(0, 1000);
      done +=
          std::string(step.name) + " " + std::to_string(value) + " " + std::to_string(how) + ", ";
      CAPTURE(done);
      const Prepare onSeveral = [&](Launcher& launcher) {
        if (how == 0) return;
        launcher.devices(devices);
        if (how == 1) launcher.weights(weights);
      };
      const Prepare onOne = [&](Launcher& launcher) { launcher.device(devices.front()); };
      step.run(spread, onSeveral, value);
      step.run(alone, onOne, value);
      if (pick(0, 2) == 0) REQUIRE(spread.values() == alone.values());
    }
    CAPTURE(done);
    REQUIRE(spread.values() == alone.values());
  }
}

}  // namespace shapes_tests
