// SPDX-License-Identifier: Apache-2.0
// Skeletons refuse what cannot be computed, and say why.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "hpl/error.h"
#include "skeleton_support.h"
#include "stencil_support.h"

namespace skeleton_bad_input_tests {

using namespace hpl;
using namespace skeleton_tests;
using stencil_tests::deviceCount;
using stencil_tests::expectMessage;
using stencil_tests::messageOf;

namespace {

using Skeleton = StencilSkeleton<float, 2>;

void nativeSkip(InOut<Array<float, 2>>, In<Array<float, 2>>) {}

/// The message of run() for a choice.
template <class E>
std::string refused(const std::function<void(Skeleton&)>& choose) {
  Skeleton skeleton(star4());
  choose(skeleton);
  return messageOf<E>([&] { skeleton.run({12, 10}, 2); });
}

}  // namespace

TEST_CASE("stencils: skeletons refuse sizes and numbers of iterations that cannot be") {
  Skeleton skeleton(star9());
  expectMessage(messageOf<ShapeError>([&] {
                  skeleton.run({12, 0}, 2);
                }),
                {"dimension 2 of 2 has 0 cells", "give at least 1"});
  expectMessage(messageOf<ShapeError>([&] {
                  skeleton.run({-3, 9}, 2);
                }),
                {"dimension 1 of 2 has -3 cells"});
  expectMessage(messageOf<ArgumentError>([&] {
                  skeleton.run({12, 9}, -1);
                }),
                {"-1 iterations", "give 0 or more"});
  expectMessage(messageOf<ShapeError>([&] {
                  skeleton.run({12, 4}, 0);
                }),
                {"reaches from -2 to 2 along dimension 2", "4 cells", "give 5 or more"});
  expectMessage(messageOf<ArgumentError>([] { StencilSkeleton<float, 3> other(star4()); }),
                {"the pattern has 2 dimensions, but the skeleton has 3", "StencilSkeleton<T, 2>"});
}

TEST_CASE("stencils: skeletons refuse shares and blocks that do not fit the devices") {
  const int n = deviceCount();
  const std::vector<double> many(static_cast<std::size_t>(n) + 1, 1.0);
  expectMessage(refused<LaunchError>([&](Skeleton& s) { s.weights(many); }),
                {std::to_string(n + 1) + " weights for " + std::to_string(n) + " device",
                 "give one for each device"});
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()}) {
    std::vector<double> weights(static_cast<std::size_t>(n), 1.0);
    weights.back() = bad;
    expectMessage(refused<LaunchError>([&](Skeleton& s) { s.weights(weights); }),
                  {"weight " + std::to_string(n) + " is", "weights are positive numbers"});
  }
  expectMessage(refused<LaunchError>([&](Skeleton& s) {
                  s.blocks({n + 1, 1});
                }),
                {"that makes " + std::to_string(n + 1) + " blocks, but there are " +
                     std::to_string(n) + " devices",
                 "one block for each device"});
  expectMessage(refused<LaunchError>([&](Skeleton& s) { s.blocks({n}); }),
                {"there are 2 dimensions", "slowest first"});
  expectMessage(refused<LaunchError>([&](Skeleton& s) {
                  s.blocks({0, n});
                }),
                {"0 blocks along dimension 1", "give 1 or more"});
  expectMessage(refused<LaunchError>([&](Skeleton& s) {
                  s.blocks({1, 11});
                }),
                {"dimension 2 has 10 cells, fewer than blocks"});
  expectMessage(refused<LaunchError>([&](Skeleton& s) {
                  s.devices({defaultDevice(), defaultDevice()});
                }),
                {"is named twice", "larger weight"});
  const StencilPattern four({{-1, 1}, {0, 0}, {0, 0}, {0, 0}}, {1, 0, 1});
  StencilSkeleton<float, 4> skeleton(four);
  skeleton.blocks({1, 1, 1, n});
  expectMessage(messageOf<LaunchError>([&] {
                  skeleton.run({4, 4, 4, 4}, 1);
                }),
                {"4 dimensions is cut into bands", "leave blocks out"});
}

TEST_CASE("stencils: skeletons refuse empty choices when they are made") {
  Skeleton skeleton(star4());
  const auto refuses = [](const std::function<void()>& choose, const char* choice,
                          const char* reason) {
    expectMessage(messageOf<ArgumentError>(choose), {"stencil skeleton", choice, reason});
  };
  refuses([&] { skeleton.devices({}); }, "devices(...)", "name at least one");
  refuses([&] { skeleton.weights(std::vector<double>()); }, "weights(...)", "give one for each");
  refuses([&] { skeleton.blocks({}); }, "blocks(...)", "a number for each dimension");
  refuses([&] { skeleton.every(0, [](std::int64_t) { return false; }); }, "every(...)",
          "must be positive");
  refuses([&] { skeleton.every(1, nullptr); }, "every(...)", "give a function");
  refuses([&] { skeleton.init(1, {}); }, "no field 1", "there are 1, counted from 0");
  refuses([&] { skeleton.output(-1, {}); }, "no field -1", "counted from 0");
  refuses([] { Skeleton(0, [](StencilProgram&, Skeleton::Fields&) {}); }, "a program",
          "at least one field");
  refuses([] { Skeleton(1, nullptr); }, "a program", "is empty");
  Stencil copy([](Neighbourhood<float, 2> p) { return p(0, 0); });
  refuses([&] { Skeleton(copy).generic(); }, "generic()", "only a pattern has one");
  refuses([&] { Skeleton(copy).kernel(nativeSkip); }, "kernel(f)", "only a pattern has one");
}

TEST_CASE("stencils: skeletons pass on what is wrong with kernels, stencils and programs") {
  nativeHandle(nativeSkip, "skip",
               "kernel void skip(global float* out, global const float* in) {}");
  expectMessage(refused<ArgumentError>([](Skeleton& s) { s.kernel(nativeSkip, 1.0f); }),
                {"kernel 'skip' takes 2 arguments, but 3 were given"});
  Stencil two(
      [](Neighbourhood<float, 2> p, Neighbourhood<float, 2> q) { return p(0, 0) + q(0, 0); });
  expectMessage(messageOf<ArgumentError>([&] {
                  Skeleton(two).run({12, 10}, 1);
                }),
                {"takes 2 inputs, 1 output", "called with 2 arguments"});
  const Skeleton empty(1, [](StencilProgram&, Skeleton::Fields&) {});
  expectMessage(messageOf<ArgumentError>([&] { empty.run({12, 10}, 1); }), {"function"});
  if (deviceCount() < 2) return;
  expectMessage(refused<LaunchError>([](Skeleton& s) {
                  s.kernel(nativeSkip).blocks({1, deviceCount()});
                }),
                {"OpenCL C", "cut into bands", "leave blocks(...) out"});
}

}  // namespace skeleton_bad_input_tests
