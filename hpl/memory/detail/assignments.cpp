// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/assignments.h"

#include <utility>

#include "hpl/error.h"
#include "hpl/memory/detail/execution.h"
#include "hpl/memory/detail/half_done.h"
#include "hpl/memory/detail/shelf.h"

namespace hpl::memory::detail {

std::vector<Box> madeFrom(const View& view) {
  std::vector<Box> boxes;
  for (const View* outer = view.parent(); outer != nullptr; outer = outer->parent())
    boxes.push_back(outer->box());
  return boxes;
}

Assignment::Assignment(View& d, View& s)
    : dst(d),
      src(s),
      dstBox(d.box()),
      srcBox(s.box()),
      rootList{&d.root().state(), &s.root().state()},
      rootCount(rootList[0] == rootList[1] ? 1 : 2),
      operation(coherence::operation(coherence::Copy{
          {dstBox, madeFrom(d)}, static_cast<int>(rootCount) - 1, {srcBox, madeFrom(s)}})) {}

bool Assignment::isBetween(const View& d, const View& s) const {
  return &d == &*dst && &s == &*src && &s.root().state() == rootList[1] && d.box() == dstBox &&
         s.box() == srcBox;
}

bool Assignment::repeat(Lock& lock) {
  const RecordingPtr known = recordings.find();
  Hold hold;
  if (known == nullptr || !hold.tryTake(known->roots)) return false;
  std::size_t done = 0;
  try {
    recordings.replay(lock, *known, done);
  } catch (const Error& error) {
    const bool isHalfDone = dynamic_cast<const HalfDoneError*>(&error) != nullptr;
    noteArrivals(known->roots, std::span<const Move>(known->moves).first(done));
    for (std::size_t i = 0; i < (isHalfDone ? done + 1 : done); ++i) {
      const Move& move = known->moves[i];
      if (move.what.why == coherence::Why::Assign)
        move.dst.state->spoil(move.what.to, dstBox, kHalfAssigned);
    }
    throw;
  }
  rootList[0]->closeHostViews(dstBox);
  rootList[1]->forbidHostWrites(srcBox);
  adopt(known->roots, *operation, known->step);
  return true;
}

std::shared_ptr<Assignment> AssignmentMemory::of(View& dst, View& src) {
  for (const auto& known : known_)
    if (known->isBetween(dst, src)) return known;
  auto fresh = std::make_shared<Assignment>(dst, src);
  if (known_.size() < kMostKnown) return known_.emplace_back(std::move(fresh));
  return known_[next_++ % kMostKnown] = std::move(fresh);
}

AssignmentMemory& assignmentsTo(const View& dst) {
  std::shared_ptr<AssignmentMemory>& memory = dst.root().state().assignments;
  if (!memory) memory = std::make_shared<AssignmentMemory>();
  return *memory;
}

}  // namespace hpl::memory::detail
