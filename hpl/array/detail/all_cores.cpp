// SPDX-License-Identifier: Apache-2.0
#include "hpl/array/detail/all_cores.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace hpl::detail {

void onAllCores(std::int64_t count, void (*work)(void* context, std::int64_t i), void* context) {
  std::atomic<std::int64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      for (std::int64_t i = next++; i < count; i = next++) work(context, i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  std::vector<std::thread> helpers;
  try {
    for (std::int64_t i = 1; i < std::min(cores, count); ++i) helpers.emplace_back(run);
  } catch (const std::system_error&) {
    // Those that there are do it.
  }
  run();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace hpl::detail
