// SPDX-License-Identifier: Apache-2.0
// LIFE against bgolly (https://golly.sourceforge.io), cell by cell.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "samples/common/plan_choice.h"
#include "samples/common/rle.h"
#include "samples/life/evolve.h"
#include "samples/life/options.h"

using namespace samples;

namespace {

namespace fs = std::filesystem;

/// A folder of this test's own, removed at the end.
class Scratch {
 public:
  Scratch() : path_(fs::temp_directory_path() / ("hpl_bgolly_" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

/// The pattern that bgolly makes of a pattern file.
Pattern byGolly(const std::string& file, int generations) {
  const Scratch scratch;
  const std::string out = scratch.file("out.rle");
  const std::string command = std::string(HPL_BGOLLY) + " -q -q -m " + std::to_string(generations) +
                              " -o '" + out + "' '" + file + "' >/dev/null 2>&1";
  REQUIRE(std::system(command.c_str()) == 0);
  return readRle(out);
}

/// The pattern that the sample makes of it.
Pattern bySample(const Grid& start, const LifeRule& rule, Edges edges, int generations) {
  LifeOptions options;
  options.start = start;
  options.rule = rule;
  options.edges = edges;
  options.run.iterations = generations;
  Progress progress(generations, "generations", Progress::Mode::Off);
  return toPattern(life::evolve(options, choosePlan(options.run), progress, {}), rule);
}

void checkEqual(const Pattern& ours, const Pattern& golly) {
  CHECK(ours.population() == golly.population());
  CHECK(ours.width == golly.width);
  CHECK(ours.height == golly.height);
  CHECK(ours.runs == golly.runs);
}

/// A shipped pattern in the middle of a grid whose edge nothing reaches.
void checkShipped(const char* name, int side, int generations) {
  CAPTURE(name);
  const std::string file = findPattern(name);
  const Pattern pattern = readRle(file);
  Grid start(side, side);
  placePattern(start, pattern);
  const Pattern expected = byGolly(file, generations);
  checkEqual(bySample(start, pattern.rule, Edges::Dead, generations), expected);
}

}  // namespace

TEST_CASE("the large patterns go as in bgolly") {
  checkShipped("breeder", 1600, 500);
  checkShipped("spacefiller", 700, 300);
  checkShipped("puffer-train", 1400, 1000);
  checkShipped("acorn", 1400, 1500);
}

TEST_CASE("the small patterns go as in bgolly") {
  checkShipped("glider", 300, 400);
  checkShipped("gosper-glider-gun", 600, 700);
  checkShipped("r-pentomino", 1000, 1103);
}

TEST_CASE("soups on a torus go as in bgolly, under several rules") {
  for (const char* rule : {"B3/S23", "B36/S23", "B3678/S34678"}) {
    CAPTURE(rule);
    constexpr int height = 150, width = 240, generations = 100;
    Grid soup(height, width);
    fillWithSoup(soup, 0.35, 3);
    // Living corners, so that the pattern is as large as the torus.
    soup.at(0, 0) = soup.at(height - 1, width - 1) = 1;
    Pattern pattern = toPattern(soup, parseRule(rule));
    pattern.rule.board = {Board::Kind::Torus, width, height};
    const Scratch scratch;
    const std::string file = scratch.file("torus.rle");
    std::ofstream(file) << "#CXRLE Pos=" << -width / 2 << ',' << -height / 2 << '\n'
                        << toRle(pattern);
    const Pattern expected = byGolly(file, generations);
    checkEqual(bySample(soup, pattern.rule, Edges::Torus, generations), expected);
  }
}

TEST_CASE("patterns taken from Golly's collection are those of the collection" *
          doctest::skip(std::string(HPL_GOLLY_PATTERNS).empty())) {
  const std::pair<const char*, const char*> list[] = {{"acorn", "Methuselahs/acorn.lif"},
                                                      {"puffer-train", "Puffers/puffer-train.rle"},
                                                      {"spacefiller", "Breeders/spacefiller.rle"},
                                                      {"breeder", "Breeders/breeder.lif"}};
  for (const auto& [name, file] : list) {
    CAPTURE(name);
    const std::string original = std::string(HPL_GOLLY_PATTERNS) + "/Life/" + file;
    for (const int generations : {0, 1000}) {
      CAPTURE(generations);
      checkEqual(byGolly(findPattern(name), generations), byGolly(original, generations));
    }
  }
}

TEST_CASE("bgolly counts what the list of patterns says") {
  CHECK(byGolly(findPattern("r-pentomino"), 1103).population() == 116);
  CHECK(byGolly(findPattern("acorn"), 5206).population() == 633);
  CHECK(byGolly(findPattern("spacefiller"), 400).population() == (417 * 417 + 511) / 4);
}
