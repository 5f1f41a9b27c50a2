// SPDX-License-Identifier: Apache-2.0
#include "hpl/topology/core_binding.h"

#ifdef HPL_WITH_HWLOC

#include <hwloc.h>

#include <memory>

namespace hpl::topology {
namespace {

struct DestroyCores {
  void operator()(hwloc_topology* cores) const noexcept { hwloc_topology_destroy(cores); }
};
using Cores = std::unique_ptr<hwloc_topology, DestroyCores>;

struct FreeSet {
  void operator()(hwloc_bitmap_s* set) const noexcept { hwloc_bitmap_free(set); }
};
using CoreSet = std::unique_ptr<hwloc_bitmap_s, FreeSet>;

/// Empty: hwloc does not know this machine.
Cores coresOfMachine() {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return nullptr;
  Cores cores(made);
  return hwloc_topology_load(made) == 0 ? std::move(cores) : nullptr;
}

}  // namespace

bool bindToCores(std::span<const CoreRange> own, unsigned all) {
  const Cores cores = coresOfMachine();
  if (cores == nullptr ||
      hwloc_get_nbobjs_by_type(cores.get(), HWLOC_OBJ_PU) != static_cast<int>(all))
    return false;
  const CoreSet now(hwloc_bitmap_alloc());
  // Strict: all threads have the same set.
  const int asked =
      hwloc_get_cpubind(cores.get(), now.get(), HWLOC_CPUBIND_PROCESS | HWLOC_CPUBIND_STRICT);
  if (asked != 0 ||
      !hwloc_bitmap_isequal(now.get(), hwloc_topology_get_topology_cpuset(cores.get())))
    return false;
  const CoreSet wanted(hwloc_bitmap_alloc());
  for (const CoreRange& range : own) {
    for (unsigned i = range.first; i < range.first + range.count; ++i) {
      const hwloc_obj_t core = hwloc_get_obj_by_type(cores.get(), HWLOC_OBJ_PU, i);
      if (core == nullptr) return false;
      hwloc_bitmap_or(wanted.get(), wanted.get(), core->cpuset);
    }
  }
  return hwloc_set_cpubind(cores.get(), wanted.get(), HWLOC_CPUBIND_PROCESS) == 0;
}

void unbindFromCores() {
  const Cores cores = coresOfMachine();
  if (cores == nullptr) return;
  hwloc_set_cpubind(cores.get(), hwloc_topology_get_topology_cpuset(cores.get()),
                    HWLOC_CPUBIND_PROCESS);
}

}  // namespace hpl::topology

#else

namespace hpl::topology {

bool bindToCores(std::span<const CoreRange>, unsigned) { return false; }

void unbindFromCores() {}

}  // namespace hpl::topology

#endif
