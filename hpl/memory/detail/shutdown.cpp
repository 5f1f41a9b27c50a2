// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/shutdown.h"

#include <fmt/format.h>

#include <mutex>

#include "hpl/memory/detail/box_kernels.h"
#include "hpl/memory/detail/coherence.h"
#include "hpl/memory/detail/host_access.h"
#include "hpl/memory/detail/packing.h"
#include "hpl/memory/detail/staging_pool.h"
#include "hpl/ranks/transport.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/runtime.h"

namespace hpl::memory::detail {

namespace {

// Arrays that are still alive when the process ends.
void shutDown() {
  Lock lock(coherenceMutex());
  for (auto& memory : deviceMemories()) {
    while (!memory->replicas.empty()) {
      RootState& state = memory->replicas.back()->root->state();
      try {
        bringHomeForGood(lock, state);
      } catch (const std::exception& error) {
        runtime::log::error(fmt::format("{} is left without its last values: {}",
                                        state.root.describe(), error.what()));
      }
      dropReplicas(state);
      state.host.transfers.clear();
    }
    memory->compute.clear();
  }
  clearStagingPool();
  ranks::clearMessageMemory();
  clearPacking();
  clearBoxKernels();
}

}  // namespace

void registerShutdown() {
  static std::once_flag once;
  std::call_once(once, [] { runtime::Runtime::atShutdown(shutDown); });
}

}  // namespace hpl::memory::detail
