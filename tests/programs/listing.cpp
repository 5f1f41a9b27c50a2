// SPDX-License-Identifier: Apache-2.0
// Programs as their readers would write them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "program.h"

namespace programs {

namespace {

std::string viewOf(int a, const Box& box, const Program& program) {
  if (box == program.whole) return fmt::format("a{}", a);
  return fmt::format("a{}({})", a, show(box, program.dims));
}

std::string annotated(int a, const std::vector<Cut>& cuts, bool sync, const Program& program) {
  std::string name = "PART", overlaps;
  for (const Cut& cut : cuts) {
    name += std::to_string(cut.dim - (3 - program.dims) + 1);
    overlaps += fmt::format(", {}", cut.before);
  }
  if (cuts.size() == 1) overlaps += fmt::format(", {}", cuts[0].after);
  return fmt::format("{}(a{}{}{})", name, a, overlaps, sync ? ", AUTO_SYNC" : "");
}

std::string scalar(const Scalar& s, int a) {
  if (s.extent > 0) return fmt::format("a{}.part({})", a, s.extent);
  if (s.values.empty()) return std::to_string(s.value);
  return fmt::format("std::vector<int>{{{}}}", fmt::join(s.values, ", "));
}

std::string launcher(const Op& op) {
  std::string text = fmt::format("eval({})", nameOf(op.work));
  if (op.kind == Kind::OnOne) return text + fmt::format(".device(ANY, {})", op.devices.front());
  text += op.listed ? fmt::format(".devices(list {{{}}})", fmt::join(op.devices, ", "))
                    : fmt::format(".devices({})", op.devices.size());
  if (!op.weights.empty()) text += fmt::format(".weights({{{}}})", fmt::join(op.weights, ", "));
  return text;
}

std::string launch(const Op& op, const Program& program) {
  std::string text = launcher(op) + "(";
  if (op.kind == Kind::OnParts) {
    text += annotated(op.a, op.cuts, op.autoSync, program);
    if (hasInput(op.work)) text += ", " + annotated(op.b, op.inCuts, op.inAutoSync, program);
  } else {
    text += viewOf(op.a, op.box, program);
    if (hasInput(op.work)) text += ", " + viewOf(op.b, op.from, program);
  }
  return text + fmt::format(", {}, {});", scalar(op.c, op.a), scalar(op.d, op.a));
}

}  // namespace

std::string show(const Cost& cost) {
  return fmt::format("{} bytes to devices, {} from them, {} between them, {} launches", cost.in,
                     cost.out, cost.across, cost.launches);
}

std::string show(const Op& op, const Program& program) {
  const std::string view = viewOf(op.a, op.box, program);
  switch (op.kind) {
    case Kind::Read:
      return fmt::format("read {};", view);
    case Kind::ReadCell:
      return fmt::format("read the cell {};", view);
    case Kind::WriteCells:
      return fmt::format("write cells of {};  // seed {}", view, op.seed);
    case Kind::Overwrite:
      return fmt::format("a{}.copyFrom(...);  // seed {}", op.a, op.seed);
    case Kind::Data:
      return fmt::format("all of a{}.data({}) = ...;  // seed {}", op.a,
                         op.seed % 2 ? "HPL_WR" : "HPL_RDWR", op.seed);
    case Kind::Fill:
      return fmt::format("{} = {};", view, op.value);
    case Kind::Assign:
      return fmt::format("{} = {};", view, viewOf(op.b, op.from, program));
    case Kind::Sync:
      return fmt::format("a{}.syncGhosts();", op.a);
    case Kind::Swap:
      return fmt::format("swap(a{}, a{});", op.a, op.b);
    case Kind::PartFill:
      return fmt::format("cells of a part of a{} = {};", op.a, op.value);
    case Kind::PartCopy:
      return fmt::format("cells of a part of a{} = cells of a part of a{};", op.a, op.b);
    default:
      return launch(op, program);
  }
}

std::string showHead(const Program& program) {
  const Point& n = program.whole.hi;
  return fmt::format("// seed {}: {} x {} x {} cells, {} dimensions{}{}{}\n", program.seed, n[0],
                     n[1], n[2], program.dims, program.userMemory ? ", user memory" : "",
                     program.checked ? ", HPL_CHECK=ghosts" : "",
                     program.overlaps ? ", HPL_OVERLAP=on" : "");
}

}  // namespace programs
