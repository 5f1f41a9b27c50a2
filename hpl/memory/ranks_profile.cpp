// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/ranks_profile.h"

#include <cstring>
#include <span>
#include <type_traits>

#include "hpl/memory/detail/session.h"

namespace hpl {
namespace {

void add(ProfilingData& sum, const ProfilingData& more) {
  sum.secsKernelCreation += more.secsKernelCreation;
  sum.secsKernelCompilation += more.secsKernelCompilation;
  sum.secsDataHostToDevice += more.secsDataHostToDevice;
  sum.secsDataDeviceToHost += more.secsDataDeviceToHost;
  sum.secsDataDeviceToDevice += more.secsDataDeviceToDevice;
  sum.secsKernelExecution += more.secsKernelExecution;
  sum.bytesHostToDevice += more.bytesHostToDevice;
  sum.bytesDeviceToHost += more.bytesDeviceToHost;
  sum.bytesDeviceToDevice += more.bytesDeviceToDevice;
  sum.launches += more.launches;
}

ProfilingData sumOfRanks(const char* call, ProfilingData (&profile)()) {
  static_assert(std::is_trivially_copyable_v<ProfilingData>);
  ranks::World* const world = memory::detail::otherRanks();
  if (world == nullptr) return profile();
  memory::detail::beginOperation(memory::detail::Party::AllRanks,
                                 [&](memory::detail::OperationName& name) { name.what = call; });
  ProfilingData sum;
  memory::detail::withRanks(memory::detail::Party::AllRanks, [&] {
    memory::detail::agree(nullptr);
    const ProfilingData own = profile();
    for (const auto& blob : world->courier().allgather(std::as_bytes(std::span(&own, 1)))) {
      ProfilingData other;
      std::memcpy(&other, blob.data(), sizeof other);
      add(sum, other);
    }
  });
  return sum;
}

}  // namespace

ProfilingData getProfile(AllRanks) { return sumOfRanks("getProfile(ALL_RANKS)", getProfile); }

ProfilingData getTotalProfile(AllRanks) {
  return sumOfRanks("getTotalProfile(ALL_RANKS)", getTotalProfile);
}

}  // namespace hpl
