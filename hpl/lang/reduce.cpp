// SPDX-License-Identifier: Apache-2.0
#include "hpl/lang/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hpl/error.h"
#include "hpl/lang/capture_state.h"
#include "hpl/lang/place.h"
#include "hpl/lang/work_items.h"

namespace hpl::detail {
namespace {

using Size = Expr<std::size_t>;

struct Operator {
  const char* name;
  bool isBuiltin;
  ir::BinaryOp op;
  ir::Builtin builtin;
};

const Operator& operatorNamed(const std::string& name) {
  using B = ir::BinaryOp;
  static const Operator kOperators[] = {{"+", false, B::Add, {}},
                                        {"*", false, B::Mul, {}},
                                        {"&", false, B::BitAnd, {}},
                                        {"|", false, B::BitOr, {}},
                                        {"^", false, B::BitXor, {}},
                                        {"&&", false, B::LogicalAnd, {}},
                                        {"||", false, B::LogicalOr, {}},
                                        {"max", true, {}, ir::Builtin::max_},
                                        {"min", true, {}, ir::Builtin::min_}};
  for (const Operator& op : kOperators)
    if (name == op.name) return op;
  throw KernelError("reduce: unknown operator \"" + name + "\"; use + * max min & | ^ && or ||");
}

Node combine(const Operator& op, const ir::Type& type, Node a, Node b) {
  if (op.isBuiltin) return builtinNode(op.builtin, type, {a, b});
  return convertNode(binaryNode(op.op, type, a, b), type);
}

/// Smallest or largest value of a type, as the neutral element of max or min.
Node extreme(const ir::Type& lane, bool largest) {
  if (lane.isFloating()) return constantNode(lane, 0, largest ? INFINITY : -INFINITY);
  const std::size_t bits = 8 * ir::sizeOf(lane);
  std::uint64_t value = largest ? ~std::uint64_t{0} : 0;
  if (lane.isSigned())
    value = largest ? (std::uint64_t{1} << (bits - 1)) - 1 : ~std::uint64_t{0} << (bits - 1);
  else if (largest && bits < 64)
    value = (std::uint64_t{1} << bits) - 1;
  return constantNode(lane, value, 0);
}

Node neutral(const Operator& op, const ir::Type& type) {
  const ir::Type lane = type.element();
  const auto number = [&](std::uint64_t bits, double real) {
    return constantNode(lane, bits, real);
  };
  Node value = number(0, 0);
  const std::string name = op.name;
  if (name == "*" || name == "&&") value = number(1, 1);
  if (name == "&")
    value = convertNode(constantNode(ir::Type{ir::Scalar::Long}, ~std::uint64_t{0}, 0), lane);
  if (name == "max") value = extreme(lane, false);
  if (name == "min") value = extreme(lane, true);
  return convertNode(value, type);
}

void checkPlan(const ReductionPlan& plan, const Operator& op) {
  if (plan.ndims < 1 || plan.ndims > 3) throw KernelError("reduce: ndims must be 1, 2 or 3");
  if (plan.groupSize < 0 || plan.minGroupSize < 1 || plan.nElems < 0 || plan.nTeams < 1)
    throw KernelError("reduce: groupSize, minGroupSize, nElems and nTeams must be positive");
  if (plan.unroll && plan.groupSize == 0)
    throw KernelError("reduce: unroll() needs the size of the group; add .groupSize(n)");
  if (plan.groupSize > 0 && plan.groupSize % plan.nTeams != 0)
    throw KernelError("reduce: nTeams(" + std::to_string(plan.nTeams) +
                      ") does not divide groupSize(" + std::to_string(plan.groupSize) + ")");
  if (plan.type.isStruct() ||
      (plan.type.complex && std::string(op.name) != "+" && std::string(op.name) != "*"))
    throw KernelError("reduce: operator \"" + plan.op + "\" does not apply to " +
                      ir::describe(plan.type));
  if (plan.localMem != nullptr && plan.localElements > 0)
    throw KernelError("reduce: localMem was given an array and a number of elements; give one");
  if (plan.localMem != nullptr && (plan.localMem->space != ir::Space::Local ||
                                   !(plan.localMem->type == plan.type) || plan.localMem->rank != 1))
    throw KernelError("reduce: localMem needs a 1-D local array of " + ir::describe(plan.type) +
                      ", or a host number of elements");
}

/// Records the demands that only launches can check, as they know the group.
void demandGroup(const ReductionPlan& plan) {
  ir::GroupDemand demand;
  demand.by = "reduce";
  demand.where = Capture::current().where();
  demand.dims = plan.ndims;
  demand.size = static_cast<std::size_t>(plan.groupSize);
  demand.teams = static_cast<std::size_t>(plan.nTeams);
  if (plan.localMem != nullptr && plan.localMem->paramIndex >= 0) demand.scratch = plan.localMem;
  Capture::current().demandGroup(demand);
}

/// The work-item's place among those that reduce together.
struct Place {
  Size flat;  ///< position in the group
  Size team;  ///< size of a team
  Size inTeam;
};

Size constant(std::size_t n) { return Size(constantNode(ir::Type{ir::Scalar::Ulong}, n, 0)); }

Size variable(const Size& value) {
  return Size(variableNode(
      declareVariable(ir::Type{ir::Scalar::Ulong}, ir::Space::Private, 0, nullptr, value.node())));
}

Place placeOf(const ReductionPlan& plan) {
  Size flat(lidx.node());
  Size size(lszx.node());
  if (plan.ndims == 2) {
    flat = lidx + lszx * lidy;
    size = lszx * lszy;
  } else if (plan.ndims == 3) {
    flat = lidx + lszx * (lidy + lszy * lidz);
    size = lszx * lszy * lszz;
  }
  if (plan.groupSize > 0) size = constant(static_cast<std::size_t>(plan.groupSize));
  const Size position = variable(flat);
  if (plan.nTeams == 1) return {position, plan.groupSize > 0 ? size : variable(size), position};
  const Size team = variable(size / static_cast<std::size_t>(plan.nTeams));
  return {position, team, variable(position % team)};
}

/// Elements of local memory that the work-items share, and whether there are as many as work-items.
struct Scratch {
  Symbol array = nullptr;
  std::size_t elements = 0;
  bool holdsGroup = true;
};

Scratch scratchFor(const ReductionPlan& plan) {
  const Capture& capture = Capture::current();
  const auto known = static_cast<std::size_t>(plan.groupSize);
  Scratch scratch;
  if (plan.localMem != nullptr) {
    scratch.array = plan.localMem;
    // The launch sees to local parameters: see demandGroup.
    if (plan.localMem->extents.empty()) return scratch;
    scratch.elements = static_cast<std::size_t>(plan.localMem->extents[0]);
  } else {
    std::int64_t size = plan.localElements;
    if (size == 0) size = known > 0 ? plan.groupSize : capture.groupCapacity(plan.type);
    scratch.array = declareVariable(plan.type, ir::Space::Local, 1, &size, nullptr);
    scratch.elements = static_cast<std::size_t>(size);
  }
  scratch.holdsGroup = scratch.elements >= (known > 0 ? known : capture.maxGroupSize());
  if (scratch.elements < static_cast<std::size_t>(plan.nTeams))
    throw KernelError("reduce: " + std::to_string(scratch.elements) +
                      " elements of local memory are too few for nTeams(" +
                      std::to_string(plan.nTeams) + "), which needs one per team");
  return scratch;
}

class Recorder {
 public:
  Recorder(const ReductionPlan& plan, const Operator& op)
      : plan_(plan),
        op_(op),
        place_(placeOf(plan)),
        scratch_(scratchFor(plan)),
        base_(place_.flat),
        count_(place_.team) {
    if (scratch_.holdsGroup) {
      if (plan.nTeams > 1) base_ = variable(place_.flat - place_.inTeam);
      return;
    }
    teamCells_ = scratch_.elements / static_cast<std::size_t>(plan.nTeams);
    const Size cells = constant(teamCells_);
    if (plan.nTeams > 1) base_ = variable((place_.flat / place_.team) * cells);
    count_ = variable(where(place_.team < cells, place_.team, cells));
  }

  void tree(Node value) {
    storeAll(value);
    if (plan_.unroll) {
      for (std::size_t step = firstStep(); step > 0; step /= 2) treeStep(constant(step));
      return;
    }
    // The first power of two that is not below the smallest group there can be.
    std::size_t least = 1;
    while (least < static_cast<std::size_t>(plan_.minGroupSize / plan_.nTeams)) least *= 2;
    Ref<std::size_t> step(variable(constant(least)).node());
    while_(step < count_) {
      step *= 2;
    }
    step /= 2;
    while_(step > 0) {
      treeStep(Size(step.node()));
      step /= 2;
    }
  }

  void inOrder(Node value) {
    if (!scratch_.holdsGroup) {
      inOrderByTurns(value);
      return;
    }
    storeAll(value);
    if_(place_.inTeam == 0) {
      Ref<std::size_t> k(variable(constant(1)).node());
      while_(k < place_.team) {
        accumulate(constant(0), cell(Size(k.node())));
        k += 1;
      }
    }
    barrierStatement(ir::kLocalFence);
  }

  void deliver(Node dest) {
    if (plan_.toAll) {
      assignNode(dest, cell(constant(0)));
    } else {
      if_(place_.inTeam == 0) {
        assignNode(dest, cell(constant(0)));
      }
    }
    if (plan_.syncReq) barrierStatement(ir::kLocalFence);
  }

 private:
  std::size_t firstStep() const {
    auto size = static_cast<std::size_t>(plan_.groupSize / plan_.nTeams);
    if (!scratch_.holdsGroup) size = std::min(size, teamCells_);
    std::size_t step = 1;
    while (step < size) step *= 2;
    return size > 1 ? step / 2 : 0;
  }

  /// The value that the work-item contributes: in a group that sticks out of the domain the surplus
  /// work-items hold the neutral element.
  Node contribution(Node value) const {
    auto active = idx < szx && idy < szy && idz < szz;
    const Node taken =
        plan_.nElems > 0 ? (active && place_.inTeam < static_cast<std::size_t>(plan_.nElems)).node()
                         : active.node();
    return selectNode(plan_.type, taken, value, neutral(op_, plan_.type));
  }

  Node privateCopy(Node value) const {
    return variableNode(declareVariable(plan_.type, ir::Space::Private, 0, nullptr, value));
  }

  /// The team's cell `k`.
  Node cell(const Size& k) const {
    const Node index = plan_.nTeams > 1 ? (base_ + k).node() : k.node();
    return accessNode(scratch_.array, &index, 1);
  }

  void accumulate(const Size& k, Node value) const {
    assignNode(cell(k), combine(op_, plan_.type, cell(k), value));
  }

  /// Every work-item's value is in the team's cells afterwards.
  void storeAll(Node value) const {
    if (scratch_.holdsGroup) {
      assignNode(cell(place_.inTeam), contribution(value));
      barrierStatement(ir::kLocalFence);
      return;
    }
    const Node mine = privateCopy(contribution(value));
    if_(place_.inTeam < teamCells_) {
      assignNode(cell(place_.inTeam), mine);
    }
    barrierStatement(ir::kLocalFence);
    Ref<std::size_t> first(variable(constant(teamCells_)).node());
    while_(first < place_.team) {
      if_(place_.inTeam >= first && place_.inTeam < first + teamCells_) {
        accumulate(place_.inTeam - first, mine);
      }
      barrierStatement(ir::kLocalFence);
      first += teamCells_;
    }
  }

  /// The first of the team combines what the others bring, turn by turn.
  void inOrderByTurns(Node value) const {
    const Node mine = privateCopy(contribution(value));
    const Node sum = privateCopy(mine);
    Ref<std::size_t> first(variable(constant(0)).node());
    while_(first < place_.team) {
      if_(place_.inTeam >= first && place_.inTeam < first + teamCells_) {
        assignNode(cell(place_.inTeam - first), mine);
      }
      barrierStatement(ir::kLocalFence);
      if_(place_.inTeam == 0) {
        // Its own value is in the sum already.
        Ref<std::size_t> k(variable(where(first == 0, constant(1), constant(0))).node());
        while_(k < teamCells_ && first + k < place_.team) {
          assignNode(sum, combine(op_, plan_.type, sum, cell(Size(k.node()))));
          k += 1;
        }
      }
      barrierStatement(ir::kLocalFence);
      first += teamCells_;
    }
    if_(place_.inTeam == 0) {
      assignNode(cell(constant(0)), sum);
    }
    barrierStatement(ir::kLocalFence);
  }

  void treeStep(const Size& step) const {
    if_(place_.inTeam < step && place_.inTeam + step < count_) {
      accumulate(place_.inTeam, cell(place_.inTeam + step));
    }
    barrierStatement(ir::kLocalFence);
  }

  const ReductionPlan& plan_;
  const Operator& op_;
  Place place_;
  Scratch scratch_;
  /// The team's first cell where there are several teams, and the number of cells that hold values
  /// before the tree.
  Size base_;
  Size count_;
  /// Where the group takes turns.
  std::size_t teamCells_ = 0;
};

}  // namespace

void throwNoLocalMemory(int n) {
  throw KernelError("reduce: localMem(" + std::to_string(n) +
                    ") leaves no local memory; give at least 1 element");
}

void recordReduction(const ReductionPlan& plan, Node dest, Node value) {
  const Operator& op = operatorNamed(plan.op);
  checkPlan(plan, op);
  demandGroup(plan);
  Recorder recorder(plan, op);
  if (plan.inTree) {
    recorder.tree(value);
  } else {
    recorder.inOrder(value);
  }
  recorder.deliver(dest);
}

}  // namespace hpl::detail
