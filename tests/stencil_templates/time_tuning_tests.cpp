// SPDX-License-Identifier: Apache-2.0
// Tuning of time tiles on the device: what it chooses may differ from run to run, what it computes
// and keeps may not.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <tuple>

#include "hpl/layout/tuner.h"
#include "hpl/runtime/settings.h"
#include "stencil_support.h"
#include "stencil_templates/detail/step_choice.h"
#include "tests/runtime/subprocess.h"

namespace time_tuning_tests {

using namespace hpl;
using namespace stencil_tests;
using subprocess::TemporaryFolder;

namespace {

constexpr int kRows = 150;
constexpr int kColumns = 200;

/// Other settings as long as it lives, with a folder of its own.
struct Setting {
  explicit Setting(const std::filesystem::path& folder,
                   runtime::TuneMode mode = runtime::TuneMode::Quick)
      : before(runtime::settings()) {
    runtime::Settings changed = before;
    changed.cache = runtime::DiskCache::Auto;
    changed.cacheDir = folder.string();
    changed.tune = mode;
    runtime::overrideSettings(changed);
  }
  ~Setting() { runtime::overrideSettings(before); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  runtime::Settings before;
};

struct Blur {
  Float operator()(Neighbourhood<float, 2> p, Float weight) const {
    return weight * (p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1)) + 0.5f * p(0, 0);
  }
};

Stencil blur() {
  Stencil stencil{Blur()};
  stencil.label("blur").boundary(Nearest());
  return stencil;
}

struct Plate {
  Array<float, 2> now = Array<float, 2>(kRows, kColumns), next = Array<float, 2>(kRows, kColumns);

  Plate() {
    for (int y = 0; y < kRows; ++y)
      for (int x = 0; x < kColumns; ++x) now(y, x) = static_cast<float>((7 * y + 13 * x) % 101);
    next = -5.0f;
  }
};

std::vector<float> cellsAfter(int steps, int timeTile) {
  Plate plate;
  Stencil stencil = blur();
  StencilLauncher launcher = stencil.fp(STRICT);
  if (timeTile > 0) launcher.timeTile(timeTile);
  launcher.iterate(steps)(plate.now, plate.next, 0.125f);
  return cellsOf(plate.now);
}

/// The key of findings for iterations of `steps` steps of such a stencil.
template <class F = Blur>
std::string keyOfBlur(std::int64_t steps, FpMode fp = STRICT, const Boundary& boundary = Nearest(),
                      F function = {}) {
  Plate plate;
  stencils::StencilState state(stencils::makePointFunction(function));
  state.setLabel("blur");
  state.setBoundary(0, {}, boundary);
  const float weight = 0.125f;
  std::vector<stencils::StencilArgument> arguments{stencils::stencilArgument(plate.now),
                                                   stencils::stencilArgument(plate.next),
                                                   stencils::stencilArgument(weight)};
  launch::LaunchOptions options;
  options.fp = fp;
  options.fpChosen = true;
  const auto kernel = state.kernelFor(options, arguments.data(), arguments.size(), true);
  stencils::StepData data;
  data.extents = arguments.front().argument.view->extents;
  data.fields.emplace_back().array.argument = arguments.front();
  return stencils::findingKey(*state.iterationWith(*kernel), data, options, {}, steps);
}

/// Tries tiles at once, at any cost, as long as it lives.
struct Eagerness {
  Eagerness() {
    layout::onlineOptions() = {
        .start = 1e-9, .share = 1e9, .making = 0, .candidates = 3, .measurement = 1e-6};
  }
  ~Eagerness() { layout::onlineOptions() = usual; }
  Eagerness(const Eagerness&) = delete;
  Eagerness& operator=(const Eagerness&) = delete;
  layout::OnlineOptions usual = layout::onlineOptions();
};

/// Keeps a choice for iterations of 100 steps.
void keep(const tune::Point& best) {
  tune::Finding finding;
  finding.best = best;
  finding.ratio = 0.5;
  finding.seconds = 1e-3;
  finding.complete = true;
  REQUIRE(layout::findingsOf(defaultDevice().state()).keep(keyOfBlur(100), finding));
}

std::string textOf(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

subprocess::Result explained(const std::filesystem::path& folder, const std::string& others = "") {
  return subprocess::run("the iterated blur is explained",
                         "HPL_EXPLAIN=1 HPL_CACHE=auto HPL_CACHE_DIR=" +
                             subprocess::quoted(folder.string()) + " " + others);
}

}  // namespace

TEST_CASE("the iterated blur is explained" * doctest::skip()) {
  CHECK(cellsAfter(100, 0) == cellsAfter(100, 1));
}

TEST_CASE("time tiles: tune() keeps what it chooses and leaves the arrays alone") {
  const TemporaryFolder folder;
  const Setting setting(folder.path());
  Plate plate;
  const std::vector<float> before = cellsOf(plate.now);
  Stencil stencil = blur();
  const StencilLauncher launcher = stencil.fp(STRICT);
  const TuneResult result =
      launcher.iterate(100).tuning({.seconds = 1.5}).tune(plate.now, plate.next, 0.125f);
  CHECK(cellsOf(plate.now) == before);
  CHECK(cellsOf(plate.next) == std::vector<float>(before.size(), -5.0f));
  CHECK(result.variants > 5);
  CHECK(result.measured >= 1);
  CHECK(result.seconds > 0);
  CHECK(result.speedup() >= 1);
  CHECK_FALSE(result.choice.empty());
  CHECK(result.changed == (result.choice != result.defaultChoice));
  REQUIRE(std::filesystem::path(result.file).parent_path() == folder.path());
  CHECK(textOf(result.file).find("stencil 'blur': ") != std::string::npos);
  CHECK(textOf(result.file).find(" 150x200 many steps strict ") != std::string::npos);

  launcher.iterate(100)(plate.now, plate.next, 0.125f);
  CHECK(cellsOf(plate.now) == cellsAfter(100, 1));
}

TEST_CASE("the tuning of the blur is explained" * doctest::skip()) {
  Plate plate;
  Stencil stencil = blur();
  const StencilLauncher launcher = stencil.fp(STRICT);
  launcher.iterate(100).tuning({.seconds = 1}).tune(plate.now, plate.next, 0.125f);
}

TEST_CASE("time tiles: tuning explains itself in one line, not in one for each tile") {
  const TemporaryFolder folder;
  // On a slow machine the report of a long compilation names a tile, too.
  const auto tuned = subprocess::run("the tuning of the blur is explained",
                                     "HPL_EXPLAIN=1 HPL_LOG=error HPL_CACHE=auto HPL_CACHE_DIR=" +
                                         subprocess::quoted(folder.path().string()));
  CAPTURE(tuned.output);
  CHECK(tuned.exitCode == 0);
  const auto lines = [&](const std::string& text) {
    int found = 0;
    for (std::size_t at = 0; (at = tuned.output.find(text, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  CHECK(lines("hpl: stencil 'blur' on ") == 1);
  CHECK(lines(": tuned in ") == 1);
  CHECK(lines(" variants; ") == 1);
  CHECK(lines("the default") == 1);
  CHECK(lines("of local memory") == 0);
}

TEST_CASE("time tiles: a tuned choice is taken by the next process, unless HPL_TUNE=off") {
  const TemporaryFolder folder;
  {
    const Setting setting(folder.path());
    keep({{"steps", 3}, {"form", 1}, {"slow", 16}, {"middle", 64}, {"fast", 1}});
  }
  const auto tuned = explained(folder.path());
  CAPTURE(tuned.output);
  CHECK(tuned.exitCode == 0);
  CHECK(tuned.output.find("stencil 'blur': steps are joined: 3 steps per pass in tiles of 16 x 64; "
                          "tuned: 2.00 times as fast as the default, 1 ms against 2 ms per step") !=
        std::string::npos);
  const auto off = explained(folder.path(), "HPL_TUNE=off");
  CAPTURE(off.output);
  CHECK(off.exitCode == 0);
  CHECK(off.output.find("stencil 'blur': steps are ") != std::string::npos);
  CHECK(off.output.find("; tuned:") == std::string::npos);
}

TEST_CASE("time tiles: a choice that does not fit is ignored, and that is said") {
  const TemporaryFolder folder;
  {
    const Setting setting(folder.path());
    keep({{"steps", 0}, {"form", 7}, {"slow", -16}});
  }
  const auto wrong = explained(folder.path());
  CAPTURE(wrong.output);
  CHECK(wrong.exitCode == 0);
  CHECK(wrong.output.find("; what tuning has found is ignored: a pass cannot have 0 steps") !=
        std::string::npos);
  // A file that is damaged as a whole is reported as for kernels.
  const Setting setting(folder.path());
  const std::filesystem::path file = layout::findingsOf(defaultDevice().state()).file();
  std::ofstream(file) << "{\"format\": 1, \"findings\": {";
  const auto damaged = explained(folder.path());
  CAPTURE(damaged.output);
  CHECK(damaged.exitCode == 0);
  CHECK(damaged.output.find("is damaged") != std::string::npos);
}

TEST_CASE("time tiles: steps are launched one by one where that was the fastest") {
  const TemporaryFolder folder;
  const Setting setting(folder.path());
  keep({{"steps", 1}});
  const std::vector<float> expected = cellsAfter(100, 1);
  CHECK(cellsAfter(100, 0) == expected);
  const auto explanation = explained(folder.path());
  CAPTURE(explanation.output);
  CHECK(explanation.output.find("steps are launched one by one: one step after another; tuned: "
                                "2.00 times as fast") != std::string::npos);
}

TEST_CASE("time tiles: findings are for a function, its boundaries, sizes, steps and rounding") {
  const std::string key = keyOfBlur(100);
  CHECK(key == keyOfBlur(100));
  CHECK(key == keyOfBlur(64));
  CHECK(key != keyOfBlur(63));
  CHECK(key != keyOfBlur(100, FAST));
  CHECK(key != keyOfBlur(100, STRICT, Mirror()));
  const auto other = [](Neighbourhood<float, 2> p, Float weight) {
    return weight * (p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1)) + 0.25f * p(0, 0);
  };
  CHECK(key != keyOfBlur(100, STRICT, Nearest(), other));
}

TEST_CASE("time tiles: programs are tuned, too") {
  const TemporaryFolder folder;
  const Setting setting(folder.path());
  const auto run = [&](bool tuned) {
    Plate first, second;
    second.next = 1.0f;
    StencilProgram program;
    program.label("pair").fp(STRICT);
    program.apply(blur())(first.now, second.next, 0.125f);
    program.apply(blur())(second.next, first.now, 0.25f);
    const std::vector<float> before = cellsOf(first.now);
    if (tuned) {
      const TuneResult result = program.tuning({.seconds = 1}).tune(2);
      CHECK(result.variants > 1);
      CHECK(cellsOf(first.now) == before);
      CHECK(cellsOf(second.next) == std::vector<float>(before.size(), 1.0f));
      CHECK(textOf(result.file).find("stencil program 'pair': ") != std::string::npos);
      CHECK(textOf(result.file).find(" 150x200 2 steps strict ") != std::string::npos);
    } else {
      program.timeTile(1);
    }
    program.run(2);
    return cellsOf(first.now);
  };
  CHECK(run(true) == run(false));
}

TEST_CASE("time tiles: HPL_TUNE=full tunes before the first iteration, and once") {
  const TemporaryFolder folder;
  const Setting setting(folder.path(), runtime::TuneMode::Full);
  Stencil stencil([](Neighbourhood<int, 1> p) { return p(-1) + p(1); });
  stencil.label("sums").boundary(Periodic());
  const auto cells = someCells<int>({1, 1, 3000}, 1);
  Array<int, 1> a = arrayOf<int, 1>(cells), b(3000), c = arrayOf<int, 1>(cells), d(3000);
  stencil.iterate(2)(a, b);
  const std::filesystem::path file = layout::findingsOf(defaultDevice().state()).file();
  const std::string kept = textOf(file);
  CHECK(kept.find("stencil 'sums': ") != std::string::npos);
  stencil.timeTile(1).iterate(2)(c, d);
  stencil.iterate(2)(c, d);
  stencil.timeTile(1).iterate(2)(a, b);
  CHECK(cellsOf(a) == cellsOf(c));
  Stencil again = stencil;
  again.boundary(Periodic());  // forgets what was chosen
  again.iterate(2)(a, b);
  CHECK(subprocess::occurrences(textOf(file), "stencil 'sums': ") == 1);
}

TEST_CASE("time tiles: iterations try others while they run, and the cells are the same") {
  const TemporaryFolder folder;
  const Setting setting(folder.path());
  const Eagerness eagerness;
  tune::Store& store = layout::findingsOf(defaultDevice().state());
  const std::string key = keyOfBlur(100);
  Plate tried, plain;
  Stencil stencil = blur();
  int runs = 0;
  for (bool isComplete = false; !isComplete && runs < 400; ++runs) {
    stencil.fp(STRICT).persistent(false).iterate(100 + runs)(tried.now, tried.next, 0.125f);
    const auto found = store.find(key);
    isComplete = found && found->complete;
  }
  CHECK(runs < 400);
  for (int run = 0; run < runs; ++run)
    stencil.fp(STRICT).timeTile(1).iterate(100 + run)(plain.now, plain.next, 0.125f);
  CHECK(cellsOf(tried.now) == cellsOf(plain.now));
  const auto found = store.find(key);
  REQUIRE(found);
  CHECK_FALSE(found->lost.empty());
  CHECK(found->note.find("tried while iterations ran") == 0);
}

TEST_CASE("time tiles: looks at the residual come at the same steps while others are tried") {
  const TemporaryFolder folder;
  const Setting setting(folder.path());
  Stencil stencil = blur();
  const auto run = [&](bool isTried) {
    Plate plate;
    StencilLauncher launcher = stencil.fp(STRICT).persistent(false);
    if (!isTried) launcher.timeTile(1);
    const StencilRun done = launcher.until(0.05, 150).iterate(4000)(plate.now, plate.next, 0.125f);
    return std::tuple(done.steps, done.residual, done.converged, cellsOf(plate.now));
  };
  const auto expected = run(false);
  CHECK(std::get<0>(expected) >= 300);
  CHECK(std::get<2>(expected));
  const Eagerness eagerness;
  for (int n = 0; n < 12; ++n) CHECK(run(true) == expected);
  CHECK(layout::findingsOf(defaultDevice().state()).find(keyOfBlur(149)));
}

TEST_CASE("time tiles: programs try others while they run, too") {
  const TemporaryFolder folder;
  const Setting setting(folder.path());
  const std::filesystem::path file = layout::findingsOf(defaultDevice().state()).file();
  int runs = 0;
  const auto run = [&](bool isTried) {
    Plate first, second;
    second.next = 1.0f;
    StencilProgram program;
    program.label("pair").fp(STRICT).persistent(false);
    program.apply(blur())(first.now, second.next, 0.125f);
    program.apply(blur())(second.next, first.now, 0.25f);
    if (!isTried) program.timeTile(1);
    int done = 0;
    for (; isTried ? done < 400 && !std::filesystem::exists(file) : done < runs; ++done)
      program.run(100 + done % 2);
    runs = done;
    return std::pair(cellsOf(first.now), cellsOf(second.next));
  };
  const auto tried = [&] {
    const Eagerness eagerness;
    return run(true);
  }();
  CHECK(runs < 400);
  CHECK(tried == run(false));
  const std::string kept = textOf(file);
  CHECK(kept.find("stencil program 'pair': ") != std::string::npos);
  CHECK(kept.find("tried while iterations ran") != std::string::npos);
}

TEST_CASE("time tiles: tune() says what it cannot do, and where there is no choice") {
  const TemporaryFolder folder;
  Plate plate;
  Stencil stencil = blur();
  const auto tune = [&](const StencilLauncher& launcher, std::int64_t steps,
                        const TuneOptions& options = {}) {
    return launcher.iterate(steps).tuning(options).tune(plate.now, plate.next, 0.125f);
  };
  {
    const Setting setting(folder.path());
    CHECK(tune(stencil.timeTile(3), 100).choice == "timeTile(...) has made the choice");
    CHECK(tune(stencil.local(Domain(8, 8)), 100).choice == "the launch chose its local domain");
    CHECK(tune(stencil.fp(STRICT), 1).variants == 1);
    CHECK(messageOf<LaunchError>([&] { tune(stencil.fp(STRICT), 100, {.seconds = -1}); }) ==
          "iterate(...).tune(...): TuneOptions::seconds is -1; give it some time, 60 by default");
    CHECK(messageOf<ArgumentError>([&] { tune(stencil.fp(STRICT), -2); }) ==
          "stencil 'blur': iterate(-2): the number of steps is negative");
    StencilProgram program;
    CHECK(messageOf<ArgumentError>([&] { program.tune(5); }) ==
          "stencil program: tune(5): there is nothing to do; add functions with "
          "apply(...)(arrays...)");
    CHECK(messageOf<LaunchError>([&] {
            program.apply(blur())(plate.now, plate.next, 0.125f);
            program.tuning({.seconds = 0}).tune(5);
          }) ==
          "StencilProgram::tune(5): TuneOptions::seconds is 0; give it some time, 60 by default");
  }
  const Setting setting(folder.path(), runtime::TuneMode::Off);
  const TuneResult off = tune(stencil.fp(STRICT), 100);
  CHECK(off.variants == 0);
  CHECK(off.choice == "HPL_TUNE=off");
  CHECK(std::filesystem::is_empty(folder.path()));
}

namespace {

/// As many rows for each device as a plate has.
struct LongPlate {
  Array<float, 2> now = Array<float, 2>(kRows * deviceCount(), kColumns);
  Array<float, 2> next = Array<float, 2>(kRows * deviceCount(), kColumns);

  LongPlate() {
    for (int y = 0; y < kRows * deviceCount(); ++y)
      for (int x = 0; x < kColumns; ++x) now(y, x) = static_cast<float>((7 * y + 13 * x) % 101);
  }
};

}  // namespace

TEST_CASE("stencils: tune() is for one device, and iterations on several use what parts were") {
  const TemporaryFolder folder;
  const Setting setting(folder.path());
  if (deviceCount() < 2) return;
  Plate plate;
  Stencil stencil = blur();
  CHECK(messageOf<LaunchError>(
            [&] { stencil.devices().iterate(10).tune(plate.now, plate.next, 0.125f); }) ==
        "stencil 'blur': iterate(10).tune(...) tunes for one device; leave out .devices(...), and "
        "call it for each kind of device with .device(...) and arrays of the parts' sizes");
  LongPlate tuned, plain;
  keep({{"steps", 4}, {"form", 1}, {"slow", 32}, {"middle", 64}, {"fast", 1}});
  stencil.devices().fp(STRICT).iterate(100)(tuned.now, tuned.next, 0.125f);
  stencil.timeTile(1).fp(STRICT).iterate(100)(plain.now, plain.next, 0.125f);
  CHECK(cellsOf(tuned.now) == cellsOf(plain.now));
}

TEST_CASE("stencils: iterations on several devices try other tiles while they run") {
  const TemporaryFolder folder;
  const Setting setting(folder.path());
  const Eagerness eagerness;
  // On devices that differ nothing is tried.
  if (!stencils::areAlike(devices(defaultDevice().type()))) return;
  tune::Store& store = layout::findingsOf(defaultDevice().state());
  for (const Boundary& boundary : {Boundary(Nearest()), Boundary(Periodic())}) {
    LongPlate tried, plain;
    Stencil stencil = blur();
    stencil.boundary(boundary);
    const std::string key = keyOfBlur(100, STRICT, boundary);
    int runs = 0;
    for (bool isComplete = false; !isComplete && runs < 100; ++runs) {
      stencil.devices().fp(STRICT).persistent(false).iterate(100 + runs)(tried.now, tried.next,
                                                                         0.125f);
      const auto found = store.find(key);
      isComplete = found && found->complete;
    }
    CHECK(runs < 100);
    REQUIRE(store.find(key));
    CHECK_FALSE(store.find(key)->lost.empty());
    for (int run = 0; run < runs; ++run)
      stencil.fp(STRICT).timeTile(1).iterate(100 + run)(plain.now, plain.next, 0.125f);
    CHECK(cellsOf(tried.now) == cellsOf(plain.now));
  }
}

TEST_CASE("stencils: iterations whose devices take unequal parts try nothing") {
  const TemporaryFolder folder;
  const Setting setting(folder.path());
  const Eagerness eagerness;
  if (deviceCount() < 2) return;
  std::vector<double> weights(static_cast<std::size_t>(deviceCount()), 1.0);
  weights.front() = 2;
  LongPlate tried;
  Stencil stencil = blur();
  for (int run = 0; run < 4; ++run)
    stencil.devices().weights(weights).fp(STRICT).persistent(false).iterate(100)(
        tried.now, tried.next, 0.125f);
  CHECK_FALSE(layout::findingsOf(defaultDevice().state()).find(keyOfBlur(100)));
}

}  // namespace time_tuning_tests
