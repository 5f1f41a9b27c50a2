// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hpl/strategies/detail/builder.h"

namespace hpl::strategies::detail {

/// Goes on along an axis from id to id, and keeps what it will read again: elements (or vectors of
/// them) that are read at several distances from the id are loaded once, at the largest one, and
/// handed on from turn to turn. Caches see each of them once instead of once for each distance. All
/// loads of a turn come first, so that it waits for memory once.
///
/// A body has to be written twice: the first time to see what it reads, then, after open(), to read
/// that from what has been kept.
class March {
 public:
  /// `at`: the id in the turn (ulong); the first one is `begin`, which is of another type.
  March(Builder& builder, const ir::Variable* at, const ir::Expr* begin)
      : builder_(builder), at_(at), begin_(begin) {}

  /// An element that every turn reads: null when it is seen, then the variable that holds it. `row`
  /// stands for all elements that differ from it in their distance from the id alone, which is in
  /// this dimension.
  const ir::Expr* element(const std::string& row, std::size_t dimension, std::int64_t distance,
                          const ir::Access& element, const ir::Type& type);
  /// Everything has been seen.
  void open();

  /// The code before the first turn, at the beginning of each turn, and at its end.
  ir::Block& before() { return *before_; }
  ir::Block& first() { return *first_; }
  ir::Block& last() { return *last_; }

 private:
  struct Window {
    ir::Access element;
    ir::Type type;
    std::size_t dimension = 0;
    std::int64_t from = 0;
    std::int64_t to = 0;
    /// One for each distance.
    std::vector<ir::Variable*> kept;
  };
  const ir::Expr* load(const Window& window, const ir::Expr* id, std::int64_t distance);

  Builder& builder_;
  const ir::Variable* at_;
  const ir::Expr* begin_;
  bool isOpen_ = false;
  std::map<std::string, Window> windows_;
  ir::Block* before_ = nullptr;
  ir::Block* first_ = nullptr;
  ir::Block* last_ = nullptr;
};

}  // namespace hpl::strategies::detail
