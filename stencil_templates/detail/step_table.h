// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "stencil_templates/per_step.h"

namespace hpl::stencils {

/// The values of a scalar that changes from step to step, converted to the type of the point
/// function's parameter.
class StepTable {
 public:
  /// A table for `steps` steps (at least one). `like` is an array of the stencil's: the table
  /// belongs to one rank if that does. `stencil` and `parameter` name it in messages. Throws
  /// ArgumentError where there are fewer values, and what the user's function throws.
  StepTable(const PerStep& values, const ir::Type& type, std::int64_t steps,
            const memory::View& like, const std::string& stencil, const std::string& parameter);

  std::int64_t steps() const { return steps_; }
  /// The value of a step as a scalar.
  launch::Argument at(std::int64_t step) const;
  /// All values as an array of one dimension, made at the first call.
  launch::Argument array();
  bool hasValuesOf(const StepTable& other) const {
    return type_ == other.type_ && values_ == other.values_ && isRankLocal_ == other.isRankLocal_;
  }

 private:
  ir::Type type_;
  std::int64_t steps_;
  bool isRankLocal_;
  std::vector<std::byte> values_;
  /// Iterations of several threads may share the table.
  std::once_flag isMade_;
  std::shared_ptr<memory::Root> root_;
};

/// Tables of an iteration outlive it: its kernels may be under way, and the end of a table waits
/// for them. They are kept until the next iteration, which takes those that have its values.
class StepTables {
 public:
  using Table = std::shared_ptr<StepTable>;

  /// The kept table with the same values, or this one.
  Table known(Table fresh) const;
  /// Returns those that were kept before.
  std::vector<Table> keep(std::vector<Table> tables) {
    return std::exchange(kept_, std::move(tables));
  }

 private:
  std::vector<Table> kept_;
};

}  // namespace hpl::stencils
