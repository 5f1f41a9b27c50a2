// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hpl/ir/access.h"
#include "tests/ir/ir_builder.h"

namespace hpl::ir::test {

inline constexpr std::int64_t kExtent = 24;
/// Vectors have room for grids.
inline constexpr std::int64_t kLength = 400;
/// Ids begin here, so that small negative offsets stay inside the arrays.
inline constexpr std::int64_t kFirstId = 6;

/// Makes small kernels whose indices are mostly ids, loop variables and constants.
class IndexKernel {
 public:
  explicit IndexKernel(unsigned seed) : random_(seed) {
    helper_ = b_.function("helper", kInt, [&] {
      A a = b_.array("ha", kInt, 2), p = b_.aliasParam("hp", kInt);
      A i = b_.scalar("hi", kInt);
      swapIn({{a}, {i}, {p}, {i}});
      statements(2, 2);
      b_.ret(b_.convert(index(), kInt));
      swapIn({});
    });
    matrix = b_.array("m", kInt, 2);
    vector = b_.array("v", kInt, 1);
    other = b_.array("w", kInt, 2);
    n = b_.scalar("n", kInt);
    swapIn({{matrix, vector, other}, {n}, {}, {n}});
    statements(5, 3);
    kernel = b_.finish();
  }

  A matrix, vector, other, n;
  Kernel kernel;

  /// As analyses are told that `n` is the domain's size along these axes (bits).
  SizesInScalars sizesInN(unsigned axes) const {
    SizesInScalars sizes(kernel.entry->params.size(), 0);
    sizes[static_cast<std::size_t>(n.v->paramIndex)] = axes;
    return sizes;
  }

 private:
  struct Names {
    std::vector<A> arrays, ints, aliases, assignable;
  };

  int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }
  bool chance(int percent) { return pick(100) < percent; }
  template <class T>
  const T& oneOf(const std::vector<T>& items) {
    return items[static_cast<std::size_t>(pick(static_cast<int>(items.size())))];
  }
  void swapIn(Names names) { names_ = std::move(names); }
  std::string fresh(const char* stem) { return stem + std::to_string(counter_++); }

  E id() { return b_.query(Query::GlobalId, pick(3)); }
  /// Or the entry's scalar, which may be one.
  E size() {
    const E size = b_.query(Query::GlobalSize, pick(3));
    return n.v != nullptr && chance(25) ? b_.convert(*n, size.type()) : size;
  }
  E index(int depth = 2) {
    const int kind = depth == 0 ? pick(4) : pick(14);
    switch (kind) {
      case 0:
        return id();
      case 1:
        return b_.lit(pick(8) - 1);
      case 2:
        return names_.ints.empty() ? id() : *oneOf(names_.ints);
      case 3:
        return b_.cast(chance(50) ? kInt : kUint, id());
      case 4:
      case 5:
      case 6:
        return index(depth - 1) + (pick(7) - 3);
      case 7:
        return index(depth - 1) - index(0);
      case 8:
        return b_.select(condition(), index(depth - 1), index(depth - 1));
      case 9: {
        static const std::vector<Type> kTypes{kInt, kUint, kLong, kUlong, kUchar};
        return b_.cast(oneOf(kTypes), index(depth - 1));
      }
      case 10: {
        static const std::vector<BinaryOp> kOps{BinaryOp::Mul, BinaryOp::Div, BinaryOp::Rem,
                                                BinaryOp::Shr, BinaryOp::Shl};
        return b_.binary(oneOf(kOps), index(depth - 1), b_.lit(1 + pick(3)));
      }
      case 11: {
        E a = index(depth - 1);
        E other = chance(50) ? b_.lit(pick(9) - 1) : size() - pick(3);
        std::vector<const Expr*> args{a, b_.convert(other, a.type())};
        if (chance(30)) std::swap(args[0], args[1]);
        return b_.builtin(chance(50) ? Builtin::min_ : Builtin::max_, a.type(), args);
      }
      case 12:
        return b_.unary(chance(50) ? UnaryOp::Plus : UnaryOp::Negate, index(0));
      default:
        return element() & 7;
    }
  }
  E element() {
    if (!names_.aliases.empty() && chance(30)) return oneOf(names_.aliases)(index(1));
    const A& array = oneOf(names_.arrays);
    if (array.v->rank == 1) return array(chance(40) ? inVector() : subscript());
    return array(subscript(), subscript());
  }
  /// Biased towards the forms that matter, so that many kernels are legal and known.
  E subscript() {
    if (chance(50)) return id() + (pick(3) - 1);
    if (chance(40)) return id();
    if (chance(40)) return bounded();
    if (chance(60)) return goneRound();
    if (chance(60)) return inVector();
    return index();
  }
  /// A cell of a grid that lies in a vector, in the ways that programs count it, some of them
  /// wrong.
  E inVector() {
    static const std::vector<Type> kTypes{kInt, kUint, kLong, kUlong};
    const Type type = oneOf(kTypes);
    const auto as = [&](E e) { return b_.convert(e, type); };
    const int x = pick(3), y = chance(90) ? (x + 1 + pick(2)) % 3 : pick(3), z = 3 - x - y;
    const auto id = [&](int axis) {
      E e = as(b_.query(Query::GlobalId, axis));
      return chance(30) ? e + (pick(4) - 1) : e;
    };
    const auto extent = [&](int axis) {
      return as(n.v != nullptr && chance(30)
                    ? *n
                    : b_.query(Query::GlobalSize, chance(90) ? axis : pick(3)));
    };
    E cell = id(y) * extent(x);
    if (z >= 0 && z < 3 && chance(40))
      cell = chance(50)   ? (id(z) * extent(y) + id(y)) * extent(x)
             : chance(50) ? id(z) * (extent(x) * extent(y)) + cell
                          : id(z) * extent(y) * extent(x) + cell;
    cell = chance(80) ? cell + id(x) : id(x) + cell;
    for (int more = pick(3); more > 0; --more) {
      const E by = chance(50)   ? as(b_.lit(1 + pick(2)))
                   : chance(80) ? extent(x)
                                : extent(x) * extent(y);
      cell = chance(50) ? cell + by : cell - by;
    }
    if (chance(30)) {
      const A name = b_.var(fresh("cell"), type, cell);
      return *name + (pick(3) - 1);
    }
    return cell;
  }
  /// As programs write a domain whose last cell is the neighbour of the first. Sums and sizes may
  /// wrap in 32 bits before they are taken into 64.
  E goneRound() {
    const int axis = pick(3);
    static const std::vector<Type> kTypes{kInt, kUint, kLong, kUlong};
    const Type type = oneOf(kTypes);
    const auto of = [&](E value) {
      return b_.convert(chance(25) ? b_.cast(oneOf(kTypes), value) : value, type);
    };
    const E own = of(b_.query(Query::GlobalId, axis));
    const E size = of(b_.query(Query::GlobalSize, chance(95) ? axis : pick(3)));
    const int reach = pick(4);
    switch (pick(9)) {
      case 0:
        return of(own + reach) % size;
      case 1:
        return (of(own - reach) + size) % size;
      case 2:
        return (own + of(size - reach)) % size;
      case 3:
        return b_.select(own < reach, b_.convert(of(own + size) - reach, type), own - reach) +
               (pick(3) - 1);
      case 4:
        return b_.select(own == 0, of(size - 1), own - 1);
      case 5:
        return b_.select(own < reach, of(own + size) - b_.convert(b_.lit(reach), type),
                         own - reach);
      case 6: {
        const E sum = of(own + reach);
        return b_.select(sum < size, sum, of(sum - size) + (pick(3) - 1));
      }
      case 7: {
        const E around = b_.select(own < reach, of(own + size) - reach, own - reach);
        return b_.select(around < size, around, of(around - size));
      }
      default:
        return b_.select(own + 1 < size, own + 1, b_.convert(b_.lit(0), type));
    }
  }
  /// As coarse and fine grids, and hand-written edges, have them.
  E bounded() {
    E own = b_.cast(chance(50) ? kInt : kUlong, id());
    // A number that wraps in 32 bits is no smaller number in 64.
    if (chance(20)) own = b_.cast(chance(50) ? kLong : kUlong, b_.cast(kUint, id() - pick(4)));
    const Type type = own.type();
    switch (pick(6)) {
      case 0:
        return own * (1 + pick(2)) + (pick(5) - 2);
      case 1:
        return b_.binary(chance(50) ? BinaryOp::Div : BinaryOp::Shr, own + pick(3),
                         b_.convert(b_.lit(1 + pick(2)), type)) +
               (pick(3) - 1);
      case 2:
        return b_.builtin(Builtin::min_, type,
                          {own + pick(3), b_.convert(size() - (1 + pick(2)), type)});
      case 3:
        return b_.builtin(Builtin::max_, type, {own - pick(3), b_.convert(b_.lit(pick(3)), type)});
      case 4:
        return b_.binary(BinaryOp::Rem, own + pick(2), b_.convert(b_.lit(2 + pick(3)), type)) + own;
      default:
        return own / 2 * 2 + pick(2);
    }
  }
  E condition() {
    if (chance(20) && !names_.arrays.empty()) return (element() & 1) == 1;
    static const std::vector<BinaryOp> kOps{BinaryOp::Lt, BinaryOp::Ge, BinaryOp::Eq, BinaryOp::Ne};
    return b_.binary(oneOf(kOps), index(0), index(0));
  }

  void statements(int count, int depth) {
    const Names outer = names_;
    for (int i = 0; i < count; ++i) statement(depth);
    names_ = outer;
  }
  void statement(int depth) {
    switch (depth == 0 ? pick(6) : pick(19)) {
      case 0:
      case 1:
      case 2:
        return b_.set(element(), b_.convert(index(), kInt));
      case 3: {
        const E init = index();
        names_.ints.push_back(b_.var(fresh("i"), chance(70) ? kInt : kUlong, init));
        names_.assignable.push_back(names_.ints.back());
        return;
      }
      case 4:
        if (!names_.assignable.empty()) b_.set(oneOf(names_.assignable), index());
        return;
      case 5:
        return alias();
      case 6:
      case 7:
        return branch(depth);
      case 8:
      case 9:
      case 10:
        return loop(depth);
      case 11:
        return doLoop(depth);
      case 12:
        if (loops_ > 0) return jump();
        if (chance(15)) b_.if_(condition(), [&] { leave(); });
        return;
      case 13:
        return call();
      case 14:
      case 15:
        return choices();
      case 16:
      case 17:
        return neighbours(depth);
      default:
        return whileLoop(depth);
    }
  }
  /// Integers that branches set right after they are declared, or give their first value.
  void choices() {
    std::vector<A> own;
    for (int i = 1 + pick(2); i > 0; --i)
      own.push_back(chance(85) ? b_.var(fresh("c"), chance(70) ? kInt : kUint, cheap())
                               : b_.var(fresh("c"), kInt));
    const auto assignSome = [&] {
      for (const A& variable : own)
        if (chance(80)) b_.set(variable, b_.convert(cheap(), variable.v->type));
    };
    names_.ints.insert(names_.ints.end(), own.begin(), own.end());
    for (int i = 1 + pick(3); i > 0; --i) {
      switch (pick(4)) {
        case 0:
          b_.if_(b_.binary(chance(50) ? BinaryOp::Lt : BinaryOp::Eq, cheap(), cheap()), assignSome);
          break;
        case 1:
          b_.if_(cheap() < cheap(), assignSome, assignSome);
          break;
        case 2:
          b_.set(own.front(), b_.convert(cheap(), own.front().v->type));
          break;
        default:
          b_.set(element(), b_.convert(index(), kInt));
      }
    }
    for (const A& variable : own)
      if (chance(10)) names_.assignable.push_back(variable);
  }
  /// A short loop that asks for the ends of the domain, or for its own variable.
  void neighbours(int depth) {
    const Names outer = names_;
    const int first = pick(3) - 2;
    b_.count(
        fresh("n"), kInt, first, first + 1 + pick(4),
        [&](A k) {
          names_.ints.push_back(k);
          A at = b_.var(fresh("at"), kInt, cheap() + *k);
          if (chance(60)) b_.if_(*at < 0, [&] { b_.set(at, *at + b_.cast(kInt, size())); });
          if (chance(40)) b_.if_(*at >= b_.cast(kInt, size()), [&] { b_.set(at, cheap()); });
          names_.ints.push_back(at);
          const auto use = [&] { chance(60) ? choices() : statement(depth > 1 ? depth - 1 : 0); };
          chance(50) ? b_.if_(*k != 0 && condition(), use) : use();
        },
        1 + (chance(20) ? 1 : 0));
    names_ = outer;
  }
  E cheap() {
    if (!names_.ints.empty() && chance(40)) return b_.cast(kInt, *oneOf(names_.ints));
    const E base = chance(70) ? b_.cast(kInt, id()) : b_.cast(kInt, size());
    return base + (pick(5) - 2);
  }
  void alias() {
    if (!names_.aliases.empty() && chance(40)) {
      return b_.bind(oneOf(names_.aliases), element());
    }
    const E target = element();
    A p = b_.alias(fresh("p"), kInt);
    b_.bind(p, target);
    names_.aliases.push_back(p);
  }
  void leave() { inHelper() ? b_.ret(b_.convert(index(1), kInt)) : b_.ret(); }
  bool inHelper() const { return helper_ == nullptr; }
  void jump() {
    b_.if_(condition(), [&] {
      if (chance(15)) return leave();
      chance(50) ? b_.break_() : b_.continue_();
    });
  }
  void branch(int depth) {
    const E c = condition();
    if (chance(50)) {
      b_.if_(c, [&] { statements(2, depth - 1); });
    } else {
      b_.if_(
          c, [&] { statements(2, depth - 1); }, [&] { statements(1, depth - 1); });
    }
  }
  void loop(int depth) {
    static const std::vector<Type> kTypes{kInt, kInt, kUint, kUlong, kLong, kUchar};
    const Type type = oneOf(kTypes);
    const bool up = chance(70);
    const int start = pick(4) + (up ? -1 : 3);
    A i = b_.var(fresh("k"), type,
                 chance(80) || names_.ints.empty() ? b_.lit(start) : *oneOf(names_.ints));
    static const std::vector<BinaryOp> kUp{BinaryOp::Lt, BinaryOp::Le, BinaryOp::Ne};
    static const std::vector<BinaryOp> kDown{BinaryOp::Gt, BinaryOp::Ge, BinaryOp::Ne};
    const E bound = chance(80) || names_.ints.empty() ? b_.lit(up ? pick(7) : pick(4) - 1)
                                                      : *oneOf(names_.ints);
    E test = b_.binary(oneOf(up ? kUp : kDown), *i, bound);
    if (chance(15)) test = condition() && test;
    const int stride = 1 + (chance(30) ? pick(3) : 0);
    ++loops_;
    b_.for_(
        test, [&] { b_.set(i, b_.binary(up ? BinaryOp::Add : BinaryOp::Sub, *i, b_.lit(stride))); },
        [&] {
          const Names outer = names_;
          if (chance(90)) names_.ints.push_back(i);
          // Mostly the loop variable itself stays as it is.
          if (chance(15)) names_.assignable.push_back(i);
          statements(1 + pick(2), depth - 1);
          names_ = outer;
        });
    --loops_;
    names_.ints.push_back(i);
  }
  void whileLoop(int depth) {
    A i = b_.var(fresh("t"), kInt, b_.lit(pick(4)));
    ++loops_;
    b_.while_(i < 4, [&] {
      b_.set(i, i + 1);
      statements(1 + pick(2), depth - 1);
    });
    --loops_;
  }
  void doLoop(int depth) {
    A i = b_.var(fresh("d"), kInt, b_.lit(pick(3)));
    ++loops_;
    b_.doWhile(i < 3, [&] {
      b_.set(i, i + 1);
      names_.ints.push_back(i);
      statements(1, depth - 1);
    });
    --loops_;
    names_.ints.push_back(i);
  }
  void call() {
    if (inHelper()) return;
    std::vector<A> matrices;
    for (const A& a : names_.arrays) {
      if (a.v->rank == 2) matrices.push_back(a);
    }
    const A pointed =
        names_.aliases.empty() || chance(50) ? oneOf(names_.arrays) : oneOf(names_.aliases);
    A result = b_.var(fresh("r"), kInt, 0);
    b_.call(helper_, {b_.whole(oneOf(matrices)), b_.whole(pointed), b_.convert(index(1), kInt)},
            result);
    names_.ints.push_back(result);
  }

  std::mt19937 random_;
  IrBuilder b_{"random"};
  Names names_;
  const Function* helper_ = nullptr;
  int counter_ = 0;
  int loops_ = 0;
};

}  // namespace hpl::ir::test
