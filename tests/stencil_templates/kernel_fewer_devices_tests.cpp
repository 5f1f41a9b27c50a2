// SPDX-License-Identifier: Apache-2.0
// Launches as Figure 9 prints them, without .devices(...), go to the devices that were prepared
// for: one, some or all of those that there are, in any order.
#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernel_support.h"

namespace kernel_fewer_devices_tests {

using namespace hpl;
using namespace kernel_tests;

namespace {

template <StencilForm Form>
void line(Array<int, 1> in, Array<int, 1> out, Array<int, 1, Local> tmp, Array<int, 1> helper) {
  StencilKernel1DF<2, 1, Form>(in, out, tmp, helper, 7,
                               [](AliasArray<int> p) { return p[-2] + 2 * p[0] + 3 * p[1]; });
}
template <StencilForm Form>
void plane(Array<int, 2> in, Array<int, 2> out, Array<int, 2, Local> tmp, Array<int, 1> helper) {
  StencilKernel2DF<1, 1, 1, 1, Form>(in, out, tmp, helper, 7, [](AliasArray<int> p, Int row) {
    return p[-row - 1] + 2 * p[row] + 3 * p[1] - p[0];
  });
}
template <StencilForm Form>
void space(Array<int, 3> in, Array<int, 3> out, Array<int, 3, Local> tmp, Array<int, 1> helper) {
  StencilKernel3DF<1, 1, 1, 0, 0, 2, Form>(in, out, tmp, helper, 7,
                                           [](AliasArray<int> p, Int row, Int plane) {
                                             return p[-plane] + 2 * p[plane - row] + 3 * p[2];
                                           });
}

/// The cell of an array of shape n, 7 beyond it.
int at(const std::vector<int>& cells, const Shape& n, int k, int j, int i) {
  if (k < 0 || j < 0 || i < 0 || k >= n[0] || j >= n[1] || i >= n[2]) return 7;
  return cells[static_cast<std::size_t>((k * n[1] + j) * n[2] + i)];
}

template <int N>
std::vector<int> stepOnHost(const std::vector<int>& old, const Shape& n) {
  std::vector<int> next;
  for (int k = 0; k < n[0]; ++k)
    for (int j = 0; j < n[1]; ++j)
      for (int i = 0; i < n[2]; ++i) {
        const auto cell = [&](int dk, int dj, int di) {
          return at(old, n, k + dk, j + dj, i + di);
        };
        if (N == 1) next.push_back(cell(0, 0, -2) + 2 * cell(0, 0, 0) + 3 * cell(0, 0, 1));
        if (N == 2)
          next.push_back(cell(0, -1, -1) + 2 * cell(0, 1, 0) + 3 * cell(0, 0, 1) - cell(0, 0, 0));
        if (N == 3) next.push_back(cell(-1, 0, 0) + 2 * cell(1, -1, 0) + 3 * cell(0, 0, 2));
      }
  return next;
}

template <StencilForm Form>
auto prepared(const Array<int, 1>& in, const StencilDevices& devices) {
  return PrepareStencilKernel1D<2, 1, Form>(in, 1, devices, Domain(16), 4);
}
template <StencilForm Form>
auto prepared(const Array<int, 2>& in, const StencilDevices& devices) {
  return PrepareStencilKernel2D<1, 1, 1, 1, Form>(in, 1, devices, Domain(16, 16), 4);
}
template <StencilForm Form>
auto prepared(const Array<int, 3>& in, const StencilDevices& devices) {
  return PrepareStencilKernel3D<1, 1, 1, 0, 0, 2, Form>(in, 1, devices, Domain(8, 2, 2), 2);
}

/// Three steps as Figure 9 makes them.
template <StencilForm Form, int N>
bool isRight(const Shape& n, const StencilDevices& devices) {
  const auto cells = static_cast<std::size_t>(n[0] * n[1] * n[2]);
  std::vector<int> wanted = someValues<int>(cells, 5);
  Array<int, N> in = arrayOf<int, N>(n, wanted), out = arrayOf<int, N>(n, wanted);
  constexpr int kWidth = N == 1 ? 2 : 1;
  auto s = prepared<Form>(in, devices);
  for (int step = 0; step < 3; ++step) {
    const auto launch = [&](const auto& kernel) {
      eval(kernel).global(s.global).local(s.local)(PART1(in, kWidth), PART1(out, kWidth), s.temp,
                                                   s.helper);
    };
    if constexpr (N == 1) launch(line<Form>);
    if constexpr (N == 2) launch(plane<Form>);
    if constexpr (N == 3) launch(space<Form>);
    out.syncGhosts();
    swap(in, out);
    wanted = stepOnHost<N>(wanted, n);
  }
  std::vector<int> got(cells);
  in.copyTo(got.data());
  return got == wanted;
}

template <StencilForm Form>
void checkAll(const StencilDevices& devices) {
  CHECK(isRight<Form, 1>({1, 1, 130}, devices));
  CHECK(isRight<Form, 2>({1, 41, 37}, devices));
  CHECK(isRight<Form, 3>({13, 9, 20}, devices));
}

}  // namespace

TEST_CASE("Figure 9 as printed, prepared for one to all of the devices, in 1-D, 2-D and 3-D") {
  for (int n = 1; n <= deviceCount(); ++n) {
    CAPTURE(n);
    checkAll<StencilForm::Automatic>(n);
    checkAll<StencilForm::Tile>(n);
  }
}

TEST_CASE("Figure 9 as printed, prepared for a list of devices in another order") {
  std::vector<Device> list = firstDevices(deviceCount());
  std::reverse(list.begin(), list.end());
  if (list.size() > 2) list.pop_back();
  checkAll<StencilForm::Automatic>(list);
  checkAll<StencilForm::Tile>(list);
}

TEST_CASE("Figure 9 as printed goes to the devices that the helper was prepared for") {
  Array<int, 2> in(40, 30), out(40, 30);
  in = 1;
  for (int n = 1; n <= deviceCount(); ++n) {
    const auto s = PrepareStencilKernel2D<1, 1, 1, 1>(in, 1, n);
    CHECK(s.helper.devices() == s.devices);
    CHECK(s.devices.size() == static_cast<std::size_t>(n));
    CHECK(s.devices == firstDevices(n));
    // A launch that names its devices goes there, and helpers for others are refused.
    if (n == deviceCount()) continue;
    const std::string message = messageOf<ArgumentError>([&] {
      eval(plane<StencilForm::Automatic>)
          .devices(deviceCount())(PART1(in, 1), PART1(out, 1), s.temp, s.helper);
    });
    CHECK(message.find("give one value per device") != std::string::npos);
  }
}

TEST_CASE("helpers that were prepared for different devices are refused, with both ways out") {
  if (deviceCount() < 2) return;
  const auto kernel = [](Array<int, 1> in, Array<int, 1> out, Array<int, 1> one,
                         Array<int, 1> another) { out[idx] = in[idx] + one[0] + another[0]; };
  Array<int, 1> in(40), out(40);
  in = 1;
  out = -1;
  const std::vector<Device> two = firstDevices(2);
  const auto one = PrepareStencilKernel1D<2, 1, StencilForm::Tile>(in, 1, two);
  const auto reversed =
      PrepareStencilKernel1D<2, 1, StencilForm::Tile>(in, 1, std::vector<Device>{two[1], two[0]});
  CHECK(messageOf<LaunchError>(
            [&] { eval(kernel)(PART1(in, 2), PART1(out, 2), one.helper, reversed.helper); }) ==
        "eval: argument 4 was made for other devices than an argument before it; make both for the "
        "same devices, or name those of the launch with .devices(...)");
  CHECK(out(0) == -1);
}

TEST_CASE("Figure 9 with several inputs, prepared for fewer devices than there are") {
  using Grid = Array<int, 2>;
  const auto kernel = [](Grid a, Grid b, Grid out, Array<int, 2, Local> ta, Array<int, 2, Local> tb,
                         Array<int, 1> helper) {
    StencilKernel(inputs(inputF<1, 1, 0, 0>(a, 7), inputF<0, 0, 1, 1>(b, 7)), outputs(out),
                  temps(ta, tb), helper,
                  [](AliasArray<int> p, AliasArray<int> q, Int row) { return p[-row] + 2 * q[1]; });
  };
  const Shape n{1, 41, 37};
  const auto first = someValues<int>(41 * 37, 5), second = someValues<int>(41 * 37, 6);
  for (int devices = 1; devices <= deviceCount(); ++devices) {
    CAPTURE(devices);
    Grid a = arrayOf<int, 2>(n, first), b = arrayOf<int, 2>(n, second), out(41, 37);
    auto s = PrepareStencilKernel(inputs(inputF<1, 1, 0, 0>(a), inputF<0, 0, 1, 1>(b)), 1, devices);
    eval(kernel).global(s.global).local(s.local)(PART1(a, 1), PART1(b, 1), PART1(out, 1),
                                                 std::get<0>(s.temps), std::get<1>(s.temps),
                                                 s.helper);
    bool isSame = true;
    for (int y = 0; y < 41; ++y)
      for (int x = 0; x < 37; ++x)
        isSame = isSame && out(y, x) == at(first, n, 0, y - 1, x) + 2 * at(second, n, 0, y, x + 1);
    CHECK(isSame);
  }
}

TEST_CASE("Figure 9 prepared for more devices than there are, or for none, is refused") {
  const Array<int, 2> in(40, 30);
  const int more = deviceCount() + 1;
  const std::string tooMany =
      messageOf<DeviceError>([&] { PrepareStencilKernel2D<1, 1, 1, 1>(in, 1, more); });
  CHECK(tooMany.find("PrepareStencilKernel2D<1, 1, 1, 1>: " + std::to_string(more) +
                     " devices are asked for, and there ") == 0);
  CHECK(tooMany.find("HPL_DEVICES=\"cpu:0*" + std::to_string(more) + "\"") != std::string::npos);
  CHECK(messageOf<ArgumentError>([&] { PrepareStencilKernel2D<1, 1, 1, 1>(in, 1, 0); }) ==
        "PrepareStencilKernel2D<1, 1, 1, 1>: 0 devices; ask for at least one");
  CHECK(messageOf<ArgumentError>([&] {
          PrepareStencilKernel2D<1, 1, 1, 1>(in, 1, std::vector<Device>());
        }).find("0 devices; ask for at least one") != std::string::npos);
}

}  // namespace kernel_fewer_devices_tests
