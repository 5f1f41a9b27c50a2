// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/detail/program.h"

#include "hpl/runtime/detail/runtime.h"

namespace hpl::runtime {

Program::~Program() { drop(program); }

cl::Kernel Program::createKernel() const {
  return guarded(nullptr, Concern::kernel(kernelName),
                 [&] { return cl::Kernel(program, kernelName.c_str()); });
}

}  // namespace hpl::runtime
