// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hpl/strategies/detail/counters.h"
#include "hpl/strategies/detail/grid_strides.h"
#include "hpl/strategies/detail/march.h"
#include "hpl/strategies/detail/row_ends.h"

/// Writes copies of a kernel's body for given ids: for one work-item, or for several neighbours
/// along an axis at once, in the lanes of vectors.
namespace hpl::strategies::detail {

/// A box of an array that a work-group holds in local memory.
struct Tile {
  const ir::Variable* memory = nullptr;
  /// Per dimension of the array: the axis that walks through it, the offsets from the ids that the
  /// tile holds, and the index (ulong) of its first cell.
  std::vector<int> axis;
  std::vector<ir::Interval> offsets;
  std::vector<const ir::Variable*> origin;
  /// Instead of origin: the memory has one dimension, in which the cell at the place's base has
  /// this index (ulong), and cells lie so far apart along each dimension of the array. Without
  /// offsets the tile holds whatever is accessed.
  const ir::Expr* start = nullptr;
  /// Not null: this is the base's place in its row (ulong), and `start` is that of its row.
  const ir::Expr* along = nullptr;
  std::vector<std::int64_t> strides;
  /// Cells along this axis (-1: none) do not lie at equal distances: the start for each offset.
  int ringAxis = -1;
  std::map<std::int64_t, const ir::Expr*> starts;
};
/// By array parameter.
using Tiles = std::unordered_map<const ir::Variable*, Tile>;

/// Finds the replacement of an element (its indices have these forms) that has been read before;
/// null: the element is read where it is.
using Queues = std::function<const ir::Expr*(const ir::Access&, const std::vector<ir::IndexForm>&)>;

/// Takes the values of `lanes` lanes that a body assigns to an array, which then is not written.
using Sink = std::function<void(ir::Block& out, const ir::Expr* value, int lanes)>;
using Sinks = std::unordered_map<const ir::Variable*, Sink>;

/// Lanes whose own places along rows are those of vectors that lie at multiples of their size.
/// Elements beside them are put together from such vectors and single ones.
struct AlignedRows {
  /// Ids (long) along rows that satisfy what the copies ask for, from the first one on and before
  /// the other one: what other lanes compute, from whatever elements are near, is not stored.
  const ir::Variable* from = nullptr;
  const ir::Variable* to = nullptr;
  /// Whether those of all lanes do (int).
  const ir::Variable* areAll = nullptr;
  /// Copies read in vectors also beside the lanes' own places.
  bool inVectors = false;
  /// How far copies read on either side of their own place, less than a vector.
  struct Reach {
    std::int64_t before = 0;
    std::int64_t behind = 0;
    /// In single vectors that lie at multiples of their size.
    Reach inVectors() const {
      const auto up = [](std::int64_t elements) {
        return elements > 0
                   ? static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(elements)))
                   : 0;
      };
      return {up(before), up(behind)};
    }
  };
  std::unordered_map<const ir::Variable*, Reach> reach{};
  /// Places beside the lanes' own ones (ulong), or others that rows have, by array, distance and
  /// lanes, and what declares them.
  std::map<std::tuple<const ir::Variable*, std::int64_t, int>, const ir::Variable*> places{};
  ir::Block* declarations = nullptr;
  // Results of the copies:
  /// Arrays whose rows must begin at multiples of vectors.
  std::vector<const ir::Variable*> arrays{};
  /// The last lane's place must be before these (long).
  std::vector<const ir::Expr*> ends{};
  /// All lanes must satisfy what the copies ask for.
  bool needsAll = false;
};

/// The state that all copies of a body share.
struct BodyContext {
  const Source& source;
  Builder& builder;
  const Hoister& hoister;
  /// Comparisons that are decided where the copies are.
  const Interior& interior;
  Hoister::ExtentOf extentOf;
  Hoister::SizeOf sizeOf;
  /// 1: one work-item.
  int lanes = 1;
  /// The axis along which the lanes run.
  int axis = 0;
  /// Built-in functions whose vector forms may round in another way are refused.
  bool exact = false;
  /// The conditions on the ids, collected by the copies; one for each axis.
  std::array<Hoister::Bounds, 3> bounds;
  /// Arrays whose elements are read from local memory; null: none.
  const Tiles* tiles = nullptr;
  /// Null: all arrays are written.
  const Sinks* sinks = nullptr;
  /// Variables with a component of elements that are vectors, a lane for each neighbour.
  std::unordered_set<const ir::Variable*> elements{};
  /// One work-item: elements that it has kept; empty: none.
  Queues queues{};
  /// The body writes each array once, whatever other bodies of the kernel do.
  bool writesOnce = false;
  /// The comparisons that the copies took as decided.
  Decided decided{};
  /// Loops that need rows to be cut, at points among the bounds.
  std::unordered_set<const ir::Stmt*> cuts{};
  /// Lanes have at most this many bytes (1, 2 or 4; 0: any number): vectors of wider ones are
  /// refused. Truth values have as many.
  int laneBytes = 0;
  /// From one lane's id to the next one's: 1, or 2 for one colour of a chessboard.
  int laneStep = 1;
  /// Stores of whole vectors go past the caches where nothing is read that they replace.
  bool streams = false;
  /// RowsOptions::ownElements.
  bool ownElements = false;
  /// Sizes of the domain; 0: not known.
  std::array<std::int64_t, 3> size{};
  /// Where atomics that only count do so; null: nowhere.
  Counters* counters = nullptr;
  /// One work-item: what is read more than once is kept, and what is written is computed before
  /// stores that are postponed. Not for bodies with loops.
  bool keepsElements = false;
  /// Several lanes: their own places along rows are those of a vector that lies at a multiple of
  /// its size. Null: they need not be.
  struct AlignedRows* rows = nullptr;
  /// Not null: the copies are one turn of it, along this axis.
  March* march = nullptr;
  int marchAxis = -1;
};

/// Where one copy is: its ids are base + shift.
struct Place {
  std::array<const ir::Expr*, 3> base{};
  std::array<std::int64_t, 3> shift{};
};

/// Elements that copies have loaded already, by array and position.
class LoadTable {
 public:
  LoadTable() { open(); }
  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  /// True if some copies may not get to the loads of the present scope.
  bool isNested() const { return scopes_.size() > 1; }
  const ir::Variable* find(const std::string& key) const;
  void add(const std::string& key, const ir::Variable* value) { scopes_.back()[key] = value; }

 private:
  std::vector<std::unordered_map<std::string, const ir::Variable*>> scopes_;
};

/// The variables that differ between neighbours along the axis, when decided comparisons are taken
/// as decided.
class Variation {
 public:
  explicit Variation(const BodyContext& context);
  /// Between neighbours along any of these axes.
  Variation(const BodyContext& context, std::array<bool, 3> axes);
  bool differs(const ir::Variable* variable) const { return variables_.contains(variable); }
  bool differs(const ir::Expr& expr) const;
  bool indicesDiffer(const ir::Expr& element) const;
  /// Whether neighbours leave the loop, or turns of it, at different times.
  bool leaveApart(const ir::Stmt& loop) const;
  /// The loops that go on by the number of work-items: neighbours between the cuts leave them
  /// together.
  const GridStrides& strides() const { return strides_; }

 private:
  void collect();
  bool dropStrides(const ir::Block& block, bool isApart);
  bool leavesApart(const ir::Block& block, bool isApart) const;
  /// `depth`: how many branches around it only some neighbours take.
  bool visit(const ir::Block& block, int depth);
  bool visit(const ir::Stmt& stmt, int depth);
  bool mark(const ir::Variable* variable);
  bool find(const ir::Expr& expr) const;

  const BodyContext& context_;
  std::array<bool, 3> axes_{};
  GridStrides strides_;
  std::unordered_set<const ir::Variable*> variables_;
  std::unordered_map<const ir::Variable*, int> declaredAt_;
  mutable std::unordered_map<const ir::Expr*, bool> known_;
};

/// One copy of the body. Throws Refused for what cannot be written in vectors.
class BodyWriter {
 public:
  BodyWriter(BodyContext& context, const Variation& variation, LoadTable& loads, const Place& place)
      : context_(context),
        builder_(context.builder),
        variation_(variation),
        loads_(loads),
        place_(place) {}

  /// Stores to arrays go to `late` instead of `out` where that is not null.
  void write(const ir::Stmt& stmt, ir::Block& out, ir::Block* late);
  /// Notes what ids must satisfy for the decided comparisons in the condition to be as decided.
  void settle(const ir::Expr& condition);
  /// From now on the variable is this copy's one of it.
  void share(const ir::Variable* variable, BodyWriter& other) {
    copies_.insert_or_assign(variable, other.copyOf(variable));
  }
  /// Notes where rows must be cut for neighbours to leave the loop together.
  void cutFor(const ir::Stmt& loop);
  /// The condition of a loop, which is the same for all copies.
  const ir::Expr* common(const ir::Expr& condition) { return scalar(condition); }

 private:
  /// Scalar: the same in all lanes; Vector: a value for each lane; Mask: an int for each lane, -1
  /// for true and 0 for false, standing for C's 1 and 0.
  struct Value {
    enum class Kind { Scalar, Vector, Mask };
    const ir::Expr* node = nullptr;
    Kind kind = Kind::Scalar;
  };

  // Statements, executed by the lanes that `mask` (an int vector; null: all) selects.
  void block(const ir::Block& block, ir::Block& out, const ir::Expr* mask);
  void statement(const ir::Stmt& stmt, ir::Block& out, const ir::Expr* mask);
  void declare(const ir::Declare& declare, ir::Block& out);
  void bind(const ir::Bind& bind, ir::Block& out);
  void assign(const ir::Assign& assign, const ir::SourceLocation& where, const ir::Expr* mask);
  /// How far the copy is from the first one of its row: counters that go on by the number of
  /// work-items are those of the latter.
  std::int64_t distanceInRow() const {
    return place_.shift[static_cast<std::size_t>(context_.axis)];
  }
  const Sink* sinkOf(const ir::Expr& target) const;
  void assignOne(const ir::Expr& target, const ir::Expr& value, const ir::SourceLocation& where);
  bool streams(const ir::Access& access, const ir::Type& type) const;
  void count(const ir::Atomic& atomic, ir::Block& out, const ir::Expr* mask);
  void store(const ir::Expr& target, const ir::Expr* value, const ir::SourceLocation& where,
             const ir::Expr* mask);
  void branch(const ir::If& branch, ir::Block& out, const ir::Expr* mask);
  void maskedBranch(const ir::If& branch, ir::Block& out, const ir::Expr* mask);
  void maskedSide(const ir::Block* side, const ir::Expr* mask, ir::Block& out);
  void loop(const ir::Stmt& stmt, ir::Block& out, const ir::Expr* mask);
  void uniformLoop(const ir::Stmt& stmt, ir::Block& out, const ir::Expr* mask);
  void maskedLoop(const ir::Stmt& stmt, ir::Block& out, const ir::Expr* mask);
  ir::Block* maskedTurn(const ir::Block& body);
  ir::Block* goingOn(const ir::Block* prepare, const ir::Expr* condition);
  void leave(bool isBreak, const ir::Expr* mask);
  ir::Block* nested(const ir::Block* block, const ir::Expr* mask);

  // Expressions. Where one is a vector already, component `part` of it.
  Value convert(const ir::Expr& expr, int part = 0);
  Value convertUnary(const ir::Unary& unary, int part);
  Value convertBinary(const ir::Expr& expr, const ir::Binary& binary, int part);
  Value convertLogical(const ir::Expr& expr, const ir::Binary& binary);
  Value convertSelect(const ir::Expr& expr, const ir::Select& select, int part);
  Value convertCast(const ir::Expr& expr, const ir::Cast& cast, int part);
  Value convertBuiltin(const ir::Expr& expr, const ir::BuiltinExpr& builtin, int part);
  const ir::Expr* magnitude(const ir::Expr* value, ir::Scalar type);
  struct Tests;
  bool testsOf(const ir::Expr& expr, bool always, Tests& tests) const;
  const ir::Expr* tableOfTests(const ir::Expr& expr);
  Value convertConstruct(const ir::Construct& construct, int part);
  Value convertVariable(const ir::Expr& expr, const ir::VarRef& ref, int part);
  Value load(const ir::Expr& expr, const ir::Access& access, int part);
  /// An element, or the lanes', read at most once; null: it cannot be shared.
  const ir::Expr* keptElement(const ir::Expr& expr, const ir::Access& access);
  const ir::Expr* alignedElements(const ir::Access& access, const ir::Type& type);
  std::optional<std::int64_t> placeInRow(const ir::Access& access);
  const ir::Expr* elementsInRow(const ir::Access& access, std::int64_t place, const ir::Type& type);
  const ir::Expr* keptOnMarch(const ir::Access& access, std::int64_t place,
                              const ir::Access& element, const ir::Type& type);
  void noteAligned(const ir::Access& access);
  const ir::Expr* placeBeside(const ir::Access& access, std::int64_t place, int lanes);
  const ir::Expr* componentsOf(const ir::Expr* vector, std::int64_t from, std::int64_t to);
  void elementsBeside(const ir::Access& access, std::int64_t from, std::int64_t to,
                      std::vector<const ir::Expr*>& elements);
  void storeLanes(ir::Block& out, const ir::Expr* place, const ir::Expr* value, bool streams);

  // Elements and variables that are vectors already: each component is a vector of its own.
  struct Target {
    const ir::Expr* base;
    /// The components of the base that are assigned.
    std::vector<std::uint8_t> parts;
  };
  Target targetOf(const ir::Expr& target) const;
  const std::vector<const ir::Variable*>& partsOf(const ir::Variable* variable);
  void declareParts(const ir::Declare& declare, ir::Block& out);
  void assignParts(const ir::Assign& assign, const ir::SourceLocation& where, const ir::Expr* mask);
  void storeParts(const Target& target, std::vector<const ir::Expr*> values,
                  const ir::SourceLocation& where, const ir::Expr* mask);
  /// All elements of the lanes as they lie in memory, cut into vectors of the lanes' number.
  std::vector<const ir::Expr*> chunksOf(const ir::Access& access, const ir::SourceLocation& where,
                                        std::string& key);
  const ir::Expr* partOf(const std::vector<const ir::Expr*>& chunks, const ir::Type& element,
                         int part);
  std::vector<const ir::Expr*> turned(const std::vector<const ir::Expr*>& chunks);
  std::vector<const ir::Expr*> partsOf(const std::vector<const ir::Expr*>& chunks,
                                       const ir::Type& element);
  std::vector<const ir::Expr*> woven(const std::vector<const ir::Expr*>& parts);
  std::vector<const ir::Expr*> elementsOf(const std::vector<const ir::Expr*>& parts,
                                          const ir::Type& chunk, const ir::Type& element, int lane);
  const ir::Expr* keep(const std::string& stem, const ir::Expr* value);
  Value loadPart(const ir::Expr& expr, const ir::Access& access, int part);
  /// Ascending ids of the lanes as integers of a type.
  Value counting(const ir::Expr& first);
  /// A copy of an expression that is the same in all lanes, or its value in the first lane.
  const ir::Expr* scalar(const ir::Expr& expr);
  const ir::Expr* scalarNode(const ir::Expr& expr);
  const ir::Expr* truthOf(const ir::Expr* condition);
  const ir::Expr* vector(const Value& value, ir::Scalar scalar);
  const ir::Expr* vector(const ir::Expr& expr) {
    return vector(convert(expr), storedScalar(expr.type));
  }
  const ir::Expr* mask(const Value& value);
  const ir::Expr* blend(const ir::Expr* mask, const ir::Expr* yes, const ir::Expr* no);
  const ir::Expr* splat(const ir::Expr* scalar, ir::Scalar type);
  /// The type of vectors of such lanes.
  ir::Type wide(ir::Scalar type) const;
  /// The type of the lanes of truth values.
  ir::Scalar truthLane() const;
  const ir::Expr* withoutBuiltin(const ir::BuiltinExpr& call);

  /// The access with its indices for this copy; the key is empty where it cannot be shared.
  ir::Access located(const ir::Access& access, int lanes, std::string& key);
  std::string positionOf(const ir::IndexForm& form) const;
  const ir::Expr* startInRing(const Tile& tile, const ir::Expr& index, const ir::IndexForm& form);
  const ir::Expr* distanceInTile(const Tile& tile, const ir::Access& access);
  /// Not known to be one of the cells that the tile holds.
  bool isOutside(const Tile& tile, const ir::Access& access);
  std::vector<ir::IndexForm> formsOf(const ir::Access& access);
  /// The element in its array's tile, if it has one that holds it.
  std::optional<ir::Access> tiled(const ir::Access& access, int lanes, std::string& key);
  /// The form of an index, when decided comparisons are taken as decided.
  ir::IndexForm formOf(const ir::Expr& index);
  const ir::Expr* id(int axis, std::int64_t offset = 0);
  std::int64_t distanceOf(std::size_t axis) const;
  const ir::Expr* decisiveOf(const ir::Expr& condition) const;
  bool cutsRows(const ir::Expr& condition) const;
  void requireInside(const ir::Access& access, const ir::SourceLocation& where);
  void requireInside(const ir::FlatIndex& flat, const ir::Expr* extent);
  void requireSameElement(const ir::Expr& element, const ir::Access& access) const;
  const ir::Variable* copyOf(const ir::Variable* variable);
  /// How far apart the elements lie that neighbours access.
  enum class Spacing {
    Same,
    Each,         ///< side by side
    EverySecond,  ///< a[2 * idx], or lanes of every second id
    InPairs       ///< a[idx / 2]: two neighbours access the same one
  };
  /// Throws Refused for all others.
  Spacing spacingOf(const ir::Access& access);
  /// Throws Refused unless neighbours access the same element or elements side by side. Whether it
  /// is the latter.
  bool liesInRow(const ir::Access& access);
  [[noreturn]] void refuseSpacing(const ir::Access& access) const;
  void requireFewLanes(const ir::Access& access) const;
  Value loadApart(const ir::Expr& expr, const ir::Access& access, Spacing spacing);
  /// The vectors that hold every second element: that of the first lane is the former's first one,
  /// that of the last lane the latter's last one.
  struct Pair {
    const ir::Expr* lowPlace;
    const ir::Expr* highPlace;
    const ir::Expr* low;
    const ir::Expr* high;
  };
  Pair pairAround(const ir::Access& access, const ir::Type& type);
  const ir::Expr* everySecond(const Pair& pair);
  /// Stores in place of every second element; those between them keep their values.
  void storeApart(const ir::Access& access, const ir::Expr* value, const ir::Expr* mask);
  const ir::Expr* inPairs(const ir::Access& access, const ir::Type& type);
  /// How much an index grows from one neighbour to the next, 0 to 2, where variables that are the
  /// same for all neighbours may be part of it; nothing when that is not known.
  std::optional<int> growth(const ir::Expr& index) const;
  /// The number that the index is half of; null: it is none that grows with the neighbours, or may
  /// be negative.
  const ir::Expr* doubleOf(const ir::Expr& index);
  /// The type of a scalar, or of the components of a vector.
  ir::Scalar storedScalar(const ir::Type& type) const;

  BodyContext& context_;
  Builder& builder_;
  const Variation& variation_;
  LoadTable& loads_;
  Place place_;
  std::unordered_map<const ir::Variable*, const ir::Variable*> copies_;
  std::unordered_map<const ir::Variable*, std::vector<const ir::Variable*>> parts_;
  /// A loop that neighbours leave at different times.
  struct MaskedLoop {
    /// The lanes that are still in the loop, and in this turn of it.
    const ir::Variable* live = nullptr;
    const ir::Variable* turn = nullptr;
    /// Those that got to the loop; null: all.
    const ir::Expr* entry = nullptr;
    /// Lanes leave it by its condition alone, which then stays false for them: nothing that they
    /// see changes any more. Compilers keep such truth values where they compare.
    bool endsByCondition = false;
    /// Those of the branches around the statement, within the loop.
    std::vector<const ir::Variable*> branches{};
  };
  /// The innermost loop, if it is one.
  MaskedLoop* maskedLoop_ = nullptr;
  /// The mask under which variables were declared.
  std::unordered_map<const ir::Variable*, const ir::Expr*> declaredUnder_;
  std::unordered_set<const ir::Expr*> settled_;
  ir::Block* out_ = nullptr;
  ir::Block* late_ = nullptr;
  /// The code may run in vain, for no lane that asked for it.
  bool speculative_ = false;
  /// The statement is executed for some lanes only.
  bool masked_ = false;
  /// Operands that C may skip: nothing may be computed ahead of them.
  bool lazy_ = false;
  ir::SourceLocation where_;
};

/// Sets a flag of a writer for as long as it lives.
class Flagged {
 public:
  Flagged(bool& flag, bool value) : flag_(flag), outer_(flag) { flag_ = flag_ || value; }
  ~Flagged() { flag_ = outer_; }
  Flagged(const Flagged&) = delete;
  Flagged& operator=(const Flagged&) = delete;

 private:
  bool& flag_;
  bool outer_;
};

}  // namespace hpl::strategies::detail
