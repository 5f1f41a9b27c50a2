// SPDX-License-Identifier: Apache-2.0
// Runs every registered block and reports those that throw something unexpected.
#include "tests/docs/run_snippets.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <utility>
#include <vector>

#include "hpl/hpl.h"

namespace docs {
namespace {

struct Block {
  std::string name;
  std::function<void()> run;
};

std::vector<Block>& blocks() {
  static std::vector<Block> all;
  return all;
}

std::string singleSpaced(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!space) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

}  // namespace

Registrar::Registrar(const char* name, std::function<void()> run) {
  blocks().push_back({name, std::move(run)});
}

bool matches(const std::string& text, const std::string& pattern) {
  const std::string where = singleSpaced(text);
  const std::string wanted = singleSpaced(pattern);
  std::size_t at = 0;
  for (std::size_t begin = 0; begin <= wanted.size();) {
    const std::size_t end = std::min(wanted.find("...", begin), wanted.size());
    const std::string piece = wanted.substr(begin, end - begin);
    at = where.find(piece, at);
    if (at == std::string::npos) return false;
    at += piece.size();
    begin = end + 3;
  }
  return true;
}

}  // namespace docs

int main() {
  int failures = 0;
  for (const docs::Block& block : docs::blocks()) {
    try {
      block.run();
      for (const hpl::Device& device : hpl::devices()) device.sync();
    } catch (const std::exception& error) {
      std::printf("%s: %s\n", block.name.c_str(), error.what());
      ++failures;
    }
  }
  std::printf("%zu blocks, %d failures\n", docs::blocks().size(), failures);
  return failures == 0 ? 0 : 1;
}
