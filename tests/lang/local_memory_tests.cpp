// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "hpl/hpl.h"

namespace local_memory_tests {

using namespace hpl;

TEST_CASE("local arrays are shared by the group, declared or passed") {
  Array<int, 1> in(96), out(96);
  for (int i = 0; i < 96; ++i) in(i) = 3 * i;
  const auto declared = [](Array<int, 1> o, const Array<int, 1>& a) {
    Array<int, 1, Local> tile(16);
    tile[lidx] = a[idx];
    barrier(LOCAL);
    o[idx] = tile[lszx - 1 - lidx];
  };
  const auto passed = [](Array<int, 1> o, const Array<int, 1>& a, Array<int, 1, Local> tile) {
    tile[lidx] = a[idx] + 1;
    barrier(LOCAL | GLOBAL);
    o[idx] = tile[lszx - 1 - lidx];
  };
  const auto mirrored = [](int i) { return i / 16 * 16 + 15 - i % 16; };
  eval(declared).local(16)(out, in);
  for (int i = 0; i < 96; ++i) CHECK(out(i).value() == 3 * mirrored(i));
  eval(passed).local(16)(out, in, Array<int, 1, Local>(16));
  for (int i = 0; i < 96; ++i) CHECK(out(i).value() == 3 * mirrored(i) + 1);
}

TEST_CASE("a local scalar is one variable per group, also for atomics") {
  Array<int, 1> out(6);
  eval([](Array<int, 1> o) {
    Array<int, 0, Local> total;
    if_(lidx == 0) {
      total = 100;
    }
    barrier(LOCAL);
    atomic_add(total, cast<int>(lidx));
    barrier(LOCAL);
    if_(lidx == 0) {
      o[gidx] = total;
    }
  })
      .global(48)
      .local(8)(out);
  for (int g = 0; g < 6; ++g) CHECK(out(g).value() == 128);
}

TEST_CASE("every atomic operation works on global elements, signed and unsigned") {
  Array<int, 1> s(11);
  Array<unsigned, 1> u(11);
  s = 0;
  u = 0u;
  s(3) = 1000;
  u(3) = 1000u;
  s(6) = -1;
  u(6) = ~0u;
  s(10) = 7;
  u(10) = 7u;
  const auto all = [](Array<int, 1> a, Array<unsigned, 1> b) {
    Int i = idx;
    atomic_add(a[0], i);
    atomic_sub(a[1], i);
    atomic_max(a[2], i - 50);
    atomic_min(a[3], i - 50);
    atomic_inc(a[4]);
    atomic_dec(a[5]);
    atomic_and(a[6], ~(1 << (i % 8)));
    atomic_or(a[7], 1 << (i % 20));
    atomic_xor(a[8], i);
    atomic_cmpxchg(a[10], 7, 70);
    if_(i == 0) {
      atomic_xchg(a[9], 77);
    }
    atomic_add(b[0], i);
    atomic_sub(b[1], i);
    atomic_max(b[2], i);
    atomic_min(b[3], i + 5);
    atomic_inc(b[4]);
    atomic_dec(b[5]);
    atomic_and(b[6], ~(1u << (i % 8)));
    atomic_or(b[7], 1u << (i % 20));
    atomic_xor(b[8], i);
    atomic_cmpxchg(b[10], 7u, 70u);
    if_(i == 0) {
      atomic_xchg(b[9], 77);
    }
  };
  eval(all).global(100)(s, u);
  int parity = 0;
  for (int i = 0; i < 100; ++i) parity ^= i;
  const std::vector<int> expected{4950, -4950,         49,     -50, 100, -100,
                                  ~255, (1 << 20) - 1, parity, 77,  70};
  for (int k = 0; k < 11; ++k) {
    INFO("operation " << k);
    CHECK(s(k).value() == expected[static_cast<std::size_t>(k)]);
  }
  const std::vector<unsigned> unsignedExpected{4950u,
                                               0u - 4950u,
                                               99u,
                                               5u,
                                               100u,
                                               0u - 100u,
                                               ~255u,
                                               (1u << 20) - 1,
                                               static_cast<unsigned>(parity),
                                               77u,
                                               70u};
  for (int k = 0; k < 11; ++k) {
    INFO("operation " << k);
    CHECK(u(k).value() == unsignedExpected[static_cast<std::size_t>(k)]);
  }
}

TEST_CASE("atomics return the value before, and exchange floats") {
  Array<int, 1> counter(1), seen(64);
  Array<float, 1> last(1);
  counter = 0;
  seen = 0;
  last = -1.0f;
  eval([](Array<int, 1> c, Array<int, 1> s, Array<float, 1> l) {
    Int ticket = atomic_inc(c[0]);
    s[ticket] += 1;
    atomic_xchg(l[0], cast<float>(idx));
  }).global(64)(counter, seen, last);
  CHECK(counter(0).value() == 64);
  for (int i = 0; i < 64; ++i) CHECK(seen(i).value() == 1);
  CHECK(last(0).value() >= 0.0f);
}

namespace {

struct Fold {
  const char* op;
  long (*combine)(long, long);
};
const Fold kFolds[] = {{"+", [](long a, long b) { return a + b; }},
                       {"*", [](long a, long b) { return a * b; }},
                       {"max", [](long a, long b) { return std::max(a, b); }},
                       {"min", [](long a, long b) { return std::min(a, b); }},
                       {"&", [](long a, long b) { return a & b; }},
                       {"|", [](long a, long b) { return a | b; }},
                       {"^", [](long a, long b) { return a ^ b; }},
                       {"&&", [](long a, long b) { return static_cast<long>(a && b); }},
                       {"||", [](long a, long b) { return static_cast<long>(a || b); }}};

enum class Shape {
  Plain,
  GroupSize,
  MinGroup,
  ToAll,
  Serial,
  Unrolled,
  NoSync,
  Given,
  Elements,
  Teams
};

struct ReduceKernel {
  int fold;
  Shape shape;
  void operator()(Array<long, 1> out, const Array<long, 1>& in) const {
    const char* op = kFolds[fold].op;
    Long result = -12345;
    Long value = in[idx];
    switch (shape) {
      case Shape::Plain:
        reduce(result, value, op);
        break;
      case Shape::GroupSize:
        reduce(result, value, op).groupSize(24);
        break;
      case Shape::MinGroup:
        reduce(result, value, op).minGroupSize(8);
        break;
      case Shape::ToAll:
        reduce(result, value, op).toAll();
        break;
      case Shape::Serial:
        reduce(result, value, op).inTree(false);
        break;
      case Shape::Unrolled:
        reduce(result, value, op).groupSize(24).unroll();
        break;
      case Shape::NoSync:
        reduce(result, value, op).syncReq(false);
        break;
      case Shape::Given: {
        Array<long, 1, Local> scratch(24);
        reduce(result, value, op).localMem(scratch);
        break;
      }
      case Shape::Elements:
        reduce(result, value, op).nElems(10);
        break;
      case Shape::Teams:
        reduce(result, value, op).groupSize(24).nTeams(3);
        break;
    }
    out[idx] = result;
  }
};

long foldOf(int fold, const std::vector<long>& values, int first, int count) {
  const bool logical = kFolds[fold].op[0] == kFolds[fold].op[1];
  long result = values[static_cast<std::size_t>(first)];
  if (logical) result = result != 0;
  for (int i = first + 1; i < first + count; ++i)
    result = kFolds[fold].combine(result, values[static_cast<std::size_t>(i)]);
  return result;
}

void checkReduction(int fold, Shape shape, int items) {
  constexpr int kGroup = 24;
  INFO("operator " << kFolds[fold].op << ", modifier " << static_cast<int>(shape) << ", " << items
                   << " work-items");
  Array<long, 1> in(items), out(items);
  std::vector<long> values;
  for (int i = 0; i < items; ++i) values.push_back(1 + i * 37 % 11);
  in.copyFrom(values.data());
  eval(ReduceKernel{fold, shape}).local(kGroup)(out, in);
  for (int i = 0; i < items; ++i) {
    const int team = shape == Shape::Teams ? kGroup / 3 : kGroup;
    const int first = i / team * team;
    int count = std::min(team, items - first);
    if (shape == Shape::Elements) count = std::min(count, 10);
    const bool gets = shape == Shape::ToAll || i == first;
    INFO("work-item " << i);
    CHECK(out(i).value() == (gets ? foldOf(fold, values, first, count) : -12345));
  }
}

}  // namespace

TEST_CASE("reduce combines the group with every operator, in the last partial group too") {
  for (int fold = 0; fold < 9; ++fold) checkReduction(fold, Shape::Plain, 65);
}

TEST_CASE("every modifier of reduce keeps the result") {
  for (const Shape shape :
       {Shape::Plain, Shape::GroupSize, Shape::MinGroup, Shape::ToAll, Shape::Serial,
        Shape::Unrolled, Shape::NoSync, Shape::Given, Shape::Elements, Shape::Teams}) {
    checkReduction(0, shape, 72);
    checkReduction(2, shape, 72);
  }
  checkReduction(0, Shape::ToAll, 65);
  checkReduction(0, Shape::Serial, 65);
  checkReduction(0, Shape::Elements, 65);
}

TEST_CASE("reduce writes its destination from one work-item, over two dimensions") {
  Array<float, 2> in(8, 8);
  Array<float, 1> sums(4);
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) in(y, x) = static_cast<float>(y * 8 + x);
  eval([](Array<float, 1> s, const Array<float, 2>& a) {
    reduce(s[gidy * ngroupsx + gidx], a[idy][idx], "+");
  })
      .global(8, 8)
      .local(4, 4)(sums, in);
  CHECK(sums(0).value() == 16.0f * 13.5f);
  CHECK(sums(3).value() == 16.0f * 49.5f);
}

TEST_CASE("reduce refuses operators that it does not know and modifiers that contradict") {
  Array<float, 1> out(4), in(64);
  in = 1.0f;
  const auto messageOf = [&](auto kernel) {
    try {
      eval(kernel).global(64).local(16)(out, in);
    } catch (const KernelError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  const std::string unknown = messageOf(
      [](Array<float, 1> o, const Array<float, 1>& a) { reduce(o[gidx], a[idx], "avg"); });
  INFO(unknown);
  CHECK(unknown.find("avg") != std::string::npos);
  const std::string unroll = messageOf(
      [](Array<float, 1> o, const Array<float, 1>& a) { reduce(o[gidx], a[idx], "+").unroll(); });
  INFO(unroll);
  CHECK(unroll.find("groupSize") != std::string::npos);
  const std::string bits =
      messageOf([](Array<float, 1> o, const Array<float, 1>& a) { reduce(o[gidx], a[idx], "&"); });
  INFO(bits);
  CHECK(bits.find("&") != std::string::npos);
}

}  // namespace local_memory_tests
