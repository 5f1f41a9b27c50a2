// SPDX-License-Identifier: Apache-2.0
// What programs record in each step.
#include <doctest/doctest.h>

#include <functional>
#include <random>
#include <utility>

#include "hpl/runtime/settings.h"
#include "persistent_support.h"
#include "tests/printed.h"
#include "tests/seeds.h"

namespace record_tests {

using namespace hpl;
using namespace stencil_tests;

namespace {

/// Cells of a field, in the order of the places; of each dimension of three.
struct Places {
  Index3 from{0, 0, 0};
  Index3 to{0, 0, 0};
  /// Named by a range, not by a position.
  std::array<bool, 3> isKept{false, false, false};
};

/// A record: of a field, before the function of this number, or at the end.
struct RandomRecord {
  std::size_t before = 0;
  int field = 0;
  Places places;
  /// The expected values at the end, and the present ones.
  std::vector<int> expected;
  std::function<std::vector<int>()> samples;
};

bool isTemporary(const RandomProgram& program, int field) {
  return !program.lifetimes.empty() &&
         program.lifetimes[static_cast<std::size_t>(field)] == strategies::Lifetime::Temporary;
}

/// Temporaries have their cells from a function on that writes all of them.
bool hasCells(const RandomProgram& program, int field, std::size_t before) {
  if (!isTemporary(program, field)) return true;
  int cells = 0;
  for (std::size_t k = 0; k < before; ++k) {
    const RandomFunction& f = program.functions[k];
    if (std::find(f.writes.begin(), f.writes.end(), field) == f.writes.end()) continue;
    int own = 1;
    for (std::size_t d = 0; d < 3; ++d)
      own *= std::max(0, program.extents[d] - f.low[d] - f.high[d]);
    cells += own;
  }
  return cells == program.extents[0] * program.extents[1] * program.extents[2];
}

std::vector<RandomRecord> randomRecords(const RandomProgram& program, std::mt19937& random) {
  const auto between = [&](int lo, int hi) {
    return std::uniform_int_distribution<int>(lo, hi)(random);
  };
  std::vector<RandomRecord> records;
  for (int k = between(1, 3); k > 0; --k) {
    RandomRecord record;
    record.before =
        static_cast<std::size_t>(between(0, static_cast<int>(program.functions.size())));
    record.field = between(0, program.fields - 1);
    if (!hasCells(program, record.field, record.before)) continue;
    for (auto d = static_cast<std::size_t>(3 - program.dims); d < 3; ++d) {
      const int extent = program.extents[d];
      record.places.isKept[d] = between(0, 1) == 0;
      record.places.from[d] = between(0, extent - 1);
      record.places.to[d] = record.places.from[d];
      if (!record.places.isKept[d]) continue;
      record.places.to[d] = between(record.places.from[d], extent - 1);
      if (between(0, 3) == 0) record.places.from[d] = 0, record.places.to[d] = extent - 1;
    }
    records.push_back(std::move(record));
  }
  std::stable_sort(records.begin(), records.end(),
                   [](const auto& a, const auto& b) { return a.before < b.before; });
  return records;
}

/// A sample of the present cells.
void take(RandomRecord& record, const std::vector<Grid<int>>& fields) {
  Index3 c{};
  const Places& at = record.places;
  for (c[0] = at.from[0]; c[0] <= at.to[0]; ++c[0])
    for (c[1] = at.from[1]; c[1] <= at.to[1]; ++c[1])
      for (c[2] = at.from[2]; c[2] <= at.to[2]; ++c[2])
        record.expected.push_back(fields[static_cast<std::size_t>(record.field)].at(c));
}

template <int M>
Array<int, M> samplesOf(int steps, const std::vector<int>& extents) {
  if constexpr (M == 1) return Array<int, 1>(steps);
  if constexpr (M == 2) return Array<int, 2>(steps, extents[0]);
  if constexpr (M == 3) return Array<int, 3>(steps, extents[0], extents[1]);
  if constexpr (M == 4) return Array<int, 4>(steps, extents[0], extents[1], extents[2]);
}

/// Calls record() with a position or a range for each dimension.
template <int N, class From, class... P>
void addRecord(StencilProgram& run, const From& from, RandomRecord& record, int steps,
               const P&... places) {
  constexpr auto kDone = sizeof...(P);
  if constexpr (kDone == N) {
    constexpr int kKept = (0 + ... + (std::is_integral_v<P> ? 0 : 1));
    std::vector<int> extents;
    for (std::size_t d = 0; d < 3; ++d)
      if (record.places.isKept[d])
        extents.push_back(record.places.to[d] - record.places.from[d] + 1);
    Array<int, kKept + 1> samples = samplesOf<kKept + 1>(steps, extents);
    run.record(from, samples, places...);
    record.samples = [samples] { return cellsOf(samples); };
  } else {
    const std::size_t d = 3 - N + kDone;
    const int first = record.places.from[d], last = record.places.to[d];
    if (record.places.isKept[d]) {
      addRecord<N>(run, from, record, steps, places..., Range(first, last));
    } else {
      addRecord<N>(run, from, record, steps, places..., first);
    }
  }
}

/// How a program runs.
struct Way {
  int depth = 0;
  std::optional<bool> fuse = {};
  std::optional<Fusion> fusion = {};
  bool persistent = false;
  int devices = 1;
  Domain tile = {};
};

/// Runs a random program with records; false where it cannot run that way.
template <int N>
bool checkRecords(const RandomProgram& program, unsigned seed, int steps, const Way& way) {
  CAPTURE(describe(program));
  CAPTURE(seed);
  CAPTURE(steps);
  CAPTURE(way.depth);
  CAPTURE(way.persistent);
  CAPTURE(way.devices);
  std::mt19937 random(seed);
  std::vector<RandomRecord> records = randomRecords(program, random);
  std::vector<Grid<int>> expected;
  std::vector<Array<int, N>> arrays;
  std::vector<Temporary<int, N>> temporaries(static_cast<std::size_t>(program.fields));
  std::vector<stencils::ProgramArgument> fields;
  for (int f = 0; f < program.fields; ++f) {
    expected.push_back(someCells<int>(program.extents, seed + static_cast<unsigned>(f)));
    arrays.push_back(arrayOf<int, N>(expected.back()));
    fields.push_back(isTemporary(program, f)
                         ? stencils::programArgument(temporaries[static_cast<std::size_t>(f)])
                         : stencils::programArgument(arrays.back()));
  }
  StencilProgram run;
  for (std::size_t k = 0; k <= program.functions.size(); ++k) {
    for (RandomRecord& record : records) {
      if (record.before != k) continue;
      const auto f = static_cast<std::size_t>(record.field);
      if (isTemporary(program, record.field)) {
        addRecord<N>(run, temporaries[f], record, steps);
      } else {
        addRecord<N>(run, arrays[f], record, steps);
      }
    }
    if (k < program.functions.size()) addTo<N>(run, program, program.functions[k], fields);
  }
  for (int s = 0; s < steps; ++s)
    for (std::size_t k = 0; k <= program.functions.size(); ++k) {
      for (RandomRecord& record : records)
        if (record.before == k) take(record, expected);
      if (k < program.functions.size()) referenceFunction(program, program.functions[k], expected);
    }
  if (way.depth > 0) run.timeTile(way.depth, way.tile);
  if (way.fuse) run.fuse(*way.fuse);
  if (way.fusion) run.fuse(*way.fusion);
  if (way.persistent) run.persistent();
  if (way.devices > 1) run.devices(defaultDevice().type(), way.devices);
  StencilRun done;
  try {
    done = run.run(steps);
  } catch (const LaunchError&) {
    // Devices differ in what fits into their local memory.
    if (way.persistent || way.depth > 1 || way.fuse || way.fusion) return false;
    throw;
  }
  CHECK(done.steps == steps);
  for (const RandomRecord& record : records) {
    CAPTURE(record.before);
    CAPTURE(record.field);
    CHECK(record.samples() == record.expected);
  }
  for (std::size_t f = 0; f < arrays.size(); ++f)
    if (!isTemporary(program, static_cast<int>(f))) CHECK(cellsOf(arrays[f]) == expected[f].cells);
  return true;
}

bool checkRecordsOf(const RandomProgram& program, unsigned seed, int steps, const Way& way) {
  if (program.dims == 1) return checkRecords<1>(program, seed, steps, way);
  if (program.dims == 2) return checkRecords<2>(program, seed, steps, way);
  return checkRecords<3>(program, seed, steps, way);
}

bool leavesAllOut(const RandomProgram& program) {
  for (const RandomFunction& f : program.functions)
    for (std::size_t d = 0; d < 3; ++d)
      if (f.low[d] + f.high[d] >= program.extents[d]) return true;
  return false;
}

Stencil spread() {
  Stencil stencil([](Neighbourhood<int, 2> p) { return p(0, -1) + 2 * p(0, 1) - p(-1, 0); });
  stencil.boundary(Nearest());
  return stencil;
}

}  // namespace

TEST_CASE("records of random programs are the cells of each step, whatever runs them") {
  int tiled = 0, kept = 0;
  for (const unsigned seed : Seeds(1, 6)) {
    std::mt19937 random(seed);
    const RandomProgram program = oncePerField(randomProgram(random));
    const int steps = 1 + static_cast<int>(random() % 14);
    checkRecordsOf(program, seed, steps, {});
    checkRecordsOf(program, seed, steps, {.depth = 1, .fuse = seed % 2 == 0});
    tiled += checkRecordsOf(program, seed, steps, {.depth = 2 + static_cast<int>(random() % 5)});
    kept += checkRecordsOf(program, seed, steps, {.persistent = true});
  }
  CHECK(tiled >= 3);
  CHECK(kept >= (canSpin() ? 1 : 0));
}

TEST_CASE("records of chains and of their temporaries are the cells of each step") {
  int inRows = 0;
  for (const unsigned seed : Seeds(1, 4)) {
    std::mt19937 random(seed);
    RandomProgram program = randomChain(random, seed % 2 == 0);
    while (leavesAllOut(program)) program = randomChain(random, seed % 2 == 0);
    const int steps = 1 + static_cast<int>(random() % 5);
    for (const std::optional<bool> fuse : {std::optional<bool>(), std::optional(true)})
      checkRecordsOf(program, 100 + seed, steps, {.fuse = fuse});
    checkRecordsOf(program, 100 + seed, steps, {.depth = 3});
    inRows += checkRecordsOf(program, 100 + seed, steps, {.fusion = Fusion::Rows}) ? 1 : 0;
  }
  const bool hasRows =
      defaultDevice().type() == CPU && runtime::settings().strategy != runtime::Strategy::Tile;
  CHECK(inRows >= (hasRows ? 1 : 0));
}

TEST_CASE("records of tiles that groups of work-items compute are the cells of each step") {
  const AsGroups asGroups;
  // Small programs: PoCL takes long to compile groups with barriers in loops.
  CHECK(checkRecordsOf(starProgram(2, {1, 21, 40}), 3, 7, {.depth = 3}));
  int tiled = 0;
  for (unsigned seed = 21; tiled < 2; ++seed) {
    std::mt19937 random(seed);
    const RandomProgram program = oncePerField(randomProgram(random));
    if (program.dims == 1) tiled += checkRecordsOf(program, seed, 7, {.depth = 3}) ? 1 : 0;
  }
}

TEST_CASE("records of rows in a stream are those of one step after another") {
  // A wave of 16th order on two time levels.
  using Field = Neighbourhood<float, 2>;
  Stencil wave([](Field before, Field now, Field speed) {
    Float sum = -3.0f * now(0, 0);
    for (int r = 1; r <= 8; ++r)
      sum += 0.5f / static_cast<float>(r * r) * (now(-r, 0) + now(r, 0) + now(0, -r) + now(0, r));
    return 2 * now(0, 0) - before(0, 0) + speed(0, 0) * sum;
  });
  wave.boundary(Fixed(0.0f));
  constexpr int kSide = 1024, kPairs = 10;
  const auto after = [&](int depth) {
    Array<float, 2> a(kSide, kSide), b(kSide, kSide), speed(kSide, kSide);
    a = 0.0f;
    b = 0.0f;
    a(70, 100) = 100.0f;
    speed = 0.1f;
    Array<float, 2> row(kPairs, kSide), block(kPairs, 3), column(kPairs, kSide);
    StencilProgram program;
    program.record(b, block, 70, Range(99, 101));
    program.apply(wave)(a, b, speed, a);
    program.record(a, row, 77, Range(0, kSide - 1));
    program.apply(wave)(b, a, speed, b);
    program.record(b, column, Range(0, kSide - 1), 105);
    try {
      program.timeTile(depth).run(kPairs);
    } catch (const LaunchError&) {  // too little local memory
      program.timeTile(1).run(kPairs);
    }
    std::vector<float> all = cellsOf(a);
    for (const Array<float, 2>* own : {&row, &column, &block}) {
      const std::vector<float> cells = cellsOf(*own);
      all.insert(all.end(), cells.begin(), cells.end());
    }
    return all;
  };
  const std::vector<float> expected = after(1);
  runtime::Settings settings = runtime::settings();
  const runtime::Settings before = settings;
  settings.explain = true;
  runtime::overrideSettings(settings);
  std::vector<float> streamed;
  const std::string text = hpl_tests::printed([&] { streamed = after(5); });
  runtime::overrideSettings(before);
  CAPTURE(text);
  CHECK(streamed == expected);
  // The model's choice for the caches of most CPUs.
  if (defaultDevice().type() == CPU) WARN(text.find("stream: up to 5 steps") != std::string::npos);
}

TEST_CASE("records on several devices are the cells of each step") {
  if (deviceCount() < 2) return;
  int tiled = 0;
  for (const unsigned seed : Seeds(31, 40)) {
    std::mt19937 random(seed);
    const RandomProgram program = oncePerField(randomProgram(random));
    const int devices = 2 + static_cast<int>(random() % static_cast<unsigned>(deviceCount() - 1));
    checkRecordsOf(program, seed, 5, {.devices = devices});
    tiled += checkRecordsOf(program, seed, 9,
                            {.depth = 2 + static_cast<int>(random() % 4), .devices = devices});
  }
  CHECK(tiled >= 3);
}

TEST_CASE("samples may be views, and those that a run does not reach stay as they are") {
  Array<int, 2> a(12, 30), samples(20, 70);
  a = 1;
  a(5, 7) = 3;
  for (const int depth : {1, 3}) {
    CAPTURE(depth);
    Array<int, 2> x(12, 30), y(12, 30);
    x = a;
    y = 0;
    samples = -1;
    // After the first function of a step, and after the second one.
    Array<int, 2>& first = samples(Range(2, 11), Range(0, 29));
    Array<int, 2>& second = samples(Range(2, 11), Range(40, 69));
    StencilProgram program;
    program.apply(spread())(x, y);
    program.record(y, first, 4, Range(0, 29));
    program.apply(spread())(y, x);
    program.record(x, second, 4, Range(0, 29));
    program.timeTile(depth).run(4);
    program.run(2);  // begins with the first sample again
    std::vector<int> expected(20 * 70, -1);
    Array<int, 2> now(12, 30), next(12, 30);
    now = a;
    for (int step = 0; step < 6; ++step) {
      const int row = 2 + (step < 4 ? step : step - 4);
      for (const int column : {0, 40}) {
        spread()(now, next);
        swap(now, next);
        for (int i = 0; i < 30; ++i)
          expected[static_cast<std::size_t>(70 * row + column + i)] = now(4, i);
      }
    }
    CHECK(cellsOf(samples) == expected);
  }
}

TEST_CASE("questions between steps see the samples so far") {
  for (int devices = 1; devices <= deviceCount(); ++devices) {
    CAPTURE(devices);
    Array<int, 2> a(8, 9);
    a = 1;
    Array<int, 1> heard(10);
    heard = 0;
    StencilProgram program;
    program.apply(spread())(a, a);
    program.record(a, heard, 6, 4);
    std::vector<int> seen;
    program.every(2, [&](std::int64_t step) {
      seen.push_back(heard(step - 1));
      return false;
    });
    if (devices > 1) program.devices(defaultDevice().type(), devices);
    program.timeTile(2).run(6);
    // 1 + 2 - 1 times what was there.
    CHECK(seen == std::vector<int>{4, 16, 64});
  }
}

TEST_CASE("tuning a program leaves its samples alone") {
  Array<float, 2> a(200, 200);
  a = 1.0f;
  Array<float, 2> samples(16, 200);
  samples = 5.0f;
  StencilProgram program;
  program.apply([](Neighbourhood<float, 2> p) { return 0.5f * (p(0, 0) + p(1, 0)); })
      .over(Range(0, 198), Range(0, 199))(a, a);
  program.record(a, samples, 7, Range(0, 199));
  program.tuning({.seconds = 0.3}).tune(16);
  CHECK(cellsOf(samples) == std::vector<float>(16 * 200, 5.0f));
  program.run(16);
  CHECK(cellsOf(samples) == std::vector<float>(16 * 200, 1.0f));
}

TEST_CASE("records that cannot be are refused, and leave the program as it was") {
  Array<int, 2> a(8, 9), other(8, 10), samples(5, 9);
  a.label("a");
  a = 1;
  Array<int, 1> one(5);
  StencilProgram program;
  program.label("ground");
  program.apply(spread())(a, a);
  CHECK(messageOf<ArgumentError>([&] { program.record(a, samples, 8, Range(0, 8)); }) ==
        "stencil program 'ground', function 2 (record of array \"a\"): the positions 8..8 of "
        "dimension 1 do not lie in the grid, whose indices there are 0..7");
  expectMessage(messageOf<ArgumentError>([&] { program.record(a, samples, 2, Range(0, 8, 2)); }),
                {"the range of dimension 2 has a stride of 2"});
  expectMessage(messageOf<ShapeError>([&] { program.record(a, samples, 2, Range(1, 8)); }),
                {"the samples have the shape (5, 9)", "(5, 8)"});
  expectMessage(messageOf<ShapeError>([&] { program.record(other, samples, 2, Range(0, 8)); }),
                {"the array has the shape (8, 10), but the grid has (8, 9)"});
  expectMessage(messageOf<ArgumentError>(
                    [&] { program.record(a, a(Range(0, 4), Range(0, 8)), 2, Range(0, 8)); }),
                {"the samples are cells of", "an array of the program"});
  Temporary<int, 2> nobody;
  expectMessage(messageOf<ArgumentError>([&] { program.record(nobody, samples, 2, Range(0, 8)); }),
                {"which no function before it has written"});
  program.record(a, samples, 2, Range(0, 8));
  expectMessage(messageOf<ArgumentError>([&] { program.record(a, samples, 3, Range(0, 8)); }),
                {"to which those of function 2 (record of", "go; record into another array"});
  Array<int, 2> square(8, 9), cut(8, 9);
  square = 1;
  StencilProgram looped;
  looped.record(square, cut, 3, Range(0, 8));
  expectMessage(messageOf<ArgumentError>([&] { looped.apply(spread())(cut, square); }),
                {"has cells into which function 1 (record of", "pass another array"});
  expectMessage(messageOf<ArgumentError>([&] { program.run(6); }),
                {"run(6): function 2 (record of", "which has room for 5; give it 6"});
  CHECK(program.run(5).steps == 5);
}

}  // namespace record_tests
