// SPDX-License-Identifier: Apache-2.0
// Kernels whose neighbours read elements two apart, or in pairs, in rows.
#include <random>

#include "hpl/ir/printer.h"
#include "tests/strategies/support.h"

namespace strides_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

Rows rewrittenRows(const ir::Kernel& kernel, int lanes, int jam) {
  RowsOptions options;
  options.dims = 2;
  options.lanes = lanes;
  options.jam = jam;
  return rows(kernel, ir::analyze(kernel), options);
}

struct Extents {
  std::int64_t height, width;
  std::size_t cells() const { return static_cast<std::size_t>(height * width); }
};

/// Runs a kernel of (out, in) both ways, where `in` has exactly the elements that are asked for:
/// the interpreter finds every other access.
template <class T, class F, class Size>
void compare(const F& kernel, const Size& sizeOfIn) {
  const auto original = captured(kernel);
  for (const Extents out : {Extents{1, 1}, Extents{3, 9}, Extents{5, 17}, Extents{9, 33},
                            Extents{6, 40}, Extents{11, 71}}) {
    const Extents from = sizeOfIn(out);
    std::vector<T> in = someNumbers<T>(from.cells(), 3);
    const std::vector<T> before = someNumbers<T>(out.cells(), 4);
    const auto arguments = [&](std::vector<T>& to) {
      return std::vector<ir::Argument>{ir::arrayArgument(to.data(), {out.height, out.width}),
                                       ir::arrayArgument(in.data(), {from.height, from.width})};
    };
    const Ids ids{2, {0, 0, 0}, {std::uint64_t(out.width), std::uint64_t(out.height), 1}};
    std::vector<T> expected = before;
    runOriginal(*original, ids, arguments(expected));
    for (const auto& [lanes, jam] : {std::pair<int, int>{4, 1}, {8, 1}, {16, 1}, {8, 4}}) {
      const Rows rewritten = rewrittenRows(*original, lanes, jam);
      REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
      for (const std::uint64_t block :
           {std::uint64_t{11}, std::uint64_t{24}, std::uint64_t(out.width)}) {
        CAPTURE(out.height);
        CAPTURE(out.width);
        CAPTURE(lanes);
        CAPTURE(jam);
        CAPTURE(block);
        std::vector<T> got = before;
        runRows(rewritten, ids, {block, 5, 1}, arguments(got));
        REQUIRE(got == expected);
      }
    }
  }
}

Extents twice(const Extents& out) { return {2 * out.height, 2 * out.width}; }
Extents nodes(const Extents& out) { return {2 * out.height - 1, 2 * out.width - 1}; }
Extents halfOf(const Extents& out) { return {out.height / 2 + 1, out.width / 2 + 1}; }

void restricted(Array<int, 2> coarse, const Array<int, 2>& fine) {
  coarse[idy][idx] = 0;
  if_(idx > 0 && idy > 0 && idx + 1 < szx && idy + 1 < szy) {
    Int y = 2 * cast<int>(idy), x = 2 * cast<int>(idx);
    Int sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) sum += (3 + dy) * (5 + dx) * fine[y + dy][x + dx];
    coarse[idy][idx] = sum;
  }
}

void corrected(Array<int, 2> fine, const Array<int, 2>& coarse) {
  Int y = cast<int>(idy) / 2, x = cast<int>(idx) / 2;
  Int nextY = (cast<int>(idy) + 1) / 2, nextX = (cast<int>(idx) + 1) / 2;
  fine[idy][idx] +=
      coarse[y][x] + 3 * coarse[nextY][x] + 5 * coarse[y][nextX] + 7 * coarse[nextY][nextX];
}

}  // namespace

TEST_CASE("restriction to a coarser grid reads every second element in rows") {
  compare<int>(restricted, nodes);
}

TEST_CASE("prolongation from a coarser grid reads elements in pairs in rows") {
  compare<int>(corrected, halfOf);
}

TEST_CASE("every second element is read where its index is written in other ways") {
  compare<int>(
      [](Array<int, 2> out, const Array<int, 2>& in) {
        out[idy][idx] = in[2 * idy][2 * idx] + in[idy * 2 + 1][idx * 2 + 1];
      },
      twice);
  compare<int>(
      [](Array<int, 2> out, const Array<int, 2>& in) {
        Int x = cast<int>(idx);
        out[idy][idx] = in[idy][x + x] - 3 * in[idy][(x << 1) + 1];
      },
      twice);
  // The number on the left is a row's own, equal for all neighbours.
  compare<int>(
      [](Array<int, 2> out, const Array<int, 2>& in) {
        Int first = cast<int>(idy) % 2;
        out[idy][idx] = in[idy][first + 2 * cast<int>(idx)];
      },
      twice);
}

TEST_CASE("pairs are read where their index is written in other ways") {
  compare<int>(
      [](Array<int, 2> out, const Array<int, 2>& in) {
        out[idy][idx] = in[idy / 2][idx / 2] + 2 * in[idy >> 1][(idx + 1) >> 1];
      },
      halfOf);
  compare<int>([](Array<int, 2> out,
                  const Array<int, 2>& in) { out[idy][idx] = in[idy / 2][cast<int>(idx / 2)]; },
               halfOf);
}

TEST_CASE("elements two apart are not handed on as those of the neighbour") {
  // in[2 * (idx + 1)] is in[2 * idx] of the next id, and yet no vector's continuation.
  compare<int>(
      [](Array<int, 2> out, const Array<int, 2>& in) {
        if_(idx + 2 < szx) {
          out[idy][idx] =
              in[idy][2 * idx] + 3 * in[idy][2 * (idx + 1)] + 7 * in[idy][2 * (idx + 2)];
        }
      },
      twice);
  compare<float>(
      [](Array<float, 2> out, const Array<float, 2>& in) {
        if_(idx > 0 && idx + 1 < szx) {
          out[idy][idx] = in[idy][2 * (idx - 1)] + in[idy][2 * idx] - in[idy][2 * (idx + 1)] +
                          in[idy][idx] + in[idy][idx + 1];
        }
      },
      twice);
}

TEST_CASE("what may be negative is not halved in vectors") {
  // -1 / 2 is 0 as 0 / 2 and 1 / 2 are: three neighbours would read one element.
  const auto kernel = captured([](Array<int, 2> out, const Array<int, 2>& in) {
    out[idy][idx] = in[idy][(cast<int>(idx) - 1) / 2];
  });
  const Rows result = rewrittenRows(*kernel, 8, 1);
  CHECK(result.kernel == nullptr);
  CHECK(result.reason.find("not side by side") != std::string::npos);
}

TEST_CASE("elements three apart, and stores two apart, are left to the compiler") {
  const auto three = captured(
      [](Array<int, 2> out, const Array<int, 2>& in) { out[idy][idx] = in[idy][3 * idx]; });
  CHECK(rewrittenRows(*three, 8, 1).kernel == nullptr);
  const auto store = captured(
      [](Array<int, 2> out, const Array<int, 2>& in) { out[idy][2 * idx] = in[idy][idx]; });
  CHECK(rewrittenRows(*store, 8, 1).kernel == nullptr);
}

TEST_CASE("restriction reads whole vectors and no element alone away from the borders") {
  const auto kernel = captured(restricted);
  const Rows result = rewrittenRows(*kernel, 8, 1);
  REQUIRE_MESSAGE(result.kernel != nullptr, result.reason);
  const std::string text = ir::print(*result.kernel);
  CHECK(text.find("low") != std::string::npos);
  CHECK(text.find("high") != std::string::npos);
}

}  // namespace strides_tests
