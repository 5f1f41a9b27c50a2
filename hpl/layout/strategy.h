// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hpl/ir/kernel.h"
#include "hpl/layout/shape.h"
#include "hpl/layout/variant.h"

/// How a captured kernel is laid out for a device: as it is written, or rewritten by a strategy.
namespace hpl::layout {

/// A kernel with the domains to launch it with.
struct Layout {
  std::shared_ptr<const ir::Kernel> kernel;
  /// The values of the parameters that a strategy has added, in order.
  std::vector<cl_ulong> hidden;
  Shape shape;
  bool isRewritten = false;
  /// Direct unless it is rewritten.
  runtime::Strategy strategy = runtime::Strategy::Direct;
  /// Bits of the vectors that a strategy has introduced; 0: none.
  int vectorBits = 0;
  /// The strategy has seen that no written array is passed twice.
  bool distinctArrays = false;
  /// ColumnShape::registers.
  int registers = 0;
  /// The strategy and its numbers, or why the kernel runs as written; a phrase for people.
  std::string choice = {};
  /// Nothing but the kernel decided: tuning may choose otherwise.
  bool isTunable = false;
};

/// While one lives, the kernels that this thread generates in one form after another are not
/// explained under HPL_EXPLAIN: the code that tries the forms sums up.
class QuietTrials {
 public:
  QuietTrials();
  ~QuietTrials();
  QuietTrials(const QuietTrials&) = delete;
  QuietTrials& operator=(const QuietTrials&) = delete;
  static bool areOn();
};

/// Chooses the strategy (HPL_STRATEGY; else what tuning has found, else what heuristicChoice() says
/// where that applies) and says so under HPL_EXPLAIN. `shape` is that of the launch as the kernel
/// sees it. With a `variant` that one is used without a word; throws LaunchError where it does not
/// apply.
Layout chooseLayout(const LaunchRequest& request, const Shape& shape,
                    const Variant* variant = nullptr);

/// The kernel as it was written, for a launch that a strategy's code failed; says so under
/// HPL_EXPLAIN.
Layout asWritten(const LaunchRequest& request, const Shape& shape, const std::string& reason);

/// The reason where code of the strategy failed.
std::string doesNotCompile(runtime::Strategy strategy);

/// Lanes of the vectors that the device computes with, for the kernel's widest elements.
int lanesFor(const KernelVersion& version, const runtime::DeviceState& device);

/// Vectors side by side that rows are to have; 0: as rows choose themselves.
int vectorsFor(const KernelVersion& version, const Shape& shape, int lanes);

}  // namespace hpl::layout
