// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "hpl/error.h"
#include "hpl/launch/detail/online_tuning.h"
#include "hpl/launch/detail/origin.h"
#include "hpl/launch/detail/outside.h"
#include "hpl/launch/detail/plan.h"
#include "hpl/launch/detail/shared_strides.h"
#include "hpl/launch/detail/shares.h"
#include "hpl/launch/detail/strategy.h"
#include "hpl/launch/detail/surplus_check.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/settings.h"

namespace hpl::launch {
namespace {

using memory::detail::DeviceUse;

std::vector<std::string> labelsOf(const Argument* arguments, std::size_t count) {
  std::vector<std::string> labels(count);
  for (std::size_t i = 0; i < count; ++i)
    if (arguments[i].kind == Argument::Kind::Array) labels[i] = arguments[i].view->root().label();
  return labels;
}

const geometry::Extents* firstArray(const Argument* arguments, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (arguments[i].kind == Argument::Kind::Array) return &arguments[i].view->extents;
  return nullptr;
}

void checkLocalMemory(const KernelVersion& version, const Argument* arguments, std::size_t count,
                      const runtime::DeviceState& device) {
  std::size_t bytes = version.access.localBytes;
  for (std::size_t i = 0; i < count; ++i) {
    if (arguments[i].kind != Argument::Kind::LocalArray) continue;
    std::size_t size = ir::sizeOf(arguments[i].type);
    for (const auto extent : *arguments[i].localExtents) size *= static_cast<std::size_t>(extent);
    bytes += size;
  }
  const std::size_t limit = device.properties().localMemory;
  if (limit > 0 && bytes > limit)
    throw LaunchError("kernel '" + version.name + "' needs " + std::to_string(bytes) +
                      " bytes of local memory per work-group, and device " + device.name() +
                      " has " + std::to_string(limit) + "; make its local arrays smaller");
}

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

codegen::EmitOptions emitOptions(const Plan& plan, const LaidOut& laidOut,
                                 const Argument* arguments) {
  const Shape& shape = laidOut.shape;
  codegen::EmitOptions options;
  options.fp = plan.options.fp == STRICT ? codegen::FpMode::Strict
               : plan.options.fp == FAST ? codegen::FpMode::Fast
                                         : codegen::FpMode::Default;
  // The whole array always begins at element 0 of its replica. Views take an offset even where it
  // happens to be 0, so that a replica may grow without a new program.
  for (std::size_t i = 0; i < plan.argumentCount; ++i)
    options.offset.push_back(
        arguments[i].kind == Argument::Kind::Array &&
        (plan.isSlice || arguments[i].view != &arguments[i].view->root().whole()));
  options.guardDims = shape.guardDims;
  // Rewritten kernels know of slices by themselves.
  if (plan.isSlice && !laidOut.isRewritten) options.sliceDims = static_cast<int>(shape.dims);
  options.axes = shape.axes;
  options.plainConversions = laidOut.isRewritten;
  options.vectorBits = laidOut.vectorBits;
  options.distinctArrays = laidOut.distinctArrays;
  // A share's replicas hold what it touches of each array only.
  if (!plan.isSlice) options.stridesOf = stridesShared(arguments, plan.argumentCount);
  options.checkBounds = runtime::settings().checkBounds;
  options.hasHalf = plan.device->properties().hasHalf;
  options.hasDouble = plan.device->properties().hasDouble;
  options.hasWideAtomics = plan.device->properties().hasWideAtomics;
  options.hasWideMinMaxAtomics = plan.device->properties().hasWideMinMaxAtomics;
  options.hasCorrectlyRoundedDivide = dividesCorrectlyRounded(*plan.device);
  // Of those who wait for each other.
  if (laidOut.isRewritten && plan.version->rewriter != nullptr)
    options.hasOrderedAtomics = hasOrderedAtomics(*plan.device);
  return options;
}

template <class T>
void setValue(Plan& plan, std::size_t index, const T& value) {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): of handles it is their own size that counts
  runtime::check(clSetKernelArg(plan.kernel(), static_cast<cl_uint>(index), sizeof value, &value),
                 "clSetKernelArg", plan.device, runtime::Concern::kernel(plan.version->name));
}

void setLocalArray(Plan& plan, std::size_t index, const Argument& argument) {
  std::size_t bytes = ir::sizeOf(argument.type);
  for (const auto extent : *argument.localExtents) bytes *= static_cast<std::size_t>(extent);
  runtime::check(clSetKernelArg(plan.kernel(), static_cast<cl_uint>(index), bytes, nullptr),
                 "clSetKernelArg", plan.device, runtime::Concern::kernel(plan.version->name));
}

void addScalar(Plan& plan, std::size_t index, std::size_t parameter) {
  Plan::ScalarArg scalar;
  scalar.argument = static_cast<int>(index);
  scalar.parameter = parameter;
  scalar.type = plan.version->params[parameter].type;
  scalar.bytes = ir::sizeOf(scalar.type);
  scalar.at = (plan.scalarBytes + 15) / 16 * 16;
  plan.scalarBytes = scalar.at + scalar.bytes;
  plan.scalars.push_back(scalar);
}

std::int64_t denseStride(const geometry::Extents& extents, int dimension) {
  std::int64_t stride = 1;
  for (int d = dimension + 1; d < extents.rank(); ++d) stride *= extents[d];
  return stride;
}

/// Sets the arguments that never change and notes where the others go.
class SlotBinder {
 public:
  SlotBinder(Plan& plan, const LaidOut& laidOut, const Argument* arguments)
      : plan_(plan),
        laidOut_(laidOut),
        shape_(laidOut.shape),
        arguments_(arguments),
        arrayOf_(plan.argumentCount, -1) {
    for (std::size_t i = 0; i < plan.argumentCount; ++i)
      if (arguments[i].kind == Argument::Kind::Array) {
        arrayOf_[i] = static_cast<int>(plan_.arrays.size());
        plan_.arrays.emplace_back();
      }
  }

  void bind(const codegen::Slot& slot, std::size_t index) {
    using Kind = codegen::Slot::Kind;
    const auto param = static_cast<std::size_t>(slot.param);
    switch (slot.kind) {
      case Kind::Buffer:
        array(param).buffer = static_cast<int>(index);
        break;
      case Kind::Offset:
        array(param).offset = static_cast<int>(index);
        setValue(plan_, index, cl_ulong{0});
        break;
      case Kind::Stride:
        if (arguments_[param].kind == Argument::Kind::LocalArray) {
          setValue(
              plan_, index,
              static_cast<cl_ulong>(denseStride(*arguments_[param].localExtents, slot.dimension)));
        } else {
          array(param).strides.emplace_back(static_cast<int>(index), slot.dimension);
        }
        break;
      case Kind::Extent: {
        const geometry::Extents& extents = arguments_[param].kind == Argument::Kind::LocalArray
                                               ? *arguments_[param].localExtents
                                               : arguments_[param].view->extents;
        setValue(plan_, index, static_cast<cl_ulong>(extents[slot.dimension]));
        break;
      }
      case Kind::Local:
        setLocalArray(plan_, index, arguments_[param]);
        break;
      case Kind::Scalar:
        if (param < plan_.argumentCount) {
          addScalar(plan_, index, param);
        } else {
          setValue(plan_, index, laidOut_.hidden[param - plan_.argumentCount]);
        }
        break;
      case Kind::GuardSize:
        setValue(plan_, index,
                 static_cast<cl_ulong>(plan_.isSlice ? shape_.whole[slot.dimension]
                                                     : shape_.size[slot.dimension]));
        break;
      case Kind::SliceFirst:
        setValue(plan_, index, static_cast<cl_ulong>(shape_.first[slot.dimension]));
        break;
      case Kind::SliceCount:
        setValue(plan_, index, static_cast<cl_ulong>(shape_.size[slot.dimension]));
        break;
      case Kind::Origin:
        setValue(plan_, index,
                 static_cast<cl_ulong>(plan_.origin[static_cast<std::size_t>(slot.dimension)]));
        break;
      case Kind::ErrorBuffer:
        plan_.errorArgument = static_cast<int>(index);
        setValue(plan_, index, plan_.errors());
        break;
      case Kind::ProbeBuffer:
        setValue(plan_, index, plan_.probes->values());
        break;
    }
  }

 private:
  Plan::ArrayArgs& array(std::size_t param) {
    return plan_.arrays[static_cast<std::size_t>(arrayOf_[param])];
  }

  Plan& plan_;
  const LaidOut& laidOut_;
  const Shape& shape_;
  const Argument* arguments_;
  std::vector<int> arrayOf_;
};

void compileCaptured(Plan& plan, const LaidOut& laidOut, const Argument* arguments) {
  codegen::EmittedKernel emitted =
      codegen::emit(*laidOut.kernel, emitOptions(plan, laidOut, arguments));
  plan.program =
      runtime::buildProgram(*plan.device, emitted.name, emitted.source, emitted.buildOptions);
  plan.kernel = plan.program->createKernel();
  if (runtime::settings().checkBounds)
    plan.errors = runtime::guarded(plan.device, runtime::Concern::kernel(emitted.name), [&] {
      return cl::Buffer(plan.device->context(), CL_MEM_READ_WRITE,
                        codegen::ErrorBuffer::kWords * sizeof(cl_int));
    });
  plan.probes = makeProbes(plan, emitted);
  SlotBinder binder(plan, laidOut, arguments);
  for (std::size_t i = 0; i < emitted.slots.size(); ++i) binder.bind(emitted.slots[i], i);
  if (runtime::settings().checkBounds)
    plan.checked = std::make_unique<codegen::EmittedKernel>(std::move(emitted));
}

void compileNative(Plan& plan, const LaidOut& laidOut, const Argument* arguments) {
  const NativeKernel& native = *plan.version->native;
  std::string options = native.options;
  if (plan.options.fp == FAST) options += " -cl-fast-relaxed-math";
  std::string source = native.source;
  if (plan.options.fp == STRICT) source = "#pragma OPENCL FP_CONTRACT OFF\n" + source;
  plan.program = runtime::buildProgram(*plan.device, native.name, source, options);
  plan.kernel = plan.program->createKernel();
  SlotBinder binder(plan, laidOut, arguments);
  for (std::size_t i = 0; i < plan.argumentCount; ++i) {
    using Kind = codegen::Slot::Kind;
    const Parameter& parameter = plan.version->params[i];
    const Kind kind = parameter.isScalar()  ? Kind::Scalar
                      : parameter.isLocal() ? Kind::Local
                                            : Kind::Buffer;
    binder.bind({kind, static_cast<int>(i), 0}, i);
  }
}

/// What a strategy wrote and the device's compiler rejects is a defect of the library, not of the
/// program: the kernel runs as it was written. A BuildError that gets out is about that.
void compileAsLaidOut(Plan& plan, const Shape& shape, const Argument* arguments,
                      const Variant* variant, LaidOut& laidOut) {
  const bool isAsked = variant != nullptr && !variant->isDefault();
  const bool hasOther = laidOut.isRewritten && plan.version->rewriter == nullptr && !isAsked;
  std::string message;
  try {
    return compileCaptured(plan, laidOut, arguments);
  } catch (const BuildError& error) {
    if (!hasOther) throw;
    message = error.what();
  }
  const runtime::Strategy failed = laidOut.strategy;
  laidOut = asWritten(plan, shape, doesNotCompile(failed));
  compileCaptured(plan, laidOut, arguments);
  if (!plan.version->rewritten->giveUp(failed)) return;
  runtime::log::warn("kernel '" + plan.version->name + "' on " + plan.device->name() + ": " +
                     doesNotCompile(failed) +
                     ", which is a defect of HPL; the kernel runs as it was written (HPL_LOG=info "
                     "shows what the compiler says)");
  runtime::log::info(message);
}

/// The kernel for the domains of `trial`.
void layOutAndCompile(Plan& plan, const LaunchOptions& trial, const Argument* arguments,
                      const ShareContext& share, const Variant* variant, Shape& shape,
                      LaidOut& laidOut) {
  const std::size_t groupLimit = shape.groupLimit;
  shape =
      chooseHarmlessShape(*plan.version, trial, firstArray(arguments, plan.argumentCount),
                          *plan.device, plan.options.local.dims > 0, plan.version->axes.dimension);
  shape.groupLimit = groupLimit;
  // The whole that a slice belongs to has been checked.
  if (!plan.isSlice)
    checkAccesses(*plan.version, arguments, plan.argumentCount, shape, trial.global.dims == 0);
  std::copy(share.first, share.first + 3, shape.first);
  std::copy(share.whole, share.whole + 3, shape.whole);
  if (plan.version->native && shape.guardDims > 0)
    throw LaunchError("native kernel '" + plan.version->name +
                      "': the local domain does not divide the global one, and the library cannot "
                      "mask surplus work-items in OpenCL C; choose sizes that divide");
  plan.arrays.clear();
  plan.scalars.clear();
  plan.scalarBytes = 0;
  if (plan.version->native) {
    laidOut.shape = shape;
    compileNative(plan, laidOut, arguments);
  } else {
    laidOut = layOut(plan, shape, arguments, variant);
    compileAsLaidOut(plan, shape, arguments, variant, laidOut);
  }
}

std::size_t kernelGroupLimit(const Plan& plan) {
  std::size_t limit = 0;
  // What is found holds for all launches of the plan.
  const cl_int code = runtime::insist([&] {
    return clGetKernelWorkGroupInfo(plan.kernel(), plan.device->device()(),
                                    CL_KERNEL_WORK_GROUP_SIZE, sizeof limit, &limit, nullptr);
  });
  return code == CL_SUCCESS ? limit : 0;
}

/// OpenCL C gets packed stand-ins for views, whose elements are not dense from the start.
memory::View& standInFor(Plan& plan, const Parameter& parameter, memory::View& view) {
  Plan::StandIn standIn;
  standIn.root = view.root().weak_from_this();
  standIn.view = &view;
  standIn.in = parameter.access != nullptr || parameter.mode != NativeMode::Out;
  standIn.out =
      parameter.access != nullptr ? parameter.access->written : parameter.mode != NativeMode::In;
  memory::RootOptions options;
  options.shape = view.extents;
  options.elementSize = view.root().elementSize();
  options.type = view.root().type();
  options.label = view.root().label();
  options.hostMemory = memory::HostMemory::None;
  options.isInternal = true;
  standIn.packed = memory::Root::create(std::move(options));
  plan.standIns.push_back(standIn);
  return standIn.packed->whole();
}

void addUses(Plan& plan, const Shape& shape, const Argument* arguments, const ShareContext& share) {
  plan.given.resize(plan.argumentCount);
  for (std::size_t i = 0; i < plan.argumentCount; ++i) {
    if (arguments[i].kind == Argument::Kind::LocalArray)
      plan.localExtents.push_back(*arguments[i].localExtents);
    if (arguments[i].kind != Argument::Kind::Array) continue;
    memory::View& view = *arguments[i].view;
    const Parameter& parameter = plan.version->params[i];
    plan.views.push_back(&view);
    plan.given[i] = &view;
    plan.extents.push_back(view.extents);
    plan.roots.push_back(view.root().weak_from_this());
    const coherence::DistributionPtr distribution =
        share.distributions.empty() ? nullptr : share.distributions[i];
    // A part with ghosts has a buffer of its own, which begins with it.
    const bool hasOwnBuffer = distribution != nullptr && distribution->hasGhosts();
    const bool isView = &view != &view.root().whole();
    const bool pack = parameter.isDense && isView && !hasOwnBuffer;
    DeviceUse use = useOf(parameter, pack ? standInFor(plan, parameter, view) : view, shape,
                          share.cells.empty() ? geometry::Region() : share.cells[i]);
    use.distribution = pack ? nullptr : distribution;  // stand-ins are no parts
    use.mayBePart = isView && !pack && distribution == nullptr && use.box.rank() == 0;
    plan.mayBeParts = plan.mayBeParts || use.mayBePart;
    plan.uses.push_back(use);
  }
  // No root ever has this epoch, so the first launch prepares.
  plan.tickets.assign(plan.uses.size(), memory::detail::Ticket{~std::uint64_t{0}, nullptr});
  plan.placements.resize(plan.uses.size());
}

/// Lets the kernel's makers see what it is launched with.
void passGuards(const KernelVersion& version, const runtime::DeviceState& device,
                const Argument* arguments, std::size_t count) {
  if (version.guards.empty()) return;
  GuardedLaunch launch{*version.kernel, device.name(), {}};
  for (std::size_t i = 0; i < count; ++i)
    launch.views.push_back(arguments[i].kind == Argument::Kind::Array ? arguments[i].view
                                                                      : nullptr);
  for (const auto& guard : version.guards) guard->check(launch);
}

/// The kernel for domains that the device can hold: those of `options`, or with smaller groups.
void layOutToFit(Plan& plan, const LaunchOptions& options, const Argument* arguments,
                 const ShareContext& share, const Variant* variant, Shape& shape,
                 LaidOut& laidOut) {
  LaunchOptions trial = options;
  const Variant usual;
  const Variant* asked = variant;
  for (;;) {
    layOutAndCompile(plan, trial, arguments, share, asked, shape, laidOut);
    const std::size_t limit = kernelGroupLimit(plan);
    const Shape& launched = laidOut.shape;
    const std::size_t group = launched.local[0] * launched.local[1] * launched.local[2];
    if (limit == 0 || group <= limit) break;
    // A rewriter chooses the group, and hears what fits.
    if (plan.version->rewriter != nullptr && shape.groupLimit != limit) {
      shape.groupLimit = limit;
      continue;
    }
    // The user's choice does not fit, or neither does what the limit led to.
    if (trial.local.dims > 0 || plan.version->rewriter != nullptr)
      throw LaunchError("kernel '" + plan.version->name + "': the local domain has " +
                        std::to_string(group) + " work-items, and this kernel can run at most " +
                        std::to_string(limit) + " per group on device " + plan.device->name() +
                        " (registers or local memory); choose a smaller .local(...)");
    const std::size_t row = shape.size[fastestAxis(shape.axes)];
    // What tuning has found would not fit either.
    if (asked == nullptr) asked = &usual;
    const std::size_t fitting =
        plan.version->native ? divisorUpTo(row, limit) : std::min(limit, row);
    trial.local = rowOf(shape.axes, static_cast<int>(shape.dims), fitting);
  }
  plan.choice = laidOut.choice;
  plan.isTunable = laidOut.isTunable;
  plan.dims = shape.dims;
  toDevice(laidOut.shape.axes, laidOut.shape.global, plan.global);
  toDevice(laidOut.shape.axes, laidOut.shape.local, plan.local);
  checkGroupDemands(*plan.version, laidOut.shape.local, arguments, plan.argumentCount);
}

/// All that another process has to know of a launch: its shape, from which follows what it uses.
void shapeElsewhere(Plan& plan, const LaunchOptions& options, const Argument* arguments,
                    Shape& shape) {
  const geometry::Extents* first = firstArray(arguments, plan.argumentCount);
  shape = chooseHarmlessShape(*plan.version, options, first, *plan.device, options.local.dims > 0,
                              plan.version->axes.dimension);
  if (!plan.isSlice)
    checkAccesses(*plan.version, arguments, plan.argumentCount, shape, options.global.dims == 0);
  plan.dims = shape.dims;
  std::copy(shape.size, shape.size + 3, plan.global);
  for (std::size_t i = 0; i < plan.argumentCount; ++i)
    if (plan.version->params[i].isScalar()) addScalar(plan, 0, i);
}

}  // namespace

std::shared_ptr<Plan> makePlan(KernelEntry& entry, const LaunchOptions& options,
                               runtime::DeviceState& device, const Argument* arguments,
                               std::size_t count, const ShareContext& share) {
  const std::vector<std::string> labels = labelsOf(arguments, count);
  return makeVariant(entry.version(device, labels), labels, options, device, arguments, count,
                     share, nullptr);
}

std::shared_ptr<Plan> makeVariant(std::shared_ptr<const KernelVersion> version,
                                  const std::vector<std::string>& labels,
                                  const LaunchOptions& options, runtime::DeviceState& device,
                                  const Argument* arguments, std::size_t count,
                                  const ShareContext& share, const Variant* variant) {
  auto plan = std::make_shared<Plan>();
  plan->labels = labels;
  plan->version = std::move(version);
  checkArguments(*plan->version, arguments, count);
  passGuards(*plan->version, device, arguments, count);
  checkLocalMemory(*plan->version, arguments, count, device);
  plan->argumentCount = count;
  plan->options = options;
  plan->device = &device;
  plan->isSlice = !share.cells.empty();
  std::copy(share.first, share.first + 3, plan->first);
  plan->origin = originOf(*plan->version, arguments, count, share.distributions);
  plan->isElsewhere = !device.isLocal();
  Shape shape;
  LaidOut laidOut;
  if (plan->isElsewhere) {
    shapeElsewhere(*plan, options, arguments, shape);
  } else {
    layOutToFit(*plan, options, arguments, share, variant, shape, laidOut);
  }
  plan->scalarValues.resize(plan->scalarBytes);
  if (variant == nullptr && plan->isTunable && laidOut.isRewritten)
    plan->tuning = OnlineTuning::create(*plan, shape, arguments, share);
  addUses(*plan, shape, arguments, share);
  return plan;
}

}  // namespace hpl::launch
