// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hpl/ir/detail/access_state.h"
#include "hpl/ir/detail/colour.h"
#include "hpl/ir/unfold.h"

namespace hpl::ir::detail {

/// Notes about comparisons, for launches on several parts (parts.h).
struct Comparisons {
  /// Those that say where an id is, as far as they were understood each time; others are absent.
  std::unordered_map<const Expr*, bool> understood;
  /// Distance from both ends of each axis from which all of them come out alike.
  std::array<std::int64_t, 3> before{};
  std::array<std::int64_t, 3> after{};
};

/// A remainder by the size of the domain along the axis: that of the id plus a number, which is no
/// negative number in its type, maybe plus the size.
struct RingIndex {
  int axis = 0;
  std::int64_t offset = 0;
  friend bool operator==(const RingIndex&, const RingIndex&) = default;
};
/// Notes about indices at an edge of the domain, as far as they were understood each time.
struct EdgeIndices {
  /// Remainders; nothing where one is something else at times.
  std::unordered_map<const Expr*, std::optional<RingIndex>> rings;
  /// Minima, maxima and clamped numbers: which argument is the id plus numbers, if the others are
  /// numbers and sizes of its axis.
  std::unordered_map<const Expr*, std::optional<std::size_t>> clamps;

  bool isEmpty() const { return rings.empty() && clamps.empty(); }
  friend bool operator==(const EdgeIndices&, const EdgeIndices&) = default;
};

/// Quotients and remainders of the work-item's own number along axis 0.
struct Quotients {
  /// By what; nothing where that is no number and no scalar that the kernel leaves alone.
  std::unordered_map<const Expr*, std::optional<RowLength>> lengths;
  /// Those that are of something else, at times.
  std::unordered_set<const Expr*> others;
};

/// The walk's knowledge before it begins, and its notes beside accesses.
struct Notes {
  const SizesInScalars* sizes = nullptr;
  Comparisons* comparisons = nullptr;
  EdgeIndices* edges = nullptr;
  Quotients* quotients = nullptr;
};

/// Walks a kernel once, in the order of execution, with the State that holds for every work-item,
/// and records every access of the arrays in a summary. Calls are walked in place.
class AccessWalker {
 public:
  /// `summary.arrays` names the arrays to record; throws Budget::Exceeded.
  AccessWalker(AccessSummary& summary, Budget& budget, const Notes& notes)
      : summary_(summary),
        budget_(budget),
        sizes_(notes.sizes),
        comparisons_(notes.comparisons),
        edges_(notes.edges),
        quotients_(notes.quotients) {}

  void run(const Function& entry);

 private:
  /// Jumps out of the innermost loop, gathered until it is left.
  struct LoopFrame {
    std::optional<State> breaks;
    std::optional<State> continues;
  };
  struct FunctionFrame {
    std::optional<State> exit;
    std::optional<Value> result;
    std::vector<LoopFrame> loops;
  };
  struct AccessKind {
    bool reads = false;
    bool writes = false;
    bool atomic = false;
    bool partial = false;
  };

  /// Records the reads in an expression.
  void visit(const Expr* expr);
  void visitSkippable(const Expr* expr);
  void noteComparison(const Expr* expr, const Binary& comparison);
  void noteRemainder(const Expr* expr, const Binary& remainder);
  void noteClamp(const Expr* expr, const BuiltinExpr& call);
  void noteQuotient(const Expr* expr, const Binary& quotient);
  /// Records a read, a write or both of an element; its indices have been visited.
  void touch(const Access& access, const SourceLocation& where, AccessKind kind);
  void record(const Variable* array, std::vector<IndexForm> index, const SourceLocation& where,
              AccessKind kind, bool alias);

  void walk(const Block* block);
  void walk(const Stmt& stmt);
  void walkAssign(const Assign& assign);
  void walkBind(const Bind& bind);
  /// Whether those of the first branch go on behind it.
  bool walkIf(const If& branch);
  void narrowTo(const std::vector<Colour>& colours) {
    colours_.insert(colours_.end(), colours.begin(), colours.end());
  }
  void walkLoop(const Loop& loop);
  void walkDoLoop(const DoLoop& loop);
  void walkAtomic(const Atomic& atomic);
  void walkCall(const Call& call);
  void walkReturn(const Return& stmt);
  void leaveTo(std::optional<State>& target);
  void resumeWith(const std::optional<State>& other);

  Value valueOf(const Expr* expr) { return detail::valueOf(expr, state_.values, budget_); }
  Binding bindingOf(const Variable* array) const;
  LoopFrame& innermostLoop() { return frames_.back().loops.back(); }

  AccessSummary& summary_;
  Budget& budget_;
  const SizesInScalars* sizes_;
  Comparisons* comparisons_;
  EdgeIndices* edges_;
  Quotients* quotients_;
  /// Scalar parameters that the kernel changes.
  std::unordered_set<const Variable*> changed_;
  State state_;
  std::vector<FunctionFrame> frames_;
  SourceLocation where_;
  int conditional_ = 0;
  int skippable_ = 0;
  Rim rim_;
  Rim bounds_;
  std::optional<ColourFinder> colourFinder_;
  /// The colours of the work-items that are here.
  std::vector<Colour> colours_;
};

/// Does the work of ir::analyze(), and takes the notes that are wanted. False if it was given up.
bool analyze(const Kernel& kernel, AccessSummary& summary, const Notes& notes);

}  // namespace hpl::ir::detail
