// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "hpl/ir/detail/interpreter/machine.h"

namespace hpl::ir::detail {

/// Gives every variable its place: private ones once per work-item of a batch, local ones once.
class StorageTable {
 public:
  explicit StorageTable(Machine& machine) : machine_(machine) {}
  /// The variable's storage, made at first use.
  Storage* of(const Variable* variable);
  /// An array or local scalar whose memory is known by now; overrides `of`'s own making.
  void bindGlobal(const Variable* variable, const ArrayArgument& argument);
  void bindLocal(const Variable* variable, const std::vector<std::int64_t>& extents);
  /// A row of one value per work-item that lives as long as the table (function results).
  std::byte* newRow(std::int64_t size) { return allocate(machine_.width * size); }
  std::int64_t width() const { return machine_.width; }
  /// The answers to a query, one per work-item.
  const std::byte* idRow(Query query, int dim) const {
    return reinterpret_cast<const std::byte*>(machine_.ids[static_cast<int>(query)][dim]);
  }
  /// Makes all private and local contents indeterminate: a new batch starts.
  void reset();

 private:
  struct Fill {
    void* address;
    std::size_t size;
    int value;
  };
  std::byte* allocate(std::int64_t bytes);
  /// Contents that `reset` poisons, with their map of written bytes if those are tracked.
  std::byte* indeterminate(std::int64_t bytes, std::uint8_t** written);
  void addMemory(Storage& storage, const std::vector<std::int64_t>& extents, std::int64_t copies);

  Machine& machine_;
  std::unordered_map<const Variable*, std::unique_ptr<Storage>> storages_;
  std::deque<Memory> memories_;
  std::vector<AlignedBytes> blocks_;
  std::vector<Fill> fills_;
};

}  // namespace hpl::ir::detail
