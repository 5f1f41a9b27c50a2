// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/ir/kernel.h"
#include "hpl/strategies/hidden.h"
#include "hpl/strategies/tile_regions.h"

/// The strategy "overlapped" for stencils that are applied many times: a group brings a box of the
/// fields into local memory, applies several time steps to it there, each to a smaller box than the
/// one before, and writes the tile in the middle of it (Holewinski, Pouchet, Sadayappan 2012).
/// Neighbouring groups both compute the cells that they need of each other. Results are those of
/// one step after another, bit for bit but for floating-point contraction.
namespace hpl::strategies {

/// The cells that a function finds beyond a face of the grid.
enum class Beyond : std::uint8_t { Nothing, Nearest, Mirror, MirrorOdd, Periodic, Value };

/// How a function reads a field. Dimensions run from slow to fast; face 2 * d is where the indices
/// of dimension d begin, face 2 * d + 1 where they end.
struct TimeRead {
  int field = 0;
  std::array<ir::Interval, 3> offsets{};
  /// At the least offset along the slowest dimension, no other cells are read than those that lie
  /// there straight before the own cell.
  bool isFirstStraight = false;
  std::array<Beyond, 6> beyond{};
  /// Beyond::Value: the branch of the kernel whose last declaration is the value of the cell.
  std::array<int, 6> value{-1, -1, -1, -1, -1, -1};
};

/// A function of a time step, applied to the cells that are `low` and `high` cells away from the
/// ends of the grid. It sees what the functions before it have done.
struct TimeStage {
  /// The branch of the kernel that is the function.
  int body = 0;
  std::vector<TimeRead> reads;
  std::vector<int> writes;
  std::array<std::int64_t, 3> low{};
  std::array<std::int64_t, 3> high{};
  /// The most cells along each dimension; 0: any number.
  std::array<std::int64_t, 3> most{};
  /// It writes no field, but in each step other arrays, of which each cell of the grid writes its
  /// own: what it has written in one step no other step overwrites. It reads its own cell alone.
  bool records = false;
};

/// Decides which cells of a field that functions write outlive them.
enum class Lifetime : std::uint8_t {
  /// Its cells go from step to step, and those that no function writes with them.
  Steps,
  /// In each step functions write cells that others read. The cells after the last step are stored;
  /// those that no function writes stay as they are in memory.
  Result,
  /// The same, but never stored. The kernel's parameters for it are not accessed.
  Temporary
};

/// A field: the kernel's parameters that it is read from and written to; -1: it is never written.
struct TimeField {
  int current = -1;
  int next = -1;
  Lifetime lifetime = Lifetime::Steps;
  /// Persistent kernels: the parameter of an array of twice the grid's shape, one after the other
  /// along a dimension before the slowest one, for written fields that go from step to step.
  int between = -1;

  bool isWritten() const { return next >= 0; }
  /// It has cells before the first step that the kernel must know.
  bool isLoaded() const {
    return lifetime == Lifetime::Steps || (next < 0 && lifetime == Lifetime::Result);
  }
};

/// Persistent kernels: every few steps, and after the last one, groups look at how much the last
/// step has changed a field. The residual is the largest value of a function of each cell's new and
/// old value; NaN where one of them is. When it is below a bound, all groups end at the next look,
/// so no group waits for the latest residual. -1: there are no looks, or a parameter.
struct TimeLooks {
  int field = -1;
  /// The branch that gives a cell of the array `residual` its value, from `TimeField::current` (the
  /// new value) and the array `old`.
  int body = -1;
  /// An array of the grid's shape, of the field's elements, for old cells that steps overwrite at
  /// once, and one of residuals (float or double), of any shape: what the branch assigns to it is
  /// not written.
  int old = -1;
  int residual = -1;
  /// An array of residuals, for lookValuesFor(groups) of them.
  int values = -1;
  /// Steps between looks (int), and the bound (of the residuals' type).
  int every = -1;
  int bound = -1;

  bool areWanted() const { return field >= 0; }
};

/// Describes the kernel. Its body is a row of branches, numbered from 0 on; they read and write
/// fields at constant offsets from the ids. `steps` is its parameter (int) that says how many steps
/// to do.
struct TimeProgram {
  int dims = 1;
  std::vector<TimeField> fields;
  std::vector<TimeStage> stages;
  int steps = -1;
  /// Scalar parameters that change from step to step, and the parameters (arrays of one dimension)
  /// that hold their values; the parameter (int) that says which value is that of the launch's
  /// first step, and the one (int) for the last value, which further steps use as well.
  struct StepScalar {
    int scalar = -1;
    int table = -1;
  };
  std::vector<StepScalar> stepScalars;
  int firstStep = -1;
  int lastStep = -1;
  /// Persistent kernels: the parameters for flags (ints), for the looks of a wait (int), for what
  /// the flags are at most when the launch begins (int, at least 1), and for the numbers (ints) of
  /// the device's first group along each dimension.
  int flags = -1;
  int patience = -1;
  int raised = -1;
  std::array<int, 3> firstGroup{-1, -1, -1};
  TimeLooks looks = {};
  /// Periodic dimensions in which the parameters of old fields have cells of the other end beyond
  /// both ends, and how many of them before the first cell. In others the kernel leads indices to
  /// the other end.
  std::array<bool, 3> isJoined{};
  std::array<std::int64_t, 3> ghostsBefore{};
};

/// Border groups: the first and the last of the groups that a device has along the slowest
/// dimension, which alone have neighbours on other devices. They have less to compute than those
/// between them where it takes longer to exchange cells with another device.
struct BorderTiles {
  /// The most cells of each of the two along the slowest dimension, at most those of a tile; 0:
  /// they are groups like the others.
  std::int64_t cells = 0;
  /// Along the slowest dimension on each device, at least 3.
  std::int64_t groups = 0;

  friend auto operator<=>(const BorderTiles&, const BorderTiles&) = default;
};

struct OverlappedOptions {
  /// Cells per group, from slow to fast.
  std::array<std::int64_t, 3> tile{1, 1, 1};
  /// The most steps of a launch.
  int depth = 1;
  /// Work-items per group, from slow to fast, which share the work; one alone computes in vectors.
  std::array<int, 3> local{1, 1, 1};
  /// The lanes of vectors; and how many of these side by side, and rows at once (0: chosen).
  int lanes = 16;
  int vectors = 0;
  int jam = 0;
  /// Refuse vectors where built-in functions may round differently on them.
  bool exact = false;
  /// Bytes of local memory that a group may use; 0: not limited.
  std::size_t localMemory = 0;
  /// Persistent kernels: tiles of the groups at the ends of each device's band.
  BorderTiles border = {};
  /// Persistent kernels: after each exchange all groups wait for all (a device barrier), rather
  /// than each for those around it.
  bool waitsForAll = false;
};

/// A kernel that is launched with OverlappedOptions::local work-items for each tile of the grid, or
/// of the launch's part of it.
struct Overlapped {
  /// Null: the strategy does not apply.
  std::shared_ptr<const ir::Kernel> kernel;
  std::vector<Hidden> hidden;
  /// The choice, or why the strategy does not apply; a phrase for people.
  std::string reason;
  /// Local memory per group.
  std::size_t bytes = 0;
};

/// Whether some stages record what fields are in each step.
bool hasRecords(const TimeProgram& program);
/// The stages that only the last step needs: nothing that they write goes into another step.
std::vector<bool> stagesOfLastStep(const TimeProgram& program);
/// Cells that follow each other along the slowest dimension, of which a work-item of a group
/// computes all: it loads once what several of them read.
inline constexpr int kColumnOfGroup = 4;
/// Whether work-items compute such columns: groups have several of them, and tiles enough cells.
bool areInColumns(const OverlappedOptions& options, int dims);
/// How far around a tile the fields are read for `depth` steps.
Growth haloOf(const TimeProgram& program, int depth);
/// For each stage, bounds of the cells that it computes around a tile when `depth` steps are to
/// follow.
std::vector<LinearGrowth> growthOf(const TimeProgram& program, int depth);
/// Why the strategy is not for the program, with any options; empty: it is.
std::string whyNotOverlapped(const TimeProgram& program);
/// Whether the field has boxes in local memory. Others are read from global memory, or written
/// there.
std::vector<bool> hasBoxes(const TimeProgram& program, const OverlappedOptions& options);
/// Local memory that a group needs: a box for each field that is read away from the own cell; for
/// one that changes where its neighbours look, two boxes, or, for a work-item alone, a few rows
/// more. `bytes`: of an element of each field.
std::size_t boxBytes(const TimeProgram& program, const std::vector<std::size_t>& bytes,
                     const OverlappedOptions& options);

/// Rewrites a verified kernel. The rewritten kernel keeps parts of `kernel`, which must live as
/// long.
Overlapped overlapped(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                      const TimeProgram& program, const OverlappedOptions& options);

}  // namespace hpl::strategies
