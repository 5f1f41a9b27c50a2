// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/shape.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "hpl/error.h"
#include "hpl/runtime/device_state.h"

namespace hpl::layout {
namespace {

/// Work-items are counted by signed numbers of 64 bits, in the library and in drivers; a size
/// above was a negative number once.
constexpr std::size_t kMostItems = std::numeric_limits<std::ptrdiff_t>::max();

/// Side of a group that reads along one axis and writes along another.
constexpr std::size_t kSquare = 16;

/// Negative sizes as they were written.
std::string toText(const std::size_t* size, int dims) {
  std::string text = "(";
  for (int d = 0; d < dims; ++d)
    text += (d > 0 ? ", " : "") + std::to_string(static_cast<std::ptrdiff_t>(size[d]));
  return text + ")";
}

/// A local extent near `target`: a divisor when there is a good one, so that no work-item has to be
/// masked, else `target` itself.
std::size_t nearTarget(std::size_t size, std::size_t target, bool mustDivide) {
  if (size <= target) return std::max<std::size_t>(size, 1);
  const std::size_t divisor = divisorUpTo(size, target);
  return mustDivide || divisor * 2 >= target ? divisor : target;
}

/// CPUs run a work-group as a vectorised loop over x: long rows, nothing in y and z, but enough
/// groups that all units have work; where accesses are contiguous along another axis, too
/// (`crossing`), a square as wide as a cache line of floats. GPUs want a few warps in compact
/// tiles. All speak of OpenCL's dimensions, which the kernel's axes may run along in another order.
void defaultLocal(Shape& shape, const runtime::DeviceState& device, bool mustDivide, int crossing) {
  const DeviceProperties& p = device.properties();
  const std::size_t limit = std::max<std::size_t>(p.maxWorkGroupSize, 1);
  std::size_t target[3] = {256, 1, 1};
  if (p.type == CPU && crossing >= 0) {
    target[0] = kSquare;
    target[shape.axes[static_cast<std::size_t>(crossing)]] = kSquare;
  } else if (p.type == CPU) {
    const std::size_t row = shape.size[fastestAxis(shape.axes)];
    const std::size_t others = shape.size[0] * shape.size[1] * shape.size[2] / row;
    if (shape.dims == 1) target[0] = 1024;
    // A small problem is divided so that every unit gets several groups.
    const std::size_t groups = std::size_t{4} * std::max(1u, p.computeUnits);
    // Whole rows need no masks, which cost several times what a kernel computes, and no groups of
    // odd sizes.
    if (row % target[0] != 0 && row <= limit && others >= groups) target[0] = row;
    while (target[0] > 64 && (row + target[0] - 1) / target[0] * others < groups) target[0] /= 2;
  } else if (shape.dims == 2) {
    target[0] = 32;
    target[1] = 8;
  } else if (shape.dims == 3) {
    target[0] = 32;
    target[1] = 4;
    target[2] = 2;
  }
  while (target[0] * target[1] * target[2] > limit) {
    std::size_t& largest = *std::max_element(target, target + 3);
    largest = std::max<std::size_t>(1, largest / 2);
  }
  for (cl_uint d = 0; d < shape.dims; ++d) {
    const auto dimension = static_cast<std::size_t>(shape.axes[d]);
    const std::size_t most = p.maxWorkItemSizes[dimension];
    const std::size_t wanted = std::min(target[dimension], most > 0 ? most : limit);
    shape.local[d] = nearTarget(shape.size[d], wanted, mustDivide);
  }
}

void checkLocal(const Shape& shape, const runtime::DeviceState& device,
                const std::string& kernelName) {
  const DeviceProperties& p = device.properties();
  const int dims = static_cast<int>(shape.dims);
  std::size_t product = 1;
  for (int d = 0; d < dims; ++d) {
    const auto axis = static_cast<std::size_t>(d);
    const std::size_t limit = p.maxWorkItemSizes[static_cast<std::size_t>(shape.axes[axis])];
    if (limit > 0 && shape.local[d] > limit)
      throw LaunchError("kernel '" + kernelName + "': local domain " + toText(shape.local, dims) +
                        " exceeds the limit of " + std::to_string(limit) + " in dimension " +
                        std::to_string(d + 1) + " of device " + device.name() +
                        "; choose a smaller .local(...) or leave it to the library");
    product *= shape.local[d];
  }
  if (p.maxWorkGroupSize > 0 && product > p.maxWorkGroupSize)
    throw LaunchError("kernel '" + kernelName + "': local domain " + toText(shape.local, dims) +
                      " has " + std::to_string(product) + " work-items, and device " +
                      device.name() + " holds at most " + std::to_string(p.maxWorkGroupSize) +
                      " per group; choose a smaller .local(...) or leave it to the library");
}

void requirePositive(const Domain& domain, const char* which, const std::string& kernelName) {
  if (domain.dims < 0 || domain.dims > 3)
    throw LaunchError("kernel '" + kernelName + "': the " + which + " domain has " +
                      std::to_string(domain.dims) + " dimensions; domains have 1 to 3");
  const std::string what =
      "kernel '" + kernelName + "': " + which + " domain " + toText(domain.size, domain.dims);
  for (int d = 0; d < domain.dims; ++d) {
    if (domain.size[d] == 0)
      throw LaunchError(what + " is empty in dimension " + std::to_string(d + 1) +
                        "; every size must be at least 1");
    if (domain.size[d] > kMostItems)
      throw LaunchError(what + " is negative in dimension " + std::to_string(d + 1) +
                        "; every size must be at least 1");
  }
}

/// Width of the device's size_t in bits; 64 where the driver does not answer, or is another
/// process's.
cl_uint addressBits(const runtime::DeviceState& device) {
  cl_uint bits = 64;
  if (!device.isLocal()) return bits;
  const cl_int code =
      clGetDeviceInfo(device.device()(), CL_DEVICE_ADDRESS_BITS, sizeof bits, &bits, nullptr);
  return code == CL_SUCCESS ? bits : 64;
}

/// All sizes are positive already.
void requireCountable(const std::size_t* size, int dims, const char* how,
                      const runtime::DeviceState& device, const std::string& kernelName) {
  std::size_t items = 1;
  bool fits = true;
  for (int d = 0; d < dims; ++d)
    fits = fits && !__builtin_mul_overflow(items, size[d], &items) && items <= kMostItems;
  const std::string what =
      "kernel '" + kernelName + "': global domain " + toText(size, dims) + how + " has ";
  if (!fits)
    throw LaunchError(what + "more than " + std::to_string(kMostItems) +
                      " work-items; choose a smaller .global(...) or launch several times");
  constexpr std::size_t kMost32 = std::numeric_limits<std::uint32_t>::max();
  if (*std::max_element(size, size + dims) > kMost32 && addressBits(device) <= 32)
    throw LaunchError(what + "a size above " + std::to_string(kMost32) + ", and device " +
                      device.name() + " counts in 32 bits; choose a smaller .global(...)");
}

}  // namespace

Domain defaultGlobal(const geometry::Extents* array, const std::string& kernelName) {
  if (array == nullptr)
    throw LaunchError("kernel '" + kernelName +
                      "' has no array argument to take the global domain from; give it with "
                      ".global(x[, y[, z]])");
  const int rank = array->rank();
  if (rank > 3)
    throw LaunchError("kernel '" + kernelName + "': its first array has " + std::to_string(rank) +
                      " dimensions and a domain at most 3; give it with .global(x[, y[, z]])");
  Domain domain;
  domain.dims = rank;
  for (int d = 0; d < 3; ++d)
    domain.size[d] = d < rank ? static_cast<std::size_t>((*array)[rank - 1 - d]) : 1;
  return domain;
}

std::size_t divisorUpTo(std::size_t size, std::size_t limit) {
  for (std::size_t n = std::min(size, limit); n > 1; --n)
    if (size % n == 0) return n;
  return 1;
}

Shape chooseShape(const Domains& domains, const geometry::Extents* firstArray,
                  runtime::DeviceState& device, const std::string& kernelName, bool mustDivide,
                  const ir::AxisOrder& wanted) {
  const Domain global =
      domains.global.dims > 0 ? domains.global : defaultGlobal(firstArray, kernelName);
  requirePositive(global, "global", kernelName);
  requirePositive(domains.local, "local", kernelName);
  if (domains.local.dims > global.dims)
    throw LaunchError("kernel '" + kernelName + "': the local domain has " +
                      std::to_string(domains.local.dims) + " dimensions and the global one " +
                      std::to_string(global.dims) + "; give them the same number");
  Shape shape;
  shape.dims = static_cast<cl_uint>(global.dims);
  std::copy(global.size, global.size + 3, shape.size);
  std::copy(global.size, global.size + 3, shape.whole);
  requireCountable(shape.size, global.dims, "", device, kernelName);
  shape.axes = axesFor(wanted.dimension, global.dims, domains.local, device.properties());
  if (domains.local.dims > 0) {
    for (int d = 0; d < domains.local.dims; ++d) shape.local[d] = domains.local.size[d];
    checkLocal(shape, device, kernelName);
  } else {
    const bool isAsWanted = shape.axes == wanted.dimension && wanted.crossing < global.dims;
    defaultLocal(shape, device, mustDivide, isAsWanted ? wanted.crossing : -1);
  }
  for (int d = 0; d < global.dims; ++d) {
    const std::size_t groups = (shape.size[d] + shape.local[d] - 1) / shape.local[d];
    shape.global[d] = groups * shape.local[d];
    if (shape.global[d] != shape.size[d]) shape.guardDims = d + 1;
  }
  if (shape.guardDims > 0)
    requireCountable(shape.global, global.dims, ", rounded up to whole groups,", device,
                     kernelName);
  return shape;
}

std::array<int, 3> orderOf(const Shape& shape) {
  std::array<int, 3> order{};
  for (int axis = 0; axis < 3; ++axis)
    order[static_cast<std::size_t>(shape.axes[static_cast<std::size_t>(axis)])] = axis;
  return order;
}

}  // namespace hpl::layout
