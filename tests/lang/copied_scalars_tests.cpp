// SPDX-License-Identifier: Apache-2.0
// Scalars of a kernel in C++'s containers and algorithms, which copy and move them.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "hpl/hpl.h"

namespace copied_scalars_tests {

using namespace hpl;

namespace {

struct Point {
  Float x, y, z;
};
Point moved(Point p) {
  p.x += 10.0f;
  return p;
}
Float incremented(Float x) {
  x += 1.0f;
  return x;
}
Float larger(bool second, Float a, Float b) {
  if (second) return b;
  return a;
}

// Runs a kernel of one work-item on 1, 2, 3, which it is given.
template <class F>
std::vector<float> results(std::size_t count, F record) {
  Array<float, 1> in(3), out(count);
  for (int i = 0; i < 3; ++i) in(i) = static_cast<float>(i + 1);
  out = -1.0f;
  eval([record](Array<float, 1> o, const Array<float, 1>& a) {
    std::array<Float, 3> v{a[0], a[1], a[2]};
    int next = 0;
    record(v, [&](const auto& x) { o[next++] = x; });
  }).global(1)(out, in);
  const float* begin = out.data(HPL_RD);
  return {begin, begin + count};
}
using Values = std::array<Float, 3>;
using Floats = std::vector<float>;

}  // namespace

TEST_CASE("a scalar of a kernel that is moved is a new variable with the value") {
  const Floats found = results(4, [](Values& v, auto put) {
    Float taken = std::move(v[1]);
    taken += 5.0f;
    put(taken);
    std::swap(v[0], v[2]);
    for (const Float& x : v) put(x);
  });
  CHECK(found == Floats{7, 3, 2, 1});
}

TEST_CASE("algorithms that move scalars of a kernel move values") {
  const Floats found = results(9, [](Values& v, auto put) {
    std::rotate(v.begin(), v.begin() + 1, v.end());
    for (const Float& x : v) put(x);
    std::reverse(v.begin(), v.end());
    for (const Float& x : v) put(x);
    const std::array<int, 3> order{2, 0, 1};
    Values sorted;
    for (std::size_t i = 0; i < 3; ++i) sorted[static_cast<std::size_t>(order[i])] = v[i];
    for (const Float& x : sorted) put(x);
  });
  CHECK(found == Floats{2, 3, 1, 1, 3, 2, 3, 2, 1});
}

TEST_CASE("vectors of scalars of a kernel grow, lose and copy values") {
  const Floats found = results(10, [](Values& v, auto put) {
    std::vector<Float> list(2, v[0]);
    list[0] += 1.0f;
    list.push_back(v[2]);
    list.insert(list.begin(), v[1]);
    list.erase(list.begin() + 2);
    for (const Float& x : list) put(x);  // 2 2 3
    std::vector<Float> other = list;
    other[0] *= 4.0f;
    put(other[0]);
    put(list[0]);
    for (Float x : list) x = 0.0f;  // copies
    put(list[2]);
    for (Float& x : list) x = 0.0f;
    put(list[2]);
    for (const Float& x : v) put(x);  // still what they were
  });
  CHECK(found == Floats{2, 2, 3, 8, 2, 3, 0, 1, 2, 3});
}

TEST_CASE("structs of scalars and functions that change their parameters work on copies") {
  const Floats found = results(8, [](Values& v, auto put) {
    const Point p{v[0], v[1], v[2]};
    Point q = moved(p);
    put(p.x);
    put(q.x);
    std::vector<Point> points(2, p);
    points[0].x = 7.0f;
    put(points[1].x);
    put(incremented(p.y));
    put(p.y);
    put(larger(true, p.x, p.z));
    const auto next = [q]() mutable {
      q.y += 100.0f;
      return q.y;
    };
    auto call = next;
    put(call());
    put(q.y);
  });
  CHECK(found == Floats{1, 11, 1, 3, 2, 3, 102, 2});
}

void scaled(Array<float, 1> out, Float factor, const Float& summand, Float& start) {
  Float saved = factor;
  factor += 1.0f;
  std::swap(factor, saved);
  start += summand;
  out[idx] = factor * 100.0f + saved * 10.0f + start;
}

TEST_CASE("parameters by value and by reference are those of the call, and may be swapped") {
  Array<float, 1> out(2);
  eval(scaled)(out, 2.0f, 3.0f, 4.0f);
  CHECK(out(1) == 2 * 100 + 3 * 10 + 7);
  eval([](Array<float, 1> o) {
    Float start = 4.0f;
    call(scaled)(o, 2.0f, 3.0f, start);
  })(out);
  CHECK(out(0) == 237);
}

void sortThree(Array<int, 2> values, Array<float4, 1> vectors) {
  using std::swap;
  if_(values[idx][0] > values[idx][1]) {
    swap(values[idx][0], values[idx][1]);
  }
  if_(values[idx][1] > values[idx][2]) {
    swap(values[idx][1], values[idx][2]);
  }
  auto first = values[idx][0], second = values[idx][1];
  if_(first > second) {
    swap(first, second);
  }
  Float4 v = vectors[idx];
  swap(v.x, v.w);
  swap(v.y, v.z);
  vectors[idx] = v;
  swap(vectors[idx].x, vectors[idx].y);
}

// As wrappers of functions do.
template <class F, class... A>
auto passedOn(F f, A&&... arguments) {
  return f(std::forward<A>(arguments)...);
}

TEST_CASE("elements that are moved are values: std::swap of their names, arguments by value") {
  Array<int, 1> a(4);
  for (int i = 0; i < 4; ++i) a(i) = i + 1;
  eval([](Array<int, 1> o) {
    auto first = o[0], second = o[1];
    std::swap(first, second);                                           // 2 1 3 4
    o[2] = passedOn([](auto x, auto y) { return x * y; }, o[2], o[3]);  // 2 1 12 4
    passedOn([](auto x) { x = 100; }, o[3]);
    passedOn([](auto& x) { x += 5; }, second);               // 2 6 12 4
    o[3] += std::invoke([](Int x) { return x + 1; }, o[0]);  // 2 6 12 7
  }).global(1)(a);
  const int* found = a.data(HPL_RD);
  CHECK(std::vector<int>(found, found + 4) == std::vector<int>{2, 6, 12, 7});
}

TEST_CASE("swap of elements, of names of elements and of lanes exchanges values") {
  const int orders[6][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}};
  Array<int, 2> values(6, 3);
  for (int i = 0; i < 6; ++i)
    for (int k = 0; k < 3; ++k) values(i, k) = orders[i][k];
  Array<float4, 1> vectors(6);
  vectors = float4(1, 2, 3, 4);
  eval(sortThree).global(6)(values, vectors);
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < 3; ++k) CHECK(values(i, k) == k + 1);
    CHECK(vectors(i).value() == float4(3, 4, 2, 1));
  }
  // std::swap itself would exchange names of lanes: it does not compile.
  static_assert(!std::is_move_constructible_v<decltype(Float4().x)>);
}

}  // namespace copied_scalars_tests
