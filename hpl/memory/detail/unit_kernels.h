// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <utility>

#include "hpl/geometry/rect_copy.h"
#include "hpl/runtime/cl.h"

namespace hpl::runtime {
class DeviceState;
}

namespace hpl::memory::detail {

/// One kernel that copies units of 1, 2, 4 or 8 bytes, for each device and size of a unit: the
/// macro UNIT is their type in the source.
class UnitKernels {
 public:
  UnitKernels(const char* name, const char* source) : name_(name), source_(source) {}

  /// Compiles it the first time. Throws what runtime::buildProgram throws.
  cl::Kernel& of(runtime::DeviceState& device, std::size_t unit);
  void clear() { kernels_.clear(); }

 private:
  const char* name_;
  const char* source_;
  std::map<std::pair<const runtime::DeviceState*, std::size_t>, cl::Kernel> kernels_;
};

/// The largest unit, of at most `most` bytes, that all offsets and lengths are multiples of. `most`
/// is a power of two.
std::size_t unitOf(const geometry::RectCopy& copy, std::size_t most = 8);

}  // namespace hpl::memory::detail
