// SPDX-License-Identifier: Apache-2.0
#include "hpl/codegen/detail/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "hpl/codegen/detail/names.h"

namespace hpl::codegen::detail {
namespace {

using ir::Scalar;
using ir::Type;

template <class Real>
void appendDecimal(std::string& out, Real value, const char* suffix) {
  const std::size_t begin = out.size();
  // The shortest decimal that reads back as the same value.
  fmt::format_to(std::back_inserter(out), "{}", value);
  if (out.find_first_of(".e", begin) == std::string::npos) out += ".0";
  out += suffix;
}

void appendFloat(std::string& out, float value) {
  if (std::isfinite(value)) return appendDecimal(out, value, "f");
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  fmt::format_to(std::back_inserter(out), "as_float(0x{:x}u)", bits);
}

void appendDouble(std::string& out, double value) {
  if (std::isfinite(value)) return appendDecimal(out, value, "");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  fmt::format_to(std::back_inserter(out), "as_double(0x{:x}UL)", bits);
}

void appendSigned(std::string& out, std::int64_t value, Scalar scalar) {
  if (scalar == Scalar::Long) {
    // C has no negative literals: the magnitude of the smallest number does not fit its type.
    if (value == INT64_MIN) {
      out += "(-9223372036854775807L - 1)";
    } else {
      fmt::format_to(std::back_inserter(out), "{}L", value);
    }
  } else if (value == INT32_MIN) {
    out += "(-2147483647 - 1)";
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

}  // namespace

Type promoted(const Type& type) {
  if (!type.isScalar()) return type;
  switch (type.scalar) {
    case Scalar::Bool:
    case Scalar::Char:
    case Scalar::Uchar:
    case Scalar::Short:
    case Scalar::Ushort:
      return Type{Scalar::Int};
    default:
      return type;
  }
}

Type commonType(const Type& a, const Type& b) {
  const Type left = promoted(a);
  const Type right = promoted(b);
  // The enumerators are in the order of C's conversion ranks from Int on.
  return left.scalar >= right.scalar ? left : right;
}

int valueBits(Scalar scalar) {
  if (scalar == Scalar::Bool) return 1;
  const Type type{scalar};
  return static_cast<int>(8 * ir::sizeOf(scalar)) - (type.isSigned() ? 1 : 0);
}

void appendInteger(std::string& out, std::int64_t value) {
  appendSigned(out, value, value < INT32_MIN || value > INT32_MAX ? Scalar::Long : Scalar::Int);
}

void appendLiteral(std::string& out, const ir::Constant& value, Scalar scalar, bool hasHalf) {
  switch (scalar) {
    case Scalar::Void:
      return;
    case Scalar::Bool:
      out += value.bits != 0 ? "true" : "false";
      return;
    case Scalar::Char:
    case Scalar::Short:
    case Scalar::Int:
    case Scalar::Long:
      return appendSigned(out, static_cast<std::int64_t>(value.bits), scalar);
    case Scalar::Uchar:
    case Scalar::Ushort:
      fmt::format_to(std::back_inserter(out), "{}", value.bits);
      return;
    case Scalar::Uint:
      fmt::format_to(std::back_inserter(out), "{}u", value.bits);
      return;
    case Scalar::Ulong:
      fmt::format_to(std::back_inserter(out), "{}UL", value.bits);
      return;
    case Scalar::Half:
      if (hasHalf) out += "(half)";
      return appendFloat(out, static_cast<float>(value.real));
    case Scalar::Float:
      return appendFloat(out, static_cast<float>(value.real));
    case Scalar::Double:
      return appendDouble(out, value.real);
  }
}

std::string structName(const ir::StructType& type) {
  std::string name = toIdentifier(type.name);
  if (isReserved(name)) name = isReserved(name + '_') ? "s_" + name : name + '_';
  return name;
}

std::string fieldName(const ir::StructType& type, std::size_t field) {
  std::string name = toIdentifier(type.fields[field].name);
  // Members have their own name space in C; only keywords and macros could collide.
  if (isReserved(name)) name += '_';
  return name;
}

std::string valueType(const Type& type) {
  return type.isStruct() ? structName(*type.structure) : ir::toString(type);
}

std::string memoryType(const Type& type, bool hasHalf) {
  if (type.scalar == Scalar::Bool) return ir::toString(type.withScalar(Scalar::Uchar));
  // vload_half and vstore_half take pointers to half, whatever the number of lanes.
  if (type.scalar == Scalar::Half && !hasHalf) return "half";
  return valueType(type);
}

const char* spaceQualifier(ir::Space space) {
  switch (space) {
    case ir::Space::Local:
      return "__local ";
    case ir::Space::Global:
      return "__global ";
    case ir::Space::Constant:
      return "__constant ";
    case ir::Space::Private:
      break;
  }
  return "";
}

std::string storedType(const Type& type, bool hasHalf) {
  if (type.scalar != Scalar::Half || hasHalf) return memoryType(type, true);
  return valueType(type.withScalar(Scalar::Ushort));
}

namespace {

// Size and alignment as OpenCL C lays the type out by itself.
std::size_t naturalAlignment(const Type& type) {
  return type.isStruct() ? type.structure->alignment : ir::alignmentOf(type);
}

std::size_t roundUp(std::size_t value, std::size_t unit) {
  return unit == 0 ? value : (value + unit - 1) / unit * unit;
}

bool hasNaturalLayout(const ir::StructType& type) {
  std::size_t end = 0;
  std::size_t alignment = 1;
  for (const ir::Field& field : type.fields) {
    const std::size_t unit = naturalAlignment(field.type);
    if (roundUp(end, unit) != field.offset) return false;
    end = field.offset + ir::sizeOf(field.type);
    alignment = std::max(alignment, unit);
  }
  return alignment == type.alignment && roundUp(end, alignment) == type.size;
}

void appendPadding(std::string& out, std::size_t bytes, int& count) {
  if (bytes == 0) return;
  fmt::format_to(std::back_inserter(out), "  uchar hpl_padding{}[{}];\n", count++, bytes);
}

}  // namespace

std::string structTypedef(const ir::StructType& type, bool hasHalf) {
  const bool natural = hasNaturalLayout(type);
  std::string out = "typedef struct ";
  if (!natural) {
    fmt::format_to(std::back_inserter(out), "__attribute__((packed, aligned({}))) ",
                   type.alignment);
  }
  out += "{\n";
  std::size_t end = 0;
  int paddings = 0;
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    const ir::Field& field = type.fields[i];
    if (!natural) appendPadding(out, field.offset - end, paddings);
    fmt::format_to(std::back_inserter(out), "  {} {};\n", storedType(field.type, hasHalf),
                   fieldName(type, i));
    end = field.offset + ir::sizeOf(field.type);
  }
  if (!natural) appendPadding(out, type.size - end, paddings);
  return out + "} " + structName(type) + ";\n";
}

}  // namespace hpl::codegen::detail
