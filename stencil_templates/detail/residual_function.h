// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "hpl/hpl.h"

/// A function of a cell's new and old value that says how much it changed.
namespace hpl::stencils {

class ResidualFunction {
 public:
  ResidualFunction() = default;
  virtual ~ResidualFunction() = default;
  ResidualFunction(const ResidualFunction&) = delete;
  ResidualFunction& operator=(const ResidualFunction&) = delete;
  /// Type of the values that it takes.
  virtual ir::Type type() const = 0;
  /// Records the function; a scalar.
  virtual detail::Node record(detail::Node now, detail::Node before) const = 0;
};

/// The type of residuals of such values.
inline ir::Type residualTypeOf(const ir::Type& value) {
  return value.scalar == ir::Scalar::Double ? irType<double>() : irType<float>();
}

/// The residual of a cell; of a null function the absolute difference.
inline detail::Node residualNode(const ResidualFunction* function, const ir::Type& value,
                                 detail::Node now, detail::Node before) {
  const ir::Type result = residualTypeOf(value);
  if (function != nullptr) return detail::convertNode(function->record(now, before), result);
  const detail::Node a = detail::convertNode(now, result);
  const detail::Node b = detail::convertNode(before, result);
  return detail::builtinNode(ir::Builtin::fabs_, result,
                             {detail::binaryNode(ir::BinaryOp::Sub, result, a, b)});
}

template <class F, class Params>
class ResidualOf;
template <class F, class... P>
class ResidualOf<F, std::tuple<P...>> final : public ResidualFunction {
  static_assert(sizeof...(P) == 2,
                "HPL: a residual takes the new and the old value: [](Float now, Float before)");
  using Value = typename detail::ArrayTraits<
      std::remove_cvref_t<std::tuple_element_t<0, std::tuple<P...>>>>::Element;
  static_assert((std::is_same_v<std::remove_cvref_t<P>, Array<Value, 0>> && ...),
                "HPL: both values that a residual takes are scalars of one type, such as Float");

 public:
  explicit ResidualOf(F f) : f_(std::move(f)) {}
  ir::Type type() const override { return irType<Value>(); }
  detail::Node record(detail::Node now, detail::Node before) const override {
    Array<Value, 0> a{Expr<Value>(now)};
    Array<Value, 0> b{Expr<Value>(before)};
    auto result = const_cast<F&>(f_)(a, b);
    static_assert(detail::ScalarType<detail::ValueOf<decltype(result)>>,
                  "HPL: a residual is a scalar");
    return detail::nodeOf(result);
  }

 private:
  F f_;
};

template <class F>
std::shared_ptr<const ResidualFunction> makeResidual(F f) {
  return std::make_shared<const ResidualOf<F, typename detail::Signature<F>::Params>>(std::move(f));
}

}  // namespace hpl::stencils
