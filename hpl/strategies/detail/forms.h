// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "hpl/strategies/detail/source.h"

/// Finds values of a body without branches that are the same function of the id along the row.
namespace hpl::strategies::detail {

/// The elements that a body computes at once.
struct Neighbours {
  /// The id of the first of them (a variable); the others' follow it.
  const ir::Variable* x = nullptr;
  int lanes = 1;
  /// Variables with the components of elements that are vectors, a lane for each neighbour.
  std::unordered_set<const ir::Variable*> elements{};
  /// Arrays besides parameters of which the body overwrites nothing that it reads.
  std::unordered_set<const ir::Variable*> lasting{};
};

/// A value as a function of the id: equal kinds are the same function.
struct Form {
  /// Negative: unknown.
  int kind = -1;
  /// The value is that of its kind, as many ids further on.
  std::int64_t shift = 0;
  /// The same for all ids.
  bool uniform = false;
  /// A vector with a lane for each of the neighbours, or the same in all lanes.
  bool byLane = false;
};

class Forms {
 public:
  /// The neighbours must live as long.
  Forms(const Source& source, const Neighbours& neighbours)
      : source_(source), neighbours_(neighbours) {
    kinds_.emplace("x", 0);
  }

  /// False: the statements branch, or read what the kernel writes.
  bool collect(const ir::Block& body);

  Form of(const ir::Variable* variable);
  Form of(const ir::Expr& expr);

  /// Variables that are declared once and never assigned, in the order of their declarations.
  const std::vector<const ir::Variable*>& constants() const { return order_; }
  bool isConstant(const ir::Variable* variable) const { return constants_.contains(variable); }
  const ir::Stmt* declarationOf(const ir::Variable* constant) const {
    return constants_.at(constant);
  }
  const ir::Expr& valueOf(const ir::Variable* constant) const;

 private:
  bool isMovable(const ir::Expr& expr) const;
  Form combined(const ir::Expr& expr);
  /// How much an integer grows from one id to the next; nothing when that is not known.
  std::optional<std::int64_t> growth(const ir::Expr& expr);
  bool isByLane(const ir::Expr& expr,
                const std::vector<std::pair<const ir::Expr*, Form>>& operands);

  const Source& source_;
  const Neighbours& neighbours_;
  std::unordered_map<const ir::Variable*, const ir::Stmt*> constants_;
  std::vector<const ir::Variable*> order_;
  std::unordered_set<const ir::Variable*> changing_;
  std::unordered_map<const ir::Variable*, Form> forms_;
  std::map<std::string, int> kinds_;
};

}  // namespace hpl::strategies::detail
