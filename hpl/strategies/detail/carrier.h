// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "hpl/strategies/detail/carry.h"

/// How carry() does it: which values are the same function of the id (carrier.cpp), and what
/// becomes of them (carry.cpp).
namespace hpl::strategies::detail {

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

class Carrier {
 public:
  Carrier(const Source& source, Builder& builder, const ir::Block& body, const ir::Variable* x,
          int lanes, const std::unordered_set<const ir::Variable*>& elements,
          const std::unordered_set<const ir::Variable*>& lasting)
      : source_(source),
        builder_(builder),
        body_(body),
        x_(x),
        lanes_(lanes),
        elements_(elements),
        lasting_(lasting) {}

  Carried run();

 private:
  bool collect();
  bool isMovable(const ir::Expr& expr) const;
  Form formOf(const ir::Variable* variable);
  Form formOf(const ir::Expr& expr);
  Form combined(const ir::Expr& expr);
  bool isByLane(const ir::Expr& expr,
                const std::vector<std::pair<const ir::Expr*, Form>>& operands) const;
  const ir::Expr& valueOf(const ir::Variable* constant) const;
  bool isLoad(const ir::Variable* constant) const { return valueOf(constant).as<ir::Access>(); }
  bool isCopy(const ir::Variable* constant) const { return valueOf(constant).as<ir::VarRef>(); }
  void chooseLeaders();
  void emit(const ir::Variable* variable);
  void emitOperands(const ir::Expr& expr);
  void emitAhead(const ir::Variable* variable, const ir::Variable* leader, std::int64_t shift);
  void hasBefore(const ir::Variable* leader, const ir::Variable* variable, int distance);
  const ir::Expr* between(const ir::Variable* low, const ir::Variable* high, int distance);
  const ir::Expr* turned(const ir::Expr* vector, int distance);
  const ir::Expr* again(const ir::Expr& expr);
  const ir::Expr* againSum(const ir::Expr& expr);
  const ir::Variable* again(const ir::Variable* variable);
  void beginAgain();
  ir::Block* starts();
  ir::Block* loadAhead();
  std::int64_t reachOf(const ir::Variable* leader) { return formOf(leader).shift; }

  const Source& source_;
  Builder& builder_;
  const ir::Block& body_;
  const ir::Variable* x_;
  int lanes_;
  const std::unordered_set<const ir::Variable*>& elements_;
  const std::unordered_set<const ir::Variable*>& lasting_;

  /// Variables that are declared once and never assigned, with their declarations.
  std::unordered_map<const ir::Variable*, const ir::Stmt*> constants_;
  std::vector<const ir::Variable*> order_;
  std::unordered_set<const ir::Variable*> changing_;
  std::unordered_map<const ir::Variable*, Form> forms_;
  std::map<std::string, int> kinds_;
  /// By kind: the variable furthest on.
  std::unordered_map<int, const ir::Variable*> leaders_;
  std::map<std::pair<int, std::int64_t>, const ir::Variable*> emitted_;
  std::unordered_set<const ir::Variable*> done_;
  /// By leader: what is kept of it, and the variable that is made from it furthest back.
  struct Keeper {
    ir::Variable* before = nullptr;
    const ir::Variable* furthest = nullptr;
    int distance = 0;
    /// Of loads ahead: the vectors at the id and `lanes` behind it; `before` lies before these.
    ir::Variable* here = nullptr;
    ir::Variable* next = nullptr;
  };
  std::unordered_map<const ir::Variable*, Keeper> keepers_;
  /// Leaders that are loaded ahead.
  std::unordered_set<const ir::Variable*> ahead_;
  /// What is computed where nothing has been kept, by kind and shift.
  std::map<std::pair<int, std::int64_t>, const ir::Variable*> copies_;
  /// How much further on copies are than what they are made of.
  std::int64_t further_ = 0;
  ir::Block* out_ = nullptr;
  Carried result_;
};

}  // namespace hpl::strategies::detail
