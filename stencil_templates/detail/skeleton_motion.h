// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "hpl/hpl.h"
#include "stencil_templates/detail/skeleton_choices.h"
#include "stencil_templates/program.h"
#include "stencil_templates/stencil.h"

namespace hpl::stencils {

template <class T, int N>
Array<T, N> arrayOf(const std::array<std::int64_t, N>& sizes) {
  return [&]<std::size_t... D>(std::index_sequence<D...>) {
    return Array<T, N>(static_cast<std::size_t>(sizes[D])...);
  }(std::make_index_sequence<N>());
}

/// One computation while it runs. Its functions are called in this order.
template <class T, int N>
class SkeletonMotion {
 public:
  SkeletonMotion() = default;
  SkeletonMotion(const SkeletonMotion&) = delete;
  SkeletonMotion& operator=(const SkeletonMotion&) = delete;
  virtual ~SkeletonMotion() = default;

  /// Makes a first step on zeros: it compiles the kernels, measures weights, and cuts the fields as
  /// all steps will have them, so that initial values are set where they are needed.
  virtual void rehearse() = 0;
  /// Sets the fields to zero.
  virtual void clear() = 0;
  /// The field that initial values are put into.
  virtual Array<T, N>& start(std::size_t field) = 0;
  /// After the initial values; `isClear`: they are all zero.
  virtual void begin(bool isClear) = 0;
  virtual void advance(std::int64_t steps) = 0;
  /// The field as the steps have left it.
  virtual Array<T, N>& now(std::size_t field) = 0;
};

/// One step from an array into another one, without its C++ type.
struct SkeletonTurn {
  using Launch = std::function<FRunner(const launch::LaunchOptions& options,
                                       const launch::Argument& in, const launch::Argument& out)>;
  launch::LaunchOptions options;
  /// Not split: the library cuts the arrays, and moves the cells that a launch reads.
  launch::Annotation annotation;
  Launch launch;
};

/// Steps by turns from one array to the other and back. Ghosts of annotated arrays are exchanged
/// before each launch but the first, so never after the last one; the launch before it has computed
/// the borders first where that pays (EPSILOD, Algorithm 1).
template <class T, int N>
class TurnMotion final : public SkeletonMotion<T, N> {
 public:
  TurnMotion(SkeletonTurn turn, const std::array<std::int64_t, N>& sizes)
      : turn_(std::move(turn)), a_(arrayOf<T, N>(sizes)), b_(arrayOf<T, N>(sizes)) {
    clear();
  }

  void rehearse() override { launch(a_, b_); }
  void clear() override {
    a_ = T(0);
    b_ = T(0);
  }
  Array<T, N>& start(std::size_t) override { return a_; }
  /// Cells that lack neighbours are never written: they have to be in both arrays.
  void begin(bool isClear) override {
    if (isClear) return;
    const auto from = std::as_const(a_).local();
    const auto to = b_.local();
    const auto isAlike = [](const LocalPart<const T, N>& x, const LocalPart<T, N>& y) {
      return x.first() == y.first() && x.extents() == y.extents();
    };
    if (!std::equal(from.begin(), from.end(), to.begin(), to.end(), isAlike)) {
      b_ = a_;
      return;
    }
    for (std::size_t k = 0; k < from.size(); ++k) copyPart(from[k], to[k]);
  }
  void advance(std::int64_t steps) override {
    for (; steps > 0; --steps, ++launches_) {
      const bool isOdd = launches_ % 2 != 0;
      Array<T, N>& in = isOdd ? b_ : a_;
      FRunner& runner = isOdd ? back_ : there_;
      if (launches_ > 0 && turn_.annotation.count > 0) in.syncGhosts();
      if (launches_ < 2) {
        runner = launch(in, isOdd ? a_ : b_);
      } else {
        runner.run();
      }
    }
  }
  Array<T, N>& now(std::size_t) override { return launches_ % 2 != 0 ? b_ : a_; }

 private:
  FRunner launch(Array<T, N>& in, Array<T, N>& out) const {
    launch::Argument from = launch::makeArgument(in), to = launch::makeArgument(out);
    from.annotate(&turn_.annotation);
    to.annotate(&turn_.annotation);
    return turn_.launch(turn_.options, from, to);
  }

  /// Both are the same cells of arrays that are cut alike.
  static void copyPart(const LocalPart<const T, N>& from, const LocalPart<T, N>& to) {
    std::size_t rows = 1;
    for (std::size_t d = 0; d + 1 < N; ++d) rows *= to.extents()[d];
    std::array<std::size_t, N> row{};
    for (; rows > 0; --rows) {
      std::size_t source = 0, target = 0;
      for (std::size_t d = 0; d + 1 < N; ++d) {
        source += row[d] * from.strides()[d];
        target += row[d] * to.strides()[d];
      }
      std::copy_n(from.data() + source, to.extents()[N - 1], to.data() + target);
      for (std::size_t d = N - 1; d-- > 0;) {
        if (++row[d] < to.extents()[d]) break;
        row[d] = 0;
      }
    }
  }

  SkeletonTurn turn_;
  Array<T, N> a_, b_;
  FRunner there_, back_;
  std::int64_t launches_ = 0;
};

/// Steps of a stencil with boundaries.
template <class T, int N>
class StencilMotion final : public SkeletonMotion<T, N> {
 public:
  StencilMotion(StencilLauncher launcher, const std::array<std::int64_t, N>& sizes)
      : launcher_(std::move(launcher)), a_(arrayOf<T, N>(sizes)), b_(arrayOf<T, N>(sizes)) {
    clear();
  }

  void rehearse() override { launcher_.iterate(1)(a_, b_); }
  void clear() override {
    a_ = T(0);
    b_ = T(0);
  }
  Array<T, N>& start(std::size_t) override { return a_; }
  void begin(bool) override {}
  void advance(std::int64_t steps) override { launcher_.iterate(steps)(a_, b_); }
  Array<T, N>& now(std::size_t) override { return a_; }

 private:
  StencilLauncher launcher_;
  Array<T, N> a_, b_;
};

/// Steps of a program of several stencils.
template <class T, int N>
class ProgramMotion final : public SkeletonMotion<T, N> {
 public:
  using Fields = std::vector<Array<T, N>>;

  ProgramMotion(int fields, const std::function<void(StencilProgram&, Fields&)>& build,
                const SkeletonChoices& choices, const std::array<std::int64_t, N>& sizes) {
    fields_.reserve(static_cast<std::size_t>(fields));
    for (int k = 0; k < fields; ++k) fields_.push_back(arrayOf<T, N>(sizes));
    clear();
    build(program_, fields_);
    chooseFor(program_, choices, N);
  }

  void rehearse() override { program_.run(1); }
  void clear() override {
    for (Array<T, N>& field : fields_) field = T(0);
  }
  Array<T, N>& start(std::size_t field) override { return fields_[field]; }
  void begin(bool) override {}
  void advance(std::int64_t steps) override { program_.run(steps); }
  Array<T, N>& now(std::size_t field) override { return fields_[field]; }

 private:
  Fields fields_;
  StencilProgram program_;
};

}  // namespace hpl::stencils
