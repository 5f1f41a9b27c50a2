// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hpl/hpl.h"
#include "stencil_templates/neighbourhood.h"
#include "stencil_templates/table.h"

/// A stencil's point function without its C++ type.
namespace hpl::stencils {

using detail::Symbol;

/// The parameters and the result of a point function.
struct PointSignature {
  int dims = 0;
  /// Element types of the neighbourhoods, and of the outputs.
  std::vector<ir::Type> inputs;
  std::vector<ir::Type> outputs;
  /// The one output is the function's result; the array that is passed for it decides its type.
  bool returns = false;
  std::vector<ir::Type> parameters;

  std::size_t count() const { return inputs.size() + outputs.size() + parameters.size(); }
};

class PointFunction {
 public:
  PointFunction() = default;
  virtual ~PointFunction() = default;
  PointFunction(const PointFunction&) = delete;
  PointFunction& operator=(const PointFunction&) = delete;

  const PointSignature& signature() const noexcept { return signature_; }
  /// Records the function for one cell: reads go through `reader`, results to `cells` (one place
  /// for each output).
  virtual void record(CellReader& reader, const Node* cells, const Symbol* parameters) const = 0;

 protected:
  PointSignature signature_;
};

enum class PointParameter : unsigned char { Input, Output, Scalar, Other };

template <class P>
struct PointTraits {
  static constexpr PointParameter kKind = PointParameter::Other;
  static constexpr int kDims = 0;
  /// Parameters of the kernel that stand for it.
  static constexpr std::size_t kWidth = 1;
};
template <class T, int N>
struct PointTraits<Neighbourhood<T, N>> {
  static constexpr PointParameter kKind = PointParameter::Input;
  static constexpr int kDims = N;
  static constexpr std::size_t kWidth = 1;
  using Value = T;
};
template <class T>
struct PointTraits<Output<T>> {
  static constexpr PointParameter kKind = PointParameter::Output;
  static constexpr int kDims = 0;
  static constexpr std::size_t kWidth = 1;
  using Value = T;
};
template <class T>
struct PointTraits<Array<T, 0>> {
  static constexpr PointParameter kKind = PointParameter::Scalar;
  static constexpr int kDims = 0;
  static constexpr std::size_t kWidth = 1;
  using Value = T;
};
template <class T, int N>
struct PointTraits<Table<T, N>> {
  static constexpr PointParameter kKind = PointParameter::Scalar;
  static constexpr int kDims = 0;
  static constexpr std::size_t kWidth = N;
  using Value = T;
};

template <class P>
using PointTraitsOf = PointTraits<std::remove_cvref_t<P>>;

/// Inputs, then outputs, then scalars.
template <class... P>
constexpr bool isPointOrder() {
  const PointParameter kinds[] = {PointTraitsOf<P>::kKind...};
  for (std::size_t i = 1; i < sizeof...(P); ++i)
    if (kinds[i] < kinds[i - 1]) return false;
  return true;
}

template <class... P>
constexpr std::size_t countOf(PointParameter kind) {
  return (std::size_t{0} + ... + (PointTraitsOf<P>::kKind == kind ? 1 : 0));
}

template <class... P>
constexpr int dimsOf() {
  int dims = 0;
  for (const int own : {PointTraitsOf<P>::kDims...}) dims = own > dims ? own : dims;
  return dims;
}

/// Parameters of the kernel before those of parameter number I of a point function.
template <std::size_t I, class... P>
constexpr std::size_t placeOf() {
  const std::size_t widths[] = {PointTraitsOf<P>::kWidth...};
  std::size_t place = 0;
  for (std::size_t i = 0; i < I; ++i) place += widths[i];
  return place;
}

/// What stands for parameter P of a point function while it is recorded.
template <class P>
using PointArgument = std::conditional_t<detail::ArrayTraits<std::remove_cvref_t<P>>::kIsArray,
                                         detail::RecordedArgument<P>, std::remove_cvref_t<P>>;

/// What makes the PointArgument of a parameter, from its place.
template <class P, std::size_t Place, std::size_t Inputs, std::size_t Outputs>
auto pointArgument(CellReader& reader, const Node* cells, const Symbol* parameters) {
  using Param = std::remove_cvref_t<P>;
  if constexpr (Place < Inputs) {
    return Param(reader, static_cast<int>(Place));
  } else if constexpr (Place < Inputs + Outputs) {
    return Param(cells[Place - Inputs]);
  } else if constexpr (kIsTable<Param>) {
    return Param(&parameters[Place - Inputs - Outputs]);
  } else {
    return parameters[Place - Inputs - Outputs];
  }
}

template <class P>
decltype(auto) passed(PointArgument<P>& argument) {
  if constexpr (std::is_same_v<PointArgument<P>, std::remove_cvref_t<P>>) {
    return static_cast<P&&>(argument);
  } else {
    return argument.pass();
  }
}

/// Records what a point function does. Scalars that it changes are each cell's own, although one
/// kernel computes many cells and steps.
void recordWithOwnScalars(const std::function<void()>& record);

template <class F, class Params>
class PointFunctionOf;
template <class F, class... P>
class PointFunctionOf<F, std::tuple<P...>> final : public PointFunction {
  using Result = typename detail::Signature<F>::Result;
  static constexpr bool kReturns = !std::is_void_v<Result>;
  static constexpr std::size_t kInputs = countOf<P...>(PointParameter::Input);
  static constexpr std::size_t kOutputs = countOf<P...>(PointParameter::Output);
  static constexpr int kDims = dimsOf<P...>();

 public:
  explicit PointFunctionOf(F f) : f_(std::move(f)) {
    signature_.dims = kDims;
    signature_.returns = kReturns;
    (addParameter<P>(), ...);
    if constexpr (kReturns) signature_.outputs.push_back(irType<detail::ValueOf<Result>>());
  }

  void record(CellReader& reader, const Node* cells, const Symbol* parameters) const override {
    recordWithOwnScalars([&] { call(reader, cells, parameters, std::index_sequence_for<P...>()); });
  }

 private:
  template <class Param>
  void addParameter() {
    using Traits = PointTraitsOf<Param>;
    auto& list = Traits::kKind == PointParameter::Input    ? signature_.inputs
                 : Traits::kKind == PointParameter::Output ? signature_.outputs
                                                           : signature_.parameters;
    for (std::size_t k = 0; k < Traits::kWidth; ++k)
      list.push_back(irType<typename Traits::Value>());
  }

  template <std::size_t... I>
  void call(CellReader& reader, const Node* cells, const Symbol* parameters,
            std::index_sequence<I...>) const {
    std::tuple<PointArgument<P>...> arguments{
        pointArgument<P, placeOf<I, P...>(), kInputs, kOutputs>(reader, cells, parameters)...};
    F& function = const_cast<F&>(f_);
    if constexpr (kReturns) {
      const Node result = detail::nodeOf(function(passed<P>(std::get<I>(arguments))...));
      detail::assignNode(cells[0], result);
    } else {
      function(passed<P>(std::get<I>(arguments))...);
    }
  }

  F f_;
};

/// Whether a function can be a point function; the first that is false is what is wrong with it.
template <class Result, class Params>
struct PointChecks;
template <class Result, class... P>
struct PointChecks<Result, std::tuple<P...>> {
  static constexpr bool kKinds = ((PointTraitsOf<P>::kKind != PointParameter::Other) && ...);
  static constexpr bool kTables = (kMayBeTable<std::remove_cvref_t<P>> && ...);
  // The checks below apply to parameters of these kinds only.
  static constexpr bool kOrder = !kKinds || isPointOrder<P...>();
  static constexpr bool kHasInput = !kKinds || countOf<P...>(PointParameter::Input) > 0;
  static constexpr bool kOneRank = ((PointTraitsOf<P>::kKind != PointParameter::Input ||
                                     PointTraitsOf<P>::kDims == dimsOf<P...>()) &&
                                    ...);
  static constexpr bool kOneResult =
      !kKinds || std::is_void_v<Result> == (countOf<P...>(PointParameter::Output) > 0);
  static constexpr bool kValue = std::is_void_v<Result> || Operand<Result>;
  static constexpr bool kAll =
      kKinds && kTables && kOrder && kHasInput && kOneRank && kOneResult && kValue;
};

template <class F>
std::shared_ptr<const PointFunction> makePointFunction(F f) {
  if constexpr (!detail::kHasSignature<F>) {
    static_assert(detail::kNever<F>,
                  "HPL: a point function is a function or a lambda whose parameters have types, "
                  "Neighbourhood<T, N> and the like, no auto");
    return nullptr;
  } else {
    using Params = typename detail::Signature<F>::Params;
    using Checks = PointChecks<typename detail::Signature<F>::Result, Params>;
    static_assert(Checks::kKinds,
                  "HPL: a point function takes Neighbourhood<T, N>, Output<T> and scalars such as "
                  "Float or Table<float, N>");
    static_assert(Checks::kTables,
                  "HPL: a Table has 1 to 64 numbers, which are arguments of the kernel; pass more "
                  "of them as an Array");
    static_assert(
        Checks::kOrder,
        "HPL: a point function takes its neighbourhoods first, then its outputs, then its "
        "scalars");
    static_assert(Checks::kHasInput, "HPL: a point function needs a Neighbourhood<T, N>");
    static_assert(Checks::kOneRank,
                  "HPL: all neighbourhoods of a point function have the same number of dimensions");
    static_assert(
        Checks::kOneResult,
        "HPL: a point function either returns its one output, or assigns to its Output<T> "
        "parameters");
    static_assert(Checks::kValue, "HPL: a point function returns a value of the kernel language");
    if constexpr (Checks::kAll) {
      return std::make_shared<const PointFunctionOf<F, Params>>(std::move(f));
    } else {
      return nullptr;
    }
  }
}

}  // namespace hpl::stencils
