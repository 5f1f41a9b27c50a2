// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <unordered_map>
#include <utility>

namespace hpl::coherence::detail {

/// Keeps one object of each value that is in use: equal values become the same pointer. T has
/// hash() and ==. From time to time, values without holders are forgotten, so the size follows what
/// is in use.
template <class T>
class Interner {
 public:
  std::shared_ptr<const T> intern(T&& value) {
    const std::size_t hash = value.hash();
    if (std::shared_ptr<const T> held = find(hash, value)) return held;
    return note(hash, std::make_shared<const T>(std::move(value)));
  }
  /// The same for a value that has a pointer already, which is taken if the value is new.
  std::shared_ptr<const T> intern(const std::shared_ptr<const T>& value) {
    const std::size_t hash = value->hash();
    if (std::shared_ptr<const T> held = find(hash, *value)) return held;
    return note(hash, value);
  }
  /// Including some that are about to be forgotten.
  std::size_t size() const noexcept { return known_.size(); }

 private:
  static constexpr std::size_t kLeast = 64;

  std::shared_ptr<const T> find(std::size_t hash, const T& value) const {
    const auto [begin, end] = known_.equal_range(hash);
    for (auto i = begin; i != end; ++i) {
      std::shared_ptr<const T> held = i->second.lock();
      if (held != nullptr && *held == value) return held;
    }
    return nullptr;
  }

  std::shared_ptr<const T> note(std::size_t hash, std::shared_ptr<const T> value) {
    if (known_.size() >= limit_) forgetUnused();
    known_.emplace(hash, value);
    return value;
  }

  void forgetUnused() {
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    limit_ = std::max(kLeast, 2 * known_.size());
  }

  std::unordered_multimap<std::size_t, std::weak_ptr<const T>> known_;
  std::size_t limit_ = kLeast;
};

}  // namespace hpl::coherence::detail
