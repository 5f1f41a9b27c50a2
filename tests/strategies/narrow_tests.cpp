// SPDX-License-Identifier: Apache-2.0
// Kernels of bytes and shorts in rows whose lanes are as narrow as their values.
#include <limits>
#include <random>

#include "hpl/ir/printer.h"
#include "hpl/strategies/detail/narrow.h"
#include "tests/strategies/support.h"

namespace narrow_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

/// All values of the type, its ends often.
template <class T>
std::vector<T> numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    const auto any = static_cast<T>(random());
    value = random() % 4 == 0   ? std::numeric_limits<T>::max()
            : random() % 5 == 0 ? std::numeric_limits<T>::min()
                                : any;
  }
  return values;
}

RowsOptions optionsOf(std::int64_t width, std::int64_t height, int bytes) {
  RowsOptions options;
  options.dims = 2;
  options.lanes = bytes / 4;
  options.vectorBytes = bytes;
  options.size = {std::uint64_t(width), std::uint64_t(height), 1};
  return options;
}

/// Runs a kernel of (out, in) both ways and expects that many lanes in vectors of 16 bytes.
template <class Out, class In, class F>
void compareLanes(const F& kernel, int lanes) {
  const auto original = captured(kernel);
  const ir::AccessSummary summary = ir::analyze(*original);
  for (const auto& [height, width] :
       {std::pair<std::int64_t, std::int64_t>{1, 64}, {5, 100}, {9, 131}}) {
    const auto cells = static_cast<std::size_t>(height * width);
    std::vector<In> in = numbers<In>(cells, 3);
    const std::vector<Out> before = numbers<Out>(cells, 4);
    const Ids ids{2, {0, 0, 0}, {std::uint64_t(width), std::uint64_t(height), 1}};
    const auto arguments = [&](std::vector<Out>& out) {
      return std::vector<ir::Argument>{ir::arrayArgument(out.data(), {height, width}),
                                       ir::arrayArgument(in.data(), {height, width})};
    };
    std::vector<Out> expected = before;
    runOriginal(*original, ids, arguments(expected));
    for (const int bytes : {16, 64}) {
      for (const int jam : {1, 4}) {
        RowsOptions options = optionsOf(width, height, bytes);
        options.jam = jam;
        const Rows rewritten = rows(*original, summary, options);
        REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
        if (bytes == 16) CHECK(rewritten.lanes == lanes);
        CAPTURE(width);
        CAPTURE(bytes);
        CAPTURE(jam);
        std::vector<Out> got = before;
        runRows(rewritten, ids, {std::uint64_t(width), 4, 1}, arguments(got));
        REQUIRE(got == expected);
      }
    }
  }
}

using Bytes = Array<unsigned char, 2>;

template <class Body>
void inside(const Body& body) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    body();
  }
}

/// Random sums, shifts, comparisons and selections of bytes and shorts.
struct RandomPicture {
  unsigned seed;

  struct Writer {
    std::mt19937 random;
    const Array<unsigned char, 2>& a;
    const Array<short, 2>& b;

    int pick(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
    Expr<int> leaf() {
      switch (pick(4)) {
        case 0:
          return cast<int>(b[idy][idx + pick(3) - 1]);
        case 1:
          return pick(300) - 100 + 0 * cast<int>(a[idy][idx]);
        default:
          return a[idy + pick(3) - 1][idx + pick(3) - 1] + 0;
      }
    }
    Expr<int> value(int depth) {
      if (depth == 0) return leaf();
      switch (pick(13)) {
        case 0:
          return value(depth - 1) - value(depth - 1);
        case 1:
          return value(depth - 1) * (pick(9) - 3);
        case 2:
          return where(condition(depth - 1), value(depth - 1), value(depth - 1));
        case 3:
          return min(value(depth - 1), value(depth - 1));
        case 4:
          return max(value(depth - 1), pick(40) - 20);
        case 5:
          return value(depth - 1) ^ value(depth - 1);
        case 6:
          return value(depth - 1) >> (1 + pick(9));
        case 7:
          return value(depth - 1) / (2 + pick(5));
        case 8:
          return cast<int>(abs(value(depth - 1)));
        case 9:
          return value(depth - 1) & (1 << pick(9));
        case 10:
          return cast<int>(cast<unsigned char>(value(depth - 1)));
        case 11:
          return (value(depth - 1) << pick(4)) + condition(depth - 1);
        default:
          return value(depth - 1) + value(depth - 1);
      }
    }
    Expr<int> condition(int depth) {
      switch (pick(4)) {
        case 0:
          return value(depth) > value(depth);
        case 1:
          return !(value(depth) == pick(9));
        case 2:
          return value(depth) < 100 && value(depth) != 3;
        default:
          return value(depth) >= pick(200) - 100;
      }
    }
  };

  void operator()(Array<short, 2> out, const Array<unsigned char, 2>& a,
                  const Array<short, 2>& b) const {
    Writer writer{std::mt19937(seed), a, b};
    if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
      Int sum = writer.value(2);
      if_(writer.condition(1)) {
        sum += writer.value(1);
      }
      else_ { sum = writer.value(2); }
      Int kept = writer.value(1) + sum;
      out[idy][idx] = cast<short>(writer.pick(2) == 0 ? kept & 255 : kept - sum);
    }
  }
};

}  // namespace

TEST_CASE("life in bytes has a lane for each byte") {
  compareLanes<unsigned char, unsigned char>(
      [](Bytes out, const Bytes& in) {
        inside([&] {
          Int n = 0;
          for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
              if (dy != 0 || dx != 0) n += in[idy + dy][idx + dx] & 1;
          out[idy][idx] = where(n == 3 || (n == 2 && in[idy][idx] == 1), 1, 0);
        });
      },
      16);
}

TEST_CASE("sums of bytes of which the low bits are kept are sums of bytes") {
  compareLanes<unsigned char, unsigned char>(
      [](Bytes out, const Bytes& in) {
        inside([&] {
          out[idy][idx] = in[idy][idx - 1] + 3 - in[idy][idx + 1] - (in[idy - 1][idx] << 2);
        });
      },
      16);
}

TEST_CASE("a mask on a picture of bytes has lanes of two bytes") {
  compareLanes<unsigned char, unsigned char>(
      [](Bytes out, const Bytes& in) {
        inside([&] {
          Int sum = 8;
          for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
              sum += (2 - std::abs(dy)) * (2 - std::abs(dx)) * in[idy + dy][idx + dx];
          out[idy][idx] = sum >> 4;
        });
      },
      8);
}

TEST_CASE("differences, magnitudes and saturation have lanes of two bytes") {
  compareLanes<unsigned char, unsigned char>(
      [](Bytes out, const Bytes& in) {
        inside([&] {
          Int across = in[idy][idx + 1] - in[idy][idx - 1];
          Int down = in[idy + 1][idx] - in[idy - 1][idx];
          out[idy][idx] = min(cast<int>(abs(across) + abs(down)), 255);
        });
      },
      8);
}

TEST_CASE("values that do not fit into lanes of two bytes have lanes of four") {
  compareLanes<short, short>(
      [](Array<short, 2> out, const Array<short, 2>& in) {
        inside([&] { out[idy][idx] = (in[idy][idx - 1] * in[idy][idx + 1]) >> 8; });
      },
      4);
  compareLanes<unsigned char, unsigned char>(
      [](Bytes out, const Bytes& in) {
        Int total = 0;
        for_(Int k = 0, k < 3, k++) {
          total += in[idy][idx] * 256;
        }
        out[idy][idx] = total / 7;
      },
      4);
}

TEST_CASE("branches on bytes give the same bits in narrow lanes") {
  compareLanes<unsigned char, unsigned char>(
      [](Bytes out, const Bytes& in) {
        Int here = in[idy][idx];
        if_(here > 100) {
          here -= 100;
          if_(here > 20 || !(here < 15)) {
            here += 200;
          }
        }
        else_ { here = 255 - here; }
        out[idy][idx] = here;
      },
      8);
}

TEST_CASE("shifts by more than a narrow lane's bits give the same bits") {
  compareLanes<unsigned char, unsigned char>(
      [](Bytes out, const Bytes& in) {
        out[idy][idx] = (in[idy][idx] >> 9) + (in[idy][idx] >> 7) + ((in[idy][idx] << 8) >> 10);
      },
      4);
}

TEST_CASE("rows of few narrow vectors, and devices without them, keep their lanes") {
  const auto original =
      captured([](Bytes out, const Bytes& in) { out[idy][idx] = in[idy][idx] + 1; });
  const ir::AccessSummary summary = ir::analyze(*original);
  CHECK(rows(*original, summary, optionsOf(64, 9, 16)).lanes == 16);
  CHECK(rows(*original, summary, optionsOf(63, 9, 16)).lanes == 8);
  CHECK(rows(*original, summary, optionsOf(20, 9, 16)).lanes == 4);
  RowsOptions options = optionsOf(64, 9, 16);
  options.vectorBytes = 0;
  CHECK(rows(*original, summary, options).lanes == 4);
}

TEST_CASE("random kernels of bytes and shorts give the same bits in narrow lanes") {
  const char* wish = std::getenv("RANDOM_STENCILS");
  const unsigned count = wish != nullptr ? static_cast<unsigned>(std::atoi(wish)) : 200;
  unsigned narrowKernels = 0;
  const std::int64_t height = 5, width = 77;
  const Ids ids{2, {0, 0, 0}, {std::uint64_t(width), std::uint64_t(height), 1}};
  const auto cells = static_cast<std::size_t>(height * width);
  for (unsigned seed = 1; seed <= count; ++seed) {
    CAPTURE(seed);
    const auto kernel = captured(RandomPicture{seed});
    RowsOptions options = optionsOf(width, height, 32);
    options.jam = seed % 2 == 0 ? 1 : 3;
    const Rows rewritten = rows(*kernel, ir::analyze(*kernel), options);
    REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
    narrowKernels += rewritten.lanes > 8 ? 1 : 0;
    std::vector<unsigned char> a = numbers<unsigned char>(cells, seed);
    std::vector<short> b = numbers<short>(cells, seed + 1);
    std::vector<short> expected(cells, 11), got(cells, 11);
    const auto arguments = [&](std::vector<short>& out) {
      return std::vector<ir::Argument>{ir::arrayArgument(out.data(), {height, width}),
                                       ir::arrayArgument(a.data(), {height, width}),
                                       ir::arrayArgument(b.data(), {height, width})};
    };
    runOriginal(*kernel, ids, arguments(expected));
    runRows(rewritten, ids, {std::uint64_t(width), 3, 1}, arguments(got));
    REQUIRE(got == expected);
  }
  MESSAGE(narrowKernels << " of " << count << " kernels have narrow lanes");
  CHECK(narrowKernels > count / 10);
}

}  // namespace narrow_tests
