// SPDX-License-Identifier: Apache-2.0
#include "hpl/codegen/detail/own_functions.h"

#include <fmt/format.h>

namespace hpl::codegen::detail {
namespace {

using ir::Type;

/// Half vectors may be kept as bits, with which the kernel's own conversions deal.
bool isWritten(const Type& type) { return type.scalar != ir::Scalar::Half; }

std::string smoothstepOf(const std::string& name, const Type& edge, const Type& type) {
  const std::string t = ir::toString(type);
  return fmt::format(
      "{0} {1}(const {2} low, const {2} high, const {0} x) {{\n"
      "  const {0} t = clamp((x - low) / (high - low), ({0})(0), ({0})(1));\n"
      "  return t * t * (3 - 2 * t);\n}}\n\n",
      t, name, ir::toString(edge));
}

/// Gamma is negative between -1 and 0, -3 and -2, and so on.
std::string lgammaOf(const std::string& name, const Type& type, const Type& sign) {
  const std::string t = ir::toString(type);
  const std::string odd = fmt::format("fmod(floor(x), ({0})(2)) != ({0})(0)", t);
  const std::string found = type.lanes == 1
                                ? fmt::format("x < 0 && {} ? -1 : 1", odd)
                                : fmt::format("1 + 2 * convert_{}((x < ({})(0)) & ({}))",
                                              ir::toString(sign), t, odd);  // true is -1
  return fmt::format(
      "{0} {1}(const {0} x, {2}* const sign) {{\n"
      "  const {0} value = lgamma_r(x, sign);\n"
      "  *sign = {3};\n  return value;\n}}\n\n",
      t, name, ir::toString(sign), found);
}

/// The upper half of the sum of 128 bits tells whether the lower one is all of it.
std::string madSatOf(const std::string& name, const Type& type) {
  Type bits = type;
  bits.scalar = ir::Scalar::Ulong;
  return fmt::format(
      "{0} {1}(const {0} a, const {0} b, const {0} c) {{\n"
      "  const {2} product = as_{2}(a) * as_{2}(b);\n"
      "  const {2} low = product + as_{2}(c);\n"
      "  const {0} high = mul_hi(a, b) + ((low < product) ? ({0})(1) : ({0})(0)) + (c >> "
      "({0})(63));\n"
      "  return (high == (as_{0}(low) >> ({0})(63))) ? as_{0}(low) :\n"
      "      (high < ({0})(0)) ? ({0})(LONG_MIN) : ({0})(LONG_MAX);\n}}\n\n",
      ir::toString(type), name, ir::toString(bits));
}

}  // namespace

std::string functionFor(Session& session, const ir::BuiltinExpr& builtin) {
  const Type& type = builtin.args.back()->type;
  if (builtin.builtin == ir::Builtin::mad_sat_ && type.scalar == ir::Scalar::Long) {
    std::string name = "hpl_mad_sat_" + ir::toString(type);
    std::string& helper = session.ownFunctions[name];
    if (helper.empty()) helper = madSatOf(name, type);
    return name;
  }
  if (builtin.builtin != ir::Builtin::smoothstep_ || !isWritten(type))
    return std::string(ir::infoOf(builtin.builtin).name);
  const Type& edge = builtin.args.front()->type;
  std::string name = fmt::format("hpl_smoothstep_{}_{}", ir::toString(edge), ir::toString(type));
  std::string& helper = session.ownFunctions[name];
  if (helper.empty()) helper = smoothstepOf(name, edge, type);
  return name;
}

std::string functionFor(Session& session, const ir::BuiltinCall& call) {
  const Type& type = call.args.front()->type;
  if (call.builtin != ir::Builtin::lgamma_r_ || !isWritten(type))
    return std::string(ir::infoOf(call.builtin).name);
  std::string name = "hpl_lgamma_r_" + ir::toString(type);
  std::string& helper = session.ownFunctions[name];
  if (helper.empty()) helper = lgammaOf(name, type, call.out->type);
  return name;
}

}  // namespace hpl::codegen::detail
