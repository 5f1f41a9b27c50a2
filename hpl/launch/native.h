// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>

#include "hpl/launch/detail/kernel_source.h"

/// Kernels written in OpenCL C, launched like those of the embedded language.
namespace hpl {

namespace launch {

/// Parameter marks of native kernels: the kernel only reads (In), writes every element of (Out), or
/// reads and writes (InOut) the array.
template <class A>
struct In {};
template <class A>
struct Out {};
template <class A>
struct InOut {};

/// What is known of a native kernel's parameter.
struct NativeParam {
  NativeMode mode = NativeMode::Scalar;
  ir::Type type;
  int rank = 0;
  ir::Space space = ir::Space::Private;
};

template <class P>
struct Unmark {
  using type = P;
  static constexpr NativeMode kMode = NativeMode::InOut;
};
template <class A>
struct Unmark<In<A>> {
  using type = A;
  static constexpr NativeMode kMode = NativeMode::In;
};
template <class A>
struct Unmark<Out<A>> {
  using type = A;
  static constexpr NativeMode kMode = NativeMode::Out;
};
template <class A>
struct Unmark<InOut<A>> {
  using type = A;
  static constexpr NativeMode kMode = NativeMode::InOut;
};

template <class P>
NativeParam nativeParam() {
  using Marked = std::remove_cvref_t<P>;
  using A = std::remove_cvref_t<typename Unmark<Marked>::type>;
  using Traits = hpl::detail::ArrayTraits<A>;
  static_assert(Traits::kIsArray,
                "HPL: parameters of native kernels are In<Array<...>>, Out<Array<...>>, "
                "InOut<Array<...>>, local arrays, or scalars such as Int");
  NativeParam param;
  param.type = irType<typename Traits::Element>();
  param.rank = Traits::kRank;
  if constexpr (Traits::kRank > 0) {
    param.space = hpl::detail::spaceOf(Traits::kMemory);
    param.mode = hpl::detail::isReadOnly<P> ? NativeMode::In : Unmark<Marked>::kMode;
  }
  return param;
}

template <class Params>
struct NativeParams;
template <class... P>
struct NativeParams<std::tuple<P...>> {
  static std::vector<NativeParam> get() { return {nativeParam<P>()...}; }
};

void registerNative(const void* address, const KernelSource& source, const std::string& name,
                    const std::string& sourceOrFile, const std::string& options,
                    std::vector<NativeParam> params);

}  // namespace launch

using launch::In;
using launch::InOut;
using launch::Out;

/// Makes `f` stand for a kernel in OpenCL C, after which `eval(f)(args...)` launches it. `f` is
/// never called; its parameters say how the kernel uses its arguments. `sourceOrFile` is the source
/// itself, or the name of a file that holds it. Each Array becomes one pointer to its first
/// element, dense and row-major (views are packed for the launch when they are not); scalars become
/// scalars. Calling it again replaces the kernel. Throws KernelError when the file cannot be read
/// or the source has no kernel of that name.
template <class... P>
void nativeHandle(void (*f)(P...), const std::string& name, const std::string& sourceOrFile,
                  const std::string& buildOptions = {}) {
  launch::registerNative(reinterpret_cast<const void*>(f), launch::sourceOf(f), name, sourceOrFile,
                         buildOptions, launch::NativeParams<std::tuple<P...>>::get());
}

}  // namespace hpl

/// The arguments as a string: keeps OpenCL C readable inside C++ files. No # lines inside.
#define TOSTRING(...) #__VA_ARGS__
