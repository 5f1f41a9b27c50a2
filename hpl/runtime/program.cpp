// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/program.h"

#include "hpl/runtime/runtime.h"

namespace hpl::runtime {

Program::~Program() { drop(program); }

cl::Kernel Program::createKernel() const {
  return guarded(nullptr, Concern::kernel(kernelName),
                 [&] { return cl::Kernel(program, kernelName.c_str()); });
}

}  // namespace hpl::runtime
