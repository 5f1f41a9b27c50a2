// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <span>
#include <vector>

#include "hpl/memory/detail/placement.h"
#include "hpl/memory/detail/recording.h"

namespace hpl::memory::detail {

/// Memory that an operation needs beside that of its transfers, in this process.
struct Place {
  std::size_t operand = 0;
  DeviceMemory* memory = nullptr;
  Box need;
  bool isOwn = true;  ///< else the host's
  Fit fit = Fit::Loose;
};
using PlacesOf = std::function<void(const coherence::Step& step, std::vector<Place>& places)>;

/// One operation on its way: planned, its buffers placed, its transfers begun, and at the end the
/// roots' new states. Holds the roots until it is destroyed. When it fails or is given up before
/// finish(), the roots have gained what had arrived until then, and no more.
class Execution {
 public:
  /// The roots by operand; the list stays the caller's.
  Execution(Lock& lock, coherence::OperationPtr operation, std::span<RootState* const> roots);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// Waits for the roots, and plans. Throws what the planner throws.
  const coherence::Step& plan();
  /// Places buffers, begins the transfers. False: the roots have changed, plan again. Throws
  /// AllocationError when a device cannot hold them, DeviceError when a transfer fails.
  bool tryPrepare(const PlacesOf& placesOf = nullptr);
  /// An assignment moves its cells through this array, of the target's extents: some of its
  /// transfers write what others read. To be called before tryPrepare().
  void moveThrough(RootState* temporary) noexcept { temporary_ = temporary; }
  /// All ranks do this for the first time: they move nothing unless each could prepare it. To be
  /// called before tryPrepare().
  void agreeFirst() noexcept { mustAgree_ = true; }
  /// plan() and tryPrepare().
  void prepare(const PlacesOf& placesOf = nullptr);
  /// The operation will not take place: the roots gain what has arrived.
  void giveUp();
  /// The operation has taken place, or nothing can keep it from it any more.
  void finish();

  const coherence::Step& step() const noexcept { return *step_; }
  RootState& root(std::size_t operand) const noexcept { return *roots_[operand]; }
  /// The device's replica of an operand as placed; null: the host's storage, or another process's.
  Replica* replicaOf(std::size_t operand, SpaceId space) const;
  /// After finish(): what a repetition needs; false: it may not be recorded.
  bool record(Recording& recording) const;

 private:
  bool comesFromWaiting(const coherence::Transfer& transfer) const;
  void gatherSources();
  bool holds(std::size_t operand, SpaceId space, const Box& cells);
  bool tryPlaceEnds();
  void keep(Replica& replica);
  void addTransferPlaces(std::vector<Place>& places) const;
  bool tryPlace(const Place& place);
  bool tryPlaceAll(std::span<const Place> places);
  bool waitForOthers(std::span<const Place> places);
  void agreeNow(const std::exception_ptr& failure);
  void showAll();
  End sourceOf(const coherence::Transfer& transfer) const;
  End targetOf(const coherence::Transfer& transfer) const;
  void makeReady(const MailPiece& piece);
  std::vector<coherence::Stretch> stretches() const;
  void moveAll();
  void moveLocally(coherence::Stretch which);
  void carryOut(const Move& move);
  void moveFromTemporary();
  void noteFailure(std::size_t at, bool isHalfDone);
  void noteArrived();
  void letGo() noexcept;

  Lock& lock_;
  coherence::OperationPtr operation_;
  std::span<RootState* const> roots_;
  Hold hold_;
  std::vector<StatePtr> before_;
  std::vector<std::uint64_t> layouts_;
  coherence::StepPtr step_;
  std::vector<Replica*> pinned_;
  RootState* temporary_ = nullptr;
  std::vector<Move> moves_;
  Mail mail_;
  bool hasOneStretch_ = true;
  bool mustAgree_ = false;
  std::size_t arrived_ = 0;
  bool isFinished_ = false;
};

/// The replica of a device that is at work in the host's copy of the cells: what comes next joins
/// its queue, so that the host need not wait. Null when the host may as well do it itself.
Replica* busyInHostMemory(RootState& state, const Box& box);
/// Makes a move, waiting where devices cannot wait by themselves.
void makeMove(Lock& lock, const Move& move);
/// These moves have arrived, but the operation has failed.
void noteArrivals(std::span<RootState* const> roots, std::span<const Move> moves);
/// The operation has taken place.
void adopt(std::span<RootState* const> roots, const coherence::Operation& operation,
           const coherence::StepPtr& step);

/// Makes the cells current in the host's storage, where they may still be under way.
void bringToHost(Lock& lock, RootState& state, const Box& box);

/// Brings every ghost cell of different roots whose value is a part's own up to date with its
/// owner's: starts the transfers, each of which waits for what concerns its cells only. Throws
/// DeviceError.
void exchangeGhosts(Lock& lock, std::span<RootState* const> roots);

}  // namespace hpl::memory::detail
