// SPDX-License-Identifier: Apache-2.0
// Random stencils on periodic parts, with other uses of the arrays in between: all must equal a
// plain loop with wrapped indices, bit for bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>
#include <vector>

#include "support.h"
#include "tests/seeds.h"

namespace periodic_random_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

struct Term {
  std::array<int, 3> offset{};
  int weight = 1;
};

/// One dimension of an array; dimensions that it does not have have one cell.
struct Side {
  int extent = 1;
  bool isSplit = false;
  bool isPeriodic = false;
  /// How far the stencil reaches, and how many ghosts there are.
  int before = 0, after = 0, ghosts = 0;
};

struct Problem {
  int rank = 1;
  std::array<Side, 3> sides;
  std::vector<Term> terms;
  /// Steps from one exchange to the next.
  int steps = 1;
};

Problem randomProblem(std::mt19937& random, int rank) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Problem problem;
  problem.rank = rank;
  problem.steps = 1 + below(3);
  for (int t = 2 + below(4); t > 0; --t) {
    Term& term = problem.terms.emplace_back();
    term.weight = below(7) - 3;
    for (int d = 3 - rank; d < 3; ++d) {
      const int offset = term.offset[static_cast<std::size_t>(d)] = below(3) - 1;
      Side& side = problem.sides[static_cast<std::size_t>(d)];
      side.before = std::max(side.before, -offset);
      side.after = std::max(side.after, offset);
    }
  }
  const int split = 1 + below((1 << rank) - 1);  // at least one dimension
  for (int d = 0; d < rank; ++d) {
    Side& side = problem.sides[static_cast<std::size_t>(3 - rank + d)];
    side.extent = 12 + below(rank == 3 ? 6 : 20);
    side.isSplit = (split >> d & 1) != 0;
    // A part has at least 3 cells.
    side.ghosts = std::min(3, problem.steps * std::max({side.before, side.after, 1}));
    side.isPeriodic = side.isSplit && below(4) != 0;
  }
  // As many steps as the ghosts last.
  for (const Side& side : problem.sides)
    if (side.isSplit && std::max(side.before, side.after) > 0)
      problem.steps = std::min(problem.steps, side.ghosts / std::max(side.before, side.after));
  return problem;
}

template <int N>
auto cellAt(Array<int, N>& in, const std::array<int, 3>& offset) {
  if constexpr (N == 1) return in[idx + offset[2]];
  if constexpr (N == 2) return in[idy + offset[1]][idx + offset[2]];
  if constexpr (N == 3) return in[idz + offset[0]][idy + offset[1]][idx + offset[2]];
}

template <class Position, class Size>
auto inside(const Side& side, const Position& position, const Size& size) {
  return position >= side.before && position + side.after < size;
}

/// Leaves cells without all neighbours in the part as they are.
template <int N>
auto kernelOf(const Problem& problem) {
  return [problem](Array<int, N> out, Array<int, N> in) {
    const auto store = [&] {
      Int sum = 0;
      for (const Term& term : problem.terms) sum += term.weight * cellAt<N>(in, term.offset);
      cellAt<N>(out, {}) = sum;
    };
    const auto inX = inside(problem.sides[2], idx, szx);
    if constexpr (N == 1) {
      if_(inX) {
        store();
      }
    } else if constexpr (N == 2) {
      if_(inX&& inside(problem.sides[1], idy, szy)) {
        store();
      }
    } else {
      if_(inX&& inside(problem.sides[1], idy, szy) && inside(problem.sides[0], idz, szz)) {
        store();
      }
    }
  };
}

/// One step of the plain loop.
std::vector<int> stepOf(const Problem& problem, const std::vector<int>& in, std::vector<int> out) {
  const auto& [z, y, x] = problem.sides;
  const auto at = [&](int k, int j, int i) {
    return static_cast<std::size_t>((k * y.extent + j) * x.extent + i);
  };
  const auto isComputed = [](const Side& side, int i) {
    return side.isPeriodic || (i >= side.before && i + side.after < side.extent);
  };
  const auto wrapped = [](const Side& side, int i) { return (i + side.extent) % side.extent; };
  for (int k = 0; k < z.extent; ++k) {
    for (int j = 0; j < y.extent; ++j) {
      for (int i = 0; i < x.extent; ++i) {
        if (!isComputed(z, k) || !isComputed(y, j) || !isComputed(x, i)) continue;
        unsigned sum = 0;
        for (const Term& term : problem.terms)
          sum += static_cast<unsigned>(term.weight) *
                 static_cast<unsigned>(
                     in[at(wrapped(z, k + term.offset[0]), wrapped(y, j + term.offset[1]),
                           wrapped(x, i + term.offset[2]))]);
        out[at(k, j, i)] = static_cast<int>(sum);
      }
    }
  }
  return out;
}

GhostCells ghostsOf(const Side& side) {
  return {side.ghosts, side.isPeriodic ? PERIODIC : NOT_PERIODIC};
}

/// Calls f(annotated...) for both arrays.
template <int N, class F>
void annotate(const Problem& problem, SyncMode sync, Array<int, N>& a, Array<int, N>& b, F f) {
  const auto& s = problem.sides;
  int split = 0;
  for (int d = 0; d < N; ++d)
    if (s[static_cast<std::size_t>(3 - N + d)].isSplit) split = 10 * split + d + 1;
  const auto side = [&](int dim) { return s[static_cast<std::size_t>(3 - N + dim - 1)]; };
  const auto one = [&](int dim) { return side(dim).ghosts; };
  const auto wrap = [&](int dim) { return side(dim).isPeriodic ? PERIODIC : NOT_PERIODIC; };
  const auto of = [&](int dim) { return ghostsOf(side(dim)); };
  switch (split) {
    case 1:
      return f(PART1(a, one(1), wrap(1), sync), PART1(b, one(1), wrap(1), sync));
    case 2:
      return f(PART2(a, one(2), wrap(2), sync), PART2(b, one(2), wrap(2), sync));
    case 3:
      return f(PART3(a, one(3), wrap(3), sync), PART3(b, one(3), wrap(3), sync));
    case 12:
      return f(PART12(a, of(1), of(2), sync), PART12(b, of(1), of(2), sync));
    case 13:
      return f(PART13(a, of(1), of(3), sync), PART13(b, of(1), of(3), sync));
    case 23:
      return f(PART23(a, of(2), of(3), sync), PART23(b, of(2), of(3), sync));
    default:
      return f(PART123(a, of(1), of(2), of(3), sync), PART123(b, of(1), of(2), of(3), sync));
  }
}

template <int N>
Array<int, N> arrayOf(const Problem& problem) {
  const auto& [z, y, x] = problem.sides;
  if constexpr (N == 1) return Array<int, 1>(x.extent);
  if constexpr (N == 2) return Array<int, 2>(y.extent, x.extent);
  if constexpr (N == 3) return Array<int, 3>(z.extent, y.extent, x.extent);
}

/// A pair of arrays and the plain values of both.
template <int N>
class Run {
 public:
  Run(const Problem& problem, unsigned seed)
      : problem_(problem),
        kernel_(kernelOf<N>(problem)),
        now_(arrayOf<N>(problem)),
        next_(arrayOf<N>(problem)),
        x_(someValues(now_.size(), seed)),
        y_(x_) {
    now_.copyFrom(x_.data());
    next_.copyFrom(y_.data());
  }

  void step(SyncMode sync, bool exchanges) {
    annotate<N>(problem_, sync, next_, now_,
                [&](const auto& out, const auto& in) { eval(kernel_)(out, in); });
    y_ = stepOf(problem_, x_, y_);
    if (exchanges) next_.syncGhosts();
    swap(now_, next_);
    std::swap(x_, y_);
  }
  /// Something else that programs do with an array.
  void disturb(std::mt19937& random) {
    const auto cell = random() % x_.size();
    switch (random() % 6) {
      case 0:
        now_.data()[cell] = x_[cell] = static_cast<int>(random() % 100);
        break;
      case 1:
        next_ = now_;
        y_ = x_;
        break;
      case 2:
        now_ = 3;
        std::fill(x_.begin(), x_.end(), 3);
        break;
      case 3:
        addOne([&](Array<int, N>& a) { eval(incrementOf)(a); });
        break;
      case 4:
        addOne([&](Array<int, N>& a) { eval(incrementOf)(PART1(a)); });
        break;
      default:
        REQUIRE(valuesOf(now_) == x_);
    }
  }
  void check() {
    REQUIRE(valuesOf(now_) == x_);
    REQUIRE(valuesOf(next_) == y_);
  }

 private:
  static void incrementOf(Array<int, N> a) { cellAt<N>(a, {}) += 1; }
  template <class Launch>
  void addOne(Launch launch) {
    launch(now_);
    for (int& value : x_) ++value;
  }

  Problem problem_;
  decltype(kernelOf<N>(std::declval<const Problem&>())) kernel_;
  Array<int, N> now_, next_;
  std::vector<int> x_, y_;
};

template <int N>
void runRandom(unsigned seed) {
  CAPTURE(seed);
  CAPTURE(N);
  std::mt19937 random(seed);
  const Problem problem = randomProblem(random, N);
  for (const Side& side : problem.sides) {
    INFO("extent ", side.extent, " split ", side.isSplit, " periodic ", side.isPeriodic, " ghosts ",
         side.ghosts);
  }
  Run<N> exchanged(problem, seed), expanded(problem, seed), automatic(problem, seed);
  for (int step = 0; step < 10; ++step) {
    CAPTURE(step);
    exchanged.step(MANUAL_SYNC, true);
    expanded.step(MANUAL_SYNC, step % problem.steps == problem.steps - 1);
    automatic.step(AUTO_SYNC, false);
    if (random() % 3 == 0) {
      exchanged.disturb(random);
      automatic.disturb(random);
    }
    if (random() % 4 == 0) automatic.check();
  }
  exchanged.check();
  expanded.check();
  automatic.check();
}

}  // namespace

TEST_CASE("random stencils on periodic parts of vectors give what a wrapped loop gives") {
  for (const unsigned seed : Seeds(1, 12)) runRandom<1>(seed);
}
TEST_CASE("random stencils on periodic parts of matrices give what a wrapped loop gives") {
  for (const unsigned seed : Seeds(1, 12)) runRandom<2>(100 + seed);
}
TEST_CASE("random stencils on periodic parts of cubes give what a wrapped loop gives") {
  for (const unsigned seed : Seeds(1, 6)) runRandom<3>(200 + seed);
}

TEST_CASE("periodic parts may be pieces, their borders first") {
  const WithSettings pieces(
      [](runtime::Settings& settings) { settings.overlap = runtime::Overlap::On; });
  runRandom<1>(31);
  runRandom<2>(32);
}

}  // namespace periodic_random_tests
