// SPDX-License-Identifier: Apache-2.0
#include "stencil_support.h"

#include <doctest/doctest.h>

using namespace hpl;

namespace stencil_tests {
namespace {

Boundary computedBoundary(int dims) {
  if (dims == 1) return Computed([](Int x) { return 7 + 3 * x; });
  if (dims == 2) return Computed([](Int y, Int x) { return 7 - 10 * y + 3 * x; });
  return Computed([](Int z, Int y, Int x) { return 7 + 100 * z - 10 * y + 3 * x; });
}

}  // namespace

Boundary boundaryOf(const FaceRule& rule, int dims) {
  switch (rule.kind) {
    case Kind::Fixed:
      return Fixed(rule.value);
    case Kind::Nearest:
      return Nearest();
    case Kind::Mirror:
      return Mirror();
    case Kind::MirrorOdd:
      return MirrorOdd();
    case Kind::Periodic:
      return Periodic();
    case Kind::Computed:
      return computedBoundary(dims);
    default:
      return Untouched();
  }
}

void setRules(Stencil& stencil, const Rules& rules, int dims, int input) {
  constexpr Face kFaces[3][2] = {
      {Face::FRONT, Face::BACK}, {Face::UP, Face::DOWN}, {Face::LEFT, Face::RIGHT}};
  for (std::size_t d = static_cast<std::size_t>(3 - dims); d < 3; ++d) {
    for (std::size_t side = 0; side < 2; ++side) {
      const Boundary boundary = boundaryOf(rules[d][side], dims);
      if (input == 0) {
        stencil.boundary(kFaces[d][side], boundary);
      } else {
        stencil.boundary(input, kFaces[d][side], boundary);
      }
    }
  }
}

std::string describe(const Rules& rules, int dims) {
  constexpr const char* kNames[] = {"untouched", "fixed",    "nearest", "mirror",
                                    "odd",       "periodic", "computed"};
  std::string text;
  for (std::size_t d = static_cast<std::size_t>(3 - dims); d < 3; ++d)
    for (const FaceRule& rule : rules[d])
      text += kNames[static_cast<int>(rule.kind)] + std::string(" ");
  return text;
}

int deviceCount() { return getDeviceNumber(defaultDevice().type()); }

void expectMessage(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    CAPTURE(message);
    CAPTURE(part);
    CHECK(message.find(part) != std::string::npos);
  }
}

}  // namespace stencil_tests
