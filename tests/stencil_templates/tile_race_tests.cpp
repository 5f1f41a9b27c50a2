// SPDX-License-Identifier: Apache-2.0
// Time tiles that are tried while iterations run, on a machine whose clock is known.
#include "stencil_templates/detail/tile_race.h"

#include <doctest/doctest.h>

#include <map>
#include <thread>

#include "hpl/error.h"
#include "hpl/layout/tuner.h"
#include "stencil_support.h"
#include "stencil_templates/detail/tile_space.h"

namespace tile_race_tests {

using namespace hpl;
using namespace stencil_tests;
using stencils::TimeForm;
using stencils::TimeTile;

namespace {

TimeTile tileOfDepth(int depth) { return {depth, {16, 64, 1}, TimeForm::Boxes}; }

/// Does steps in no time but that of its clock.
class FakeStepper final : public stencils::Stepper {
 public:
  /// Seconds per step, and those that the first launch takes longer, by the depth of the tile.
  std::map<int, double> perStep, making;
  /// Cannot be made, or fails after its first launch.
  int broken = 0;
  int failsLater = 0;
  double now = 0;
  std::map<int, std::int64_t> steps;

  void advance(const TimeTile& tile, std::int64_t count) override {
    if (tile.depth == broken) throw BuildError("no such tile", "fake", "", "");
    const std::int64_t known = steps[tile.depth];
    if (known == 0) now += making[tile.depth];
    ++launches_;
    if (tile.depth == failsLater) throw DeviceError("the device is gone");
    steps[tile.depth] = known + count;
    now += perStep.at(tile.depth) * static_cast<double>(count);
  }
  std::int64_t launches() const override { return launches_; }
  void wait() override {}

  std::int64_t allSteps() const {
    std::int64_t sum = 0;
    for (const auto& [depth, count] : steps) sum += count;
    return sum;
  }

 private:
  std::int64_t launches_ = 0;
};

/// A race of tiles of 8 steps with others, and what is kept of it.
struct Course {
  FakeStepper work;
  tune::Store store{{}, {}};
  std::shared_ptr<stencils::TileRace> race;

  explicit Course(const std::vector<int>& challengers,
                  const std::optional<tune::Finding>& known = {}) {
    stencils::TileRaceSubject subject;
    subject.name = "stencil 'fake'";
    subject.points = [challengers] {
      std::vector<tune::Point> points{tune::Point()};
      for (const int depth : challengers)
        points.push_back(stencils::pointOf(depth == 1 ? TimeTile() : tileOfDepth(depth)));
      return points;
    };
    subject.known = known;
    subject.store = &store;
    subject.key = "fake";
    subject.usual =
        known && !(known->best == tune::Point()) ? stencils::tileOf(known->best) : tileOfDepth(8);
    subject.describe = [](const TimeTile& tile) { return std::to_string(tile.depth) + " steps"; };
    subject.clock = [this] { return work.now; };
    race = std::make_shared<stencils::TileRace>(std::move(subject));
  }
  /// Iterations of `steps` steps, until everything was tried.
  int iterationsUntilComplete(std::int64_t steps, int most = 100000) {
    for (int n = 1; n <= most; ++n) {
      race->advance(work, steps);
      if (const auto found = store.find("fake"); found && found->complete) return n;
    }
    return most + 1;
  }
};

}  // namespace

TEST_CASE("tile race: the fastest tile is found while exactly the steps asked for are done") {
  Course course({1, 4, 16});
  course.work.perStep = {{1, 5e-3}, {4, 2e-3}, {8, 1e-3}, {16, 0.7e-3}};
  course.work.making = {{1, 0.1}, {4, 0.3}, {8, 0.3}, {16, 0.3}};
  const int iterations = course.iterationsUntilComplete(1000);
  REQUIRE(iterations < 1000);
  CHECK(course.work.allSteps() == 1000 * iterations);
  const auto found = course.store.find("fake");
  CHECK(found->best == stencils::pointOf(tileOfDepth(16)));
  CHECK(found->ratio == doctest::Approx(0.7));
  CHECK(found->seconds == doctest::Approx(0.7e-3));
  // From now on it is used, and nothing else.
  const auto before = course.work.steps;
  course.race->advance(course.work, 12345);
  auto expected = before;
  expected[16] += 12345;
  CHECK(course.work.steps == expected);
}

TEST_CASE("tile race: what trying loses is a small share of the time") {
  Course course({1, 2, 4, 16});
  course.work.perStep = {{1, 9e-3}, {2, 4e-3}, {4, 1.5e-3}, {8, 1e-3}, {16, 1.02e-3}};
  course.work.making = {{1, 0.1}, {2, 0.3}, {4, 0.3}, {16, 0.5}};
  const double share = layout::onlineOptions().share;
  std::int64_t steps = 0;
  double worst = 0;
  for (int n = 0; n < 3000; ++n) {
    const std::int64_t some = 70 + n % 400;
    course.race->advance(course.work, some);
    steps += some;
    const double least = 1e-3 * static_cast<double>(steps);
    worst = std::max(worst, course.work.now / least - 1);
  }
  CHECK(course.work.allSteps() == steps);
  CHECK(course.store.find("fake")->best == tune::Point());
  CHECK(course.store.find("fake")->complete);
  // The first candidates may take longer than was thought: to make, and in each step.
  CHECK(worst < 2 * share);
}

TEST_CASE("tile race: a short run tries nothing") {
  Course course({1, 4});
  course.work.perStep = {{8, 1e-3}};
  for (int n = 0; n < 9; ++n) course.race->advance(course.work, 100);
  CHECK(course.work.steps == std::map<int, std::int64_t>{{8, 900}});
  CHECK_FALSE(course.store.find("fake"));
}

TEST_CASE("tile race: iterations that are too short for two passes of a tile do not try it") {
  Course course({48, 4});
  course.work.perStep = {{4, 1e-3}, {8, 1e-3}, {48, 0.1e-3}};
  for (int n = 0; n < 1000; ++n) course.race->advance(course.work, 95);
  CHECK(course.work.steps.count(48) == 0);
  course.race->advance(course.work, 960);
  CHECK(course.work.steps[48] > 0);
}

TEST_CASE("tile race: a tile that cannot be made is out, and no step is lost") {
  Course course({16, 4});
  course.work.perStep = {{4, 0.5e-3}, {8, 1e-3}};
  course.work.broken = 16;
  const int iterations = course.iterationsUntilComplete(500);
  CHECK(course.work.allSteps() == 500 * iterations);
  const auto found = course.store.find("fake");
  CHECK(found->best == stencils::pointOf(tileOfDepth(4)));
  CHECK(found->lost == std::vector<tune::Point>{stencils::pointOf(tileOfDepth(16))});
}

TEST_CASE("tile race: steps that were begun and fail are the program's own trouble") {
  Course course({16});
  course.work.perStep = {{8, 1e-3}, {16, 1e-3}};
  course.work.failsLater = 16;
  CHECK(messageOf<DeviceError>([&] { course.iterationsUntilComplete(1000, 100); }) ==
        "the device is gone");
}

TEST_CASE("tile race: a later race goes on where an earlier one stopped") {
  std::optional<tune::Finding> known;
  {
    Course course({4, 16, 24});
    course.work.perStep = {{4, 0.5e-3}, {8, 1e-3}, {16, 1e-3}, {24, 1e-3}};
    while (!known) {
      course.race->advance(course.work, 100);
      known = course.store.find("fake");
    }
    CHECK(known->best == stencils::pointOf(tileOfDepth(4)));
    CHECK_FALSE(known->complete);
  }
  Course course({4, 16, 24}, known);
  course.work.perStep = {{4, 0.5e-3}, {16, 1e-3}, {24, 0.25e-3}};
  course.iterationsUntilComplete(1000);
  CHECK(course.store.find("fake")->best == stencils::pointOf(tileOfDepth(24)));
  CHECK(course.store.find("fake")->ratio == doctest::Approx(0.25));
}

TEST_CASE(
    "tile race: of threads that iterate the same thing one takes part, the others do their steps") {
  // As if another thread began whenever this one launches something.
  struct Interrupted final : stencils::Stepper {
    stencils::TileRace* race = nullptr;
    FakeStepper own, other;
    void advance(const TimeTile& tile, std::int64_t count) override {
      std::thread([&] { race->advance(other, 7); }).join();
      own.advance(tile, count);
    }
    std::int64_t launches() const override { return own.launches(); }
    void wait() override {}
  } work;
  Course course({4});
  work.race = course.race.get();
  work.own.perStep = work.other.perStep = {{4, 0.5e-3}, {8, 1e-3}};
  course.race->advance(work, 100);
  CHECK(work.own.steps == std::map<int, std::int64_t>{{8, 100}});
  CHECK(work.other.steps == std::map<int, std::int64_t>{{8, 7 * work.own.launches()}});
}

}  // namespace tile_race_tests
