// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/detail/emit_options.h"

#include "hpl/layout/detail/shared_strides.h"
#include "hpl/memory/root.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/quirks.h"
#include "hpl/runtime/settings.h"

namespace hpl::layout::detail {
namespace {

bool dividesCorrectlyRounded(const runtime::DeviceState& device) {
  cl_device_fp_config config = 0;
  const cl_int code = clGetDeviceInfo(device.device()(), CL_DEVICE_SINGLE_FP_CONFIG, sizeof config,
                                      &config, nullptr);
  return code == CL_SUCCESS && (config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
}

/// Acquires and releases between the groups of the device, in OpenCL C 3.0.
bool hasOrderedAtomics(const runtime::DeviceState& device) {
  constexpr cl_device_atomic_capabilities kNeeded =
      CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_SCOPE_DEVICE;
  cl_device_atomic_capabilities has = 0;
  const cl_int code = clGetDeviceInfo(device.device()(), CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES,
                                      sizeof has, &has, nullptr);
  return code == CL_SUCCESS && (has & kNeeded) == kNeeded;
}

/// GPUs multiply and add 32 bits at once and 64 in several steps: on an H200 a stencil of seven
/// points takes 1.3 times as long with 64. Arrays of half as many elements as 31 bits count leave
/// room for the ghosts of parts.
bool hasNarrowPlaces(const LaunchRequest& request) {
  if (request.device->type() == CPU) return false;
  constexpr geometry::Index kMost = geometry::Index{1} << 30;
  for (const Argument& argument : request.arguments) {
    if (argument.kind != Argument::Kind::Array) continue;
    geometry::Index elements = 1;
    const geometry::Extents& extents = argument.view->root().whole().extents;
    for (int d = 0; d < extents.rank(); ++d) elements *= extents[d];
    if (elements >= kMost) return false;
  }
  return true;
}

}  // namespace

codegen::EmitOptions emitOptions(const LaunchRequest& request, const Layout& layout) {
  const Shape& shape = layout.shape;
  codegen::EmitOptions options;
  options.fp = request.fp == STRICT ? codegen::FpMode::Strict
               : request.fp == FAST ? codegen::FpMode::Fast
                                    : codegen::FpMode::Default;
  // The whole array always begins at element 0 of its replica. Views take an offset even where it
  // happens to be 0, so that a replica may grow without a new program.
  for (std::size_t i = 0; i < request.arguments.size(); ++i)
    options.offset.push_back(
        request.arguments[i].kind == Argument::Kind::Array &&
        (request.slice || request.arguments[i].view != &request.arguments[i].view->root().whole()));
  options.guardDims = shape.guardDims;
  // Rewritten kernels know of slices by themselves.
  if (request.slice && !layout.isRewritten) options.sliceDims = static_cast<int>(shape.dims);
  options.axes = shape.axes;
  options.plainConversions = layout.isRewritten;
  options.hasClangVectors =
      layout.isRewritten && runtime::quirksOf(request.device->properties()).hasLongVectors;
  options.bodiesApart =
      layout.isRewritten && runtime::quirksOf(request.device->properties()).multipliesKernels;
  options.comparesWideMasks = runtime::quirksOf(request.device->properties()).mistakesWideMasks;
  options.vectorBits = layout.vectorBits;
  options.distinctArrays = layout.distinctArrays;
  if (runtime::quirksOf(request.device->properties()).countsRegisters)
    options.registers = layout.registers;
  options.alignedBuffers = !request.device->sharesHostMemory();
  // A share's replicas hold what it touches of each array only.
  if (!request.slice) options.stridesOf = stridesShared(request.arguments);
  options.narrowPlaces = hasNarrowPlaces(request);
  options.checkBounds = runtime::settings().checkBounds;
  options.hasHalf = request.device->properties().hasHalf;
  options.hasDouble = request.device->properties().hasDouble;
  options.hasWideAtomics = request.device->properties().hasWideAtomics;
  options.hasWideMinMaxAtomics = request.device->properties().hasWideMinMaxAtomics;
  options.hasCorrectlyRoundedDivide = dividesCorrectlyRounded(*request.device);
  // The options of groups that wait for each other.
  if (layout.isRewritten && request.version->rewriter != nullptr)
    options.hasOrderedAtomics = hasOrderedAtomics(*request.device);
  return options;
}

}  // namespace hpl::layout::detail
