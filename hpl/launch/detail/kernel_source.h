// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hpl/array/native_parameter.h"
#include "hpl/array/parameter.h"

/// The source of a kernel, without its C++ type, and the way in which `eval` finds the entry of a
/// kernel.
namespace hpl::layout {
class KernelRewriter;
}

namespace hpl::launch {

class KernelEntry;

/// Records the kernel into the active capture.
using Recorder = void (*)(const void* callable);

/// A kernel as `eval` sees it.
struct KernelSource {
  /// Null for native signatures, which cannot be captured.
  Recorder record = nullptr;
  /// The callable that `record` gets.
  const void* callable = nullptr;
  /// Name for kernels whose own name cannot be found out.
  const char* fallbackName = "kernel";
  /// Makes another kernel of the captured one; null: strategies of the library do. Lives as long as
  /// the kernel's entry.
  const layout::KernelRewriter* rewriter = nullptr;
};

/// The entry of a function, found by its address; made when it is new.
KernelEntry& entryOfFunction(const void* address, const KernelSource& source);
/// The entry of a functor, found by its type and the bytes of its state. `copy` keeps the functor.
KernelEntry& entryOfFunctor(const void* type, const void* state, std::size_t bytes,
                            const KernelSource& source, std::shared_ptr<const void> copy);
/// Whether a functor's state holds the address of something that may change: a reference or a
/// pointer to a variable. The state then does not say what the functor computes with. Any word that
/// could be such an address counts; those of code, of constants and of native functions do not.
bool refersToVariables(const void* state, std::size_t bytes);

/// A fresh entry for a callable whose identity cannot be known; it is captured at each eval.
/// `title` is the kernel's name in messages; empty: that of the function.
std::shared_ptr<KernelEntry> anonymousEntry(const KernelSource& source,
                                            std::shared_ptr<const void> copy,
                                            const std::string& title = {});

template <class Params>
constexpr bool isNativeSignature = false;
template <class... P>
constexpr bool isNativeSignature<std::tuple<P...>> = (hpl::detail::isNativeMark<P> || ...);

template <class F>
KernelSource sourceOf(const F& f) {
  using S = hpl::detail::Signature<F>;
  KernelSource source;
  if constexpr (!isNativeSignature<typename S::Params>) {
    if constexpr (std::is_pointer_v<F>) {
      source.callable = reinterpret_cast<const void*>(f);
      source.record = [](const void* callable) {
        F function = reinterpret_cast<F>(const_cast<void*>(callable));
        hpl::detail::invokeWithSymbols(function, static_cast<typename S::Params*>(nullptr));
      };
    } else {
      source.callable = &f;
      source.record = [](const void* callable) {
        F& functor = *static_cast<F*>(const_cast<void*>(callable));
        hpl::detail::invokeWithSymbols(functor, static_cast<typename S::Params*>(nullptr));
      };
    }
  }
  return source;
}

/// Padding between the members of a functor has no value.
template <class F>
void clearPadding([[maybe_unused]] F& functor) {
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
  __builtin_clear_padding(&functor);
#endif
#endif
}

/// Throws KernelError: `eval` was given nothing to capture.
[[noreturn]] void throwNoKernel();

/// An entry and, for anonymous kernels, its owner.
struct EntryHandle {
  KernelEntry* entry = nullptr;
  std::shared_ptr<KernelEntry> owner;
};

/// The entry of a kernel. `rewriter` (null: none) is always the same one for kernels of one type.
template <class F>
EntryHandle entryOf(const F& f, const layout::KernelRewriter* rewriter = nullptr) {
  // Null pointers, and std::functions that hold nothing.
  if constexpr (std::is_pointer_v<F> || requires { f.target_type(); })
    if (f == nullptr) throwNoKernel();
  if constexpr (std::is_pointer_v<F>) {
    KernelSource source = sourceOf(f);
    source.rewriter = rewriter;
    return {&entryOfFunction(reinterpret_cast<const void*>(f), source), nullptr};
  } else if constexpr (std::is_empty_v<F> && std::is_copy_constructible_v<F>) {
    static const char tag = 0;
    static KernelEntry& entry = [&]() -> KernelEntry& {
      auto copy = std::make_shared<const F>(f);
      KernelSource source = sourceOf(*copy);
      source.rewriter = rewriter;
      return entryOfFunctor(&tag, nullptr, 0, source, std::move(copy));
    }();
    return {&entry, nullptr};
  } else {
    using S = hpl::detail::Signature<F>;
    if constexpr (requires { f.target_type(); }) {
      // A std::function around a plain function is that function.
      using Pointer = typename S::Pointer;
      if (const Pointer* function = f.template target<Pointer>())
        return entryOf(*function, rewriter);
    }
    auto copy = std::make_shared<const F>(f);
    KernelSource source = sourceOf(*copy);
    source.rewriter = rewriter;
    if constexpr (std::is_trivially_copyable_v<F>) {
      static const char tag = 0;
      F state(f);
      clearPadding(state);
      if (alignof(F) < alignof(void*) || !refersToVariables(&state, sizeof state))
        return {&entryOfFunctor(&tag, &state, sizeof state, source, std::move(copy)), nullptr};
    }
    auto entry = anonymousEntry(source, std::move(copy));
    return {entry.get(), entry};
  }
}

}  // namespace hpl::launch
