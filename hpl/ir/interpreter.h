// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "hpl/ir/kernel.h"

/// Host interpreter of captured kernels: the reference that devices are compared with, and a debug
/// engine that checks every access. Pure C++: it needs neither OpenCL nor a device.
namespace hpl::ir {

/// A global or constant array parameter: memory of the caller, used in place.
struct ArrayArgument {
  /// Address of the element (0, ..., 0).
  void* data = nullptr;
  /// Extents, slowest dimension first; as many as the parameter's rank.
  std::vector<std::int64_t> extents;
  /// Distance between neighbours in each dimension, in elements; empty: dense, row-major.
  std::vector<std::int64_t> strides;
  /// The user's name of the array, for messages; may be empty.
  std::string label;
  /// Elements before and from `data` on that pointer-like accesses (AliasArray) may reach;
  /// `elementsAfter` 0: what extents and strides span.
  std::int64_t elementsBefore = 0;
  std::int64_t elementsAfter = 0;
};

/// Value of a rank-0 parameter, as its bytes in device layout.
struct ScalarArgument {
  std::vector<std::byte> bytes;
};

/// A local-memory array parameter: only its shape is given.
struct LocalArgument {
  std::vector<std::int64_t> extents;
};

using Argument = std::variant<ArrayArgument, ScalarArgument, LocalArgument>;

/// Work-items and work-groups; x (OpenCL's dimension 0) first.
struct NDRange {
  int dims = 1;
  std::array<std::uint64_t, 3> global{1, 1, 1};
  std::array<std::uint64_t, 3> local{1, 1, 1};
  /// The values of Query::Origin.
  std::array<std::uint64_t, 3> origin{0, 0, 0};
};

/// Checks beyond bounds and barriers, which are always checked.
struct InterpreterOptions {
  /// Throw hpl::KernelError when a private or local variable is read before it is written.
  bool detectUninitialised = false;
  /// Throw hpl::KernelError when work-items touch the same cell, one of them writing, without a
  /// barrier (same group) or at all (different groups; an atomic store that releases orders them
  /// for the group whose load acquires it). Atomics do not race with each other.
  bool detectRaces = false;
  /// Throw hpl::KernelError when a loop runs longer; 0: no limit.
  std::uint64_t maxLoopIterations = 0;
  /// Gets what probes show: the statement's probe and line, the value's bytes in the layout of its
  /// type, and the work-item's global ids. May be empty.
  std::function<void(const Probe&, const SourceLocation&, const std::byte* value,
                     const std::array<std::uint64_t, 3>& ids)>
      onProbe;
};

/// Runs `kernel` on the host, work-group after work-group, statement by statement. Groups of
/// kernels with atomic loads may wait for each other, so up to 256 of them take turns: at each such
/// load the next group goes on. A wait for what no group ever does must be bounded by the kernel,
/// or by InterpreterOptions::maxLoopIterations.
///
/// Every operation has one defined result: integers wrap, shifts take their amount modulo the
/// width, division by zero gives 0, conversions of floating values to integers saturate (NaN gives
/// 0), floating arithmetic rounds to its own type and is never contracted. Private and local
/// variables hold an arbitrary pattern until they are written.
///
/// Where `local` does not divide `global`, there are surplus work-items. In kernels with barriers
/// they run the control flow, read 0 from global and constant memory except where others of their
/// group need what they load (ir/surplus.h), write nothing there and perform no atomics at all
/// (whose results are 0); their other accesses of local and private memory are carried out. In
/// kernels without barriers they do nothing. get_global_size() is `range.global`. The same holds
/// for generated code.
///
/// Throws hpl::ArgumentError for arguments that do not fit the parameters, hpl::LaunchError for a
/// bad range, hpl::BoundsError for an access outside an array (with array, index, extent,
/// work-item and kernel line) and hpl::KernelError for a barrier that not all work-items of a group
/// reach, for a malformed kernel and for what the options ask to detect.
void interpret(const Kernel& kernel, const NDRange& range, const std::vector<Argument>& arguments,
               const InterpreterOptions& options = {});

/// Helpers to spell arguments.
template <class T>
ArrayArgument arrayArgument(T* data, std::vector<std::int64_t> extents, std::string label = {}) {
  return ArrayArgument{
      const_cast<std::remove_const_t<T>*>(data), std::move(extents), {}, std::move(label), 0, 0};
}
template <class T>
ScalarArgument scalarArgument(const T& value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  return ScalarArgument{std::vector<std::byte>(bytes, bytes + sizeof(T))};
}

}  // namespace hpl::ir
