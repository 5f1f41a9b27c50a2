// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/explain.h"

#include <cstdio>
#include <mutex>
#include <unordered_set>

#include "hpl/runtime/settings.h"

namespace hpl::launch {

void explainOnce(const std::string& line) {
  if (!runtime::settings().explain) return;
  static std::mutex mutex;
  static auto& said = *new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  if (said.insert(line).second) std::fputs(("hpl: " + line + "\n").c_str(), stderr);
}

}  // namespace hpl::launch
