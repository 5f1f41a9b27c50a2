// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

/// Runs the blocks of a page of the guide; extract_snippets.py makes the files that use this.
namespace docs {

/// Adds a block to those that main() runs. `name` is page and line.
struct Registrar {
  Registrar(const char* name, std::function<void()> run);
};

/// Whether the pieces of `pattern` between "..." occur in `text` in their order; runs of white
/// space count as one space.
bool matches(const std::string& text, const std::string& pattern);

/// A block that passes when `run` throws an E whose message matches `pattern`.
template <class E>
std::function<void()> expect(void (*run)(), const char* pattern) {
  return [run, pattern] {
    try {
      run();
    } catch (const E& error) {
      if (matches(error.what(), pattern)) return;
      throw std::runtime_error(std::string("the message is not the printed one, but:\n") +
                               error.what());
    }
    throw std::runtime_error("nothing was thrown");
  };
}

}  // namespace docs
