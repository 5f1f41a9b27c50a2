// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "hpl/strategies/detail/carry.h"
#include "hpl/strategies/detail/forms.h"

/// How carry() does it: which values are the same function of the id (carrier.cpp), and what
/// becomes of them (carry.cpp).
namespace hpl::strategies::detail {

class Carrier {
 public:
  Carrier(const Source& source, Builder& builder, const ir::Block& body,
          const Neighbours& neighbours, const std::unordered_set<const ir::Variable*>& columns)
      : builder_(builder),
        body_(body),
        x_(neighbours.x),
        lanes_(neighbours.lanes),
        forms_(source, neighbours),
        columns_(columns) {}

  Carried run();

 private:
  Form formOf(const ir::Variable* variable) { return forms_.of(variable); }
  const ir::Expr& valueOf(const ir::Variable* constant) const { return forms_.valueOf(constant); }
  bool isLoad(const ir::Variable* constant) const { return valueOf(constant).as<ir::Access>(); }
  bool isCopy(const ir::Variable* constant) const { return valueOf(constant).as<ir::VarRef>(); }
  struct Span {
    std::int64_t first = 0;
    std::int64_t last = 0;
  };
  using Spans = std::unordered_map<int, Span>;
  Spans spansOf(const std::unordered_set<const ir::Variable*>* wanted);
  void chooseLeaders();
  void chooseAhead(const Spans& spans);
  void keepCentres();
  std::unordered_set<const ir::Variable*> wanted();
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

  Builder& builder_;
  const ir::Block& body_;
  const ir::Variable* x_;
  int lanes_;
  Forms forms_;
  /// Constants that are worth handing on like loads.
  const std::unordered_set<const ir::Variable*>& columns_;

  /// By kind: the variable furthest on.
  std::unordered_map<int, const ir::Variable*> leaders_;
  std::map<std::pair<int, std::int64_t>, const ir::Variable*> emitted_;
  std::unordered_set<const ir::Variable*> done_;
  /// By leader: what is kept of it, and the variable that is made from it furthest back.
  struct Keeper {
    ir::Variable* before = nullptr;
    const ir::Variable* furthest = nullptr;
    int distance = 0;
    /// For loads ahead: the vectors at the id and `lanes` behind it; `before` lies before these.
    ir::Variable* here = nullptr;
    ir::Variable* next = nullptr;
  };
  std::unordered_map<const ir::Variable*, Keeper> keepers_;
  /// Leaders that are loaded ahead.
  std::unordered_set<const ir::Variable*> ahead_;
  /// Those of them that columns load anyway.
  std::unordered_set<const ir::Variable*> centres_;
  /// The variables that are computed where nothing has been kept, by kind and shift.
  std::map<std::pair<int, std::int64_t>, const ir::Variable*> copies_;
  /// How much further on copies are than what they are made of.
  std::int64_t further_ = 0;
  ir::Block* out_ = nullptr;
  Carried result_;
};

}  // namespace hpl::strategies::detail
