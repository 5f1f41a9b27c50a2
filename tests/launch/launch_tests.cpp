// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/runtime/programs.h"
#include "tests/messages.h"

namespace launch_tests {

using namespace hpl;

namespace {

using hpl_tests::contains;
using hpl_tests::messageOf;

void addTo(Array<float, 1> y, const Array<float, 1>& x, Float a) { y[idx] = y[idx] + a * x[idx]; }
void index2(Array<int, 2> a) { a[idy][idx] = cast<int>(idy * 1000 + idx); }
void sizes(Array<int, 1> out) {
  if_(idx == 0) {
    out[0] = szx;
    out[1] = szy;
    out[2] = szz;
  }
}
void groupSum(Array<int, 1> sums, const Array<int, 1>& in, Array<int, 1, Local> tile) {
  tile[lidx] = in[idx];
  barrier(LOCAL);
  if_(lidx == 0) {
    Int sum = 0;
    for_(Int i = 0, i < cast<int>(lszx), i++) {
      sum += tile[i];
    }
    sums[gidx] = sum;
  }
}

}  // namespace

TEST_CASE("the default domain is the first array's shape, x along the last dimension") {
  Array<int, 2> a(7, 11);
  eval(index2)(a);
  for (int y = 0; y < 7; ++y)
    for (int x = 0; x < 11; ++x) CHECK(a(y, x).value() == y * 1000 + x);
}

TEST_CASE("any local size is accepted, and surplus work-items are masked") {
  for (const int local : {1, 3, 8, 64}) {
    Array<int, 2> a(13, 19);
    a = -1;
    eval(index2).global(17, 12).local(static_cast<std::size_t>(local), 2)(a);
    for (int y = 0; y < 13; ++y)
      for (int x = 0; x < 19; ++x) CHECK(a(y, x).value() == (y < 12 && x < 17 ? y * 1000 + x : -1));
  }
  Array<int, 1> out(3);
  eval(sizes).global(10, 7, 3).local(4, 4, 1)(out);
  CHECK(out(0).value() == 10);
  CHECK(out(1).value() == 7);
  CHECK(out(2).value() == 3);
}

TEST_CASE("a group that sticks out of the domain sums zeros for what is outside") {
  Array<int, 1> in(50), sums(4);
  in = 1;
  sums = -1;
  eval(groupSum).global(50).local(16)(sums, in, Array<int, 1, Local>(16));
  CHECK(sums(0).value() == 16);
  CHECK(sums(3).value() == 2);
}

TEST_CASE("scalar arguments convert as in C++") {
  Array<float, 1> y(8), x(8);
  y = 1.0f;
  x = 2.0f;
  eval(addTo)(y, x, 3);
  CHECK(y(0).value() == 7.0f);
  eval(addTo)(y, x, 0.5);
  CHECK(y(0).value() == 8.0f);
  eval(addTo)(y, x, Float(2.0f));
  CHECK(y(7).value() == 12.0f);
  eval(addTo)(y, x, x(0));
  CHECK(y(7).value() == 16.0f);
}

TEST_CASE("a launch can be repeated and waited for") {
  Array<float, 1> y(8), x(8);
  y = 0.0f;
  x = 1.0f;
  FRunner runner = eval(addTo)(y, x, 1.0f);
  for (int i = 0; i < 9; ++i) runner.run();
  runner.wait();
  CHECK(y(3).value() == 10.0f);
  y = 0.0f;
  eval(addTo)(y, x, 100.0f);
  runner.run();
  CHECK(y(3).value() == 101.0f);
  CHECK(contains(messageOf<LaunchError>([] { FRunner().run(); }), "holds no launch"));
}

TEST_CASE("a runner whose array died refuses to run; a new array gets its own launch") {
  Array<float, 1> x(8);
  x = 1.0f;
  FRunner runner;
  {
    Array<float, 1> y(8);
    y = 0.0f;
    runner = eval(addTo)(y, x, 1.0f);
  }
  const std::string message = messageOf<ArgumentError>([&] { runner.run(); });
  INFO(message);
  CHECK(contains(message, "no longer exists"));
  for (int round = 0; round < 20; ++round) {
    Array<float, 1> y(8);
    y = static_cast<float>(round);
    eval(addTo)(y, x, 1.0f);
    CHECK(y(7).value() == static_cast<float>(round) + 1);
  }
}

TEST_CASE("a second launch builds nothing") {
  Array<float, 1> y(100), x(100);
  y = 0.0f;
  x = 1.0f;
  eval(addTo)(y, x, 1.0f);
  const auto before = runtime::programCacheStatistics();
  for (int i = 0; i < 5; ++i) eval(addTo)(y, x, 1.0f);
  const auto after = runtime::programCacheStatistics();
  CHECK(after.misses == before.misses);
  CHECK(after.diskHits == before.diskHits);
  CHECK(after.memoryHits == before.memoryHits);
  CHECK(y(99).value() == 6.0f);
}

TEST_CASE("wrong numbers, ranks and types of arguments are refused") {
  Array<float, 1> y(8), x(8);
  Array<float, 2> matrix(2, 4);
  Array<int, 1> ints(8);
  const std::string number = messageOf<ArgumentError>([&] { eval(addTo)(y, x); });
  INFO(number);
  CHECK(contains(number, "3"));
  CHECK(contains(number, "2"));
  const std::string rank = messageOf<ArgumentError>([&] { eval(addTo)(y, matrix, 1.0f); });
  INFO(rank);
  CHECK(contains(rank, "must be Array<float, 1>, but it is Array<float, 2>"));
  const std::string type = messageOf<ArgumentError>([&] { eval(addTo)(ints, x, 1.0f); });
  INFO(type);
  CHECK(contains(type, "int"));
  CHECK(contains(type, "float"));
  const std::string scalar = messageOf<ArgumentError>([&] { eval(addTo)(y, 2.0f, 1.0f); });
  INFO(scalar);
  CHECK(contains(scalar, "addTo"));
  CHECK_THROWS_AS(eval(addTo)(y, x, x), ArgumentError);
  CHECK_THROWS_AS(eval(addTo)(y, x, float4(1.0f)), ArgumentError);
}

TEST_CASE("domains that cannot run are refused") {
  Array<float, 1> y(8), x(8);
  y = 1.0f;
  x = 1.0f;
  const std::string zero = messageOf<LaunchError>([&] { eval(addTo).global(0)(y, x, 1.0f); });
  INFO(zero);
  CHECK(contains(zero, "0"));
  CHECK_THROWS_AS(eval(addTo).global(8).local(0)(y, x, 1.0f), LaunchError);
  const std::string large =
      messageOf<LaunchError>([&] { eval(addTo).global(8).local(1u << 24)(y, x, 1.0f); });
  INFO(large);
  CHECK(contains(large, "16777216"));
  Array<int, 1> in(64), sums(64);
  const std::string memory = messageOf<LaunchError>(
      [&] { eval(groupSum).local(16)(sums, in, Array<int, 1, Local>(1 << 28)); });
  INFO(memory);
  CHECK(contains(memory, "local memory"));
  CHECK(y(0).value() == 1.0f);
}

TEST_CASE("writes to a part or under a condition keep the rest of the array") {
  Array<int, 1> a(100);
  for (int i = 0; i < 100; ++i) a(i) = i;
  eval([](Array<int, 1> x) {
    if_(idx % 2 == 0) x[idx] = -1;
  })(a);
  eval([](Array<int, 1> x) { x[idx + 90] = 7; }).global(5)(a);
  eval([](Array<int, 1> x) { x[idx * 3] = 8; }).global(3)(a);
  for (int i = 0; i < 100; ++i) {
    int expected = i % 2 == 0 ? -1 : i;
    if (i >= 90 && i < 95) expected = 7;
    if (i == 0 || i == 3 || i == 6) expected = 8;
    INFO("element " << i);
    CHECK(a(i).value() == expected);
  }
}

TEST_CASE("host threads launch on their own arrays at the same time") {
  std::vector<std::thread> threads;
  std::vector<float> results(4, 0.0f);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t, &results] {
      Array<float, 1> y(1000), x(1000);
      y = 0.0f;
      x = static_cast<float>(t + 1);
      for (int i = 0; i < 50; ++i) {
        eval(addTo)(y, x, 1.0f);
        if (i % 10 == 0) y(5) = y(5) + 1.0f;
      }
      results[static_cast<std::size_t>(t)] = y(5);
    });
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 4; ++t)
    CHECK(results[static_cast<std::size_t>(t)] == static_cast<float>(50 * (t + 1) + 5));
}

TEST_CASE("subnormal numbers stay what they are under STRICT, and may be zero otherwise") {
  const auto scale = [](Array<float, 1> out, const Array<float, 1>& in, Float by) {
    out[idx] = in[idx] * by;
  };
  Array<float, 1> out(32), in(32);
  in = 1e-30f;
  const float small = 1e-30f * 1e-10f;
  eval(scale).fp(STRICT)(out, in, 1e-10f);
  CHECK(out(5).value() == small);
  for (const FpMode mode : {DEFAULT_FP, FAST}) {
    eval(scale).fp(mode)(out, in, 1e-10f);
    CHECK((out(5).value() == small || out(5).value() == 0.0f));
  }
}

TEST_CASE("the interpreter gives what the device gives") {
  Array<int, 2> a(9, 14), b(9, 14);
  a = b = 0;
  eval(index2).local(4, 4)(a);
  eval(index2).local(4, 4).interpret(b);
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 14; ++x) CHECK(a(y, x).value() == b(y, x).value());
  Array<int, 1> in(50), sums(4), interpreted(4);
  for (int i = 0; i < 50; ++i) in(i) = i * i;
  eval(groupSum).global(50).local(16)(sums, in, Array<int, 1, Local>(16));
  eval(groupSum).global(50).local(16).interpret(interpreted, in, Array<int, 1, Local>(16));
  for (int i = 0; i < 4; ++i) CHECK(sums(i).value() == interpreted(i).value());
}

TEST_CASE("more than 25 arguments are fine") {
  using A = Array<int, 1>;
  A a[26];
  for (A& x : a) x = A(4);
  for (A& x : a) x = 1;
  eval([](A o, A b, A c, A d, A e, A f, A g, A h, A i, A j, A k, A l, A m, A n, A p, A q, A r, A s,
          A t, A u, A v, A w, A x, A y, A z, A last, Int scale) {
    o[idx] =
        scale * (b[idx] + c[idx] + d[idx] + e[idx] + f[idx] + g[idx] + h[idx] + i[idx] + j[idx] +
                 k[idx] + l[idx] + m[idx] + n[idx] + p[idx] + q[idx] + r[idx] + s[idx] + t[idx] +
                 u[idx] + v[idx] + w[idx] + x[idx] + y[idx] + z[idx] + last[idx]);
  })(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14],
     a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23], a[24], a[25], 2);
  CHECK(a[0](3).value() == 50);
}

}  // namespace launch_tests
