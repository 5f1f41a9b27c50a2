// SPDX-License-Identifier: Apache-2.0
// Kernels with barriers whose groups are computed by one work-item each.
#include <complex>
#include <random>

#include "hpl/ir/verifier.h"
#include "hpl/runtime/settings.h"
#include "hpl/strategies/group_loops.h"
#include "tests/seeds.h"
#include "tests/strategies/support.h"

namespace group_loops_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

constexpr int kGroup = 16;
constexpr int kTile = 4, kSide = 12;
using Numbers = Array<int, 1>;

/// Runs a kernel of (out, in) both ways, in groups of 16.
template <class F>
void compareGroups(const F& kernel) {
  const auto original = captured(kernel);
  const GroupLoops rewritten = groupLoops(*original, ir::analyze(*original), 1, {kGroup, 1, 1});
  REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
  ir::verify(*rewritten.kernel);
  for (const std::uint64_t groups : {1u, 2u, 7u}) {
    const auto cells = static_cast<std::int64_t>(groups * kGroup);
    std::vector<int> in = numbers(static_cast<std::size_t>(cells), 5);
    std::vector<int> expected(in.size(), 3), got = expected;
    const auto arguments = [&](std::vector<int>& out) {
      return std::vector<ir::Argument>{ir::arrayArgument(out.data(), {cells}),
                                       ir::arrayArgument(in.data(), {cells})};
    };
    ir::InterpreterOptions checks;
    checks.detectRaces = true;
    checks.detectUninitialised = true;
    ir::interpret(*original, ir::NDRange{1, {groups * kGroup, 1, 1}, {kGroup, 1, 1}},
                  arguments(expected), checks);
    for (const std::uint64_t block : {1u, 3u}) {
      CAPTURE(groups);
      CAPTURE(block);
      std::fill(got.begin(), got.end(), 3);
      std::vector<ir::Argument> list = arguments(got);
      appendHidden(rewritten.hidden, {1, {0, 0, 0}, {groups * kGroup, 1, 1}}, {block, 1, 1}, list);
      ir::interpret(*rewritten.kernel,
                    ir::NDRange{1, {(groups + block - 1) / block, 1, 1}, {1, 1, 1}}, list, checks);
      REQUIRE(got == expected);
    }
  }
}

template <class F>
std::string refusal(const F& kernel) {
  const auto original = captured(kernel);
  const GroupLoops result = groupLoops(*original, ir::analyze(*original), 1, {kGroup, 1, 1});
  REQUIRE(result.kernel == nullptr);
  return result.reason;
}

void treeOf(Numbers out, const Numbers& in) {
  Array<int, 1, Local> tree(kGroup);
  tree[lidx] = in[idx];
  barrier(LOCAL);
  for (int half = kGroup / 2; half > 0; half /= 2) {
    if_(lidx < half) {
      tree[lidx] += tree[lidx + half];
    }
    barrier(LOCAL);
  }
  if_(lidx == 0) {
    out[gidx] = tree[0];
  }
}

void mixedOf(Numbers out, const Numbers& in) {
  Array<int, 1, Local> tile(kGroup);
  Array<int, 0, Local> first;
  Bool isOdd = (in[idx] & 1) == 1;
  Int4 pair = make<int4>(in[idx], cast<int>(lidx), 3, 4);
  Float halved = cast<float>(in[idx]) * 0.5f;
  Array<std::complex<float>, 0> number = std::complex<float>(1.0f, 2.0f);
  Array<signed char, 0> byte = cast<signed char>(in[idx]);
  tile[lidx] = in[idx];
  if_(lidx == 0) {
    first = in[idx] * 3;
  }
  barrier(LOCAL);
  pair.x += tile[(cast<int>(lidx) + 1) % kGroup];
  number = number * cast<float>(tile[0] & 3);
  barrier(LOCAL);
  Int sum = where(isOdd, pair.x, pair.y) + cast<int>(halved * 2.0f) + first + cast<int>(byte);
  out[idx] = sum + cast<int>(real(number));
}

/// Random steps: values of their own, of neighbours in local memory, of the group.
struct RandomGroups {
  unsigned seed;

  /// Sums stay below it: what overflows is undefined, and compilers make different things of it.
  static constexpr int kMost = 0xffff;

  struct Writer {
    std::mt19937 random;
    Array<int, 1, Local>& here;
    Array<int, 1, Local>& there;
    const Numbers& in;
    int depth = 0;

    int pick(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
    Expr<int> value(const Int& a, const Int& b, const Int& common) {
      switch (pick(6)) {
        case 0:
          return (a + b * 3) & kMost;
        case 1:
          return b - common;
        case 2:
          return where(a > b, a & 63, b ^ 5);
        case 3:
          return in[idx] + cast<int>(lidx) * 7;
        case 4:
          return cast<int>(gidx) * 11 + a;
        default:
          return (a & 255) - pick(100);
      }
    }
    void statements(Int& a, Int& b, Int& common) {
      const int count = 2 + pick(4);
      for (int i = 0; i < count; ++i) {
        switch (pick(depth < 2 ? 8 : 6)) {
          case 0:
            a = value(a, b, common);
            break;
          case 1:
            b = (b + value(b, a, common)) & kMost;
            break;
          case 2:
            common = (common * 3 + pick(5)) & kMost;
            break;
          case 3: {
            const int limit = pick(20);
            if_(lidx < limit) {
              a = (a + b) & kMost;
            }
            break;
          }
          case 4: {
            if_(a > b) {
              Int other = a - b;
              b = other & 127;
            }
            else_ { a -= common; }
            break;
          }
          case 5: {
            here[lidx] = value(a, b, common);
            there[kGroup - 1 - cast<int>(lidx)] = b;
            barrier(LOCAL);
            a ^= here[(cast<int>(lidx) + pick(kGroup)) % kGroup];
            b = (b + there[lidx]) & kMost;
            barrier(LOCAL);
            break;
          }
          case 6: {
            ++depth;
            Int turns = (common & 3) + 1;
            for_(Int k = 0, k < turns, k++) {
              here[lidx] = a + k;
              barrier(LOCAL);
              b = (b + here[k]) & kMost;
              barrier(LOCAL);
              statements(a, b, common);
            }
            --depth;
            break;
          }
          default: {
            ++depth;
            if_((common & 1) == pick(2)) {
              there[lidx] = b;
              barrier(LOCAL);
              a = (a + there[(cast<int>(lidx) + 1) % kGroup]) & kMost;
              barrier(LOCAL);
              statements(a, b, common);
            }
            --depth;
          }
        }
      }
    }
  };

  void operator()(Numbers out, const Numbers& in) const {
    Array<int, 1, Local> here(kGroup), there(kGroup);
    Writer writer{std::mt19937(seed), here, there, in};
    Int a = in[idx], b = cast<int>(lidx), common = cast<int>(gidx) & 3;
    writer.statements(a, b, common);
    here[lidx] = a;
    barrier(LOCAL);
    writer.statements(b, a, common);
    out[idx] = a * 31 + b + common;
  }
};

constexpr std::int64_t kCells = 20 * kGroup;

/// On a device, by one strategy.
template <class F>
std::vector<int> onDevice(const F& kernel, runtime::Strategy strategy) {
  const runtime::Settings before = runtime::settings();
  runtime::Settings changed = before;
  changed.strategy = strategy;
  runtime::overrideSettings(changed);
  Numbers in(kCells), out(kCells);
  const std::vector<int> values = numbers(kCells, 11);
  in.copyFrom(values.data());
  out = 5;
  eval(kernel).global(kCells).local(kGroup)(out, in);
  std::vector<int> result(values.size());
  out.copyTo(result.data());
  runtime::overrideSettings(before);
  return result;
}

}  // namespace

TEST_CASE("a sum as a tree in local memory is that of its groups") { compareGroups(treeOf); }

TEST_CASE("a tree whose steps are a loop, by a number with a sign and by one without") {
  compareGroups([](Numbers out, const Numbers& in) {
    Array<int, 1, Local> tree(kGroup);
    tree[lidx] = in[idx];
    barrier(LOCAL);
    for_(Int half = kGroup / 2, half > 0, half /= 2) {
      if_(cast<int>(lidx) < half) {
        tree[lidx] += tree[cast<int>(lidx) + half];
      }
      barrier(LOCAL);
    }
    for_(Uint half = cast<unsigned>(lszx) / 2u, half > 0u, half >>= 1u) {
      if_(cast<unsigned>(lidx) < half) {
        tree[lidx] -= tree[cast<unsigned>(lidx) + half];
      }
      barrier(LOCAL);
    }
    out[idx] = tree[lidx] + cast<int>(ngroupsx);
  });
}

TEST_CASE("what work-items keep over barriers, numbers and arrays, is their own") {
  compareGroups([](Numbers out, const Numbers& in) {
    Array<int, 1, Local> tile(kGroup);
    Array<int, 1, Private> own(3);
    Int value = in[idx];
    own[0] = value * 2;
    own[1] = cast<int>(lidx);
    own[2] = 1;
    tile[lidx] = value;
    barrier(LOCAL);
    own[2] += tile[(cast<int>(lidx) + 5) % kGroup];
    barrier(LOCAL);
    tile[lidx] = own[1];
    barrier(LOCAL);
    out[idx] = value + own[0] * 3 + own[2] * 5 + tile[kGroup - 1 - cast<int>(lidx)];
  });
}

TEST_CASE("truth values, vectors, complex numbers and bytes are kept over barriers, too") {
  compareGroups(mixedOf);
}

TEST_CASE("branches that ids decide: below a negative number, beyond the group, one work-item") {
  compareGroups([](Numbers out, const Numbers& in) {
    Array<int, 1, Local> tile(kGroup);
    tile[lidx] = in[idx];
    barrier(LOCAL);
    if_(cast<int>(lidx) < -1) {
      tile[lidx] = 1000;
    }
    barrier(LOCAL);
    if_(lidx < 99) {
      tile[lidx] += 1;
    }
    barrier(LOCAL);
    if_(lidx == 5) {
      tile[5] = 77;
    }
    barrier(LOCAL);
    if_(lidx == 99) {
      tile[0] = 5;
    }
    barrier(LOCAL);
    out[idx] = tile[lidx];
  });
}

TEST_CASE("kernels that are not for loops over work-items are left alone, with the reason") {
  CHECK(refusal([](Numbers out, const Numbers& in) { out[idx] = in[idx]; }) == "it has no barrier");
  CHECK(refusal([](Numbers out, const Numbers& in) {
          Array<int, 1, Local> tile(kGroup);
          Int sum = 0;
          tile[lidx] = in[idx];
          barrier(LOCAL);
          for_(Int k = 0, k < cast<int>(lidx), k++) {
            sum += tile[k];
          }
          out[idx] = sum;
        }).find("work-items loop for themselves, or call a function") == 0);
  CHECK(refusal([](Numbers out, const Numbers& in) {
          Array<int, 1, Local> tile(kGroup);
          tile[lidx] = in[idx];
          if_(gidx == 0 && in[0] + out[1] > 0) {
            barrier(LOCAL);
          }
          out[idx] = tile[0];
        }).find("work-items get to a barrier on conditions that differ") == 0);
  CHECK(refusal([](Numbers out, const Numbers& in) {
          barrier(LOCAL);
          atomic_add(out[0], in[idx]);
        }) == "it uses atomics");
}

TEST_CASE("loops whose turns are the same for all, between barriers and around them") {
  compareGroups([](Numbers out, const Numbers& in) {
    Array<int, 1, Local> tile(kGroup);
    Int sum = 0;
    for_(Int start = 0, start < 3, start++) {
      tile[lidx] = in[idx] * start;
      barrier(LOCAL);
      for_(Int k = 0, k < kGroup, k++) {
        sum = sum * 3 + tile[k] - cast<int>(lidx);
      }
      barrier(LOCAL);
    }
    Int left = 4;
    do_ {
      sum ^= left;
      left--;
    }
    dowhile_(left > 0);
    out[idx] = sum;
  });
}

TEST_CASE("a product of matrices by tiles in local memory, in groups of two dimensions") {
  const auto kernel = captured([](Array<int, 2> c, const Array<int, 2>& a) {
    Array<int, 2, Local> left(kTile, kTile), right(kTile, kTile);
    Int sum = 0;
    for_(Int start = 0, start < kSide, start += kTile) {
      left[lidy][lidx] = a[idy][start + cast<int>(lidx)];
      right[lidy][lidx] = a[start + cast<int>(lidy)][idx];
      barrier(LOCAL);
      for_(Int k = 0, k < kTile, k++) {
        sum += left[lidy][k] * right[k][lidx];
      }
      barrier(LOCAL);
    }
    c[idy][idx] = sum + cast<int>(gidy) * 1000 + cast<int>(lszy);
  });
  const GroupLoops rewritten = groupLoops(*kernel, ir::analyze(*kernel), 2, {kTile, kTile, 1});
  REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
  ir::verify(*rewritten.kernel);
  std::vector<int> a = numbers(kSide * kSide, 7), expected(a.size()), got(a.size());
  const auto arguments = [&](std::vector<int>& out) {
    return std::vector<ir::Argument>{ir::arrayArgument(out.data(), {kSide, kSide}),
                                     ir::arrayArgument(a.data(), {kSide, kSide})};
  };
  ir::interpret(*kernel, ir::NDRange{2, {kSide, kSide, 1}, {kTile, kTile, 1}}, arguments(expected));
  for (const std::uint64_t block : {1u, 2u, 5u}) {
    std::vector<ir::Argument> list = arguments(got);
    appendHidden(rewritten.hidden, {2, {0, 0, 0}, {kSide, kSide, 1}}, {block, 1, 1}, list);
    ir::interpret(*rewritten.kernel, ir::NDRange{2, {(3 + block - 1) / block, 3, 1}, {1, 1, 1}},
                  list);
    REQUIRE(got == expected);
  }
}

TEST_CASE("groups that keep more than a stack should hold are left alone") {
  const auto kernel = captured([](Numbers out, const Numbers& in) {
    Array<int, 1, Local> tile(4096);
    Array<int, 1, Private> own(64);
    own[3] = in[idx];
    tile[lidx] = in[idx];
    barrier(LOCAL);
    out[idx] = tile[0] + own[3];
  });
  const GroupLoops result = groupLoops(*kernel, ir::analyze(*kernel), 1, {4096, 1, 1});
  CHECK(result.kernel == nullptr);
  CHECK(result.reason == "its groups need 1064960 bytes of memory of their own");
}

TEST_CASE("random kernels with barriers give the same bits group by group") {
  const char* wish = std::getenv("RANDOM_STENCILS");
  const unsigned count = wish != nullptr ? static_cast<unsigned>(std::atoi(wish)) : 150;
  for (unsigned seed = 1; seed <= count; ++seed) {
    CAPTURE(seed);
    compareGroups(RandomGroups{seed});
  }
}

TEST_CASE("sums of groups on a device are those of the host") {
  for (const int groups : {1, 37, 1000}) {
    const int n = groups * kGroup;
    Numbers in(n), out(groups);
    const std::vector<int> values = numbers(static_cast<std::size_t>(n), 3);
    in.copyFrom(values.data());
    out = 0;
    eval(treeOf).global(n).local(kGroup)(out, in);
    const int* got = out.data(HPL_RD);
    for (int g = 0; g < groups; ++g) {
      int expected = 0;
      for (int i = 0; i < kGroup; ++i) expected += values[static_cast<std::size_t>(g * kGroup + i)];
      REQUIRE(got[g] == expected);
    }
  }
}

TEST_CASE("tiles of two and three dimensions on a device are turned round as they say") {
  Array<int, 3> in(4, 12, 30), out(4, 12, 30);
  const std::vector<int> values = numbers(in.size(), 4);
  in.copyFrom(values.data());
  out = 0;
  eval([](Array<int, 3> o, const Array<int, 3>& i) {
    Array<int, 3, Local> tile(2, 3, 5);
    tile[lidz][lidy][lidx] = i[idz][idy][idx];
    barrier(LOCAL);
    o[idz][idy][idx] = tile[1 - cast<int>(lidz)][2 - cast<int>(lidy)][4 - cast<int>(lidx)];
  })
      .global(30, 12, 4)
      .local(5, 3, 2)(out, in);
  const int* got = out.data(HPL_RD);
  for (int z = 0; z < 4; ++z)
    for (int y = 0; y < 12; ++y)
      for (int x = 0; x < 30; ++x) {
        const int from =
            ((z / 2 * 2 + 1 - z % 2) * 12 + y / 3 * 3 + 2 - y % 3) * 30 + x / 5 * 5 + 4 - x % 5;
        REQUIRE(got[(z * 12 + y) * 30 + x] == values[static_cast<std::size_t>(from)]);
      }
}

TEST_CASE("a kernel with barriers gives the same bits on a device as it is written") {
  using runtime::Strategy;
  CHECK(onDevice(mixedOf, Strategy::Auto) == onDevice(mixedOf, Strategy::Direct));
}

// Not against the same kernels as they are written: PoCL 3.1 computes one of ten of those wrongly.
TEST_CASE("random kernels with barriers give on a device what they mean") {
  for (const unsigned seed : Seeds(1, 10)) {
    CAPTURE(seed);
    const RandomGroups kernel{seed};
    std::vector<int> in = numbers(kCells, 11), expected(in.size(), 5);
    ir::interpret(
        *captured(kernel), ir::NDRange{1, {kCells, 1, 1}, {kGroup, 1, 1}},
        {ir::arrayArgument(expected.data(), {kCells}), ir::arrayArgument(in.data(), {kCells})});
    CHECK(onDevice(kernel, runtime::Strategy::Auto) == expected);
  }
}

}  // namespace group_loops_tests
