// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

#include "hpl/lang/capture.h"

namespace hpl::detail {

/// The object that stands for parameter P while a function is recorded. A scalar by value is made
/// in the call itself, where C++ moves nothing: a scalar that is copied or moved is a new variable.
template <class P>
class RecordedArgument {
  using Object = std::remove_cvref_t<P>;

 public:
  explicit RecordedArgument(Symbol symbol) : symbol_(symbol), object_(Object::fromSymbol(symbol)) {}
  RecordedArgument(const RecordedArgument&) = delete;
  RecordedArgument& operator=(const RecordedArgument&) = delete;

  P pass() {
    if constexpr (std::is_reference_v<P>) {
      return static_cast<P>(object_);
    } else {
      return Object::fromSymbol(symbol_);
    }
  }

 private:
  Symbol symbol_;
  Object object_;
};

}  // namespace hpl::detail
