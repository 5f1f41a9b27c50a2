// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hpl/strategies/detail/source.h"
#include "hpl/strategies/plane_queue.h"

/// The elements that the strategy "stream" keeps, by array.
namespace hpl::strategies::detail {

/// A read as a copy of the body makes it.
struct SeenRead {
  const ir::Access* access = nullptr;
  std::vector<ir::IndexForm> forms;
};

/// The planes of an array that are kept around the plane of a work-item.
struct QueuedArray {
  const ir::Variable* array = nullptr;
  /// The axis of each dimension of the array.
  std::vector<int> axis;
  /// Elements of the own column, in registers.
  ir::Interval column;
  /// In local memory, where `hasRing`; and how far around the group's columns along each other
  /// axis. The newest plane of the ring is in the column too.
  bool hasRing = false;
  ir::Interval ring;
  std::array<ir::Interval, 3> halo{};

  /// Planes that the ring has room for: one more than are read, so that the next one may come while
  /// others still read.
  std::int64_t slots() const { return ring.hi - ring.lo + 2; }
};

class QueuePlan {
 public:
  /// `anywhere`: the reads of the body as it is; `inside`: those that it makes away from the
  /// border. Throws Refused where there is nothing to keep.
  QueuePlan(const Source& source, const PlaneQueueOptions& options,
            const std::vector<SeenRead>& anywhere, const std::vector<SeenRead>& inside);

  const std::vector<QueuedArray>& arrays() const { return arrays_; }
  const QueuedArray* find(const ir::Variable* array) const;
  /// The read is one of the own column, in a plane that the queue holds.
  bool isInColumn(const QueuedArray& queued, const std::vector<ir::IndexForm>& forms) const;
  /// A body for ids away from the border reads more from queues than the body as it is.
  bool narrows() const { return narrows_; }
  int slowAxis() const { return slow_; }

 private:
  /// The axis of each dimension; empty for reads that queues do not serve.
  std::vector<int> axesOf(const SeenRead& read) const;
  bool isOwnColumn(const std::vector<ir::IndexForm>& forms) const;
  void include(const SeenRead& read);
  void finish();

  int dims_;
  int slow_;
  std::unordered_set<const ir::Variable*> eligible_;
  std::vector<QueuedArray> arrays_;
  std::unordered_map<const ir::Variable*, std::size_t> places_;
  bool narrows_ = false;
};

}  // namespace hpl::strategies::detail
