// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/layout.h"

#include <algorithm>
#include <string>
#include <utility>

#include "hpl/error.h"
#include "hpl/layout/arguments.h"
#include "hpl/layout/detail/emit_options.h"
#include "hpl/layout/outside.h"
#include "hpl/layout/rewritten_kernels.h"
#include "hpl/layout/surplus_check.h"
#include "hpl/memory/root.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/log.h"

namespace hpl::layout {
namespace {

/// Lets the kernel's makers see what it is launched with.
void passGuards(const LaunchRequest& request) {
  const KernelVersion& version = *request.version;
  if (version.guards.empty()) return;
  GuardedLaunch launch{*version.kernel, request.device->name(), {}};
  for (const Argument& argument : request.arguments)
    launch.views.push_back(argument.kind == Argument::Kind::Array ? argument.view : nullptr);
  for (const auto& guard : version.guards) guard->check(launch);
}

void checkLocalMemory(const LaunchRequest& request) {
  std::size_t bytes = request.version->access.localBytes;
  for (const Argument& argument : request.arguments) {
    if (argument.kind != Argument::Kind::LocalArray) continue;
    std::size_t size = ir::sizeOf(argument.type);
    for (const auto extent : *argument.localExtents) size *= static_cast<std::size_t>(extent);
    bytes += size;
  }
  const std::size_t limit = request.device->properties().localMemory;
  if (limit > 0 && bytes > limit)
    throw LaunchError("kernel '" + request.version->name + "' needs " + std::to_string(bytes) +
                      " bytes of local memory per work-group, and device " +
                      request.device->name() + " has " + std::to_string(limit) +
                      "; make its local arrays smaller");
}

/// The shape of the launch with these domains, which may differ from those of the request.
Shape shapeOf(const LaunchRequest& request, const Domains& domains) {
  const KernelVersion& version = *request.version;
  Shape shape = chooseHarmlessShape(version, domains, request.firstArray(), *request.device,
                                    request.domains.local.dims > 0, version.axes);
  // The whole that a slice belongs to has been checked.
  if (!request.slice) checkAccesses(version, request.arguments, shape, request.isDefaultDomain());
  return shape;
}

void compileCaptured(const LaunchRequest& request, LaidOut& laidOut) {
  laidOut.emitted =
      codegen::emit(*laidOut.layout.kernel, detail::emitOptions(request, laidOut.layout));
  laidOut.program =
      runtime::buildProgram(*request.device, laidOut.emitted.name, laidOut.emitted.source,
                            laidOut.emitted.buildOptions, laidOut.layout.choice);
  laidOut.kernel = laidOut.program->createKernel();
}

void compileNative(const LaunchRequest& request, LaidOut& laidOut) {
  using Kind = codegen::Slot::Kind;
  const NativeKernel& native = *request.version->native;
  std::string options = native.options;
  if (request.fp == FAST) options += " -cl-fast-relaxed-math";
  std::string source = native.source;
  if (request.fp == STRICT) source = "#pragma OPENCL FP_CONTRACT OFF\n" + source;
  laidOut.program = runtime::buildProgram(*request.device, native.name, source, options);
  laidOut.kernel = laidOut.program->createKernel();
  laidOut.emitted = {};
  laidOut.emitted.name = native.name;
  for (std::size_t i = 0; i < request.arguments.size(); ++i) {
    const Parameter& parameter = request.version->params[i];
    const Kind kind = parameter.isScalar()  ? Kind::Scalar
                      : parameter.isLocal() ? Kind::Local
                                            : Kind::Buffer;
    laidOut.emitted.slots.push_back({kind, static_cast<int>(i), 0});
  }
}

/// If the device's compiler rejects the code of a strategy, that is a defect of the library, not of
/// the program: the kernel runs as it was written. A BuildError that gets out is about that form.
void compileAsLaidOut(const LaunchRequest& request, const Variant* variant, LaidOut& laidOut) {
  const KernelVersion& version = *request.version;
  const bool isAsked = variant != nullptr && !variant->isDefault();
  const bool hasOther = laidOut.layout.isRewritten && version.rewriter == nullptr && !isAsked;
  std::string message;
  try {
    return compileCaptured(request, laidOut);
  } catch (const BuildError& error) {
    if (!hasOther) throw;
    message = error.what();
  }
  const runtime::Strategy failed = laidOut.layout.strategy;
  laidOut.layout = asWritten(request, laidOut.shape, doesNotCompile(failed));
  compileCaptured(request, laidOut);
  if (!version.rewritten->giveUp(failed)) return;
  runtime::log::warn("kernel '" + version.name + "' on " + request.device->name() + ": " +
                     doesNotCompile(failed) +
                     ", which is a defect of HPL; the kernel runs as it was written (HPL_LOG=info "
                     "shows what the compiler says)");
  runtime::log::info(message);
}

/// The kernel for these domains. `groupLimit`: work-items that a group may have; 0: as many as the
/// device holds.
LaidOut layOutFor(const LaunchRequest& request, const Domains& domains, std::size_t groupLimit,
                  const Variant* variant) {
  const KernelVersion& version = *request.version;
  LaidOut laidOut;
  Shape& shape = laidOut.shape;
  shape = shapeOf(request, domains);
  shape.groupLimit = groupLimit;
  if (request.slice) {
    std::copy(request.slice->first, request.slice->first + 3, shape.first);
    std::copy(request.slice->whole, request.slice->whole + 3, shape.whole);
  }
  if (!version.native) {
    laidOut.layout = chooseLayout(request, shape, variant);
    compileAsLaidOut(request, variant, laidOut);
    return laidOut;
  }
  if (shape.guardDims > 0)
    throw LaunchError("native kernel '" + version.name +
                      "': the local domain does not divide the global one, and the library cannot "
                      "mask surplus work-items in OpenCL C; choose sizes that divide");
  laidOut.layout.shape = shape;
  compileNative(request, laidOut);
  return laidOut;
}

/// Work-items that a group of the compiled kernel may have; 0: the driver does not say.
std::size_t groupLimitOf(const LaidOut& laidOut, const runtime::DeviceState& device) {
  std::size_t limit = 0;
  // The result holds for all launches of the plan.
  const cl_int code = runtime::insist([&] {
    return clGetKernelWorkGroupInfo(laidOut.kernel(), device.device()(), CL_KERNEL_WORK_GROUP_SIZE,
                                    sizeof limit, &limit, nullptr);
  });
  return code == CL_SUCCESS ? limit : 0;
}

[[noreturn]] void refuseGroup(const LaunchRequest& request, std::size_t group, std::size_t limit) {
  throw LaunchError("kernel '" + request.version->name + "': the local domain has " +
                    std::to_string(group) + " work-items, and this kernel can run at most " +
                    std::to_string(limit) + " per group on device " + request.device->name() +
                    " (registers or local memory); choose a smaller .local(...)");
}

/// The kernel for domains that the device can hold: those of the request, or with smaller groups.
LaidOut layOutToFit(const LaunchRequest& request, const Variant* variant) {
  const KernelVersion& version = *request.version;
  Domains trial = request.domains;
  const Variant usual;
  const Variant* asked = variant;
  std::size_t groupLimit = 0;
  for (;;) {
    LaidOut laidOut = layOutFor(request, trial, groupLimit, asked);
    const std::size_t limit = groupLimitOf(laidOut, *request.device);
    const Shape& launched = laidOut.layout.shape;
    const std::size_t group = launched.local[0] * launched.local[1] * launched.local[2];
    if (limit == 0 || group <= limit) return laidOut;
    // A rewriter and some strategies choose the group, and hear what fits.
    const bool choosesGroup = version.rewriter != nullptr ||
                              laidOut.layout.strategy == runtime::Strategy::Columns ||
                              laidOut.layout.strategy == runtime::Strategy::Stream;
    if (choosesGroup && groupLimit != limit) {
      groupLimit = limit;
      continue;
    }
    // The user's choice does not fit, or neither does what the limit led to.
    if (trial.local.dims > 0 || version.rewriter != nullptr) refuseGroup(request, group, limit);
    const Shape& shape = laidOut.shape;
    const std::size_t row = shape.size[fastestAxis(shape.axes)];
    // The layout that tuning has found would not fit either.
    if (asked == nullptr) asked = &usual;
    const std::size_t fitting = version.native ? divisorUpTo(row, limit) : std::min(limit, row);
    trial.local = rowOf(shape.axes, static_cast<int>(shape.dims), fitting);
  }
}

/// All that another process has to know of a launch: its shape, from which follows what it uses.
LaidOut shapeElsewhere(const LaunchRequest& request) {
  LaidOut laidOut;
  laidOut.shape = shapeOf(request, request.domains);
  laidOut.layout.shape = laidOut.shape;
  // Ids of the launch itself: no strategy has made fewer work-items of them.
  std::copy(laidOut.shape.size, laidOut.shape.size + 3, laidOut.layout.shape.global);
  laidOut.layout.shape.axes = kNaturalAxes;
  for (std::size_t i = 0; i < request.arguments.size(); ++i)
    if (request.version->params[i].isScalar())
      laidOut.emitted.slots.push_back({codegen::Slot::Kind::Scalar, static_cast<int>(i), 0});
  return laidOut;
}

}  // namespace

LaidOut layOut(const LaunchRequest& request, const Variant* variant) {
  checkArguments(*request.version, request.arguments);
  passGuards(request);
  checkLocalMemory(request);
  if (!request.device->isLocal()) return shapeElsewhere(request);
  LaidOut laidOut = layOutToFit(request, variant);
  checkGroupDemands(*request.version, laidOut.shape.local, request.arguments);
  return laidOut;
}

}  // namespace hpl::layout
