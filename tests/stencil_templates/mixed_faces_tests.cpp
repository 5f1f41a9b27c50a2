// SPDX-License-Identifier: Apache-2.0
// Axes that are periodic for one input and end for another: whatever is asked of such stencils
// gives the numbers of single launches, or an exception of the library that leaves the arrays
// alone.
#include <doctest/doctest.h>

#include <functional>
#include <random>

#include "stencil_support.h"

namespace mixed_faces_tests {

using namespace hpl;
using namespace stencil_tests;

namespace {

constexpr int kRows = 11, kColumns = 14;
using Cells = Array<int, 2>;

/// Reads each input beyond each face.
auto cross() {
  return [](Neighbourhood<int, 2> u, Neighbourhood<int, 2> v) {
    return u(0, 0) + 3 * u(-1, 0) - 2 * u(1, 0) + 5 * u(0, -1) - u(0, 1) + v(-1, 0) - 4 * v(1, 0) +
           7 * v(0, 1) - 6 * v(0, -1);
  };
}

std::vector<Boundary> someBoundaries() {
  return {Periodic(),
          Untouched(),
          Fixed(3),
          Nearest(),
          Mirror(),
          MirrorOdd(),
          Computed([](Int y, Int x) { return 2 * y - x; })};
}
constexpr const char* kNames[] = {"periodic", "untouched",  "fixed",   "nearest",
                                  "mirror",   "mirror odd", "computed"};
constexpr std::size_t kBoundaries = 7;

/// Rules for the two axes of each of two inputs, as numbers of boundaries.
struct FaceKinds {
  std::size_t of[2][2];
};

std::string describe(const FaceKinds& kinds) {
  std::string text;
  for (const auto& input : kinds.of)
    text += std::string(text.empty() ? "" : "; ") + kNames[input[0]] + " and " + kNames[input[1]];
  return text;
}

Stencil stencilWith(const FaceKinds& kinds) {
  Stencil stencil(cross());
  stencil.label("cross");
  const std::vector<Boundary> boundaries = someBoundaries();
  for (int input = 0; input < 2; ++input) {
    const auto& [slow, fast] = kinds.of[input];
    stencil.boundary(input + 1, Face::UP, boundaries[slow]);
    stencil.boundary(input + 1, Face::DOWN, boundaries[slow]);
    stencil.boundary(input + 1, Face::LEFT, boundaries[fast]);
    stencil.boundary(input + 1, Face::RIGHT, boundaries[fast]);
  }
  return stencil;
}

Cells someArray(unsigned seed) {
  return arrayOf<int, 2>(someCells<int>({1, kRows, kColumns}, seed));
}

/// One step after another, each a launch of its own.
std::vector<int> stepByStep(const Stencil& stencil, int steps) {
  Cells a = someArray(1), b = someArray(1), c = someArray(2);
  for (int s = 0; s < steps; ++s) {
    stencil(a, c, b);
    swap(a, b);
  }
  return cellsOf(a);
}

/// A way to ask for steps: those that were done on the arrays, 0: tuning only.
struct Door {
  const char* name;
  std::function<void(Stencil&, Cells&, Cells&, Cells&, int)> open;
  bool isTuning = false;
};

std::vector<Door> doors() {
  TuneOptions briefly;
  briefly.seconds = 0.02;
  return {{"iterate", [](Stencil& s, Cells& a, Cells& b, Cells& c,
                         int n) { s.timeTile(1).iterate(n)(a, c, b); }},
          {"iterate, chosen by the library",
           [](Stencil& s, Cells& a, Cells& b, Cells& c, int n) { s.iterate(n)(a, c, b); }},
          {"iterate with a time tile", [](Stencil& s, Cells& a, Cells& b, Cells& c,
                                          int n) { s.timeTile(2).iterate(n)(a, c, b); }},
          {"iterate with a tile of cells",
           [](Stencil& s, Cells& a, Cells& b, Cells& c, int n) {
             s.timeTile(3, Domain(8, 4)).iterate(n)(a, c, b);
           }},
          {"iterate until", [](Stencil& s, Cells& a, Cells& b, Cells& c,
                               int n) { s.timeTile(2).until(1e-9, 2).iterate(n)(a, c, b); }},
          {"until, chosen by the library",
           [](Stencil& s, Cells& a, Cells& b, Cells& c, int n) {
             s.devices(1).until(1e-9, 3).iterate(n)(a, c, b);
           }},
          {"tune",
           [briefly](Stencil& s, Cells& a, Cells& b, Cells& c, int n) {
             s.iterate(n).tuning(briefly).tune(a, c, b);
           },
           true},
          {"tune with a time tile",
           [briefly](Stencil& s, Cells& a, Cells& b, Cells& c, int n) {
             s.timeTile(2).iterate(n).tuning(briefly).tune(a, c, b);
           },
           true},
          {"program",
           [](Stencil& s, Cells& a, Cells& b, Cells& c, int n) {
             StencilProgram program;
             program.apply(s)(a, c, b);
             program.apply([](Neighbourhood<int, 2> p) { return p(0, 0); })(b, a);
             program.run(n);
           }},
          {"program with a time tile",
           [](Stencil& s, Cells& a, Cells& b, Cells& c, int n) {
             StencilProgram program;
             program.apply(s)(a, c, b);
             program.apply([](Neighbourhood<int, 2> p) { return p(0, 0); })(b, a);
             program.timeTile(2).run(n);
           }},
          {"fused program",
           [](Stencil& s, Cells& a, Cells& b, Cells& c, int n) {
             StencilProgram program;
             program.apply(s)(a, c, b);
             program.apply([](Neighbourhood<int, 2> p) { return p(0, 0); })(b, a);
             program.fuse(true).run(n);
           }},
          {"program in place",
           [](Stencil& s, Cells& a, Cells&, Cells& c, int n) {
             StencilProgram program;
             program.apply(s)(a, c, a);
             program.run(n);
           }},
          {"program tune",
           [briefly](Stencil& s, Cells& a, Cells& b, Cells& c, int n) {
             StencilProgram program;
             program.apply(s)(a, c, b);
             program.apply([](Neighbourhood<int, 2> p) { return p(0, 0); })(b, a);
             program.tuning(briefly).tune(n);
           },
           true}};
}

/// Whether it gave numbers.
bool opens(const Door& door, const FaceKinds& kinds) {
  constexpr int kSteps = 6;
  CAPTURE(door.name);
  CAPTURE(describe(kinds));
  Stencil stencil = stencilWith(kinds);
  Cells a = someArray(1), b = someArray(1), c = someArray(2);
  bool isDone = false;
  std::string message;
  try {
    door.open(stencil, a, b, c, kSteps);
    isDone = true;
  } catch (const Error& error) {
    message = error.what();
  } catch (const std::exception& error) {
    FAIL_CHECK("no exception of the library: " << error.what());
  } catch (...) {
    FAIL_CHECK("no exception of the library");
  }
  CAPTURE(message);
  CHECK(isDone != (message.find("cross") != std::string::npos ||
                   message.find("stencil program") != std::string::npos));
  const bool isChanged = isDone && !door.isTuning;
  CHECK(cellsOf(a) == (isChanged ? stepByStep(stencilWith(kinds), kSteps)
                                 : someCells<int>({1, kRows, kColumns}, 1).cells));
  CHECK(cellsOf(c) == someCells<int>({1, kRows, kColumns}, 2).cells);
  return isDone;
}

}  // namespace

TEST_CASE("mixed faces: a forced time tile is refused with what is the matter") {
  for (const bool isFirst : {false, true}) {
    Stencil stencil(cross());
    stencil.label("cross");
    stencil.boundary(Nearest()).boundary(isFirst ? 1 : 2, Periodic());
    Cells a = someArray(1), b = someArray(1), c = someArray(2);
    CHECK(messageOf<LaunchError>([&] { stencil.timeTile(2).iterate(4)(a, c, b); }) ==
          "stencil 'cross': 2 steps cannot be done in one pass: a dimension is periodic for some "
          "inputs of its functions only; leave out .timeTile(2)");
    CHECK(cellsOf(a) == someCells<int>({1, kRows, kColumns}, 1).cells);
    CHECK(cellsOf(b) == someCells<int>({1, kRows, kColumns}, 1).cells);
  }
}

TEST_CASE("mixed faces: a program's function that updates its first input is a kernel by itself") {
  constexpr int kSteps = 3;
  Cells a = someArray(1), c = someArray(2);
  Stencil stencil(cross());
  stencil.boundary(Periodic()).boundary(2, Nearest());
  const auto twice = [](Neighbourhood<int, 2> p) { return 2 * p(0, 0); };
  StencilProgram program;
  program.apply(twice)(c, c);
  program.apply(stencil)(a, c, a);
  program.run(kSteps);

  const Stencil twofold(twice);
  Cells x = someArray(1), y = someArray(2), next = someArray(3);
  for (int step = 0; step < kSteps; ++step) {
    twofold(y, next);
    swap(y, next);
    stencil(x, y, next);
    swap(x, next);
  }
  CHECK(cellsOf(a) == cellsOf(x));
  CHECK(cellsOf(c) == cellsOf(y));
}

TEST_CASE("mixed faces: a program's function that cannot be a kernel by itself is refused first") {
  Cells a = someArray(1), c = someArray(2);
  Stencil stencil(cross());
  stencil.boundary(Periodic()).boundary(2, Nearest());
  StencilProgram program;
  program.label("waves");
  program.apply([](Neighbourhood<int, 2> p) { return 2 * p(0, 0); })(c, c);
  program.apply(stencil).over(Range(1, kRows - 1), Range(0, kColumns - 1))(a, c, a);
  for (int again = 0; again < 2; ++again)
    CHECK(messageOf<LaunchError>([&] { program.run(3); }) ==
          "stencil program 'waves', function 2 (stencil) writes an array that it reads, or only "
          "some cells of it, and a dimension is periodic, but one of its functions leaves out its "
          "ends; give its inputs the same boundaries there, or let it write all cells of another "
          "array");
  CHECK(cellsOf(a) == someCells<int>({1, kRows, kColumns}, 1).cells);
  CHECK(cellsOf(c) == someCells<int>({1, kRows, kColumns}, 2).cells);
}

TEST_CASE("mixed faces: every door gives the numbers of single launches or an error of ours") {
  const std::vector<Door> all = doors();
  // One axis: the first input periodic, the second one not, and the other way round.
  for (std::size_t other = 1; other < kBoundaries; ++other) {
    const bool isPeriodicFirst = other % 2 == 0;
    FaceKinds kinds{{{0, 0}, {0, 0}}};
    kinds.of[isPeriodicFirst ? 1 : 0][other / 2 % 2] = other;
    for (std::size_t d = 0; d < all.size(); ++d) {
      // Some doors for some kinds: those that compile much are many.
      if (d >= 4 && (d + other) % 4 != 0) continue;
      opens(all[d], kinds);
    }
  }
  // Where nothing is mixed all of them open.
  for (const Door& door : all) CHECK(opens(door, {{{0, 3}, {0, 4}}}));
}

TEST_CASE("mixed faces: random boundaries of two inputs at random doors") {
  const std::vector<Door> all = doors();
  std::mt19937 random(20261123);
  const auto below = [&](std::size_t n) { return random() % n; };
  int opened = 0;
  for (int trial = 0; trial < 12; ++trial) {
    CAPTURE(trial);
    FaceKinds kinds{};
    for (auto& input : kinds.of)
      for (std::size_t& kind : input) kind = below(2) == 0 ? 0 : below(kBoundaries);
    opened += opens(all[below(all.size())], kinds) ? 1 : 0;
  }
  CHECK(opened > 0);
}

}  // namespace mixed_faces_tests
