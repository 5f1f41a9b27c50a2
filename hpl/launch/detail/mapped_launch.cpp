// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/mapped_launch.h"

#include "hpl/error.h"
#include "hpl/layout/arguments.h"
#include "hpl/layout/shape.h"
#include "hpl/memory/root.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"

namespace hpl::launch {
namespace {

void requireMappable(const KernelVersion& version, Arguments arguments) {
  layout::checkArguments(version, arguments);
  if (version.native == nullptr && version.rewriter == nullptr) return;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].mapped() != nullptr)
      throw ArgumentError(
          "argument " + std::to_string(i + 1) + " of kernel '" + version.name + "' is a view of " +
          arguments[i].view->root().describe() +
          " with strides, of another shape or transposed, which " +
          (version.native != nullptr ? "native kernels" : "kernels of stencil templates") +
          " do not take; copy it to an array of its own");
}

/// The domain that the launch would have by default, if its first array is no box.
Domain domainOf(KernelEntry& entry, Arguments arguments) {
  for (const Argument& argument : arguments) {
    if (argument.kind != Argument::Kind::Array) continue;
    if (argument.mapped() == nullptr) return {};
    const geometry::Extents& extents = argument.mapped()->extents;
    // The name is for the error.
    return layout::defaultGlobal(&extents, extents.rank() > 3 ? entry.describe() : std::string());
  }
  return {};
}

}  // namespace

// The lists are kept, so that repetitions allocate nothing.
MappedLaunch::MappedLaunch(const EntryHandle& handle, const LaunchOptions& options,
                           Arguments arguments, bool isChecked)
    : handle_(handle), options_(options), list_([]() -> std::vector<Argument>& {
        thread_local std::vector<Argument> list;
        list.clear();
        return list;
      }()) {
  isChecked |= runtime::settings().checkBounds;
  thread_local std::vector<const geometry::IndexMap*> maps;
  maps.clear();
  for (const Argument& argument : arguments) {
    const memory::View* mapped = argument.mapped();
    maps.push_back(mapped == nullptr ? nullptr
                   : isChecked       ? &mapped->mapWithExtents()
                                     : mapped->map());
    list_.push_back(mapped != nullptr ? argument.boxOfMapped() : argument);
  }
  runtime::DeviceState& device =
      options.device != nullptr ? *options.device : runtime::Runtime::get().defaultDevice();
  handle_.entry = &handle.entry->forMaps(maps, [&] {
    requireMappable(*handle.entry->version(device, layout::labelsOf(arguments)), arguments);
  });
  const bool hasOwnDomains = options.shares != nullptr && !options.shares->global.empty();
  if (options.global.dims == 0 && !hasOwnDomains)
    options_.global = domainOf(*handle.entry, arguments);
}

}  // namespace hpl::launch
