// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hpl/launch/detail/plan.h"
#include "hpl/launch/detail/variant.h"
#include "hpl/strategies/plane_queue.h"
#include "hpl/strategies/pointwise.h"
#include "hpl/strategies/rows.h"
#include "hpl/strategies/tile.h"

/// How a captured kernel is laid out for a device: as it is written, or rewritten by a strategy.
namespace hpl::launch {

/// A kernel with the domains to launch it with.
struct LaidOut {
  std::shared_ptr<const ir::Kernel> kernel;
  /// The values of the parameters that a strategy has added, in order.
  std::vector<cl_ulong> hidden;
  Shape shape;
  bool isRewritten = false;
  /// Direct unless it is rewritten.
  runtime::Strategy strategy = runtime::Strategy::Direct;
  /// Of the vectors that a strategy has introduced; 0: none.
  int vectorBits = 0;
  /// The strategy has seen that no written array is passed twice.
  bool distinctArrays = false;
  /// The strategy and its numbers, or why the kernel runs as written; a phrase for people.
  std::string choice = {};
  /// Nothing but the kernel decided: tuning may choose otherwise.
  bool isTunable = false;
};

/// While one lives, the kernels that this thread has generated in one form after another say
/// nothing under HPL_EXPLAIN: whoever tries the forms sums up.
class QuietTrials {
 public:
  QuietTrials();
  ~QuietTrials();
  QuietTrials(const QuietTrials&) = delete;
  QuietTrials& operator=(const QuietTrials&) = delete;
  static bool areOn();
};

/// Rewritten kernels by what they were rewritten for; one table per captured kernel.
class RewrittenKernels {
 public:
  std::shared_ptr<const strategies::Rows> rows(const KernelVersion& version,
                                               const strategies::RowsOptions& options);
  std::shared_ptr<const strategies::Tiled> tiled(const KernelVersion& version,
                                                 const strategies::TileOptions& options);
  std::shared_ptr<const strategies::PlaneQueue> streamed(
      const KernelVersion& version, const strategies::PlaneQueueOptions& options);
  /// What the choice for kernels without neighbours and loops depends on.
  const strategies::Pointwise& pointwise(const KernelVersion& version);
  /// Stands for the kernel from one process to the next: a hash of what it computes.
  const std::string& fingerprint(const KernelVersion& version);
  /// What the strategy wrote did not compile: no launch of the kernel tries it again. False if that
  /// was known.
  bool giveUp(runtime::Strategy strategy);
  bool isGivenUp(runtime::Strategy strategy);

 private:
  std::mutex mutex_;
  std::string fingerprint_;
  std::set<runtime::Strategy> givenUp_;
  std::optional<strategies::Pointwise> pointwise_;
  std::map<std::vector<std::uint64_t>, std::shared_ptr<const strategies::Rows>> rows_;
  std::map<std::vector<int>, std::shared_ptr<const strategies::Tiled>> tiled_;
  std::map<std::vector<int>, std::shared_ptr<const strategies::PlaneQueue>> streamed_;
};

/// Chooses the strategy (HPL_STRATEGY; else what tuning has found, else what wishFor() says where
/// that applies) and says so under HPL_EXPLAIN. `shape` is
/// that of the launch as the kernel sees it. With a `variant` that one is used without a word;
/// throws LaunchError where it does not apply.
LaidOut layOut(const Plan& plan, const Shape& shape, const Argument* arguments,
               const Variant* variant = nullptr);

/// The kernel as it was written, for a launch that a strategy's code failed; says so under
/// HPL_EXPLAIN.
LaidOut asWritten(const Plan& plan, const Shape& shape, const std::string& reason);

/// The reason where code of the strategy failed.
std::string doesNotCompile(runtime::Strategy strategy);

/// Lanes of the vectors that the device computes with, for the kernel's widest elements.
int lanesFor(const KernelVersion& version, const runtime::DeviceState& device);

/// Vectors side by side that rows are to have; 0: as rows choose themselves.
int vectorsFor(const KernelVersion& version, const Shape& shape, int lanes);

/// The kernel's axes, the one along OpenCL's dimension 0 first.
std::array<int, 3> orderOf(const Shape& shape);

}  // namespace hpl::launch
