// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "hpl/strategies/detail/source.h"

namespace hpl::strategies::detail {

/// Finds values that are the same for all work-items of a group.
class GroupUniformity {
 public:
  explicit GroupUniformity(const Source& source);

  bool differs(const ir::Expr& expr) const;
  /// All work-items get through the statement together: it has barriers, or it is a loop whose
  /// turns are the same for all. Where pieces end there, compilers see loops over work-items.
  bool isTogether(const ir::Stmt& stmt) const;
  /// A private scalar that is the same for all, and assigned only where all of them are together:
  /// one does for the group.
  bool isOfGroup(const ir::Variable* variable) const;

 private:
  bool visit(const ir::Block& block, bool isApart);
  bool visit(const ir::Stmt& stmt, bool isApart);
  void collect(const ir::Block& block, bool areTogether);

  const Source& source_;
  std::unordered_set<const ir::Variable*> differing_;
  std::unordered_set<const ir::Variable*> together_;
  std::unordered_set<const ir::Variable*> alone_;
};

}  // namespace hpl::strategies::detail
