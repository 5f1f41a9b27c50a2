// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "hpl/layout/argument.h"
#include "hpl/layout/domain.h"
#include "hpl/layout/kernel_version.h"
#include "hpl/runtime/device.h"
#include "hpl/runtime/fp_mode.h"

namespace hpl::layout {

/// The domains that a program asks for; dims 0: the library chooses.
struct Domains {
  Domain global;
  Domain local;
};

/// For a launch that runs a slice of a larger domain: where its ids begin along each axis, and the
/// sizes of the whole domain.
struct SliceOfDomain {
  std::size_t first[3] = {0, 0, 0};
  std::size_t whole[3] = {0, 0, 0};
};

/// All that decides how a kernel is laid out on one device, as finished values. Valid while the
/// call runs that made the arguments.
struct LaunchRequest {
  std::shared_ptr<const KernelVersion> version;
  runtime::DeviceState* device = nullptr;
  Domains domains;
  FpMode fp = DEFAULT_FP;
  /// One per parameter of the kernel: arrays, local arrays and scalars.
  Arguments arguments;
  /// Nothing: the launch runs its whole domain.
  std::optional<SliceOfDomain> slice = {};

  /// The shape of the first array, from which a missing global domain follows; null: there is none.
  const geometry::Extents* firstArray() const { return layout::firstArray(arguments); }
  /// The domain is that of the first array.
  bool isDefaultDomain() const { return domains.global.dims == 0; }
};

}  // namespace hpl::layout
