// SPDX-License-Identifier: Apache-2.0
// Kernels that do several time steps, in the interpreter: it knows races, divergent barriers,
// unfilled cells, and bounds.
#include <doctest/doctest.h>

#include "hpl/ir/interpreter.h"
#include "hpl/ir/verifier.h"
#include "hpl/lang/capture_state.h"
#include "hpl/strategies/chain.h"
#include "hpl/strategies/detail/stream_plan.h"
#include "hpl/strategies/registers.h"
#include "hpl/strategies/stream.h"
#include "random_program.h"
#include "tests/seeds.h"

namespace time_kernel_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace stencil_tests;

namespace {

struct Captured {
  std::shared_ptr<const ir::Kernel> kernel;
  ir::AccessSummary summary;
};

Captured capture(const stencils::TimeRecipe& recipe) {
  Captured result;
  {
    hpl::detail::Capture session({});
    recipe.record();
    result.kernel = session.finish("steps");
  }
  ir::verify(*result.kernel);
  result.summary = ir::analyze(*result.kernel);
  recipe.adjust(result.summary);
  return result;
}

/// Runs the kernel over the rows first..first+count-1 of the grid.
void run(const Overlapped& tiled, const OverlappedOptions& options, const RandomProgram& program,
         const stencils::TimeRecipe& recipe, int steps, std::int64_t first, std::int64_t count,
         std::vector<Grid<int>>& now, std::vector<Grid<int>>& next) {
  const auto dims = static_cast<std::size_t>(program.dims);
  std::vector<std::int64_t> extents;
  for (std::size_t d = 3 - dims; d < 3; ++d) extents.push_back(program.extents[d]);
  std::vector<ir::Argument> arguments;
  // Arrays that are not accessed have one cell; reads of other cells leave it.
  int cell = 0;
  const ir::Argument none = ir::arrayArgument(&cell, std::vector<std::int64_t>(extents.size(), 1));
  for (std::size_t f = 0; f < now.size(); ++f)
    arguments.push_back(recipe.program().fields[f].isLoaded()
                            ? ir::arrayArgument(now[f].cells.data(), extents)
                            : none);
  for (std::size_t f = 0; f < next.size(); ++f)
    if (recipe.program().fields[f].isWritten())
      arguments.push_back(recipe.program().fields[f].lifetime == Lifetime::Temporary
                              ? none
                              : ir::arrayArgument(next[f].cells.data(), extents));
  arguments.push_back(ir::scalarArgument(steps));
  ir::NDRange range{program.dims, {1, 1, 1}, {1, 1, 1}};
  for (const Hidden& hidden : tiled.hidden) {
    const std::size_t d = dims - 1 - static_cast<std::size_t>(hidden.axis);
    std::int64_t value = extents[d];
    if (d == 0 && hidden.kind == Hidden::Kind::First) value = first;
    if (d != 0 && hidden.kind == Hidden::Kind::First) value = 0;
    if (d == 0 && hidden.kind == Hidden::Kind::Count) value = count;
    arguments.push_back(ir::scalarArgument(static_cast<std::uint64_t>(value)));
  }
  for (std::size_t d = 0; d < dims; ++d) {
    const std::size_t axis = dims - 1 - d;
    const std::int64_t cells = d == 0 ? count : extents[d];
    range.local[axis] = static_cast<std::uint64_t>(options.local[d]);
    range.global[axis] =
        static_cast<std::uint64_t>((cells + options.tile[d] - 1) / options.tile[d]) *
        range.local[axis];
  }
  ir::InterpreterOptions checks;
  checks.detectRaces = true;
  checks.detectUninitialised = true;
  ir::interpret(*tiled.kernel, range, arguments, checks);
}

enum class Form { Vectors, Groups, Stream, InPlace, Streams, GroupStreams, Chain, Registers };

/// Streams of several functions.
bool isOfStreams(Form form) { return form == Form::Streams || form == Form::GroupStreams; }

/// The least offset along the slowest dimension.
int firstOffset(const RandomProgram& program, const RandomFunction& f) {
  int first = 0;
  for (const auto& sum : f.sums)
    for (const InputTap& tap : sum)
      first = std::min(first, tap.tap.offset[static_cast<std::size_t>(3 - program.dims)]);
  return first;
}

/// Makes a function read the first planes that it reads straight before its cells only.
void straighten(const RandomProgram& program, RandomFunction& f) {
  const auto slow = static_cast<std::size_t>(3 - program.dims);
  const int first = firstOffset(program, f);
  for (auto& sum : f.sums)
    for (InputTap& tap : sum)
      if (tap.tap.offset[slow] == first)
        for (std::size_t d = slow + 1; d < 3; ++d) tap.tap.offset[d] = 0;
  for (Rules& rules : f.rules)
    for (FaceRule& rule : rules[slow])
      if (rule.kind == Kind::Mirror || rule.kind == Kind::MirrorOdd) rule.kind = Kind::Nearest;
}

/// One function that reads neighbours of the field that it writes, and of others its own place.
RandomProgram programInRegisters(std::mt19937& random) {
  for (;;) {
    RandomProgram program = randomProgram(random);
    if (program.dims != 2) continue;
    program.functions.resize(1);
    RandomFunction& f = program.functions.front();
    f.writes.resize(1);
    f.sums.resize(1);
    for (InputTap& tap : f.sums.front())
      if (f.reads[tap.input] != f.writes.front()) tap.tap.offset = {0, 0, 0};
    for (Rules& rules : f.rules)
      for (auto& faces : rules)
        for (FaceRule& rule : faces) rule.kind = Kind::Untouched;
    // The untouched border is as wide as the function reads.
    bool fits = true;
    for (std::size_t d = 1; d < 3; ++d) {
      for (const InputTap& tap : f.sums.front()) {
        f.low[d] = std::max(f.low[d], -tap.tap.offset[d]);
        f.high[d] = std::max(f.high[d], tap.tap.offset[d]);
      }
      fits = fits && f.low[d] + f.high[d] < program.extents[d];
    }
    if (!fits) continue;
    if (strategies::whyNotRegisters(recipeOf(program, {1, {}})->program()).empty()) return program;
  }
}

/// A random program that the form is for.
RandomProgram programFor(Form form, std::mt19937& random, int longer = 0) {
  if (form == Form::Registers) return programInRegisters(random);
  RandomProgram program = randomProgram(random, longer);
  while (isOfStreams(form) && program.dims == 1) program = randomProgram(random, longer);
  if (isOfStreams(form) && random() % 2 == 0)
    for (RandomFunction& f : program.functions) straighten(program, f);
  if (form != Form::Stream && form != Form::InPlace) return program;
  const auto fits = [form](const RandomProgram& p) {
    return p.dims > 1 && (form == Form::Stream || firstOffset(p, p.functions.front()) < 0);
  };
  while (!fits(program)) program = randomProgram(random, longer);
  program.functions.resize(1);
  if (form == Form::InPlace) straighten(program, program.functions.front());
  return program;
}

enum class Fields { GoOn, Temporary, Both };

RandomProgram programFor(Form form, Fields fields, std::mt19937& random, bool isLong = false) {
  if (fields == Fields::GoOn) return programFor(form, random, isLong ? 60 : 0);
  RandomProgram program = randomChain(random, fields == Fields::Both);
  while ((form == Form::Chain || isOfStreams(form)) && program.dims == 1)
    program = randomChain(random, fields == Fields::Both);
  return program;
}

Overlapped tiledAs(Form form, const Captured& captured, const TimeProgram& program,
                   const OverlappedOptions& options) {
  const bool isStream = form == Form::Stream || form == Form::InPlace || isOfStreams(form);
  const auto rewrite = form == Form::Chain       ? &strategies::chain
                       : form == Form::Registers ? &strategies::registers
                       : isStream                ? &strategies::stream
                                                 : &strategies::overlapped;
  return rewrite(*captured.kernel, captured.summary, program, options);
}

/// For Form::InPlace: programs whose new planes take the places of others that are still read.
int programsThatShift = 0;

/// Returns the choice. `isLong`: rows have so many cells that they hand on what they load.
std::string checkProgram(unsigned seed, Form form, Fields fields = Fields::GoOn, bool joins = false,
                         bool isLong = false) {
  CAPTURE(seed);
  const bool isAlone =
      form != Form::Groups && form != Form::GroupStreams && form != Form::Registers;
  std::mt19937 random(seed);
  const auto between = [&](int lo, int hi) {
    return std::uniform_int_distribution<int>(lo, hi)(random);
  };
  const RandomProgram program = programFor(form, fields, random, isLong);
  OverlappedOptions options;
  options.depth = form == Form::Chain ? 1 : seed % 16 == 0 ? between(5, 16) : between(1, 4);
  options.lanes = isAlone ? 4 : 1;
  options.jam = between(1, 3);
  options.vectors = between(1, 2);
  // As many rows at a time as the library chooses.
  if (form == Form::Chain && seed % 4 == 0) options.jam = 0;
  for (std::size_t d = 0; d < static_cast<std::size_t>(program.dims); ++d) {
    options.tile[d] = between(1, 12);
    if (!isAlone) options.local[d] = between(1, 3);
  }
  if (!isAlone) options.local[static_cast<std::size_t>(program.dims) - 1] = 2;
  if (isLong) {
    options.lanes = 16;
    options.vectors = 1;
    options.jam = between(0, 3);
    options.tile[static_cast<std::size_t>(program.dims) - 1] = between(30, 90);
  }
  if (form == Form::GroupStreams) options.local[0] = 1;
  const auto recipe = recipeOf(program, {options.depth, {}}, joins);
  if (form == Form::Registers) {
    const Growth halo = haloOf(recipe->program(), options.depth);
    options.local[1] =
        static_cast<int>(options.tile[1] + halo.before[1] + halo.after[1]) + between(0, 3);
  }
  const Captured captured = capture(*recipe);
  const Overlapped tiled = tiledAs(form, captured, recipe->program(), options);
  REQUIRE_MESSAGE(tiled.kernel != nullptr, tiled.reason);
  if (form == Form::InPlace && strategies::detail::planStream(recipe->program(), options).isShifted)
    ++programsThatShift;
  ir::verify(*tiled.kernel);

  std::vector<Grid<int>> now;
  for (int f = 0; f < program.fields; ++f)
    now.push_back(someCells<int>(program.extents, seed + static_cast<unsigned>(f)));
  const int steps = between(1, options.depth);
  std::vector<Grid<int>> expected = now;
  for (int s = 0; s < steps; ++s) referenceStep(program, expected);
  // Results are stored over what was there.
  std::vector<Grid<int>> next = now;
  for (std::size_t f = 0; f < next.size(); ++f)
    if (recipe->program().fields[f].isLoaded()) next[f] = Grid<int>(program.extents);
  const int slow = program.extents[static_cast<std::size_t>(3 - program.dims)];
  const int cut = between(1, slow);
  for (const auto& [first, count] : {std::pair{0, cut}, std::pair{cut, slow - cut}})
    if (count > 0) run(tiled, options, program, *recipe, steps, first, count, now, next);
  CAPTURE(steps);
  CAPTURE(describe(program));
  for (std::size_t f = 0; f < now.size(); ++f) {
    CAPTURE(f);
    const TimeField& field = recipe->program().fields[f];
    if (field.isWritten() && field.lifetime != Lifetime::Temporary)
      CHECK(next[f].cells == expected[f].cells);
  }
  return tiled.reason;
}

}  // namespace

TEST_CASE("time tiles: random programs in vectors equal one step after another") {
  for (const unsigned seed : Seeds(1, 130)) checkProgram(seed, Form::Vectors);
  // A function whose box was larger than those of the functions that it reads from.
  checkProgram(382, Form::Vectors);
}

TEST_CASE("time tiles: random programs whose rows hand on values equal one step after another") {
  const auto hasHandedOn = [](unsigned seed, Form form) {
    const std::string choice = checkProgram(seed, form, Fields::GoOn, false, true);
    return choice.find(", values handed on along rows") != std::string::npos;
  };
  for (const Form form : {Form::Vectors, Form::Stream, Form::InPlace, Form::Streams}) {
    CAPTURE(static_cast<int>(form));
    int count = 0;
    for (const unsigned seed : Seeds(6001, 6100)) count += hasHandedOn(seed, form) ? 1 : 0;
    CHECK(count >= 15);
  }
}

TEST_CASE("time tiles: the box of a work-item alone slides instead of having a twin") {
  const RandomProgram star = starProgram(2, {1, 300, 300});
  OverlappedOptions options;
  options.tile = {100, 64, 1};
  options.depth = 8;
  const auto recipe = recipeOf(star, {options.depth, {}});
  const auto rowsOf = [&](const OverlappedOptions& of, std::size_t row) {
    return boxBytes(recipe->program(), {4}, of) / (4 * row);
  };
  // Rows of the tile and eight cells at each end, in whole vectors.
  CHECK(rowsOf(options, 16 + 64 + 16) == 100 + 2 * 8 + 1 + 8);
  options.local = {1, 16, 1};
  CHECK(rowsOf(options, 8 + 64 + 8) == 2 * (100 + 2 * 8));
}

TEST_CASE("time tiles: random programs in groups of work-items equal one step after another") {
  for (const unsigned seed : Seeds(1, 130)) checkProgram(1000 + seed, Form::Groups);
  // A function whose box was larger than those of the functions that it reads from.
  checkProgram(2296, Form::Groups);
}

TEST_CASE("time tiles: random functions whose cells stay in registers equal one step at a time") {
  for (const unsigned seed : Seeds(1, 130)) checkProgram(7000 + seed, Form::Registers);
}

TEST_CASE("time tiles: what columns in registers are not for is refused with the reason") {
  const auto why = [](const RandomProgram& program) {
    return strategies::whyNotRegisters(recipeOf(program, {1, {}})->program());
  };
  CHECK(why(starProgram(3, {9, 9, 9})) == "columns in registers are for two dimensions");
  const auto plainStar = [] {
    RandomProgram program = starProgram(2, {1, 30, 30});
    RandomFunction& f = program.functions.front();
    for (auto& faces : f.rules.front())
      for (FaceRule& rule : faces) rule.kind = Kind::Untouched;
    f.low = f.high = {0, 1, 1};
    return program;
  };
  RandomProgram star = plainStar();
  CHECK(why(star) == "");
  star.functions.push_back(star.functions.front());
  CHECK(why(star) == "columns in registers are for one function");
  star.functions.pop_back();
  for (auto& faces : star.functions.front().rules.front())
    for (FaceRule& rule : faces) rule.kind = Kind::Nearest;
  star.functions.front().low = star.functions.front().high = {0, 0, 0};
  CHECK(why(star) == "it reads beyond the ends of the grid");
  const RandomProgram plain = plainStar();
  OverlappedOptions options;
  options.tile = {8, 8, 1};
  options.local = {2, 8, 1};
  options.depth = 2;
  const auto recipe = recipeOf(plain, {options.depth, {}});
  const Captured captured = capture(*recipe);
  const auto written = [&] {
    return strategies::registers(*captured.kernel, captured.summary, recipe->program(), options);
  };
  CHECK(written().reason == "its groups have 8 work-items for rows of 12");
  options.local[1] = 12;
  CHECK(written().kernel != nullptr);
  CHECK(written().reason.find("columns of 6 in registers") != std::string::npos);
  options.localMemory = 100;
  CHECK(written().reason.find("its box would need") == 0);
}

TEST_CASE("time tiles: random chains with temporaries equal one function after another") {
  for (const Form form : {Form::Vectors, Form::Groups}) {
    CAPTURE(static_cast<int>(form));
    for (const unsigned seed : Seeds(1, 15)) checkProgram(seed, form, Fields::Temporary);
    for (const unsigned seed : Seeds(1, 15)) checkProgram(seed, form, Fields::Both);
  }
}

TEST_CASE("time tiles: random chains row by row equal one function after another") {
  for (const unsigned seed : Seeds(1, 60))
    checkProgram(4000 + seed, Form::Chain, Fields::Temporary, seed % 2 == 0);
}

TEST_CASE("time tiles: random chains of joined functions equal one function after another") {
  int left = 12;
  for (unsigned seed = 5001; left > 0; ++seed) {
    const Fields fields = seed % 2 == 0 ? Fields::Temporary : Fields::Both;
    const Form form = seed % 3 == 0 ? Form::Groups : Form::Vectors;
    std::mt19937 random(seed);
    const RandomProgram program = programFor(form, fields, random);
    const auto recipe = recipeOf(program, {1, {}}, true);
    if (recipe->program().stages.size() == program.functions.size()) continue;
    checkProgram(seed, form, fields, true);
    --left;
  }
}

TEST_CASE("time tiles: programs that cannot be streams are refused with the reason") {
  OverlappedOptions options;
  options.depth = 2;
  options.tile = {4, 4, 4};
  const auto reasonFor = [&](const RandomProgram& program) {
    const auto recipe = recipeOf(program, {2, {}});
    const Captured captured = capture(*recipe);
    const Overlapped tiled = stream(*captured.kernel, captured.summary, recipe->program(), options);
    CHECK(tiled.kernel == nullptr);
    return tiled.reason;
  };
  CHECK(reasonFor(starProgram(1, {1, 1, 90})) ==
        "one dimension has no rows that could be streamed; boxes compute next to nothing twice "
        "there");
  options.localMemory = 100;
  // Two states share six rows of 4 + 2 * 2 cells in 16-lane vectors, and lie 16 cells apart.
  CHECK(reasonFor(starProgram(2, {1, 9, 9})) ==
        "its planes would need 896 bytes of local memory, and the device has 100");
  options.local = {1, 2, 1};
  CHECK(reasonFor(starProgram(2, {1, 9, 9})) ==
        "its planes would need 224 bytes of local memory, and the device has 100");
  options.local = {2, 1, 1};
  CHECK(reasonFor(starProgram(2, {1, 9, 9})) ==
        "the work-items of a group share planes, and none has its own");
}

TEST_CASE("time tiles: random programs in streams equal one step after another") {
  for (const unsigned seed : Seeds(1, 100)) checkProgram(2000 + seed, Form::Stream);
}

TEST_CASE("time tiles: random programs of several functions in streams equal one after another") {
  for (const unsigned seed : Seeds(1, 130)) checkProgram(6000 + seed, Form::Streams);
}

TEST_CASE("time tiles: random programs in streams of groups equal one step after another") {
  for (const unsigned seed : Seeds(1, 80)) checkProgram(7000 + seed, Form::GroupStreams);
}

TEST_CASE(
    "time tiles: random chains with temporaries in streams equal one function after another") {
  for (const Form form : {Form::Streams, Form::GroupStreams}) {
    CAPTURE(static_cast<int>(form));
    for (const unsigned seed : Seeds(1, 15)) checkProgram(seed, form, Fields::Temporary);
    for (const unsigned seed : Seeds(1, 15)) checkProgram(seed, form, Fields::Both);
  }
}

TEST_CASE("time tiles: random programs in streams whose states share places") {
  programsThatShift = 0;
  for (const unsigned seed : Seeds(1, 100)) checkProgram(3000 + seed, Form::InPlace);
  CHECK(programsThatShift > 50);
}

}  // namespace time_kernel_tests
