// SPDX-License-Identifier: Apache-2.0
// The strategy "tile" in the interpreter, which knows races, divergent barriers, reads of unfilled
// cells, and bounds.
#include "hpl/strategies/tile.h"

#include <doctest/doctest.h>

#include <random>

#include "hpl/ir/verifier.h"
#include "tests/seeds.h"
#include "tests/strategies/random_stencil.h"
#include "tests/strategies/support.h"

namespace tile_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

void runTiled(const Tiled& tiled, const TileOptions& options, const Ids& ids,
              std::vector<ir::Argument> arguments) {
  ir::verify(*tiled.kernel);
  appendHidden(tiled.hidden, ids, {1, 1, 1}, arguments);
  ir::NDRange range{ids.dims, {1, 1, 1}, {1, 1, 1}};
  for (std::size_t a = 0; a < static_cast<std::size_t>(ids.dims); ++a) {
    const auto covers = static_cast<std::uint64_t>(tiled.covers[a]);
    range.local[a] = static_cast<std::uint64_t>(options.local[a]);
    range.global[a] = (ids.count[a] + covers - 1) / covers * range.local[a];
  }
  ir::InterpreterOptions checks;
  checks.detectRaces = true;
  checks.detectUninitialised = true;
  ir::interpret(*tiled.kernel, range, arguments, checks);
}

}  // namespace

TEST_CASE("a stencil with asymmetric reach gives the same bits from tiles, whatever the size") {
  const auto kernel = captured([](Array<int, 2> out, const Array<int, 2>& in) {
    if_(idx >= 3 && idx + 1 < szx && idy >= 1 && idy + 2 < szy) {
      out[idy][idx] = 5 * in[idy - 1][idx - 3] + 3 * in[idy + 2][idx + 1] - in[idy][idx];
    }
    else_ { out[idy][idx] = -in[idy][idx]; }
  });
  const ir::AccessSummary summary = ir::analyze(*kernel);
  for (const int perItem : {1, 2, 4, 7}) {
    for (const auto& [height, width] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 5}, {16, 16}, {17, 33}, {40, 7}}) {
      CAPTURE(perItem);
      CAPTURE(height);
      CAPTURE(width);
      const auto cells = static_cast<std::size_t>(height * width);
      std::vector<int> in = numbers(cells, 3), expected(cells, -7), got(cells, -7);
      const Ids ids{2, {0, 0, 0}, {std::uint64_t(width), std::uint64_t(height), 1}};
      runOriginal(*kernel, ids,
                  {ir::arrayArgument(expected.data(), {height, width}),
                   ir::arrayArgument(in.data(), {height, width})});
      TileOptions options;
      options.dims = 2;
      options.local = {8, 4, 1};
      options.perItem = perItem;
      const Tiled tiled = tile(*kernel, summary, options);
      REQUIRE_MESSAGE(tiled.kernel != nullptr, tiled.reason);
      CHECK(tiled.covers == std::array<int, 3>{8, 4 * perItem, 1});
      CHECK(tiled.bytes == std::size_t(4 * perItem + 3) * (8 + 4) * sizeof(int));
      runTiled(tiled, options, ids,
               {ir::arrayArgument(got.data(), {height, width}),
                ir::arrayArgument(in.data(), {height, width})});
      CHECK(got == expected);
    }
  }
}

TEST_CASE("tiles hold what loops with constant bounds read, in one to three dimensions") {
  SUBCASE("one") {
    const auto kernel = captured([](Array<int, 1> out, const Array<int, 1>& in) {
      Int sum = 0;
      if_(idx >= 4 && idx + 4 < szx) {
        for_(Int i = -4, i <= 4, i++) {
          sum = sum * 3 + in[idx + i];
        }
      }
      out[idx] = sum;
    });
    std::vector<int> in = numbers(77, 1), expected(77), got(77);
    const Ids ids{1, {0, 0, 0}, {77, 1, 1}};
    runOriginal(*kernel, ids,
                {ir::arrayArgument(expected.data(), {77}), ir::arrayArgument(in.data(), {77})});
    TileOptions options;
    options.local = {16, 1, 1};
    options.perItem = 2;
    const Tiled tiled = tile(*kernel, ir::analyze(*kernel), options);
    REQUIRE_MESSAGE(tiled.kernel != nullptr, tiled.reason);
    runTiled(tiled, options, ids,
             {ir::arrayArgument(got.data(), {77}), ir::arrayArgument(in.data(), {77})});
    CHECK(got == expected);
  }
  SUBCASE("three") {
    const auto kernel = captured([](Array<float, 3> out, const Array<float, 3>& in) {
      if_(idx >= 1 && idx + 1 < szx && idy >= 1 && idy + 1 < szy && idz >= 1 && idz + 1 < szz) {
        out[idz][idy][idx] = in[idz - 1][idy][idx] - in[idz + 1][idy][idx] +
                             2 * in[idz][idy - 1][idx] + in[idz][idy + 1][idx] +
                             in[idz][idy][idx - 1] * in[idz][idy][idx + 1];
      }
    });
    const std::int64_t side = 11;
    std::vector<float> in(side * side * side), expected(in.size(), 1), got(in.size(), 1);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 17);
    const Ids ids{3, {0, 0, 0}, {11, 11, 11}};
    runOriginal(*kernel, ids,
                {ir::arrayArgument(expected.data(), {side, side, side}),
                 ir::arrayArgument(in.data(), {side, side, side})});
    TileOptions options;
    options.dims = 3;
    options.local = {4, 2, 2};
    options.perItem = 3;
    const Tiled tiled = tile(*kernel, ir::analyze(*kernel), options);
    REQUIRE_MESSAGE(tiled.kernel != nullptr, tiled.reason);
    runTiled(tiled, options, ids,
             {ir::arrayArgument(got.data(), {side, side, side}),
              ir::arrayArgument(in.data(), {side, side, side})});
    CHECK(got == expected);
  }
}

TEST_CASE("rows of tiles are padded where they would meet in one bank") {
  const auto kernel = captured([](Array<float, 2> out, const Array<float, 2>& in) {
    if_(idy > 0) {
      out[idy][idx] = in[idy - 1][idx] + in[idy][idx];
    }
  });
  TileOptions options;
  options.dims = 2;
  options.local = {32, 2, 1};
  const Tiled tiled = tile(*kernel, ir::analyze(*kernel), options);
  REQUIRE(tiled.kernel != nullptr);
  CHECK(tiled.bytes == 3 * 33 * sizeof(float));
}

TEST_CASE("kernels that tiles do not suit say why") {
  TileOptions options;
  options.dims = 2;
  options.local = {16, 16, 1};
  options.localMemory = 1024;
  const auto reason = [&](const auto& f) {
    const auto kernel = captured(f);
    const Tiled tiled = tile(*kernel, ir::analyze(*kernel), options);
    REQUIRE(tiled.kernel == nullptr);
    return tiled.reason;
  };
  CHECK(reason([](Array<float, 2> out, const Array<float, 2>& in) {
          out[idy][idx] = in[idy][idx];
        }) == "it reads no array at several offsets from its ids");
  CHECK(reason([](Array<float, 2> out, const Array<float, 2>& in) {
          AliasArray<float> here(in[idy][idx]);
          if_(idx > 0) {
            out[idy][idx] = here[0] + in[idy][idx - 1];
          }
        }) == "it reads no array at several offsets from its ids");
  CHECK(reason([](Array<float, 2> out, const Array<float, 2>& in) {
          if_(idx > 0) {
            out[idy][idx] = in[idy][idx] + in[idy][idx - 1];
          }
        }) == "its tiles would need 1088 bytes of local memory, and the device has 1024");
}

TEST_CASE("random stencils give the same bits from tiles") {
  unsigned tiledKernels = 0;
  for (const unsigned seed : Seeds(1, 100)) {
    CAPTURE(seed);
    const auto kernel = captured(RandomStencil{seed, true});
    TileOptions options;
    std::mt19937 random(seed);
    options.dims = 2;
    options.local = {static_cast<int>(1 + random() % 9), static_cast<int>(1 + random() % 5), 1};
    options.perItem = static_cast<int>(1 + random() % 4);
    const Tiled tiled = tile(*kernel, ir::analyze(*kernel), options);
    if (!tiled.kernel) continue;
    ++tiledKernels;
    const std::int64_t height = 3 + random() % 20, width = 3 + random() % 25;
    const auto cells = static_cast<std::size_t>(height * width);
    std::vector<int> a = numbers(cells, seed), expected(cells, 11), got(cells, 11);
    std::vector<short> b(cells);
    for (short& value : b) value = static_cast<short>(random() % 99);
    const Ids ids{2, {0, 0, 0}, {std::uint64_t(width), std::uint64_t(height), 1}};
    const auto arguments = [&](std::vector<int>& out) {
      return std::vector<ir::Argument>{ir::arrayArgument(out.data(), {height, width}),
                                       ir::arrayArgument(a.data(), {height, width}),
                                       ir::arrayArgument(b.data(), {height, width}),
                                       ir::scalarArgument(7)};
    };
    runOriginal(*kernel, ids, arguments(expected));
    runTiled(tiled, options, ids, arguments(got));
    REQUIRE(got == expected);
  }
  MESSAGE(tiledKernels << " of 100 kernels were rewritten");
  CHECK(tiledKernels > 50);
}

}  // namespace tile_tests
