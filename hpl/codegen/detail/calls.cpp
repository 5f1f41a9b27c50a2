// SPDX-License-Identifier: Apache-2.0
// Atomics, calls of functions and of built-ins with out-pointers.
#include "hpl/codegen/detail/ordered.h"
#include "hpl/codegen/detail/own_functions.h"
#include "hpl/codegen/detail/writer.h"
#include "hpl/ir/walk.h"

namespace hpl::codegen::detail {

using ir::Expr;
using ir::Variable;

bool FunctionWriter::isUnused(const Variable& variable) const {
  return variable.rank == 0 && session_.usage.mentioned.count(&variable) == 0;
}

// `declares`: the result's declaration has been left to the call.
void FunctionWriter::resultPrefix(const Variable* result, bool declares) {
  if (result == nullptr || isUnused(*result)) return;
  out_ += declares ? declarator(*result) : names(result).name;
  out_ += " = ";
}

void FunctionWriter::atomic(const ir::Atomic& atomic, const ir::SourceLocation& where,
                            bool declares) {
  Text& text = session_.text;
  const bool hasResult = atomic.result != nullptr && !isUnused(*atomic.result);
  const bool isConditional = needsPredicate(*atomic.target, true);
  if (hasResult && isConditional && declares) {
    text.line(declarator(*atomic.result) + ';');
    declares = false;
  }
  text.beginLine();
  predicate(*atomic.target, true);
  resultPrefix(atomic.result, declares);
  out_ += isOrdered(atomic.op) ? orderedHelper(session_, atomic) : atomicFunction(session_, atomic);
  out_ += '(';
  addressOf(*atomic.target);
  for (const Expr* operand : atomic.operands) {
    out_ += ", ";
    exact(*operand);
  }
  out_ += ");";
  predicated_ = false;
  // Atomics that do not happen give 0.
  if (hasResult && isConditional) out_ += " else " + names(atomic.result).name + " = 0;";
  text.endLine(where);
}

void FunctionWriter::fence(const ir::Fence& fence) { out_ += fenceHelper(session_, fence) + "();"; }

void FunctionWriter::probe(const ir::Probe& probe, const ir::SourceLocation& where) {
  const ir::Type& type = probe.value->type;
  session_.text.beginLine();
  if (session_.masked) out_ += "if (hpl_on) ";
  out_ += "hpl_probe(hpl_probes, " + std::to_string(session_.probes.size()) + "u, ";
  out_ += type.scalar == ir::Scalar::Float    ? "as_uint("
          : type.scalar == ir::Scalar::Double ? "as_ulong("
                                              : "(ulong)(";
  write(*probe.value);
  out_ += "));";
  session_.text.endLine(where);
  session_.probes.push_back({probe.label, type, where});
}

// Arguments that follow an array: strides, and with checks extents and identity.
void FunctionWriter::hiddenArguments(const Variable& param, const Variable& array) {
  const VariableNames& own = names(&array);
  const bool checks = session_.options.checkBounds;
  if (param.role == ir::Role::Alias) {
    if (!checks) return;
    out_ += ", " + (array.role == ir::Role::Alias ? own.position : std::string("0")) + ", ";
    arraySpan(array);
    out_ += ", " + own.id;
    return;
  }
  for (const std::string& stride : own.strides) out_ += ", " + stride;
  if (!session_.passesExtents()) return;
  if (array.role == ir::Role::Alias) {
    // Without checks its reach is unknown, and surplus work-items load nothing.
    out_ += checks ? ", " + own.span + " - " + own.position : std::string(", 0");
  }
  for (const std::string& extent : own.extents) out_ += ", " + extent;
  if (checks) out_ += ", " + own.id;
}

void FunctionWriter::call(const ir::Call& call, const ir::SourceLocation& where, bool declares) {
  Text& text = session_.text;
  const bool isNative = call.function->native != nullptr;
  // Surplus work-items would hand over positions that do not exist.
  if (isNative && session_.masked) {
    if (declares && call.result != nullptr && !isUnused(*call.result))
      text.line(declarator(*call.result) + " = 0;");
    declares = false;
  }
  text.beginLine();
  if (isNative && session_.masked) out_ += "if (hpl_on) ";
  resultPrefix(call.result, declares);
  out_ += session_.functionNames.at(call.function) + '(';
  bool first = true;
  const auto separate = [&] {
    if (!first) out_ += ", ";
    first = false;
  };
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    separate();
    const auto* whole = call.args[i]->as<ir::ArrayRef>();
    if (whole == nullptr) {
      assigned(*call.args[i]);
      continue;
    }
    if (isConvertedHalf(*whole->array)) {
      out_ += halfPointer(*whole->array);
    } else {
      firstElement(*whole->array);
    }
    if (!isNative) hiddenArguments(*call.function->params[i], *whole->array);
  }
  if (isNative) {
    out_ += ");";
    return text.endLine(where);
  }
  const FunctionUsage& callee = session_.usage.of(call.function);
  for (const Variable* local : callee.locals) {
    separate();
    const VariableNames& own = names(local);
    if (local->rank == 0 && !own.isPointer) out_ += '&';
    firstElement(*local);
  }
  for (int d = 0; d < 3; ++d) {
    if (session_.passesSize(d) && (callee.globalSizes >> d & 1) != 0) {
      separate();
      out_ += "hpl_size_";
      out_ += "xyz"[d];
    }
    if (session_.isSliced(d) && (callee.globalIds >> d & 1) != 0) {
      separate();
      out_ += "hpl_first_";
      out_ += "xyz"[d];
    }
    if ((callee.origins >> d & 1) != 0) {
      separate();
      out_ += "hpl_origin_";
      out_ += "xyz"[d];
    }
  }
  if (session_.masked) {
    separate();
    out_ += "hpl_on";
  }
  if (session_.loadsBeyond) out_ += ", hpl_in";
  if (callee.hasProbes) {
    separate();
    out_ += "hpl_probes";
  }
  if (session_.options.checkBounds) {
    separate();
    out_ += "hpl_error";
  }
  out_ += ");";
  text.endLine(where);
}

void FunctionWriter::builtinCall(const ir::BuiltinCall& call, const ir::SourceLocation& where,
                                 bool declares) {
  Text& text = session_.text;
  text.beginLine();
  resultPrefix(call.result, declares);
  out_ += functionFor(session_, call);
  out_ += '(';
  arguments(call.args);
  out_ += call.args.empty() ? "&" : ", &";
  out_ += names(call.out).name + ");";
  text.endLine(where);
}

}  // namespace hpl::codegen::detail
