// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/explain.h"

#include <cstdio>
#include <mutex>
#include <unordered_set>

#include "hpl/runtime/log.h"
#include "hpl/runtime/settings.h"

namespace hpl::runtime {
namespace {

void explain(const std::string& line) { std::fputs(("hpl: " + line + "\n").c_str(), stderr); }

}  // namespace

void explainOnce(const std::string& line) {
  if (!settings().explain) return;
  static std::mutex mutex;
  static auto& said = *new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  if (said.insert(line).second) explain(line);
}

void explainOrLog(const std::string& line) {
  if (settings().explain) return explain(line);
  log::info(line);
}

}  // namespace hpl::runtime
