// SPDX-License-Identifier: Apache-2.0
// Conditions that are true for one colour of a chessboard: what the analysis says of random ones
// holds for all work-items, whatever the scalars.
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/ir/verifier.h"
#include "tests/ir/ir_builder.h"
#include "tests/seeds.h"

namespace colour_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

/// A work-item and the scalar.
struct At {
  int x, y, c;
};

/// An expression and its value, a number of 32 bits.
struct Term {
  E e;
  bool isUnsigned = false;
  std::function<std::int64_t(const At&)> value;
};

class Conditions {
 public:
  explicit Conditions(unsigned seed) : random_(seed) {}

  IrBuilder b{"k"};
  A v = b.array("v", kInt, 2);
  A c = b.scalar("c", kInt);

  Term condition(int depth) {
    switch (depth > 0 ? pick(0, 6) : 3) {
      case 0: {
        const Term l = condition(depth - 1), r = condition(depth - 1);
        return {b.binary(BinaryOp::LogicalAnd, l.e, r.e), false,
                [=](const At& at) { return l.value(at) != 0 && r.value(at) != 0; }};
      }
      case 1: {
        const Term l = condition(depth - 1), r = condition(depth - 1);
        return {b.binary(BinaryOp::LogicalOr, l.e, r.e), false,
                [=](const At& at) { return l.value(at) != 0 || r.value(at) != 0; }};
      }
      case 2: {
        const Term inner = condition(depth - 1);
        return {b.unary(UnaryOp::LogicalNot, inner.e), false,
                [=](const At& at) { return inner.value(at) == 0; }};
      }
      case 3:
        return term(2);
      default:
        return comparison(pick(0, 2) > 0);
    }
  }
  int pick(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random_); }

 private:
  Term comparison(bool isEqual) {
    const Term l = pick(0, 2) > 0 ? bit(term(2)) : term(2);
    const Term r = pick(0, 1) == 0 ? literal() : pick(0, 1) == 0 ? bit(term(1)) : term(1);
    return apply(isEqual ? BinaryOp::Eq : BinaryOp::Ne, l, r,
                 [=](std::int64_t x, std::int64_t y) { return (x == y) == isEqual; });
  }
  Term literal() {
    const int number = pick(-2, 3);
    return {b.lit(number), false, [=](const At&) { return number; }};
  }
  Term leaf() {
    switch (pick(0, 4)) {
      case 0:
        return {b.cast(kInt, b.idx()), false, [](const At& at) { return at.x; }};
      case 1:
        return {b.cast(kUint, b.idx()), true, [](const At& at) { return at.x; }};
      case 2:
        return {b.cast(kInt, b.idy()), false, [](const At& at) { return at.y; }};
      case 3:
        return {*c, false, [](const At& at) { return at.c; }};
      default:
        return literal();
    }
  }
  Term term(int depth) {
    if (depth == 0) return leaf();
    switch (pick(0, 8)) {
      case 0:
      case 1:
        return apply(BinaryOp::Add, term(depth - 1), term(depth - 1),
                     [](std::int64_t x, std::int64_t y) { return x + y; });
      case 2:
        return apply(BinaryOp::Sub, term(depth - 1), term(depth - 1),
                     [](std::int64_t x, std::int64_t y) { return x - y; });
      case 3:
        return apply(BinaryOp::Mul, term(depth - 1), literal(), [](std::int64_t x, std::int64_t y) {
          return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) *
                                           static_cast<std::uint64_t>(y));
        });
      case 4:
        return apply(BinaryOp::BitXor, term(depth - 1), term(depth - 1),
                     [](std::int64_t x, std::int64_t y) { return x ^ y; });
      case 5: {
        const Term inner = term(depth - 1);
        return kept({b.unary(UnaryOp::Negate, inner.e), inner.isUnsigned,
                     [=](const At& at) { return -inner.value(at); }});
      }
      case 6:
        return bit(term(depth - 1));
      case 7: {
        const Term inner = term(depth - 1);
        const A variable =
            b.var("t" + std::to_string(count_++), inner.isUnsigned ? kUint : kInt, inner.e);
        // Sometimes it changes.
        if (pick(0, 5) > 0) return {*variable, inner.isUnsigned, inner.value};
        b.set(variable, *variable + 1);
        return kept(
            {*variable, inner.isUnsigned, [=](const At& at) { return inner.value(at) + 1; }});
      }
      default: {
        const Term inner = term(depth - 1);
        const bool isUnsigned = pick(0, 1) == 0;
        return kept({b.cast(isUnsigned ? kUint : kInt, inner.e), isUnsigned, inner.value});
      }
    }
  }
  Term bit(const Term& inner) {
    const Term two{b.lit(2), false, [](const At&) { return 2; }};
    const Term one{b.lit(1), false, [](const At&) { return 1; }};
    if (pick(0, 1) == 0)
      return apply(BinaryOp::Rem, inner, two, [](std::int64_t x, std::int64_t y) { return x % y; });
    return apply(BinaryOp::BitAnd, inner, one,
                 [](std::int64_t x, std::int64_t y) { return x & y; });
  }
  template <class F>
  Term apply(BinaryOp op, const Term& l, const Term& r, F f) {
    const bool isUnsigned = l.isUnsigned || r.isUnsigned;
    const auto in = [=](std::int64_t value) {
      return isUnsigned ? std::int64_t{static_cast<std::uint32_t>(value)} : value;
    };
    const bool isTruth = op == BinaryOp::Eq || op == BinaryOp::Ne;
    return kept({b.binary(op, l.e, r.e), isUnsigned && !isTruth, [=](const At& at) -> std::int64_t {
                   return f(in(l.value(at)), in(r.value(at)));
                 }});
  }
  /// In 32 bits.
  static Term kept(Term term) {
    return {term.e, term.isUnsigned, [=](const At& at) {
              const std::int64_t value = term.value(at);
              return term.isUnsigned ? std::int64_t{static_cast<std::uint32_t>(value)}
                                     : std::int64_t{static_cast<std::int32_t>(value)};
            }};
  }

  std::mt19937 random_;
  int count_ = 0;
};

/// Whether all work-items of which `passes` is true have one parity along the axes.
bool holds(const Colour& colour, const std::function<bool(const At&)>& passes) {
  for (int c = -3; c <= 3; ++c) {
    std::vector<bool> seen(2, false);
    for (int x = 0; x < 7; ++x)
      for (int y = 0; y < 7; ++y) {
        const int sum = ((colour.axes & 1U) != 0 ? x : 0) + ((colour.axes & 2U) != 0 ? y : 0);
        if (passes({x, y, c})) seen[static_cast<std::size_t>(sum % 2)] = true;
      }
    if (seen[0] && seen[1]) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("what is said of the colours of random conditions holds for all work-items") {
  int found = 0;
  for (const unsigned seed : Seeds(1, 4000)) {
    CAPTURE(seed);
    Conditions made(seed);
    IrBuilder& b = made.b;
    const Term condition = made.condition(2);
    const E x = b.cast(kInt, b.idx()), y = b.cast(kInt, b.idy());
    const int how = made.pick(0, 2);
    const auto write = [&] { b.set(made.v(y, x), 1); };
    // In a branch, in the other one, or behind a return.
    if (how == 0) b.if_(condition.e, write);
    if (how == 1)
      b.if_(
          condition.e, [] {}, write);
    if (how == 2) {
      b.if_(condition.e, [&] { b.ret(); });
      write();
    }
    const Kernel kernel = b.finish();
    verify(kernel);
    const AccessSummary summary = analyze(kernel);
    for (const AccessSite& site : summary.arrays.front().sites)
      for (const Colour& colour : site.colours) {
        ++found;
        REQUIRE(
            holds(colour, [&](const At& at) { return (condition.value(at) != 0) == (how == 0); }));
      }
  }
  CHECK(found > 0);
}

TEST_CASE("conditions that share parts exponentially often are looked at in bounded time") {
  Conditions made(1);
  IrBuilder& b = made.b;
  E sum = b.cast(kInt, b.idx());
  for (int i = 0; i < 60; ++i) sum = sum + sum;
  E condition = b.binary(BinaryOp::Eq, sum % 2, b.lit(0));
  for (int i = 0; i < 60; ++i) condition = b.binary(BinaryOp::LogicalAnd, condition, condition);
  b.if_(condition, [&] { b.set(made.v(b.lit(0), b.lit(0)), 1); });
  const Kernel kernel = b.finish();
  CHECK(analyze(kernel).arrays.front().written);
}

}  // namespace colour_tests
