// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

/// The seeds of a random test, in a range-based for: from `first` to `last`. TEST_ROUNDS=20 makes
/// twenty times as many, and TEST_FIRST_ROUND=21 begins with those that twenty rounds did not have.
class Seeds {
 public:
  Seeds(unsigned first, unsigned last)
      : first_{first + (number("TEST_FIRST_ROUND") - 1) * (last - first + 1)},
        past_{first_.seed + number("TEST_ROUNDS") * (last - first + 1)} {}

  struct Iterator {
    unsigned seed;
    unsigned operator*() const { return seed; }
    Iterator& operator++() {
      ++seed;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return seed != other.seed; }
  };
  Iterator begin() const { return first_; }
  Iterator end() const { return past_; }

 private:
  /// 1 unless the environment says more.
  static unsigned number(const char* variable) {
    const char* text = std::getenv(variable);
    const int value = text == nullptr ? 1 : std::atoi(text);
    return value < 1 ? 1 : static_cast<unsigned>(value);
  }

  Iterator first_, past_;
};
