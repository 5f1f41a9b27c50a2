// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/operation.h"

#include "hpl/layout/rewritten_kernels.h"
#include "hpl/memory/root.h"

namespace hpl::launch {

using memory::detail::OperationName;

namespace {

void addDomain(OperationName& name, const Domain& domain) {
  // All sizes: the number of dimensions may be one that is refused later.
  name.add(static_cast<std::uint64_t>(domain.dims));
  for (const std::size_t size : domain.size) name.add(static_cast<std::uint64_t>(size));
}

void addExtents(OperationName& name, const geometry::Extents& extents) {
  for (const geometry::Index extent : extents) name.add(static_cast<std::uint64_t>(extent));
}

void addOptions(OperationName& name, const LaunchOptions& options) {
  name.add(options.device != nullptr ? static_cast<std::uint64_t>(options.device->index()) + 1 : 0);
  addDomain(name, options.global);
  addDomain(name, options.local);
  name.add(static_cast<std::uint64_t>(options.fp));
  if (options.shares == nullptr) return;
  const ShareOptions& shares = *options.shares;
  for (const runtime::DeviceState* device : shares.devices)
    name.add(static_cast<std::uint64_t>(device->index()));
  for (const double weight : shares.weights)
    name.add({reinterpret_cast<const char*>(&weight), sizeof weight});
  name.add(static_cast<std::uint64_t>(shares.measured));
  for (const Domain& domain : shares.global) addDomain(name, domain);
  for (const Domain& domain : shares.local) addDomain(name, domain);
}

void addAnnotation(OperationName& name, const Annotation& annotation) {
  for (int n = 0; n < annotation.count; ++n) {
    const DimAnnotation& dim = annotation.dims[n];
    name.add(static_cast<std::uint64_t>(dim.dim));
    name.add(static_cast<std::uint64_t>(dim.before));
    name.add(static_cast<std::uint64_t>(dim.after));
  }
}

/// Whether the values of scalars, and which cells arrays are, count.
enum class Detail { Shapes, All };

void addArgument(OperationName& name, const Argument& argument, Detail detail) {
  name.add(static_cast<std::uint64_t>(argument.kind));
  switch (argument.kind) {
    case Argument::Kind::Scalar:
      if (detail == Detail::All)
        name.add({reinterpret_cast<const char*>(argument.value()), ir::sizeOf(argument.type)});
      break;
    case Argument::Kind::LocalArray:
      addExtents(name, *argument.localExtents);
      break;
    case Argument::Kind::PerDevice:
      for (std::size_t i = 0; i < argument.values; ++i)
        addArgument(name, argument.onDevice(i), detail);
      break;
    default:
      addAnnotation(name, argument.annotation());
      addExtents(name, argument.view->extents);
      if (detail == Detail::All) memory::detail::addView(name, *argument.view);
  }
}

}  // namespace

memory::detail::Party partyOf(KernelEntry& entry, Arguments arguments) {
  if (!runtime::hasRanks()) [[likely]]
    return memory::detail::Party::AllRanks;
  memory::detail::Parties arrays;
  const auto add = [&](const Argument& argument) {
    if (argument.view != nullptr) arrays.add(argument.view->root());
  };
  for (const Argument& argument : arguments) {
    add(argument);
    for (std::size_t v = 0; v < argument.values; ++v) add(argument.onDevice(v));
  }
  return arrays.common([&] { return "launch of '" + entry.describe() + "'"; });
}

void nameLaunch(OperationName& name, KernelEntry& entry, const LaunchOptions& options,
                Arguments arguments) {
  name.what = "launch of '" + entry.describe() + "'";
  addOptions(name, options);
  for (std::size_t i = 0; i < arguments.size(); ++i) addArgument(name, arguments[i], Detail::All);
}

void nameRepetition(OperationName& name, const Launchable& plan) {
  name.what = "launch of '" + plan.version->name + "'";
  name.add(plan.version->name);
  for (const auto& weak : plan.roots)
    if (const auto root = weak.lock()) memory::detail::addView(name, root->whole());
}

std::uint64_t contentOf(const KernelVersion& version) {
  OperationName name;
  if (version.native != nullptr) {
    name.add(version.native->source);
    name.add(version.native->options);
  } else {
    name.add(version.rewritten->fingerprint(version));
  }
  return name.content;
}

std::uint64_t signatureOf(const LaunchOptions& options, Arguments arguments) {
  OperationName name;
  addOptions(name, options);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    addArgument(name, arguments[i], Detail::Shapes);
  return name.content;
}

}  // namespace hpl::launch
