// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/interpreter.h"

#include <fmt/format.h>

#include "hpl/error.h"
#include "hpl/launch/detail/mapped_launch.h"
#include "hpl/launch/detail/origin.h"
#include "hpl/launch/detail/probes.h"
#include "hpl/layout/arguments.h"
#include "hpl/layout/surplus_check.h"
#include "hpl/runtime/runtime.h"

namespace hpl::launch {
namespace {

ir::Argument hostArray(const Parameter& parameter, const Argument& argument, const Shape& shape) {
  memory::View& view = *argument.view;
  const memory::detail::DeviceUse use = useOf(parameter, view, shape);
  if (use.write) {
    view.openForWriting(use.overwrites);
  } else {
    view.openForReading();
  }
  ir::ArrayArgument array;
  array.data = view.host;
  array.extents.assign(view.extents.begin(), view.extents.end());
  array.strides.assign(view.strides.begin(), view.strides.end());
  array.label = view.root().label();
  return array;
}

// Values that only a launch on several devices has.
void checkUndivided(const std::string& kernel, Arguments arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (argument.kind == Argument::Kind::PartExtent)
      throw ArgumentError(fmt::format(
          "argument {} of kernel '{}' is the size of a device's part, part({}) of {}, but "
          ".interpret(...) runs the kernel once over whole arrays, on the host; pass the size of "
          "the array, {}",
          i + 1, kernel, argument.partDim + 1, argument.view->root().describe(),
          argument.view->extents[argument.partDim]));
    if (argument.kind == Argument::Kind::PerDevice)
      throw ArgumentError(fmt::format(
          "argument {} of kernel '{}' is a std::vector of {} values, one per device, but "
          ".interpret(...) runs the kernel once, on the host; interpret it for each of the values "
          "by itself",
          i + 1, kernel, argument.values));
  }
}

}  // namespace

void interpret(const EntryHandle& handle, const LaunchOptions& options, Arguments arguments) {
  hpl::detail::refuseInKernel("eval(f).interpret(arguments)");
  if (MappedLaunch::isNeeded(arguments)) {
    const MappedLaunch boxes(handle, options, arguments, true);
    return interpret(boxes.handle(), boxes.options(), boxes.arguments());
  }
  runtime::DeviceState& device =
      options.device != nullptr ? *options.device : runtime::Runtime::get().defaultDevice();
  const auto version = handle.entry->version(device, {});
  if (version->native)
    throw KernelError("native kernel '" + version->name +
                      "' is OpenCL C, which the interpreter cannot run; use eval(f)(arguments)");
  checkUndivided(version->name, arguments);
  layout::checkArguments(*version, arguments);
  const Shape shape = layout::chooseHarmlessShape(
      *version, domainsOf(options), layout::firstArray(arguments), device, options.local.dims > 0);
  layout::checkGroupDemands(*version, shape.local, arguments);

  std::vector<ir::Argument> list;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].kind == Argument::Kind::Array) {
      list.push_back(hostArray(version->params[i], arguments[i], shape));
    } else if (arguments[i].kind == Argument::Kind::LocalArray) {
      const geometry::Extents& extents = *arguments[i].localExtents;
      list.emplace_back(ir::LocalArgument{{extents.begin(), extents.end()}});
    } else {
      ir::ScalarArgument scalar;
      scalar.bytes.resize(ir::sizeOf(version->params[i].type));
      layout::convertScalar(arguments[i], version->params[i].type, scalar.bytes.data(),
                            version->name, i);
      list.emplace_back(std::move(scalar));
    }
  }
  const std::array<std::int64_t, 3> origin = originOf(*version, arguments, {});
  ir::NDRange range;
  range.dims = static_cast<int>(shape.dims);
  for (std::size_t d = 0; d < 3; ++d) {
    range.global[d] = shape.size[d];
    range.local[d] = shape.local[d];
    range.origin[d] = static_cast<std::uint64_t>(origin[d]);
  }
  ir::InterpreterOptions checks;
  std::vector<ProbedValue> shown;
  checks.onProbe = [&](const ir::Probe& probe, const ir::SourceLocation& where,
                       const std::byte* value, const std::array<std::uint64_t, 3>& ids) {
    shown.push_back(probedValue(probe, where, value));
    for (std::size_t d = 0; d < 3; ++d) shown.back().position[d] = ids[d] + range.origin[d];
  };
  ir::interpret(*version->kernel, range, list, checks);
  const std::size_t total = shown.size();
  printProbes(std::move(shown), total, range.dims, version->name, " in the interpreter");
}

}  // namespace hpl::launch
