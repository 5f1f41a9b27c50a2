// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>

/// The seeds of a random test, in a range-based for: from `first` to `last`. TEST_ROUNDS=20 makes
/// twenty times as many, and TEST_FIRST_ROUND=21 begins with those that twenty rounds did not have.
/// TEST_SHARE=2/3 takes the second of every three, and at least one: several settings of a test
/// share its seeds.
class Seeds {
 public:
  Seeds(unsigned first, unsigned last) {
    const unsigned count = last - first + 1;
    first_ = first + (number("TEST_FIRST_ROUND") - 1) * count;
    const unsigned past = first_ + number("TEST_ROUNDS") * count;
    unsigned share = 1;
    if (const char* text = std::getenv("TEST_SHARE"))
      if (std::sscanf(text, "%u/%u", &share, &stride_) != 2 || share < 1 || stride_ < 1)
        share = stride_ = 1;
    first_ += std::min(share, past - first_) - 1;
    past_ = first_ + (past - first_ + stride_ - 1) / stride_ * stride_;
  }

  struct Iterator {
    unsigned seed, step;
    unsigned operator*() const { return seed; }
    Iterator& operator++() {
      seed += step;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return seed != other.seed; }
  };
  Iterator begin() const { return {first_, stride_}; }
  Iterator end() const { return {past_, stride_}; }

 private:
  /// 1 unless the environment says more.
  static unsigned number(const char* variable) {
    const char* text = std::getenv(variable);
    const int value = text == nullptr ? 1 : std::atoi(text);
    return value < 1 ? 1 : static_cast<unsigned>(value);
  }

  unsigned first_ = 0, past_ = 0, stride_ = 1;
};
