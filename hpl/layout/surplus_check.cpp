// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/surplus_check.h"

#include <fmt/format.h>

#include "hpl/error.h"
#include "hpl/ir/surplus.h"

namespace hpl::layout {
namespace {

std::string sizesOf(const std::size_t* sizes, cl_uint dims) {
  std::string text = "(";
  for (cl_uint d = 0; d < dims; ++d) text += (d > 0 ? ", " : "") + std::to_string(sizes[d]);
  return text + ")";
}

[[noreturn]] void refuse(const KernelVersion& version, const Shape& shape,
                         const ir::SurplusDefect& defect) {
  const std::string line = defect.where.file != nullptr
                               ? fmt::format(" ({}:{})", defect.where.file, defect.where.line)
                               : "";
  throw LaunchError(fmt::format(
      "kernel '{}': the local domain {} does not divide the global one {}, and the work-items "
      "beyond it would write values of elements that do not exist to local array '{}'{}, of which "
      "the group combines all cells; guard that statement by if_(idx < szx), with the neutral "
      "element in else_, or choose a local domain that divides",
      version.name, sizesOf(shape.local, shape.dims), sizesOf(shape.size, shape.dims),
      defect.array->name, line));
}

}  // namespace

Shape chooseHarmlessShape(const KernelVersion& version, const Domains& domains,
                          const geometry::Extents* firstArray, runtime::DeviceState& device,
                          bool isOwnLocal, const ir::AxisOrder& axes) {
  const bool mustDivide = version.native != nullptr;
  const Shape shape = chooseShape(domains, firstArray, device, version.name, mustDivide, axes);
  const bool mayHarm = shape.guardDims > 0 && version.kernel && version.access.usesBarrier &&
                       version.access.sharesWithinGroups();
  if (!mayHarm) return shape;
  const auto defect = ir::findSurplusDefect(*version.kernel);
  if (!defect) return shape;
  if (isOwnLocal) refuse(version, shape, *defect);
  Domains dividing = domains;
  for (int d = 0; d < domains.local.dims; ++d)
    dividing.local.size[d] = divisorUpTo(shape.size[d], domains.local.size[d]);
  return chooseShape(dividing, firstArray, device, version.name, true, axes);
}

}  // namespace hpl::layout
