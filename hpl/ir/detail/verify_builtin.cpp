// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "hpl/ir/detail/verify_context.h"

namespace hpl::ir::detail {
namespace {

bool isReal(const Type& type) { return type.isFloating() && !type.complex && !type.isStruct(); }
bool isInteger(const Type& type) { return type.isInteger() && !type.isStruct(); }

/// The second argument is an int (or as many ints as the first has lanes).
bool takesIntSecond(Builtin builtin) {
  return builtin == Builtin::ldexp_ || builtin == Builtin::pown_ || builtin == Builtin::rootn_;
}

/// Arguments beyond the first that may be scalars beside a vector: clamp(v, 0.f, 1.f), step(0.f,
/// v), ...
bool mixesScalars(Builtin builtin) {
  switch (builtin) {
    case Builtin::clamp_:
    case Builtin::min_:
    case Builtin::max_:
    case Builtin::mix_:
    case Builtin::step_:
    case Builtin::smoothstep_:
    case Builtin::fmin_:
    case Builtin::fmax_:
      return true;
    default:
      return false;
  }
}

/// Functions whose arguments differ in type by their nature.
bool hasMixedTypes(Builtin builtin) {
  return builtin == Builtin::upsample_ || builtin == Builtin::select_ ||
         builtin == Builtin::shuffle_ || builtin == Builtin::shuffle2_;
}

std::string wrongFamily(Builtin builtin, BuiltinFamily family, const Type& first) {
  switch (family) {
    case BuiltinFamily::Math:
    case BuiltinFamily::Geometric:
      if (builtin == Builtin::nan_) return isInteger(first) ? "" : "takes an unsigned integer";
      return isReal(first) ? "" : "takes floating-point arguments";
    case BuiltinFamily::Integer:
      return isInteger(first) && first.scalar != Scalar::Bool ? "" : "takes integer arguments";
    case BuiltinFamily::Common:
      if (builtin == Builtin::clamp_ || builtin == Builtin::min_ || builtin == Builtin::max_) {
        return isReal(first) || isInteger(first) ? "" : "takes numbers";
      }
      return isReal(first) ? "" : "takes floating-point arguments";
    case BuiltinFamily::Relational:
      if (builtin == Builtin::any_ || builtin == Builtin::all_) {
        return isInteger(first) ? "" : "takes integer arguments";
      }
      if (builtin == Builtin::bitselect_ || builtin == Builtin::select_) {
        return isReal(first) || isInteger(first) ? "" : "takes numbers";
      }
      return isReal(first) ? "" : "takes floating-point arguments";
    case BuiltinFamily::Vector:
      return first.isVector() ? "" : "takes vectors";
    case BuiltinFamily::Reinterpret:
      break;
  }
  return {};
}

}  // namespace

bool hasOutPointer(Builtin builtin) {
  switch (builtin) {
    case Builtin::fract_:
    case Builtin::frexp_:
    case Builtin::lgamma_r_:
    case Builtin::modf_:
    case Builtin::remquo_:
    case Builtin::sincos_:
      return true;
    default:
      return false;
  }
}

Type outType(Builtin builtin, const Type& argument) {
  const bool integer =
      builtin == Builtin::frexp_ || builtin == Builtin::lgamma_r_ || builtin == Builtin::remquo_;
  return integer ? argument.withScalar(Scalar::Int) : argument;
}

std::string invalidBuiltin(Builtin builtin, const std::vector<const Expr*>& args,
                           const Type& result) {
  const BuiltinInfo& info = infoOf(builtin);
  if (args.size() != info.arity) {
    return "takes " + std::to_string(info.arity) + " arguments, not " + std::to_string(args.size());
  }
  const Type& first = args.front()->type;
  if (builtin == Builtin::as_type_) {
    if (first.isStruct() || result.isStruct() || sizeOf(first) != sizeOf(result)) {
      return "reinterprets values of equal size, not " + describe(first) + " as " +
             describe(result);
    }
    return {};
  }
  const std::string wrong = wrongFamily(builtin, info.family, first);
  if (!wrong.empty()) return wrong + ", not " + describe(first);
  if (hasMixedTypes(builtin)) return {};
  const Type widest =
      mixesScalars(builtin) && args.back()->type.isVector() ? args.back()->type : first;
  for (std::size_t i = 1; i < args.size(); ++i) {
    const Type& type = args[i]->type;
    if (takesIntSecond(builtin)) {
      if (isInteger(type) && (type.lanes == first.lanes || type.lanes == 1)) continue;
      return "takes an int as second argument, not " + describe(type);
    }
    if (type == first || type == widest || (mixesScalars(builtin) && type == widest.element())) {
      continue;
    }
    return "takes arguments of one type, not " + describe(first) + " and " + describe(type);
  }
  return {};
}

}  // namespace hpl::ir::detail
