// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "hpl/runtime/settings.h"
#include "kernel_support.h"

namespace kernel_bad_input_tests {

using namespace hpl;
using namespace kernel_tests;

namespace {

using Grid = Array<int, 2>;
using Tile = Array<int, 2, Local>;
using Helper = Array<int, 1>;

void expectMessage(const std::string& message, std::initializer_list<const char*> parts) {
  CAPTURE(message);
  for (const char* part : parts) {
    CAPTURE(part);
    CHECK(message.find(part) != std::string::npos);
  }
}

Int sumOfCross(AliasArray<int> p, Int row) { return p[-row] + p[row] + p[-1] + p[1]; }

/// Launches a kernel that must not be captured, and returns the message.
template <class K>
std::string captureMessage(const K& kernel) {
  Grid in(20, 20), out(20, 20);
  in = 1;
  out = 2;
  auto s = PrepareStencilKernel2D<1, 1, 1, 1, StencilForm::Tile>(in, 1, 1, Domain(4, 4), 1);
  const std::string message = messageOf<KernelError>([&] {
    eval(kernel).devices(s.devices).global(s.global).local(s.local)(in, out, s.temp, s.helper);
  });
  CHECK(out(3, 3) == 2);
  return message;
}

class WithBoundsCheck {
 public:
  WithBoundsCheck() : before_(runtime::settings()) {
    runtime::Settings wanted = before_;
    wanted.checkBounds = true;
    runtime::overrideSettings(wanted);
  }
  ~WithBoundsCheck() { runtime::overrideSettings(before_); }

 private:
  runtime::Settings before_;
};

}  // namespace

TEST_CASE("a stencil that reaches farther than the array is refused") {
  Grid in(3, 20);
  expectMessage(messageOf<ArgumentError>([&] { PrepareStencilKernel2D<4, 0, 1, 1>(in, 1, 1); }),
                {"PrepareStencilKernel2D<4, 0, 1, 1>", "reaches 4 elements along dimension 1",
                 "the array has 3", "smaller extents or a larger array"});
  Array<int, 1> line(5);
  expectMessage(messageOf<ArgumentError>([&] { PrepareStencilKernel1DP<0, 6>(line, 1, 1); }),
                {"PrepareStencilKernel1DP<0, 6>", "reaches 6 elements along dimension 1"});
}

TEST_CASE("a stencil that reaches farther than a part is refused") {
  if (deviceCount() < 2) return;
  const int n = deviceCount();
  Grid in(2 * n, 20);
  expectMessage(
      messageOf<ArgumentError>([&] { PrepareStencilKernel2D<3, 3, 1, 1>(in, 1, n); }),
      {"reaches 3 elements along dimension 1", "the part of device 0", "has 2", "fewer devices"});
}

TEST_CASE("ghosts narrower than the extents are refused") {
  if (deviceCount() < 2) return;
  Grid in(40, 40);
  expectMessage(messageOf<ArgumentError>(
                    [&] { PrepareStencilKernel2D<1, 2, 1, 1>(PART1(in, 1), deviceCount()); }),
                {"reaches 1 element back and 2 ahead along dimension 1", "only 1 and 1 ghost cells",
                 "PART1(array, 2)"});
  expectMessage(messageOf<ArgumentError>(
                    [&] { PrepareStencilKernel2D<1, 2, 1, 1>(PART2(in), deviceCount()); }),
                {"PART2(array, 1)"});
}

TEST_CASE("elements per work-item count from one") {
  Grid in(40, 40);
  for (const int n : {0, -3})
    expectMessage(messageOf<ArgumentError>(
                      [&] { PrepareStencilKernel2D<1, 1, 1, 1>(in, 1, 1, Domain(16, 16), n); }),
                  {(std::to_string(n) + " elements per work-item").c_str(), "at least one"});
}

TEST_CASE("the local domain has the array's dimensions and fits the device") {
  Grid in(40, 40);
  expectMessage(
      messageOf<ArgumentError>([&] { PrepareStencilKernel2D<1, 1, 1, 1>(in, 1, 1, Domain(64)); }),
      {"the local domain has 1 dimension and the array 2"});
  expectMessage(messageOf<ArgumentError>(
                    [&] { PrepareStencilKernel2D<1, 1, 1, 1>(in, 1, 1, Domain(16, 0)); }),
                {"empty in dimension 2"});
  expectMessage(messageOf<LaunchError>([&] {
                  PrepareStencilKernel2D<1, 1, 1, 1, StencilForm::Tile>(in, 1, 1,
                                                                        Domain(65536, 64));
                }),
                {"local domain (65536, 64)", "more work-items than a group of device"});
}

TEST_CASE("a tile that exceeds local memory is refused with its size and one that fits") {
  Array<float, 3> in(200, 200, 200);
  const DeviceProperties device = defaultDevice().getProperties();
  // Enough elements per work-item that the tile, 6 x 6 x (4 most + 2), is a fifth too large, and
  // one of half the depth, 4 x 6 x (4 most + 2), is not.
  const int most = static_cast<int>(device.localMemory / (sizeof(float) * 4 * 30));
  std::string message = messageOf<LaunchError>([&] {
    PrepareStencilKernel3D<1, 1, 1, 1, 1, 1, StencilForm::Tile>(in, 1, 1, Domain(4, 4, 4), most);
  });
  expectMessage(message,
                {"local domain (4, 4, 4)", "bytes of local memory",
                 std::to_string(device.localMemory).c_str(), "local domain (4, 4, 2) would fit"});
  // The rows may be padded.
  const std::size_t bytes = sizeof(float) * 6 * 6 * (4 * static_cast<std::size_t>(most) + 2);
  const std::string before = "per work-item takes ";
  REQUIRE(message.find(before) != std::string::npos);
  const std::size_t named = std::stoul(message.substr(message.find(before) + before.size()));
  CHECK(named >= bytes);
  CHECK(named < bytes + bytes / 2);
  message = messageOf<LaunchError>([&] {
    PrepareStencilKernel3D<1, 1, 1, 1, 1, 1, StencilForm::Tile>(in, 1, 1, Domain(1, 1, 1),
                                                                1000 * most);
  });
  expectMessage(message, {"no local domain fits", "fewer elements"});
  // The library's own choice fits.
  const auto s = PrepareStencilKernel3D<9, 9, 9, 9, 9, 9, StencilForm::Tile>(in, 1, 1);
  std::size_t elements = 1;
  for (const auto extent : s.temp.localExtents()) elements *= static_cast<std::size_t>(extent);
  CHECK(elements * sizeof(float) <= device.localMemory);
}

TEST_CASE("devices and dimensions must exist") {
  Grid in(40, 40);
  expectMessage(messageOf<DeviceError>([&] { PrepareStencilKernel2D<1, 1, 1, 1>(in, 1, 1000); }),
                {"1000 devices are asked for", "HPL_DEVICES"});
  expectMessage(messageOf<ArgumentError>([&] { PrepareStencilKernel2D<1, 1, 1, 1>(in, 1, 0); }),
                {"0 devices", "at least one"});
  for (const int dim : {0, 3})
    expectMessage(messageOf<ArgumentError>([&] { PrepareStencilKernel2D<1, 1, 1, 1>(in, dim, 1); }),
                  {("dimension " + std::to_string(dim) + " is to be split").c_str(),
                   "the array has 2 dimensions", "count from 1"});
  expectMessage(
      messageOf<ArgumentError>([&] { PrepareStencilKernel2D<1, 1, 1, 1>(PART3(in, 1), 1); }),
      {"dimension 3 is to be split"});
}

TEST_CASE("a periodic stencil cannot be split along a dimension that it reaches along") {
  if (deviceCount() < 2) return;
  Grid in(40, 40);
  const int n = deviceCount();
  expectMessage(messageOf<ArgumentError>([&] { PrepareStencilKernel2DP<1, 1, 1, 1>(in, 1, n); }),
                {"dimension 1 of a periodic stencil is split over", "does not have the last",
                 "one device", "launch-level Stencil"});
  expectMessage(messageOf<ArgumentError>([&] {
                  PrepareStencilKernel(inputs(input<1, 1, 1, 1>(in), inputP<0, 1, 0, 0>(in)), 1, n);
                }),
                {"periodic"});
  // Along the other dimension it reaches nowhere.
  CHECK(PrepareStencilKernel2DP<0, 0, 1, 1>(in, 1, n).helper.size() == static_cast<std::size_t>(n));
}

TEST_CASE("input and output must be different arrays that can be read and written") {
  expectMessage(captureMessage([](Grid in, Grid, Tile tmp, Helper helper) {
                  StencilKernel2DF<1, 1, 1, 1>(in, in, tmp, helper, 0, sumOfCross);
                }),
                {"StencilKernel2DF", "is input and output", "swap(in, out)"});
  expectMessage(captureMessage([](Grid in, const Grid& out, Tile tmp, Helper helper) {
                  StencilKernel2DN<1, 1, 1, 1>(in, out, tmp, helper, sumOfCross);
                }),
                {"StencilKernel2DN", "const parameter", "by value"});
  expectMessage(captureMessage([](Grid in, Grid out, Tile tmp, Helper helper) {
                  StencilKernel(inputs(input<1, 1, 1, 1>(in)), outputs(out, out), temps(tmp),
                                helper, [](AliasArray<int> p, Int row) {
                                  return std::tuple<Int, Int>(p[row], p[1]);
                                });
                }),
                {"two outputs"});
  expectMessage(captureMessage([](Grid in, Grid out, Tile tmp, Helper helper) {
                  StencilKernel(inputs(inputF<1, 1, 1, 1>(in)), outputs(out), temps(tmp), helper,
                                sumOfCross);
                }),
                {"input 1 has a fixed value", "says none"});
}

TEST_CASE("a point function that reads beyond the declared extents is refused in both forms") {
  expectMessage(captureMessage([](Grid in, Grid out, Tile tmp, Helper helper) {
                  StencilKernel2DF<0, 1, 1, 1>(in, out, tmp, helper, 0, sumOfCross);
                }),
                {"StencilKernel2DF<0, 1, 1, 1>", "reads the element 1 up", "kernel_bad_input_tests",
                 "the extents allow 0"});
  expectMessage(captureMessage([](Grid in, Grid out, Tile tmp, Helper helper) {
                  StencilKernel2DM<1, 1, 1, 1, StencilForm::Tile>(in, out, tmp, helper,
                                                                  [](AliasArray<int> p, Int row) {
                                                                    Int two = 2 * row;
                                                                    return p[two - 1];
                                                                  });
                }),
                {"reads the element 2 down", "the extents allow 1"});
  expectMessage(captureMessage([](Grid in, Grid out, Tile tmp, Helper helper) {
                  StencilKernel2D<1, 1, 1, 0>(in, out, tmp, helper, sumOfCross);
                }),
                {"reads the element 1 to the right", "the extents allow 0"});
}

TEST_CASE("a point function may not write to its neighbours") {
  expectMessage(captureMessage([](Grid in, Grid out, Tile tmp, Helper helper) {
                  StencilKernel2DF<1, 1, 1, 1>(in, out, tmp, helper, 0,
                                               [](AliasArray<int> p, Int row) {
                                                 p[row] = 3;
                                                 return p[0];
                                               });
                }),
                {"writes to a neighbour", "only read"});
}

TEST_CASE("helpers for another number of devices are refused by the launch") {
  Grid in(40, 40), out(40, 40);
  in = 1;
  out = 2;
  auto s = PrepareStencilKernel2D<1, 1, 1, 1>(in, 1, 1);
  s.helper.push_back(s.helper.front());
  const auto kernel = [](Grid a, Grid b, Tile tmp, Helper helper) {
    StencilKernel2DF<1, 1, 1, 1>(a, b, tmp, helper, 0, sumOfCross);
  };
  expectMessage(messageOf<ArgumentError>([&] {
                  eval(kernel).devices(s.devices).global(s.global).local(s.local)(in, out, s.temp,
                                                                                  s.helper);
                }),
                {"argument 4", "std::vector of 2 values", "one value per device"});
  CHECK(out(5, 5) == 2);
}

TEST_CASE("the tile form refuses parts that it was not prepared for") {
  const auto cross = [](Grid a, Grid b, Tile tmp, Helper helper) {
    StencilKernel2DF<1, 1, 1, 1, StencilForm::Tile>(a, b, tmp, helper, 0, sumOfCross);
  };
  Grid small(40, 20), in(60, 20), out(60, 20);
  in = 1;
  out = 2;
  auto s = PrepareStencilKernel2D<1, 1, 1, 1, StencilForm::Tile>(small, 1, 1, Domain(4, 4), 2);
  const auto launch = [&](auto&&... arrays) {
    return messageOf<LaunchError>([&] {
      eval(cross).devices(s.devices).global(s.global).local(s.local)(arrays..., s.temp, s.helper);
    });
  };
  expectMessage(launch(in, out),
                {"StencilKernel2DF in kernel", "array 'a1' is a part of 60 x 20 elements",
                 "PrepareStencilKernel2D<1, 1, 1, 1> prepared the tile form for 40 x 20 elements",
                 "ghosts and devices of the launch", "without .weights", "StencilForm::Direct"});
  CHECK(out(5, 5) == 2);
  expectMessage(launch(in(Range(0, 39), Range(0, 19)), out), {"array 'a2' is a part of 60 x 20"});
  // A view of the right shape is what was prepared.
  CHECK(launch(in(Range(10, 49), Range(0, 19)), out(Range(10, 49), Range(0, 19))) ==
        "nothing was thrown");
  CHECK(out(20, 5) == 4);
  CHECK(out(55, 5) == 2);
}

TEST_CASE("the tile form refuses other ghosts and other shares than those of its devices") {
  if (deviceCount() < 2) return;
  const auto cross = [](Grid a, Grid b, Tile tmp, Helper helper) {
    StencilKernel2DF<1, 1, 1, 1, StencilForm::Tile>(a, b, tmp, helper, 0, sumOfCross);
  };
  Grid in(40, 20), out(40, 20);
  in = 1;
  out = 2;
  const auto s = PrepareStencilKernel2D<1, 1, 1, 1, StencilForm::Tile>(
      PART1(in, 1), firstDevices(2), Domain(4, 4), 2);
  const auto message = [&](const std::vector<double>& weights, int ghosts, auto prepared) {
    return messageOf<LaunchError>([&] {
      eval(cross)
          .devices(prepared.devices)
          .weights(weights)
          .global(prepared.global)
          .local(prepared.local)(PART1(in, ghosts), PART1(out, ghosts), prepared.temp,
                                 prepared.helper);
    });
  };
  expectMessage(message({1, 1}, 3, s), {"array 'a1' is a part of 23 x 20 elements",
                                        "prepared the tile form for 21 x 20 elements"});
  expectMessage(message({3, 1}, 1, s), {"array 'a1' is a part of 31 x 20 elements",
                                        "prepared the tile form for 21 x 20 elements"});
  // As many elements, but others.
  auto exchanged = s;
  std::swap(exchanged.helper[0], exchanged.helper[1]);
  expectMessage(message({1, 1}, 1, exchanged),
                {"is a part of 21 x 20 elements at ", "for 21 x 20 elements at "});
  CHECK(out(5, 5) == 2);
  CHECK(message({1, 1}, 1, s) == "nothing was thrown");
  CHECK(out(5, 5) == 4);
}

TEST_CASE("HPL_CHECK=bounds reports helpers of another preparation") {
  Grid in(40, 40), out(40, 40);
  in = 1;
  out = 2;
  const WithBoundsCheck guard;
  const auto direct = [](Grid a, Grid b, Tile tmp, Helper helper) {
    StencilKernel2DF<1, 1, 1, 1, StencilForm::Direct>(a, b, tmp, helper, 0, sumOfCross);
  };
  const auto tiled = [](Grid a, Grid b, Tile tmp, Helper helper) {
    StencilKernel2DF<1, 1, 1, 1, StencilForm::Tile>(a, b, tmp, helper, 0, sumOfCross);
  };
  const auto message = [&](const auto& kernel, auto s) {
    return messageOf<BoundsError>([&] {
      eval(kernel).devices(s.devices).global(s.global).local(s.local)(in, out, s.temp, s.helper);
    });
  };
  const auto other = PrepareStencilKernel2D<1, 1, 1, 0, StencilForm::Direct>(in, 1, 1);
  expectMessage(message(direct, other), {"helper_of_PrepareStencilKernel2D<1, 1, 1, 0>"});
  const auto otherTile =
      PrepareStencilKernel2D<2, 1, 1, 1, StencilForm::Tile>(in, 1, 1, Domain(4, 4), 2);
  expectMessage(message(tiled, otherTile), {"helper_of_PrepareStencilKernel2D<2, 1, 1, 1>"});
  const auto right =
      PrepareStencilKernel2D<1, 1, 1, 1, StencilForm::Tile>(in, 1, 1, Domain(4, 4), 2);
  CHECK(message(tiled, right) == "nothing was thrown");
  CHECK(out(0, 0) == 2);
  CHECK(out(1, 0) == 3);
  CHECK(out(7, 7) == 4);
}

}  // namespace kernel_bad_input_tests
