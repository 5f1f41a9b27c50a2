// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "hpl/ranks/parts.h"

namespace hpl_tests {

/// The bytes of a message in several places of memory, between which there is something else.
class Scattered {
 public:
  /// `cuts`: how many bytes lie in each place but the last; as long as there are any.
  Scattered(const std::vector<std::byte>& bytes, const std::vector<std::size_t>& cuts) {
    std::size_t at = 0;
    for (const std::size_t cut : cuts) {
      add(bytes, at, std::min(cut, bytes.size() - at));
      at += std::min(cut, bytes.size() - at);
    }
    add(bytes, at, bytes.size() - at);
  }

  std::vector<std::byte> bytes() const {
    std::vector<std::byte> all;
    for (const std::vector<std::byte>& place : places_)
      all.insert(all.end(), place.begin(), place.end());
    return all;
  }
  template <class Byte>
  hpl::ranks::Parts<Byte> parts() {
    typename hpl::ranks::Parts<Byte>::List list;
    for (std::vector<std::byte>& place : places_) list.emplace_back(place);
    return hpl::ranks::Parts<Byte>(
        std::make_shared<const typename hpl::ranks::Parts<Byte>::List>(std::move(list)));
  }

 private:
  void add(const std::vector<std::byte>& bytes, std::size_t at, std::size_t count) {
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    places_.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count));
  }

  std::vector<std::vector<std::byte>> places_;
};

}  // namespace hpl_tests
