// SPDX-License-Identifier: Apache-2.0
#include "tests/ir/random_expressions.h"

namespace hpl::ir::test {
namespace {

Type unsignedOf(Type type) {
  if (!type.isInteger() || !type.isSigned()) return type;
  return type.withScalar(static_cast<Scalar>(static_cast<int>(type.scalar) + 1));
}
Type signedOf(Type type) {
  static constexpr Scalar kBySize[] = {Scalar::Char, Scalar::Char, Scalar::Short,
                                       Scalar::Int,  Scalar::Int,  Scalar::Int,
                                       Scalar::Int,  Scalar::Int,  Scalar::Long};
  return type.withScalar(kBySize[sizeOf(type.scalar)]);
}
int widthOf(Type type) { return static_cast<int>(8 * sizeOf(type.scalar)); }
bool isNarrow(Type type) { return type.isInteger() && sizeOf(type.scalar) < 4; }

}  // namespace

Type RandomExpressions::scalarType() {
  static const std::vector<Type> kTypes{kInt,   kInt,   kUint,   kLong,  kUlong, kChar,
                                        kUchar, kShort, kUshort, kFloat, kFloat, kFloat};
  return options_.doubles && chance(15) ? kDouble : pick(kTypes);
}

Type RandomExpressions::type() {
  const Type scalar = scalarType();
  if (!options_.vectors || !chance(35)) return scalar;
  return vec(scalar, 2 << below(3));
}

E RandomExpressions::spread(Type type, std::int64_t value) {
  return to(b.lit(type.element(), value), type);
}
E RandomExpressions::spreadReal(Type type, double value) {
  return to(b.real(type.element(), value), type);
}

E RandomExpressions::literal(Type type) {
  if (type.isFloating()) return spreadReal(type, (below(4000) - 2000) / 16.0 + 0.03125);
  const int width = widthOf(type);
  std::uint64_t value = bits() >> below(64);
  if (chance(60)) value %= 16;
  // Cut to the type, as literals are stored: sign- or zero-extended.
  value <<= 64 - width;
  return spread(type, type.isSigned() ? static_cast<std::int64_t>(value) >> (64 - width)
                                      : static_cast<std::int64_t>(value >> (64 - width)));
}

E RandomExpressions::workItem() {
  const auto query = static_cast<Query>(below(6));
  return b.query(query, below(2));
}

E RandomExpressions::wrapped(E index, std::int64_t extent) {
  return binary(BinaryOp::Rem, to(index, kUint), b.lit(kUint, extent));
}

E RandomExpressions::element(const ReadableArray& array) {
  std::vector<const Expr*> indices;
  for (const std::int64_t extent : array.extents) {
    indices.push_back(wrapped(chance(50) ? b.cast(kInt, workItem()) : leaf(kInt), extent));
  }
  return b.element(array.array.v, indices);
}

E RandomExpressions::leaf(Type type) {
  std::vector<E> candidates;
  for (const A& v : readable) {
    if (v.v->type == type) candidates.push_back(*v);
    if (v.v->type.isVector() && v.v->type.element() == type) {
      candidates.push_back((*v).lane({static_cast<std::uint8_t>(below(v.v->type.lanes))}));
    }
  }
  if (!candidates.empty() && chance(70)) return pick(candidates);
  std::vector<ReadableArray> fitting;
  for (const ReadableArray& a : arrays) {
    if (a.array.v->type == type) fitting.push_back(a);
  }
  if (!fitting.empty() && chance(60)) return element(pick(fitting));
  if (type == kUlong && chance(30)) return workItem();
  if (type == kInt && chance(40)) return b.cast(kInt, workItem());
  return literal(type);
}

E RandomExpressions::keep(E e) { return *b.var(fresh("t"), e.type(), e); }

E RandomExpressions::tame(E e) {
  const Type type = e.type();
  if (!type.isFloating() || e.e->as<Constant>() != nullptr || e.e->as<VarRef>() != nullptr ||
      e.e->as<Access>() != nullptr) {
    return e;
  }
  const E kept = keep(e);
  const E size = b.builtin(Builtin::fabs_, type, {kept});
  const E large = compare(BinaryOp::Gt, size, spreadReal(type, 1e-4));
  const E small = compare(BinaryOp::Lt, size, spreadReal(type, 1e6));
  const E fits = type.isVector() ? binary(BinaryOp::BitAnd, large, small)
                                 : b.expr(kInt, Binary{BinaryOp::LogicalAnd, large, small});
  return b.expr(type, Select{fits, kept, literal(type)});
}

E RandomExpressions::compare(BinaryOp op, E l, E r) {
  const Type type = l.type().isVector() ? signedOf(l.type()) : kInt;
  return b.expr(type, Binary{op, l, r});
}

E RandomExpressions::condition(int depth) {
  const auto op = static_cast<BinaryOp>(static_cast<int>(BinaryOp::Eq) + below(6));
  if (depth > 0 && chance(25)) {
    const BinaryOp both = chance(50) ? BinaryOp::LogicalAnd : BinaryOp::LogicalOr;
    return b.expr(kInt, Binary{both, condition(depth - 1), condition(depth - 1)});
  }
  if (depth > 0 && chance(15)) {
    return b.expr(kInt, Unary{UnaryOp::LogicalNot, condition(depth - 1)});
  }
  if (options_.vectors && depth > 0 && chance(15)) {
    const Type lanes = vec(chance(50) ? kFloat : kInt, 4);
    const E test = compare(op, value(lanes, depth - 1), value(lanes, depth - 1));
    return b.builtin(chance(50) ? Builtin::any_ : Builtin::all_, kInt, {test});
  }
  Type type = scalarType();
  if (isNarrow(type)) type = kInt;
  return compare(op, value(type, depth - 1), value(type, depth - 1));
}

E RandomExpressions::arithmetic(BinaryOp op, Type type, int depth) {
  // Signed overflow is undefined in C: calculate unsigned and convert back.
  const Type safe = unsignedOf(type);
  const E result = binary(op, to(expr(type, depth), safe), to(expr(type, depth), safe));
  return to(result, type);
}

E RandomExpressions::divide(Type type, int depth) {
  const BinaryOp op = chance(50) ? BinaryOp::Div : BinaryOp::Rem;
  // A divisor from 2 to 9: neither 0 nor -1.
  const E masked = binary(BinaryOp::BitAnd, expr(type, depth), spread(type, 7));
  return binary(op, expr(type, depth), binary(BinaryOp::Add, masked, spread(type, 2)));
}

E RandomExpressions::shift(Type type, int depth) {
  const E amount = binary(BinaryOp::BitAnd, expr(type, depth), spread(type, widthOf(type) - 1));
  if (chance(50)) return binary(BinaryOp::Shr, expr(type, depth), amount);
  const E left = to(expr(type, depth), unsignedOf(type));
  return to(binary(BinaryOp::Shl, left, amount), type);
}

/// Operations that integers and floating values, scalars and vectors have in common.
E RandomExpressions::commonly(Type type, int depth) {
  switch (below(4)) {
    case 0: {
      if (!type.isVector()) {
        return b.expr(type, Select{condition(depth), expr(type, depth), expr(type, depth)});
      }
      const Type mask = signedOf(type);
      const E test = type.isFloating() || chance(50)
                         ? compare(BinaryOp::Lt, value(type, depth), value(type, depth))
                         : to(expr(type, depth), mask);
      return b.expr(type, Select{test, expr(type, depth), expr(type, depth)});
    }
    case 1: {
      if (!type.isVector()) break;
      std::vector<const Expr*> lanes;
      for (int lane = 0; lane < type.lanes; ++lane) lanes.push_back(leaf(type.element()));
      return b.construct(type, lanes);
    }
    case 2: {
      if (!type.isVector()) break;
      std::vector<std::uint8_t> lanes;
      for (int k = 0; k < type.lanes; ++k) {
        lanes.push_back(static_cast<std::uint8_t>(below(type.lanes)));
      }
      return keep(value(type, depth)).lane(lanes);
    }
    default:
      break;
  }
  // A conversion; from floating values through int, in which tame values fit.
  Type from = scalarType();
  from.lanes = type.lanes;
  if (type.isFloating() || from.isInteger()) return to(value(from, depth), type);
  return to(b.cast(type.withScalar(Scalar::Int), value(from, depth)), type);
}

E RandomExpressions::integerBuiltin(Type type, int depth) {
  static const std::vector<Builtin> kTwo{Builtin::add_sat_, Builtin::sub_sat_, Builtin::hadd_,
                                         Builtin::rhadd_,   Builtin::mul_hi_,  Builtin::rotate_,
                                         Builtin::min_,     Builtin::max_};
  const auto arg = [&] { return keep(expr(type, depth)); };
  switch (below(7)) {
    case 0:
      return b.builtin(Builtin::clz_, type, {arg()});
    case 1:
      return b.builtin(Builtin::popcount_, type, {arg()});
    case 2:
      return to(b.builtin(Builtin::abs_, unsignedOf(type), {arg()}), type);
    case 3:
      return to(b.builtin(Builtin::abs_diff_, unsignedOf(type), {arg(), arg()}), type);
    case 4:
      return b.builtin(Builtin::mad_sat_, type, {arg(), arg(), arg()});
    case 5:
      return b.builtin(Builtin::bitselect_, type, {arg(), arg(), arg()});
    default:
      return b.builtin(pick(kTwo), type, {arg(), arg()});
  }
}

E RandomExpressions::narrow(Type type, int depth) {
  if (chance(40)) return integerBuiltin(type, depth);
  return b.cast(type, expr(chance(50) ? kInt : kUint, depth));
}

E RandomExpressions::integer(Type type, int depth) {
  static const std::vector<BinaryOp> kOps{BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul};
  static const std::vector<BinaryOp> kBits{BinaryOp::BitAnd, BinaryOp::BitOr, BinaryOp::BitXor};
  switch (below(10)) {
    case 0:
    case 1:
    case 2:
      return arithmetic(pick(kOps), type, depth);
    case 3:
      return binary(pick(kBits), expr(type, depth), expr(type, depth));
    case 4:
      return divide(type, depth);
    case 5:
      return shift(type, depth);
    case 6:
      return integerBuiltin(type, depth);
    case 7:
      return b.expr(type, Unary{UnaryOp::BitNot, expr(type, depth)});
    case 8:
      if (type == kInt) return condition(depth);
      return arithmetic(pick(kOps), type, depth);
    default:
      return commonly(type, depth);
  }
}

E RandomExpressions::floatBuiltin(Type type, int depth) {
  static const std::vector<Builtin> kOne{Builtin::floor_, Builtin::ceil_,  Builtin::trunc_,
                                         Builtin::rint_,  Builtin::round_, Builtin::fabs_};
  const auto arg = [&] { return value(type, depth); };
  switch (below(6)) {
    case 0: {
      // Their result for -0 and +0 may be either zero: adding +0 removes the difference.
      const Builtin f = chance(50) ? Builtin::fmin_ : Builtin::fmax_;
      return binary(BinaryOp::Add, b.builtin(f, type, {arg(), arg()}), spreadReal(type, 0));
    }
    case 1:
      return b.builtin(Builtin::copysign_, type, {arg(), arg()});
    case 2:
      if (options_.fma) return b.builtin(Builtin::fma_, type, {arg(), arg(), arg()});
      break;
    case 3:
      if (options_.floatDivision) {
        return b.builtin(Builtin::sqrt_, type, {b.builtin(Builtin::fabs_, type, {arg()})});
      }
      break;
    default:
      break;
  }
  return b.builtin(pick(kOne), type, {arg()});
}

E RandomExpressions::floating(Type type, int depth) {
  switch (below(8)) {
    case 0:
    case 1:
      return binary(BinaryOp::Add, expr(type, depth), expr(type, depth));
    case 2:
      return binary(BinaryOp::Sub, expr(type, depth), expr(type, depth));
    // Tame factors: no product is subnormal.
    case 3:
      return binary(BinaryOp::Mul, value(type, depth), value(type, depth));
    case 4:
      if (options_.floatDivision) {
        return binary(BinaryOp::Div, value(type, depth), value(type, depth));
      }
      return b.expr(type, Unary{UnaryOp::Negate, expr(type, depth)});
    case 5:
      return floatBuiltin(type, depth);
    case 6:
      return b.expr(type, Unary{UnaryOp::Negate, expr(type, depth)});
    default:
      return commonly(type, depth);
  }
}

E RandomExpressions::expr(Type type, int depth) {
  if (depth <= 0 || chance(15)) return leaf(type);
  if (type.isFloating()) return floating(type, depth - 1);
  if (isNarrow(type) && !type.isVector()) return narrow(type, depth - 1);
  return integer(type, depth - 1);
}

}  // namespace hpl::ir::test
