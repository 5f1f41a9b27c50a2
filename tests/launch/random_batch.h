// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "hpl/codegen/emit.h"
#include "hpl/runtime/device_state.h"
#include "tests/ir/random_kernel.h"

/// Many random kernels as one OpenCL kernel: building costs far more than running, and most of it
/// once per kernel and local size.
namespace hpl::test {

/// A random kernel and its OpenCL C.
struct Prepared {
  ir::test::RandomKernel random;
  codegen::EmittedKernel emitted;
};

/// A batch does not build; what() is the build log.
struct BuildFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Contents = std::vector<std::vector<std::byte>>;

/// Builds one kernel by itself and runs it; the contents of its arguments afterwards (local ones
/// empty). Throws BuildError.
Contents runAlone(runtime::DeviceState& device, const Prepared& prepared);

/// The same for kernels of one local size and one set of build options. They become functions of
/// one program; its kernel calls one of them per launch, with pointers into one buffer.
/// Throws BuildFailure.
std::vector<Contents> runTogether(runtime::DeviceState& device, const std::vector<Prepared>& batch);

}  // namespace hpl::test
