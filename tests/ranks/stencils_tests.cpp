// SPDX-License-Identifier: Apache-2.0
// Launch-level stencils on one to four ranks: random programs and chains against plain loops, and
// iterations against one process.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>

#include "counting_fabric.h"
#include "hpl/error.h"
#include "program_on_ranks.h"
#include "tests/messages.h"
#include "tests/stencil_templates/random_program.h"

namespace stencils_tests {

using namespace hpl;
using ranks_tests::expectAsOnOne;
using ranks_tests::saidOn;
using namespace stencil_tests;
using hpl_tests::contains;

namespace {

/// How a random program is run.
struct Way {
  int steps = 1;
  int timeTile = 0;  ///< 0: the library's choice
  int fusion = 0;    ///< of chains
  int weights = 0;
};

Way randomWay(std::mt19937& random, bool isChain) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Way way;
  way.steps = 1 + below(isChain ? 3 : 9);
  way.timeTile = below(2) == 0 ? 1 + below(4) : 0;
  way.fusion = isChain ? below(4) : 0;
  way.weights = below(4);
  return way;
}

void choose(StencilProgram& run, const Way& way, bool isPeriodic) {
  run.devices();
  const auto count = devices().size();
  std::vector<double> weights(count, 1.0);
  for (std::size_t d = 0; d < count; d += 2) weights[d] = 1.5;
  if (way.weights == 1) run.weights(weights);
  if (way.weights == 2) run.weights(MEASURED);
  if (way.fusion == 1) run.fuse(false);
  if (way.fusion == 2) run.fuse(true);
  // Small grids that wrap around have too few cells for many steps.
  if (way.fusion != 2 && way.timeTile > 0 && !isPeriodic) run.timeTile(way.timeTile);
}

/// Runs the program on all devices; what is wrong with its fields.
template <int N>
std::string wrongOf(const RandomProgram& program, unsigned seed, const Way& way) {
  const auto isTemporary = [&](std::size_t f) {
    return !program.lifetimes.empty() && program.lifetimes[f] == strategies::Lifetime::Temporary;
  };
  std::vector<Grid<int>> expected;
  std::vector<Array<int, N>> arrays;
  std::vector<stencils::ProgramArgument> fields;
  for (std::size_t f = 0; f < static_cast<std::size_t>(program.fields); ++f) {
    expected.push_back(someCells<int>(program.extents, seed + static_cast<unsigned>(f)));
    arrays.push_back(arrayOf<int, N>(expected.back()));
    fields.push_back(isTemporary(f) ? stencils::programArgument(Temporary<int, N>())
                                    : stencils::programArgument(arrays.back()));
  }
  for (int s = 0; s < way.steps; ++s) referenceStep(program, expected);
  StencilProgram run;
  for (const RandomFunction& f : program.functions) addTo<N>(run, program, f, fields);
  choose(run, way, isPeriodic(program));
  run.run(way.steps);
  std::string wrong;
  for (std::size_t f = 0; f < arrays.size(); ++f)
    if (!isTemporary(f) && cellsOf(arrays[f]) != expected[f].cells)
      wrong += fmt::format("field {} of\n{}\n", f, describe(program));
  return wrong;
}

bool leavesAllOut(const RandomProgram& program) {
  for (const RandomFunction& f : program.functions)
    for (std::size_t d = 0; d < 3; ++d)
      if (f.low[d] + f.high[d] >= program.extents[d]) return true;
  return false;
}

/// The defects of random programs and chains of these seeds; empty: none.
std::string runRandom(unsigned first, unsigned last) {
  std::string said;
  for (unsigned seed = first; seed <= last; ++seed) {
    std::mt19937 random(seed);
    const bool isChain = seed % 3 == 0;
    const RandomProgram program =
        isChain ? randomChain(random, seed % 2 == 0) : oncePerField(randomProgram(random));
    if (leavesAllOut(program)) continue;
    const Way way = randomWay(random, isChain);
    std::string wrong;
    try {
      if (program.dims == 1) wrong = wrongOf<1>(program, seed, way);
      if (program.dims == 2) wrong = wrongOf<2>(program, seed, way);
      if (program.dims == 3) wrong = wrongOf<3>(program, seed, way);
    } catch (const RankError&) {
      throw;
    } catch (const Error& error) {
      wrong = fmt::format("{} of\n{}\n", error.what(), describe(program));
    }
    if (!wrong.empty())
      said += fmt::format("seed {}, {} steps, time tile {}, fusion {}, weights {}: {}", seed,
                          way.steps, way.timeTile, way.fusion, way.weights, wrong);
  }
  return said;
}

Stencil average() {
  Stencil stencil([](Neighbourhood<float, 2> t, Float rate) {
    return t(0, 0) + rate * (t(-1, 0) + t(1, 0) + t(0, -1) + t(0, 1) - 4.0f * t(0, 0));
  });
  stencil.boundary(Nearest());
  return stencil;
}

Array<float, 2> bumps(int rows, int columns) {
  Array<float, 2> cells(rows, columns);
  std::vector<float> values(cells.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i % 101);
  cells.copyFrom(values.data());
  return cells;
}

/// Every bit of the cells.
std::string bitsOf(const Array<float, 2>& cells) {
  std::string text;
  for (const float value : cellsOf(cells)) text += fmt::format("{:a} ", value);
  return text + "\n";
}

}  // namespace

TEST_CASE("random stencil programs and chains on ranks equal one function after another") {
  CHECK(saidOn(2, 1, [] { return runRandom(1, 3); }) == "");
  CHECK(saidOn(2, 2, [] { return runRandom(4, 5); }) == "");
  CHECK(saidOn(3, 1, [] { return runRandom(6, 7); }) == "");
  CHECK(saidOn(4, 1, [] { return runRandom(8, 9); }) == "");
}

TEST_CASE("iterations on ranks make the same steps as in one process") {
  expectAsOnOne([] {
    Array<float, 2> now = bumps(40, 21), next(40, 21);
    Stencil heat = average();
    std::string said;
    said += fmt::format("{} ", heat.devices().iterate(7)(now, next, 0.2f).steps);
    said += fmt::format("{} ", heat.devices().timeTile(3).iterate(8)(now, next, 0.15f).steps);
    heat.devices()(now, next, 0.1f);
    swap(now, next);
    const StencilRun run = heat.devices().until(0.6, 4).iterate(200)(now, next, 0.2f);
    said += fmt::format("{} {} {:a}\n", run.steps, run.converged, run.residual);
    return said + bitsOf(now) + fmt::format("{:a}", now.reduce(std::plus<>()));
  });
}

TEST_CASE("a question between the steps of a program is asked on all ranks, with the same cells") {
  expectAsOnOne([] {
    Array<float, 2> cells = bumps(30, 12);
    StencilProgram program;
    program
        .apply([](Neighbourhood<float, 2> a) { return 0.25f * (a(-1, 0) + 2 * a(0, 0) + a(1, 0)); })
        .over(Range(1, 28), Range(0, 11))(cells, cells);
    std::string said;
    program.every(5, [&](std::int64_t step) {
      const float middle = cells(15, 6);
      said += fmt::format("{}: {:a} ", step, middle);
      if (step == 10) cells(15, 6) = 7.0f;
      return step == 25;
    });
    program.devices();
    said += fmt::format("{}\n", program.run(100).steps);
    return said + bitsOf(cells);
  });
}

TEST_CASE("samples of each step are the same on all ranks as in one process") {
  expectAsOnOne([] {
    Array<int, 2> a(48, 21), row(9, 21), column(9, 48);
    a = 1;
    a(20, 7) = 5;
    Array<int, 1> cell(9);
    row = -1;
    column = -1;
    cell = -1;
    Stencil spread([](Neighbourhood<int, 2> p) { return p(0, -1) + 2 * p(1, 0) - p(-1, 1); });
    spread.boundary(Nearest());
    StencilProgram program;
    program.record(a, cell, 47, 20);
    program.apply(spread)(a, a);
    program.record(a, row, 23, Range(0, 20));
    program.record(a, column, Range(0, 47), 3);
    program.devices().run(5);
    // The default device alone, in time tiles.
    StencilProgram again;
    again.apply(spread)(a, a);
    again.record(a, row, 23, Range(0, 20));
    again.timeTile(3).run(4);
    // All devices, in time tiles: each puts its own samples beside the others'.
    StencilProgram tiled;
    tiled.record(a, cell, 30, 20);
    tiled.apply(spread)(a, a);
    tiled.record(a, column, Range(0, 47), 3);
    tiled.devices().timeTile(3).run(7);
    std::string said = fmt::format("{}\n{}\n{}\n", cellsOf(a), cellsOf(column), cellsOf(cell));
    return said + fmt::format("{}", cellsOf(row));
  });
}

TEST_CASE("wider ghosts are exchanged between ranks after several steps only") {
  expectAsOnOne([] {
    using ranks_tests::fivePoint;
    ranks_tests::Grid a(44, 13), b(44, 13);
    ranks_tests::setCells(a, 21);
    ranks_tests::setCells(b, 22);
    for (int round = 0; round < 4; ++round) {
      for (int step = 0; step < 3; ++step) {
        eval(fivePoint).devices(getDeviceNumber())(PART1(b, 3), PART1(a, 3));
        swap(a, b);
      }
      a.syncGhosts();
      b.syncGhosts();
    }
    return ranks_tests::cellsOf(a);
  });
}

TEST_CASE("what only one process could do is refused on all ranks, and the session goes on") {
  const auto program = [] {
    Array<float, 2> now = bumps(24, 13), next(24, 13);
    Stencil heat = average();
    std::string said;
    try {
      heat.devices().persistent().iterate(5)(now, next, 0.2f);
      said = "persistent\n";
    } catch (const LaunchError& error) {
      said = std::string(error.what()) + "\n";
      heat.devices().iterate(5)(now, next, 0.2f);
    }
    heat.devices().iterate(5)(now, next, 0.2f);
    return said + bitsOf(now);
  };
  // Ranks that share no memory.
  const auto withoutWindow = [](std::unique_ptr<ranks::Fabric> inner) {
    return std::make_unique<hpl_tests::CountingFabric>(std::move(inner));
  };
  const std::string said = saidOn(2, 1, program, withoutWindow), alone = saidOn(1, 2, program);
  CHECK(contains(said, "the ranks share no memory (HPL_TRANSPORT); leave out .persistent()\n"));
  CHECK_FALSE(contains(alone, "the ranks"));
  const auto cells = [](const std::string& all) { return all.substr(all.find('\n')); };
  CHECK(cells(said) == cells(alone));
}

}  // namespace stencils_tests
