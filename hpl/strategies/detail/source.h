// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "hpl/error.h"
#include "hpl/ir/access.h"
#include "hpl/ir/detail/index_value.h"
#include "hpl/ir/kernel.h"
#include "hpl/strategies/detail/builder.h"

/// A kernel as strategies look at it before they rewrite it.
namespace hpl::strategies::detail {

/// Thrown where a kernel turns out not to be rewritable; ends up as the reason for users. An Error,
/// so that programs that catch those see it should it ever leave the strategies.
struct Refused : Error {
  explicit Refused(std::string why)
      : Error("a strategy does not suit a kernel: " + why), reason(std::move(why)) {}
  std::string reason;
};

/// " (kernels.h:12)", or nothing where the place is unknown.
std::string at(const ir::SourceLocation& where);

/// Facts about a kernel's variables, and its body without early returns.
class Source {
 public:
  /// Throws Refused for returns that cannot be turned into branches.
  Source(const ir::Kernel& kernel, const ir::AccessSummary& summary, Builder& builder);

  const ir::Kernel& kernel() const { return kernel_; }
  const ir::AccessSummary& summary() const { return summary_; }
  /// The body, where `if (c) { ...; return; } rest` has become `if (c) { ... } else { rest }`.
  const ir::Block& body() const { return *body_; }

  /// The initial value of a private scalar that never gets another one; null for other variables.
  const ir::Expr* constantValue(const ir::Variable* variable) const;
  /// A scalar parameter that the kernel does not change.
  bool isUnchangedParameter(const ir::Variable* variable) const;
  bool isWritten(const ir::Variable* array) const { return written_.contains(array); }
  /// One statement of the kernel writes it.
  bool isWrittenOnce(const ir::Variable* array) const {
    const auto count = assignments_.find(array);
    return count != assignments_.end() && count->second == kAssigned;
  }
  /// The one element that an alias is ever bound to; null if there are none or several.
  const ir::Expr* bindingOf(const ir::Variable* alias) const;
  /// The kernel points into it.
  bool isAliased(const ir::Variable* array) const { return aliased_.contains(array); }
  /// The array parameter behind an array or an alias; null for arrays declared in the kernel.
  const ir::Variable* memoryOf(const ir::Variable* array) const;

  /// Nothing but constants, ids, sizes, unchanged parameters, constant variables and elements of
  /// arrays that the kernel does not write: the same value wherever a work-item computes it.
  bool isPure(const ir::Expr& expr) const;

  /// The values of the index; Unknown where they cannot be told.
  ir::IndexForm formOf(const ir::Expr& index) const;

 private:
  void collect(const ir::Block& block);
  void collect(const ir::Stmt& stmt);
  const ir::Block* structured(const ir::Block& block);
  void append(const ir::Block& from, std::size_t i, ir::Block& to);
  ir::detail::Value valueOf(const ir::Expr& expr) const;

  /// The weight of an assignment; an initial value counts 1.
  static constexpr int kAssigned = 2;

  const ir::Kernel& kernel_;
  const ir::AccessSummary& summary_;
  Builder& builder_;
  const ir::Block* body_ = nullptr;
  std::unordered_map<const ir::Variable*, int> assignments_;
  std::unordered_map<const ir::Variable*, const ir::Expr*> initial_;
  std::unordered_map<const ir::Variable*, int> bindings_;
  std::unordered_map<const ir::Variable*, const ir::Expr*> bound_;
  std::unordered_set<const ir::Variable*> written_;
  std::unordered_set<const ir::Variable*> aliased_;
  ir::detail::Values values_;
};

}  // namespace hpl::strategies::detail
