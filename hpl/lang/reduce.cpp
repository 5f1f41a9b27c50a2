// SPDX-License-Identifier: Apache-2.0
#include "hpl/lang/reduce.h"

#include <cmath>
#include <limits>

#include "hpl/error.h"
#include "hpl/lang/detail/capture_state.h"
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
  if (plan.localMem != nullptr && (plan.localMem->space != ir::Space::Local ||
                                   !(plan.localMem->type == plan.type) || plan.localMem->rank != 1))
    throw KernelError("reduce: localMem needs a 1-D local array of " + ir::describe(plan.type));
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

class Recorder {
 public:
  Recorder(const ReductionPlan& plan, const Operator& op)
      : plan_(plan), op_(op), place_(placeOf(plan)), memory_(localMemory()) {}

  void store(Node value) {
    // In a group that sticks out of the domain the surplus work-items hold the neutral element.
    auto active = idx < szx && idy < szy && idz < szz;
    const Size& inTeam = place_.inTeam;
    const Node taken = plan_.nElems > 0
                           ? (active && inTeam < static_cast<std::size_t>(plan_.nElems)).node()
                           : active.node();
    assignNode(cell(place_.flat), selectNode(plan_.type, taken, value, neutral(op_, plan_.type)));
    barrierStatement(ir::kLocalFence);
  }

  void tree() {
    if (plan_.unroll) {
      for (std::size_t step = firstStep(static_cast<std::size_t>(plan_.groupSize / plan_.nTeams));
           step > 0; step /= 2)
        treeStep(constant(step));
      return;
    }
    // The first power of two that is not below the smallest group there can be.
    std::size_t least = 1;
    while (least < static_cast<std::size_t>(plan_.minGroupSize / plan_.nTeams)) least *= 2;
    Ref<std::size_t> step(variable(constant(least)).node());
    while_(step < place_.team) {
      step *= 2;
    }
    step /= 2;
    while_(step > 0) {
      treeStep(Size(step.node()));
      step /= 2;
    }
  }

  void inOrder() {
    if_(place_.inTeam == 0) {
      Ref<std::size_t> k(variable(constant(1)).node());
      while_(k < place_.team) {
        assignNode(cell(place_.flat),
                   combine(op_, plan_.type, cell(place_.flat), cell(place_.flat + k)));
        k += 1;
      }
    }
    barrierStatement(ir::kLocalFence);
  }

  void deliver(Node dest) {
    if (plan_.toAll) {
      assignNode(dest, cell(place_.flat - place_.inTeam));
    } else {
      if_(place_.inTeam == 0) {
        assignNode(dest, cell(place_.flat));
      }
    }
    if (plan_.syncReq) barrierStatement(ir::kLocalFence);
  }

 private:
  static std::size_t firstStep(std::size_t size) {
    std::size_t step = 1;
    while (step < size) step *= 2;
    return size > 1 ? step / 2 : 0;
  }

  Symbol localMemory() const {
    if (plan_.localMem != nullptr) return plan_.localMem;
    const std::int64_t size =
        plan_.groupSize > 0 ? plan_.groupSize : Capture::current().groupCapacity(plan_.type);
    return declareVariable(plan_.type, ir::Space::Local, 1, &size, nullptr);
  }

  Node cell(const Size& position) const {
    const Node index = position.node();
    return accessNode(memory_, &index, 1);
  }

  void treeStep(const Size& step) {
    if_(place_.inTeam < step && place_.inTeam + step < place_.team) {
      assignNode(cell(place_.flat),
                 combine(op_, plan_.type, cell(place_.flat), cell(place_.flat + step)));
    }
    barrierStatement(ir::kLocalFence);
  }

  const ReductionPlan& plan_;
  const Operator& op_;
  Place place_;
  Symbol memory_;
};

}  // namespace

void recordReduction(const ReductionPlan& plan, Node dest, Node value) {
  const Operator& op = operatorNamed(plan.op);
  checkPlan(plan, op);
  Recorder recorder(plan, op);
  recorder.store(value);
  if (plan.inTree) {
    recorder.tree();
  } else {
    recorder.inOrder();
  }
  recorder.deliver(dest);
}

}  // namespace hpl::detail
