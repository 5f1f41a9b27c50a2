// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// The types of the kernel IR: OpenCL C's scalars and vectors, complex numbers and registered
/// structs.
namespace hpl::ir {

/// Scalar kinds; sizes are OpenCL's (Long is 64 bits). `size_t` is Ulong.
enum class Scalar : std::uint8_t {
  Void,
  Bool,
  Char,
  Uchar,
  Short,
  Ushort,
  Int,
  Uint,
  Long,
  Ulong,
  Half,
  Float,
  Double
};

struct StructType;

/// A value type: a scalar, a vector of 2, 3, 4, 8 or 16 lanes, a complex number or a struct.
struct Type {
  Scalar scalar = Scalar::Void;
  std::uint8_t lanes = 1;
  /// std::complex<scalar>; lanes is 1.
  bool complex = false;
  /// Registered struct; scalar is Void. Struct types live for the whole program.
  const StructType* structure = nullptr;

  friend bool operator==(const Type&, const Type&) = default;

  constexpr bool isVoid() const { return scalar == Scalar::Void && structure == nullptr; }
  constexpr bool isStruct() const { return structure != nullptr; }
  constexpr bool isVector() const { return lanes > 1; }
  /// A plain scalar: neither vector, complex nor struct.
  constexpr bool isScalar() const {
    return lanes == 1 && !complex && structure == nullptr && scalar != Scalar::Void;
  }
  constexpr bool isFloating() const { return scalar >= Scalar::Half; }
  constexpr bool isInteger() const { return scalar >= Scalar::Bool && scalar <= Scalar::Ulong; }
  constexpr bool isIntegerScalar() const { return isScalar() && isInteger(); }
  constexpr bool isSigned() const {
    return scalar == Scalar::Char || scalar == Scalar::Short || scalar == Scalar::Int ||
           scalar == Scalar::Long || isFloating();
  }
  /// The same lanes with another scalar.
  constexpr Type withScalar(Scalar s) const { return Type{s, lanes, complex, structure}; }
  /// The scalar type of one lane (or of the real part of a complex number).
  constexpr Type element() const { return Type{scalar, 1, false, nullptr}; }
};

/// One field of a registered struct.
struct Field {
  std::string name;
  Type type;
  /// Byte offset in the host's struct, which the device's struct reproduces.
  std::size_t offset = 0;
};

/// A registered struct (API.md, `HPL_STRUCT`).
struct StructType {
  std::string name;
  std::vector<Field> fields;
  std::size_t size = 0;
  std::size_t alignment = 1;
};

/// The vector of all scalars of several elements as they lie in memory: 3-lane vectors occupy 4
/// lanes.
constexpr Type severalOf(const Type& element, int count) {
  const int lanes = element.lanes == 3 ? 4 : element.lanes;
  return Type{element.scalar, static_cast<std::uint8_t>(lanes * count)};
}

/// Size in bytes of one scalar.
std::size_t sizeOf(Scalar scalar);
/// Size in bytes as in device memory (3-lane vectors occupy 4 lanes).
std::size_t sizeOf(const Type& type);
/// Alignment in bytes as in device memory.
std::size_t alignmentOf(const Type& type);

/// OpenCL C's spelling: "float", "uint4", "float2" for complex<float>, the struct's name.
std::string toString(const Type& type);
/// Spelling that tells complex from vectors, for messages: "complex<float>".
std::string describe(const Type& type);

}  // namespace hpl::ir
