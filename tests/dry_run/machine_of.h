// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <fstream>
#include <string>

#include "hpl/hpl.h"

/// Machine files for tests.
namespace hpl_tests {

/// Writes a machine of `nodes` nodes with `devices` devices each, which are like the given one.
inline void writeMachine(const std::string& file, int devices, const hpl::DeviceProperties& like,
                         int nodes = 1) {
  std::ofstream(file) << fmt::format(
      R"({{"name": "test", "nodes": [{{"count": {}, "devices": [
  {{"count": {}, "kind": "{}", "memory_GiB": {}, "gflops": 100, "bandwidth_GBs": 50, "launch_us": 5,
   "compute_units": {}, "work_group_size": {}, "local_memory_KiB": {}}}]}}],
"links": {{"host": {{"bandwidth_GBs": 10, "latency_us": 5}},
          "node": {{"bandwidth_GBs": 10, "latency_us": 5}},
          "network": {{"bandwidth_GBs": 10, "latency_us": 5}}}}}})",
      nodes, devices, like.type == hpl::CPU ? "cpu" : "gpu",
      static_cast<double>(like.globalMemory) / (1024.0 * 1024.0 * 1024.0), like.computeUnits,
      like.maxWorkGroupSize, static_cast<double>(like.localMemory) / 1024.0);
}

}  // namespace hpl_tests
