// SPDX-License-Identifier: Apache-2.0
// Kernels whose work-items read their own elements only, on the device: what is chosen for them on
// CPUs, and that it computes the same.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/launch/detail/device_plan.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/settings.h"

namespace own_elements_tests {

using namespace hpl;

namespace {

void grade(Array<unsigned char, 2> out, const Array<int, 2>& in, Int low, Int high) {
  Int value = in[idy][idx];
  out[idy][idx] = where(value >= high, 255, where(value >= low, 128, 0));
}

void powers(Array<float, 1> y, const Array<float, 1>& x) {
  Float sum = 0.0f;
  for (int i = 1; i < 10; ++i) sum = sum * x[idx] + static_cast<float>(i);
  y[idx] = sum;
}

void twice(Array<float, 1> y, const Array<float, 1>& x) { y[idx] = 2.0f * x[idx]; }

template <class F, class... A>
std::string choiceOf(F kernel, const A&... arguments) {
  const std::vector<launch::Argument> list{launch::makeArgument(arguments)...};
  launch::KernelEntry& entry = *launch::entryOf<F>(kernel).entry;
  const launch::LaunchOptions options = launch::resolved({}, false);
  return launch::makePlan(entry, options, *options.device, list)->choice;
}

bool isChosenByRules() {
  return defaultDevice().type() == CPU && runtime::settings().strategy == runtime::Strategy::Auto &&
         !runtime::settings().checkBounds;
}

template <class T, int N>
std::vector<T> contents(const Array<T, N>& array) {
  std::vector<T> values(array.size());
  array.copyTo(values.data());
  return values;
}

}  // namespace

TEST_CASE("elements of their own: narrow ones are computed in rows") {
  constexpr int kRows = 203, kColumns = 301;
  Array<int, 2> in(kRows, kColumns);
  Array<unsigned char, 2> out(kRows, kColumns);
  int* values = in.data(HPL_WR);
  for (int i = 0; i < kRows * kColumns; ++i) values[i] = i * 7919 % 1009;
  out = static_cast<unsigned char>(7);
  eval(grade)(out, in, 300, 600);
  const std::vector<unsigned char> got = contents(out);
  for (int i = 0; i < kRows * kColumns; ++i) {
    const int value = i * 7919 % 1009;
    REQUIRE(int{got[static_cast<std::size_t>(i)]} == (value >= 600 ? 255 : value >= 300 ? 128 : 0));
  }
  if (!isChosenByRules()) return;
  const std::string choice = choiceOf(&grade, out, in, 300, 600);
  CAPTURE(choice);
  CHECK(choice.starts_with("rows: "));
  CHECK(choice.ends_with(", for elements of 1 byte"));
}

TEST_CASE("elements of their own: operations decide, and whether groups share a row") {
  constexpr int kCount = 70001;
  Array<float, 1> x(kCount), y(kCount), z(kCount);
  float* values = x.data(HPL_WR);
  for (int i = 0; i < kCount; ++i) values[i] = static_cast<float>(i % 7 - 3);
  eval(powers)(y, x);
  eval(twice)(z, x);
  const std::vector<float> sums = contents(y), doubled = contents(z);
  for (int i = 0; i < kCount; ++i) {
    const auto value = static_cast<float>(i % 7 - 3);
    // Small whole numbers: exact in any order.
    float sum = 0;
    for (int k = 1; k < 10; ++k) sum = sum * value + static_cast<float>(k);
    REQUIRE(sums[static_cast<std::size_t>(i)] == sum);
    REQUIRE(doubled[static_cast<std::size_t>(i)] == 2 * value);
  }
  if (!isChosenByRules()) return;
  // The number is prime.
  CHECK(choiceOf(&twice, z, x).ends_with(", for rows that groups would not share evenly"));
  Array<float, 1> even(1 << 17), result(1 << 17);
  CHECK(choiceOf(&twice, result, even) ==
        "direct: each work-item reads its own elements only, with 1 operation, so memory decides");
  CHECK(choiceOf(&powers, result, even).ends_with(", for 9 operations on elements of its own"));
}

TEST_CASE("on CPUs a row that no usual group divides is a group") {
  if (getDeviceNumber(CPU) == 0) return;
  const Device device(CPU, 0);
  const auto localOf = [&](std::size_t width, std::size_t height) {
    launch::LaunchOptions options;
    options.global = Domain(width, height);
    return layout::chooseShape(launch::domainsOf(options), nullptr, device.state(), "kernel")
        .local[0];
  };
  if (device.state().properties().maxWorkGroupSize < 4096) return;
  const std::size_t many = std::size_t{64} * device.state().properties().computeUnits;
  CHECK(localOf(3001, many) == 3001);
  CHECK(localOf(1000, many) == 1000);
  CHECK(localOf(2048, many) == 256);
  // Few rows are divided, so that every unit gets some.
  CHECK(localOf(3001, 1) <= 256);
}

}  // namespace own_elements_tests
