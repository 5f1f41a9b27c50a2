// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/memory_speed.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "hpl/layout/tuner.h"
#include "hpl/runtime/settings.h"
#include "stencil_support.h"
#include "tests/runtime/subprocess.h"

namespace memory_speed_tests {

using namespace hpl;
using namespace stencil_tests;
using stencils::memorySpeedOf;
using subprocess::TemporaryFolder;

TEST_CASE("memory speed: cores that share a slow memory are told from those that do not") {
  // A server of two cores: memory takes as long as the cache and half of that again.
  CHECK(memorySpeedOf({0.35e-9, 0.53e-9}, 16) == 1);
  // Eight cores of a laptop with vectors of eight floats.
  const double laptop = memorySpeedOf({0.45e-9, 2.4e-9}, 8);
  CHECK(laptop < 0.5);
  CHECK(laptop > 0.1);
  CHECK(memorySpeedOf({0.45e-9, 4.8e-9}, 8) == doctest::Approx(laptop / 2));
  // Whatever was measured there, the model goes on.
  CHECK(memorySpeedOf({1e-9, 1}, 8) == doctest::Approx(1.0 / 16));
  CHECK(memorySpeedOf({1, 1e-9}, 8) == doctest::Approx(16));
  CHECK(memorySpeedOf({0, 0}, 8) == 1);
  CHECK(memorySpeedOf({std::nan(""), 1}, 8) == 1);
  CHECK(memorySpeedOf({1, std::numeric_limits<double>::infinity()}, 8) ==
        doctest::Approx(1.0 / 16));
}

TEST_CASE("memory speed: any number of threads measures, and one that gets no memory ends it") {
  for (const unsigned threads : {1u, 2u, 5u}) {
    const tune::SweepTimes times = tune::probeSweeps(threads, std::size_t{8} << 20);
    CAPTURE(threads);
    CHECK(times.inCache > 0);
    CHECK(times.inMemory > 0);
    CHECK(std::isfinite(times.inMemory));
  }
  const tune::SweepTimes none = tune::probeSweeps(3, std::size_t{1} << 60);
  CHECK(none.inCache == 0);
  CHECK(none.inMemory == 0);
}

TEST_CASE("a long iteration is explained" * doctest::skip()) {
  Stencil stencil(
      [](Neighbourhood<float, 2> p) { return 0.25f * (p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1)); });
  Array<float, 2> a(1000, 2000), b(1000, 2000);
  a = 1.0f;
  b = 1.0f;
  stencil.persistent(false).iterate(600)(a, b);
}

TEST_CASE("memory speed: it is measured once, for an iteration that takes a while, and kept") {
  if (defaultDevice().type() != CPU) return;
  const TemporaryFolder folder;
  const auto explained = [&](const std::string& others) {
    const auto result = subprocess::run(
        "a long iteration is explained",
        "HPL_EXPLAIN=1 HPL_CACHE=auto HPL_CACHE_DIR=" + subprocess::quoted(folder.path().string()) +
            " " + others);
    CAPTURE(result.output);
    CHECK(result.exitCode == 0);
    return result.output;
  };
  struct Restored {
    runtime::Settings before = runtime::settings();
    Restored() = default;
    Restored(const Restored&) = delete;
    Restored& operator=(const Restored&) = delete;
    ~Restored() { runtime::overrideSettings(before); }
  } const restored;
  runtime::Settings changed = restored.before;
  changed.cache = runtime::DiskCache::Auto;
  changed.cacheDir = folder.path().string();
  changed.tune = runtime::TuneMode::Quick;
  const std::string key = stencils::memorySpeedKey(defaultDevice());
  const auto store = [&]() -> tune::Store& {
    runtime::overrideSettings(changed);
    return layout::findingsOf(defaultDevice().state());
  };
  explained("HPL_TUNE=off");
  CHECK(std::filesystem::is_empty(folder.path()));
  explained("HPL_TUNE=quick");
  const auto found = store().find(key);
  REQUIRE(found);
  CHECK(found->note.find("per cell in the cache") != std::string::npos);
  // The kept finding is used.
  tune::Finding slow = *found;
  slow.best = stencils::pointOfMemorySpeed(0.125);
  REQUIRE(store().keep(key, slow));
  const std::string line = "memory is 0.12 times as fast beside arithmetic as where the model of";
  CHECK(explained("HPL_TUNE=quick").find(line) != std::string::npos);
  CHECK(explained("HPL_TUNE=off").find(line) == std::string::npos);
}

}  // namespace memory_speed_tests
