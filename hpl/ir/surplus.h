// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "hpl/ir/kernel.h"

/// Kernels with barriers in groups that stick out of the global domain: the surplus work-items
/// run along, because the others wait for them, and fill their cells of local memory.
namespace hpl::ir {

/// Bits of the three axes.
inline constexpr std::uint8_t kAllAxes = 7;

/// Finds the loads of global and constant memory that surplus work-items perform. A group shares
/// data by them: `tile[lidx] = in[k * lszx + lidx]` needs every work-item. The rules:
/// - a load whose index does not depend on the work-item's own id along an axis happens, whether or
///   not the work-item is surplus along that axis; it gives 0 outside of the array;
/// - so does one that fills a tile at another place than its own id (`in[idx - 1]`), a local array
///   from which work-items read neighbours;
/// - all others give 0, among them those whose values a tree combines, one per work-item.
/// Loads through AliasArrays always give 0.
class SurplusLoads {
 public:
  SurplusLoads() = default;
  explicit SurplusLoads(const Kernel& kernel);

  /// Bit a: surplus work-items along axis a get 0. kAllAxes for other accesses than loads.
  std::uint8_t axesOf(const Access& access) const {
    const auto found = axes_.find(&access);
    return found == axes_.end() ? kAllAxes : found->second;
  }
  /// Whether some load happens for some surplus work-items of a launch with this many guarded axes.
  bool anyWithin(int guardDims) const;

 private:
  /// Those that are not kAllAxes.
  std::unordered_map<const Access*, std::uint8_t> axes_;
};

/// A statement by which surplus work-items spoil what their group combines.
struct SurplusDefect {
  /// The local array that they write.
  const Variable* array = nullptr;
  SourceLocation where;
};

/// Finds a store to a local array that surplus work-items would perform, of a value that depends on
/// their own ids and is not neutral in what the group makes of the array: not 0 in a sum, anything
/// in a minimum or a product. Stores under an upper bound of the id (`if_(idx < szx)`) and values
/// that are chosen by one do not count. Null for kernels without barriers.
std::optional<SurplusDefect> findSurplusDefect(const Kernel& kernel);

}  // namespace hpl::ir
