// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/describe.h"

#include <fmt/format.h>

namespace hpl::coherence {

namespace {

const char* nameOf(Why why) {
  switch (why) {
    case Why::Exchange:
      return "exchange";
    case Why::Save:
      return "the only copy, before a part overwrites it";
    case Why::Contents:
      return "contents";
    case Why::Assign:
      return "assignment";
  }
  return "";
}

const Root& rootOf(int operand, std::span<const Root> roots) {
  return roots[static_cast<std::size_t>(operand)];
}

std::string sourceOf(const Transfer& transfer, std::span<const Root> roots) {
  std::string text;
  if (transfer.fromOperand != transfer.toOperand)
    text += fmt::format(" {}", rootOf(transfer.fromOperand, roots).describe());
  const geometry::Box source = transfer.source();
  if (source != transfer.target) text += fmt::format(" {}", source.toString());
  if (transfer.read == Value::OfPart) text += " as its part has it";
  return text;
}

void appendRegion(std::string& text, const char* name, const geometry::Region& cells) {
  if (!cells.empty()) text += fmt::format(", {} {}", name, cells.toString());
}

}  // namespace

std::size_t bytesOf(const Transfer& transfer, std::span<const Root> roots) {
  return static_cast<std::size_t>(transfer.target.volume()) *
         rootOf(transfer.toOperand, roots).elementSize;
}

std::string describe(const TransferList& transfers, const Machine& machine,
                     std::span<const Root> roots) {
  std::string text;
  for (const Transfer transfer : transfers) {
    text += fmt::format(
        "{}: {}{} -> {}{}: {}, {} bytes, {}\n", rootOf(transfer.toOperand, roots).describe(),
        machine.describe(transfer.from), sourceOf(transfer, roots), machine.describe(transfer.to),
        transfer.written == Value::OfPart ? " as its part" : "", transfer.target.toString(),
        bytesOf(transfer, roots), nameOf(transfer.why));
  }
  return text;
}

std::string describe(const State& state, const Machine& machine) {
  std::string text = state.root().describe() + "\n";
  for (SpaceId space = 0; space < state.spaceCount(); ++space) {
    const Copies copies = state.copiesOf(space);
    if (copies.empty()) continue;
    std::string what;
    appendRegion(what, "current", copies.current);
    appendRegion(what, "kept", copies.kept);
    appendRegion(what, "trusted", copies.trusted);
    text += fmt::format("  {}:{}\n", machine.describe(space), what.substr(1));
  }
  if (const DistributionPtr& active = state.active()) {
    for (int part = 0; part < active->partCount(); ++part) {
      text +=
          fmt::format("  {} part {} on {}: {} of {}\n",
                      active->origin() == Distribution::Origin::Explicit ? "explicit" : "annotated",
                      part, machine.describe(active->spaceOf(part)),
                      active->coreOf(part).toString(), active->fullOf(part).toString());
    }
  }
  for (const LostCells& lost : state.lost())
    text += fmt::format("  lost: {}, because {}\n", lost.cells.toString(), lost.why);
  return text;
}

}  // namespace hpl::coherence
