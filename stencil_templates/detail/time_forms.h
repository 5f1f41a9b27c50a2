// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stencil_templates/detail/device_cost.h"
#include "stencil_templates/detail/tile_choice.h"

/// The ways to do many steps in a launch, as a table: all that differs from one to another. To add
/// one is to add a row.
namespace hpl::stencils {

struct TimeFormRow {
  TimeForm form;
  /// As HPL_EXPLAIN calls the strategy, and what it goes through.
  const char* strategy;
  const char* tiles;

  // The writer of its kernels.

  /// The reason why the form is not for the program on the device, with `depth` steps per pass,
  /// even if it is asked for; empty: it is.
  std::string (*whyNot)(const TileProblem& problem, int depth);
  /// Local memory of a group; `bytes`: of an element of each field.
  std::size_t (*bytes)(const strategies::TimeProgram& program,
                       const std::vector<std::size_t>& bytes,
                       const strategies::OverlappedOptions& options);
  /// `groups`: along each dimension, of the whole launch.
  strategies::Overlapped (*write)(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                                  const strategies::TimeProgram& program,
                                  const strategies::OverlappedOptions& options,
                                  const std::array<std::int64_t, 3>& groups);

  // Where it is looked at.

  /// Whether it is compared with boxes where the choice is the library's.
  bool (*isRival)(const TileProblem& problem, int depth);
  /// Whether the model knows it on the device; else it is for those who ask, or where boxes do not
  /// fit.
  bool (*isModelled)(const TileProblem& problem);
  /// Tuning measures its tiles.
  bool isMeasured;
  /// Sizes of tiles along a dimension: few, so that all combinations can be looked at.
  std::vector<std::int64_t> (*sizes)(const TileProblem& problem, std::size_t d);
  /// All work-items of a group share what lies along the dimensions from this one on, and wait for
  /// each other between two steps along those before it.
  std::size_t sharedFrom;
  /// Work-items keep columns of the box in registers: they go through the whole box in each step,
  /// and know where its cells are.
  bool inRegisters;

  // The cost of the form, in cycles per cell.

  /// On CPUs; groups of work-items cost the same in all forms.
  const DeviceCost& (*cost)(const TileProblem& problem);
  /// The part of local memory that it may take.
  double (*usable)(const TileProblem& problem);
  /// Results of the last step go straight to memory, or from the first-level cache.
  bool (*storesStraight)(const TileProblem& problem);
  /// Cells that are computed twice where tiles are cut along a dimension, when functions need
  /// `grown` cells around them.
  double (*cut)(const TileProblem& problem, std::size_t d, double grown);
  /// The cost of the rows of a function beside its arithmetic; `hasBox`: fields in local memory.
  double (*rows)(const TileProblem& problem, const TimeTile& tile, std::size_t stage,
                 const PointCost& cost, const std::vector<bool>& hasBox);
  /// How much longer all take because some do, when the units' last tiles are such a part of all.
  double (*unevenness)(double lastPart);
};

/// All forms.
std::span<const TimeFormRow> timeForms();
/// The row of a form; of TimeForm::Any that of boxes.
const TimeFormRow& rowOf(TimeForm form);
/// The costs of a form on the problem's device.
const DeviceCost& costOf(const TileProblem& problem, TimeForm form = TimeForm::Boxes);

}  // namespace hpl::stencils
