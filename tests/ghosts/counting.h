// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

#include "hpl/runtime/cl.h"

/// Counts what a thread allocates and asks of the driver. The file behind this one counts the
/// allocations of the whole test program, and stands between the library and the OpenCL loader.
namespace ghosts_tests {

/// The actions of the calling thread since counting began.
struct Counts {
  std::size_t allocations = 0;
  /// Objects made, other than events.
  std::size_t objects = 0;
  std::size_t arguments = 0;
  /// clFinish and clWaitForEvents.
  std::size_t waits = 0;
  std::size_t launches = 0;
  std::size_t writes = 0;
  /// Reads, writes, copies and functions of the host's: what transfers consist of.
  std::size_t transfers = 0;
  /// Reads of a device's buffer that were enqueued after a write into one.
  std::size_t lateReads = 0;
  struct Flushed {
    cl_command_queue queue = nullptr;
    std::size_t times = 0;
  };
  std::array<Flushed, 32> flushed;

  void flush(cl_command_queue queue) {
    for (Flushed& entry : flushed) {
      if (entry.queue != nullptr && entry.queue != queue) continue;
      entry.queue = queue;
      ++entry.times;
      return;
    }
  }
  std::size_t mostFlushes() const {
    std::size_t most = 0;
    for (const Flushed& entry : flushed) most = std::max(most, entry.times);
    return most;
  }
  void read() {
    if (writes > 0) ++lateReads;
  }
};

/// Where the calling thread counts; null: nowhere.
extern thread_local Counts* counts;

/// The counts of an action.
template <class Action>
Counts countsOf(Action&& action) {
  Counts result;
  counts = &result;
  action();
  counts = nullptr;
  return result;
}

/// Repeats a step until everything has its memory.
void repeatUntilSteady(const std::function<void()>& step);
/// Waits for all devices of the tests.
void finishAll();

/// The same, then checks that it needs no more. Several launches, and every assignment between
/// views, are steps of their own.
void checkSteady(const std::function<void()>& step, std::size_t launchesPerStep,
                 std::size_t assignments = 0);

/// Whether devices wait for each other without the host's help.
bool devicesWaitByThemselves();

}  // namespace ghosts_tests
