// SPDX-License-Identifier: Apache-2.0
// Kernels that treat a place in the middle of the domain apart, such as a source, in rows.
#include <random>

#include "hpl/ir/printer.h"
#include "tests/strategies/support.h"

namespace points_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

/// Places in a row of this width, at its ends, beyond them, and far beyond.
std::vector<int> placesIn(std::int64_t width) {
  const int last = static_cast<int>(width) - 1;
  return {-1000, -1, 0, 1, last / 2, last - 1, last, last + 1, 100000};
}

/// Runs a kernel of (out, in, x, y) both ways, for places everywhere.
template <class T, class F>
void compareSources(const F& kernel, const std::vector<int>& jams = {1, 4}) {
  const auto original = captured(kernel);
  const ir::AccessSummary summary = ir::analyze(*original);
  std::mt19937 random(7);
  for (const auto& [height, width] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {2, 9}, {7, 21}, {13, 40}}) {
    const auto cells = static_cast<std::size_t>(height * width);
    std::vector<T> in = someNumbers<T>(cells, 3);
    const std::vector<T> before = someNumbers<T>(cells, 4);
    const Ids ids{2, {0, 0, 0}, {std::uint64_t(width), std::uint64_t(height), 1}};
    for (const int jam : jams) {
      RowsOptions options;
      options.dims = 2;
      options.lanes = jam == 4 ? 4 : 8;
      options.jam = jam;
      options.vectors = jam == 2 ? 2 : 1;
      const Rows rewritten = rows(*original, summary, options);
      REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
      for (const int x : placesIn(width)) {
        for (int y : {-1, 0, static_cast<int>(height) / 2, static_cast<int>(height) - 1}) {
          CAPTURE(height);
          CAPTURE(width);
          CAPTURE(jam);
          CAPTURE(x);
          CAPTURE(y);
          const auto arguments = [&](std::vector<T>& out) {
            return std::vector<ir::Argument>{ir::arrayArgument(out.data(), {height, width}),
                                             ir::arrayArgument(in.data(), {height, width}),
                                             ir::scalarArgument(x), ir::scalarArgument(y)};
          };
          std::vector<T> expected = before, got = before;
          runOriginal(*original, ids, arguments(expected));
          const std::uint64_t blockX = random() % 2 == 0 ? 11 : std::uint64_t(width);
          runRows(rewritten, ids, {blockX, 5, 1}, arguments(got));
          REQUIRE(got == expected);
        }
      }
    }
  }
}

std::string textOf(const auto& kernel) {
  const auto original = captured(kernel);
  RowsOptions options;
  options.dims = 2;
  options.lanes = 8;
  const Rows result = rows(*original, ir::analyze(*original), options);
  REQUIRE_MESSAGE(result.kernel != nullptr, result.reason);
  return ir::print(*result.kernel);
}

void wave(Array<float, 2> out, const Array<float, 2>& in, Int sx, Int sy) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    Float next = in[idy - 1][idx] + in[idy + 1][idx] + in[idy][idx - 1] + in[idy][idx + 1];
    if_(idx == sx && idy == sy) {
      next += 10.0f;
    }
    out[idy][idx] = next;
  }
}

}  // namespace

TEST_CASE("a point source gives the same bits in rows, wherever it is") {
  compareSources<float>(wave);
}

TEST_CASE("rows around a point source are computed without a mask") {
  CHECK(textOf(wave).find("any(") == std::string::npos);
}

TEST_CASE("elements that all places but one read are not read there") {
  // The place may be where the neighbour does not exist.
  compareSources<int>([](Array<int, 2> out, const Array<int, 2>& in, Int sx, Int sy) {
    if_(cast<int>(idx) == cast<int>(szx) - 1 || idx == sx) {
      out[idy][idx] = sy;
    }
    else_ { out[idy][idx] = in[idy][idx + 1] - in[idy][idx]; }
  });
}

TEST_CASE("lines, several places, and places that are not equal give the same bits in rows") {
  compareSources<int>(
      [](Array<int, 2> out, const Array<int, 2>& in, Int sx, Int sy) {
        Int sum = in[idy][idx];
        if_(idy == sy || idx == sx + 3) {
          sum = -sum;
        }
        if_(cast<int>(idx) != sx - 2) {
          sum += where(idy != sy + 1, 5, in[idy][idx]);
        }
        sum += where(idx == 5 && idy == 3, 1000, 0) + where(idx == sx || idx == sy, 7, 1);
        out[idy][idx] = sum;
      },
      {1, 2, 3, 4});
}

TEST_CASE("a place in an array that is computed in place gives the same bits in rows") {
  compareSources<int>([](Array<int, 2> out, const Array<int, 2>& in, Int sx, Int sy) {
    Int next = 2 * in[idy][idx] - out[idy][idx];
    if_(sx == idx && sy == idy) {
      next += 17;
    }
    out[idy][idx] = next;
  });
}

TEST_CASE("places that depend on the row, or lie in arrays, give the same bits in rows") {
  compareSources<int>([](Array<int, 2> out, const Array<int, 2>& in, Int sx, Int sy) {
    const auto size = cast<uint>(szx);
    Uint own = cast<uint>(idx);
    out[idy][idx] = where(idx == idy + 2, sx, 0) + where(cast<int>(idx) == in[0][0], sy, 1) +
                    where(own - 3u == size / 2u, 100, 0) + in[idy][idx];
  });
}

TEST_CASE("a place in three dimensions gives the same bits in rows") {
  const auto kernel = captured([](Array<int, 3> out, const Array<int, 3>& in, Int x, Int y, Int z) {
    Int sum = in[idz][idy][idx];
    if_(idz > 0 && idz + 1 < szz) {
      sum += in[idz - 1][idy][idx] + in[idz + 1][idy][idx];
    }
    if_(idx == x && idy == y && idz == z) {
      sum += 1000;
    }
    out[idz][idy][idx] = sum;
  });
  const std::int64_t depth = 9, height = 5, width = 21;
  const auto cells = static_cast<std::size_t>(depth * height * width);
  std::vector<int> in = someNumbers<int>(cells, 5);
  const Ids ids{3, {0, 0, 0}, {std::uint64_t(width), std::uint64_t(height), std::uint64_t(depth)}};
  for (const int jam : {1, 4}) {
    RowsOptions options;
    options.dims = 3;
    options.lanes = 4;
    options.jam = jam;
    const Rows rewritten = rows(*kernel, ir::analyze(*kernel), options);
    REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
    for (const auto& [x, y, z] : {std::array<int, 3>{0, 0, 0}, {7, 3, 4}, {20, 4, 8}, {3, 5, 2}}) {
      const auto arguments = [&](std::vector<int>& out) {
        return std::vector<ir::Argument>{ir::arrayArgument(out.data(), {depth, height, width}),
                                         ir::arrayArgument(in.data(), {depth, height, width}),
                                         ir::scalarArgument(x), ir::scalarArgument(y),
                                         ir::scalarArgument(z)};
      };
      std::vector<int> expected(cells, 1), got(cells, 1);
      runOriginal(*kernel, ids, arguments(expected));
      runRows(rewritten, ids, {std::uint64_t(width), 4, 6}, arguments(got));
      REQUIRE(got == expected);
    }
  }
}

}  // namespace points_tests
