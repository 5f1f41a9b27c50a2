// SPDX-License-Identifier: Apache-2.0
// Random programs of launches, stencils, programs of stencils, reductions, scans, views and
// accesses of the host to the same arrays give on several devices what they give on one, and in
// several host threads at once what they give one after another.
#include <doctest/doctest.h>

#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "hpl/hpl.h"
#include "stencil_templates/stencil_templates.h"
#include "tests/seeds.h"

namespace rooms_together_tests {

using namespace hpl;

namespace {

constexpr int kMask = 1023;
constexpr int kBins = 8;

using Numbers = Array<int, 1>;
using Cells = Array<int, 2>;

void star(Cells out, Cells in) {
  if_(idx > 0 && idy > 0 && idx + 1 < szx && idy + 1 < szy) {
    out[idy][idx] =
        (in[idy - 1][idx] * 3 + in[idy + 1][idx] - in[idy][idx - 1] + in[idy][idx + 1]) & kMask;
  }
}
void addCell(Cells out, const Numbers& cell, Int by) {
  out[idy][idx] = (out[idy][idx] + cell[0] + by) & kMask;
}
void addTotal(Cells out, const Array<long, 1>& total) {
  out[idy][idx] = (out[idy][idx] + cast<int>(total[0])) & kMask;
}
void addRows(Cells out, const Numbers& rows) {
  out[idy][idx] = (out[idy][idx] + rows[idy]) & kMask;
}
void sumRows(Numbers rows, const Cells& in, Int columns) {
  Int sum = 0;
  for_(Int x = 0, x < columns, x++) {
    sum += in[idx][x];
  }
  rows[idx] = sum & kMask;
}
void mask(Numbers rows) { rows[idx] = rows[idx] & kMask; }
void addEvery(Cells out, Cells in) { out[idy][idx] = (out[idy][idx] * 3 + in[idy][idx]) & kMask; }
void number(Numbers rows) { rows[idx] = cast<int>(idx) * 7 & kMask; }
void addFlat(Numbers flat) { flat[idx] = (flat[idx] + cast<int>(idx)) & kMask; }

/// One copy of the program's arrays, and how its launches are made.
struct World {
  int n, m;
  std::vector<Device> devices;
  std::vector<double> weights;
  Cells a, b;
  Numbers v, w, counts, cell;
  Array<long, 1> total;

  World(int rows, int columns, std::vector<Device> on, std::vector<double> shares)
      : n(rows),
        m(columns),
        devices(std::move(on)),
        weights(std::move(shares)),
        a(n, m),
        b(n, m),
        v(n),
        w(n),
        counts(kBins),
        cell(1),
        total(1) {
    std::mt19937 random(7);
    for (int y = 0; y < n; ++y) {
      v(y) = static_cast<int>(random() % 1000);
      w(y) = static_cast<int>(random() % 1000);
      for (int x = 0; x < m; ++x) a(y, x) = b(y, x) = static_cast<int>(random() % 1000);
    }
    counts = 0;
    cell = 3;
  }

  /// A launch that the library shares out, perhaps by weights.
  template <class K>
  auto shared(K* kernel, int how) const {
    auto launch = eval(kernel);
    launch.devices(devices);
    if (how % 3 == 1 && devices.size() > 1) launch.weights(weights);
    return launch;
  }
  Stencil stencil() const {
    Stencil smooth([](Neighbourhood<int, 2> p, Int by) {
      return (p(0, 0) + p(-1, 0) * 3 + p(1, 0) + p(0, 1) - p(0, -1) + by) & kMask;
    });
    smooth.boundary(Nearest()).boundary(Face::LEFT, Periodic()).boundary(Face::RIGHT, Periodic());
    return smooth;
  }
  StencilProgram program() {
    StencilProgram steps;
    Temporary<int, 2> middle;
    steps.apply(Stencil([](Neighbourhood<int, 2> p, Neighbourhood<int, 2> q) {
                  return (p(0, 0) + q(1, 0) - q(0, -1)) & kMask;
                }).boundary(Fixed(2)))(a, b, middle);
    steps.apply(Stencil([](Neighbourhood<int, 2> p) {
                  return (p(0, 0) * 3 + p(0, 1) + p(-1, 0)) & kMask;
                }).boundary(Nearest()))(middle, b);
    steps.apply(Stencil([](Neighbourhood<int, 2> p, Neighbourhood<int, 2> q) {
                  return (p(0, 0) + q(-1, 1)) & kMask;
                }).boundary(Fixed(1)))(a, b, a);
    return steps;
  }
  std::vector<std::vector<int>> values() const {
    std::vector<std::vector<int>> all;
    for (const Cells& array : {a, b}) array.copyTo(all.emplace_back(array.size()).data());
    for (const Numbers& array : {v, w, counts, cell})
      array.copyTo(all.emplace_back(array.size()).data());
    return all;
  }
};

struct Step {
  const char* name;
  /// The numbers are random, and the same in all worlds.
  std::function<void(World&, int r, int how)> run;
};

const std::vector<Step> kSteps{
    {"star", [](World& x, int, int how) { x.shared(star, how)(x.b, x.a); }},
    {"annotated star",
     [](World& x, int r, int) {
       const int ghosts = 1 + r % 3;
       eval(star).devices(x.devices)(PART1(x.b, ghosts, AUTO_SYNC), PART1(x.a, ghosts, AUTO_SYNC));
     }},
    {"stencil", [](World& x, int r, int) { x.stencil().devices(x.devices)(x.a, x.b, r % 5); }},
    // They leave some earlier state in the output.
    {"iterations",
     [](World& x, int r, int) {
       x.stencil().devices(x.devices).iterate(r % 9)(x.a, x.b, r % 5);
       x.b = 5;
     }},
    {"tiled iterations",
     [](World& x, int r, int) {
       x.stencil().devices(x.devices).timeTile(2 + r % 2).iterate(r % 9)(x.a, x.b, r % 5);
       x.b = x.a;
     }},
    {"program", [](World& x, int r, int) { x.program().devices(x.devices).run(1 + r % 4); }},
    {"sum into a cell",
     [](World& x, int, int how) {
       sum(x.a).into(x.total);
       x.shared(addTotal, how)(x.b, x.total);
     }},
    {"largest into a cell", [](World& x, int, int) { max(x.v).into(x.cell); }},
    {"add the cell", [](World& x, int r, int how) { x.shared(addCell, how)(x.a, x.cell, r); }},
    {"add a sum",
     [](World& x, int, int how) {
       const auto total = sum([](Int p, Int q) { return (p * 3 + q) & kMask; }, x.a, x.b);
       x.shared(addCell, how)(x.b, x.cell, static_cast<int>(total.value() & kMask));
     }},
    {"update and sum",
     [](World& x, int r, int) {
       const auto change = [](Int& p, Int q, Int by) {
         p = (p + q * by) & kMask;
         return p;
       };
       const long total = sum(change, x.a, x.b, r % 4);
       x.w(r % x.n) = static_cast<int>(total & kMask);
     }},
    {"place of the largest",
     [](World& x, int r, int) { x.v(r % x.n) = static_cast<int>(argmax(x.a).index()) & kMask; }},
    {"rows", [](World& x, int, int how) { x.shared(sumRows, how)(x.v, x.a, x.m); }},
    {"add rows", [](World& x, int, int how) { x.shared(addRows, how)(x.a, x.w); }},
    {"scan",
     [](World& x, int, int how) {
       inclusiveScan(x.w, x.v);
       x.shared(mask, how)(x.w);
     }},
    {"scan in place",
     [](World& x, int, int how) {
       exclusiveScan([](Int p, Int q) { return max(p, q); }, 0, x.v, x.v);
       x.shared(mask, how)(x.v);
     }},
    {"sort",
     [](World& x, int r, int how) {
       if (r % 2 == 0) x.shared(number, how)(x.w);
       sortByKey(x.v, x.w);
     }},
    {"compact",
     [](World& x, int, int) {
       const long count = compact([](Int p) { return p % 3 != 0; }, x.w, x.v);
       x.cell(0) = static_cast<int>(count);
     }},
    {"histogram",
     [](World& x, int, int) {
       histogram(
           x.counts, [](Int p) { return p % kBins; }, x.v);
     }},
    {"every second column",
     [](World& x, int r, int how) {
       const int first = r % 2;
       const Range rows(0, x.n - 1);
       x.shared(addEvery, how)(x.a(rows, Range(first, x.m - 1 - (x.m - 1 - first) % 2, 2)),
                               x.b(rows, Range(0, (x.m - 1 - first) / 2)));
     }},
    {"as a vector",
     [](World& x, int, int how) { x.shared(addFlat, how)(x.a.reshaped(x.n * x.m)); }},
    {"a view of rows",
     [](World& x, int r, int) {
       const Range rows(r % 3, x.n - 1 - r % 2), columns(0, x.m - 1);
       x.stencil().devices(x.devices)(x.a(rows, columns), x.b(rows, columns), 1);
     }},
    {"a stencil between rows",
     [](World& x, int r, int) {
       const int last = x.n / 2 * 2 - 1;
       const Range columns(0, x.m - 1);
       x.stencil().devices(x.devices)(x.a(Range(0, last - 1, 2), columns),
                                      x.b(Range(1, last, 2), columns), r % 5);
     }},
    {"swap", [](World& x, int, int) { swap(x.a, x.b); }},
    {"assign", [](World& x, int, int) { x.a = x.b; }},
    {"assign rows",
     [](World& x, int r, int) {
       const int from = r % 3, to = 2 - from;
       const Range columns(0, x.m - 1);
       x.a(Range(to, to + x.n - 4), columns) = x.b(Range(from, from + x.n - 4), columns);
     }},
    {"fill", [](World& x, int r, int) { x.b(Range(r % x.n), Range(0, x.m - 1)) = r & kMask; }},
    {"host", [](World& x, int r, int) { x.a(r % x.n, r % x.m) = r & kMask; }},
};

}  // namespace

TEST_CASE("random programs that use all rooms give on several devices what one gives") {
  const std::vector<Device> all = devices(defaultDevice().type());
  for (const unsigned seed : Seeds(1, 12)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    const int n = pick(12, 60), m = pick(6, 40);
    std::vector<double> weights;
    for (std::size_t d = 0; d < all.size(); ++d) weights.push_back(pick(1, 3));
    World spread(n, m, all, weights), alone(n, m, {all.front()}, {});
    std::string done = std::to_string(n) + " x " + std::to_string(m) + ": ";
    for (int count = 0; count < 14; ++count) {
      const Step& step =
          kSteps[static_cast<std::size_t>(pick(0, static_cast<int>(kSteps.size()) - 1))];
      const int r = pick(0, 1000), how = pick(0, 5);
      done += std::string(step.name) + " " + std::to_string(r) + ", ";
      CAPTURE(done);
      step.run(spread, r, how);
      step.run(alone, r, how);
      if (pick(0, 2) == 0) REQUIRE(spread.values() == alone.values());
    }
    CAPTURE(done);
    REQUIRE(spread.values() == alone.values());
  }
}

TEST_CASE("random programs in several host threads give what they give one after another") {
  constexpr int kThreads = 3;
  const std::vector<Device> all = devices(defaultDevice().type());
  for (const unsigned seed : Seeds(1, 6)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    struct Turn {
      const Step* step;
      int r, how;
    };
    std::vector<std::vector<Turn>> programs(kThreads);
    std::vector<World> together, alone;
    for (std::vector<Turn>& program : programs) {
      for (int count = 0; count < 14; ++count)
        program.push_back(
            {&kSteps[static_cast<std::size_t>(pick(0, static_cast<int>(kSteps.size()) - 1))],
             pick(0, 1000), pick(0, 5)});
      const int n = pick(12, 60), m = pick(6, 40);
      const std::vector<double> weights(all.size(), 1.0);
      together.emplace_back(n, m, all, weights);
      alone.emplace_back(n, m, all, weights);
    }
    const auto run = [&](World& world, const std::vector<Turn>& program) {
      for (const Turn& turn : program) turn.step->run(world, turn.r, turn.how);
      return world.values();
    };
    // First together: then the threads find kernels and plans that are not made yet.
    std::vector<std::vector<std::vector<int>>> values(kThreads);
    std::vector<std::string> errors(kThreads);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kThreads; ++i)
      threads.emplace_back([&, i] {
        try {
          values[i] = run(together[i], programs[i]);
        } catch (const std::exception& error) {
          errors[i] = error.what();
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < kThreads; ++i) {
      CAPTURE(i);
      REQUIRE(errors[i] == "");
      REQUIRE(values[i] == run(alone[i], programs[i]));
    }
  }
}

}  // namespace rooms_together_tests
