// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hpl/ir/interpreter.h"

/// Random well-defined kernels: to be run by the interpreter and by a device, and compared bit for
/// bit (under strict floating point).
namespace hpl::ir::test {

/// The contents of random kernels.
struct RandomKernelOptions {
  /// The most statements at the top level of the kernel, at least 2; inner blocks get a few each.
  int statements = 8;
  /// Depth of expressions.
  int depth = 3;
  bool doubles = true;
  bool vectors = true;
  bool functions = true;
  bool barriers = true;
  bool atomics = true;
  /// Global sizes that the local size does not divide.
  bool surplus = true;
  /// Division and square root of floats, which devices round correctly only where they can.
  bool floatDivision = true;
  bool fma = true;
};

/// An argument of a random kernel, in the order of its parameters.
struct RandomArgument {
  enum class Kind { Array, Scalar, Local };
  Kind kind = Kind::Array;
  Type type;
  /// Slowest first; empty for scalars.
  std::vector<std::int64_t> extents;
  /// Contents before the run, in device layout, dense; empty for local arrays.
  std::vector<std::byte> bytes;
  /// The kernel writes it: compare it after the run.
  bool output = false;
  /// In constant memory.
  bool constant = false;
};

struct RandomKernel {
  std::uint64_t seed = 0;
  Kernel kernel;
  NDRange range;
  std::vector<RandomArgument> arguments;
};

/// The kernel of a seed: the same on every machine. It has no undefined behaviour, no race, no
/// access out of bounds, no uninitialised read, ends, reaches its barriers uniformly, and uses only
/// operations whose results OpenCL fixes to the bit: no overflow of signed integers, shifts by less
/// than the width, no NaN, infinity, subnormal or zero of uncertain sign that is stored. No padded
/// types (3 lanes), so that arrays may be compared byte by byte.
RandomKernel makeRandomKernel(std::uint64_t seed, const RandomKernelOptions& options = {});

/// Contents of all arguments (local ones empty) after the interpreter has run the kernel.
std::vector<std::vector<std::byte>> interpretRandomKernel(const RandomKernel& random,
                                                          const InterpreterOptions& options = {});

}  // namespace hpl::ir::test
