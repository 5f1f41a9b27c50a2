// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hpl/array/annotation.h"
#include "hpl/array/array.h"
#include "hpl/layout/domain.h"
#include "hpl/runtime/device.h"
#include "stencil_templates/kernel/detail/reach.h"
#include "stencil_templates/kernel/form.h"

/// The preparation of a stencil kernel without its C++ types.
namespace hpl::kernel_stencils {

/// The number of elements per work-item that means: the library chooses.
constexpr int kChosenByLibrary = -1000000;

struct PreparedInput {
  const hpl::detail::ArrayBase* array = nullptr;
  Reach reach;
  /// Also neighbours beyond the border that lie at the array's other end.
  bool isPeriodic = false;
  std::size_t elementSize = 0;
};

struct Preparation {
  /// For messages: "PrepareStencilKernel2D<1, 1, 1, 1>".
  std::string name;
  int rank = 0;
  std::vector<PreparedInput> inputs;
  launch::Annotation annotation;
  std::vector<Device> devices;
  Domain local;
  int perThread = kChosenByLibrary;
  StencilForm form = StencilForm::Automatic;
};

struct Prepared {
  std::vector<Domain> global;
  std::vector<Domain> local;
  std::vector<Array<int, 1>> helper;
  /// Extents of each tile, slowest dimension first.
  std::int64_t tile[3] = {1, 1, 1};
};

/// Throws ArgumentError, LaunchError and DeviceError as documented at PrepareStencilKernel2D.
Prepared prepare(const Preparation& preparation);

/// The first n devices of the default device's type.
std::vector<Device> firstDevices(const std::string& name, int n);
/// PARTdim(array, r), where r is the larger of the two extents in that dimension.
launch::Annotation annotationOf(const std::string& name, int rank, int dim, const Reach& reach);

/// How a tile lies in local memory and what fills it.
struct TileShape {
  Domain local;
  int perThread = 1;
  /// Extents of the array in local memory, slowest dimension first; rows are padded.
  std::int64_t extents[3] = {1, 1, 1};

  std::size_t bytes(const Preparation& preparation) const;
};

/// The tile for the devices that use one. Throws LaunchError when it cannot be.
TileShape chooseTile(const Preparation& preparation, const std::vector<Device>& devices);

}  // namespace hpl::kernel_stencils
