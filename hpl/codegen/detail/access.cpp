// SPDX-License-Identifier: Apache-2.0
// Elements of arrays: addresses, loads, checks and masks.
#include <cstdint>

#include "hpl/codegen/detail/types.h"
#include "hpl/codegen/detail/writer.h"
#include "hpl/error.h"
#include "hpl/ir/walk.h"

namespace hpl::codegen::detail {

using ir::Expr;
using ir::Scalar;
using ir::Space;
using ir::Type;
using ir::Variable;

namespace {

bool isZero(const Expr& expr) {
  const auto* cast = expr.as<ir::Cast>();
  if (cast != nullptr && cast->operand->type.isInteger()) return isZero(*cast->operand);
  const auto* constant = expr.as<ir::Constant>();
  return constant != nullptr && constant->bits == 0;
}

// Additions that C may regroup without changing the position modulo 2^64.
bool mayJoinSum(const Type& type) {
  return type.scalar == Scalar::Int || type.scalar == Scalar::Long || type.scalar == Scalar::Ulong;
}

std::string halfSuffix(const Type& type) {
  return type.isVector() ? std::to_string(static_cast<int>(type.lanes)) : std::string();
}

// 3-lane vectors occupy four lanes in memory, as the "a" forms of the conversions assume.
const char* halfPrefix(const Type& type, bool isLoad) {
  if (type.lanes == 3) return isLoad ? "vloada_half" : "vstorea_half";
  return isLoad ? "vload_half" : "vstore_half";
}

}  // namespace

bool FunctionWriter::isConvertedHalf(const Variable& array) const {
  return array.type.scalar == Scalar::Half && session_.convertsHalf();
}

// An index as a term of a position; conversions to 64 bits happen by themselves.
int FunctionWriter::term(const Expr& index, int least) {
  const auto* cast = index.as<ir::Cast>();
  const bool widens = cast != nullptr && cast->operand->type.isScalar() &&
                      cast->operand->type.isInteger() &&
                      (index.type.scalar == Scalar::Long || index.type.scalar == Scalar::Ulong);
  const Expr& shown = widens ? *cast->operand : index;
  const bool joins = least > kAdditive || mayJoinSum(shown.type);
  const std::size_t begin = out_.size();
  const int own = write(shown);
  if (own >= least && (joins || own > kAdditive)) return own;
  out_.insert(begin, 1, '(');
  out_ += ')';
  return kPostfix;
}

bool FunctionWriter::writtenIndices(const ir::Access& access, int site) {
  for (std::size_t d = 0; d < access.written.size(); ++d) {
    if (d > 0) out_ += " && ";
    out_ += "hpl_inside(hpl_error, " + std::to_string(site + 1) + ", " + std::to_string(d) + ", ";
    term(*access.written[d], kTernary);
    out_ +=
        ", " + std::to_string(access.array->viewExtents[d]) + ", " + names(access.array).id + ')';
  }
  return !access.written.empty();
}

void FunctionWriter::checkedIndex(const ir::Access& access, std::size_t dimension, int site,
                                  std::string_view helper) {
  const VariableNames& array = names(access.array);
  out_ += helper;
  out_ += "(hpl_error, " + std::to_string(site + 1) + ", " + std::to_string(dimension) + ", ";
  const bool alias = access.array->role == ir::Role::Alias;
  if (alias) out_ += array.position + " + ";
  term(*access.indices[dimension], alias ? kMultiplicative : kTernary);
  out_ += ", " + (alias ? array.span : array.extents[dimension]) + ", " + array.id + ')';
}

// Positions that are known here are written as one number.
bool FunctionWriter::constantIndex(const ir::Access& access) {
  const std::vector<std::int64_t>& extents = access.array->extents;
  if (extents.empty()) return false;
  std::int64_t position = 0;
  for (std::size_t d = 0; d < access.indices.size(); ++d) {
    const Expr* index = access.indices[d];
    while (const auto* cast = index->as<ir::Cast>()) index = cast->operand;
    const auto* constant = index->as<ir::Constant>();
    if (constant == nullptr || !index->type.isInteger() || constant->bits > INT32_MAX) return false;
    position = position * extents[d] + static_cast<std::int64_t>(constant->bits);
  }
  appendInteger(out_, position);
  return true;
}

/// Arrays whose indices count from their first element, as those of parts that functions get and
/// of aliases need not.
bool FunctionWriter::isNarrow(const Variable& array) const {
  return session_.options.narrowPlaces && !session_.options.checkBounds && isKernel_ &&
         array.rank > 1 && array.role != ir::Role::Alias && array.space != Space::Private;
}

namespace {

/// The index less a number that is added to it, and the number; null: it is a number.
const Expr* withoutOffset(const Expr& index, std::int64_t& offset) {
  const Expr* base = &index;
  for (;;) {
    const auto* cast = base->as<ir::Cast>();
    const auto* sum = base->as<ir::Binary>();
    const auto* constant = base->as<ir::Constant>();
    if (constant != nullptr && base->type.isInteger()) {
      offset += static_cast<std::int64_t>(constant->bits);
      return nullptr;
    }
    if (cast != nullptr && ir::sizeOf(base->type) == 8 && cast->operand->type.isScalar() &&
        cast->operand->type.isInteger() && ir::sizeOf(cast->operand->type) == 8) {
      base = cast->operand;
      continue;
    }
    const bool isSum = sum != nullptr && ir::sizeOf(base->type) == 8 &&
                       (sum->op == ir::BinaryOp::Add || sum->op == ir::BinaryOp::Sub);
    const auto* number = isSum ? sum->right->as<ir::Constant>() : nullptr;
    if (number == nullptr) return base;
    const auto value = static_cast<std::int64_t>(number->bits);
    offset += sum->op == ir::BinaryOp::Add ? value : -value;
    base = sum->left;
  }
}

}  // namespace

/// The place that all accesses of a work-item begin at, in 32 bits, and the way from there, which
/// is the same for all work-items: compilers find both again and add them for little. Signed, so
/// that they need not think of what wraps around.
int FunctionWriter::narrowIndex(const ir::Access& access) {
  const VariableNames& array = names(access.array);
  const std::size_t rank = access.indices.size();
  const std::size_t begin = out_.size();
  std::string way;
  bool isSum = false;
  for (std::size_t d = 0; d < rank; ++d) {
    std::int64_t offset = 0;
    const Expr* base = withoutOffset(*access.indices[d], offset);
    const bool last = d + 1 == rank;
    if (offset != 0) {
      const std::uint64_t count = offset < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(offset)
                                             : static_cast<std::uint64_t>(offset);
      way += offset < 0 ? " - " : " + ";
      if (last || count != 1) way += std::to_string(count);
      if (!last) way += std::string(count != 1 ? " * " : "") + "(long)" + array.strides[d];
    }
    if (base == nullptr) continue;
    if (out_.size() > begin) {
      out_ += " + ";
      isSum = true;
    }
    out_ += "(int)";
    term(*base, kUnary);
    if (last) continue;
    out_ += " * (int)" + array.strides[d];
    isSum = true;
  }
  if (out_.size() == begin) {
    out_ += '0' + way;
    return kAdditive;
  }
  if (way.empty()) return isSum ? kAdditive : kUnary;
  // The way is far shorter than 64 bits, but addresses have them.
  if (isSum) {
    out_.insert(begin, "(long)(");
    out_ += ')';
  }
  out_ += way;
  return kAdditive;
}

int FunctionWriter::linearIndex(const ir::Access& access, int site) {
  if (site < 0 && constantIndex(access)) return kPostfix;
  if (isNarrow(*access.array)) return narrowIndex(access);
  const VariableNames& array = names(access.array);
  const std::size_t rank = access.indices.size();
  if (site >= 0 && writtenIndices(access, site)) {
    out_ += " ? ";
    linearIndex(access, -1);
    out_ += " : 0";
    return kTernary;
  }
  int precedence = kPostfix;
  bool first = true;
  for (std::size_t d = 0; d < rank; ++d) {
    const bool last = d + 1 == rank;
    if (site < 0 && isZero(*access.indices[d]) && !(last && first)) continue;
    if (!first) out_ += " + ";
    if (site >= 0) {
      checkedIndex(access, d, site, "hpl_index");
    } else {
      precedence = term(*access.indices[d], last ? kAdditive : kMultiplicative);
    }
    if (!last) out_ += " * " + array.strides[d];
    if (!last) precedence = kMultiplicative;
    if (!first) precedence = kAdditive;
    first = false;
  }
  if (site >= 0 && access.array->role == ir::Role::Alias) {
    out_ += " - " + array.position;
    precedence = kAdditive;
  }
  return precedence;
}

bool FunctionWriter::isNested(const Variable& array) const {
  return array.extents.size() >= 2 && !session_.options.checkBounds && !isConvertedHalf(array);
}

bool FunctionWriter::isNestedHere(const Variable& array) const {
  return isNested(array) && (isKernel_ || array.space != Space::Local);
}

void FunctionWriter::firstElement(const Variable& array) {
  const bool nested = isNestedHere(array);
  if (nested) out_ += '&';
  out_ += names(&array).name;
  for (std::size_t d = 0; nested && d < array.extents.size(); ++d) out_ += "[0]";
}

void FunctionWriter::subscript(const ir::Access& access, int site) {
  if (!isNestedHere(*access.array)) {
    out_ += '[';
    linearIndex(access, site);
    out_ += ']';
    return;
  }
  for (const Expr* index : access.indices) {
    out_ += '[';
    term(*index, kAdditive);
    out_ += ']';
  }
}

int FunctionWriter::place(const Expr& expr) {
  if (const auto* access = expr.as<ir::Access>()) {
    if (isConvertedHalf(*access->array)) {
      out_ += std::string("((") + spaceQualifier(access->array->space) +
              storedType(access->array->type, false) + "*)" + names(access->array).name + ')';
    } else {
      arrayOf(*access);
    }
    subscript(*access, -1);
    return kPostfix;
  }
  const auto* component = expr.as<ir::Component>();
  const auto* member = expr.as<ir::Member>();
  if (component == nullptr && member == nullptr) return write(expr);
  const Expr& base = component != nullptr ? *component->base : *member->base;
  const std::size_t begin = out_.size();
  if (place(base) < kPostfix) {
    out_.insert(begin, 1, '(');
    out_ += ')';
  }
  if (member != nullptr) {
    out_ += '.' + fieldName(*base.type.structure, member->field);
    return kPostfix;
  }
  const bool named = base.type.complex || base.type.lanes <= 4;
  out_ += named ? "." : ".s";
  for (const std::uint8_t lane : component->lanes) {
    out_ += named ? "xyzw"[lane & 3] : "0123456789abcdef"[lane & 15];
  }
  return kPostfix;
}

void FunctionWriter::arrayOf(const ir::Access& access) {
  const Variable& array = *access.array;
  if (!access.isVolatile) {
    out_ += names(&array).name;
    return;
  }
  out_ += std::string("((volatile ") + spaceQualifier(array.space) +
          (array.readOnly ? "const " : "") + storedType(array.type, session_.options.hasHalf) +
          "*)" + names(&array).name + ')';
}

int FunctionWriter::load(const Expr& expr, const ir::Access& access) {
  const Variable& array = *access.array;
  const bool masked = isMasked() && isShared(array);
  const int site = session_.options.checkBounds ? addSite(access, expr.where, false) : -1;
  if (masked) {
    out_ += '(';
    loadCondition(access);
    out_ += " ? ";
  }
  int precedence = kPostfix;
  if (isConvertedHalf(array)) {
    out_ += halfPrefix(array.type, true) + halfSuffix(array.type) + '(';
    linearIndex(access, site);
    out_ += ", " + halfPointer(array) + ')';
  } else if (access.lanes > 1) {
    severalElements(access);
    precedence = kUnary;
  } else {
    arrayOf(access);
    subscript(access, site);
    if (array.type.scalar == Scalar::Bool) {
      out_ += " != 0";
      precedence = kEquality;
    }
  }
  if (!masked) return precedence;
  out_ += " : " + zero(array.type) + ')';
  return kPostfix;
}

void FunctionWriter::loadCondition(const ir::Access& access) {
  out_ += "hpl_on";
  const unsigned all = session_.guardedAxes();
  const unsigned axes = session_.surplusLoads.axesOf(access) & all;
  if (!session_.loadsBeyond || axes == all || access.lanes > 1) return;
  out_ += " || (";
  if (axes != 0) {
    const std::string bits = std::to_string(axes) + 'u';
    out_ += "(hpl_in & " + bits + ") == " + bits + " && ";
  }
  for (std::size_t d = 0; d < access.indices.size(); ++d) {
    if (d > 0) out_ += " && ";
    out_ += "(ulong)(";
    write(*access.indices[d]);
    out_ += ") < " + names(access.array).extents[d];
  }
  out_ += ')';
}

// Elements that are accessed together, through a pointer to vectors with the alignment of an
// element: PoCL makes of vload and vstore code that is half as fast.
void FunctionWriter::severalElements(const ir::Access& access) {
  out_ += '*';
  pointerToSeveral(access);
}

void FunctionWriter::pointerToSeveral(const ir::Access& access) {
  const Type wide = ir::severalOf(access.array->type, access.lanes);
  const std::string plain = spell(wide);
  if (!access.isAligned) session_.unaligned[unalignedName(wide)] = wide;
  out_ += std::string(access.isVolatile ? "(volatile " : "(") +
          spaceQualifier(access.array->space) + (access.array->readOnly ? "const " : "") +
          (access.isAligned ? plain : unalignedName(wide)) + "*)";
  if (isNestedHere(*access.array)) {
    out_ += '&' + names(access.array).name;
    subscript(access, -1);
    return;
  }
  out_ += '(' + names(access.array).name + " + ";
  linearIndex(access, -1);
  out_ += ')';
}

int FunctionWriter::addSite(const ir::Access& access, const ir::SourceLocation& where, bool write) {
  const Variable& array = *access.array;
  AccessSite site;
  site.array = array.name;
  site.function = function_.name;
  site.param = isKernel_ ? array.paramIndex : -1;
  site.rank = array.rank;
  site.write = write;
  site.alias = array.role == ir::Role::Alias;
  site.view = !access.written.empty();
  site.where = where.file != nullptr ? where : where_;
  session_.sites.push_back(std::move(site));
  return static_cast<int>(session_.sites.size()) - 1;
}

bool FunctionWriter::needsPredicate(const Expr& target, bool isAtomic) const {
  const Variable& root = *rootOf(target);
  if (session_.masked && (isAtomic || isShared(root))) return true;
  return session_.options.checkBounds && accessOf(target) != nullptr;
}

bool FunctionWriter::predicate(const Expr& target, bool isAtomic) {
  if (!needsPredicate(target, isAtomic)) return false;
  out_ += "if (";
  bool first = true;
  if (session_.masked && (isAtomic || isShared(*rootOf(target)))) {
    out_ += "hpl_on";
    first = false;
    predicated_ = true;
  }
  const ir::Access* access = accessOf(target);
  if (session_.options.checkBounds && access != nullptr) {
    const int site = addSite(*access, target.where, true);
    if (!first && !access->written.empty()) out_ += " && ";
    const std::size_t boxDims = writtenIndices(*access, site) ? 0 : access->indices.size();
    for (std::size_t d = 0; d < boxDims; ++d) {
      if (!first) out_ += " && ";
      first = false;
      checkedIndex(*access, d, site, "hpl_inside");
    }
  }
  out_ += ") ";
  return true;
}

void FunctionWriter::halfStore(const ir::Access& access, const Expr& value) {
  const Type& type = access.array->type;
  out_ += halfPrefix(type, false) + halfSuffix(type) + '(';
  // The store rounds by itself.
  const auto* cast = value.as<ir::Cast>();
  const Type single = type.withScalar(Scalar::Float);
  const bool rounds = cast != nullptr && type.isScalar() && value.type.scalar == Scalar::Half;
  const Expr& source = rounds ? *cast->operand : value;
  if (typeInC(source) == single) {
    operand(source, kTernary);
  } else {
    scalarCast(single, source);
  }
  out_ += ", ";
  linearIndex(access, -1);
  out_ += ", " + halfPointer(*access.array) + ')';
}

bool FunctionWriter::isHalfBits(const Expr& place) const {
  if (place.type.scalar != Scalar::Half || !session_.convertsHalf()) return false;
  if (place.as<ir::Member>() != nullptr) return true;
  if (const auto* access = place.as<ir::Access>()) return isConvertedHalf(*access->array);
  const auto* component = place.as<ir::Component>();
  return component != nullptr && isHalfBits(*component->base);
}

std::string FunctionWriter::halfPointer(const Variable& array) const {
  const std::string& name = names(&array).name;
  // Declared arrays are arrays of ushort.
  if (array.role != ir::Role::Declared) return name;
  return std::string("(") + spaceQualifier(array.space) + "half*)" + name;
}

void FunctionWriter::addressOf(const Expr& target) {
  const auto* access = target.as<ir::Access>();
  const auto* ref = target.as<ir::VarRef>();
  if (ref != nullptr && names(ref->variable).isPointer) {
    out_ += names(ref->variable).name;
    return;
  }
  if (access == nullptr || !isConvertedHalf(*access->array)) {
    out_ += '&';
    place(target);
    return;
  }
  // Elements of a converted half array cannot be named; a vector takes several of them.
  const Type& type = access->array->type;
  const int lanes = type.lanes == 3 ? 4 : type.lanes;
  out_ += halfPointer(*access->array) + " + ";
  if (lanes > 1) out_ += std::to_string(lanes) + " * ";
  out_ += '(';
  linearIndex(*access, -1);
  out_ += ')';
}

// With checks: how many elements the memory behind an array spans.
void FunctionWriter::arraySpan(const Variable& array) {
  const VariableNames& own = names(&array);
  if (array.role == ir::Role::Alias) {
    out_ += own.span;
    return;
  }
  const std::size_t last = own.extents.size() - 1;
  for (std::size_t d = 0; d < last; ++d) {
    out_ += '(' + own.extents[d] + " - 1) * " + own.strides[d] + " + ";
  }
  out_ += own.extents[last];
}

// With checks: position, span and parameter of what an alias is bound to.
void FunctionWriter::bindingDetails(const ir::Access& target, const VariableNames& alias) {
  const VariableNames& base = names(target.array);
  out_ += ' ' + alias.position + " = ";
  if (target.array->role == ir::Role::Alias) out_ += base.position + " + (";
  linearIndex(target, -1);
  if (target.array->role == ir::Role::Alias) out_ += ')';
  out_ += "; " + alias.span + " = ";
  arraySpan(*target.array);
  out_ += "; " + alias.id + " = " + base.id + ';';
}

}  // namespace hpl::codegen::detail
