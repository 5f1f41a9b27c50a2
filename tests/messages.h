// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// Checks of the messages of errors.
namespace hpl_tests {

/// Runs `f`, which must throw an E, and returns its message.
template <class E, class F>
std::string messageOf(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace hpl_tests
