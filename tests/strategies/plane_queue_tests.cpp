// SPDX-License-Identifier: Apache-2.0
// The strategy "stream" of single sweeps in the interpreter, which knows races, divergent barriers,
// reads of unfilled cells, and bounds.
#include "hpl/strategies/plane_queue.h"

#include <doctest/doctest.h>

#include <random>

#include "hpl/ir/printer.h"
#include "hpl/ir/verifier.h"
#include "tests/seeds.h"
#include "tests/strategies/random_stencil.h"
#include "tests/strategies/random_volume.h"
#include "tests/strategies/support.h"

namespace plane_queue_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

void runStream(const PlaneQueue& stream, const PlaneQueueOptions& options, const Ids& ids,
               std::uint64_t slab, std::vector<ir::Argument> arguments) {
  ir::verify(*stream.kernel);
  const auto slow =
      static_cast<std::size_t>(options.order[static_cast<std::size_t>(options.dims - 1)]);
  std::array<std::uint64_t, 3> block{1, 1, 1};
  block[slow] = slab;
  appendHidden(stream.hidden, ids, block, arguments);
  ir::NDRange range{ids.dims, {1, 1, 1}, {1, 1, 1}};
  for (std::size_t a = 0; a < static_cast<std::size_t>(ids.dims); ++a) {
    range.local[a] = static_cast<std::uint64_t>(options.local[a]);
    const std::uint64_t covers = a == slow ? slab : range.local[a];
    range.global[a] = (ids.count[a] + covers - 1) / covers * range.local[a];
  }
  ir::InterpreterOptions checks;
  checks.detectRaces = true;
  checks.detectUninitialised = true;
  ir::interpret(*stream.kernel, range, arguments, checks);
}

PlaneQueueOptions optionsOf(int dims, std::array<int, 3> local) {
  PlaneQueueOptions options;
  options.dims = dims;
  options.local = local;
  return options;
}

using Extents = std::array<std::int64_t, 3>;
constexpr Extents kSizes[] = {{1, 1, 1}, {5, 4, 3}, {9, 7, 13}, {16, 4, 8}, {3, 17, 21}};

struct Checked {
  std::string reason;
  std::string text;
  std::size_t bytes = 0;
};

std::size_t timesIn(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

/// Compares the kernel with its rewritten form over several sizes, groups and slabs; returns the
/// last of these forms.
template <class F>
Checked checkVolumes(const F& f) {
  const auto kernel = captured(f);
  const ir::AccessSummary summary = ir::analyze(*kernel);
  PlaneQueue stream;
  for (const Extents& size : kSizes) {
    CAPTURE(size[0]);
    CAPTURE(size[1]);
    CAPTURE(size[2]);
    const std::vector<std::int64_t> extents(size.begin(), size.end());
    const auto cells = static_cast<std::size_t>(size[0] * size[1] * size[2]);
    const auto in = someNumbers<float>(cells, 5), other = someNumbers<float>(cells, 6);
    std::vector<float> expected(cells, -7), got(cells, -7);
    const Ids ids{
        3, {0, 0, 0}, {std::uint64_t(size[2]), std::uint64_t(size[1]), std::uint64_t(size[0])}};
    const auto arguments = [&](std::vector<float>& out) {
      return std::vector<ir::Argument>{ir::arrayArgument(out.data(), extents),
                                       ir::arrayArgument(in.data(), extents),
                                       ir::arrayArgument(other.data(), extents)};
    };
    runOriginal(*kernel, ids, arguments(expected));
    for (const auto& [local, slab] : {std::pair<std::array<int, 3>, std::uint64_t>{{4, 2, 1}, 3},
                                      {{3, 5, 1}, 100},
                                      {{8, 1, 1}, 1}}) {
      const PlaneQueueOptions options = optionsOf(3, local);
      stream = planeQueue(*kernel, summary, options);
      REQUIRE_MESSAGE(stream.kernel != nullptr, stream.reason);
      std::fill(got.begin(), got.end(), -7.0f);
      runStream(stream, options, ids, slab, arguments(got));
      REQUIRE(got == expected);
    }
  }
  return {stream.reason, ir::print(*stream.kernel), stream.bytes};
}

}  // namespace

TEST_CASE("stars of any reach give the same bits from plane queues, whatever the size") {
  const Checked near =
      checkVolumes([](Array<float, 3> out, const Array<float, 3>& in, const Array<float, 3>& b) {
        if_(idx >= 1 && idx + 1 < szx && idy >= 1 && idy + 1 < szy && idz >= 1 && idz + 1 < szz) {
          out[idz][idy][idx] = in[idz - 1][idy][idx] - in[idz + 1][idy][idx] +
                               2 * in[idz][idy - 1][idx] + in[idz][idy + 1][idx] +
                               in[idz][idy][idx - 1] * in[idz][idy][idx + 1] + b[idz][idy][idx];
        }
        else_ { out[idz][idy][idx] = -in[idz][idy][idx]; }
      });
  CHECK(near.reason == "queues of 3 planes of 1 array, 240 bytes of local memory");
  const Checked lopsided =
      checkVolumes([](Array<float, 3> out, const Array<float, 3>& in, const Array<float, 3>& b) {
        if_(idx >= 3 && idy + 2 < szy && idz >= 1 && idz + 3 < szz) {
          out[idz][idy][idx] = in[idz - 1][idy][idx] - in[idz + 3][idy][idx] +
                               2 * in[idz][idy + 2][idx] * in[idz][idy][idx - 3] +
                               b[idz + 2][idy][idx] - b[idz][idy][idx];
        }
      });
  CHECK(lopsided.reason == "queues of 5 planes of 2 arrays, 264 bytes of local memory");
}

TEST_CASE("boxes keep several planes in local memory, columns none") {
  const Checked box =
      checkVolumes([](Array<float, 3> out, const Array<float, 3>& in, const Array<float, 3>&) {
        if_(idx >= 1 && idx + 1 < szx && idy >= 1 && idy + 1 < szy && idz >= 1 && idz + 1 < szz) {
          Float sum = 0.0f;
          for (int z = -1; z <= 1; ++z)
            for (int y = -1; y <= 1; ++y)
              for (int x = -1; x <= 1; ++x) sum = sum * 0.5f + in[idz + z][idy + y][idx + x];
          out[idz][idy][idx] = sum;
        }
      });
  CHECK(box.reason == "queues of 3 planes of 1 array, 480 bytes of local memory");
  const Checked column =
      checkVolumes([](Array<float, 3> out, const Array<float, 3>& in, const Array<float, 3>& b) {
        if_(idz >= 2) {
          out[idz][idy][idx] = in[idz - 2][idy][idx] + in[idz][idy][idx] * b[idz][idy][idx];
        }
      });
  CHECK(column.reason == "queues of 3 planes of 1 array");
  CHECK(column.bytes == 0);
  CHECK(timesIn(column.text, "barrier") == 0);
}

TEST_CASE("elements in one of two planes, which a value chooses, come from the kept planes") {
  const Checked chosen =
      checkVolumes([](Array<float, 3> out, const Array<float, 3>& in, const Array<float, 3>& b) {
        if_(idz >= 2 && idz + 1 < szz) {
          const auto isPositive = b[idz][idy][idx] > 0.0f;
          out[idz][idy][idx] = in[where(isPositive, idz - 2, idz + 1)][idy][idx];
        }
      });
  CHECK(chosen.reason == "queues of 4 planes of 1 array, 160 bytes of local memory");
}

TEST_CASE(
    "device loops over neighbours and elements at places from a table are read where they are") {
  checkVolumes([](Array<float, 3> out, const Array<float, 3>& in, const Array<float, 3>& b) {
    if_(idz >= 2 && idz + 2 < szz && idx >= 1 && idx + 1 < szx) {
      Float sum = 0.0f;
      for_(Int z = -2, z <= 2, z++) {
        for_(Int x = -1, x <= 1, x++) {
          sum = sum * 0.5f + in[idz + z][idy][idx + x];
        }
      }
      Int place = 2;
      if_(b[idz][idy][idx] > 0.0f) {
        place = 1;
      }
      out[idz][idy][idx] =
          sum + in[idz + 1][idy][idx] * in[place][idy][idx] - in[idz - 1][idy][idx];
    }
  });
}

TEST_CASE("arrays that the kernel points into are read where they are") {
  const auto kernel = captured([](Array<int, 2> out, const Array<int, 2>& in) {
    if_(idy >= 1 && idy + 1 < szy && idx + 1 < szx) {
      AliasArray<int> p(in[idy][idx]);
      out[idy][idx] = p[1] + in[idy - 1][idx] * in[idy][idx];
    }
  });
  const PlaneQueue stream = planeQueue(*kernel, ir::analyze(*kernel), optionsOf(2, {8, 1, 1}));
  CHECK(stream.kernel == nullptr);
}

TEST_CASE("each element of the own column is loaded in one place of the loop") {
  const auto kernel = captured([](Array<float, 3> out, const Array<float, 3>& in) {
    if_(idz >= 1 && idz + 1 < szz && idx >= 1) {
      out[idz][idy][idx] =
          in[idz - 1][idy][idx] + in[idz][idy][idx] * in[idz][idy][idx - 1] + in[idz + 1][idy][idx];
    }
  });
  const PlaneQueue stream = planeQueue(*kernel, ir::analyze(*kernel), optionsOf(3, {8, 4, 1}));
  REQUIRE_MESSAGE(stream.kernel != nullptr, stream.reason);
  const std::string text = ir::print(*stream.kernel);
  const std::string loop = text.substr(text.find("for (; z <"));
  // The newest element of the column, and the halo of the plane.
  CHECK_MESSAGE(timesIn(loop, " a2[") == 2, text);
}

TEST_CASE("wrapped and clamped indices are read from queues away from the border") {
  const Checked wrapped =
      checkVolumes([](Array<float, 3> out, const Array<float, 3>& in, const Array<float, 3>& b) {
        const auto before = where(idz > 0, idz - 1, szz - 1);
        const auto after = where(idz + 1 < szz, idz + 1, 0);
        const auto west = where(idx > 0, idx - 1, szx - 1);
        out[idz][idy][idx] = in[before][idy][idx] - in[after][idy][idx] * in[idz][idy][west] +
                             b[where(idz > 1, idz - 2, 0)][idy][idx];
      });
  CHECK(wrapped.reason == "queues of 3 planes of 1 array, 72 bytes of local memory");
}

TEST_CASE("slices, permuted axes and arrays of other types give the same bits from plane queues") {
  const auto kernel = captured([](Array<double, 3> out, const Array<unsigned char, 3>& in,
                                  const Array<int, 2>& flat, Int shift) {
    if_(idy >= 1 && idy + 1 < szy && idx >= 1) {
      out[idy][idz][idx] = in[idy - 1][idz][idx] * 0.5 + in[idy + 1][idz][idx] * shift +
                           in[idy][idz][idx - 1] + flat[idz][idx];
    }
  });
  const std::int64_t ny = 12, nz = 5, nx = 10;
  const auto in = someNumbers<unsigned char>(static_cast<std::size_t>(ny * nz * nx), 1);
  const auto flat = someNumbers<int>(static_cast<std::size_t>(nz * nx), 2);
  std::vector<double> expected(in.size(), -1), got(in.size(), -1);
  const auto arguments = [&](std::vector<double>& out) {
    return std::vector<ir::Argument>{
        ir::arrayArgument(out.data(), {ny, nz, nx}), ir::arrayArgument(in.data(), {ny, nz, nx}),
        ir::arrayArgument(flat.data(), {nz, nx}), ir::scalarArgument(3)};
  };
  const Ids whole{3, {0, 0, 0}, {10, 12, 5}};
  runOriginal(*kernel, whole, arguments(expected));
  PlaneQueueOptions options = optionsOf(3, {4, 1, 2});
  options.order = {0, 2, 1};
  const PlaneQueue stream = planeQueue(*kernel, ir::analyze(*kernel), options);
  REQUIRE_MESSAGE(stream.kernel != nullptr, stream.reason);
  runStream(stream, options, whole, 5, arguments(got));
  CHECK(got == expected);

  // Cells that a slice does not compute it leaves alone.
  const auto slices = captured(
      [](Array<double, 3> out, const Array<unsigned char, 3>& in, const Array<int, 2>&, Int) {
        if_(idy >= 1) {
          out[idy][idz][idx] = in[idy - 1][idz][idx] - in[idy][idz][idx];
        }
      });
  std::fill(expected.begin(), expected.end(), -1.0);
  std::fill(got.begin(), got.end(), -1.0);
  runOriginal(*slices, whole, arguments(expected));
  const PlaneQueue sliced = planeQueue(*slices, ir::analyze(*slices), options);
  REQUIRE_MESSAGE(sliced.kernel != nullptr, sliced.reason);
  runStream(sliced, options, {3, {2, 3, 1}, {6, 7, 3}}, 4, arguments(got));
  for (std::int64_t y = 0; y < ny; ++y)
    for (std::int64_t z = 0; z < nz; ++z)
      for (std::int64_t x = 0; x < nx; ++x) {
        const auto i = static_cast<std::size_t>((y * nz + z) * nx + x);
        const bool isIn = x >= 2 && x < 8 && y >= 3 && y < 10 && z >= 1 && z < 4;
        REQUIRE(got[i] == (isIn ? expected[i] : -1.0));
      }
}

TEST_CASE("kernels that plane queues do not suit say why") {
  const auto reason = [&](int dims, std::size_t localMemory, const auto& f) {
    const auto kernel = captured(f);
    PlaneQueueOptions options = optionsOf(dims, {16, 1, 1});
    options.localMemory = localMemory;
    const PlaneQueue stream = planeQueue(*kernel, ir::analyze(*kernel), options);
    REQUIRE(stream.kernel == nullptr);
    return stream.reason;
  };
  CHECK(reason(1, 0, [](Array<int, 1> out, const Array<int, 1>& in) { out[idx] = in[idx]; }) ==
        "its ids have one dimension, so that there is no column to go along");
  CHECK(reason(2, 0, [](Array<int, 2> out, const Array<int, 2>& in) {
          if_(idx > 0) {
            out[idy][idx] = in[idy][idx] + in[idy][idx - 1];
          }
        }) == "it reads no array, at constant offsets from its ids, in several rows");
  CHECK(reason(2, 0, [](Array<int, 2> a) {
          if_(idy > 0) {
            a[idy][idx] += a[idy - 1][idx] * 0;
          }
        }) == "it reads no array, at constant offsets from its ids, in several rows");
  CHECK(reason(2, 100, [](Array<int, 2> out, const Array<int, 2>& in) {
          if_(idx > 0 && idy > 0) {
            out[idy][idx] = in[idy - 1][idx] + in[idy][idx - 1];
          }
        }) == "its planes would need 136 bytes of local memory, and the device has 100");
  CHECK(reason(2, 0, [](Array<int, 2> out, const Array<int, 2>& in) {
          if_(idy > 15 && idy + 15 < szy) {
            out[idy][idx] = in[idy - 15][idx] + in[idy + 15][idx];
          }
        }) == "a queue of 'a2' would hold 31 values, more than registers hold well");
  CHECK(reason(2, 0, [](Array<int, 2> out, const Array<int, 2>& in) {
          if_(idy > 0) {
            out[idy][idx] = in[idy - 1][idx] + in[idy][idx] + Int(lidx);
          }
        }) == "it asks for local or group ids");
}

TEST_CASE("random stencils give the same bits from queues of rows") {
  unsigned rewritten = 0;
  for (const unsigned seed : Seeds(1, 100)) {
    CAPTURE(seed);
    const auto kernel = captured(RandomStencil{seed, true});
    std::mt19937 random(seed);
    PlaneQueueOptions options = optionsOf(2, {static_cast<int>(1 + random() % 9), 1, 1});
    const PlaneQueue stream = planeQueue(*kernel, ir::analyze(*kernel), options);
    if (!stream.kernel) continue;
    ++rewritten;
    const std::int64_t height = 3 + random() % 20, width = 3 + random() % 25;
    const auto cells = static_cast<std::size_t>(height * width);
    const auto a = someNumbers<int>(cells, seed);
    const auto b = someNumbers<short>(cells, seed + 1);
    std::vector<int> expected(cells, 11), got(cells, 11);
    const Ids ids{2, {0, 0, 0}, {std::uint64_t(width), std::uint64_t(height), 1}};
    const auto arguments = [&](std::vector<int>& out) {
      return std::vector<ir::Argument>{ir::arrayArgument(out.data(), {height, width}),
                                       ir::arrayArgument(a.data(), {height, width}),
                                       ir::arrayArgument(b.data(), {height, width}),
                                       ir::scalarArgument(7)};
    };
    runOriginal(*kernel, ids, arguments(expected));
    runStream(stream, options, ids, 1 + random() % 9, arguments(got));
    REQUIRE(got == expected);
  }
  MESSAGE(rewritten << " of 100 kernels were rewritten");
  CHECK(rewritten > 50);
}

TEST_CASE("random stencils of three dimensions give the same bits from queues of planes") {
  unsigned rewritten = 0;
  for (const unsigned seed : Seeds(1, 60)) {
    CAPTURE(seed);
    const auto kernel = captured(RandomVolume{seed});
    std::mt19937 random(seed);
    PlaneQueueOptions options =
        optionsOf(3, {static_cast<int>(1 + random() % 6), static_cast<int>(1 + random() % 4), 1});
    const PlaneQueue stream = planeQueue(*kernel, ir::analyze(*kernel), options);
    if (!stream.kernel) continue;
    ++rewritten;
    const std::int64_t nz = 1 + random() % 9, ny = 1 + random() % 9, nx = 1 + random() % 12;
    const auto cells = static_cast<std::size_t>(nz * ny * nx);
    const auto a = someNumbers<int>(cells, seed);
    const auto b = someNumbers<short>(cells, seed + 1);
    std::vector<int> expected(cells, 11), got(cells, 11);
    const Ids ids{3, {0, 0, 0}, {std::uint64_t(nx), std::uint64_t(ny), std::uint64_t(nz)}};
    const auto arguments = [&](std::vector<int>& out) {
      return std::vector<ir::Argument>{ir::arrayArgument(out.data(), {nz, ny, nx}),
                                       ir::arrayArgument(a.data(), {nz, ny, nx}),
                                       ir::arrayArgument(b.data(), {nz, ny, nx})};
    };
    runOriginal(*kernel, ids, arguments(expected));
    runStream(stream, options, ids, 1 + random() % 7, arguments(got));
    REQUIRE(got == expected);
  }
  MESSAGE(rewritten << " of 60 kernels were rewritten");
  CHECK(rewritten > 40);
}

}  // namespace plane_queue_tests
