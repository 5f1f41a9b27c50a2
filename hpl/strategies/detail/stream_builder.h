// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "hpl/strategies/detail/stream_plan.h"
#include "hpl/strategies/detail/time_builder.h"

namespace hpl::strategies::detail {

/// Writes the kernel of a stream: for each plane that comes into sight, load it (level 0) and let
/// each step (levels 1 to `steps`) compute one plane of its result. All levels share the code but
/// the last one, which computes the tile's cells and writes them to global memory.
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
    /// The slot (ulong) of the present level's plane.
    const Expr* here = nullptr;
    /// Those of the planes that are read, of the level before; by offset.
    std::map<std::int64_t, const Expr*> sources;
  };

  StreamBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                const TimeProgram& program, const OverlappedOptions& options,
                const StreamPlan& stream)
      : TimeBuilder(kernel, summary, program, options, stream.planes, 1),
        stream_(stream),
        stage_(program.stages.front()),
        rings_(program.fields.size()) {
    if (!stream_.isInPlace) return;
    // Rows are whole vectors long.
    slotCells_ = options_.lanes;
    options_.vectors = 1;
  }

  bool isWritten(std::size_t field) const { return program_.fields[field].next >= 0; }
  const Expr* isLevel(const Expr* level) {
    return builder_.binary(ir::BinaryOp::Eq, level_, level);
  }
  const ir::Variable* memoryOf(std::size_t field) const override { return rings_[field].memory; }
  const Expr* slotOf(std::size_t field) override { return rings_[field].here; }
  Tiles tilesAt(ir::Block& out, const TimeStage& stage, const Cell& cell) override;
  bool isInPlace(const TimeStage&) const override { return false; }

  /// The slot of a plane of a level before the last one.
  const Expr* slot(std::size_t field, const Expr* level, const Expr* plane);
  /// The plane inside of the grid that is read at an offset from the present one.
  const Expr* sourcePlane(const TimeRead& read, std::int64_t offset);
  void declareSources(ir::Block& out);

  // What a level does with its plane.
  void level(ir::Block& out);
  void load(ir::Block& out);
  void computePlane(ir::Block& out, const Box& wanted);
  /// Cells that the function leaves out, from the level before.
  void keep(ir::Block& out, const Box& cells, int mostLanes);
  // Faces: `next` is what the following level computes.
  void margins(ir::Block& out, const Box& next);
  void planesBeyond(ir::Block& out, const Box& next);
  void oppositePlane(ir::Block& out, const TimeRead& read, const Box& reads);
  void copyNegated(ir::Block& out, std::size_t field, const Expr* to, const Expr* from,
                   const Box& cells);

  StreamPlan stream_;
  const TimeStage& stage_;
  std::vector<Ring> rings_;
  const Expr* steps_ = nullptr;
  const Expr* level_ = nullptr;
  const Expr* plane_ = nullptr;
  const Expr* remaining_ = nullptr;
  /// The code is for the last level, whose results go to global memory.
  bool isFinal_ = false;
};

}  // namespace hpl::strategies::detail
