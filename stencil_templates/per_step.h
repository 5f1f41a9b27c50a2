// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "hpl/hpl.h"

namespace hpl {

/// A scalar argument of a stencil whose value is another one in each step: see perStep.
class PerStep {
 public:
  /// Values are like `like`. Steps from `steps` on have none; any: -1.
  PerStep(std::function<launch::Argument(std::int64_t step)> at, const launch::Argument& like,
          std::int64_t steps)
      : at_(std::move(at)), like_(like), steps_(steps) {}

  /// Asks for the value of a step.
  launch::Argument at(std::int64_t step) const { return at_(step); }
  /// A value of its type, without asking.
  const launch::Argument& like() const { return like_; }
  std::int64_t steps() const { return steps_; }

 private:
  std::function<launch::Argument(std::int64_t)> at_;
  launch::Argument like_;
  std::int64_t steps_;
};

namespace stencils {

[[noreturn]] void throwNoValues();

}  // namespace stencils

/// A scalar that changes from step to step, as a function of the number of the step, from 0 on in
/// each iterate(n) or run(n):
///
///     wave.iterate(1000)(now, before, speed, perStep([&](std::int64_t step) {
///       return wavelet(step * dt);
///     }));
///
/// Results are those of one launch per step with the present value; time tiles and persistent
/// kernels have the values in a table. The function is called once for each step, in their order,
/// before the first one is launched. It returns an arithmetic value, which converts as scalar
/// arguments do. A stencil that is applied once uses the value of step 0.
template <class F>
  requires std::invocable<F&, std::int64_t> && std::copy_constructible<F>
PerStep perStep(F value) {
  using T = std::remove_cvref_t<std::invoke_result_t<F&, std::int64_t>>;
  static_assert(std::is_arithmetic_v<T>,
                "HPL: perStep takes a function of the step's number that returns an arithmetic "
                "value, such as [](std::int64_t step) { return 0.1f * step; }");
  return {[value = std::move(value)](std::int64_t step) mutable {
            return launch::Argument::scalar(static_cast<T>(value(step)));
          },
          launch::Argument::scalar(T()), -1};
}

/// The same with values[step], for as many steps as there are values. Throws ArgumentError if there
/// are none; an iteration of more steps throws it, too.
template <class T>
  requires std::is_arithmetic_v<T>
PerStep perStep(std::vector<T> values) {
  if (values.empty()) stencils::throwNoValues();
  const auto steps = static_cast<std::int64_t>(values.size());
  return {[values = std::move(values)](std::int64_t step) {
            return launch::Argument::scalar(static_cast<T>(values[static_cast<std::size_t>(step)]));
          },
          launch::Argument::scalar(T()), steps};
}

}  // namespace hpl
