// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/type.h"

#include <array>

namespace hpl::ir {
namespace {

struct ScalarInfo {
  const char* name;
  std::size_t size;
};

constexpr std::array<ScalarInfo, 13> kScalars{{{"void", 0},
                                               {"bool", 1},
                                               {"char", 1},
                                               {"uchar", 1},
                                               {"short", 2},
                                               {"ushort", 2},
                                               {"int", 4},
                                               {"uint", 4},
                                               {"long", 8},
                                               {"ulong", 8},
                                               {"half", 2},
                                               {"float", 4},
                                               {"double", 8}}};

const ScalarInfo& info(Scalar scalar) { return kScalars[static_cast<std::size_t>(scalar)]; }

}  // namespace

std::size_t sizeOf(Scalar scalar) { return info(scalar).size; }

std::size_t sizeOf(const Type& type) {
  if (type.isStruct()) return type.structure->size;
  if (type.complex) return 2 * sizeOf(type.scalar);
  return sizeOf(type.scalar) * (type.lanes == 3 ? 4 : type.lanes);
}

std::size_t alignmentOf(const Type& type) {
  return type.isStruct() ? type.structure->alignment : sizeOf(type);
}

std::string toString(const Type& type) {
  if (type.isStruct()) return type.structure->name;
  const int lanes = type.complex ? 2 : type.lanes;
  return info(type.scalar).name + (lanes > 1 ? std::to_string(lanes) : std::string());
}

std::string describe(const Type& type) {
  if (type.complex) return std::string("complex<") + info(type.scalar).name + ">";
  return toString(type);
}

}  // namespace hpl::ir
