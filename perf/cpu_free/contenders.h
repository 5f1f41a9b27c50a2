// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hpl/hpl.h"

/// The contenders of the thesis on CPU-free execution, by hand in OpenCL, on one device or two.
namespace cpu_free {

/// Cells of each device: `slices` rows of `nx`, or planes of `ny` x `nx`.
struct Domain {
  int slices = 0;
  int ny = 1;
  int nx = 0;
  bool computes = true;

  std::size_t slice() const { return static_cast<std::size_t>(nx) * static_cast<std::size_t>(ny); }
};

/// Does an even number of steps, and waits for their end.
using Steps = std::function<void(int steps)>;

struct Contender {
  std::string name;
  Steps run;
  /// The cells of the devices without ghosts, one after another.
  std::function<std::vector<float>()> cells;
};

/// The contenders by the thesis's names: Copy, Overlap, P2P, NVSHMEM (here `signalled`), CPU-Free,
/// PERKS (`resident`: only where the slices of a device fit into its local memory). All begin with
/// the same cells. Devices work in the host's memory.
std::vector<Contender> contendersOn(const std::vector<hpl::Device>& devices, const Domain& domain);

}  // namespace cpu_free
