// SPDX-License-Identifier: Apache-2.0
// Copies of stencils and of programs have boundaries, labels and functions of their own.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "stencil_templates/stencil_templates.h"
#include "tests/messages.h"

namespace copies_tests {

using namespace hpl;
using hpl_tests::contains;
using hpl_tests::messageOf;

namespace {

constexpr int kCells = 6;

// The left end of a row of ones under the sum of both neighbours.
int leftEnd(const Stencil& stencil) {
  Array<int, 1> in(kCells), out(kCells);
  in = 1;
  stencil(in, out);
  return out(0);
}

Stencil neighbours() {
  return Stencil([](Neighbourhood<int, 1> t) { return t(-1) + t(1); });
}

}  // namespace

TEST_CASE("a boundary that a copy of a stencil gets is the copy's alone") {
  Stencil original = neighbours();
  original.boundary(Fixed(10));
  CHECK(leftEnd(original) == 11);
  Stencil copy = original;
  CHECK(leftEnd(copy) == 11);
  copy.boundary(Fixed(20));
  CHECK(leftEnd(copy) == 21);
  CHECK(leftEnd(original) == 11);
  original.boundary(Fixed(30));
  CHECK(leftEnd(copy) == 21);
  CHECK(leftEnd(original) == 31);
  std::vector<Stencil> several(3, original);
  for (int i = 0; i < 3; ++i) several[static_cast<std::size_t>(i)].boundary(Fixed(i));
  for (int i = 0; i < 3; ++i) CHECK(leftEnd(several[static_cast<std::size_t>(i)]) == i + 1);
  original = copy;
  original.boundary(Face::LEFT, Fixed(40));
  CHECK(leftEnd(original) == 41);
  CHECK(leftEnd(copy) == 21);
}

TEST_CASE("a stencil that was moved from is as before") {
  Stencil first = neighbours();
  first.boundary(Fixed(10));
  Stencil second = std::move(first);
  CHECK(leftEnd(second) == 11);
  CHECK(leftEnd(first) == 11);  // NOLINT(bugprone-use-after-move)
}

TEST_CASE("a label that a copy of a stencil gets is the copy's alone") {
  Stencil heat = neighbours();
  heat.label("heat").boundary(Nearest());
  Stencil waves = heat;
  waves.label("waves");
  Array<int, 1> cells(kCells);
  const auto message = [&](const Stencil& s) {
    return messageOf<ArgumentError>([&] { s(cells, cells); });
  };
  CHECK(contains(message(heat), "stencil 'heat'"));
  CHECK(contains(message(waves), "stencil 'waves'"));
}

TEST_CASE("launches of a stencil go on with the boundary that they were made with") {
  Stencil stencil = neighbours();
  stencil.boundary(Fixed(10));
  Array<int, 1> in(kCells), out(kCells);
  in = 1;
  FRunner runner = stencil(in, out);
  StencilLauncher launcher = stencil.devices(1);
  Stencil other = stencil;
  other.boundary(Fixed(20));
  runner.run();
  CHECK(out(0) == 11);
  launcher(in, out);
  CHECK(out(0) == 11);
}

TEST_CASE("a copy of a program is a program over the same fields, with functions of its own") {
  Array<int, 1> a(kCells), b(kCells), c(kCells);
  a = 1, b = 0, c = 0;
  Stencil sum = neighbours();
  sum.boundary(Fixed(10));
  StencilProgram original;
  original.apply(sum)(a, b);
  StencilProgram copy = original;
  Stencil doubled([](Neighbourhood<int, 1> t) { return 2 * t(0); });
  copy.apply(doubled)(b, c);
  copy.label("copy");
  original.run(1);
  CHECK(b(0) == 11);
  CHECK(c(0) == 0);
  copy.run(1);
  CHECK(c(0) == 22);
  a = 2;
  original.run(1);
  CHECK(b(1) == 4);
  CHECK(c(1) == 4);
  copy.run(2);
  CHECK(c(0) == 24);
  const StencilProgram& constant = original;
  StencilProgram third = constant;
  third.every(1, [&](std::int64_t) { return true; });
  CHECK(third.run(3).steps == 1);
  CHECK(original.run(3).steps == 3);
}

}  // namespace copies_tests
