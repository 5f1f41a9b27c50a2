// SPDX-License-Identifier: Apache-2.0
// Launches of stencils: inputs, outputs, parameters, iterations.
#include "stencil_templates/stencil.h"

#include <doctest/doctest.h>

#include <cmath>

#include "hpl/runtime/settings.h"
#include "stencil_support.h"
#include "stencil_templates/pattern.h"
#include "stencil_templates/program.h"

namespace stencil_tests {

using namespace hpl;
using namespace stencil_tests;

namespace {

using Plate = Array<float, 2>;

auto heatOf(Neighbourhood<float, 2> t, Float alpha) {
  return t() + alpha * (t(-1, 0) + t(1, 0) + t(0, -1) + t(0, 1) - 4 * t(0, 0));
}

/// One step of heatOf on an array with margins of one cell.
Grid<float> heatStep(const Grid<float>& t, float alpha, const Rules& rules,
                     const Grid<float>& old) {
  const Grid<float> p = padded(t, {{0, 1, 1}, {0, 1, 1}}, rules);
  Grid<float> next = old;
  for (int y = 0; y < t.n[1]; ++y) {
    for (int x = 0; x < t.n[2]; ++x) {
      if (isLeftOut({0, y, x}, t.n, {{0, 1, 1}, {0, 1, 1}}, rules)) continue;
      const float c = p.at({0, y + 1, x + 1});
      next.at({0, y, x}) = c + alpha * (p.at({0, y, x + 1}) + p.at({0, y + 2, x + 1}) +
                                        p.at({0, y + 1, x}) + p.at({0, y + 1, x + 2}) - 4 * c);
    }
  }
  return next;
}

Rules rulesOf(Kind kind) {
  Rules rules;
  for (auto& dimension : rules)
    for (FaceRule& rule : dimension) rule.kind = kind;
  return rules;
}

/// The contents of an iteration's input afterwards.
Grid<float> heatSteps(Grid<float> t, int steps, const Rules& rules) {
  for (int s = 0; s < steps; ++s) t = heatStep(t, 0.1f, rules, t);
  return t;
}

float largestChange(const Grid<float>& a, const Grid<float>& b) {
  float most = 0;
  for (std::size_t i = 0; i < a.cells.size(); ++i)
    most = std::max(most, std::fabs(a.cells[i] - b.cells[i]));
  return most;
}

}  // namespace

TEST_CASE("stencils: point functions call functions in OpenCL C") {
  const NativeFunction<Float(Float, Float, Float)> flow("flow", R"(
    float flow(float here, float around, float alpha) {
      return here + alpha * (around - 4 * here);
    })");
  Stencil heat([flow](Neighbourhood<float, 2> t, Float alpha) {
    return flow(t(), t(-1, 0) + t(1, 0) + t(0, -1) + t(0, 1), alpha);
  });
  const Grid<float> start = someCells<float>({1, 13, 21}, 3);
  Plate now = arrayOf<float, 2>(start), next(13, 21);
  const Rules rules = rulesOf(Kind::Nearest);
  heat.boundary(Nearest());
  // Several steps, which no strategy joins.
  heat.iterate(6)(now, next, 0.1f);
  Grid<float> result(start.n);
  result.cells = cellsOf(now);
  CHECK(largestChange(result, heatSteps(start, 6, rules)) < 1e-4f);
}

TEST_CASE("stencils: several inputs and outputs have types and boundaries of their own") {
  Stencil mix([](Neighbourhood<float, 2> a, Neighbourhood<short, 2> b, Output<float>& sum,
                 Output<unsigned char> code, Float scale, Int shift) {
    sum = scale * (a(0, -1) + a(0, 1)) + cast<float>(b(2, 0));
    code = (b(-1, 0) + shift) & 15;
    if_(b(0, 0) > 0) {
      code = 200;
    }
  });
  mix.boundary(1, Nearest()).boundary(2, Fixed(3)).boundary(2, Face::DOWN, Mirror());
  const Index3 n{1, 9, 11};
  const Grid<float> a = someCells<float>(n, 5);
  const Grid<short> b = someCells<short>(n, 6);
  Plate first = arrayOf<float, 2>(a), sum(9, 11);
  Array<short, 2> second = arrayOf<short, 2>(b);
  Array<unsigned char, 2> code(9, 11);
  mix.devices(deviceCount())(first, second, sum, code, 0.5, 4);

  const Grid<float> pa = padded(a, {{0, 0, 1}, {0, 0, 1}}, rulesOf(Kind::Nearest));
  Rules rules;
  rules[1] = {{{Kind::Fixed, 3}, {Kind::Mirror, 0}}};
  const Grid<short> pb = padded(b, {{0, 1, 0}, {0, 2, 0}}, rules);
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < 11; ++x) {
      CHECK(sum(y, x) == 0.5f * (pa.at({0, y, x}) + pa.at({0, y, x + 2})) + pb.at({0, y + 3, x}));
      const int expected = b.at({0, y, x}) > 0 ? 200 : (pb.at({0, y, x}) + 4) & 15;
      CHECK(code(y, x) == expected);
    }
  }
}

TEST_CASE("stencils: the array decides the type of a returned value; views and FRunner work") {
  Stencil count([](Neighbourhood<unsigned char, 2> cell) {
    Int sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) sum += cell(dy, dx);
    return sum;
  });
  count.boundary(Periodic());
  Array<unsigned char, 2> cells(8, 9), bytes(8, 9);
  Array<int, 2> ints(8, 9);
  cells = 1;
  bytes = 0;
  auto& inner = bytes(Range(1, 4), Range(2, 6));
  FRunner runner = count(cells(Range(0, 3), Range(0, 4)), inner);
  count(cells, ints);
  CHECK(ints(0, 0) == 9);
  CHECK(bytes(4, 6) == 9);
  CHECK(bytes(5, 6) == 0);
  cells(0, 0) = 11;
  runner.run();
  CHECK(bytes(4, 6) == 19);
  CHECK(bytes(2, 4) == 9);
}

TEST_CASE("stencils: elements may be vectors and doubles") {
  Stencil odd([](Neighbourhood<float2, 1> v) { return v(-1) + v(1); });
  odd.boundary(MirrorOdd());
  Array<float2, 1> in(3), out(3);
  in(0) = float2{1, 2}, in(1) = float2{10, 20}, in(2) = float2{100, 200};
  odd(in, out);
  const float2 first = out(0), last = out(2);
  CHECK(first[0] == 9);
  CHECK(first[1] == 18);
  CHECK(last[1] == -180);

  if (!defaultDevice().getProperties().hasDouble) return;
  Stencil mean([](Neighbourhood<double, 1> v) { return (v(-1) + v(1)) / 2; });
  mean.boundary(Fixed(0.1));
  Array<double, 1> x(2), y(2);
  x(0) = 1.0, x(1) = 1e-9;
  mean(x, y);
  CHECK(y(0) == (0.1 + 1e-9) / 2);
}

TEST_CASE("stencils: iterations leave their result in the input, for odd and even steps") {
  const Index3 n{1, 11, 8};
  const Grid<float> start = someCells<float>(n, 3);
  for (const Kind kind : {Kind::Nearest, Kind::Periodic, Kind::Untouched}) {
    Stencil heat(heatOf);
    if (kind != Kind::Untouched) heat.boundary(boundaryOf({kind, 0}, 2));
    for (const int steps : {0, 1, 4, 7}) {
      CAPTURE(steps);
      Plate a = arrayOf<float, 2>(start), b(11, 8);
      const StencilRun run = heat.devices(deviceCount()).iterate(steps)(a, b, 0.1f);
      CHECK(run.steps == steps);
      CHECK(std::isnan(run.residual));
      CHECK(cellsOf(a) == heatSteps(start, steps, rulesOf(kind)).cells);
      if (steps > 0) CHECK(cellsOf(b) == heatSteps(start, steps - 1, rulesOf(kind)).cells);
    }
  }
}

TEST_CASE("stencils: iterations of views copy at the end, and further inputs stay") {
  Stencil add(
      [](Neighbourhood<int, 1> v, Neighbourhood<int, 1> source) { return v(-1) + source(0); });
  add.boundary(Periodic());
  Array<int, 1> room(12), other(5), source(5);
  for (int i = 0; i < 12; ++i) room(i) = i;
  for (int i = 0; i < 5; ++i) source(i) = 100 * i;
  add.iterate(3)(room(Range(2, 6)), source, other);
  std::vector<int> expected = {2, 3, 4, 5, 6};
  for (int s = 0; s < 3; ++s) {
    const std::vector<int> old = expected;
    for (std::size_t i = 0; i < 5; ++i) expected[i] = old[(i + 4) % 5] + 100 * static_cast<int>(i);
  }
  for (int i = 0; i < 5; ++i) CHECK(room(i + 2) == expected[static_cast<std::size_t>(i)]);
  CHECK(room(1) == 1);
  CHECK(room(7) == 7);
  CHECK(source(4) == 400);
}

TEST_CASE("stencils: until() says which iterate the arrays hold, and stops soon after the bound") {
  const Index3 n{1, 10, 9};
  const Grid<float> start = someCells<float>(n, 8);
  const Rules rules = rulesOf(Kind::Nearest);
  const float bound = 0.05f;
  int first = 0;  // multiple of 10 where the residual is below the bound
  for (Grid<float> t = start, before = start;;) {
    for (int s = 0; s < 10; ++s) {
      before = t;
      t = heatStep(t, 0.1f, rules, t);
    }
    first += 10;
    if (largestChange(t, before) < bound) break;
  }
  Stencil heat(heatOf);
  heat.boundary(Nearest());
  for (const int devices : {1, deviceCount()}) {
    Plate a = arrayOf<float, 2>(start), b(10, 9);
    const StencilRun run = heat.devices(devices).until(bound, 10).iterate(100000)(a, b, 0.1f);
    CHECK(run.converged);
    CHECK(run.residual < bound);
    CHECK(run.steps >= first);
    CHECK(run.steps <= first + 10);
    CHECK(cellsOf(a) == heatSteps(start, static_cast<int>(run.steps), rules).cells);
  }
  Plate a = arrayOf<float, 2>(start), b(10, 9);
  const StencilRun tooFew = heat.until(bound, 10).iterate(7)(a, b, 0.1f);
  CHECK(tooFew.steps == 7);
  CHECK_FALSE(tooFew.converged);
  CHECK(tooFew.residual == largestChange(heatSteps(start, 7, rules), heatSteps(start, 6, rules)));
}

TEST_CASE(
    "stencils: residuals may be the program's own, of any dimension, and NaN never converges") {
  Stencil halve([](Neighbourhood<int, 3> v) { return v(0, 0, 0) / 2; });
  Array<int, 3> a(3, 4, 5), b(3, 4, 5);
  a = 0;
  a(2, 3, 4) = 1000;
  const StencilRun run =
      halve.devices(deviceCount())
          .until(0.5, 1, [](Int now, Int before) { return cast<float>(before - now); })
          .iterate(100)(a, b);
  CHECK(run.converged);
  CHECK(run.residual == 0);
  CHECK(a(2, 3, 4) == 0);
  CHECK(run.steps >= 11);
  CHECK(run.steps <= 12);

  Stencil grow([](Neighbourhood<float, 1> v) { return v() * v(); });
  Array<float, 1> x(70), y(70);
  x = 0.5f;
  x(40) = NAN;
  const StencilRun strange = grow.devices(deviceCount()).until(0.1, 2).iterate(6)(x, y);
  CHECK(strange.steps == 6);
  CHECK_FALSE(strange.converged);
  CHECK(std::isnan(strange.residual));
}

TEST_CASE("stencils: a periodic iteration on several devices moves a few rows per step") {
  if (deviceCount() < 2) return;
  if (runtime::settings().zeroCopy != runtime::ZeroCopy::Off) return;
  const int rows = 64, columns = 48, steps = 10;
  Stencil heat(heatOf);
  heat.boundary(Periodic());
  Plate a(rows, columns), b(rows, columns);
  a = 1.0f;
  const auto on = heat.devices(deviceCount());
  on.iterate(2)(a, b, 0.1f);
  getProfile();
  on.iterate(steps)(a, b, 0.1f);
  const ProfilingData profile = getProfile();
  const std::uint64_t moved = profile.bytesDeviceToDevice;
  const auto row = static_cast<std::uint64_t>(columns) * sizeof(float);
  const auto devices = static_cast<std::uint64_t>(deviceCount());
  // Each border passes a row in both directions, that between the last and the first device among
  // them.
  CHECK(moved == 2 * devices * row * steps);
  CHECK(profile.bytesHostToDevice + profile.bytesDeviceToHost <= 2 * moved);
}

TEST_CASE("devices of stencils, programs, patterns: messages name the call, copies are their own") {
  const Stencil heat(heatOf);
  StencilProgram program;
  const PatternStencil<float, 4> pattern =
      StencilPattern({{-1, 1}, {0, 0}, {0, 0}, {0, 0}}, {1, 2, 1}, 4).specific<float, 4>();
  const Device device = defaultDevice();
  const std::vector<Device> none, twice = {device, device};
  const auto expectBoth = [&](const std::string& call, auto&& choose) {
    expectMessage(messageOf<LaunchError>([&] { choose(none); }),
                  {call + ".devices(...)", "the list of devices is empty"});
    expectMessage(messageOf<LaunchError>([&] { choose(twice); }),
                  {call + ".devices(...)", "is named twice", "larger weight"});
  };
  expectBoth("Stencil", [&](const auto& list) { heat.devices(list); });
  expectBoth("StencilProgram", [&](const auto& list) { program.devices(list); });
  expectBoth("PatternStencil", [&](const auto& list) { pattern.devices(list); });

  Plate a(16, 16), b(16, 16);
  a = 1.0f;
  b = 0.0f;
  const StencilLauncher launcher = heat.devices(std::vector<Device>{device});
  StencilLauncher weighted = launcher;
  weighted.weights({1, 2});
  launcher(a, b, 0.1f);
  CHECK(b(8, 8).value() == 1.0f);
  CHECK_THROWS_AS(weighted(a, b, 0.1f), LaunchError);
}

}  // namespace stencil_tests
