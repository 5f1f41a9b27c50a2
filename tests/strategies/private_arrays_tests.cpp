// SPDX-License-Identifier: Apache-2.0
// Arrays of a work-item's own whose indices are computed: rows give the same bits, or say why not.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <random>

#include "hpl/strategies/tile.h"
#include "tests/launch/random_functor.h"
#include "tests/strategies/support.h"

namespace private_arrays_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

Rows rowsOf(const ir::Kernel& kernel, int jam = 1) {
  RowsOptions options;
  options.dims = 2;
  options.lanes = 4;
  options.jam = jam;
  return rows(kernel, ir::analyze(kernel), options);
}

template <class F>
std::string reasonOf(const F& kernel) {
  const auto original = captured(kernel);
  const Rows result = rowsOf(*original);
  REQUIRE(result.kernel == nullptr);
  return result.reason;
}

/// In rows of vectors, or not at all, it computes what it computes.
template <class F>
void compare(const F& kernel) {
  const auto original = captured(kernel);
  const Rows rewritten = rowsOf(*original);
  REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
  std::mt19937 random(7);
  std::vector<int> in(5 * 21);
  for (int& value : in) value = static_cast<int>(random() % 50);
  requireSameRows<int>(*original, rewritten, in, 5, {{21, 5, 1}, {6, 2, 1}});
}

using Cells = const Array<int, 2>&;

void fill(Array<int, 1>& p, const Expr<int>& first) {
  for (int i = 0; i < 4; ++i) p[i] = first + 3 * i;
}

std::uint64_t fromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// The arguments of a RandomFunctor.
struct Contents {
  std::vector<unsigned> out, counters, in;
  std::vector<float> state, table;

  explicit Contents(const hpl::test::RandomFunctor& f) {
    std::mt19937 random(static_cast<unsigned>(f.seed));
    const auto cells = static_cast<std::size_t>(f.rows * f.columns);
    for (std::size_t i = 0; i < cells; ++i) {
      out.push_back(static_cast<unsigned>(random() % 100));
      in.push_back(static_cast<unsigned>(random() % 2 == 0 ? random() % 64 : random()));
      state.push_back(static_cast<float>(random() % 4000) / 16.0f + 0.03125f);
    }
    counters.assign(hpl::test::RandomFunctor::kCounters, 0);
    for (std::int64_t i = 0; i < f.tableSize; ++i)
      table.push_back(static_cast<float>(random() % 100) - 50.5f);
  }
  std::vector<ir::Argument> arguments(const hpl::test::RandomFunctor& f) {
    return {ir::arrayArgument(out.data(), {f.rows, f.columns}),
            ir::arrayArgument(state.data(), {f.rows, f.columns}),
            ir::arrayArgument(counters.data(), {std::int64_t(counters.size())}),
            ir::arrayArgument(in.data(), {f.rows, f.columns}),
            ir::arrayArgument(table.data(), {f.tableSize}),
            ir::scalarArgument(12345u),
            ir::scalarArgument(2.5f)};
  }
  bool hasBitsOf(const Contents& other) const {
    return out == other.out && counters == other.counters &&
           std::memcmp(state.data(), other.state.data(), state.size() * sizeof(float)) == 0;
  }
};

}  // namespace

TEST_CASE("private arrays: an index from an element that differs is no index for all lanes") {
  // As written, and under a condition.
  const auto computed = [](Array<int, 2> out, Cells in) {
    Array<int, 1> p(4);
    fill(p, in[idy][idx]);
    p[cast<int>(sqrt(fabs(cast<float>(p[6 & 3])))) & 3] = 17;
    out[idy][idx] = p[1] + 10 * p[2];
  };
  const auto conditional = [](Array<int, 2> out, Cells in) {
    Array<int, 1> p(4);
    fill(p, in[idy][idx]);
    if_(in[idy][idx] > 7) {
      p[cast<int>(sqrt(fabs(cast<float>(p[6 & 3])))) & 3] = 17;
    }
    out[idy][idx] = p[1] + 10 * p[2];
  };
  CHECK(reasonOf(computed).find("neighbours access different elements of '") == 0);
  CHECK(reasonOf(conditional).find("neighbours access different elements of '") == 0);
}

TEST_CASE("private arrays: an element at an index that differs makes the array differ") {
  // Every value is the same for all; the place is not.
  const auto scattered = [](Array<int, 2> out, Cells in) {
    Array<int, 1> p(4);
    for (int i = 0; i < 4; ++i) p[i] = i;
    p[cast<int>(idx) & 3] = 50;
    out[idy][idx] = p[1] + in[idy][idx];
  };
  CHECK(reasonOf(scattered).find("neighbours access different elements of '") == 0);
}

TEST_CASE("private arrays: aliases of elements that differ are refused, others followed") {
  const auto elsewhere = [](Array<int, 2> out, Cells in) {
    Array<int, 1> p(4);
    fill(p, in[idy][idx]);
    AliasArray<int> q(p[cast<int>(idx) & 3]);
    out[idy][idx] = q[0];
  };
  CHECK(reasonOf(elsewhere).find("neighbours access different elements of '") == 0);
  // A value that is written through the alias is read by the array's name.
  compare([](Array<int, 2> out, Cells in) {
    Array<int, 1> p(4);
    for (int i = 0; i < 4; ++i) p[i] = 2 * i;
    AliasArray<int> q(p[1]);
    q[1] = in[idy][idx];
    out[idy][idx] = p[2] + p[1];
  });
  compare([](Array<int, 2> out, Cells in) {
    Array<int, 1> p(4);
    fill(p, in[idy][idx]);
    AliasArray<int> q(p[1]);
    if_(in[idy][idx] > 20) {
      q[-1] = 99;
    }
    out[idy][idx] = p[0] - q[2];
  });
}

TEST_CASE("private arrays: indices that are the same for all lanes are computed as they are") {
  compare([](Array<int, 2> out, Cells in) {
    Array<int, 1> p(4), q(4);
    fill(p, in[idy][idx]);
    for (int i = 0; i < 4; ++i) q[i] = 3 - i;
    p[q[q[1]]] = 5;
    if_(in[idy][idx] % 3 == 0) {
      p[q[cast<int>(sqrt(cast<float>(q[0])))] & 3] += 100;
    }
    Int i;
    for_(i = 0, i < 4, i++) {
      out[idy][idx] = out[idy][idx] + p[q[i]] * i;
    }
  });
}

TEST_CASE("private arrays: random kernels give the same bits in rows, in the interpreter") {
  // RANDOM_KERNELS=n makes n of them, RANDOM_SEED=s begins at another seed.
  const std::uint64_t count = fromEnvironment("RANDOM_KERNELS", 300);
  const std::uint64_t first = fromEnvironment("RANDOM_SEED", 1);
  std::uint64_t written = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    INFO("RANDOM_SEED=" << seed << " RANDOM_KERNELS=1 runs this kernel alone");
    hpl::test::RandomFunctor functor;
    functor.seed = seed;
    functor.rows = functor.inRows = 5;
    functor.columns = functor.inColumns = 19;
    functor.tableSize = 6;
    functor.sideBySide = 1;
    const auto original = captured(functor);
    const Rows rewritten = rowsOf(*original, seed % 3 == 0 ? 2 : 1);
    if (rewritten.kernel == nullptr) {
      CHECK(!rewritten.reason.empty());
      continue;
    }
    ++written;
    const Ids ids{2, {0, 0, 0}, {19, 5, 1}};
    Contents expected(functor), got(functor);
    runOriginal(*original, ids, expected.arguments(functor));
    try {
      runRows(rewritten, ids, {seed % 2 == 0 ? 19u : 7u, 2, 1}, got.arguments(functor));
    } catch (const Error& error) {
      FAIL_CHECK(std::string(error.what()));
      continue;
    }
    CHECK(got.hasBitsOf(expected));
  }
  MESSAGE(count << " random kernels, " << written << " of them in rows");
  if (count >= 100) CHECK(written * 5 >= count);
}

}  // namespace private_arrays_tests
