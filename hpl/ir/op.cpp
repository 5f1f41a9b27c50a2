// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/op.h"

#include <array>
#include <cstddef>

namespace hpl::ir {
namespace {

constexpr BuiltinInfo kBuiltins[] = {
#define HPL_BUILTIN(name, arity, family) {#name, arity, BuiltinFamily::family},
#include "hpl/ir/builtins.def"
#undef HPL_BUILTIN
};

template <class Enum, std::size_t N>
const char* lookUp(const std::array<const char*, N>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

}  // namespace

const BuiltinInfo& infoOf(Builtin builtin) { return kBuiltins[static_cast<std::size_t>(builtin)]; }

const char* toString(UnaryOp op) {
  static constexpr std::array<const char*, 4> kNames{"+", "-", "!", "~"};
  return lookUp(kNames, op);
}

const char* toString(BinaryOp op) {
  static constexpr std::array<const char*, 18> kNames{"+",  "-",  "*",  "/",  "%",  "&",
                                                      "|",  "^",  "<<", ">>", "&&", "||",
                                                      "==", "!=", "<",  "<=", ">",  ">="};
  return lookUp(kNames, op);
}

const char* toString(Space space) {
  static constexpr std::array<const char*, 4> kNames{"private", "local", "global", "constant"};
  return lookUp(kNames, space);
}

const char* toString(Query query) {
  static constexpr std::array<const char*, kQueries> kNames{
      "get_global_id",  "get_local_id",   "get_group_id", "get_global_size",
      "get_local_size", "get_num_groups", "hpl_origin"};
  return lookUp(kNames, query);
}

bool worksOnFloats(AtomicOp op) {
  return op == AtomicOp::Add || op == AtomicOp::Sub || op == AtomicOp::Min || op == AtomicOp::Max ||
         op == AtomicOp::Xchg;
}

const char* toString(AtomicOp op) {
  static constexpr std::array<const char*, 13> kNames{
      "atomic_add",     "atomic_sub",  "atomic_inc",  "atomic_dec", "atomic_xchg",
      "atomic_cmpxchg", "atomic_min",  "atomic_max",  "atomic_and", "atomic_or",
      "atomic_xor",     "atomic_load", "atomic_store"};
  return lookUp(kNames, op);
}

BinaryOp mirrored(BinaryOp op) {
  switch (op) {
    case BinaryOp::Lt:
      return BinaryOp::Gt;
    case BinaryOp::Le:
      return BinaryOp::Ge;
    case BinaryOp::Gt:
      return BinaryOp::Lt;
    case BinaryOp::Ge:
      return BinaryOp::Le;
    default:
      return op;
  }
}

BinaryOp negated(BinaryOp op) {
  switch (op) {
    case BinaryOp::Lt:
      return BinaryOp::Ge;
    case BinaryOp::Le:
      return BinaryOp::Gt;
    case BinaryOp::Gt:
      return BinaryOp::Le;
    case BinaryOp::Ge:
      return BinaryOp::Lt;
    case BinaryOp::Eq:
      return BinaryOp::Ne;
    case BinaryOp::Ne:
      return BinaryOp::Eq;
    default:
      return op;
  }
}

const char* toString(MemoryOrder order) {
  static constexpr std::array<const char*, 4> kNames{"relaxed", "acquire", "release", "acq_rel"};
  return lookUp(kNames, order);
}

const char* toString(MemoryScope scope) {
  static constexpr std::array<const char*, 3> kNames{"work_group", "device", "all_devices"};
  return lookUp(kNames, scope);
}

}  // namespace hpl::ir
