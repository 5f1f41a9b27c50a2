// SPDX-License-Identifier: Apache-2.0
// What a point function may be: function, lambda, functor; with extra arguments; with loops and
// functions of the kernel language.
#include <doctest/doctest.h>

#include <cmath>

#include "hpl/runtime/settings.h"
#include "kernel_support.h"

namespace kernel_points_tests {

using namespace hpl;
using namespace kernel_tests;

namespace {

constexpr int kRows = 19, kCols = 33;
using Grid = Array<float, 2>;
using Tile = Array<float, 2, Local>;
using Helper = Array<int, 1>;

std::vector<float> someGrid() {
  return someValues<float>(static_cast<std::size_t>(kRows * kCols), 5);
}

float at(const std::vector<float>& grid, int y, int x) {
  if (y < 0 || y >= kRows || x < 0 || x >= kCols) return 0.0f;
  return grid[static_cast<std::size_t>(y * kCols + x)];
}

/// Runs a kernel on all devices in a form, with extra arguments.
template <int Up, int Down, int Left, int Right, StencilForm Form, class K, class... Extra>
std::vector<float> resultOf(const K& kernel, const Extra&... extra) {
  Grid in(kRows, kCols), out(kRows, kCols);
  in.copyFrom(someGrid().data());
  out = 0.0f;
  auto s =
      PrepareStencilKernel2D<Up, Down, Left, Right, Form>(in, 1, deviceCount(), Domain(8, 4), 2);
  const int ghosts = std::max(Up, Down);
  eval(kernel).devices(s.devices).global(s.global).local(s.local)(
      PART1(in, ghosts), PART1(out, ghosts), s.temp, s.helper, extra...);
  std::vector<float> result(out.size());
  out.copyTo(result.data());
  return result;
}

template <class F>
std::vector<float> expected(F f) {
  const std::vector<float> in = someGrid();
  std::vector<float> result(in.size());
  for (int y = 0; y < kRows; ++y)
    for (int x = 0; x < kCols; ++x) result[static_cast<std::size_t>(y * kCols + x)] = f(in, y, x);
  return result;
}

// A mask of 3 x 5 weights in memory, read in loops of the kernel.
Float masked(AliasArray<float> p, Int row, Array<float, 1> mask, Float scale) {
  Float sum = 0.0f;
  for_(Int dy = -1, dy <= 1, dy++) {
    for_(Int dx = -2, dx <= 2, dx++) {
      sum += mask[(dy + 1) * 5 + dx + 2] * p[dy * row + dx];
    }
  }
  return sum * scale;
}

template <StencilForm Form>
void maskedKernel(Grid in, Grid out, Tile tmp, Helper helper, Array<float, 1> mask, Float scale) {
  StencilKernel2DF<1, 1, 2, 2, Form>(in, out, tmp, helper, 0.0f, masked, mask, scale);
}

// The same through a real function of the generated code.
Float fold(AliasArray<float> p, Int row) {
  Float sum = p[0];
  if_(sum > 0.0f) {
    return_(p[-row] + p[row]);
  }
  return p[-1] - p[1];
}

template <StencilForm Form>
void calling(Grid in, Grid out, Tile tmp, Helper helper) {
  StencilKernel2DF<1, 1, 1, 1, Form>(
      in, out, tmp, helper, 0.0f, [](AliasArray<float> p, Int row) { return call(fold)(p, row); });
}

// Pointers into the neighbourhood, and a stride that is more than a factor.
template <StencilForm Form>
void pointing(Grid in, Grid out, Tile tmp, Helper helper) {
  StencilKernel2DF<2, 0, 1, 1, Form>(in, out, tmp, helper, 0.0f, [](AliasArray<float> p, Int row) {
    AliasArray<float> above(p[-row]);
    Int two = row;
    two *= 2;
    return above[-1] + above[1] + 3.0f * p[-two];
  });
}

// OpenCL C.
const NativeFunction<Float(const AliasArray<float>&, Int)> nativeFold("native_fold", R"(
  float native_fold(const HPL_SPACE float* p, int row) {
    return p[0] > 0 ? p[-row] + p[row] : p[-1] - p[1];
  })");

template <StencilForm Form>
void native(Grid in, Grid out, Tile tmp, Helper helper) {
  StencilKernel2DF<1, 1, 1, 1, Form>(in, out, tmp, helper, 0.0f, nativeFold);
}
template <StencilForm Form>
void nativeInLambda(Grid in, Grid out, Tile tmp, Helper helper, Float scale) {
  StencilKernel2DF<1, 1, 1, 1, Form>(
      in, out, tmp, helper, 0.0f,
      [](AliasArray<float> p, Int row, Float s) { return s * call(nativeFold)(p, row); }, scale);
}

struct Sharpen {
  float amount;
  Expr<float> operator()(AliasArray<float> p, Int row) const {
    return p[0] + amount * (4.0f * p[0] - p[-row] - p[row] - p[-1] - p[1]);
  }
};

struct SharpenKernel {
  Sharpen f;
  void operator()(Grid in, Grid out, Tile tmp, Helper helper) const {
    StencilKernel2DN<1, 1, 1, 1>(in, out, tmp, helper, f);
  }
};

}  // namespace

TEST_CASE("extra arguments and loops of the kernel language in the point function") {
  std::vector<float> weights(15);
  for (int i = 0; i < 15; ++i) weights[static_cast<std::size_t>(i)] = static_cast<float>(i) - 6.5f;
  Array<float, 1> mask(15);
  mask.copyFrom(weights.data());
  const auto wanted = expected([&](const std::vector<float>& in, int y, int x) {
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -2; dx <= 2; ++dx)
        sum += weights[static_cast<std::size_t>((dy + 1) * 5 + dx + 2)] * at(in, y + dy, x + dx);
    return sum * 0.5f;
  });
  CHECK(resultOf<1, 1, 2, 2, StencilForm::Direct>(maskedKernel<StencilForm::Direct>, mask, 0.5f) ==
        wanted);
  CHECK(resultOf<1, 1, 2, 2, StencilForm::Tile>(maskedKernel<StencilForm::Tile>, mask, 0.5f) ==
        wanted);
}

TEST_CASE("a lambda that hands its neighbourhood on to a called function") {
  const auto wanted = expected([](const std::vector<float>& in, int y, int x) {
    return at(in, y, x) > 0.0f ? at(in, y - 1, x) + at(in, y + 1, x)
                               : at(in, y, x - 1) - at(in, y, x + 1);
  });
  CHECK(resultOf<1, 1, 1, 1, StencilForm::Direct>(calling<StencilForm::Direct>) == wanted);
  CHECK(resultOf<1, 1, 1, 1, StencilForm::Tile>(calling<StencilForm::Tile>) == wanted);
}

TEST_CASE("a point function in OpenCL C") {
  const auto fold = [](float scale) {
    return expected([scale](const std::vector<float>& in, int y, int x) {
      return scale * (at(in, y, x) > 0.0f ? at(in, y - 1, x) + at(in, y + 1, x)
                                          : at(in, y, x - 1) - at(in, y, x + 1));
    });
  };
  CHECK(resultOf<1, 1, 1, 1, StencilForm::Direct>(native<StencilForm::Direct>) == fold(1));
  CHECK(resultOf<1, 1, 1, 1, StencilForm::Tile>(native<StencilForm::Tile>) == fold(1));
  CHECK(resultOf<1, 1, 1, 1, StencilForm::Direct>(nativeInLambda<StencilForm::Direct>, 2.0f) ==
        fold(2));
  CHECK(resultOf<1, 1, 1, 1, StencilForm::Tile>(nativeInLambda<StencilForm::Tile>, 2.0f) ==
        fold(2));
}

TEST_CASE("pointers into the neighbourhood and strides that change") {
  const auto wanted = expected([](const std::vector<float>& in, int y, int x) {
    return at(in, y - 1, x - 1) + at(in, y - 1, x + 1) + 3.0f * at(in, y - 2, x);
  });
  CHECK(resultOf<2, 0, 1, 1, StencilForm::Direct>(pointing<StencilForm::Direct>) == wanted);
  CHECK(resultOf<2, 0, 1, 1, StencilForm::Tile>(pointing<StencilForm::Tile>) == wanted);
}

TEST_CASE("a functor whose members are constants of the kernel") {
  const auto nearest = [](const std::vector<float>& in, int y, int x) {
    return at(in, std::clamp(y, 0, kRows - 1), std::clamp(x, 0, kCols - 1));
  };
  for (const float amount : {0.25f, 0.75f}) {
    const auto wanted = expected([&](const std::vector<float>& in, int y, int x) {
      const float center = at(in, y, x);
      return center + amount * (4.0f * center - nearest(in, y - 1, x) - nearest(in, y + 1, x) -
                                nearest(in, y, x - 1) - nearest(in, y, x + 1));
    });
    CHECK(resultOf<1, 1, 1, 1, StencilForm::Automatic>(SharpenKernel{{amount}}) == wanted);
  }
}

TEST_CASE("large neighbourhoods are copied in loops") {
  // The call makes a copy of the 2 * 70 + 1 elements necessary.
  const auto far = [](AliasArray<int> p) {
    return call([](AliasArray<int> q) { return q[-70] + 3 * q[70] - q[0]; })(p);
  };
  const auto kernel = [far](Array<int, 1> in, Array<int, 1> out, Array<int, 1, Local> tmp,
                            Array<int, 1> helper) {
    StencilKernel1DM<70, 70, StencilForm::Direct>(in, out, tmp, helper, far);
  };
  constexpr int n = 150;
  const std::vector<int> x = someValues<int>(n, 8);
  Array<int, 1> in(n), out(n);
  in.copyFrom(x.data());
  auto s = PrepareStencilKernel1D<70, 70, StencilForm::Direct>(in, 1, 1);
  eval(kernel).devices(s.devices).global(s.global).local(s.local)(in, out, s.temp, s.helper);
  for (int i = 0; i < n; ++i) {
    const auto mirrored = [&](int k) {
      return x[static_cast<std::size_t>(k < 0 ? -1 - k : k < n ? k : 2 * n - 1 - k)];
    };
    CAPTURE(i);
    REQUIRE(out(i) == mirrored(i - 70) + 3 * mirrored(i + 70) - mirrored(i));
  }
}

}  // namespace kernel_points_tests
