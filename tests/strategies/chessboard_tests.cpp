// SPDX-License-Identifier: Apache-2.0
// Kernels of one colour of a chessboard, in rows of every second element.
#include <random>

#include "tests/strategies/support.h"

namespace chessboard_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

Rows rewrittenRows(const ir::Kernel& kernel, int lanes) {
  RowsOptions options;
  options.dims = 2;
  options.lanes = lanes;
  return rows(kernel, ir::analyze(kernel), options);
}

bool isOfColours(const Rows& rewritten) {
  return rewritten.reason.find("every second element") != std::string::npos;
}

/// Runs a kernel of (u, f, colour) both ways, with u in place. One block for all: between blocks
/// the checker sees cells rewritten with the values that they have.
template <class T, class F>
void compare(const F& kernel, const std::vector<int>& colours, bool isChessboard = true) {
  const auto original = captured(kernel);
  for (const int lanes : {4, 8, 16}) {
    const Rows rewritten = rewrittenRows(*original, lanes);
    REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
    CHECK(isOfColours(rewritten) == isChessboard);
    for (const auto& [height, width] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                        {3, 8},
                                        {4, 17},
                                        {5, 33},
                                        {6, 34},
                                        {3, 71}}) {
      const auto cells = static_cast<std::size_t>(height * width);
      const std::vector<T> before = someNumbers<T>(cells, 3);
      std::vector<T> f = someNumbers<T>(cells, 4);
      const Ids ids{2, {0, 0, 0}, {std::uint64_t(width), std::uint64_t(height), 1}};
      for (const int colour : colours) {
        CAPTURE(lanes);
        CAPTURE(height);
        CAPTURE(width);
        CAPTURE(colour);
        const auto arguments = [&](std::vector<T>& u) {
          return std::vector<ir::Argument>{ir::arrayArgument(u.data(), {height, width}),
                                           ir::arrayArgument(f.data(), {height, width}),
                                           ir::scalarArgument(colour)};
        };
        std::vector<T> expected = before, got = before;
        runOriginal(*original, ids, arguments(expected));
        runRows(rewritten, ids, {std::uint64_t(width), std::uint64_t(height), 1}, arguments(got));
        REQUIRE(got == expected);
      }
    }
  }
}

using Grid = Array<int, 2>;

Expr<int> around(const Grid& u) {
  return u[idy - 1][idx] + u[idy + 1][idx] + 3 * u[idy][idx - 1] + 5 * u[idy][idx + 1];
}

Expr<int> inside() { return idx > 0 && idy > 0 && idx + 1 < szx && idy + 1 < szy; }

}  // namespace

TEST_CASE("one colour of a chessboard is relaxed in place with the bits of one by one") {
  compare<int>(
      [](Grid u, const Grid& f, Int colour) {
        if_(inside() && cast<int>(idx + idy) % 2 == colour) {
          u[idy][idx] = around(u) + 7 * f[idy][idx];
        }
      },
      {0, 1});
  compare<float>(
      [](Array<float, 2> u, const Array<float, 2>& f, Int colour) {
        if_(inside()) {
          Int sum = cast<int>(idx) + cast<int>(idy);
          if_((sum + colour) % 2 == 0) {
            Float old = u[idy][idx];
            u[idy][idx] = old + 0.25f * (u[idy - 1][idx] + u[idy][idx + 1] - 2.0f * f[idy][idx]);
          }
        }
      },
      {0, 1, -1, -7, 1000});
}

TEST_CASE("colours that no cell has, or all have, are as they were written") {
  const auto kernel = [](Grid u, const Grid& f, Int colour) {
    if_(cast<int>(idx + idy) % 2 == colour) {
      u[idy][idx] += f[idy][idx];
    }
  };
  compare<int>(kernel, {-1, 0, 1, 2, 17});
  compare<int>(
      [](Grid u, const Grid& f, Int colour) {
        if_(cast<int>(idx + idy) % 2 != colour) {
          u[idy][idx] += f[idy][idx];
        }
      },
      {-1, 0, 1, 2, 17});
}

TEST_CASE("colours may be written as bits, along one axis, and with rows that differ") {
  compare<int>(
      [](Grid u, const Grid& f, Int colour) {
        if_(((cast<int>(idx) + cast<int>(idy) - colour) & 1) == 1) {
          u[idy][idx] = 2 * u[idy][idx] - f[idy][idx];
        }
      },
      {0, 1, 5, 1000});
  compare<int>(
      [](Grid u, const Grid& f, Int colour) {
        if_(idx % 2 == cast<unsigned long>(colour) && idx + 1 < szx) {
          u[idy][idx] = u[idy][idx + 1] * 3 + f[idy][idx];
        }
      },
      {0, 1});
  // Lines of every second row are whole rows: no colours along a row.
  compare<int>(
      [](Grid u, const Grid& f, Int colour) {
        if_(cast<int>(idy) % 2 == colour) {
          u[idy][idx] += f[idy][idx];
        }
      },
      {0, 1}, false);
}

TEST_CASE("ids, conditions, and loops in the cells of a colour are those of the cells") {
  compare<int>(
      [](Grid u, const Grid& f, Int colour) {
        if_(inside() && cast<int>(idx + idy) % 2 == colour) {
          Int sum = 1000 * cast<int>(idx) + cast<int>(idy);
          if_(u[idy][idx] > 0) {
            sum += f[idy][idx - 1];
          }
          else_ { sum -= f[idy][idx + 1]; }
          for (int k = 0; k < 3; ++k) sum = sum * 2 + u[idy][idx - 1];
          u[idy][idx] = sum;
        }
      },
      {0, 1});
  // A store for some of the cells only.
  compare<int>(
      [](Grid u, const Grid& f, Int colour) {
        if_(inside() && cast<int>(idx + idy) % 2 == colour) {
          if_(f[idy][idx] > 10) {
            u[idy][idx] = around(u);
          }
        }
      },
      {0, 1});
  // Half resolution within a colour.
  compare<int>(
      [](Grid u, const Grid& f, Int colour) {
        if_((cast<int>(idx) & 1) == colour) {
          u[idy][idx] += f[idy][idx / 2] + 3 * f[idy][(cast<int>(idx) + 1) / 2];
        }
      },
      {0, 1});
}

TEST_CASE("a colour that is written to another array is computed in rows at once") {
  const auto kernel = captured([](Grid next, const Grid& now) {
    if_(inside() && cast<int>(idx + idy) % 2 == 0) {
      next[idy][idx] = around(now);
    }
  });
  const Rows rewritten = rewrittenRows(*kernel, 8);
  REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
  CHECK_FALSE(isOfColours(rewritten));
}

TEST_CASE("a colour that may be negative is compared one by one") {
  // -1 % 2 is -1: cells on both sides of zero have different remainders.
  compare<int>(
      [](Grid u, const Grid& f, Int colour) {
        if_((cast<int>(idx) - 8) % 2 == colour) {
          u[idy][idx] += f[idy][idx];
        }
      },
      {-1, 0, 1}, false);
}

TEST_CASE("what is done for cells of both colours is done for both") {
  compare<int>(
      [](Grid u, const Grid& f, Int colour) {
        if_(cast<int>(idx + idy) % 2 == colour) {
          u[idy][idx] = f[idy][idx];
        }
        else_ { u[idy][idx] = -f[idy][idx]; }
      },
      {0, 1}, false);
  compare<int>(
      [](Grid u, const Grid& f, Int colour) {
        Int value = f[idy][idx];
        if_(cast<int>(idx + idy) % 2 == colour) {
          value += 5;
        }
        u[idy][idx] = value;
      },
      {0, 1}, false);
}

TEST_CASE("random relaxations of a colour give the same bits") {
  const unsigned seed = 20'261'125;
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int trial = 0; trial < 40; ++trial) {
    CAPTURE(trial);
    std::vector<std::array<int, 3>> taps;
    const auto count = 1 + random() % 5;
    for (unsigned t = 0; t < count; ++t) {
      // Other colour, or the cell itself.
      const int dy = static_cast<int>(random() % 3) - 1;
      const int dx = dy == 0 ? (random() % 2 == 0 ? 1 : -1) * static_cast<int>(random() % 2) : 0;
      taps.push_back({dy, dx, 1 + static_cast<int>(random() % 9)});
    }
    const int far = static_cast<int>(random() % 5) - 2;
    const bool nested = random() % 2 == 0, bits = random() % 2 == 0;
    compare<int>(
        [&](Grid u, const Grid& f, Int colour) {
          const auto relax = [&] {
            Int sum = f[idy][idx + far];
            for (const auto& [dy, dx, weight] : taps) sum += weight * u[idy + dy][idx + dx];
            u[idy][idx] = sum;
          };
          const auto isInside = idx > 1 && idy > 0 && idx + 2 < szx && idy + 1 < szy;
          const auto isChosen =
              bits ? (cast<int>(idx + idy) & 1) == colour : cast<int>(idx + idy) % 2 == colour;
          if (nested) {
            if_(isInside) {
              if_(isChosen) {
                relax();
              }
            }
          } else {
            if_(isInside&& isChosen) {
              relax();
            }
          }
        },
        {0, 1});
  }
}

}  // namespace chessboard_tests
