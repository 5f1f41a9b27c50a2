// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/operation_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace hpl::ranks {

std::uint64_t mixed(std::uint64_t hash, std::string_view text) noexcept {
  for (const char c : text) hash = mixed(hash, static_cast<unsigned char>(c));
  return mixed(hash, text.size());
}

void OperationLog::begin(std::string_view what, std::uint64_t content) {
  const std::lock_guard lock(mutex_);
  ++mark_.number;
  mark_.hash = mixed(mixed(mark_.hash, noted_), content);
  hashes_[mark_.number % hashes_.size()] = mark_.hash;
  setWhat(what);
}

void OperationLog::setWhat(std::string_view what) {
  const std::size_t length = std::min(what.size(), sizeof mark_.what - 1);
  std::memcpy(mark_.what, what.data(), length);
  std::memset(mark_.what + length, 0, sizeof mark_.what - length);
}

void OperationLog::rename(std::string_view what, std::uint64_t content) {
  const std::lock_guard lock(mutex_);
  setWhat(what);
  open_ = mixed(mixed(0, what), content);
}

std::uint64_t OperationLog::takeOpen() {
  const std::lock_guard lock(mutex_);
  return std::exchange(open_, 0);
}

void OperationLog::confirm(std::uint64_t open) {
  const std::lock_guard lock(mutex_);
  noted_ = mixed(noted_, open);
}

OperationMark OperationLog::current() const {
  const std::lock_guard lock(mutex_);
  return mark_;
}

std::string OperationLog::answer() const {
  const std::lock_guard lock(mutex_);
  const Whereabouts here{mark_, hashes_};
  return {reinterpret_cast<const char*>(&here), sizeof here};
}

bool OperationLog::disagreesWith(const Whereabouts& other) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t common = std::min(mark_.number, other.mark.number);
  const std::uint64_t last = std::max(mark_.number, other.mark.number);
  if (common == 0 || last - common >= hashes_.size()) return false;
  const std::size_t place = common % hashes_.size();
  return hashes_[place] != other.hashes[place];
}

Whereabouts whereaboutsOf(const std::string& answer) {
  Whereabouts result;
  if (answer.size() != sizeof result) return result;
  std::memcpy(&result, answer.data(), sizeof result);
  result.mark.what[sizeof result.mark.what - 1] = '\0';
  return result;
}

OperationLog& operationLog() {
  static auto* log = new OperationLog;
  return *log;
}

std::string describeDivergence(const OperationMark& own, const std::string& ownName,
                               const OperationMark& other, const std::string& otherName) {
  return fmt::format(
      "{} is at operation {}, {}; {} is at operation {}, {}{}: all ranks must do the same "
      "operations on the same arrays in the same order, so take launches, assignments and host "
      "access out of branches that depend on the rank, on random numbers, clocks or files",
      ownName, own.number, own.what, otherName, other.number, other.what,
      own.number == other.number && std::strcmp(own.what, other.what) == 0
          ? " (with other arguments, or after other operations)"
          : "");
}

}  // namespace hpl::ranks
