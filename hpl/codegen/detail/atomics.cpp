// SPDX-License-Identifier: Apache-2.0
// Atomic functions that OpenCL C 1.2 lacks: those of floating numbers, and of 64-bit integers,
// which extensions provide.
#include "hpl/codegen/detail/atomics.h"

#include "hpl/codegen/detail/types.h"
#include "hpl/codegen/detail/writer.h"
#include "hpl/ir/walk.h"

namespace hpl::codegen::detail {
namespace {

using ir::AtomicOp;
using ir::Scalar;
using ir::Space;

bool isFloating(const ir::Type& type) {
  return type.scalar == Scalar::Float || type.scalar == Scalar::Double;
}

bool isWide(const ir::Type& type) { return ir::sizeOf(type.scalar) == 8; }

/// Functions of cl_khr_int64_extended_atomics; the others are those of the base extension.
bool isExtended(AtomicOp op) {
  return op == AtomicOp::Min || op == AtomicOp::Max || op == AtomicOp::And || op == AtomicOp::Or ||
         op == AtomicOp::Xor;
}

/// The new value, from `old` and `x`.
std::string updated(AtomicOp op, bool isFloating) {
  switch (op) {
    case AtomicOp::Add:
      return "old + x";
    case AtomicOp::Sub:
      return "old - x";
    case AtomicOp::Min:
      return isFloating ? "fmin(old, x)" : "min(old, x)";
    case AtomicOp::Max:
      return isFloating ? "fmax(old, x)" : "max(old, x)";
    case AtomicOp::And:
      return "old & x";
    case AtomicOp::Or:
      return "old | x";
    case AtomicOp::Xor:
      return "old ^ x";
    default:
      return "x";
  }
}

/// The 32-bit functions begin with atomic_, those of the extensions with atom_.
std::string wideName(AtomicOp op) {
  return "atom_" + std::string(ir::toString(op)).substr(sizeof "atomic_" - 1);
}

/// Compares and swaps until no other work-item came between. The first guess is 0, whose failure
/// tells the value: a load that is not atomic would be a race.
std::string loopOf(const AtomicHelper& helper) {
  const bool floats = isFloating(helper.type), wide = isWide(helper.type);
  const std::string type = ir::toString(helper.type);
  const std::string bits = wide ? "ulong" : "uint";
  const std::string space = spaceQualifier(helper.space);
  const std::string cas = wide ? "atom_cmpxchg" : "atomic_cmpxchg";
  const auto asBits = [&](const std::string& value) { return "as_" + bits + '(' + value + ')'; };
  return type + ' ' + helper.name() + "(volatile " + space + type + "* cell, const " + type +
         " x) {\n  volatile " + space + bits + "* bits = (volatile " + space + bits +
         "*)cell;\n  for (" + bits + " guess = 0;;) {\n    const " + type + " old = as_" + type +
         "(guess);\n    const " + bits + " found = " + cas + "(bits, guess, " +
         asBits(updated(helper.op, floats)) + ");\n    if (found == guess) return old;\n" +
         "    guess = found;\n  }\n}\n\n";
}

}  // namespace

std::string AtomicHelper::name() const {
  return "hpl_" + std::string(ir::toString(op)) + '_' + ir::toString(type) + '_' +
         ir::toString(space);
}

std::string atomicFunction(Session& session, const ir::Atomic& atomic) {
  const ir::Type& type = atomic.target->type;
  const bool wide = isWide(type), exchanges = atomic.op == AtomicOp::Xchg;
  session.usesWideAtomics |= wide;
  const bool loops = isFloating(type)
                         ? !(exchanges && !wide)
                         : wide && isExtended(atomic.op) && !session.options.hasWideMinMaxAtomics;
  if (!loops) {
    session.usesWideMinMaxAtomics |= wide && isExtended(atomic.op);
    return wide ? wideName(atomic.op) : ir::toString(atomic.op);
  }
  const AtomicHelper helper{atomic.op, type, rootOf(*atomic.target)->space};
  session.atomicHelpers.emplace(helper.name(), helper);
  return helper.name();
}

std::string atomicExtensions(const Session& session) {
  std::string out;
  if (session.usesWideAtomics)
    out += "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n";
  if (session.usesWideMinMaxAtomics)
    out += "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n";
  return out;
}

void writeAtomicHelpers(std::string& out, const Session& session) {
  for (const auto& [name, helper] : session.atomicHelpers) out += loopOf(helper);
}

}  // namespace hpl::codegen::detail
