// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "tests/ir/ir_builder.h"
#include "tests/ir/random_kernel.h"

namespace hpl::ir::test {

/// An array that expressions may read: all its elements have defined values.
struct ReadableArray {
  A array;
  std::vector<std::int64_t> extents;
};

/// Draws expressions without undefined behaviour. They may declare temporaries in the block that is
/// being built, before the statement that they are made for.
class RandomExpressions {
 public:
  RandomExpressions(IrBuilder& builder, std::uint64_t seed, const RandomKernelOptions& options)
      : b(builder), options_(options), random_(seed) {}

  /// An integer from 0 to n - 1.
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  std::uint64_t bits() { return random_(); }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }
  std::string fresh(const char* prefix) { return prefix + std::to_string(names_++); }
  Type scalarType();
  Type type();

  /// A value of any type; floating ones may be infinite, NaN or tiny.
  E expr(Type type, int depth);
  /// As expr, but floating values are normal, below 1e6 and above 1e-4.
  E value(Type type, int depth) { return tame(expr(type, depth)); }
  /// An int that is 0 or not.
  E condition(int depth);
  /// `index` modulo `extent`.
  E wrapped(E index, std::int64_t extent);
  /// An element at arbitrary, wrapped indices.
  E element(const ReadableArray& array);
  /// Constant of any type.
  E literal(Type type);

  /// Scalars and vectors whose values are tame.
  std::vector<A> readable;
  std::vector<ReadableArray> arrays;
  /// Work-item queries belong to kernels and functions alike; their values are bounded.
  E workItem();

 private:
  E leaf(Type type);
  E integer(Type type, int depth);
  E narrow(Type type, int depth);
  E integerVector(Type type, int depth);
  E floating(Type type, int depth);
  E integerBuiltin(Type type, int depth);
  E floatBuiltin(Type type, int depth);
  E commonly(Type type, int depth);
  E arithmetic(BinaryOp op, Type type, int depth);
  E divide(Type type, int depth);
  E shift(Type type, int depth);
  E tame(E e);
  E keep(E e);
  /// Explicit conversion, where the types differ: C would not convert by itself.
  E to(E e, Type type) { return e.type() == type ? e : b.cast(type, e); }
  E binary(BinaryOp op, E l, E r) { return b.expr(l.type(), Binary{op, l, r}); }
  E compare(BinaryOp op, E l, E r);
  /// `value` in every lane of `type`.
  E spread(Type type, std::int64_t value);
  E spreadReal(Type type, double value);

  IrBuilder& b;
  RandomKernelOptions options_;
  std::mt19937_64 random_;
  int names_ = 0;
};

}  // namespace hpl::ir::test
