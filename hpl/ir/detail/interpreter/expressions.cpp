// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "hpl/error.h"
#include "hpl/ir/detail/interpreter/compiler.h"
#include "hpl/ir/half.h"

/// Prepared forms of the expressions that are no plain operations on values.
namespace hpl::ir::detail {
namespace {

/// A value that is the same row of bytes whenever it is asked for: constants, ids.
class RowCode final : public ExprCode {
 public:
  RowCode(const Expr& expr, const std::byte* row) : ExprCode(expr.type, expr.where), row_(row) {}
  const std::byte* eval(Machine&, ConstMask) const override { return row_; }

 private:
  const std::byte* row_;
};

/// The variable behind `storage`, or some pieces of it.
class VariableCode final : public ExprCode {
 public:
  VariableCode(const Expr& expr, const Storage* storage, Pieces pieces, bool whole)
      : ExprCode(expr.type, expr.where),
        storage_(storage),
        pieces_(std::move(pieces)),
        whole_(whole) {}
  const std::byte* eval(Machine& machine, ConstMask active) const override {
    if (storage_->written != nullptr) check(machine, active);
    if (whole_) return storage_->data;
    std::byte* values = machine.newValues(size());
    for (std::int64_t i = 0; i < machine.width; ++i) {
      const std::byte* from = storage_->data + i * storage_->size;
      for (const Piece& piece : pieces_) {
        std::memcpy(values + i * size() + piece.valueOffset, from + piece.offset, piece.size);
      }
    }
    return values;
  }

 private:
  void check(const Machine& machine, ConstMask active) const {
    for (std::int64_t i = 0; i < machine.width; ++i) {
      if (active[i] == 0) continue;
      checkWritten(machine, storage_->written + i * storage_->size, pieces_,
                   storage_->variable->name, i, where());
    }
  }

  const Storage* storage_;
  Pieces pieces_;
  bool whole_;
};

class LoadCode final : public ExprCode {
 public:
  LoadCode(const Expr& expr, AccessCode access, Pieces pieces)
      : ExprCode(expr.type, expr.where), access_(std::move(access)), pieces_(std::move(pieces)) {}
  const std::byte* eval(Machine& machine, ConstMask active) const override {
    std::byte* values = machine.newValues(size());
    load(machine, locate(machine, active, access_), pieces_, values, size());
    return values;
  }

 private:
  AccessCode access_;
  Pieces pieces_;
};

/// The misalignment of an element's address, as if the array's first one had address 0.
class MisalignmentCode final : public ExprCode {
 public:
  MisalignmentCode(const Expr& expr, AccessCode place, std::int64_t bytes)
      : ExprCode(expr.type, expr.where), place_(std::move(place)), bytes_(bytes) {}
  const std::byte* eval(Machine& machine, ConstMask active) const override {
    std::byte* values = machine.newValues(size());
    std::vector<Pointer> places(static_cast<std::size_t>(machine.width));
    locateUnchecked(machine, active, place_, places.data());
    for (std::int64_t i = 0; i < machine.width; ++i) {
      if (active[i] == 0) continue;
      const Pointer& place = places[static_cast<std::size_t>(i)];
      const std::int64_t rest = place.offset * place.memory->elementSize % bytes_;
      const auto exceeds = static_cast<std::uint64_t>(rest < 0 ? rest + bytes_ : rest);
      std::memcpy(values + i * size(), &exceeds, sizeof exceeds);
    }
    return values;
  }

 private:
  AccessCode place_;
  std::int64_t bytes_;
};

/// Component or member of a value that is in no variable.
class PartCode final : public ExprCode {
 public:
  PartCode(const Expr& expr, ExprPtr base, Pieces pieces)
      : ExprCode(expr.type, expr.where), base_(std::move(base)), pieces_(std::move(pieces)) {}
  const std::byte* eval(Machine& machine, ConstMask active) const override {
    const std::byte* from = base_->eval(machine, active);
    std::byte* values = machine.newValues(size());
    for (std::int64_t i = 0; i < machine.width; ++i) {
      for (const Piece& piece : pieces_) {
        std::memcpy(values + i * size() + piece.valueOffset,
                    from + i * base_->size() + piece.offset, piece.size);
      }
    }
    return values;
  }

 private:
  ExprPtr base_;
  Pieces pieces_;
};

/// A value put together from others; pieces_[k] says where the k-th argument's bytes go.
class ConstructCode final : public ExprCode {
 public:
  ConstructCode(const Expr& expr, std::vector<ExprPtr> args, Pieces pieces)
      : ExprCode(expr.type, expr.where), args_(std::move(args)), pieces_(std::move(pieces)) {}
  const std::byte* eval(Machine& machine, ConstMask active) const override {
    std::byte* values = machine.newValues(size());
    // Padding and the fourth of three lanes: defined, whatever they hold.
    std::memset(values, 0, static_cast<std::size_t>(machine.width * size()));
    for (std::size_t k = 0; k < args_.size(); ++k) {
      const std::byte* from = args_[k]->eval(machine, active);
      for (std::int64_t i = 0; i < machine.width; ++i) {
        std::memcpy(values + i * size() + pieces_[k].valueOffset, from + i * args_[k]->size(),
                    pieces_[k].size);
      }
    }
    return values;
  }

 private:
  std::vector<ExprPtr> args_;
  Pieces pieces_;
};

template <class T>
void testLanes(const std::byte* values, std::int64_t width, ConstMask active, Mask yes) {
  const T* from = reinterpret_cast<const T*>(values);
  for (std::int64_t i = 0; i < width; ++i) {
    yes[i] = static_cast<std::uint8_t>(active[i] != 0 && from[i] != 0 ? 1 : 0);
  }
}

/// `a && b`, `a || b` on scalars: b is evaluated only where a does not decide.
class ShortCircuitCode final : public ExprCode {
 public:
  ShortCircuitCode(const Expr& expr, bool isAnd, ExprPtr left, ExprPtr right)
      : ExprCode(expr.type, expr.where),
        isAnd_(isAnd),
        left_(std::move(left)),
        right_(std::move(right)) {}
  const std::byte* eval(Machine& machine, ConstMask active) const override {
    auto* result = reinterpret_cast<std::int32_t*>(machine.newValues(size()));
    Mask left = machine.newMask();
    evalCondition(machine, *left_, active, left);
    Mask undecided = machine.newMask();
    for (std::int64_t i = 0; i < machine.width; ++i) {
      undecided[i] = static_cast<std::uint8_t>(active[i] & (isAnd_ ? left[i] : left[i] ^ 1));
      result[i] = left[i];
    }
    if (!machine.any(undecided)) return reinterpret_cast<std::byte*>(result);
    Mask right = machine.newMask();
    evalCondition(machine, *right_, undecided, right);
    for (std::int64_t i = 0; i < machine.width; ++i) {
      if (undecided[i] != 0) result[i] = right[i];
    }
    return reinterpret_cast<std::byte*>(result);
  }

 private:
  bool isAnd_;
  ExprPtr left_;
  ExprPtr right_;
};

/// `c ? a : b` with a scalar condition: each work-item evaluates one branch.
class ChooseCode final : public ExprCode {
 public:
  ChooseCode(const Expr& expr, ExprPtr condition, ExprPtr yes, ExprPtr no)
      : ExprCode(expr.type, expr.where),
        condition_(std::move(condition)),
        yes_(std::move(yes)),
        no_(std::move(no)) {}
  const std::byte* eval(Machine& machine, ConstMask active) const override {
    Mask yes = machine.newMask();
    evalCondition(machine, *condition_, active, yes);
    Mask no = machine.newMask();
    for (std::int64_t i = 0; i < machine.width; ++i) {
      no[i] = static_cast<std::uint8_t>(active[i] & (yes[i] ^ 1));
    }
    if (!machine.any(no)) return yes_->eval(machine, active);
    if (!machine.any(yes)) return no_->eval(machine, active);
    const std::byte* ifYes = yes_->eval(machine, yes);
    const std::byte* ifNo = no_->eval(machine, no);
    std::byte* result = machine.newValues(size());
    for (std::int64_t i = 0; i < machine.width; ++i) {
      std::memcpy(result + i * size(), (yes[i] != 0 ? ifYes : ifNo) + i * size(),
                  static_cast<std::size_t>(size()));
    }
    return result;
  }

 private:
  ExprPtr condition_;
  ExprPtr yes_;
  ExprPtr no_;
};

/// One lane's bytes of a literal.
void encode(const Constant& constant, Scalar scalar, std::byte* to) {
  switch (scalar) {
    case Scalar::Half: {
      const std::uint16_t bits = doubleToHalf(constant.real);
      std::memcpy(to, &bits, sizeof(bits));
      return;
    }
    case Scalar::Float: {
      const auto value = static_cast<float>(constant.real);
      std::memcpy(to, &value, sizeof(value));
      return;
    }
    case Scalar::Double:
      std::memcpy(to, &constant.real, sizeof(double));
      return;
    case Scalar::Bool:
      *to = static_cast<std::byte>(constant.bits != 0 ? 1 : 0);
      return;
    default:
      // Little-endian: the low bytes are the value in any narrower type.
      std::memcpy(to, &constant.bits, sizeOf(scalar));
  }
}

std::uint32_t offsetOf(const Type& vector, std::uint8_t lane) {
  return static_cast<std::uint32_t>(lane * sizeOf(vector.scalar));
}

}  // namespace

void evalCondition(Machine& machine, const ExprCode& condition, ConstMask active, Mask yes) {
  const std::byte* values = condition.eval(machine, active);
  const std::int64_t width = machine.width;
  switch (condition.type().scalar) {
    case Scalar::Float:
      return testLanes<float>(values, width, active, yes);
    case Scalar::Double:
      return testLanes<double>(values, width, active, yes);
    case Scalar::Half:
      // Everything but the sign of zero.
      for (std::int64_t i = 0; i < width; ++i) {
        const unsigned bits = reinterpret_cast<const std::uint16_t*>(values)[i];
        yes[i] = static_cast<std::uint8_t>(active[i] != 0 && (bits & 0x7fffu) != 0 ? 1 : 0);
      }
      return;
    default:
      break;
  }
  switch (condition.size()) {
    case 1:
      return testLanes<std::uint8_t>(values, width, active, yes);
    case 2:
      return testLanes<std::uint16_t>(values, width, active, yes);
    case 4:
      return testLanes<std::uint32_t>(values, width, active, yes);
    default:
      return testLanes<std::uint64_t>(values, width, active, yes);
  }
}

Pieces wholePieces(const Type& type) {
  if (!type.isStruct()) {
    const std::size_t lanes = type.complex ? 2 : type.lanes;
    return {Piece{0, 0, static_cast<std::uint32_t>(lanes * sizeOf(type.scalar))}};
  }
  Pieces pieces;
  for (const Field& field : type.structure->fields) {
    for (Piece piece : wholePieces(field.type)) {
      piece.offset += static_cast<std::uint32_t>(field.offset);
      piece.valueOffset = piece.offset;
      // Neighbours without padding in between are one piece.
      if (!pieces.empty() && pieces.back().offset + pieces.back().size == piece.offset) {
        pieces.back().size += piece.size;
      } else {
        pieces.push_back(piece);
      }
    }
  }
  return pieces;
}

Place Compiler::place(const Expr& expr) const {
  if (const auto* member = expr.as<Member>()) {
    Place inner = place(*member->base);
    require(member->base->type.isStruct() &&
                member->field < member->base->type.structure->fields.size(),
            "member of something that has no such field", expr.where);
    const Field& field = member->base->type.structure->fields[member->field];
    inner.origin += static_cast<std::uint32_t>(field.offset);
    inner.pieces = wholePieces(field.type);
    for (Piece& piece : inner.pieces) piece.offset += inner.origin;
    return inner;
  }
  const auto* component = expr.as<Component>();
  if (component == nullptr) return Place{&expr, wholePieces(expr.type), 0};
  const Type& vector = component->base->type;
  const int lanes = vector.complex ? 2 : vector.lanes;
  Place inner = place(*component->base);
  const auto size = static_cast<std::uint32_t>(sizeOf(vector.scalar));
  Pieces pieces;
  for (const std::uint8_t lane : component->lanes) {
    require(lane < lanes && !vector.isStruct(), "component that the value does not have",
            expr.where);
    // The base is one piece, or, when it is a selection of lanes itself, one piece per lane.
    const bool selection = inner.pieces.size() > 1;
    const std::uint32_t offset =
        selection ? inner.pieces[lane].offset : inner.origin + offsetOf(vector, lane);
    pieces.push_back(Piece{offset, static_cast<std::uint32_t>(pieces.size()) * size, size});
  }
  require(expr.type.scalar == vector.scalar && expr.type.lanes == component->lanes.size(),
          "components whose type does not match", expr.where);
  inner.origin = pieces.empty() ? 0 : pieces.front().offset;
  inner.pieces = std::move(pieces);
  return inner;
}

ExprPtr Compiler::part(const Expr& expr) {
  Place where = place(expr);
  const auto* variable = where.root->as<VarRef>();
  if (variable != nullptr && variable->variable->space == Space::Private) {
    return std::make_unique<VariableCode>(expr, storageOf(variable->variable),
                                          std::move(where.pieces), false);
  }
  if (variable != nullptr || where.root->as<Access>() != nullptr) {
    return std::make_unique<LoadCode>(expr, access(*where.root), std::move(where.pieces));
  }
  return std::make_unique<PartCode>(expr, this->expr(*where.root), std::move(where.pieces));
}

ExprPtr Compiler::make(const Expr& expr, const Constant& node) {
  require(!expr.type.isVoid() && !expr.type.isStruct(), "literal of a type that has none",
          expr.where);
  const auto size = static_cast<std::int64_t>(sizeOf(expr.type));
  const auto lane = static_cast<std::int64_t>(sizeOf(expr.type.scalar));
  std::byte* row = storages_.newRow(size);
  const std::int64_t bytes = storages_.width() * size;
  std::memset(row, 0, static_cast<std::size_t>(bytes));
  // A complex literal is real; a vector one has the same value in all lanes.
  for (std::int64_t at = 0; at < bytes; at += expr.type.complex ? size : lane) {
    encode(node, expr.type.scalar, row + at);
  }
  return std::make_unique<RowCode>(expr, row);
}

ExprPtr Compiler::make(const Expr& expr, const VarRef& node) {
  require(node.variable->rank == 0 && node.variable->type == expr.type,
          "reference to a variable that is no scalar of this type", expr.where);
  if (node.variable->space != Space::Private) {
    return std::make_unique<LoadCode>(expr, access(expr), wholePieces(expr.type));
  }
  return std::make_unique<VariableCode>(expr, storageOf(node.variable), wholePieces(expr.type),
                                        true);
}

ExprPtr Compiler::make(const Expr& expr, const Access& node) {
  Type type = node.array->type;
  if (node.lanes > 1) type = severalOf(type, node.lanes);
  require(type == expr.type, "access whose type is not the array's", expr.where);
  AccessCode code = access(expr);
  // Several neighbours at once: surplus work-items never load them.
  if (surplusLoads_ != nullptr && node.lanes == 1) code.surplusAxes = surplusLoads_->axesOf(node);
  return std::make_unique<LoadCode>(expr, std::move(code), wholePieces(expr.type));
}

ExprPtr Compiler::make(const Expr& expr, const Misalignment& node) {
  return std::make_unique<MisalignmentCode>(expr, access(node.place, expr.where), node.bytes);
}

ExprPtr Compiler::make(const Expr& expr, const ArrayRef&) {
  malformed("a whole array is only an argument of a call", expr.where);
}

ExprPtr Compiler::make(const Expr& expr, const WorkItem& node) {
  require(expr.type == Type{Scalar::Ulong} && node.dim < 3, "work-item query of a wrong type",
          expr.where);
  return std::make_unique<RowCode>(expr, storages_.idRow(node.query, node.dim));
}

ExprPtr Compiler::make(const Expr& expr, const Binary& node) {
  ExprPtr left = this->expr(*node.left);
  ExprPtr right = this->expr(*node.right);
  const bool shift = node.op == BinaryOp::Shl || node.op == BinaryOp::Shr;
  const bool logical = node.op == BinaryOp::LogicalAnd || node.op == BinaryOp::LogicalOr;
  if (logical && left->type().isScalar() && right->type().isScalar()) {
    require(expr.type == Type{Scalar::Int}, "logical operator whose result is not int", expr.where);
    return std::make_unique<ShortCircuitCode>(expr, node.op == BinaryOp::LogicalAnd,
                                              std::move(left), std::move(right));
  }
  if (shift && left->type().isVector() && right->type().isScalar()) {
    right = splatCode(std::move(right), left->type());
  }
  require(shift ? left->type().lanes == right->type().lanes : left->type() == right->type(),
          "operands of different types", expr.where);
  const Type operand = left->type();
  if (isPredicate(node.op)) {
    const Scalar wanted = operand.isVector() ? expr.type.scalar : Scalar::Int;
    require(expr.type.scalar == wanted && expr.type.lanes == operand.lanes &&
                expr.type.isInteger() &&
                (!operand.isVector() || sizeOf(wanted) == sizeOf(operand.scalar)),
            "comparison whose result is no int", expr.where);
  } else {
    require(expr.type == operand, "operator whose result has not its operands' type", expr.where);
  }
  Shape shape{expr.type, {operand, right->type()}};
  std::vector<ExprPtr> args;
  args.push_back(std::move(left));
  args.push_back(std::move(right));
  return apply(expr, findBinary(node.op, shape), shape, std::move(args), toString(node.op));
}

ExprPtr Compiler::make(const Expr& expr, const Select& node) {
  ExprPtr condition = this->expr(*node.condition);
  ExprPtr yes = this->expr(*node.yes);
  ExprPtr no = this->expr(*node.no);
  require(yes->type() == expr.type && no->type() == expr.type, "branches of different types",
          expr.where);
  if (condition->type().isScalar()) {
    return std::make_unique<ChooseCode>(expr, std::move(condition), std::move(yes), std::move(no));
  }
  Shape shape{expr.type, {condition->type(), expr.type, expr.type}};
  std::vector<ExprPtr> args;
  args.push_back(std::move(condition));
  args.push_back(std::move(yes));
  args.push_back(std::move(no));
  return apply(expr, findVectorSelect(shape), shape, std::move(args), "?:");
}

ExprPtr Compiler::make(const Expr& expr, const Component&) { return part(expr); }
ExprPtr Compiler::make(const Expr& expr, const Member&) { return part(expr); }

ExprPtr Compiler::make(const Expr& expr, const Construct& node) {
  const Type& type = expr.type;
  std::vector<ExprPtr> args;
  Pieces pieces;
  std::size_t offset = 0;
  for (std::size_t k = 0; k < node.args.size(); ++k) {
    args.push_back(this->expr(*node.args[k]));
    const Type& part = args.back()->type();
    if (type.isStruct()) {
      require(k < type.structure->fields.size() && type.structure->fields[k].type == part,
              "struct put together from other types than its fields'", expr.where);
      offset = type.structure->fields[k].offset;
    } else {
      require(part.scalar == type.scalar && !part.isStruct(),
              "vector put together from other types", expr.where);
    }
    const std::size_t size =
        part.isStruct() ? sizeOf(part) : sizeOf(part.scalar) * (part.complex ? 2 : part.lanes);
    pieces.push_back(
        Piece{0, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)});
    offset += size;
  }
  if (args.size() == 1 && type.isVector() && args[0]->type().isScalar()) {
    return splatCode(std::move(args[0]), type);
  }
  const std::size_t wanted = (type.complex ? 2 : type.lanes) * sizeOf(type.scalar);
  require(type.isStruct() ? args.size() == type.structure->fields.size() : offset == wanted,
          "value put together from too few or too many parts", expr.where);
  return std::make_unique<ConstructCode>(expr, std::move(args), std::move(pieces));
}

}  // namespace hpl::ir::detail
