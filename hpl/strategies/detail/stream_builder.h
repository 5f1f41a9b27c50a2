// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "hpl/strategies/detail/stream_plan.h"
#include "hpl/strategies/detail/time_builder.h"

namespace hpl::strategies::detail {

/// Writes the kernel of a stream: for each plane that comes into sight, load it, and let each
/// function of each step compute one plane of its results. All steps share the code. The last step
/// stores the cells that a step is the last to change.
class StreamBuilder final : public TimeBuilder {
 public:
  StreamBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                const TimeProgram& program, const OverlappedOptions& options)
      : StreamBuilder(kernel, summary, program, options, planStream(program, options)) {}

  Overlapped build();

 private:
  /// A field in local memory.
  struct Ring {
    const ir::Variable* memory = nullptr;
    /// The slots (ulong) of the plane that is filled or written, and of those that are read.
    const Expr* here = nullptr;
    std::map<std::int64_t, const Expr*> sources;
  };

  StreamBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                const TimeProgram& program, const OverlappedOptions& options,
                const StreamPlan& stream)
      : TimeBuilder(kernel, summary, program, options, stream.planes, 1),
        stream_(stream),
        rings_(program.fields.size()) {
    if (!stream_.isShifted) return;
    // Rows are whole vectors long.
    slotCells_ = options_.lanes;
    options_.vectors = 1;
  }

  const TimeStage& stage() const { return program_.stages[k_]; }
  const ir::Variable* memoryOf(std::size_t field) const override { return rings_[field].memory; }
  const Expr* slotOf(std::size_t field) override { return rings_[field].here; }
  Tiles tilesAt(ir::Block& out, const TimeStage& stage, const Cell& cell) override;
  bool isInPlace(const TimeStage& stage) const override;

  /// The slot (ulong) of a plane of a state that lies so far back from where the step began.
  const Expr* slot(std::size_t field, const Expr* plane, const StreamPlan::Back& back);
  const Expr* slotSeen(std::size_t field, const Expr* plane) {
    return slot(field, plane, stream_.seen[k_][field]);
  }
  void load(ir::Block& planes, const Expr* front);
  // Computes function k_.
  void computeStage(ir::Block& out, const Expr* front);
  /// With the cells that it leaves out, as far as they are wanted.
  void writePlane(ir::Block& out, const Box& wanted, const Box& region);
  void computePlane(ir::Block& out, const Box& region);
  /// It writes the field to other planes, and leaves out cells of them that others need.
  bool keeps(std::size_t field) const;
  /// Cells that it leaves out, from the state before.
  void keep(ir::Block& out, const Box& cells, int mostLanes);
  void store(ir::Block& out);
  // Fills the cells beyond the faces (stream_faces.cpp).
  void fillBeyond(ir::Block& out, const Box& region);
  void fillPlane(ir::Block& out, const TimeRead& read, const Box& region, const Expr* plane);
  /// The plane that holds, perhaps with the opposite sign, what is read of another one.
  const Expr* shown(const TimeRead& read, const Expr* plane, bool low, bool high, bool isOdd);

  StreamPlan stream_;
  std::vector<Ring> rings_;
  const Expr* steps_ = nullptr;
  /// Steps before the present one, and after it.
  const Expr* done_ = nullptr;
  const Expr* remaining_ = nullptr;
  /// The function, and the plane that it computes.
  std::size_t k_ = 0;
  const Expr* plane_ = nullptr;
  /// Its results go to global memory.
  bool isStraight_ = false;
};

}  // namespace hpl::strategies::detail
