// SPDX-License-Identifier: Apache-2.0
// The strategy "rows" in the interpreter: whatever it makes of a kernel computes the same bits.
#include "hpl/strategies/rows.h"

#include <doctest/doctest.h>

#include <numeric>
#include <random>

#include "hpl/ir/printer.h"
#include "tests/strategies/random_stencil.h"
#include "tests/strategies/support.h"

namespace rows_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

template <class T>
std::vector<T> numbers(std::size_t count, unsigned seed, int limit) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(static_cast<int>(random() % (2 * limit)) - limit);
  return values;
}

/// Runs a kernel of (out, in) both ways, over several sizes, vector lengths and jams.
template <class Out, class In, class F>
void compareImages(const F& kernel, int rowsAtLeast = 1) {
  const auto original = captured(kernel);
  const ir::AccessSummary summary = ir::analyze(*original);
  unsigned seed = 1;
  for (const std::int64_t height : {1, 2, 3, 7, 18}) {
    for (const std::int64_t width : {1, 3, 8, 9, 21, 37}) {
      if (height < rowsAtLeast) continue;
      const auto cells = static_cast<std::size_t>(height * width);
      std::vector<In> in = numbers<In>(cells, ++seed, 100);
      const std::vector<Out> before = numbers<Out>(cells, ++seed, 100);
      std::vector<Out> expected = before;
      const Ids ids{2, {0, 0, 0}, {std::uint64_t(width), std::uint64_t(height), 1}};
      runOriginal(*original, ids,
                  {ir::arrayArgument(expected.data(), {height, width}),
                   ir::arrayArgument(in.data(), {height, width})});
      for (const int lanes : {2, 4, 8}) {
        for (const int jam : {1, 2, 4}) {
          RowsOptions options;
          options.dims = 2;
          options.lanes = lanes;
          options.jam = jam;
          options.vectors = jam == 2 ? 2 : 1;
          const Rows rewritten = rows(*original, summary, options);
          REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
          std::vector<Out> got = before;
          CAPTURE(height);
          CAPTURE(width);
          CAPTURE(lanes);
          CAPTURE(jam);
          const std::uint64_t blockX = (width % 2 == 0) ? 5 : std::uint64_t(width);
          runRows(rewritten, ids, {blockX, 5, 1},
                  {ir::arrayArgument(got.data(), {height, width}),
                   ir::arrayArgument(in.data(), {height, width})});
          REQUIRE(got == expected);
        }
      }
    }
  }
}

std::string reasonOf(const auto& kernel, int dims = 2, bool exact = false) {
  const auto original = captured(kernel);
  RowsOptions options;
  options.dims = dims;
  options.lanes = 4;
  options.exact = exact;
  const Rows result = rows(*original, ir::analyze(*original), options);
  REQUIRE(result.kernel == nullptr);
  return result.reason;
}

/// The text of the kernel in rows of a domain of this size, on which it depends.
std::string rowsOfSize(const ir::Kernel& kernel, std::uint64_t size) {
  RowsOptions options;
  options.lanes = 4;
  options.size = {size, 1, 1};
  const Rows result = rows(kernel, ir::analyze(kernel), options);
  REQUIRE_MESSAGE(result.kernel != nullptr, result.reason);
  CHECK(result.dependsOnSize);
  return ir::print(*result.kernel);
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a guarded stencil gives the same bits in rows, whatever the size") {
  compareImages<float, float>([](Array<float, 2> out, const Array<float, 2>& in) {
    if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
      out[idy][idx] =
          0.25f * (in[idy - 1][idx] + in[idy + 1][idx] + in[idy][idx - 1] + in[idy][idx + 1]);
    }
  });
}

TEST_CASE("a stencil with an else branch and an early return gives the same bits in rows") {
  compareImages<int, int>([](Array<int, 2> out, const Array<int, 2>& in) {
    if_(idx == 0 || idx == szx - 1 || idy == 0 || idy == szy - 1) {
      out[idy][idx] = -in[idy][idx];
      return_();
    }
    Int sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) sum += in[idy + dy][idx + dx];
    out[idy][idx] = sum;
  });
}

TEST_CASE("indices that wrap around through where() give the same bits in rows") {
  compareImages<unsigned char, unsigned char>(
      [](Array<unsigned char, 2> out, const Array<unsigned char, 2>& in) {
        Size_t north = where(idy > 0, idy - 1, szy - 1), south = where(idy + 1 < szy, idy + 1, 0);
        Size_t west = where(idx > 0, idx - 1, szx - 1), east = where(idx + 1 < szx, idx + 1, 0);
        Int around = in[north][west] + in[north][east] + in[south][west] + in[south][east];
        out[idy][idx] = where(in[idy][idx] > 4, around, around >> 1) & 255;
      });
}

TEST_CASE("signed coordinates with a test for each neighbour give the same bits in rows") {
  compareImages<int, short>([](Array<int, 2> out, const Array<short, 2>& in) {
    Int sum = 0;
    for (int dy = -1; dy <= 2; ++dy) {
      for (int dx = -2; dx <= 1; ++dx) {
        Int y = cast<int>(idy) + dy, x = cast<int>(idx) + dx;
        if_(y >= 0 && y < cast<int>(szy) && x >= 0 && x < cast<int>(szx)) {
          sum = 3 * sum + in[y][x];
        }
      }
    }
    out[idy][idx] = sum;
  });
}

TEST_CASE("conditions on values become masks that give the same bits") {
  compareImages<int, int>([](Array<int, 2> out, const Array<int, 2>& in) {
    Int here = in[idy][idx];
    Int kept = 0;
    if_(here > 10) {
      kept = here;
      if_(here % 3 == 0) {
        kept += 7;
      }
      else_ { kept -= 5; }
    }
    elseif_(here < -50) {
      kept = -1;
    }
    else_ {
      if_(idx > 0 && idx + 1 < szx) {
        kept = max(in[idy][idx - 1], in[idy][idx + 1]);
      }
    }
    if_(kept != 0) {
      out[idy][idx] = kept;
    }
  });
}

TEST_CASE("conditions that differ between neighbours never read outside the array") {
  // The bounds that the interpreter checks would be exceeded in the first and last vectors.
  compareImages<int, int>([](Array<int, 2> out, const Array<int, 2>& in) {
    Int here = in[idy][idx];
    Int value = where(here > 90 && idx + 3 < szx && idy + 2 < szy, in[idy + 2][idx + 3], here);
    if_(here < -90) {
      if_(idx > 4) {
        value = in[idy][idx - 5];
      }
    }
    out[idy][idx] = value;
  });
}

TEST_CASE("loops, private arrays and uniform branches stay as they are in rows") {
  compareImages<double, float>([](Array<double, 2> out, const Array<float, 2>& in) {
    Array<double, 1> history(4);
    for_(Int i = 0, i < 4, i++) {
      history[i] = cast<double>(in[idy][idx]) * (i + 1);
    }
    Double sum = 0.0;
    Int i = 0;
    while_(i < 4) {
      if_(idy % 2 == 0) {
        sum += history[i];
      }
      else_ { sum -= history[3 - i]; }
      i++;
    }
    out[idy][idx] = sum + cast<double>(idx) * 0.5;
  });
}

TEST_CASE("loops over a neighbourhood read along rows") {
  compareImages<int, int>([](Array<int, 2> out, const Array<int, 2>& in) {
    Int sum = 0;
    if_(idx >= 2 && idx + 2 < szx && idy >= 1 && idy + 1 < szy) {
      for_(Int i = -1, i <= 1, i++) {
        for_(Int j = -2, j <= 2, j++) {
          sum = 2 * sum + in[idy + i][idx + j];
        }
      }
    }
    out[idy][idx] = sum;
  });
}

TEST_CASE("truth values count as 0 and 1 in sums, and as masks in logic") {
  compareImages<int, int>([](Array<int, 2> out, const Array<int, 2>& in) {
    Int here = in[idy][idx];
    Bool odd = (here & 1) == 1;
    Int count = (here > 0) + (here > 50) + 10 * ((here > 0) == (here < 20)) - !odd;
    out[idy][idx] = where(odd && !(here > 3), count, -count);
  });
}

TEST_CASE("a kernel that reads what it writes is computed once per element") {
  compareImages<int, int>([](Array<int, 2> out, const Array<int, 2>& in) {
    out[idy][idx] = 3 * out[idy][idx] + in[idy][idx];
    if_(in[idy][idx] > 0) {
      out[idy][idx] += 1;
    }
  });
}

TEST_CASE("a slice computes its own ids only, and sees the sizes of the whole domain") {
  const auto kernel = captured([](Array<int, 2> out, const Array<int, 2>& in) {
    if_(idy > 0 && idx > 0 && idx + 1 < szx) {
      out[idy][idx] = in[idy - 1][idx] + in[idy][idx - 1] + cast<int>(szy);
    }
  });
  const std::int64_t height = 23, width = 19;
  std::vector<int> in = numbers<int>(std::size_t(height * width), 5, 100);
  std::vector<int> expected(in.size(), -7), got(in.size(), -7);
  const std::vector<ir::Argument> direct{ir::arrayArgument(expected.data(), {height, width}),
                                         ir::arrayArgument(in.data(), {height, width})};
  const Ids all{2, {0, 0, 0}, {std::uint64_t(width), std::uint64_t(height), 1}};
  runOriginal(*kernel, all, direct);
  RowsOptions options;
  options.dims = 2;
  options.lanes = 4;
  Rows rewritten = rows(*kernel, ir::analyze(*kernel), options);
  REQUIRE(rewritten.kernel != nullptr);
  for (const auto& [first, count] : {std::pair<std::uint64_t, std::uint64_t>{0, 9}, {9, 14}}) {
    Ids slice = all;
    slice.first[1] = first;
    slice.count[1] = count;
    // The value of get_global_size is the whole domain's.
    std::vector<ir::Argument> arguments{ir::arrayArgument(got.data(), {height, width}),
                                        ir::arrayArgument(in.data(), {height, width})};
    for (const Hidden& hidden : rewritten.hidden) {
      const auto axis = static_cast<std::size_t>(hidden.axis);
      const std::uint64_t value = hidden.kind == Hidden::Kind::First   ? slice.first[axis]
                                  : hidden.kind == Hidden::Kind::Count ? slice.count[axis]
                                  : hidden.kind == Hidden::Kind::Block ? 6
                                                                       : all.count[axis];
      arguments.push_back(ir::scalarArgument(value));
    }
    ir::interpret(*rewritten.kernel, ir::NDRange{2, {4, 4, 1}, {1, 1, 1}}, arguments);
  }
  CHECK(got == expected);
}

TEST_CASE("three dimensions are computed plane by plane, several planes at once") {
  const auto kernel = captured([](Array<float, 3> out, const Array<float, 3>& in) {
    if_(idx >= 1 && idx + 1 < szx && idy >= 1 && idy + 1 < szy && idz >= 1 && idz + 1 < szz) {
      out[idz][idy][idx] = in[idz - 1][idy][idx] + 2 * in[idz + 1][idy][idx] +
                           3 * in[idz][idy - 1][idx] + 4 * in[idz][idy + 1][idx] +
                           5 * in[idz][idy][idx - 1] + 6 * in[idz][idy][idx + 1];
    }
    else_ { out[idz][idy][idx] = in[idz][idy][idx]; }
  });
  const ir::AccessSummary summary = ir::analyze(*kernel);
  for (const std::int64_t side : {1, 2, 5, 11}) {
    const std::int64_t width = side + 6;
    std::vector<float> in = numbers<float>(std::size_t(side * side * width), 3, 50);
    std::vector<float> expected(in.size());
    const Ids ids{3, {0, 0, 0}, {std::uint64_t(width), std::uint64_t(side), std::uint64_t(side)}};
    runOriginal(*kernel, ids,
                {ir::arrayArgument(expected.data(), {side, side, width}),
                 ir::arrayArgument(in.data(), {side, side, width})});
    for (const int jam : {0, 4}) {
      std::vector<float> got(in.size(), -1.0f);
      RowsOptions options;
      options.dims = 3;
      options.lanes = 4;
      options.jam = jam;
      const Rows rewritten = rows(*kernel, summary, options);
      REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
      // By itself a star is computed in two planes.
      CHECK(rewritten.jam == (jam == 0 ? 2 : 4));
      runRows(rewritten, ids, {std::uint64_t(width), 3, 6},
              {ir::arrayArgument(got.data(), {side, side, width}),
               ir::arrayArgument(in.data(), {side, side, width})});
      CAPTURE(side);
      CHECK(got == expected);
    }
  }
}

TEST_CASE("planes that share most of their loads are computed four at once, in tiles also others") {
  const auto jamOf = [](auto neighbours, bool isTiled) {
    const auto kernel = captured([neighbours](Array<float, 3> out, const Array<float, 3>& in) {
      Float sum = 0.0f;
      for (int z = -1; z <= 1; ++z)
        for (int y = -1; y <= 1; ++y)
          for (int x = -1; x <= 1; ++x)
            if (std::abs(z) + std::abs(y) + std::abs(x) <= neighbours)
              sum += in[idz + z][idy + y][idx + x];
      out[idz][idy][idx] = sum;
    });
    return chooseJam(ir::analyze(*kernel), {.dims = 3}, isTiled).jam;
  };
  constexpr int kStar = 1;
  constexpr int kBox = 3;
  CHECK(jamOf(kStar, false) == 2);
  CHECK(jamOf(kStar, true) == 4);
  CHECK(jamOf(kBox, false) == 4);
}

TEST_CASE("kernels that rows cannot compute say why") {
  CHECK(mentions(reasonOf([](Array<int, 2> out, const Array<int, 2>& in) {
                   out[idy][idx] = in[in[idy][idx]][idx];
                 }),
                 "not side by side"));
  CHECK(mentions(reasonOf([](Array<int, 2> out, const Array<int, 2>& in) {
                   out[idy][idx] = in[idy][szx - 1 - idx];
                 }),
                 "not side by side"));
  CHECK(mentions(
      reasonOf([](Array<int, 2> out, const Array<int, 2>& in) { out[idx][idy] = in[idy][idx]; }),
      "elsewhere than along idx"));
  CHECK(mentions(
      reasonOf([](Array<int, 2> out, const Array<int, 2>& in) { out[0][idx] = in[idy][idx]; }),
      "several work-items write one element"));
  CHECK(mentions(reasonOf([](Array<int, 2> out, const Array<int, 2>& in) {
                   out[idy][idx] = in[idy][idx] + cast<int>(lidx);
                 }),
                 "local or group ids"));
  CHECK(mentions(reasonOf([](Array<int, 2> out, const Array<int, 2>& in) {
                   atomic_inc(out[0][0]);
                   out[idy][idx] = in[idy][idx];
                 }),
                 "atomics"));
  CHECK(mentions(
      reasonOf([](Array<std::complex<float>, 2> out, const Array<std::complex<float>, 2>& in) {
        out[idy][idx] = in[idy][idx] * in[idy][idx];
      }),
      "complex"));
  CHECK(mentions(reasonOf([](Array<float, 2> out,
                             const Array<float, 2>& in) { out[idy][idx] = exp(in[idy][idx]); },
                          2, true),
                 "exp() may round otherwise"));
  CHECK(mentions(reasonOf([](Array<int, 2> out, const Array<int, 2>& in) {
                   Int here = in[idy][idx];
                   if_(here > 0) {
                     out[idy][idx] = 100 / here;
                   }
                 }),
                 "divides integers under a condition"));
}

TEST_CASE("numbers in the middle of the domain are no border") {
  const auto kernel = captured([](Array<int, 1> out, const Array<int, 1>& in) {
    if_(idx < 1000) {
      out[idx] = in[idx];
    }
    else_ { out[idx] = -in[idx]; }
  });
  // Decided comparisons leave no mask behind.
  const auto hasMask = [&](std::uint64_t size) {
    return mentions(rowsOfSize(*kernel, size), "any(");
  };
  CHECK_FALSE(hasMask(1001));
  CHECK_FALSE(hasMask(100000));
  CHECK(hasMask(2000));
}

TEST_CASE("small numbers are near the end of small domains") {
  const auto kernel = captured([](Array<int, 1> out, const Array<int, 1>& in) {
    if_(idx < 56) {
      out[idx] = in[idx];
    }
  });
  // Vectors are where the work is: before the number in a domain of 64, behind it in a long one.
  const auto isBefore = [&](std::uint64_t size) {
    return mentions(rowsOfSize(*kernel, size), "row_to < 56");
  };
  CHECK(isBefore(64));
  CHECK_FALSE(isBefore(4096));
}

TEST_CASE("long bounds that differ at their ends only are both kept") {
  const auto kernel = captured([](Array<int, 1> out, const Array<int, 1>& in, Int p) {
    Expr<int> sum = p * 0;
    for (int i = 0; i < 80; ++i) sum = sum + p * 0;
    const Expr<int> first = sum + p * 0 + p * 0, second = sum + p * 0 + p * 2;
    out[idx] = -1;
    if_(cast<int>(idx) + first < cast<int>(szx)) {
      if_(cast<int>(idx) + second < cast<int>(szx)) {
        out[idx] = in[idx];
      }
    }
  });
  std::vector<int> in(50), expected(50), got(50);
  std::iota(in.begin(), in.end(), 0);
  const Ids ids{1, {0, 0, 0}, {50, 1, 1}};
  const auto arguments = [&](std::vector<int>& out) {
    return std::vector<ir::Argument>{ir::arrayArgument(out.data(), {50}),
                                     ir::arrayArgument(in.data(), {50}), ir::scalarArgument(4)};
  };
  runOriginal(*kernel, ids, arguments(expected));
  RowsOptions options;
  options.lanes = 4;
  const Rows rewritten = rows(*kernel, ir::analyze(*kernel), options);
  REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
  runRows(rewritten, ids, {50, 1, 1}, arguments(got));
  CHECK(got == expected);
  CHECK(expected[41] == 41);
  CHECK(expected[42] == -1);
}

TEST_CASE("rows pay where work-items read their neighbours' elements or loop") {
  const auto pays = [](const auto& f) {
    const auto kernel = captured(f);
    return hasReuse(*kernel, ir::analyze(*kernel));
  };
  CHECK_FALSE(pays(
      [](Array<float, 1> y, const Array<float, 1>& x, Float a) { y[idx] = a * x[idx] + y[idx]; }));
  CHECK(pays([](Array<float, 1> y, const Array<float, 1>& x) { y[idx] = x[idx + 1]; }));
  CHECK(pays([](Array<float, 1> y, const Array<float, 1>& x) {
    Float sum = 0.0f;
    for_(Int i = 0, i < 8, i++) {
      sum += x[idx] * i;
    }
    y[idx] = sum;
  }));
}

// --- Random kernels

TEST_CASE("random stencils give the same bits in rows") {
  const char* wish = std::getenv("RANDOM_STENCILS");
  const unsigned count = wish != nullptr ? static_cast<unsigned>(std::atoi(wish)) : 150;
  unsigned rewrittenKernels = 0;
  for (unsigned seed = 1; seed <= count; ++seed) {
    CAPTURE(seed);
    const auto kernel = captured(RandomStencil{seed, false});
    const ir::AccessSummary summary = ir::analyze(*kernel);
    std::mt19937 random(seed);
    RowsOptions options;
    options.dims = 2;
    options.lanes = 2 << random() % 4;
    options.jam = static_cast<int>(1 + random() % 4);
    options.vectors = static_cast<int>(1 + random() % 2);
    const Rows rewritten = rows(*kernel, summary, options);
    if (!rewritten.kernel) continue;
    ++rewrittenKernels;
    const std::int64_t height = 3 + random() % 20, width = 3 + random() % 45;
    const auto cells = static_cast<std::size_t>(height * width);
    std::vector<int> a = numbers<int>(cells, seed, 60);
    std::vector<short> b = numbers<short>(cells, seed + 1, 60);
    const int parameter = static_cast<int>(random() % 20) - 10;
    std::vector<int> expected(cells, 11), got(cells, 11);
    const Ids ids{2, {0, 0, 0}, {std::uint64_t(width), std::uint64_t(height), 1}};
    const auto arguments = [&](std::vector<int>& out) {
      return std::vector<ir::Argument>{ir::arrayArgument(out.data(), {height, width}),
                                       ir::arrayArgument(a.data(), {height, width}),
                                       ir::arrayArgument(b.data(), {height, width}),
                                       ir::scalarArgument(parameter)};
    };
    runOriginal(*kernel, ids, arguments(expected));
    runRows(rewritten, ids, {1 + random() % 50, 1 + random() % 9, 1}, arguments(got));
    REQUIRE(got == expected);
  }
  MESSAGE(rewrittenKernels << " of " << count << " kernels were rewritten");
  CHECK(rewrittenKernels > count / 3);
}

}  // namespace rows_tests
