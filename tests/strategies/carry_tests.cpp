// SPDX-License-Identifier: Apache-2.0
// Values that one vector of a row hands on to the next one, in the interpreter: the same bits.
#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "hpl/ir/printer.h"
#include "tests/messages.h"
#include "tests/strategies/support.h"

namespace carry_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

using hpl_tests::contains;

const char* const kHandsOn = "values handed on along rows";

/// Runs a kernel of (out, in) both ways, with rows shorter and longer than a few vectors, whole and
/// cut. Returns the reasons.
template <class T, class F>
std::string compare(const F& kernel) {
  const auto original = captured(kernel);
  const ir::AccessSummary summary = ir::analyze(*original);
  std::string reasons;
  for (const std::int64_t width : {5, 18, 35, 64, 83}) {
    for (const int lanes : {4, 16}) {
      for (const int jam : {1, 2}) {
        RowsOptions options;
        options.dims = 2;
        options.lanes = lanes;
        options.jam = jam;
        options.vectors = 1;
        const Rows rewritten = rows(*original, summary, options);
        REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
        reasons += rewritten.reason + '\n';
        const std::int64_t height = 6;
        std::mt19937 random(static_cast<unsigned>(width));
        std::vector<T> in(static_cast<std::size_t>(width * height));
        for (T& value : in) value = static_cast<T>(static_cast<int>(random() % 200) - 100);
        in[7] = std::numeric_limits<T>::lowest();
        CAPTURE(width);
        CAPTURE(lanes);
        CAPTURE(jam);
        requireSameRows(*original, rewritten, in, height,
                        {{std::uint64_t(width), 4, 1}, {37, 4, 1}});
      }
    }
  }
  return reasons;
}

}  // namespace

TEST_CASE("elements that the vector before has loaded are handed on") {
  const std::string reasons = compare<int>([](Array<int, 2> out, const Array<int, 2>& in) {
    if_(idx > 1 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
      out[idy][idx] = in[idy][idx - 2] + 3 * in[idy][idx] - 5 * in[idy][idx + 1] +
                      7 * in[idy - 1][idx] + in[idy + 1][idx - 1] * in[idy + 1][idx + 1];
    }
  });
  CHECK(contains(reasons, "16 lanes, 1 vector side by side, 2 rows at once, values handed on"));
}

TEST_CASE("what crosses a face is computed once and handed on to the cell behind it") {
  const auto flow = [](Float l, Float r) -> Float {
    Float steep = r - l;
    return where(steep > 3.0f, steep / (l * l + 1.0f), sqrt(fabs(steep)));
  };
  const std::string reasons = compare<float>([&](Array<float, 2> out, const Array<float, 2>& in) {
    if_(idx > 0 && idx + 1 < szx) {
      Float west = flow(in[idy][idx - 1], in[idy][idx]);
      Float east = flow(in[idy][idx], in[idy][idx + 1]);
      Float sum = west * 2.0f;
      sum -= east;
      out[idy][idx] = sum;
    }
    else_ { out[idy][idx] = -1.0f; }
  });
  CHECK(contains(reasons, kHandsOn));
}

TEST_CASE("magnitudes of integers are handed on, the least integer's too") {
  const std::string reasons = compare<int>([](Array<int, 2> out, const Array<int, 2>& in) {
    if_(idx > 0) {
      Int here = cast<int>(abs(in[idy][idx]) >> 1);
      Int before = cast<int>(abs(in[idy][idx - 1]) >> 1);
      out[idy][idx] = here - 2 * before;
    }
  });
  CHECK(contains(reasons, kHandsOn));
}

TEST_CASE("a kernel that branches on values, or changes what it computes with, hands nothing on") {
  const std::string branches = compare<int>([](Array<int, 2> out, const Array<int, 2>& in) {
    if_(idx > 0) {
      Int sum = in[idy][idx - 1] + in[idy][idx];
      if_(sum > 4) {
        out[idy][idx] = sum;
      }
    }
  });
  CHECK_FALSE(contains(branches, kHandsOn));
  const std::string alone = compare<int>([](Array<int, 2> out, const Array<int, 2>& in) {
    Int sum = in[idy][idx] + 1;
    out[idy][idx] = sum * sum;
  });
  CHECK_FALSE(contains(alone, kHandsOn));
}

TEST_CASE("elements at the ends of rows are those of the kernel, whatever its comparisons are") {
  // Borders of one and of two elements, left as they are, computed otherwise, or equal to an id.
  compare<int>([](Array<int, 2> out, const Array<int, 2>& in) {
    if_(idx >= 2 && idx + 1 < szx && idy > 0) {
      out[idy][idx] = in[idy][idx - 2] + in[idy][idx + 1] * in[idy - 1][idx];
    }
    else_ { out[idy][idx] = in[idy][idx] - 1; }
    if_(idx != 1) {
      out[idy][idx] = in[idy][idx] + 7 * in[idy][where(idx > 0, idx - 1, szx - 1)];
    }
  });
  compare<int>([](Array<int, 2> out, const Array<int, 2>& in) {
    Int sum = 0;
    for (int d = -2; d <= 2; ++d) {
      Int x = cast<int>(idx) + d;
      if_(x >= 0 && x < cast<int>(szx)) {
        sum += in[idy][x] * (d + 4);
      }
    }
    out[idy][idx] = sum;
    if_(idx < szy) {
      if_(idx + 3 < szx) {
        out[idy][idx] = sum - in[idy][idx + 3];
      }
    }
  });
}

TEST_CASE("a test for one of two numbers that differ in a bit gives the same outcome") {
  compare<int>([](Array<int, 2> out, const Array<int, 2>& in) {
    Int n = in[idy][idx] & 7;
    Int c = in[idy][idx] >> 3;
    Int low = cast<int>(n == 3 || (c != 0 && n == 2)) + 2 * cast<int>(n == 2 || (c > 1 && n == 3));
    out[idy][idx] = low + 4 * cast<int>(n == 5 || (c > 0 && n == 1)) +
                    8 * cast<int>(n == 4 || (c < 0 && n == 2));
  });
}

TEST_CASE("rows at once are fewer where they would hand on more than registers hold") {
  const auto kernel = captured([](Array<float, 2> out, const Array<float, 2>& in) {
    if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
      Float sum = 0.0f;
      for (int k = 1; k <= 9; ++k) {
        Float west = sqrt(in[idy][idx - 1] * static_cast<float>(k));
        Float east = sqrt(in[idy][idx + 1] * static_cast<float>(k));
        sum += west - east * in[idy - 1][idx] + in[idy + 1][idx];
      }
      out[idy][idx] = sum;
    }
  });
  RowsOptions options;
  options.dims = 2;
  const Rows rewritten = rows(*kernel, ir::analyze(*kernel), options);
  REQUIRE(rewritten.kernel != nullptr);
  CHECK(contains(rewritten.reason, "2 rows at once, values handed on"));
  CHECK(rewritten.jam == 2);
}

TEST_CASE("elements that variables begin with and never keep are not loaded for vectors") {
  const auto loads = [](bool keeps) {
    const auto original = captured([&](Array<float, 2> out, const Array<float, 2>& in) {
      Float mean = in[idy][idx];
      if_(idx > 0 && idx + 1 < szx) {
        if (keeps) {
          mean = mean * 0.5f;
        } else {
          mean = 0.0f;
        }
        mean += in[idy][idx - 1] + in[idy][idx + 1];
      }
      out[idy][idx] = mean;
    });
    RowsOptions options;
    options.dims = 2;
    const Rows rewritten = rows(*original, ir::analyze(*original), options);
    REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
    const std::string text = ir::print(*rewritten.kernel);
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("float16 ", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  CHECK(loads(false) < loads(true));
  compare<float>([](Array<float, 2> out, const Array<float, 2>& in) {
    Float mean = in[idy][idx];
    if_(idx > 0 && idx + 1 < szx) {
      mean = 0.25f;
      mean += in[idy][idx - 1] + in[idy][idx + 1];
    }
    out[idy][idx] = mean;
  });
}

}  // namespace carry_tests
