// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hpl/codegen/emit.h"
#include "hpl/ir/kernel.h"

/// The facts that the writers need before the first line: which variables are written, and the
/// helpers, extensions and hidden arguments that each function needs.
namespace hpl::codegen::detail {

/// Facts about one function; those marked "deep" include the functions that it calls.
struct FunctionUsage {
  /// Bit d of entry q: the function itself asks for query q in dimension d.
  std::array<std::uint8_t, ir::kQueries> queries{};
  /// Deep: bit d: get_global_size(d) is asked for.
  std::uint8_t globalSizes = 0;
  /// Deep: the same for get_global_id(d).
  std::uint8_t globalIds = 0;
  /// Deep: the same for the origin.
  std::uint8_t origins = 0;
  /// Deep.
  bool hasBarrier = false;
  /// Deep: reads or writes global or constant memory, or performs atomics.
  bool touchesShared = false;
  /// Deep: has accesses that are checked.
  bool hasAccesses = false;
  /// Deep.
  bool hasProbes = false;
  /// Deep: declared local variables, which OpenCL C wants in the kernel.
  std::vector<const ir::Variable*> locals;
};

/// Facts about a whole kernel.
struct Usage {
  std::unordered_map<const ir::Function*, FunctionUsage> functions;
  /// Assigned to, or target of atomics, directly or through aliases and calls.
  std::unordered_set<const ir::Variable*> written;
  /// Appear in an expression (as target or value).
  std::unordered_set<const ir::Variable*> mentioned;
  /// Registered structs in an order of definition.
  std::vector<const ir::StructType*> structs;
  bool needsDouble = false;
  /// A variable or parameter that is a vector of half; elements of arrays do not count.
  const ir::Variable* halfVector = nullptr;
  bool needsHalf = false;
  /// An atomic on 64 bits, and its place; null: there is none.
  const ir::Atomic* wideAtomic = nullptr;
  ir::SourceLocation wideAtomicAt;
  /// Complex products and quotients in float (0) and double (1).
  std::array<bool, 2> multipliesComplex{};
  std::array<bool, 2> dividesComplex{};

  const FunctionUsage& of(const ir::Function* function) const { return functions.at(function); }
};

/// In memory that all work-groups see.
inline bool isShared(const ir::Variable& variable) {
  return variable.space == ir::Space::Global || variable.space == ir::Space::Constant;
}

/// Throws KernelError for types that OpenCL C does not have.
Usage findUsage(const ir::Kernel& kernel);

}  // namespace hpl::codegen::detail
