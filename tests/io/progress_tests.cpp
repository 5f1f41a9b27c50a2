// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/progress.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>

#include "stencil_templates/stencil_templates.h"
#include "tests/io/temporary_folder.h"

namespace progress_tests {

using namespace hpl::io;
using namespace io_tests;
using hpl::io::detail::progressLine;

namespace {

/// The text that `use` writes to a stream that is no terminal.
template <class Use>
std::string written(Use use) {
  const TemporaryFolder folder;
  const std::string file = folder.file("progress.txt");
  {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "w"),
                                                                 &std::fclose);
    use(stream.get());
  }
  return contentOf(file);
}

}  // namespace

TEST_CASE("a line of progress shows bar, share, rate and the time that is left") {
  CHECK(progressLine(500, 1000, 0.5, "generations", 72) ==
        "[############............]  50% 500/1000  1.00 k generations/s  ETA 0:01");
  CHECK(progressLine(0, 1000, 0, "steps", 40) == "[.............]   0% 0/1000  0.0 steps/s");
  CHECK(progressLine(30, 3030, 100, "steps", 0) == "  0% 30/3030  0.3 steps/s  ETA 2:46:40");
  CHECK(progressLine(3000000, 3000000, 2, "steps", 0) ==
        "100% 3000000/3000000  1.50 M steps/s  in 0:02");
  CHECK(progressLine(0, 0, 1, "steps", 0) == "100% 0/0  0.0 steps/s  in 0:01");
}

TEST_CASE("a line of progress fits the terminal") {
  for (int columns = 60; columns < 200; ++columns) {
    CHECK(progressLine(7, 9, 3, "generations", columns).size() <=
          static_cast<std::size_t>(columns));
  }
}

TEST_CASE("a stream that is no terminal gets one plain line at the end") {
  const std::string text = written([](std::FILE* stream) {
    Progress progress(1000, "generations", Progress::Mode::Auto, stream);
    for (int i = 0; i <= 1000; ++i) progress.update(i);
    progress.finish();
    progress.finish();
  });
  CHECK(text.find('\r') == std::string::npos);
  CHECK(text.starts_with("100% 1000/1000  "));
  CHECK(text.find('\n') == text.size() - 1);
}

TEST_CASE("a bar is drawn at most ten times a second") {
  int drawn = 0;
  double seconds = 0;
  const std::string text = written([&](std::FILE* stream) {
    const auto start = std::chrono::steady_clock::now();
    Progress progress(1 << 30, "steps", Progress::Mode::Bar, stream);
    while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(350)) {
      progress.update(++drawn);
    }
    progress.finish();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  const auto lines = std::count(text.begin(), text.end(), '\r');
  CHECK(lines >= 2);
  CHECK(static_cast<double>(lines) <= 1 + seconds / 0.1);
}

TEST_CASE("no progress is shown where none is wanted") {
  CHECK(written([](std::FILE* stream) {
          Progress progress(10, "steps", Progress::Mode::Off, stream);
          progress.update(10);
        }) == "");
}

TEST_CASE("batches grow while they are short and at most double") {
  Progress progress(1 << 30, "steps", Progress::Mode::Off);
  std::int64_t done = 0;
  CHECK(progress.batch() == 1);
  for (int i = 0; i < 30; ++i) {
    const std::int64_t batch = progress.batch();
    progress.update(done += batch);
    CHECK(progress.batch() >= 1);
    CHECK(progress.batch() <= 2 * batch);
  }
  CHECK(progress.batch() > 1000);
}

TEST_CASE("progress answers the question of a program with many steps, which goes on") {
  hpl::Array<float, 1> now(64), next(64);
  now = 1.0f;
  const std::string text = written([&](std::FILE* stream) {
    Progress progress(100, "steps", Progress::Mode::Bar, stream);
    hpl::StencilProgram halve;
    halve.apply([](hpl::Neighbourhood<float, 1> t) { return 0.5f * t(0); })(now, now);
    halve.every(10, std::ref(progress)).run(100);
    progress.finish();
  });
  CHECK(text.find("100% 100/100") != std::string::npos);
  CHECK(now(5) == std::ldexp(1.0f, -100));
}

}  // namespace progress_tests
