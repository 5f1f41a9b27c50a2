// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "hpl/error.h"
#include "hpl/launch/detail/device_plan.h"

namespace hpl::launch {
namespace {

std::string describe(const DevicePlan& plan, const codegen::AccessViolation& violation) {
  const codegen::AccessSite& site = violation.site;
  std::string array = "'" + site.array + "'";
  if (violation.param >= 0) {
    const std::string& label = plan.labels[static_cast<std::size_t>(violation.param)];
    array = label.empty()
                ? "argument " + std::to_string(violation.param + 1) + " (" + site.array + ")"
                : "array '" + label + "'";
  }
  if (site.view) array = "a view of " + array;
  std::string message = "kernel '" + plan.version->name + "' " + (site.write ? "writes" : "reads") +
                        " outside of " + array + ": index " + std::to_string(violation.index) +
                        " in dimension " + std::to_string(violation.dimension + 1) + " (extent " +
                        std::to_string(violation.extent) + "), work-item (";
  for (cl_uint d = 0; d < plan.dims; ++d)
    message += (d > 0 ? ", " : "") + std::to_string(violation.globalId[d] + plan.first[d]);
  message += ")";
  if (site.where.file != nullptr)
    message += ", at " + std::string(site.where.file) + ":" + std::to_string(site.where.line);
  return message + "; found by HPL_CHECK=bounds on device " + plan.device->name();
}

}  // namespace

void reportViolation(DevicePlan& plan) {
  cl_int words[codegen::ErrorBuffer::kWords] = {};
  runtime::guarded(plan.device, runtime::Concern::kernel(plan.version->name), [&] {
    plan.device->computeQueue().enqueueReadBuffer(plan.errors, CL_TRUE, 0, sizeof words, words);
  });
  codegen::AccessViolation violation;
  if (codegen::decodeViolation(*plan.checked, words, violation))
    throw BoundsError(describe(plan, violation));
}

}  // namespace hpl::launch
