// SPDX-License-Identifier: Apache-2.0
#include "samples/common/rle.h"

#include <doctest/doctest.h>

#include <random>
#include <sstream>

#include "tests/samples/temporary_file.h"

namespace rle_tests {

using namespace samples;

namespace {

/// A grid from a picture: one string per row, '#' is alive.
Grid draw(const std::vector<std::string>& rows) {
  Grid grid(static_cast<int>(rows.size()), static_cast<int>(rows[0].size()));
  for (int r = 0; r < grid.height(); ++r) {
    for (int c = 0; c < grid.width(); ++c) {
      grid.at(r, c) = rows[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)] == '#';
    }
  }
  return grid;
}

/// The pattern on a grid of exactly its size.
Grid cells(const Pattern& pattern) {
  Grid grid(pattern.height, pattern.width);
  placePattern(grid, pattern, 0, 0);
  return grid;
}

const Grid glider = draw({".#.", "..#", "###"});

}  // namespace

TEST_CASE("a glider is read from every legal layout of its file") {
  const char* texts[] = {
      "x = 3, y = 3, rule = B3/S23\nbob$2bo$3o!\n",
      "x=3,y=3,rule=B3/S23\nbo$2bo$3o!",
      "x = 3, y = 3\nbo$2bo$3o!",
      "  X=3 ,  y =3 ,rule  =  23/3  \nbo$2bo$3o!",
      "#N Glider\n\n#C one\n#O somebody\n#R -1 -1\nx = 3, y = 3\nbo$2bo$3o!",
      "x = 3, y = 3\r\nbo$\r\n2b\r\no$3o!\r\n",
      "x = 3, y = 3\n\n b o\n$\n2\nb\to $ 3 o ! anything may follow\nqqq",
      "x = 3, y = 3\nbo$\n#C a comment between the rows\n2bo$3o!",
      "x = 3, y = 3\nb1o1$2bob$o2o$!",
      "x = 3, y = 3\n.A$2.A$3A!",
      "\xEF\xBB\xBFx = 3, y = 3\nbo$2bo$3o!",
      "x = 3, y = 3\n1b001o5b$2bo$3o7$!",
  };
  for (const char* text : texts) {
    INFO(text);
    const Pattern pattern = parseRle(text, "glider.rle");
    CHECK(cells(pattern) == glider);
    CHECK(pattern.population() == 5);
    CHECK(pattern.rule == LifeRule{});
  }
}

TEST_CASE("comment lines give the name, the author, the comments and the rule") {
  const Pattern pattern = parseRle(
      "#N Some name\n#C first\n#c second\n#O Author, 1970\n#P 4 5\n#CXRLE Pos=0,0\n#r 23/36\n"
      "x = 1, y = 1\no!",
      "p.rle");
  CHECK(pattern.name == "Some name");
  CHECK(pattern.author == "Author, 1970");
  CHECK(pattern.comments == std::vector<std::string>{"first", "second", "XRLE Pos=0,0"});
  CHECK(ruleText(pattern.rule) == "B36/S23");
}

TEST_CASE("the rule of the header may name a torus") {
  const Pattern pattern = parseRle("x = 1, y = 1, rule = B3/S23:T100,200\no!", "p.rle");
  CHECK(pattern.rule.board == Board{Board::Kind::Torus, 100, 200});
}

TEST_CASE("empty rows and empty patterns are read") {
  const Pattern gap = parseRle("x = 2, y = 4\no3$bo!", "p.rle");
  CHECK(cells(gap) == draw({"#.", "..", "..", ".#"}));
  CHECK(parseRle("x = 2, y = 4\n!", "p.rle").population() == 0);
}

TEST_CASE("a huge sparse pattern needs memory for its runs only") {
  const Pattern pattern =
      parseRle("x = 2000000000, y = 2000000000\no1999999998$1999999999bo!", "sparse.rle");
  REQUIRE(pattern.runs.size() == 2);
  CHECK(pattern.runs[1] == Pattern::Run{1999999998, 1999999999, 1});
}

TEST_CASE("a malformed file is refused with line, column and what was expected") {
  struct Case {
    const char* text;
    int line;
    int column;
    const char* message;
  };
  const Case cases[] = {
      {"", 1, 1,
       "expected 'x =' in the header 'x = WIDTH, y = HEIGHT, rule = B3/S23', found the end of the "
       "file"},
      {"#N only comments\n", 2, 1,
       "expected 'x =' in the header 'x = WIDTH, y = HEIGHT, rule = B3/S23', found the end of the "
       "file"},
      {"bo$2bo$3o!", 1, 1,
       "expected 'x =' in the header 'x = WIDTH, y = HEIGHT, rule = B3/S23', found 'b'"},
      {"x 3", 1, 3, "expected '=' after 'x' in the header, found '3'"},
      {"x = three", 1, 5, "expected the width of the pattern, found 't'"},
      {"x = 0, y = 3\n!", 1, 5, "the width of the pattern is 0: expected at least 1"},
      {"x = 3 y = 3\n", 1, 7, "expected ',' after the width in the header, found 'y'"},
      {"x = 3\n", 1, 6, "expected ',' after the width in the header, found the end of the line"},
      {"x = 3, y = -3\n", 1, 12, "expected the height of the pattern, found '-'"},
      {"x = 99999999999, y = 3\n", 1, 5,
       "the width of the pattern is too large: expected at most 2147483647"},
      {"x = 3, y = 3 rule = B3/S23\n", 1, 14,
       "expected ',' after the height in the header, found 'r'"},
      {"x = 3, y = 3, rulez = B3/S23\n", 1, 19,
       "expected '=' after 'rule' in the header, found 'z'"},
      {"x = 3, y = 3, rule = B3/S2x\n!", 1, 22,
       "'X' in rule 'B3/S2x' is no neighbour count: expected digits 0 to 8, as in B3/S23"},
      {"#r nonsense\nx = 1, y = 1\no!", 1, 1,
       "rule 'nonsense' is not understood: expected birth and survival counts, as in B3/S23 or "
       "23/3"},
      {"x = 3, y = 3\nbo$\n2bq$3o!", 3, 3,
       "expected a run count, 'b' (dead), 'o' (alive), '$' (next row) or '!' (end of the pattern), "
       "found 'q'"},
      {"x = 3, y = 3\nbo$2", 2, 5,
       "expected 'b' (dead), 'o' (alive), '$' (next row) after the run count, found the end of the "
       "file"},
      {"x = 3, y = 3\nbo$2!", 2, 5,
       "expected 'b' (dead), 'o' (alive), '$' (next row) after the run count, found '!'"},
      {"x = 30, y = 3\n1 2o!", 2, 3,
       "expected 'b' (dead), 'o' (alive), '$' (next row) after the run count, found '2'"},
      {"x = 3, y = 3\n0o!", 2, 1, "the run count is 0: expected at least 1"},
      {"x = 3, y = 3\n-1o!", 2, 1,
       "expected a run count, 'b' (dead), 'o' (alive), '$' (next row) or '!' (end of the pattern), "
       "found '-'"},
      {"x = 3, y = 3\nbo$2bo$3o\n", 3, 1,
       "expected a run count, 'b' (dead), 'o' (alive), '$' (next row) or '!' (end of the pattern), "
       "found the end of the file"},
      {"x = 3, y = 3\nb\x01o!", 2, 2,
       "expected a run count, 'b' (dead), 'o' (alive), '$' (next row) or '!' (end of the pattern), "
       "found byte 0x01"},
      {"x = 3, y = 3\nbo$b3o!", 2, 5,
       "living cells in row 2, columns 2 to 4, lie outside the pattern of x = 3, y = 3 that the "
       "header announces"},
      {"x = 3, y = 3\n3$o!", 2, 3,
       "living cells in row 4, columns 1 to 1, lie outside the pattern of x = 3, y = 3 that the "
       "header announces"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    try {
      parseRle(c.text, "bad.rle");
      FAIL_CHECK("accepted");
    } catch (const PatternError& error) {
      CHECK(error.what() == "bad.rle:" + std::to_string(c.line) + ":" + std::to_string(c.column) +
                                ": " + c.message);
      CHECK(error.file() == "bad.rle");
      CHECK(error.line() == c.line);
      CHECK(error.column() == c.column);
    }
  }
}

TEST_CASE("damaged files are read or refused, nothing else") {
  const std::string text = "#N Glider\n#C two\nx = 3, y = 3, rule = B3/S23:T30,40\nbo$2bo$3o!\n";
  const std::string bytes = "bo$!0123456789#xyrule=,/:BST \n\t\r.A\xff-";
  int refused = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    INFO("seed ", seed);
    std::mt19937 engine(seed);
    std::string damaged = text;
    for (unsigned i = 0; i <= engine() % 4; ++i) {
      damaged[engine() % damaged.size()] = bytes[engine() % bytes.size()];
    }
    if (seed % 5 == 0) damaged.resize(engine() % damaged.size());
    try {
      const Pattern pattern = parseRle(damaged, "damaged.rle");
      CHECK(parseRle(toRle(pattern), "again.rle").runs == pattern.runs);
    } catch (const PatternError& error) {
      CHECK(error.line() >= 1);
      CHECK(error.column() >= 1);
      ++refused;
    }
  }
  CHECK(refused > 500);
  CHECK(refused < 2900);
}

TEST_CASE("a file that cannot be read is refused with the reason") {
  CHECK_THROWS_WITH_AS(
      readRle("/no/such/folder/p.rle"),
      "/no/such/folder/p.rle: cannot read the pattern file: No such file or directory",
      PatternError);
  CHECK_THROWS_WITH_AS(readRle("/"), "/: cannot read the pattern file: Is a directory",
                       PatternError);
}

TEST_CASE("a file is read from disk") {
  const TemporaryFile file("glider.rle", "x = 3, y = 3\nbo$2bo$3o!\n");
  CHECK(cells(readRle(file.name())) == glider);
  const TemporaryFile empty("empty.rle", "");
  CHECK_THROWS_AS(readRle(empty.name()), PatternError);
}

TEST_CASE("random grids survive writing and reading, and no line is longer than 70") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    INFO("seed ", seed);
    std::mt19937 engine(seed);
    Grid grid(1 + static_cast<int>(engine() % 60), 1 + static_cast<int>(engine() % 200));
    fillWithSoup(grid, (engine() % 100) / 99.0, seed);
    Pattern pattern = toPattern(grid, parseRule("B36/S23:T7,9"));
    pattern.name = "Soup";
    pattern.author = "seed";
    pattern.comments = {"one", "two"};
    const std::string text = toRle(pattern);
    const Pattern again = parseRle(text, "soup.rle");
    CHECK(again.runs == pattern.runs);
    CHECK(again.width == pattern.width);
    CHECK(again.height == pattern.height);
    CHECK(again.rule == pattern.rule);
    CHECK(again.name == pattern.name);
    CHECK(again.author == pattern.author);
    CHECK(again.comments == pattern.comments);
    CHECK(pattern.population() == population(grid));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 70);
  }
}

TEST_CASE("a pattern is cut to the bounding box of its living cells") {
  const Pattern pattern = toPattern(draw({".....", "..#..", ".....", "...#.", "....."}));
  CHECK(pattern.width == 2);
  CHECK(pattern.height == 3);
  CHECK(cells(pattern) == draw({"#.", "..", ".#"}));
  CHECK(toRle(pattern) == "x = 2, y = 3, rule = B3/S23\no2$bo!\n");
}

TEST_CASE("a pattern is placed where it is asked to be, and in the middle by default") {
  const Pattern pattern = toPattern(glider);
  Grid corner(4, 5);
  placePattern(corner, pattern, 1, 2);
  CHECK(corner == draw({".....", "...#.", "....#", "..###"}));
  Grid middle(5, 7);
  placePattern(middle, pattern);
  CHECK(middle == draw({".......", "...#...", "....#..", "..###..", "......."}));
}

TEST_CASE("a pattern that does not fit its grid is refused and the grid stays as it was") {
  const Pattern pattern = toPattern(glider);
  Grid grid(4, 5);
  const Grid before = grid;
  CHECK_THROWS_WITH_AS(placePattern(grid, pattern, 2, 0),
                       "the pattern of 3 x 3 cells (width x height) does not fit a grid of 5 x 4 "
                       "at row 2, column 0: choose a larger grid",
                       std::out_of_range);
  CHECK_THROWS_AS(placePattern(grid, pattern, 0, 3), std::out_of_range);
  CHECK_THROWS_AS(placePattern(grid, pattern, -1, 0), std::out_of_range);
  CHECK_THROWS_AS(placePattern(grid, pattern, 0, -1), std::out_of_range);
  Grid tiny(2, 2);
  CHECK_THROWS_WITH_AS(placePattern(tiny, pattern),
                       "the pattern of 3 x 3 cells (width x height) does not fit a grid of 2 x 2 "
                       "at row 0, column 0: choose a larger grid",
                       std::out_of_range);
  CHECK(grid == before);
}

}  // namespace rle_tests
