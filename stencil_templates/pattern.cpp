// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/pattern.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "hpl/codegen/emit.h"
#include "hpl/error.h"
#include "hpl/lang/capture_state.h"

namespace hpl {
namespace {

void requireCell(const StencilPattern::Range& range) {
  if (range.first > 0 || range.second < 0)
    throw ArgumentError(fmt::format(
        "the range {}:{} does not contain the cell itself; it begins at 0 or before, and ends "
        "at 0 or after",
        range.first, range.second));
}

/// The number of cells in ranges that contain the cell; more than there are weights when it is too
/// large to be counted.
std::size_t cellsOf(const std::vector<StencilPattern::Range>& shape) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  std::int64_t cells = 1;
  for (const auto& [lo, hi] : shape) {
    const std::int64_t extent = std::int64_t{hi} - lo + 1;
    cells = extent > kMost / cells ? kMost : cells * extent;
  }
  return static_cast<std::size_t>(cells);
}

/// Reads a pattern word by word, and knows the line for messages.
class PatternReader {
 public:
  PatternReader(std::string_view text, const std::string& source) : source_(source) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      std::istringstream words(line.substr(0, line.find('#')));
      for (std::string word; words >> word;) take(word);
    }
  }

  StencilPattern finish() const {
    if (shape_.empty()) fail(line_, "there is no shape; add a line such as 'shape -1:1 -1:1'");
    if (weights_.empty()) fail(line_, "there are no weights; add a line such as 'weights 1 -2 1'");
    if (part_ == Part::Factor && !hasFactor_)
      fail(line_, "the factor is missing; give a number such as 'factor 4'");
    if (weights_.size() != cellsOf(shape_))
      fail(weightsLine_, fmt::format("a box of {} cells has {} weights; give one for each, "
                                     "row by row, 0 for those that are not read",
                                     cellsOf(shape_), weights_.size()));
    try {
      return StencilPattern(shape_, weights_, factor_);
    } catch (const ArgumentError& error) {
      fail(weightsLine_, error.what());
    }
  }

 private:
  enum class Part { None, Shape, Weights, Factor };

  [[noreturn]] void fail(int line, const std::string& what) const {
    throw ArgumentError(fmt::format("{}:{}: {}", source_, line, what));
  }

  void take(const std::string& word) {
    if (word == "shape" || word == "weights" || word == "factor") {
      if (part_ == Part::Factor && !hasFactor_)
        fail(line_, fmt::format("the factor is missing before '{}'; give a number", word));
      part_ = word == "shape" ? Part::Shape : word == "weights" ? Part::Weights : Part::Factor;
      if (part_ == Part::Weights) weightsLine_ = line_;
      return;
    }
    switch (part_) {
      case Part::Shape:
        shape_.push_back(rangeOf(word));
        return;
      case Part::Weights:
        weights_.push_back(numberOf(word));
        return;
      case Part::Factor:
        if (hasFactor_)
          fail(line_, fmt::format("unknown word '{}'; the factor is one number, and is {} already",
                                  word, factor_));
        factor_ = numberOf(word);
        hasFactor_ = true;
        return;
      default:
        fail(line_, fmt::format("unknown word '{}'; expected shape, weights or factor", word));
    }
  }

  double numberOf(const std::string& word) const {
    double value = 0;
    const char* const end = word.data() + word.size();
    const auto parsed = std::from_chars(word.data(), end, value);
    const bool tooLarge = parsed.ec == std::errc::result_out_of_range;
    if ((parsed.ec != std::errc() && !tooLarge) || parsed.ptr != end)
      fail(line_,
           fmt::format("unknown word '{}'; expected a number, shape, weights or factor", word));
    if (tooLarge || !std::isfinite(value))
      fail(line_, fmt::format("'{}' is no {}: give a finite number", word,
                              part_ == Part::Factor ? "factor" : "weight"));
    return value;
  }

  StencilPattern::Range rangeOf(const std::string& word) const {
    StencilPattern::Range range;
    const char* const end = word.data() + word.size();
    const auto first = std::from_chars(word.data(), end, range.first);
    const bool colon = first.ec == std::errc() && first.ptr != end && *first.ptr == ':';
    const auto last = colon ? std::from_chars(first.ptr + 1, end, range.second) : first;
    if (!colon || last.ec != std::errc() || last.ptr != end)
      fail(line_, fmt::format("'{}' is no range; give offsets such as -1:1", word));
    try {
      requireCell(range);
    } catch (const ArgumentError& error) {
      fail(line_, error.what());
    }
    return range;
  }

  std::string source_;
  int line_ = 0;
  int weightsLine_ = 0;
  Part part_ = Part::None;
  std::vector<StencilPattern::Range> shape_;
  std::vector<double> weights_;
  double factor_ = 1;
  bool hasFactor_ = false;
};

}  // namespace

StencilPattern::StencilPattern(std::vector<Range> shape, std::vector<double> weights, double factor)
    : shape_(std::move(shape)), weights_(std::move(weights)), factor_(factor) {
  if (shape_.empty() || shape_.size() > kMostPatternDimensions)
    throw ArgumentError(fmt::format("a pattern has one to {} dimensions, not {}",
                                    kMostPatternDimensions, shape_.size()));
  for (const Range& range : shape_) requireCell(range);
  if (weights_.size() != cellsOf(shape_))
    throw ArgumentError(fmt::format("a box of {} cells has {} weights; give one for each",
                                    cellsOf(shape_), weights_.size()));
  if (!std::isfinite(factor_) || factor_ == 0)
    throw ArgumentError(fmt::format("the factor {} does not divide anything", factor_));
  PatternNeighbour neighbour;
  for (std::size_t d = 0; d < shape_.size(); ++d) neighbour.offset[d] = shape_[d].first;
  for (std::size_t cell = 0; cell < weights_.size(); ++cell) {
    neighbour.weight = weights_[cell];
    if (!std::isfinite(neighbour.weight))
      throw ArgumentError(fmt::format("weight {} of the pattern is {}; give finite numbers",
                                      cell + 1, neighbour.weight));
    if (neighbour.weight != 0) neighbours_.push_back(neighbour);
    for (std::size_t d = shape_.size(); d-- > 0;) {
      if (++neighbour.offset[d] <= shape_[d].second) break;
      neighbour.offset[d] = shape_[d].first;
    }
  }
  if (neighbours_.empty()) throw ArgumentError("all weights of the pattern are 0");
}

StencilPattern StencilPattern::parse(std::string_view text, const std::string& source) {
  return PatternReader(text, source).finish();
}

StencilPattern StencilPattern::read(const std::string& file) {
  // A pipe without a writer would be waited for, and a device may never end.
  std::error_code ignored;
  const auto status = std::filesystem::status(file, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw ArgumentError(fmt::format("pattern file {} cannot be read: it is no regular file", file));
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw ArgumentError(fmt::format("pattern file {} cannot be read", file));
  return parse(text.str(), file);
}

void StencilPattern::requireDimensions(int n) const {
  if (n != dimensions())
    throw ArgumentError(fmt::format("the pattern has {} dimension{}, not {}", dimensions(),
                                    dimensions() == 1 ? "" : "s", n));
}

std::string StencilPattern::openClSource(const std::string& kernelName) const {
  std::vector<std::string> names{"out", "in"};
  for (int d = 0; d < dimensions() - 3; ++d) names.push_back("size" + std::to_string(d));
  detail::Capture capture(std::move(names));
  stencils::specificPattern<float>(plan());
  const std::shared_ptr<const ir::Kernel> captured = capture.finish(kernelName);
  ir::Kernel named = *captured;
  ir::Function entry = *named.entry;
  entry.name = kernelName;
  named.entry = named.arena->add(std::move(entry));
  return codegen::emit(named).source;
}

}  // namespace hpl
