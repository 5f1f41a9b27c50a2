// SPDX-License-Identifier: Apache-2.0
// The strategy "columns" in the interpreter, which knows races, reads of unfilled cells, and
// bounds.
#include "hpl/strategies/columns.h"

#include <doctest/doctest.h>

#include <random>

#include "hpl/ir/printer.h"
#include "hpl/ir/verifier.h"
#include "tests/seeds.h"
#include "tests/strategies/random_inside.h"
#include "tests/strategies/random_stencil.h"
#include "tests/strategies/random_volume.h"
#include "tests/strategies/support.h"

namespace columns_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

/// `planes`: that a march goes through.
void runColumns(const Columns& columns, const ColumnsOptions& options, const Ids& ids,
                const std::array<std::uint64_t, 3>& local, std::vector<ir::Argument> arguments,
                int planes) {
  ir::verify(*columns.kernel);
  const auto slow =
      static_cast<std::size_t>(options.order[static_cast<std::size_t>(options.dims - 1)]);
  const auto row = static_cast<std::size_t>(options.order[0]);
  const auto block = static_cast<std::uint64_t>(planes);
  appendHidden(columns.hidden, ids, {block, block, block}, arguments);
  ir::NDRange range{ids.dims, {1, 1, 1}, {1, 1, 1}};
  for (std::size_t a = 0; a < static_cast<std::size_t>(ids.dims); ++a) {
    const auto each =
        static_cast<std::uint64_t>(a == slow  ? (options.marches ? planes : options.elements)
                                   : a == row ? options.lanes
                                              : options.between);
    const std::uint64_t covers = local[a] * each;
    const std::uint64_t before = a == row ? ids.first[a] % each : 0;
    range.local[a] = local[a];
    range.global[a] = (before + ids.count[a] + covers - 1) / covers * local[a];
  }
  ir::InterpreterOptions checks;
  checks.detectRaces = true;
  checks.detectUninitialised = true;
  ir::interpret(*columns.kernel, range, arguments, checks);
}

using Extents = std::vector<std::int64_t>;

/// From 1 on.
std::int64_t upTo(std::mt19937& random, unsigned most) {
  return static_cast<std::int64_t>(1 + random() % most);
}

ColumnsOptions optionsOf(const Extents& extents, int elements) {
  ColumnsOptions options;
  options.dims = static_cast<int>(extents.size());
  options.elements = elements;
  for (std::size_t a = 0; a < extents.size(); ++a)
    options.size[a] = static_cast<std::uint64_t>(extents[extents.size() - 1 - a]);
  return options;
}

Ids idsOf(const Extents& extents) {
  Ids ids{static_cast<int>(extents.size()), {0, 0, 0}, {1, 1, 1}};
  for (std::size_t a = 0; a < extents.size(); ++a)
    ids.count[a] = static_cast<std::uint64_t>(extents[extents.size() - 1 - a]);
  return ids;
}

/// All ids, or two boxes of them that are computed one after the other.
std::vector<Ids> someIds(std::mt19937& random, const Extents& extents) {
  std::vector<Ids> boxes{idsOf(extents)};
  const std::size_t axis = random() % extents.size();
  const std::uint64_t cut = random() % (2 * boxes.front().count[axis]);
  if (cut == 0 || cut >= boxes.front().count[axis]) return boxes;
  boxes.front().whole = boxes.front().count;
  boxes.push_back(boxes.front());
  boxes.back().first[axis] = cut;
  boxes.back().count[axis] -= cut;
  boxes.front().count[axis] = cut;
  return boxes;
}

/// Mostly such that vectors fit into rows.
int someLanes(std::mt19937& random, Extents& extents) {
  const int lanes = 1 << random() % 3;
  if (random() % 4 != 0) extents.back() = (extents.back() + lanes - 1) / lanes * lanes;
  return lanes;
}

std::array<std::uint64_t, 3> randomGroup(std::mt19937& random, std::size_t dims) {
  std::array<std::uint64_t, 3> local{1 + random() % 6, 1 + random() % 3, 1};
  if (dims == 3) local[2] = 1 + random() % 2;
  return local;
}

/// The kernel as written and in columns, over a domain of these extents.
void compare(const ir::Kernel& kernel, const Columns& columns, const ColumnsOptions& options,
             const Extents& extents, unsigned seed, bool takesFactor) {
  std::mt19937 random(seed + 1);
  std::size_t cells = 1;
  for (const std::int64_t extent : extents) cells *= static_cast<std::size_t>(extent);
  const auto a = someNumbers<int>(cells, seed);
  const auto b = someNumbers<short>(cells, seed + 1);
  std::vector<int> expected(cells, 11), got(cells, 11);
  const auto arguments = [&](std::vector<int>& out) {
    std::vector<ir::Argument> all{ir::arrayArgument(out.data(), extents),
                                  ir::arrayArgument(a.data(), extents),
                                  ir::arrayArgument(b.data(), extents)};
    if (takesFactor) all.push_back(ir::scalarArgument(7));
    return all;
  };
  runOriginal(kernel, idsOf(extents), arguments(expected));
  for (const Ids& ids : someIds(random, extents))
    runColumns(columns, options, ids, randomGroup(random, extents.size()), arguments(got),
               static_cast<int>(1 + random() % 9));
  REQUIRE(got == expected);
}

}  // namespace

TEST_CASE("random stencils give the same bits from columns, whatever their height") {
  unsigned rewritten = 0;
  for (const unsigned seed : Seeds(1, 150)) {
    CAPTURE(seed);
    const auto kernel = captured(RandomStencil{seed, true});
    std::mt19937 random(seed);
    Extents extents{upTo(random, 20), upTo(random, 25)};
    const int lanes = someLanes(random, extents);
    ColumnsOptions options = optionsOf(extents, static_cast<int>(1 + random() % 8));
    options.lanes = lanes;
    options.marches = lanes > 1 && random() % 2 == 0;
    options.wholeRows = random() % 2 == 0;
    Columns columns = strategies::columns(*kernel, ir::analyze(*kernel), options);
    if (!columns.kernel) {
      options.lanes = 1;
      options.marches = false;
      columns = strategies::columns(*kernel, ir::analyze(*kernel), options);
    }
    if (!columns.kernel) continue;
    ++rewritten;
    compare(*kernel, columns, options, extents, seed, true);
  }
  MESSAGE(rewritten << " of 150 kernels were rewritten");
  CHECK(rewritten > 75);
}

TEST_CASE("random stencils of three dimensions give the same bits from columns of planes") {
  unsigned rewritten = 0;
  for (const unsigned seed : Seeds(1, 60)) {
    CAPTURE(seed);
    const auto kernel = captured(RandomVolume{seed});
    std::mt19937 random(seed);
    Extents extents{upTo(random, 9), upTo(random, 9), upTo(random, 12)};
    const int lanes = someLanes(random, extents);
    ColumnsOptions options = optionsOf(extents, static_cast<int>(1 + random() % 5));
    options.lanes = lanes;
    options.between = static_cast<int>(1 + random() % 3);
    options.marches = lanes > 1 && random() % 2 == 0;
    options.wholeRows = random() % 2 == 0;
    Columns columns = strategies::columns(*kernel, ir::analyze(*kernel), options);
    if (!columns.kernel) {
      options.lanes = 1;
      options.marches = false;
      columns = strategies::columns(*kernel, ir::analyze(*kernel), options);
    }
    if (!columns.kernel) continue;
    ++rewritten;
    compare(*kernel, columns, options, extents, seed, false);
  }
  MESSAGE(rewritten << " of 60 kernels were rewritten");
  CHECK(rewritten > 40);
}

namespace {

template <int N>
void compareInside(unsigned seed, unsigned& rewritten, unsigned& marched) {
  const RandomInside inside{seed};
  const auto kernel = captured([inside](Array<int, N> out, const Array<int, N>& a,
                                        const Array<short, N>& b) { inside(out, a, b); });
  std::mt19937 random(seed);
  Extents extents(N - 1);
  for (std::int64_t& extent : extents) extent = upTo(random, 14);
  extents.push_back(upTo(random, 40));
  const int lanes = someLanes(random, extents);
  ColumnsOptions options = optionsOf(extents, static_cast<int>(1 + random() % 4));
  options.lanes = lanes;
  options.between = static_cast<int>(1 + random() % 2);
  options.marches = lanes > 1 && random() % 3 != 0;
  options.wholeRows = random() % 2 == 0;
  Columns columns = strategies::columns(*kernel, ir::analyze(*kernel), options);
  if (!columns.kernel && options.marches) {
    options.marches = false;
    columns = strategies::columns(*kernel, ir::analyze(*kernel), options);
  }
  if (!columns.kernel) return;
  ++rewritten;
  if (options.marches) ++marched;
  CAPTURE(columns.reason);
  compare(*kernel, columns, options, extents, seed, false);
}

}  // namespace

TEST_CASE(
    "sums of neighbours inside of all kinds of borders come out of columns and marches alike") {
  unsigned rewritten = 0;
  unsigned marched = 0;
  unsigned all = 0;
  for (const unsigned seed : Seeds(1, 200)) {
    CAPTURE(seed);
    ++all;
    if (seed % 2 == 0) {
      compareInside<2>(seed, rewritten, marched);
    } else {
      compareInside<3>(seed, rewritten, marched);
    }
  }
  MESSAGE(rewritten << " of " << all << " kernels were rewritten, " << marched << " as marches");
  CHECK(rewritten > all * 3 / 4);
  CHECK(marched > all / 4);
}

TEST_CASE("an element in the middle that is treated apart is so in every place of a column") {
  const auto kernel =
      captured([](Array<int, 2> out, const Array<int, 2>& in, const Array<short, 2>& b, Int row) {
        out[idy][idx] = in[idy][idx] + b[idy][idx];
        if_(idy == row && idx == 3) {
          out[idy][idx] = 1000;
        }
      });
  const Extents extents{23, 9};
  const ColumnsOptions options = optionsOf(extents, 4);
  const Columns columns = strategies::columns(*kernel, ir::analyze(*kernel), options);
  REQUIRE_MESSAGE(columns.kernel != nullptr, columns.reason);
  compare(*kernel, columns, options, extents, 3, true);  // row 7
}

TEST_CASE("away from the border columns compare nothing, and load once what elements share") {
  const auto kernel = captured([](Array<float, 2> out, const Array<float, 2>& in) {
    if_(idx >= 1 && idx + 1 < szx && idy >= 1 && idy + 1 < szy) {
      out[idy][idx] = in[idy - 1][idx] + in[idy + 1][idx];
    }
  });
  const Columns columns =
      strategies::columns(*kernel, ir::analyze(*kernel), optionsOf({64, 64}, 4));
  REQUIRE(columns.kernel != nullptr);
  CHECK(columns.reason == "4 elements per work-item");
  const std::string text = ir::print(*columns.kernel);
  CAPTURE(text);
  // One for the ids, one for the border, one in the loop of those that lie at it.
  std::size_t branches = 0;
  for (std::size_t at = text.find("if"); at != std::string::npos; at = text.find("if", at + 1))
    ++branches;
  CHECK(branches == 3);
}

TEST_CASE("kernels that columns do not suit say why") {
  const auto reason = [](int dims, const auto& f) {
    const auto kernel = captured(f);
    ColumnsOptions options;
    options.dims = dims;
    return strategies::columns(*kernel, ir::analyze(*kernel), options).reason;
  };
  CHECK(reason(1, [](Array<int, 1> out) { out[idx] = 1; }) == "one dimension has no columns");
  CHECK(reason(2, [](Array<int, 2> out) { atomic_inc(out[idy][idx]); }) == "it uses atomics");
  CHECK(reason(2, [](Array<int, 2> out) { out[idy][idx] = Int(lidx); }) ==
        "it asks for local or group ids");
  CHECK(reason(2, [](Array<int, 2> out) { out[0][idx] = 1; }).find("several work-items write") ==
        0);
}

TEST_CASE("the more arrays a kernel reads, the fewer elements its work-items need") {
  const auto shapeOf = [](int lanes, const auto& f) {
    const auto kernel = captured(f);
    ColumnsOptions options;
    options.lanes = lanes;
    const ColumnShape shape = columnShape(*kernel, ir::analyze(*kernel), options);
    CHECK(shape.between <= 1);
    return shape.elements;
  };
  using In = const Array<float, 2>&;
  const auto copy = [](Array<float, 2> out, In a) { out[idy][idx] = a[idy][idx]; };
  CHECK(shapeOf(1, copy) == 4);
  CHECK(shapeOf(4, copy) == 2);
  const auto three = [](Array<float, 2> out, In a) {
    out[idy][idx] = a[idy][idx] + a[idy][idx + 1] + a[idy + 1][idx];
  };
  CHECK(shapeOf(1, three) == 8);
  CHECK(shapeOf(4, three) == 2);
  CHECK(shapeOf(4, [](Array<float, 2> out, In a) {
          out[idy][idx] = a[idy][idx] + a[idy + 2][idx] + a[idy - 2][idx];
        }) == 6);
  CHECK(shapeOf(1, [](Array<float, 2> out, In a, In b, In c) {
          out[idy][idx] = a[idy][idx] + b[idy][idx] + c[idy][idx];
        }) == 2);
  const auto five = [](Array<float, 2> out, In a, In b, In c, In d, In e) {
    out[idy][idx] = a[idy][idx] + b[idy][idx] + c[idy][idx] + d[idy][idx] + e[idy][idx];
  };
  CHECK(shapeOf(1, five) == 0);
  CHECK(shapeOf(4, five) == 1);
  CHECK(shapeOf(1, [](Array<float, 2> out) { out[idy][idx] = 0.0f; }) == 0);
  CHECK(shapeOf(1, [](Array<float, 2> out, In a) {
          Float sum = 0.0f;
          Int i;
          for_(i = 0, i < 8, i++) {
            sum += a[idy][i];
          }
          out[idy][idx] = sum;
        }) == 0);
}

TEST_CASE("in three dimensions work-items march through planes that several of them would read") {
  const auto shapeOf = [](const auto& f) {
    const auto kernel = captured(f);
    ColumnsOptions options;
    options.dims = 3;
    options.lanes = 4;
    return columnShape(*kernel, ir::analyze(*kernel), options);
  };
  using Cube = const Array<float, 3>&;
  const ColumnShape seven = shapeOf([](Array<float, 3> out, Cube a) {
    out[idz][idy][idx] = a[idz][idy][idx] + a[idz - 1][idy][idx] + a[idz + 1][idy][idx] +
                         a[idz][idy - 1][idx] + a[idz][idy + 1][idx] + a[idz][idy][idx - 1] +
                         a[idz][idy][idx + 1];
  });
  CHECK(seven.marches);
  CHECK(seven.between == 2);
  const ColumnShape box = shapeOf([](Array<float, 3> out, Cube a) {
    Float sum = 0.0f;
    for (int z = -1; z <= 1; ++z)
      for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x) sum += a[idz + z][idy + y][idx + x];
    out[idz][idy][idx] = sum;
  });
  CHECK_FALSE(box.marches);
  CHECK(box.elements == 2);
  CHECK(box.between == 4);
  const ColumnShape copy =
      shapeOf([](Array<float, 3> out, Cube a) { out[idz][idy][idx] = a[idz][idy][idx]; });
  CHECK(copy.elements == 2);
  CHECK(copy.between == 1);
}

}  // namespace columns_tests
