// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hpl/layout/kernel_version.h"
#include "hpl/runtime/settings.h"
#include "hpl/strategies/columns.h"
#include "hpl/strategies/group_loops.h"
#include "hpl/strategies/plane_queue.h"
#include "hpl/strategies/pointwise.h"
#include "hpl/strategies/rows.h"
#include "hpl/strategies/tile.h"

namespace hpl::layout {

/// Rewritten kernels by what they were rewritten for; one table per captured kernel.
class RewrittenKernels {
 public:
  std::shared_ptr<const strategies::Rows> rows(const KernelVersion& version,
                                               const strategies::RowsOptions& options);
  std::shared_ptr<const strategies::Tiled> tiled(const KernelVersion& version,
                                                 const strategies::TileOptions& options);
  std::shared_ptr<const strategies::PlaneQueue> streamed(
      const KernelVersion& version, const strategies::PlaneQueueOptions& options);
  std::shared_ptr<const strategies::Columns> columns(const KernelVersion& version,
                                                     const strategies::ColumnsOptions& options);
  /// The loops for groups of these sizes along each axis.
  std::shared_ptr<const strategies::GroupLoops> groupLoops(const KernelVersion& version, int dims,
                                                           const std::array<int, 3>& local);
  /// The facts on which the choice for kernels without neighbours and loops depends.
  const strategies::Pointwise& pointwise(const KernelVersion& version);
  /// Stands for the kernel from one process to the next: a hash of what it computes.
  const std::string& fingerprint(const KernelVersion& version);
  /// Notes that the strategy's code did not compile: no launch of the kernel tries it again. False
  /// if that was known.
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
  std::map<std::vector<std::uint64_t>, std::shared_ptr<const strategies::Columns>> columns_;
  std::map<std::pair<int, std::array<int, 3>>, std::shared_ptr<const strategies::GroupLoops>>
      groupLoops_;
};

}  // namespace hpl::layout
