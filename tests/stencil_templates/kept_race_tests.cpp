// SPDX-License-Identifier: Apache-2.0
// Whether iterations of one launch go on to pay, on a machine whose clock is known.
#include "stencil_templates/detail/kept_race.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "tests/seeds.h"

namespace kept_race_tests {

using namespace hpl::stencils;

namespace {

const KeptOrStreamed kWays{{4, {32, 64, 1}, TimeForm::Persistent},
                           {16, {64, 64, 1}, TimeForm::Boxes}};

/// A machine that takes so long for a step of either way, and stops a group of one launch now and
/// then.
class Machine final : public Stepper {
 public:
  double kept = 1e-6;
  double streamed = 4e-6;
  /// Seconds between two stops, and those that one takes; 0: there are none.
  double between = 0;
  double stop = 0;
  double now = 100;
  double inKept = 0, inStreamed = 0;
  std::int64_t steps = 0;

  void advance(const TimeTile& tile, std::int64_t count) override {
    const bool isKept = tile.form == TimeForm::Persistent;
    double seconds = static_cast<double>(count) * (isKept ? kept : streamed);
    if (isKept && between > 0) seconds += std::floor(seconds / between + credit(seconds)) * stop;
    if (isKept && steps == 0) seconds += 0.8;  // compiles
    (isKept ? inKept : inStreamed) += seconds;
    now += seconds;
    steps += count;
    ++launches_;
  }
  std::int64_t launches() const override { return launches_; }
  void wait() override {}

 private:
  /// Credit of stops: parts of one are not lost.
  double credit(double seconds) {
    const double all = rest_ + seconds / between;
    rest_ = all - std::floor(all);
    return all - seconds / between;
  }

  double rest_ = 0;
  std::int64_t launches_ = 0;
};

/// Iterations of `steps` steps for `seconds`.
void run(Machine& machine, KeptRace& race, std::int64_t steps, double seconds) {
  const double end = machine.now + seconds;
  while (machine.now < end) {
    const std::int64_t before = machine.steps;
    race.advance(machine, kWays, steps);
    REQUIRE(machine.steps == before + steps);
  }
}

KeptRace raceOn(Machine& machine) {
  return KeptRace(
      "stencil 'fake'", 1.3 * machine.kept, [&machine] { return machine.now; }, KeptRace::Rules{});
}

}  // namespace

TEST_CASE("kept race: where one launch is faster, launches get a small share of the time") {
  Machine machine;
  KeptRace race = raceOn(machine);
  run(machine, race, 20'000, 60);
  CHECK(machine.inStreamed > 0);
  CHECK(machine.inStreamed < 0.03 * (machine.inKept + machine.inStreamed));
}

TEST_CASE("kept race: short programs try nothing, and an iteration is one launch") {
  Machine machine;
  KeptRace race = raceOn(machine);
  run(machine, race, 40'000, 1.5);
  CHECK(machine.inStreamed == 0);
  CHECK(machine.launches() == machine.steps / 40'000);
}

TEST_CASE("kept race: a machine that stops groups gets launches, and one launch when it is idle") {
  Machine machine;
  machine.between = 2e-3;
  machine.stop = 8e-3;  // a step takes 5 us in the mean
  KeptRace race = raceOn(machine);
  run(machine, race, 20'000, 3);
  const double before = machine.inKept;
  run(machine, race, 20'000, 30);
  // But for trials.
  CHECK(machine.inKept - before < 3);
  machine.between = 0;
  run(machine, race, 20'000, 70);
  const double then = machine.inKept;
  run(machine, race, 20'000, 20);
  CHECK(machine.inKept - then > 19);
}

TEST_CASE("kept race: seldom stops that cost less than launches change nothing") {
  Machine machine;
  machine.between = 0.1;
  machine.stop = 20e-3;
  KeptRace race = raceOn(machine);
  run(machine, race, 50'000, 60);
  CHECK(machine.inStreamed < 0.05 * machine.inKept);
}

TEST_CASE("kept race: any iterations on any machine are done, step for step, at little more time") {
  for (const unsigned seed : Seeds(1, 100)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> any(0, 1);
    Machine machine;
    machine.kept = 1e-7 * std::exp(4 * any(random));
    machine.streamed = machine.kept * std::exp(4 * any(random) - 1);
    if (seed % 2 == 0) {
      machine.between = 1e-3 * std::exp(5 * any(random));
      machine.stop = 1e-3 * std::exp(3 * any(random));
    }
    const double slower =
        machine.kept * (machine.between > 0 ? 1 + machine.stop / machine.between : 1);
    // The model is half as right.
    const double kept = machine.kept;
    machine.kept *= 0.5 + any(random);
    KeptRace race = raceOn(machine);
    machine.kept = kept;
    const double begin = machine.now;
    while (machine.now < begin + 40)
      run(machine, race, 1 + static_cast<std::int64_t>(1e5 * any(random)), 0.01);
    const double best = std::min(slower, machine.streamed) * static_cast<double>(machine.steps);
    // The first seconds, and trials of what is slower.
    CHECK(machine.now - begin < 1.3 * best + 5);
  }
}

}  // namespace kept_race_tests
