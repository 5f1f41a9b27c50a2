// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

#include "hpl/array/native_parameter.h"

namespace hpl {

namespace detail {

/// The argument of a called function as the callee's parameter wants it: scalars are converted,
/// arrays passed by reference.
template <class P, class A>
struct CallArgument {
  using Param = Unmarked<P>;

  static char code(const A& argument) {
    if constexpr (isScalarParam()) {
      return 's';
    } else {
      return spaceCode(argument.symbol());
    }
  }
  static Node node(const A& argument) {
    if constexpr (isScalarParam()) {
      return converted<typename ArrayTraits<Param>::Element>(argument);
    } else {
      return arrayArgument(argument.symbol());
    }
  }
  static constexpr bool isScalarParam() {
    if constexpr (ArrayTraits<Param>::kIsArray) return ArrayTraits<Param>::kRank == 0;
    return false;
  }
  /// Scalars take values; an AliasArray arrays; arrays those of their element type and rank.
  static constexpr bool fits() {
    using Given = ArrayTraits<A>;
    if constexpr (isScalarParam()) {
      return Operand<A> && kIndexed<A>;
    } else if constexpr (AliasTraits<Param>::kIsAlias) {
      return AliasTraits<A>::kIsAlias || Given::kIsArray;
    } else if constexpr (ArrayTraits<Param>::kIsArray && Given::kIsArray) {
      return Given::kRank == ArrayTraits<Param>::kRank &&
             std::is_same_v<typename Given::Element, typename ArrayTraits<Param>::Element>;
    } else {
      return !ArrayTraits<Param>::kIsArray;  // functionParameter() refuses the parameter
    }
  }
};

template <class Params, class... A>
inline constexpr bool kArgumentsFit = false;
template <class... P, class... A>
  requires(sizeof...(P) == sizeof...(A))
inline constexpr bool kArgumentsFit<std::tuple<P...>, A...> = (CallArgument<P, A>::fits() && ...);

template <class P>
Symbol functionParameter(char code) {
  using A = std::remove_cvref_t<P>;
  if constexpr (AliasTraits<A>::kIsAlias) {
    return aliasParameter(irType<typename AliasTraits<A>::Element>(), spaceOfCode(code));
  } else {
    static_assert(ArrayTraits<A>::kIsArray,
                  "HPL: parameters of called functions must be arrays, AliasArrays or scalars");
    if constexpr (ArrayTraits<A>::kRank == 0) {
      return scalarParameter(irType<typename ArrayTraits<A>::Element>());
    } else {
      return calledArrayParameter(irType<typename ArrayTraits<A>::Element>(), code,
                                  ArrayTraits<A>::kRank, isReadOnly<P>);
    }
  }
}

/// Drops the open function when its body throws.
class FunctionCapture {
 public:
  explicit FunctionCapture(const FunctionKey& key) { beginFunction(key); }
  ~FunctionCapture() {
    if (open_) abandonFunction();
  }
  FunctionCapture(const FunctionCapture&) = delete;
  FunctionCapture& operator=(const FunctionCapture&) = delete;
  const ir::Function* finish(const ir::Type& type, Node result) {
    open_ = false;
    return endFunction(type, result);
  }

 private:
  bool open_ = true;
};

/// Identity of a function: its address, or for lambdas and functors that of their type's tag.
template <class F>
const void* functionIdentity(F f) {
  if constexpr (std::is_pointer_v<F>) {
    return reinterpret_cast<const void*>(f);
  } else {
    static_assert(std::is_empty_v<F>,
                  "HPL: call(f) takes functions and captureless lambdas; pass values as arguments");
    static const char tag = 0;
    return &tag;
  }
}

template <class F, class R, class... P>
const ir::Function* captureFunction(F f, const FunctionKey& key) {
  FunctionCapture capture(key);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    std::tuple<RecordedArgument<P>...> params{functionParameter<P>(key.spaces[I])...};
    if constexpr (std::is_void_v<R>) {
      f(std::get<I>(params).pass()...);
      return capture.finish(ir::Type{}, nullptr);
    } else {
      const Node result = nodeOf(f(std::get<I>(params).pass()...));
      return capture.finish(irType<ValueOf<R>>(), result);
    }
  }(std::index_sequence_for<P...>());
}

/// Records a call of a function in OpenCL C.
template <class R, class... P, class... A>
auto callNative(const ir::NativeCode& code, const A&... args) {
  const std::array<NativeParameter, sizeof...(P)> params{nativeParameter<P>()...};
  const FunctionKey key{&code, {CallArgument<P, A>::code(args)...}};
  const ir::Function* function =
      nativeFunction(key, code, nativeResult<R>(), params.data(), params.size());
  const Node nodes[sizeof...(A) + 1] = {CallArgument<P, A>::node(args)..., nullptr};
  const Node result = callNode(function, nodes, sizeof...(A));
  if constexpr (!std::is_void_v<R>) return Expr<ValueOf<R>>(result);
}

template <class F, class R, class Params>
struct Callee;
template <class F, class R, class... P>
struct Callee<F, R, std::tuple<P...>> {
  F f;

  template <class... A>
  auto operator()(const A&... args) const {
    static_assert(sizeof...(A) == sizeof...(P),
                  "HPL: call(f)(...): wrong number of arguments for this function");
    constexpr bool kFits = kArgumentsFit<std::tuple<P...>, A...>;
    static_assert(kFits || sizeof...(A) != sizeof...(P),
                  "HPL: call(f)(...): scalar parameters take kernel or host values, arrays ones of "
                  "the same element type and rank, AliasArrays any array");
    if constexpr (kFits) {
      return callWith(args...);
    } else if constexpr (!std::is_void_v<R>) {
      return noResult<Expr<ValueOf<R>>>();
    }
  }

 private:
  template <class... A>
  auto callWith(const A&... args) const {
    if constexpr (std::is_pointer_v<F>) {
      const ir::NativeCode* code = nativeCodeOf(functionIdentity(f));
      if (code != nullptr) return callNative<R, P...>(*code, args...);
    }
    if constexpr ((isNativeMark<P> || ...)) {
      throwNoNativeCode();
    } else {
      return callCaptured(args...);
    }
  }
  template <class... A>
  auto callCaptured(const A&... args) const {
    const FunctionKey key{functionIdentity(f), {CallArgument<P, A>::code(args)...}};
    const ir::Function* function = findFunction(key);
    if (function == nullptr) function = captureFunction<F, R, P...>(f, key);
    const Node nodes[sizeof...(A) + 1] = {CallArgument<P, A>::node(args)..., nullptr};
    const Node result = callNode(function, nodes, sizeof...(A));
    if constexpr (!std::is_void_v<R>) return Expr<ValueOf<R>>(result);
  }
};

}  // namespace detail

/// Calls another function of the kernel language: `call(f)(a, x)`. The function becomes a real
/// function of the generated code, captured once per kernel and address spaces of its arguments;
/// calling `f(a, x)` directly inlines it instead. Results are returned with C++ `return` as the
/// last statement, and with return_(value) inside control flow. `f` may also be a NativeFunction,
/// or a function that nativeHandle() gave OpenCL C to: that is called then. Throws KernelError on
/// recursion, and for OpenCL C that depends on how work-items are laid out.
template <class F = detail::SeveralFunctions, bool = detail::isOneFunction<F>()>
auto call(F&& f) {
  using Function = std::decay_t<F>;
  if constexpr (requires { typename Function::NativeSignature; }) {
    return Function(f);
  } else if constexpr (!detail::kHasSignature<Function>) {
    static_assert(
        detail::kNever<Function>,
        "HPL: call(f) takes a function, or a lambda with one operator(), whose parameters "
        "have types: arrays and scalars such as Float, no auto");
    return [](const auto&...) { return detail::noResult<Expr<float>>(); };
  } else {
    using S = detail::Signature<Function>;
    return detail::Callee<Function, typename S::Result, typename S::Params>{f};
  }
}

}  // namespace hpl
