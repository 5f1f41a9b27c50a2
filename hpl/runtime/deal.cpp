// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/deal.h"

namespace hpl::runtime {

std::vector<Dealt> deal(std::span<const DeviceType> types, int place, int processes) {
  const auto own = static_cast<std::size_t>(place);
  const auto all = static_cast<std::size_t>(processes);
  std::vector<Dealt> result;
  if (types.empty()) return result;
  if (types.size() >= all) {
    for (std::size_t device = own; device < types.size(); device += all) result.push_back({device});
    return result;
  }
  const std::size_t device = own % types.size();
  const auto users = static_cast<int>((all - device + types.size() - 1) / types.size());
  if (users == 1) return {{device}};
  if (types[device] != CPU) return {{device, 0, 1, true}};
  return {{device, static_cast<int>(own / types.size()), users, false}};
}

}  // namespace hpl::runtime
