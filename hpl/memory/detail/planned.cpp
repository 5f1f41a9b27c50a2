// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/planned.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "hpl/coherence/describe.h"
#include "hpl/memory/planned_launch.h"

namespace hpl::memory::detail {

using coherence::Step;
using coherence::StepPtr;
using coherence::Transfer;
using dry_run::Books;
using Kind = dry_run::Operation::Kind;

namespace {

/// The cells of an array that a device would hold: Replica without a buffer.
struct Holding {
  Box box;
  bool mayShrink = false;
};

struct Planned {
  std::unordered_map<SpaceId, Holding> holdings;
  std::string writer;  // the kernel that wrote the array last
};

// By root.
std::unordered_map<const RootState*, Planned>& planned() {
  static auto* all = new std::unordered_map<const RootState*, Planned>;
  return *all;
}

LaunchStep& launchStep() {
  static auto* step = new LaunchStep;
  return *step;
}

std::int64_t bytesOf(const RootState& root, const Box& box) {
  return box.rank() == 0 ? 0 : box.volume() * static_cast<std::int64_t>(root.root.elementSize());
}

// The rules of placeOwn().
void hold(Books& books, const RootState& root, const StatePtr& before, SpaceId space,
          const Box& need, bool isPart) {
  Holding& holding = planned()[&root].holdings[space];
  const Box old = holding.box;
  if (old.rank() == 0 || old == need) {
    holding = {need, false};
  } else if (isPart && holding.mayShrink) {
    const coherence::Copies copies = before->copiesOf(space);
    const bool isEnough =
        need.contains(copies.current.boundingBox()) && need.contains(copies.kept.boundingBox());
    if (isEnough) {
      holding.box = need;
    } else if (!old.contains(need)) {
      holding.box = hull(old, need);
    }
  } else if (!old.contains(need)) {
    if (!isPart) holding.mayShrink = false;
    holding.box = hull(old, need);
  }
  if (!(holding.box == old))
    books.occupy(space - 1, bytesOf(root, holding.box) - bytesOf(root, old));
}

// The part that a transfer of a part's own values has to leave room for.
Box needOf(const StatePtr& before, SpaceId space, const Box& cells, Value value) {
  const coherence::Distribution* active = before->active().get();
  if (value == Value::OfArray || active == nullptr) return cells;
  const int part = active->partOn(space, cells);
  return part < 0 ? cells : active->fullOf(part);
}

// The array is cut anew: buffers may shrink to the new parts.
void cutAnew(const RootState& root, const StatePtr& before, const StatePtr& after) {
  if (before->active() == after->active()) return;
  const coherence::Distribution* active = after->active().get();
  for (auto& [space, holding] : planned()[&root].holdings) {
    const int part = active != nullptr ? active->partOn(space, holding.box) : -1;
    holding.mayShrink = part < 0 || !(active->fullOf(part) == holding.box);
  }
}

Kind kindOf(const coherence::Operation& operation) {
  const coherence::Operation::Kind& kind = operation.kind();
  if (std::holds_alternative<coherence::Exchange>(kind)) return Kind::Exchange;
  if (std::holds_alternative<coherence::Copy>(kind)) return Kind::Assignment;
  if (std::holds_alternative<coherence::Fill>(kind)) return Kind::Fill;
  if (std::holds_alternative<coherence::HostRead>(kind)) return Kind::HostRead;
  if (std::holds_alternative<coherence::HostWrite>(kind)) return Kind::HostWrite;
  if (std::holds_alternative<coherence::Launch>(kind)) return Kind::Launch;
  return Kind::ArrayEnd;
}

void holdEnds(Books& books, const Step& step, std::span<RootState* const> roots,
              std::span<const StatePtr> before) {
  for (const Transfer transfer : step.transfers) {
    const auto from = static_cast<std::size_t>(transfer.fromOperand);
    const auto to = static_cast<std::size_t>(transfer.toOperand);
    if (transfer.from != kHosts)
      hold(books, *roots[from], before[from], transfer.from,
           needOf(before[from], transfer.from, transfer.source(), transfer.read), false);
    if (transfer.to != kHosts)
      hold(books, *roots[to], before[to], transfer.to,
           needOf(before[to], transfer.to, transfer.target, transfer.written), false);
  }
}

// A fill computes where it takes place.
void addFill(dry_run::Operation& noted, const coherence::Operation& operation, const Step& step,
             const RootState& root, Books& books) {
  const auto* fill = std::get_if<coherence::Fill>(&operation.kind());
  if (fill == nullptr || step.site == kHosts) return;
  const Box& cells = fill->to.box;
  const bool isPart = step.written == Value::OfPart;
  hold(books, root, root.known, step.site, needOf(root.known, step.site, cells, step.written),
       isPart);
  noted.works.push_back({step.site - 1, static_cast<double>(bytesOf(root, cells)), 0, false});
  noted.written = {0};
}

std::uint64_t numberOfRoot(const RootState& root) {
  return static_cast<std::uint64_t>(root.states.root().number);
}

std::vector<dry_run::Message> messagesIn(const Step& step, std::span<RootState* const> roots) {
  std::vector<dry_run::Message> messages;
  messages.reserve(step.transfers.size());
  for (const Transfer transfer : step.transfers) {
    const RootState& root = *roots[static_cast<std::size_t>(transfer.toOperand)];
    messages.push_back({transfer.from - 1, transfer.to - 1, transfer.fromOperand,
                        static_cast<std::uint64_t>(bytesOf(root, transfer.target))});
  }
  return messages;
}

}  // namespace

void noteStep(Books& books, std::span<RootState* const> roots,
              const coherence::Operation& operation, const StepPtr& step) {
  std::vector<StatePtr> before;
  for (const RootState* root : roots) before.push_back(root->known);
  const Kind kind = kindOf(operation);
  if (kind == Kind::Launch) {
    LaunchStep& launch = launchStep() = {step, {}, std::move(before)};
    for (const RootState* root : roots) launch.roots.push_back(&root->root);
    return;
  }
  dry_run::Operation noted;
  noted.kind = kind;
  noted.name = roots[0]->root.describe();
  noted.messages = messagesIn(*step, roots);
  holdEnds(books, *step, roots, before);
  addFill(noted, operation, *step, *roots[0], books);
  for (std::size_t i = 0; i < roots.size(); ++i) cutAnew(*roots[i], before[i], step->after[i]);
  if (noted.messages.empty() && noted.works.empty()) return;
  if (kind == Kind::HostRead) {
    std::uint64_t bytes = 0;
    for (const dry_run::Message& message : noted.messages) bytes += message.bytes;
    const std::string& writer = planned()[roots[0]].writer;
    books.noteHostRead(noted.name, writer.empty() ? "" : "kernel '" + writer + "'", bytes);
  }
  std::vector<std::uint64_t> arrays;
  for (const RootState* root : roots) arrays.push_back(numberOfRoot(*root));
  books.note(std::move(noted), arrays);
}

void forgetPlanned(Books& books, const RootState& root) {
  const auto found = planned().find(&root);
  if (found == planned().end()) return;
  for (const auto& [space, holding] : found->second.holdings)
    books.occupy(space - 1, -bytesOf(root, holding.box));
  planned().erase(found);
  books.endArray(numberOfRoot(root));
}

}  // namespace hpl::memory::detail

namespace hpl::memory {

using detail::RootState;

namespace {

std::vector<RootState*> statesOf(const LaunchStep& step) {
  std::vector<RootState*> states;
  for (Root* root : step.roots) states.push_back(&root->state());
  return states;
}

}  // namespace

LaunchStep takeLaunchStep() { return std::exchange(detail::launchStep(), {}); }

std::uint64_t numberOf(Root& root) { return detail::numberOfRoot(root.state()); }

std::vector<dry_run::Message> messagesOf(const LaunchStep& step) {
  return detail::messagesIn(*step.step, statesOf(step));
}

void holdUses(dry_run::Books& books, std::span<const detail::DeviceUse> uses,
              runtime::DeviceState& device, const LaunchStep& step) {
  const coherence::SpaceId space = detail::findDeviceMemory(device)->space;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const RootState& root = uses[i].view->root().state();
    const auto isSame = [&](const detail::DeviceUse& use) {
      return &use.view->root().state() == &root;
    };
    if (std::any_of(uses.begin(), uses.begin() + static_cast<std::ptrdiff_t>(i), isSame)) continue;
    geometry::Box need = uses[i].cells();
    bool isPart = true;
    for (const detail::DeviceUse& use : uses) {
      if (!isSame(use)) continue;
      need = hull(need, use.cells());
      isPart = isPart &&
               (use.mayBePart || (use.distribution != nullptr && use.distribution->hasGhosts()));
    }
    const auto operand = std::find(step.roots.begin(), step.roots.end(), &root.root);
    const coherence::StatePtr& before =
        operand == step.roots.end()
            ? root.known
            : step.before[static_cast<std::size_t>(operand - step.roots.begin())];
    detail::hold(books, root, before, space, need, isPart);
  }
}

void holdTransfers(dry_run::Books& books, const LaunchStep& step) {
  if (step.step == nullptr) return;
  detail::holdEnds(books, *step.step, statesOf(step), step.before);
  for (std::size_t i = 0; i < step.roots.size(); ++i)
    detail::cutAnew(step.roots[i]->state(), step.before[i], step.step->after[i]);
}

void noteWriter(Root& root, const std::string& kernel) {
  detail::planned()[&root.state()].writer = kernel;
}

}  // namespace hpl::memory
