// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>

#include "hpl/runtime/cl.h"
#include "hpl/runtime/programs.h"

namespace hpl::runtime {

/// A compiled program. Each caller makes its own kernel objects: setting arguments on a shared one
/// would not be thread-safe.
struct Program {
  cl::Program program;
  std::string kernelName;
  /// The user was told that its compilation takes long.
  mutable std::atomic<bool> isKnownToBeLong{false};

  Program(cl::Program compiled, std::string name)
      : program(std::move(compiled)), kernelName(std::move(name)) {}
  /// Leaves the object to the process when the drivers are already gone.
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// A new kernel object. Throws DeviceError that names the kernel.
  cl::Kernel createKernel() const;
};

}  // namespace hpl::runtime
