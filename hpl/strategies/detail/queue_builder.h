// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hpl/strategies/detail/kernel_writer.h"
#include "hpl/strategies/detail/queue_plan.h"

namespace hpl::strategies::detail {

/// Writes the kernels of the strategy "stream":
///
///     registers and rings are filled for the planes before the slab's first one
///     for each plane of the slab:
///       the newest plane comes: each work-item's own element, then the group's halo
///       barrier
///       the kernel's body, for the ids (x, y, plane) that there are
///       registers and rings move on
///
/// Made anew for each kernel that it writes.
class QueueBuilder : private KernelWriter {
 public:
  /// Throws Refused for kernels that no strategy rewrites.
  QueueBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
               const PlaneQueueOptions& options);

  /// Chooses the values that are worth keeping. Throws Refused.
  QueuePlan plan();
  PlaneQueue build(const QueuePlan& plan);

 private:
  struct Axis {
    ir::Variable* group = nullptr;
    ir::Variable* id = nullptr;
    ir::Variable* end = nullptr;
    /// The work-item's place in its group (uint).
    ir::Variable* item = nullptr;
  };
  /// An array's planes while the kernel runs.
  struct Queue {
    const QueuedArray* plan = nullptr;
    /// Whether the array has elements in the work-item's column.
    ir::Variable* exists = nullptr;
    std::map<std::int64_t, ir::Variable*> column;
    /// Where planes of the ring begin: for the offsets from ring.lo on, then the spare one.
    std::vector<ir::Variable*> slots;
    ir::Variable* memory = nullptr;
    /// Columns and rows of a plane of the ring, and the work-item's place in it.
    std::int64_t width = 1;
    std::int64_t height = 1;
    std::int64_t pitch = 1;
    ir::Variable* cell = nullptr;
  };

  Axis& axis(int a) { return axes_[static_cast<std::size_t>(a)]; }
  const Axis& axis(int a) const { return axes_[static_cast<std::size_t>(a)]; }
  std::int64_t local(int a) const { return options_.local[static_cast<std::size_t>(a)]; }
  int rowAxis() const { return options_.order[0]; }
  /// The axis between rows and columns; -1 in two dimensions.
  int middleAxis() const { return options_.dims == 3 ? options_.order[1] : -1; }
  int slowAxis() const { return options_.order[static_cast<std::size_t>(options_.dims - 1)]; }
  static ir::Interval haloOf(const Queue& queue, int axis) {
    return axis < 0 ? ir::Interval{} : queue.plan->halo[static_cast<std::size_t>(axis)];
  }
  Interior interior(bool everywhere) const;
  BodyContext context(const Interior& interior) { return contextOf(interior, 1, rowAxis(), false); }
  Place here() const;
  std::vector<SeenRead> readsOf(const Interior& interior);

  void declareIds(ir::Block& out);
  void declareQueue(const QueuedArray& queued, ir::Block& out);
  void declareRing(Queue& queue, ir::Block& out);
  const ir::Expr* element(const Queue& queue, const std::array<const ir::Expr*, 3>& ids);
  const ir::Expr* load(const Queue& queue, std::int64_t offset);
  void fill(const Queue& queue, std::int64_t offset, ir::Block& out);
  void fillHalo(const Queue& queue, std::int64_t offset, ir::Block& out);
  struct Edge;
  void fillEdge(const Queue& queue, std::int64_t offset, const Edge& edge, ir::Block& out);
  void copyCell(const Queue& queue, std::int64_t offset, const ir::Variable* row,
                const ir::Variable* column, ir::Block& out);
  void prefill(ir::Block& out);
  void advance(ir::Block& out);
  Tiles tiles() const;
  const ir::Expr* kept(const ir::Access& access, const std::vector<ir::IndexForm>& forms);
  void compute(ir::Block& out);
  void body(BodyContext& context, ir::Block& out);
  const ir::Expr* insideBounds(const BodyContext& context);
  std::string reason() const;

  PlaneQueueOptions options_;
  std::array<Axis, 3> axes_;
  /// The work-item's number in its group (uint).
  ir::Variable* number_ = nullptr;
  const QueuePlan* plan_ = nullptr;
  std::vector<Queue> queues_;
  std::size_t bytes_ = 0;
};

}  // namespace hpl::strategies::detail
