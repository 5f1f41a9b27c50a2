// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "hpl/error.h"
#include "hpl/ir/node.h"
#include "hpl/launch/eval.h"
#include "hpl/runtime/settings.h"
#include "stencil_templates/kernel/detail/limits.h"
#include "stencil_templates/kernel/detail/prepared_parts.h"

namespace hpl::kernel_stencils {
namespace {

/// Beyond every helper array: reading it is what HPL_CHECK=bounds reports.
constexpr int kNowhere = 1 << 20;

void checkArrays(const Request& request) {
  for (std::size_t o = 0; o < request.outputCount; ++o) {
    const Symbol output = request.outputs[o];
    for (std::size_t i = 0; i < request.inputCount; ++i)
      if (request.inputs[i].array == output)
        throw KernelError(std::string(request.name) + ": array '" + output->name +
                          "' is input and output; other work-items still read the elements that "
                          "one overwrites, so write to a second array and swap(in, out) after "
                          "the launch");
    for (std::size_t other = 0; other < o; ++other)
      if (request.outputs[other] == output)
        throw KernelError(std::string(request.name) + ": array '" + output->name +
                          "' is given for two outputs; each result needs an array of its own");
    if (output->readOnly)
      throw KernelError(std::string(request.name) + ": the output '" + output->name +
                        "' is a const parameter of the kernel; take it by value");
  }
}

void checkValues(const Request& request) {
  for (std::size_t i = 0; i < request.inputCount; ++i)
    if (request.inputs[i].boundary == Boundary::Fixed && request.inputs[i].fixed == nullptr)
      throw KernelError(std::string(request.name) + ": input " + std::to_string(i + 1) +
                        " has a fixed value beyond its border, but says none; write "
                        "inputF<...>(array, value) in the kernel");
}

/// Under HPL_CHECK=bounds: a helper that was prepared for something else.
void checkHelper(const Request& request, int signature) {
  if (!runtime::settings().checkBounds) return;
  if_(helperWord(request, kSignature) != signature, request.where) {
    const Node index = hpl::detail::hostConstant(kNowhere);
    const Int foreign(Expr<int>(hpl::detail::accessNode(request.helper, &index, 1)), request.where);
  }
}

}  // namespace

Reach Request::reach() const {
  Reach all;
  for (std::size_t i = 0; i < inputCount; ++i) all = unionOf(all, inputs[i].reach);
  return all;
}

Reach Request::reachWithoutBoundary() const {
  Reach all;
  for (std::size_t i = 0; i < inputCount; ++i)
    if (inputs[i].boundary == Boundary::None) all = unionOf(all, inputs[i].reach);
  return all;
}

void record(const Request& request) {
  hpl::detail::setLocation(request.where);
  checkArrays(request);
  checkValues(request);
  const bool tile = usesTile(request.form, captureDevice());
  checkHelper(request, signatureOf(request.rank, request.reach(), tile));
  if (tile) {
    launch::addLaunchGuard(guardOfParts(request));
    recordTile(request);
  } else {
    launch::addLaunchGuard(guardOfEnds(request));
    recordDirect(request);
  }
}

}  // namespace hpl::kernel_stencils
