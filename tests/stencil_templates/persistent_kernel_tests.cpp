// SPDX-License-Identifier: Apache-2.0
// Persistent kernels in the interpreter: the groups take turns, and it knows races between them
// (what a flag does not order), divergent barriers, unfilled cells, and bounds.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "hpl/ir/interpreter.h"
#include "hpl/ir/printer.h"
#include "hpl/ir/verifier.h"
#include "hpl/lang/capture_state.h"
#include "hpl/strategies/persistent.h"
#include "random_program.h"
#include "tests/seeds.h"

namespace persistent_kernel_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace stencil_tests;

namespace {

using Sizes = std::array<std::int64_t, 3>;

/// A kernel with what it was made for.
struct Kept {
  std::unique_ptr<stencils::TimeRecipe> recipe;
  std::shared_ptr<const ir::Kernel> captured;
  OverlappedOptions options;
  Sizes extents{1, 1, 1};
  Sizes groups{1, 1, 1};
  Overlapped made;
};

Kept keptOf(const RandomProgram& program, const OverlappedOptions& options, bool looks = false,
            std::shared_ptr<const stencils::ResidualFunction> residual = nullptr) {
  Kept kept;
  kept.options = options;
  for (std::size_t d = 0; d < static_cast<std::size_t>(program.dims); ++d) {
    kept.extents[d] = program.extents[static_cast<std::size_t>(3 - program.dims) + d];
    kept.groups[d] = (kept.extents[d] + options.tile[d] - 1) / options.tile[d];
  }
  if (options.border.cells > 0) kept.groups[0] = options.border.groups;
  kept.recipe =
      recipeOf(program, {options.depth, options.tile, stencils::TimeForm::Persistent, {}, looks},
               false, std::move(residual));
  {
    hpl::detail::Capture session({});
    kept.recipe->record();
    kept.captured = session.finish("steps");
  }
  ir::verify(*kept.captured);
  ir::AccessSummary summary = ir::analyze(*kept.captured);
  kept.recipe->adjust(summary);
  kept.made = persistent(*kept.captured, summary, kept.recipe->program(), options, kept.groups);
  if (kept.made.kernel) ir::verify(*kept.made.kernel);
  return kept;
}

/// How groups look at field 0, and what came of it.
struct Looking {
  int every = 1;
  float bound = 0;
  std::int64_t steps = 0;
  bool wasBelow = false;
  float residual = 0;
};

/// Whether all groups went on to the end.
bool run(const Kept& kept, int steps, int patience, std::vector<Grid<int>>& now,
         std::vector<Grid<int>>& next, Looking* looking = nullptr) {
  const TimeProgram& program = kept.recipe->program();
  const auto dims = static_cast<std::size_t>(program.dims);
  const std::vector<std::int64_t> extents(kept.extents.begin(), kept.extents.begin() + dims);
  // Two grids of each field.
  std::vector<std::int64_t> twice = extents;
  twice.insert(twice.begin(), 2);
  std::vector<std::vector<int>> between(now.size(),
                                        std::vector<int>(2 * next.front().cells.size()));
  // As launches before have left them.
  constexpr int kRaised = 5;
  std::vector<int> flags(
      static_cast<std::size_t>(flagsFor(kept.groups[0] * kept.groups[1] * kept.groups[2])),
      kRaised);
  flags[0] = kRaised - 1;
  std::vector<ir::Argument> arguments;
  for (Grid<int>& grid : now) arguments.push_back(ir::arrayArgument(grid.cells.data(), extents));
  for (std::size_t f = 0; f < now.size(); ++f)
    if (program.fields[f].isWritten())
      arguments.push_back(ir::arrayArgument(next[f].cells.data(), extents));
  for (std::size_t f = 0; f < now.size(); ++f)
    if (program.fields[f].between >= 0)
      arguments.push_back(ir::arrayArgument(between[f].data(), twice));
  arguments.push_back(ir::arrayArgument(flags.data(), {static_cast<std::int64_t>(flags.size())}));
  arguments.push_back(ir::scalarArgument(patience));
  arguments.push_back(ir::scalarArgument(kRaised));
  for (std::size_t d = 0; d < dims; ++d) arguments.push_back(ir::scalarArgument(0));
  const std::int64_t groups = kept.groups[0] * kept.groups[1] * kept.groups[2];
  std::vector<int> old(next.front().cells.size());
  std::vector<float> residuals(old.size());
  std::vector<float> values(static_cast<std::size_t>(lookValuesFor(groups)));
  if (looking != nullptr) {
    arguments.push_back(ir::arrayArgument(old.data(), extents));
    arguments.push_back(ir::arrayArgument(residuals.data(), extents));
    arguments.push_back(ir::arrayArgument(values.data(), {lookValuesFor(groups)}));
    arguments.push_back(ir::scalarArgument(looking->every));
    arguments.push_back(ir::scalarArgument(looking->bound));
  }
  arguments.push_back(ir::scalarArgument(steps));
  ir::NDRange range{program.dims, {1, 1, 1}, {1, 1, 1}};
  for (const Hidden& hidden : kept.made.hidden) {
    const std::size_t d = dims - 1 - static_cast<std::size_t>(hidden.axis);
    const std::int64_t value = hidden.kind == Hidden::Kind::First ? 0 : kept.extents[d];
    arguments.push_back(ir::scalarArgument(static_cast<std::uint64_t>(value)));
  }
  for (std::size_t d = 0; d < dims; ++d) {
    const std::size_t axis = dims - 1 - d;
    range.local[axis] = static_cast<std::uint64_t>(kept.options.local[d]);
    range.global[axis] = static_cast<std::uint64_t>(kept.groups[d]) * range.local[axis];
  }
  ir::InterpreterOptions checks;
  checks.detectRaces = true;
  checks.detectUninitialised = true;
  checks.maxLoopIterations = 1000000;
  ir::interpret(*kept.made.kernel, range, arguments, checks);
  const std::int64_t every = looking != nullptr ? looking->every : 0;
  for (std::int64_t number = 1; number <= 2 * groups; ++number)
    CHECK(flags[static_cast<std::size_t>(number * kFlagDistance)] <=
          kRaised + flagsRaised(steps, kept.options.depth, every));
  if (looking != nullptr) {
    looking->steps = flags[static_cast<std::size_t>(stepsDoneAt(groups))];
    looking->wasBelow = flags[static_cast<std::size_t>(wasBelowAt(groups))] != 0;
    const std::int64_t last = (looking->steps + every - 1) / every - 1;
    looking->residual = 0;
    for (std::int64_t group = 0; group < groups; ++group)
      looking->residual = std::max(
          looking->residual, values[static_cast<std::size_t>(lookValueAt(last, group, groups))]);
  }
  return flags[0] != kRaised;
}

std::vector<Grid<int>> fieldsOf(const RandomProgram& program, unsigned seed) {
  std::vector<Grid<int>> fields;
  for (int f = 0; f < program.fields; ++f)
    fields.push_back(someCells<int>(program.extents, seed + static_cast<unsigned>(f)));
  return fields;
}

/// Tiles for two to four groups along each dimension, as far as the program lets them be as thin.
OverlappedOptions optionsFor(std::mt19937& random, const RandomProgram& program, bool isAlone) {
  const auto between = [&](int lo, int hi) {
    return std::uniform_int_distribution<int>(lo, hi)(random);
  };
  OverlappedOptions options;
  options.lanes = isAlone ? 4 : 1;
  options.jam = between(1, 3);
  options.vectors = between(1, 2);
  options.depth = between(1, 3);
  Sizes extents{1, 1, 1};
  for (std::size_t d = 0; d < static_cast<std::size_t>(program.dims); ++d) {
    extents[d] = program.extents[static_cast<std::size_t>(3 - program.dims) + d];
    options.tile[d] = (extents[d] + between(1, 4) - 1) / between(1, 4) + 1;
    if (!isAlone) options.local[d] = between(1, 2);
  }
  if (!isAlone) options.local[static_cast<std::size_t>(program.dims) - 1] = 2;
  const auto recipe = recipeOf(program, {options.depth, {}});
  for (std::size_t d = 0; d < static_cast<std::size_t>(program.dims);) {
    OverlappedOptions one = options;
    for (std::size_t other = 0; other < 3; ++other)
      if (other != d) one.tile[other] = extents[other];
    if (whyNotTiles(recipe->program(), one, extents).empty()) {
      ++d;
    } else {
      ++options.tile[d];
    }
  }
  options.waitsForAll = between(0, 3) == 0;
  // Border groups at both ends, as thin or thick as it comes.
  OverlappedOptions bordered = options;
  bordered.border = {between(1, 1 + static_cast<int>(extents[0]) / 4), between(3, 4)};
  const std::int64_t inner = bordered.border.groups - 2;
  bordered.tile[0] = (extents[0] - 2 * bordered.border.cells + inner - 1) / inner;
  return bordered.tile[0] > 0 && whyNotTiles(recipe->program(), bordered, extents).empty()
             ? bordered
             : options;
}

/// The settings under which a program was computed.
struct Checked {
  std::int64_t groups = 0;
  bool hasBorder = false;
};

Checked checkProgram(const RandomProgram& program, std::mt19937& random, unsigned seed,
                     bool isAlone) {
  CAPTURE(seed);
  const OverlappedOptions options = optionsFor(random, program, isAlone);
  const Kept kept = keptOf(program, options);
  REQUIRE_MESSAGE(kept.made.kernel != nullptr, kept.made.reason);
  const int steps = std::uniform_int_distribution<int>(1, 4 * options.depth + 1)(random);
  CAPTURE(steps);
  CAPTURE(describe(program));
  std::vector<Grid<int>> now = fieldsOf(program, seed);
  const std::vector<Grid<int>> before = now;
  std::vector<Grid<int>> expected = now;
  for (int s = 0; s < steps; ++s) referenceStep(program, expected);
  const std::vector<TimeField>& fields = kept.recipe->program().fields;
  std::vector<Grid<int>> next(now.size(), Grid<int>(program.extents));
  // Cells of results that no function writes stay what they are.
  for (std::size_t f = 0; f < now.size(); ++f)
    if (fields[f].lifetime == Lifetime::Result) next[f] = now[f];
  REQUIRE(run(kept, steps, 1 << 20, now, next));
  for (std::size_t f = 0; f < now.size(); ++f) {
    CAPTURE(f);
    CHECK(now[f].cells == before[f].cells);
    if (fields[f].isWritten() && fields[f].lifetime != Lifetime::Temporary)
      CHECK(next[f].cells == expected[f].cells);
  }
  return {kept.groups[0] * kept.groups[1] * kept.groups[2], options.border.cells > 0};
}

Checked checkProgram(unsigned seed, bool isAlone) {
  std::mt19937 random(seed);
  const RandomProgram program = randomProgram(random, isAlone && seed % 3 == 0 ? 20 : 0);
  return checkProgram(program, random, seed, isAlone);
}

/// The number of runs that looked at their steps, and of those that stopped early.
struct LookCount {
  int looked = 0;
  int stopped = 0;
};

void checkLooks(const RandomProgram& program, const OverlappedOptions& options, unsigned seed,
                LookCount& count) {
  CAPTURE(seed);
  std::mt19937 random(seed);
  const Kept plain = keptOf(program, options);
  const TimeField& field = plain.recipe->program().fields[0];
  if (!field.isWritten() || field.lifetime != Lifetime::Steps) return;
  // How much cells change; or what those are that do not.
  const bool isOfSteady = seed % 4 >= 2;
  const auto steadyCells = stencils::makeResidual([](Int now, Int before) {
    const auto old = cast<float>(before);
    return fabs(old) / (1.0f + fabs(cast<float>(now) - old));
  });
  const Kept kept = keptOf(program, options, true, isOfSteady ? steadyCells : nullptr);
  REQUIRE_MESSAGE(kept.made.kernel != nullptr, kept.made.reason);
  const int steps = std::uniform_int_distribution<int>(1, 12)(random);
  Looking looking;
  looking.every = std::uniform_int_distribution<int>(1, 4)(random);
  // The change of a step is of any size.
  looking.bound = std::exp(std::uniform_real_distribution<float>(0, 12)(random));
  CAPTURE(steps);
  CAPTURE(looking.every);
  CAPTURE(looking.bound);
  CAPTURE(describe(program));
  std::vector<Grid<int>> now = fieldsOf(program, seed);
  // Larger than others, whether steps change it or not.
  (seed % 3 == 0 ? now[0].cells.front() : now[0].cells.back()) = 1000;
  std::vector<Grid<int>> expected = now;
  bool isBelow = false;
  bool wasBelow = false;
  float residual = 0;
  int done = 0;
  while (done < steps && !wasBelow) {
    const Grid<int> before = expected[0];
    referenceStep(program, expected);
    ++done;
    if (done % looking.every != 0 && done != steps) continue;
    residual = 0;
    for (std::size_t i = 0; i < before.cells.size(); ++i) {
      const auto old = static_cast<float>(before.cells[i]);
      const float change = std::fabs(static_cast<float>(expected[0].cells[i]) - old);
      residual = std::max(residual, isOfSteady ? std::fabs(old) / (1.0f + change) : change);
    }
    wasBelow = isBelow;
    isBelow = residual < looking.bound;
  }
  std::vector<Grid<int>> next(now.size(), Grid<int>(program.extents));
  REQUIRE(run(kept, steps, 1 << 20, now, next, &looking));
  CHECK(looking.steps == done);
  CHECK(looking.wasBelow == wasBelow);
  CHECK(looking.residual == residual);
  CHECK(next[0].cells == expected[0].cells);
  ++count.looked;
  count.stopped += done < steps ? 1 : 0;
}

void checkLooks(unsigned seed, bool isAlone, LookCount& count) {
  std::mt19937 random(seed);
  const RandomProgram program = randomProgram(random, isAlone && seed % 3 == 0 ? 20 : 0);
  checkLooks(program, optionsFor(random, program, isAlone), seed, count);
}

}  // namespace

TEST_CASE("persistent kernels: groups look at what steps change, and all stop at the same step") {
  LookCount count;
  for (const unsigned seed : Seeds(3001, 3080)) checkLooks(seed, seed % 2 == 0, count);
  CHECK(count.looked >= 40);
  CHECK(count.stopped >= 10);
}

TEST_CASE("persistent kernels: looks see tiles of which no cell is computed") {
  LookCount count;
  for (const unsigned seed : Seeds(3101, 3112)) {
    std::mt19937 random(seed);
    const int dims = std::uniform_int_distribution<int>(1, 3)(random);
    RandomProgram program = starProgram(dims, {dims > 2 ? 16 : 1, dims > 1 ? 16 : 1, 16});
    // The first or the last two of four tiles.
    const auto slowest = static_cast<std::size_t>(3 - dims);
    (seed % 3 == 0 ? program.functions[0].low : program.functions[0].high)[slowest] = 9;
    OverlappedOptions options;
    options.tile = {dims == 1 ? 8 : 4, dims > 1 ? 16 : 1, dims > 2 ? 16 : 1};
    options.lanes = 4;
    options.depth = std::uniform_int_distribution<int>(1, 2)(random);
    checkLooks(program, options, seed, count);
  }
  CHECK(count.looked >= 12);
}

TEST_CASE("persistent kernels: random programs in vectors equal one step after another") {
  std::int64_t several = 0;
  int bordered = 0;
  for (const unsigned seed : Seeds(1, 120)) {
    const Checked checked = checkProgram(seed, true);
    several += checked.groups > 1 ? 1 : 0;
    bordered += checked.hasBorder ? 1 : 0;
  }
  CHECK(several >= 60);
  CHECK(bordered >= 15);
}

TEST_CASE("persistent kernels: random programs in groups of work-items equal step after step") {
  std::int64_t several = 0;
  for (const unsigned seed : Seeds(1001, 1080))
    several += checkProgram(seed, false).groups > 1 ? 1 : 0;
  CHECK(several >= 40);
}

TEST_CASE(
    "persistent kernels: random programs with temporaries and results equal step after step") {
  std::int64_t several = 0;
  for (const unsigned seed : Seeds(2001, 2060)) {
    std::mt19937 random(seed);
    const RandomProgram program = randomChain(random, true);
    several += checkProgram(program, random, seed, seed % 2 == 0).groups > 1 ? 1 : 0;
  }
  CHECK(several >= 30);
}

TEST_CASE("persistent kernels: steps that do not see each other are refused") {
  std::mt19937 random(1);
  const auto recipe = recipeOf(randomChain(random, false), {2, {}});
  CHECK(whyNotPersistent(recipe->program()) == "no step sees what the one before it has written");
}

TEST_CASE("persistent kernels: a group that waits in vain makes all give up, the input intact") {
  const RandomProgram star = starProgram(2, {1, 16, 16});
  OverlappedOptions options;
  options.tile = {4, 16, 1};
  options.lanes = 4;
  options.depth = 2;
  const Kept kept = keptOf(star, options);
  std::vector<Grid<int>> now = fieldsOf(star, 7);
  const std::vector<Grid<int>> before = now;
  std::vector<Grid<int>> next = now;
  // The first group looks before the others have begun.
  CHECK_FALSE(run(kept, 10, 0, now, next));
  CHECK(now[0].cells == before[0].cells);
  CHECK(run(kept, 10, 1000, now, next));
}

TEST_CASE("persistent kernels: their text names the flags that it waits for") {
  OverlappedOptions options;
  options.tile = {4, 16, 1};
  options.lanes = 4;
  const Kept kept = keptOf(starProgram(2, {1, 8, 16}), options);
  const std::string text = ir::print(*kept.made.kernel);
  CHECK(text.find(", acquire, device)") != std::string::npos);
  CHECK(text.find(", release, device)") != std::string::npos);
  CHECK(kept.made.reason.find("all steps in one launch, 2 x 1 groups that keep their tiles; ") ==
        0);
}

TEST_CASE("persistent kernels: tiles thinner than what steps reach are refused with numbers") {
  OverlappedOptions options;
  options.tile = {4, 64, 1};
  options.depth = 6;
  const RandomProgram star = starProgram(2, {1, 64, 64});
  const auto recipe = recipeOf(star, {options.depth, {}});
  CHECK(whyNotTiles(recipe->program(), options, {64, 64, 1}) ==
        "tiles of 4 cells along dimension 0 are thinner than the 6 cells that 6 steps reach, and "
        "groups exchange with those next to them only");
  options.depth = 4;
  CHECK(whyNotTiles(recipe->program(), options, {64, 64, 1}).empty());
}

}  // namespace persistent_kernel_tests
