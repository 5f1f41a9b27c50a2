// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hpl/codegen/emit.h"

/// Compiles and runs emitted kernels on a real OpenCL device, without the rest of the library.
namespace hpl::codegen::test {

/// One argument: an array (global or constant memory), a scalar, or local memory.
struct Argument {
  enum class Kind : std::uint8_t { Array, Scalar, Local };
  Kind kind = Kind::Array;
  void* data = nullptr;
  std::size_t bytes = 0;
  /// Slowest dimension first.
  std::vector<std::int64_t> extents;
  /// Distance between neighbours in elements; empty: dense.
  std::vector<std::int64_t> strides;
  /// Elements before the array's first one.
  std::uint64_t offset = 0;
};

template <class T>
Argument array(std::vector<T>& data, std::vector<std::int64_t> extents = {}) {
  if (extents.empty()) extents = {static_cast<std::int64_t>(data.size())};
  return {Argument::Kind::Array, data.data(), data.size() * sizeof(T), std::move(extents), {}, 0};
}
template <class T>
Argument scalar(T& value) {
  return {Argument::Kind::Scalar, &value, sizeof(T), {}, {}, 0};
}
inline Argument local(std::size_t bytes, std::vector<std::int64_t> extents) {
  return {Argument::Kind::Local, nullptr, bytes, std::move(extents), {}, 0};
}

/// x first.
struct Range {
  std::vector<std::size_t> global;
  std::vector<std::size_t> local;
};

/// Whether there is a device; tests that need one pass with a message where there is none.
bool hasDevice();
/// The device's name and abilities.
std::string deviceName();
bool deviceHasDouble();
bool dividesCorrectlyRounded();

/// Builds the source; returns the compiler's log of a failure, "" when it built.
std::string buildLog(const EmittedKernel& kernel);

/// Emits, builds and runs; `options.guardDims` rounds the global size up to the local one. Arrays
/// are copied back. Returns the emitted kernel; `errors` gets the error buffer of checked kernels.
EmittedKernel run(const ir::Kernel& kernel, const EmitOptions& options,
                  std::vector<Argument> arguments, const Range& range,
                  std::array<std::int32_t, ErrorBuffer::kWords>* errors = nullptr);

}  // namespace hpl::codegen::test
