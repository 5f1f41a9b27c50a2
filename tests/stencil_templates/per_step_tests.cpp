// SPDX-License-Identifier: Apache-2.0
// Scalars that change from step to step, against one step after another in C++.
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <thread>

#include "hpl/runtime/settings.h"
#include "stencil_support.h"
#include "stencil_templates/detail/spinning.h"
#include "stencil_templates/program.h"
#include "stencil_templates/temporary.h"
#include "tests/seeds.h"

namespace per_step_tests {

using namespace hpl;
using namespace stencil_tests;

namespace {

/// A weighted sum to which a point adds something: where the point is and how much it adds changes.
/// Or all points do: time tiles of periodic grids have no positions.
template <int N>
struct MovingSource {
  WeightedSum<int, N> sum;
  bool isEverywhere = false;

  auto operator()(Neighbourhood<int, N> p, Int place, Int amount, Int always) const {
    Int cell = sum(p) + always;
    if (isEverywhere) {
      cell += amount * place;
      return cell;
    }
    if constexpr (N == 1) {
      if_(idx == place) {
        cell += amount;
      }
    } else if constexpr (N == 2) {
      if_(idx == place && idy == place / 2) {
        cell += amount;
      }
    } else {
      if_(idx == place && idy == place / 2 && idz == place / 3) {
        cell += amount;
      }
    }
    endif_;
    return cell;
  }
};

int amountOf(std::int64_t step) { return static_cast<int>(7 * step % 11 - 5); }

struct RandomCase {
  std::vector<Tap> taps;
  Rules rules;
  Index3 extents{1, 1, 1};
  int steps = 2;
  int depth = 1;
  bool isPeriodic = false;
};

RandomCase randomCase(std::mt19937& random, int dims) {
  const auto between = [&](int lo, int hi) {
    return std::uniform_int_distribution<int>(lo, hi)(random);
  };
  RandomCase one;
  const auto first = static_cast<std::size_t>(3 - dims);
  for (int t = between(2, 4); t > 0; --t) {
    Tap& tap = one.taps.emplace_back();
    for (std::size_t k = first; k < 3; ++k) tap.offset[k] = between(-1, 1);
    tap.weight = between(-2, 2);
  }
  for (std::size_t k = first; k < 3; ++k) {
    one.extents[k] = 6 + between(0, dims == 1 ? 200 : 50 / dims);
    for (FaceRule& rule : one.rules[k]) rule = {static_cast<Kind>(between(0, 5)), between(-5, 5)};
    for (const FaceRule& rule : one.rules[k])
      if (rule.kind == Kind::Periodic) one.rules[k] = {{{Kind::Periodic, 0}, {Kind::Periodic, 0}}};
    one.isPeriodic = one.isPeriodic || one.rules[k][0].kind == Kind::Periodic;
  }
  one.steps = between(1, 25);
  one.depth = between(1, 6);
  return one;
}

/// Where the source is in a step, within the rows of the grid.
int placeOf(std::int64_t step, const Index3& extents) {
  return static_cast<int>(3 * step % extents[2]);
}

Grid<int> sourceStep(const Grid<int>& before, const RandomCase& one, int dims, std::int64_t step,
                     int always) {
  Grid<int> next = weightedSum(before, before, one.taps, one.rules);
  const Margins margins = marginsOf(one.taps);
  for (int z = 0; z < one.extents[0]; ++z) {
    for (int y = 0; y < one.extents[1]; ++y) {
      for (int x = 0; x < one.extents[2]; ++x) {
        if (isLeftOut({z, y, x}, one.extents, margins, one.rules)) continue;
        int& cell = next.at({z, y, x});
        cell += always;
        const int place = placeOf(step, one.extents);
        if (one.isPeriodic) {
          cell += amountOf(step) * place;
          continue;
        }
        if (x == place && (dims < 2 || y == place / 2) && (dims < 3 || z == place / 3))
          cell += amountOf(step);
      }
    }
  }
  return next;
}

enum class How { Default, StepByStep, TimeTiles, Persistent };

template <int N>
void checkSource(unsigned seed, How how) {
  CAPTURE(seed);
  CAPTURE(static_cast<int>(how));
  std::mt19937 random(seed);
  const RandomCase one = randomCase(random, N);
  CAPTURE(describe(one.rules, N));
  CAPTURE(one.steps);
  CAPTURE(one.depth);
  Grid<int> grid = someCells<int>(one.extents, seed);
  Array<int, N> a = arrayOf<int, N>(grid);
  Array<int, N> b = arrayOf<int, N>(someCells<int>(one.extents, seed + 1));
  Stencil stencil(MovingSource<N>{weightedSumOf<int, N>(one.taps), one.isPeriodic});
  setRules(stencil, one.rules, N);
  const int devices =
      how == How::Persistent ? 1 : 1 + static_cast<int>(seed) % std::max(1, deviceCount());
  CAPTURE(devices);
  StencilLauncher launcher = stencil.devices(defaultDevice().type(), devices);
  if (how == How::StepByStep) launcher.timeTile(1);
  if (how == How::TimeTiles) launcher.timeTile(one.depth);
  if (how == How::Persistent) launcher = stencil.persistent();
  const auto place = perStep([&](std::int64_t step) { return placeOf(step, one.extents); });
  std::vector<int> amounts;
  for (int step = 0; step < one.steps; ++step) amounts.push_back(amountOf(step));
  // Twice: the second one counts its steps from 0 on, too.
  for (int turn = 0; turn < 2; ++turn) {
    launcher.iterate(one.steps)(a, b, place, perStep(amounts), 3);
    for (int s = 0; s < one.steps; ++s) grid = sourceStep(grid, one, N, s, 3);
    REQUIRE(cellsOf(a) == grid.cells);
  }
}

bool canSpin() {
  return stencils::whyNotSpinning(defaultDevice(), defaultDevice().getProperties().computeUnits, 1)
      .empty();
}

float wavelet(std::int64_t step) { return std::sin(0.3f * static_cast<float>(step)); }

/// Two fields that drive each other, with a source in each.
struct Pair {
  Array<float, 2> u{Array<float, 2>(33, 47)}, v{Array<float, 2>(33, 47)};
  Pair() {
    u = 0.0f;
    v = 0.0f;
  }
};

Stencil driven() {
  Stencil stencil(
      [](Neighbourhood<float, 2> own, Neighbourhood<float, 2> other, Float amount, Int column) {
        Float next =
            own(0, 0) * 0.5f + 0.125f * (other(-1, 0) + other(1, 0) + other(0, -1) + other(0, 1));
        if_(idx == column && idy == 16) {
          next += amount;
        }
        endif_;
        return next;
      });
  stencil.boundary(Fixed(0.0f));
  return stencil;
}

template <class Choose>
std::vector<float> drivenCells(int steps, Choose choose) {
  Pair fields;
  StencilProgram program;
  const Stencil stencil = driven();
  program.apply(stencil)(fields.u, fields.v, fields.u, perStep(wavelet),
                         perStep([](std::int64_t step) { return step % 47; }));
  program.apply(stencil)(fields.v, fields.u, fields.v, 0.25f,
                         perStep([](std::int64_t step) { return 46 - step % 47; }));
  choose(program);
  program.run(steps);
  std::vector<float> cells = cellsOf(fields.u);
  const std::vector<float> others = cellsOf(fields.v);
  cells.insert(cells.end(), others.begin(), others.end());
  return cells;
}

/// The same in plain C++.
std::vector<float> drivenOnHost(int steps) {
  const int rows = 33, columns = 47;
  std::vector<float> fields[2];
  for (auto& field : fields) field.assign(static_cast<std::size_t>(rows * columns), 0.0f);
  for (int s = 0; s < steps; ++s) {
    for (int f = 0; f < 2; ++f) {
      const std::vector<float> own = fields[f];
      const std::vector<float>& other = fields[1 - f];
      const auto at = [&](int y, int x) {
        const bool isInside = y >= 0 && x >= 0 && y < rows && x < columns;
        return isInside ? other[static_cast<std::size_t>(y * columns + x)] : 0.0f;
      };
      for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < columns; ++x) {
          float next = own[static_cast<std::size_t>(y * columns + x)] * 0.5f;
          const float sum = at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1);
          next = next + 0.125f * sum;
          if (y == 16 && x == (f == 0 ? s % 47 : 46 - s % 47)) next += f == 0 ? wavelet(s) : 0.25f;
          fields[f][static_cast<std::size_t>(y * columns + x)] = next;
        }
      }
    }
  }
  std::vector<float> cells = fields[0];
  cells.insert(cells.end(), fields[1].begin(), fields[1].end());
  return cells;
}

void checkClose(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(std::fabs(a[i] - b[i]) <= 1e-4f);
}

Stencil scaled() {
  Stencil stencil([](Neighbourhood<float, 1> p, Float factor) { return p(0) * factor; });
  stencil.label("scaled");
  return stencil;
}

}  // namespace

TEST_CASE("scalars per step: iterations equal one step after another, in any form") {
  for (const unsigned seed : Seeds(1, 3)) {
    for (const How how : {How::Default, How::StepByStep, How::TimeTiles}) {
      checkSource<1>(seed, how);
      checkSource<2>(100 + seed, how);
      checkSource<3>(200 + seed, how);
    }
  }
}

TEST_CASE("scalars per step: persistent kernels have all values") {
  if (!canSpin()) return;
  for (const unsigned seed : Seeds(301, 304)) {
    checkSource<1>(seed, How::Persistent);
    checkSource<2>(seed, How::Persistent);
    checkSource<3>(seed, How::Persistent);
  }
}

TEST_CASE("scalars per step: programs, however their functions are launched") {
  const int steps = 60;
  const std::vector<float> expected = drivenOnHost(steps);
  checkClose(drivenCells(steps, [](StencilProgram&) {}), expected);
  checkClose(drivenCells(steps, [](StencilProgram& p) { p.fuse(false); }), expected);
  checkClose(drivenCells(steps, [](StencilProgram& p) { p.fuse(true); }), expected);
  checkClose(drivenCells(steps, [](StencilProgram& p) { p.timeTile(1); }), expected);
  checkClose(drivenCells(steps, [](StencilProgram& p) { p.timeTile(4); }), expected);
  checkClose(drivenCells(steps, [](StencilProgram& p) { p.devices(deviceCount()); }), expected);
  if (canSpin())
    checkClose(drivenCells(steps, [](StencilProgram& p) { p.persistent(); }), expected);
  int asked = 0;
  checkClose(drivenCells(steps,
                         [&](StencilProgram& p) {
                           p.every(7, [&](std::int64_t) { return ++asked > 1000; });
                         }),
             expected);
  CHECK(asked == steps / 7);
}

TEST_CASE("scalars per step convert like others, and a single application has those of step 0") {
  Array<float, 1> a(100), b(100);
  a = 1.0f;
  const Stencil stencil = scaled();
  stencil(a, b, perStep(std::vector<double>{2.5, 100.0}));
  CHECK(b(50).value() == 2.5f);
  stencil.iterate(3)(a, b, perStep(std::vector<int>{2, 3, 4, 1000}));
  CHECK(a(99).value() == 24.0f);
  a = 1.0f;
  stencil.timeTile(3).iterate(3)(a, b, perStep([](std::int64_t step) { return step + 2; }));
  CHECK(a(99).value() == 24.0f);
  // Other values, the same stencil; then none that change.
  stencil.timeTile(3).iterate(3)(a, b, perStep([](std::int64_t) { return 0.5; }));
  CHECK(a(0).value() == 3.0f);
  stencil.timeTile(3).iterate(3)(a, b, 2.0f);
  CHECK(a(0).value() == 24.0f);
}

TEST_CASE("scalars per step: a function is asked once for each step, in their order") {
  Array<float, 1> a(50), b(50);
  a = 1.0f;
  std::vector<std::int64_t> asked;
  // One that counts by itself, as random numbers do.
  const auto counting = [&asked, calls = 1](std::int64_t step) mutable {
    asked.push_back(step);
    return static_cast<float>(calls++);
  };
  const std::vector<std::int64_t> four{0, 1, 2, 3};
  const auto check = [&](auto&& run, const std::vector<std::int64_t>& steps, float product) {
    a = 1.0f;
    asked.clear();
    run();
    CHECK(asked == steps);
    CHECK(a(7).value() == product);
  };
  const Stencil stencil = scaled();
  check([&] { stencil.iterate(4)(a, b, perStep(counting)); }, four, 24);
  check([&] { stencil.timeTile(1).iterate(4)(a, b, perStep(counting)); }, four, 24);
  check([&] { stencil.timeTile(3).iterate(4)(a, b, perStep(counting)); }, four, 24);
  for (const bool fuses : {false, true}) {
    StencilProgram program;
    program.apply(stencil)(a, a, perStep(counting));
    program.fuse(fuses);
    check([&] { program.run(4); }, four, 24);
  }
  check(
      [&] {
        stencil(a, b, perStep(counting));
        swap(a, b);
      },
      {0}, 1);
}

TEST_CASE("scalars per step: until() counts the same steps") {
  Array<float, 1> a(64), b(64);
  a = 1.0f;
  const StencilRun run = scaled().until(1e-6, 4).iterate(100)(
      a, b, perStep([](std::int64_t step) { return step < 10 ? 2.0f : 1.0f; }));
  CHECK(run.converged);
  CHECK(run.steps < 100);
  CHECK(a(3).value() == 1024.0f);
}

TEST_CASE("scalars per step: what is wrong is said before anything is launched") {
  Array<float, 1> a(64), b(64);
  a = 1.0f;
  const Stencil stencil = scaled();
  expectMessage(messageOf<ArgumentError>([&] {
                  stencil.iterate(3)(a, b, perStep(std::vector<float>{1.0f, 2.0f}));
                }),
                {"stencil 'scaled'", "parameter 1", "values for 2 steps (perStep), and there are 3",
                 "a function of the step's number"});
  expectMessage(messageOf<ArgumentError>([&] { perStep(std::vector<float>{}); }),
                {"perStep(values): there are no values"});
  CHECK_THROWS_AS(stencil.iterate(3)(a, b, perStep([](std::int64_t step) {
                                       if (step == 2) throw std::runtime_error("no value");
                                       return 5.0f;
                                     })),
                  std::runtime_error);
  expectMessage(messageOf<ArgumentError>([&] { stencil.iterate(3)(a, perStep(wavelet), 1.0f); }),
                {"must be a 1-dimensional array"});
  CHECK(a(0).value() == 1.0f);

  StencilProgram program;
  program.apply(stencil)(a, b, perStep(std::vector<float>{1.0f, 2.0f}));
  expectMessage(messageOf<ArgumentError>([&] { program.run(3); }),
                {"function 1", "parameter 1", "values for 2 steps"});
  program.run(2);
  CHECK(b(0).value() == 2.0f);
}

TEST_CASE("scalars per step: functions that are put together have those of both") {
  // The second function reads what the first one hands on at the own cell; the third one reads it
  // elsewhere.
  constexpr int kRows = 40, kColumns = 53, kSteps = 23;
  const auto gain = [](std::int64_t step) { return static_cast<int>(step % 3) + 1; };
  const auto offset = [](std::int64_t step) { return static_cast<int>(5 * step % 7); };
  const auto run = [&](bool reads, auto&& choose) {
    Array<int, 2> u(kRows, kColumns), v(kRows, kColumns);
    u = 1;
    v = 2;
    Temporary<int, 2> scaledField("scaled");
    StencilProgram program;
    using Field = Neighbourhood<int, 2>;
    program.apply([](Field own, Int factor) { return own(0, 0) * factor; })(u, scaledField,
                                                                            perStep(gain));
    program.apply([](Field own, Field other, Int plus) {
      return (own(0, 0) + other(0, 0) + plus) % 1000;
    })(scaledField, v, u, perStep(offset));
    if (reads) {
      Stencil sum([](Field t, Int factor, Int plus) {
        return (t(-1, 0) + factor * t(0, 1) + plus) % 1000;
      });
      sum.boundary(Fixed(1));
      program.apply(sum)(scaledField, v, perStep(offset), perStep(gain));
    }
    choose(program);
    program.run(kSteps);
    std::vector<int> cells = cellsOf(u);
    const std::vector<int> others = cellsOf(v);
    cells.insert(cells.end(), others.begin(), others.end());
    return cells;
  };
  const auto onHost = [&](bool reads) {
    std::vector<int> u(kRows * kColumns, 1), v(kRows * kColumns, 2);
    for (int s = 0; s < kSteps; ++s) {
      std::vector<int> scaledCells = u;
      for (int& cell : scaledCells) cell *= gain(s);
      for (std::size_t i = 0; i < u.size(); ++i) u[i] = (scaledCells[i] + v[i] + offset(s)) % 1000;
      if (!reads) continue;
      const auto at = [&](int y, int x) {
        return y < 0 || x >= kColumns ? 1 : scaledCells[static_cast<std::size_t>(y * kColumns + x)];
      };
      for (int y = 0; y < kRows; ++y)
        for (int x = 0; x < kColumns; ++x)
          v[static_cast<std::size_t>(y * kColumns + x)] =
              (at(y - 1, x) + offset(s) * at(y, x + 1) + gain(s)) % 1000;
    }
    u.insert(u.end(), v.begin(), v.end());
    return u;
  };
  for (const bool reads : {false, true}) {
    CAPTURE(reads);
    const std::vector<int> expected = onHost(reads);
    CHECK(run(reads, [](StencilProgram&) {}) == expected);
    CHECK(run(reads, [](StencilProgram& p) { p.fuse(false); }) == expected);
    CHECK(run(reads, [](StencilProgram& p) { p.fuse(Fusion::Tiles); }) == expected);
    for (int depth = 2; depth <= 5; ++depth)
      CHECK(run(reads, [&](StencilProgram& p) { p.timeTile(depth); }) == expected);
    CHECK(run(reads, [](StencilProgram& p) { p.devices(deviceCount()).timeTile(3); }) == expected);
    if (canSpin()) CHECK(run(reads, [](StencilProgram& p) { p.persistent(); }) == expected);
  }
}

TEST_CASE("scalars per step: rows of functions that follow each other have them, too") {
  // A chain: no step sees what the one before has written, so the last one counts.
  Array<int, 2> in(64, 70), out(64, 70);
  in = 3;
  out = 0;
  Temporary<int, 2> between("between");
  StencilProgram program;
  using Field = Neighbourhood<int, 2>;
  Stencil first([](Field t, Int plus) { return t(-1, 0) + t(1, 0) + plus; });
  Stencil second([](Field t, Int factor) { return (t(0, -1) + t(0, 1)) * factor; });
  first.boundary(Nearest());
  second.boundary(Nearest());
  const auto number = perStep([](std::int64_t step) { return static_cast<int>(step) + 1; });
  program.apply(first)(in, between, number);
  program.apply(second)(between, out, number);
  program.fuse(Fusion::Rows).run(5);
  CHECK(cellsOf(out) == std::vector<int>(64 * 70, (3 + 3 + 5) * 2 * 5));
  program.fuse(false).run(2);
  CHECK(cellsOf(out) == std::vector<int>(64 * 70, (3 + 3 + 2) * 2 * 2));
}

TEST_CASE(
    "scalars per step: a stencil may be asked while its values are made, also by two threads") {
  const Stencil stencil = scaled();
  std::vector<std::thread> threads;
  std::vector<float> results(2, 0.0f);
  for (std::size_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      Array<float, 1> a(300), b(300);
      for (int turn = 0; turn < 10; ++turn) {
        a = 1.0f;
        // All have the same values, so they share a table.
        stencil.timeTile(3).iterate(6)(a, b, perStep([&](std::int64_t step) {
                                         return stencil.reach(Face::LEFT) + (step % 2) + 1;
                                       }));
      }
      results[t] = a(299);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(results == std::vector<float>{8.0f, 8.0f});
}

TEST_CASE("scalars per step: tuning measures with the values that there are") {
  Array<float, 2> a(64, 64), b(64, 64);
  a = 1.0f;
  b = 0.0f;
  Stencil stencil([](Neighbourhood<float, 2> p, Float factor) {
    return factor * (p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1));
  });
  stencil.boundary(Fixed(0.0f));
  const auto factor = perStep([](std::int64_t step) { return 0.01f * static_cast<float>(step); });
  stencil.iterate(20).tuning(TuneOptions{0.3}).tune(a, b, factor);
  CHECK(a(5, 5).value() == 1.0f);
}

}  // namespace per_step_tests
