// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/rewritten_kernels.h"

#include "hpl/ir/printer.h"
#include "hpl/runtime/binary_store.h"

namespace hpl::layout {

using strategies::Columns;
using strategies::ColumnsOptions;
using strategies::PlaneQueue;
using strategies::PlaneQueueOptions;
using strategies::Rows;
using strategies::RowsOptions;
using strategies::Tiled;
using strategies::TileOptions;

std::shared_ptr<const Rows> RewrittenKernels::rows(const KernelVersion& version,
                                                   const RowsOptions& options) {
  std::vector<std::uint64_t> key{static_cast<std::uint64_t>(options.dims),
                                 static_cast<std::uint64_t>(options.order[0]),
                                 static_cast<std::uint64_t>(options.order[1]),
                                 static_cast<std::uint64_t>(options.order[2]),
                                 static_cast<std::uint64_t>(options.lanes),
                                 static_cast<std::uint64_t>(options.vectors),
                                 static_cast<std::uint64_t>(options.jam),
                                 (options.exact ? 1u : 0u) + (options.streams ? 2u : 0u),
                                 static_cast<std::uint64_t>(options.vectorBytes)};
  key.push_back(options.counters.size());
  for (const auto& [param, extents] : options.counters) {
    key.push_back(static_cast<std::uint64_t>(param));
    key.insert(key.end(), extents.begin(), extents.end());
  }
  const std::lock_guard lock(mutex_);
  // Most kernels are the same for all sizes.
  const auto known = rows_.find(key);
  if (known != rows_.end() && !known->second->dependsOnSize) return known->second;
  if (known != rows_.end()) key.insert(key.end(), options.size.begin(), options.size.end());
  auto& rows = rows_[key];
  if (!rows)
    rows = std::make_shared<const Rows>(strategies::rows(*version.kernel, version.access, options));
  return rows;
}

std::shared_ptr<const Tiled> RewrittenKernels::tiled(const KernelVersion& version,
                                                     const TileOptions& options) {
  const std::vector<int> key{
      options.dims,     options.order[0], options.order[1],
      options.order[2], options.local[0], options.local[1],
      options.local[2], options.perItem,  static_cast<int>(options.localMemory)};
  const std::lock_guard lock(mutex_);
  auto& tiled = tiled_[key];
  if (!tiled)
    tiled =
        std::make_shared<const Tiled>(strategies::tile(*version.kernel, version.access, options));
  return tiled;
}

std::shared_ptr<const PlaneQueue> RewrittenKernels::streamed(const KernelVersion& version,
                                                             const PlaneQueueOptions& options) {
  const std::vector<int> key{
      options.dims,     options.order[0], options.order[1], options.order[2],
      options.local[0], options.local[1], options.local[2], static_cast<int>(options.localMemory)};
  const std::lock_guard lock(mutex_);
  auto& streamed = streamed_[key];
  if (!streamed)
    streamed = std::make_shared<const PlaneQueue>(
        strategies::planeQueue(*version.kernel, version.access, options));
  return streamed;
}

std::shared_ptr<const Columns> RewrittenKernels::columns(const KernelVersion& version,
                                                         const ColumnsOptions& options) {
  std::vector<std::uint64_t> key;
  for (const int value :
       {options.dims, options.order[0], options.order[1], options.order[2], options.elements,
        options.between, options.lanes, static_cast<int>(options.exact),
        static_cast<int>(options.marches), static_cast<int>(options.wholeRows)})
    key.push_back(static_cast<std::uint64_t>(value));
  const std::lock_guard lock(mutex_);
  const auto known = columns_.find(key);
  if (known != columns_.end() && !known->second->dependsOnSize) return known->second;
  if (known != columns_.end()) key.insert(key.end(), options.size.begin(), options.size.end());
  auto& columns = columns_[key];
  if (!columns)
    columns = std::make_shared<const Columns>(
        strategies::columns(*version.kernel, version.access, options));
  return columns;
}

std::shared_ptr<const strategies::GroupLoops> RewrittenKernels::groupLoops(
    const KernelVersion& version, int dims, const std::array<int, 3>& local) {
  const std::lock_guard lock(mutex_);
  auto& groups = groupLoops_[{dims, local}];
  if (!groups)
    groups = std::make_shared<const strategies::GroupLoops>(
        strategies::groupLoops(*version.kernel, version.access, dims, local));
  return groups;
}

const strategies::Pointwise& RewrittenKernels::pointwise(const KernelVersion& version) {
  const std::lock_guard lock(mutex_);
  if (!pointwise_) pointwise_ = strategies::pointwiseOf(*version.kernel, version.access);
  return *pointwise_;
}

bool RewrittenKernels::giveUp(runtime::Strategy strategy) {
  const std::lock_guard lock(mutex_);
  return givenUp_.insert(strategy).second;
}

bool RewrittenKernels::isGivenUp(runtime::Strategy strategy) {
  const std::lock_guard lock(mutex_);
  return givenUp_.contains(strategy);
}

const std::string& RewrittenKernels::fingerprint(const KernelVersion& version) {
  const std::lock_guard lock(mutex_);
  if (fingerprint_.empty())
    fingerprint_ = runtime::hexHash(ir::print(*version.kernel)).substr(0, 16);
  return fingerprint_;
}

}  // namespace hpl::layout
