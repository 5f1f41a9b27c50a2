// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/execution.h"

#include <algorithm>
#include <utility>

#include "hpl/coherence/mishaps.h"
#include "hpl/error.h"
#include "hpl/memory/detail/half_done.h"
#include "hpl/memory/detail/placement.h"
#include "hpl/memory/detail/planned.h"
#include "hpl/memory/detail/session.h"
#include "hpl/memory/detail/shelf.h"
#include "hpl/memory/detail/spill.h"
#include "hpl/runtime/dry_run.h"
#include "hpl/runtime/global_list.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

using coherence::Step;
using coherence::Transfer;
using coherence::Why;

Execution::Execution(Lock& lock, coherence::OperationPtr operation,
                     std::span<RootState* const> roots)
    : lock_(lock), operation_(std::move(operation)), roots_(roots) {}

Execution::~Execution() {
  try {
    noteArrived();
  } catch (const std::exception&) {
    // Then nothing has arrived as far as anybody knows.
  }
  letGo();
}

void Execution::letGo() noexcept {
  for (Replica* replica : pinned_) unpin(*replica);
  pinned_.clear();
  hold_.release();
}

const Step& Execution::plan() {
  hold_.take(lock_, roots_);
  before_.clear();
  layouts_.clear();
  for (const RootState* root : roots_) {
    before_.push_back(root->known);
    layouts_.push_back(root->layout);
  }
  if (planner().leaveEnds(*operation_, before_))
    for (std::size_t i = 0; i < roots_.size(); ++i) roots_[i]->setKnown(before_[i]);
  step_ = planner().plan(operation_, before_);
  return *step_;
}

// ---- transfers -------------------------------------------------------------------------------

Replica* busyInHostMemory(RootState& state, const Box& box) {
  for (const auto& replica : state.replicas) {
    if (!replica->zeroCopy) continue;
    for (const auto& slot : replica->slots) {
      if (!slot->box.intersects(box)) continue;
      if (replica->memory->compute.eventFor(slot->stamp)() != nullptr) return replica.get();
    }
  }
  return nullptr;
}

namespace {

void copyInHostMemory(Lock& lock, const End& src, const End& dst) {
  if (const Replica* busy = busyInHostMemory(*src.state, src.box)) {
    Replica* from = src.state->find(busy->device(), true);
    Replica* to = dst.state->find(busy->device(), true);
    if (to != nullptr)
      return copyOnDevice(lock, {src.state, from, src.box}, {dst.state, to, dst.box});
  }
  copyOnHost(lock, src, dst);
}

}  // namespace

void makeMove(Lock& lock, const Move& move) {
  if (move.src.replica == nullptr && move.dst.replica == nullptr)
    return copyInHostMemory(lock, move.src, move.dst);
  if (move.src.replica != nullptr && isWaiting(*move.src.replica, move.src.box, move.what.read))
    return moveWaiting(lock, move.src, move.dst);
  if (move.src.replica != nullptr && move.dst.replica != nullptr &&
      &move.src.replica->device() == &move.dst.replica->device()) {
    const bool isInBuffers = !move.src.onHost() && !move.dst.onHost();
    if (!isInBuffers || copiesDirectly(move.src.replica->device(), move.dst.replica->device()))
      return copyOnDevice(lock, move.src, move.dst);
  }
  while (transfer(lock, move.src, move.dst) == Moved::Blocked) {
  }
}

// Where exchanges and promotions end that a device has two values of cells, the one that stays is
// to be in the buffer.
void Execution::showAll() {
  for (std::size_t operand = 0; operand < roots_.size(); ++operand) {
    if (step_->exchanged[operand] != 0) {
      for (const auto& replica : roots_[operand]->replicas) {
        if (!replica->arrayOnShelf.empty()) show(lock_, *replica, replica->box, Value::OfArray);
        // Ghosts that some reader has got the array's values for: what the part kept is of no use
        // any more, also to the launch that the exchange is for.
        const Region refreshed = roots_[operand]->copiesOf(replica->space()).current;
        if (replica->partOnShelf.intersects(refreshed)) {
          replica->partOnShelf.subtract(refreshed);
          roots_[operand]->changeLayout();
        }
      }
    }
    for (const auto& promotion : step_->promoted[operand]) {
      Replica* replica = roots_[operand]->findIn(promotion.device);
      if (replica == nullptr) continue;
      keepOwn(lock_, *replica, promotion.cells);
      if (replica->partOnShelf.empty()) continue;
      for (const Box& box : promotion.cells) show(lock_, *replica, box, Value::OfPart);
    }
  }
}

namespace {

// Cells that an exchange brings replace those that the part kept, also where these wait on the
// shelf alone: the launch for which the exchange is made has to see the new ones.
void forgetKept(const End& end) {
  if (end.replica == nullptr || !end.replica->partOnShelf.intersects(end.box)) return;
  end.replica->partOnShelf.subtract(end.box);
  end.state->changeLayout();
}

}  // namespace

void Execution::carryOut(const Move& move) {
  if (move.src.replica != nullptr) show(lock_, *move.src.replica, move.src.box, move.what.read);
  // An assignment brings no contents to a part but those that replace its own.
  const bool isAssignment = std::holds_alternative<coherence::Copy>(operation_->kind());
  if (move.dst.replica != nullptr && move.what.why == Why::Contents && !isAssignment)
    shelve(lock_, *move.dst.replica, move.dst.box);
  makeMove(lock_, move);
  if (move.what.why == Why::Exchange) forgetKept(move.dst);
}

End Execution::sourceOf(const Transfer& transfer) const {
  const auto from = static_cast<std::size_t>(transfer.fromOperand);
  return {roots_[from], replicaOf(from, transfer.from), transfer.source()};
}

End Execution::targetOf(const Transfer& transfer) const {
  if (temporary_ != nullptr && transfer.why == Why::Assign) {
    const Box& target = std::get<coherence::Copy>(operation_->kind()).to.box;
    return {temporary_, temporary_->findIn(step_->site),
            transfer.target.translatedBack(target.lo())};
  }
  const auto to = static_cast<std::size_t>(transfer.toOperand);
  return {roots_[to], replicaOf(to, transfer.to), transfer.target};
}

// Prepares the first moves of carryOut().
void Execution::makeReady(const MailPiece& piece) {
  if (!isElsewhere(piece.what.from))
    return show(lock_, *piece.end.replica, piece.end.box, piece.what.read);
  const bool isAssignment = std::holds_alternative<coherence::Copy>(operation_->kind());
  if (piece.what.why == Why::Contents && !isAssignment)
    shelve(lock_, *piece.end.replica, piece.end.box);
  if (piece.what.why == Why::Exchange) forgetKept(piece.end);
}

// Cells that this rank has alone it brings to its own host alone: no message waits for another.
std::vector<coherence::Stretch> Execution::stretches() const {
  if (otherRanks() == nullptr || roots_.empty() || roots_.front()->root.isRankLocal())
    return {{0, step_->transfers.size()}};
  return coherence::stretchesOf(*step_);
}

void Execution::moveAll() {
  showAll();
  moves_.clear();
  const auto source = [&](const Transfer& transfer) { return sourceOf(transfer); };
  const auto target = [&](const Transfer& transfer) { return targetOf(transfer); };
  const auto ready = [&](const MailPiece& piece) { makeReady(piece); };
  const std::vector<coherence::Stretch> all = stretches();
  hasOneStretch_ = all.size() == 1;
  for (const coherence::Stretch& stretch : all) {
    if (!roots_.empty() && !roots_.front()->root.isRankLocal())
      mail_ = mailOf(*step_, stretch, source, target);
    Deliveries deliveries = postOutgoing(lock_, mail_, ready);
    moveLocally(stretch);
    postIncoming(lock_, mail_, std::move(deliveries), ready);
  }
  if (temporary_ != nullptr && !isElsewhere(step_->site)) moveFromTemporary();
}

void Execution::moveLocally(coherence::Stretch which) {
  const std::size_t first = moves_.size();
  for (std::size_t at = which.begin; at < which.end; ++at) {
    const Transfer transfer = step_->transfers[at];
    if (!isElsewhere(transfer.from) && !isElsewhere(transfer.to)) {
      moves_.push_back({transfer, sourceOf(transfer), targetOf(transfer)});
    } else if (transfer.from == kHosts) {
      // The hosts may do on all ranks what they may do on one.
      roots_[static_cast<std::size_t>(transfer.fromOperand)]->forbidHostWrites(transfer.source());
    }
  }
  for (std::size_t i = first; i < moves_.size(); ++i) {
    try {
      carryOut(moves_[i]);
    } catch (const Error& error) {
      noteFailure(i, dynamic_cast<const HalfDoneError*>(&error) != nullptr);
      throw;
    }
    arrived_ = i + 1;
  }
}

void Execution::moveFromTemporary() {
  const Box& target = std::get<coherence::Copy>(operation_->kind()).to.box;
  const End src{temporary_, temporary_->findIn(step_->site), temporary_->wholeBox()};
  const End dst{roots_[0], replicaOf(0, step_->site), target};
  try {
    if (dst.replica != nullptr) {
      copyOnDevice(lock_, src, dst, Counting::Uncounted);
    } else {
      copyOnHost(lock_, src, dst);
    }
  } catch (const HalfDoneError&) {
    dst.state->spoil(step_->site, target, kHalfAssigned);
    throw;
  }
}

// An assignment that has begun to write its target leaves neither old nor new values there.
void Execution::noteFailure(std::size_t at, bool isHalfDone) {
  noteArrived();
  if (temporary_ != nullptr) return;
  const auto isAssign = [](const Move& move) { return move.what.why == Why::Assign; };
  const auto begun = moves_.begin() + static_cast<std::ptrdiff_t>(isHalfDone ? at + 1 : at);
  if (std::none_of(moves_.begin(), begun, isAssign)) return;
  for (const Move& move : moves_)
    if (isAssign(move)) move.dst.state->spoil(move.what.to, move.dst.box, kHalfAssigned);
}

void noteArrivals(std::span<RootState* const> roots, std::span<const Move> moves) {
  // A failure ends the session of several ranks: none of them could know what arrived elsewhere.
  if (moves.empty() || (runtime::hasRanks() && !roots.front()->root.isRankLocal())) return;
  for (const Move& move : moves) {
    const Transfer& transfer = move.what;
    if (transfer.why == Why::Assign) continue;
    RootState& state = *roots[static_cast<std::size_t>(transfer.toOperand)];
    state.setKnown(coherence::afterArrival(state.known, transfer.to, Region(transfer.target),
                                           transfer.why == Why::Exchange));
  }
}

void Execution::noteArrived() {
  if (std::exchange(isFinished_, true) || arrived_ == 0) return;
  noteArrivals(roots_, std::span<const Move>(moves_).first(arrived_));
}

void adopt(std::span<RootState* const> roots, const coherence::Operation& operation,
           const coherence::StepPtr& planned) {
  if (auto* books = runtime::booksOfDryRun()) [[unlikely]]
    noteStep(*books, roots, operation, planned);
  const Step& step = *planned;
  for (std::size_t operand = 0; operand < roots.size(); ++operand) {
    RootState& state = *roots[operand];
    for (const auto& promotion : step.promoted[operand]) {
      for (const Box& box : promotion.cells) state.closeHostViews(box);
      if (Replica* replica = state.findIn(promotion.device))
        replica->arrayOnShelf.subtract(promotion.cells);
    }
    if (step.exchanged[operand] != 0)
      for (const auto& replica : state.replicas) replica->launchesSinceRefresh = 0;
    state.setKnown(step.after[operand]);
  }
}

void Execution::giveUp() { noteArrived(); }

void Execution::finish() {
  isFinished_ = true;
  adopt(roots_, *operation_, step_);
}

namespace {

bool concernsHosts(const Step& step) {
  for (const Transfer transfer : step.transfers)
    if (transfer.from == kHosts || transfer.to == kHosts) return true;
  return false;
}

}  // namespace

bool Execution::record(Recording& recording) const {
  if (temporary_ != nullptr || !hasOneStretch_ || (runtime::hasRanks() && concernsHosts(*step_)))
    return false;
  for (std::size_t i = 0; i < roots_.size(); ++i)
    if (roots_[i]->layout != layouts_[i]) return false;
  const auto isWaitingMove = [](const Move& move) {
    return move.src.replica != nullptr &&
           isWaiting(*move.src.replica, move.src.box, move.what.read);
  };
  if (std::any_of(moves_.begin(), moves_.end(), isWaitingMove)) return false;
  recording.roots.assign(roots_.begin(), roots_.end());
  recording.before = before_;
  recording.layouts = layouts_;
  recording.step = step_;
  recording.moves = moves_;
  recording.mail = mail_;
  return true;
}

// ---- operations on one array -----------------------------------------------------------------

void bringToHost(Lock& lock, RootState& state, const Box& box) {
  RootState* const roots[] = {&state};
  state.materialiseHost();
  Execution execution(lock, coherence::operation(coherence::HostRead{box}), roots);
  execution.prepare();
  execution.finish();
}

}  // namespace hpl::memory::detail
