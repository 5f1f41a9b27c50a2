// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "hpl/error.h"
#include "hpl/launch/detail/device_plan.h"
#include "hpl/launch/detail/footprint.h"
#include "hpl/launch/detail/online_tuning.h"
#include "hpl/launch/detail/origin.h"
#include "hpl/memory/contents.h"
#include "hpl/runtime/settings.h"

namespace hpl::launch {
namespace {

using memory::detail::DeviceUse;

template <class T>
void setValue(DevicePlan& plan, std::size_t index, const T& value) {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): of handles it is their own size that counts
  runtime::check(clSetKernelArg(plan.kernel(), static_cast<cl_uint>(index), sizeof value, &value),
                 "clSetKernelArg", plan.device, runtime::Concern::kernel(plan.version->name));
}

void setLocalArray(DevicePlan& plan, std::size_t index, const Argument& argument) {
  std::size_t bytes = ir::sizeOf(argument.type);
  for (const auto extent : *argument.localExtents) bytes *= static_cast<std::size_t>(extent);
  runtime::check(clSetKernelArg(plan.kernel(), static_cast<cl_uint>(index), bytes, nullptr),
                 "clSetKernelArg", plan.device, runtime::Concern::kernel(plan.version->name));
}

void addScalar(DevicePlan& plan, std::size_t index, std::size_t parameter) {
  DevicePlan::ScalarArg scalar;
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
  SlotBinder(DevicePlan& plan, const LaidOut& laidOut, Arguments arguments)
      : plan_(plan),
        hidden_(laidOut.layout.hidden),
        shape_(laidOut.layout.shape),
        arguments_(arguments),
        arrayOf_(arguments.size(), -1) {
    for (std::size_t i = 0; i < arguments.size(); ++i)
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
        if (param < arguments_.size()) {
          addScalar(plan_, index, param);
        } else {
          setValue(plan_, index, hidden_[param - arguments_.size()]);
        }
        break;
      case Kind::GuardSize:
        setValue(plan_, index, static_cast<cl_ulong>(shape_.whole[slot.dimension]));
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
  DevicePlan::ArrayArgs& array(std::size_t param) {
    return plan_.arrays[static_cast<std::size_t>(arrayOf_[param])];
  }

  DevicePlan& plan_;
  const std::vector<cl_ulong>& hidden_;
  const Shape& shape_;
  Arguments arguments_;
  std::vector<int> arrayOf_;
};

cl::Buffer errorBufferOn(runtime::DeviceState& device, const std::string& kernel) {
  return runtime::guarded(&device, runtime::Concern::kernel(kernel), [&] {
    return cl::Buffer(device.context(), CL_MEM_READ_WRITE,
                      codegen::ErrorBuffer::kWords * sizeof(cl_int));
  });
}

/// OpenCL C gets packed stand-ins for views, whose elements are not dense from the start.
memory::View& standInFor(DevicePlan& plan, const Parameter& parameter, memory::View& view) {
  DevicePlan::StandIn standIn;
  standIn.root = view.root().weak_from_this();
  standIn.view = &view;
  standIn.in = parameter.access != nullptr || parameter.mode != NativeMode::Out;
  standIn.out =
      parameter.access != nullptr ? parameter.access->written : parameter.mode != NativeMode::In;
  standIn.packed = memory::scratchLike(view.root(), view.extents);
  plan.standIns.push_back(standIn);
  return standIn.packed->whole();
}

}  // namespace

DevicePlan::DevicePlan(const LaunchRequest& request, LaidOut laidOut, const ShareContext& share,
                       std::unique_ptr<OnlineTuning> ownTuning) {
  version = request.version;
  device = request.device;
  domains = request.domains;
  fp = request.fp;
  labels = layout::labelsOf(request.arguments);
  isElsewhere = laidOut.program == nullptr;
  origin = originOf(*version, request.arguments, share.distributions);
  std::copy(laidOut.shape.first, laidOut.shape.first + 3, first);
  dims = laidOut.shape.dims;
  const Shape& launched = laidOut.layout.shape;
  layout::toDevice(launched.axes, launched.global, global);
  layout::toDevice(launched.axes, launched.local, local);
  choice = laidOut.layout.choice;
  isTunable = laidOut.layout.isTunable;
  tuning = std::move(ownTuning);
  program = std::move(laidOut.program);
  kernel = std::move(laidOut.kernel);
  const bool checks = !isElsewhere && version->kernel != nullptr && runtime::settings().checkBounds;
  if (checks) errors = errorBufferOn(*device, laidOut.emitted.name);
  probes = makeProbes(*device, laidOut.emitted);
  SlotBinder binder(*this, laidOut, request.arguments);
  for (std::size_t i = 0; i < laidOut.emitted.slots.size(); ++i)
    binder.bind(laidOut.emitted.slots[i], i);
  scalarValues.resize(scalarBytes);
  if (checks) checked = std::make_unique<codegen::EmittedKernel>(std::move(laidOut.emitted));
  addUses(request, laidOut.shape, share);
}

void DevicePlan::addUses(const LaunchRequest& request, const Shape& shape,
                         const ShareContext& share) {
  given.resize(request.arguments.size());
  for (std::size_t i = 0; i < request.arguments.size(); ++i) {
    const Argument& argument = request.arguments[i];
    if (argument.kind == Argument::Kind::LocalArray) localExtents.push_back(*argument.localExtents);
    if (argument.kind != Argument::Kind::Array) continue;
    memory::View& view = *argument.view;
    const Parameter& parameter = version->params[i];
    views.push_back(&view);
    held.emplace_back(view);
    given[i] = &view;
    extents.push_back(view.extents);
    roots.push_back(view.root().weak_from_this());
    const coherence::DistributionPtr distribution =
        share.distributions.empty() ? nullptr : share.distributions[i];
    // A part with ghosts has a buffer of its own, which begins with it.
    const bool hasOwnBuffer = distribution != nullptr && distribution->hasGhosts();
    const bool isView = &view != &view.root().whole();
    const bool pack = parameter.isDense && isView && !hasOwnBuffer;
    DeviceUse use = useOf(parameter, pack ? standInFor(*this, parameter, view) : view, shape,
                          share.cells.empty() ? geometry::Region() : share.cells[i].own);
    // Cells of other devices get no new values.
    if (!share.cells.empty() && !share.cells[i].isAccessed)
      use.read = use.write = use.overwrites = false;
    use.distribution = pack ? nullptr : distribution;  // stand-ins are no parts
    // Boxes around cells that are apart may overlap where the cells do not.
    const bool isBox = isView && !pack && !parameter.isMapped;
    use.mayBePart = isBox && distribution == nullptr && use.box.rank() == 0;
    mayBeParts = mayBeParts || use.mayBePart;
    uses.push_back(use);
  }
  addReadsAround(request, share);
  // No root ever has this epoch, so the first launch prepares.
  tickets.assign(uses.size(), memory::detail::Ticket{~std::uint64_t{0}, nullptr});
  placements.resize(uses.size());
}

/// Behind the uses of the arguments: they read more of arrays that they write.
void DevicePlan::addReadsAround(const LaunchRequest& request, const ShareContext& share) {
  for (std::size_t i = 0; i < share.cells.size(); ++i) {
    const geometry::Region& around = share.cells[i].around;
    if (around.empty()) continue;
    DeviceUse use;
    use.view = request.arguments[i].view;
    use.read = true;
    use.box = around.boundingBox();
    if (around.boxCount() > 1) use.touched = around;
    uses.push_back(use);
  }
}

memory::detail::DeviceUse useOf(const Parameter& parameter, memory::View& view, const Shape& shape,
                                const geometry::Region& cells) {
  memory::detail::DeviceUse use;
  use.view = &view;
  use.box = cells.boundingBox();
  if (cells.boxCount() > 1) use.touched = cells;
  if (parameter.access == nullptr) {
    const bool in = parameter.mode != NativeMode::Out;
    const bool out = parameter.mode != NativeMode::In;
    use.read = in;
    use.write = out;
    use.overwrites = out && !in;
    return use;
  }
  const ir::ArrayAccess& access = *parameter.access;
  bool covered = access.coversThreads;
  for (std::size_t d = 0; covered && d < access.coverAxes.size(); ++d)
    covered = shape.size[access.coverAxes[d]] ==
              static_cast<std::size_t>(use.cells().extent(static_cast<int>(d)));
  use.read = access.readsOldContents;
  use.write = access.written;
  use.overwrites = access.written && !access.needsContents(covered);
  return use;
}

LaunchRequest requestOf(std::shared_ptr<const KernelVersion> version, const LaunchOptions& options,
                        runtime::DeviceState& device, Arguments arguments,
                        const ShareContext& share) {
  return {std::move(version), &device, domainsOf(options), options.fp, arguments, share.slice};
}

std::shared_ptr<DevicePlan> makePlan(KernelEntry& entry, const LaunchOptions& options,
                                     runtime::DeviceState& device, Arguments arguments,
                                     const ShareContext& share) {
  const LaunchRequest request = requestOf(entry.version(device, layout::labelsOf(arguments)),
                                          options, device, arguments, share);
  LaidOut laidOut = layout::layOut(request);
  std::unique_ptr<OnlineTuning> tuning = OnlineTuning::create(request, laidOut, share);
  return std::make_shared<DevicePlan>(request, std::move(laidOut), share, std::move(tuning));
}

std::shared_ptr<DevicePlan> makeVariant(const LaunchRequest& request, const ShareContext& share,
                                        const Variant& variant) {
  return std::make_shared<DevicePlan>(request, layout::layOut(request, &variant), share);
}

}  // namespace hpl::launch
