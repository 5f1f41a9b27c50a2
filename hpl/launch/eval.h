// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <memory>
#include <type_traits>
#include <vector>

#include "hpl/launch/argument.h"
#include "hpl/launch/detail/kernel_checks.h"
#include "hpl/launch/detail/kernel_source.h"
#include "hpl/launch/device_choice.h"
#include "hpl/launch/execution_plan.h"
#include "hpl/launch/frunner.h"
#include "hpl/launch/options.h"
#include "hpl/layout/domain.h"
#include "hpl/layout/tuning.h"
#include "hpl/runtime/device.h"

namespace hpl {

namespace launch {

FRunner launch(const EntryHandle& kernel, const LaunchOptions& options, Arguments arguments);
/// Runs the kernel with the host interpreter instead of a device.
void interpret(const EntryHandle& kernel, const LaunchOptions& options, Arguments arguments);
/// Measures the ways to lay the kernel out, on copies of the arguments.
TuneResult tune(const EntryHandle& kernel, const LaunchOptions& options, const TuneOptions& how,
                Arguments arguments);
/// Forgets what was captured, so that the next launch captures again.
void forget(KernelEntry& entry);

}  // namespace launch

/// A kernel about to be launched: `eval(f).global(n).local(64).device(GPU, 0)(args...)`.
class Launcher : public launch::DeviceChoice<Launcher> {
 public:
  /// The call in messages.
  static constexpr const char* kCall = "eval(...)";

  explicit Launcher(launch::EntryHandle kernel) : kernel_(std::move(kernel)) {}

  /// Size of the global domain: x runs along the last dimension of arrays. Default: the shape of
  /// the first array argument; of(x) is that of another one. On several devices it is that of the
  /// whole: each device gets the share that belongs to its parts of annotated arrays. LaunchError
  /// at the launch for sizes of 0, negative ones, more work-items than the device counts, and
  /// domains that cannot be shared out.
  Launcher& global(const Domain& domain) {
    options_.global = domain;
    return *this;
  }
  Launcher& global(std::size_t x) { return global(Domain(x)); }
  Launcher& global(std::size_t x, std::size_t y) { return global(Domain(x, y)); }
  Launcher& global(std::size_t x, std::size_t y, std::size_t z) { return global(Domain(x, y, z)); }

  /// Size of the work-groups. Default: chosen for the device. If it does not divide the global
  /// domain, that is rounded up and the surplus work-items are masked. LaunchError at the launch if
  /// the device cannot hold it, and if surplus work-items would spoil what a group combines.
  Launcher& local(const Domain& domain) {
    options_.local = domain;
    return *this;
  }
  Launcher& local(std::size_t x) { return local(Domain(x)); }
  Launcher& local(std::size_t x, std::size_t y) { return local(Domain(x, y)); }
  Launcher& local(std::size_t x, std::size_t y, std::size_t z) { return local(Domain(x, y, z)); }

  /// Devices and shares at once.
  Launcher& plan(const ExecutionPlan& plan);

  /// Domains of each device's own, in the order of the devices.
  Launcher& global(const std::vector<Domain>& domains) {
    launch::sharesOf(options_).global = domains;
    return *this;
  }
  Launcher& local(const std::vector<Domain>& domains) {
    launch::sharesOf(options_).local = domains;
    return *this;
  }

  /// Launches. Arguments are Arrays or views, and host scalars for scalar parameters (converted as
  /// C++ would). A launch goes to several devices when they were named, or when an argument is
  /// annotated (PART1(a, 1)), a std::vector with one value per device, or a.part(d). Returns at
  /// once; reading the results waits. Throws ArgumentError for a wrong number, type or rank of
  /// arguments, LaunchError for domains that cannot run and for accesses that certainly leave their
  /// arrays, BuildError when the device's compiler rejects the kernel, AllocationError when the
  /// arrays do not fit, BoundsError under HPL_CHECK=bounds. A launch that throws leaves every array
  /// as it was, except under HPL_CHECK=bounds, where the kernel has run.
  template <class... A>
  FRunner operator()(const A&... arguments) {
    static_assert((launch::isArgument<A>() && ...), HPL_NO_ARGUMENT);
    const launch::Argument list[sizeof...(A) > 0 ? sizeof...(A) : 1] = {
        launch::makeKernelArgument(arguments)...};
    return launch::launch(kernel_, options_, {list, sizeof...(A)});
  }

  /// The same on the host, by the interpreter of the kernel's intermediate representation: slow,
  /// but every access is checked. The reference that devices are compared with. Blocks.
  template <class... A>
  void interpret(const A&... arguments) {
    static_assert((launch::isArgument<A>() && ...), HPL_NO_ARGUMENT);
    const launch::Argument list[sizeof...(A) > 0 ? sizeof...(A) : 1] = {
        launch::makeKernelArgument(arguments)...};
    launch::interpret(kernel_, options_, {list, sizeof...(A)});
  }

  /// How tune() goes about it.
  Launcher& tuning(const TuneOptions& options) {
    tuning_ = options;
    return *this;
  }

  /// Measures the ways to lay the kernel out for launches like this one, on copies of the
  /// arguments, which stay as they are; blocks. Launches that are made afterwards, also by other
  /// processes, use the fastest one (FRunners made before do not); their results are the same. Does
  /// nothing under HPL_TUNE=off, with several ranks and in a dry run. Throws what the launch would
  /// throw, LaunchError for launches on several devices and for no time, AllocationError when the
  /// copies do not fit.
  template <class... A>
  TuneResult tune(const A&... arguments) {
    static_assert((launch::isArgument<A>() && ...), HPL_NO_ARGUMENT);
    const launch::Argument list[sizeof...(A) > 0 ? sizeof...(A) : 1] = {
        launch::makeKernelArgument(arguments)...};
    return launch::tune(kernel_, options_, tuning_, {list, sizeof...(A)});
  }

 private:
  launch::EntryHandle kernel_;
  TuneOptions tuning_;
};

namespace launch {

/// For arguments of eval() that are no kernel: takes all arguments, as one error is enough.
struct NoLauncher : Launcher {
  template <class... A>
  FRunner operator()(const A&...);
};

template <class F>
using LauncherOf =
    std::conditional_t<kIsKernel<F> || std::is_same_v<F, hpl::detail::SeveralFunctions>, Launcher,
                       NoLauncher>;

}  // namespace launch

/// Prepares the launch of a kernel: a function, a lambda, a functor or a std::function whose
/// parameters are Arrays and scalars. The kernel is captured once per kind of device; host values
/// it reads become constants then (see reeval). Functors are told apart by their type and, when
/// trivially copyable, by their value. Those that hold references or pointers to variables, and
/// those that are not trivially copyable, are captured at each eval. (Paper, Section 2.1.)
template <class F = detail::SeveralFunctions, bool = detail::isOneFunction<F>()>
launch::LauncherOf<F> eval(const F& f) {
  static_assert(launch::KernelChecks<F>::kSignature, HPL_NO_KERNEL);
  static_assert(launch::KernelChecks<F>::kNoResult, HPL_KERNEL_RETURNS);
  static_assert(launch::KernelChecks<F>::kParameters, HPL_KERNEL_PARAMETERS);
  if constexpr (launch::kIsKernel<F>) {
    return Launcher(launch::entryOf<std::decay_t<F>>(f));
  } else {
    return detail::noResult<launch::NoLauncher>();
  }
}

/// The same, but captures again: use it after host values that the kernel reads have changed.
template <class F = detail::SeveralFunctions, bool = detail::isOneFunction<F>()>
launch::LauncherOf<F> reeval(const F& f) {
  static_assert(launch::KernelChecks<F>::kSignature, HPL_NO_KERNEL);
  static_assert(launch::KernelChecks<F>::kNoResult, HPL_KERNEL_RETURNS);
  static_assert(launch::KernelChecks<F>::kParameters, HPL_KERNEL_PARAMETERS);
  if constexpr (launch::kIsKernel<F>) {
    launch::EntryHandle handle = launch::entryOf<std::decay_t<F>>(f);
    launch::forget(*handle.entry);
    return Launcher(std::move(handle));
  } else {
    return detail::noResult<launch::NoLauncher>();
  }
}

/// An error: arguments belong behind it.
template <class F, class A, class... More>
  requires(!std::is_same_v<F, detail::SeveralFunctions>)
Launcher eval(const F&, const A&, const More&...) {
  static_assert(detail::kNever<F>,
                "HPL: eval(f) takes the kernel alone; its arguments follow: eval(f)(a, b)");
  return detail::noResult<Launcher>();
}

/// An error: the name of several functions. This is what compilers choose then, after the sentence
/// of isOneFunction, instead of listing what they might have chosen.
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
#endif
Launcher eval(...) HPL_NO_FUNCTION;
Launcher reeval(...) HPL_NO_FUNCTION;
#ifdef __clang__
#pragma clang diagnostic pop
#endif

/// While a kernel is captured: the device that it is captured for, so that a kernel may adapt.
/// Elsewhere: defaultDevice().
Device captureDevice();

}  // namespace hpl
