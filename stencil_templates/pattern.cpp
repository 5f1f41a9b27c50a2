// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/pattern.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "hpl/codegen/emit.h"
#include "hpl/error.h"
#include "hpl/lang/detail/capture_state.h"

namespace hpl {
namespace {

std::size_t cellsOf(const std::vector<StencilPattern::Range>& shape) {
  std::size_t cells = 1;
  for (const auto& [lo, hi] : shape) cells *= static_cast<std::size_t>(hi - lo + 1);
  return cells;
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
        factor_ = numberOf(word);
        return;
      default:
        fail(line_, fmt::format("unknown word '{}'; expected shape, weights or factor", word));
    }
  }

  double numberOf(const std::string& word) const {
    double value = 0;
    const char* const end = word.data() + word.size();
    const auto parsed = std::from_chars(word.data(), end, value);
    if (parsed.ec != std::errc() || parsed.ptr != end)
      fail(line_,
           fmt::format("unknown word '{}'; expected a number, shape, weights or factor", word));
    if (!std::isfinite(value))
      fail(line_, fmt::format("'{}' is no weight: give a finite number", word));
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
    return range;
  }

  std::string source_;
  int line_ = 0;
  int weightsLine_ = 0;
  Part part_ = Part::None;
  std::vector<StencilPattern::Range> shape_;
  std::vector<double> weights_;
  double factor_ = 1;
};

}  // namespace

StencilPattern::StencilPattern(std::vector<Range> shape, std::vector<double> weights, double factor)
    : shape_(std::move(shape)), weights_(std::move(weights)), factor_(factor) {
  if (shape_.empty() || shape_.size() > 3)
    throw ArgumentError(
        fmt::format("a pattern has one to three dimensions, not {}", shape_.size()));
  for (const auto& [lo, hi] : shape_)
    if (lo > 0 || hi < 0)
      throw ArgumentError(fmt::format(
          "the range {}:{} does not contain the cell itself; it begins at 0 or before, and ends "
          "at 0 or after",
          lo, hi));
  if (weights_.size() != cellsOf(shape_))
    throw ArgumentError(fmt::format("a box of {} cells has {} weights; give one for each",
                                    cellsOf(shape_), weights_.size()));
  if (!std::isfinite(factor_) || factor_ == 0)
    throw ArgumentError(fmt::format("the factor {} does not divide anything", factor_));
  std::size_t cell = 0;
  std::array<Range, 3> box{};
  for (std::size_t d = 0; d < shape_.size(); ++d) box[d] = shape_[d];
  for (int a = box[0].first; a <= box[0].second; ++a) {
    for (int b = box[1].first; b <= box[1].second; ++b) {
      for (int c = box[2].first; c <= box[2].second; ++c) {
        const double weight = weights_[cell++];
        if (!std::isfinite(weight))
          throw ArgumentError(
              fmt::format("weight {} of the pattern is {}; give finite numbers", cell, weight));
        if (weight != 0) neighbours_.push_back({{a, b, c}, weight});
      }
    }
  }
  if (neighbours_.empty()) throw ArgumentError("all weights of the pattern are 0");
}

StencilPattern StencilPattern::parse(std::string_view text, const std::string& source) {
  return PatternReader(text, source).finish();
}

StencilPattern StencilPattern::read(const std::string& file) {
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

namespace {

template <int N>
void recordSpecific(const StencilPattern& pattern) {
  using Values = Array<float, N>;
  const auto out =
      Values::fromSymbol(detail::arrayParameter(irType<float>(), ir::Space::Global, N, false));
  const auto in =
      Values::fromSymbol(detail::arrayParameter(irType<float>(), ir::Space::Global, N, true));
  const std::array<Expr<std::size_t>, 3> ids{
      Expr<std::size_t>(idx.node()), Expr<std::size_t>(idy.node()), Expr<std::size_t>(idz.node())};
  const std::array<Expr<std::size_t>, 3> sizes{
      Expr<std::size_t>(szx.node()), Expr<std::size_t>(szy.node()), Expr<std::size_t>(szz.node())};
  const auto at = [](const Expr<std::size_t>& id, int offset) {
    if (offset == 0) return id;
    return offset < 0 ? id - static_cast<std::size_t>(-offset)
                      : id + static_cast<std::size_t>(offset);
  };
  const auto element = [&](const Values& array, const std::array<int, 3>& offset) {
    std::array<detail::Node, N> nodes{};
    for (int d = 0; d < N; ++d) {
      const auto axis = static_cast<std::size_t>(N - 1 - d);
      const int o = offset[static_cast<std::size_t>(d)];
      nodes[static_cast<std::size_t>(d)] = o == 0 ? ids[axis].node() : at(ids[axis], o).node();
    }
    return Ref<float>(detail::accessNode(array.symbol(), nodes.data(), N));
  };
  for (int d = 0; d < N; ++d) {
    const auto axis = static_cast<std::size_t>(N - 1 - d);
    const auto& [lo, hi] = pattern.shape()[static_cast<std::size_t>(d)];
    detail::beginIf(
        (ids[axis] >= static_cast<std::size_t>(-lo) && at(ids[axis], hi) < sizes[axis]).node());
  }
  Float sum = 0.0f;
  for (const PatternNeighbour& n : pattern.neighbours())
    sum += static_cast<float>(n.weight) * element(in, n.offset);
  if (pattern.factor() != 1) sum /= static_cast<float>(pattern.factor());
  element(out, {}) = sum;
  for (int d = 0; d < N; ++d) detail::endBlock();
}

}  // namespace

std::string StencilPattern::openClSource(const std::string& kernelName) const {
  detail::Capture capture({"out", "in"});
  if (dimensions() == 1) recordSpecific<1>(*this);
  if (dimensions() == 2) recordSpecific<2>(*this);
  if (dimensions() == 3) recordSpecific<3>(*this);
  const std::shared_ptr<const ir::Kernel> captured = capture.finish(kernelName);
  ir::Kernel named = *captured;
  ir::Function entry = *named.entry;
  entry.name = kernelName;
  named.entry = named.arena->add(std::move(entry));
  return codegen::emit(named).source;
}

}  // namespace hpl
