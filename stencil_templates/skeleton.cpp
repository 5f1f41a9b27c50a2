// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/skeleton.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hpl/error.h"

namespace hpl::stencils {
namespace {

void checkSizes(const std::vector<std::int64_t>& sizes) {
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] < 1)
      throw ShapeError(
          fmt::format("stencil skeleton: dimension {} of {} has {} cells; give at least 1", d + 1,
                      sizes.size(), sizes[d]));
}

void checkReach(const std::vector<std::int64_t>& sizes, const SkeletonShape& shape) {
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const auto& [lo, hi] = shape[d];
    if (sizes[d] >= std::int64_t{hi} - lo + 1) continue;
    throw ShapeError(
        fmt::format("stencil skeleton: the pattern reaches from {} to {} along dimension {}, of "
                    "which there are {} cells; give {} or more",
                    lo, hi, d + 1, sizes[d], std::int64_t{hi} - lo + 1));
  }
}

void checkDevices(const std::vector<Device>& devices) {
  for (std::size_t i = 0; i < devices.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (&devices[i].state() == &devices[j].state())
        throw LaunchError(
            fmt::format("stencil skeleton: device {} ({}) is named twice; give it a larger weight "
                        "instead",
                        devices[i].id(), devices[i].name()));
}

void checkWeights(const std::vector<double>& weights, std::size_t devices) {
  if (weights.empty()) return;
  if (weights.size() != devices)
    throw LaunchError(
        fmt::format("stencil skeleton: {} weights for {} device{}; give one for each device",
                    weights.size(), devices, devices == 1 ? "" : "s"));
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (!std::isfinite(weights[i]) || weights[i] <= 0)
      throw LaunchError(
          fmt::format("stencil skeleton: weight {} is {}; weights are positive numbers, so leave a "
                      "device without work out of devices(...)",
                      i + 1, weights[i]));
}

void checkBlocks(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& blocks,
                 std::size_t devices) {
  if (blocks.empty()) return;
  const std::string asked = fmt::format("stencil skeleton: blocks {}", fmt::join(blocks, " x "));
  if (sizes.size() > 3)
    throw LaunchError(
        fmt::format("{}: an array of {} dimensions is cut into bands; leave blocks "
                    "out",
                    asked, sizes.size()));
  if (blocks.size() != sizes.size())
    throw LaunchError(
        fmt::format("{}: there are {} dimensions; give one number of blocks for each, slowest "
                    "first",
                    asked, sizes.size()));
  std::size_t count = 1;
  for (std::size_t d = 0; d < blocks.size(); ++d) {
    if (blocks[d] < 1)
      throw LaunchError(
          fmt::format("{}: {} blocks along dimension {}; give 1 or more", asked, blocks[d], d + 1));
    if (blocks[d] > sizes[d])
      throw LaunchError(
          fmt::format("{}: dimension {} has {} cells, fewer than blocks; give fewer "
                      "blocks, or more cells",
                      asked, d + 1, sizes[d]));
    // Both are at least 1; more than the devices is too many, however many they are.
    count = std::min(count * static_cast<std::size_t>(blocks[d]), std::size_t{1} << 40);
  }
  if (count != devices)
    throw LaunchError(
        fmt::format("{}: that makes {} blocks, but there are {} devices; ask for one block for "
                    "each device",
                    asked, count, devices));
}

launch::LaunchOptions optionsOf(const SkeletonChoices& choices) {
  launch::LaunchOptions options;
  options.shares = std::make_shared<launch::ShareOptions>();
  for (const Device& device : choices.devices) options.shares->devices.push_back(&device.state());
  options.shares->weights = choices.weights;
  options.shares->measured = choices.measured;
  if (choices.fp) {
    options.fp = *choices.fp;
    options.fpChosen = true;
  }
  return options;
}

/// Slowest first to x, y, z.
Domain domainOf(const std::vector<std::int64_t>& blocks) {
  Domain domain;
  for (auto count = blocks.rbegin(); count != blocks.rend(); ++count)
    domain.size[domain.dims++] = static_cast<std::size_t>(*count);
  for (int d = domain.dims; d < 3; ++d) domain.size[d] = 1;
  return domain;
}

}  // namespace

std::vector<Device> devicesOf(const SkeletonChoices& choices) {
  return choices.devices.empty() ? hpl::devices(defaultDevice().type()) : choices.devices;
}

void checkSkeleton(const std::vector<std::int64_t>& sizes, std::int64_t iterations,
                   const SkeletonChoices& choices, const SkeletonShape* shape) {
  checkSizes(sizes);
  if (iterations < 0)
    throw ArgumentError(fmt::format("stencil skeleton: {} iterations; give 0 or more", iterations));
  if (shape != nullptr) checkReach(sizes, *shape);
  checkDevices(choices.devices);
  const std::size_t devices = devicesOf(choices).size();
  checkWeights(choices.weights, devices);
  checkBlocks(sizes, choices.blocks, devices);
}

launch::LaunchOptions cutByLibrary(const SkeletonChoices& choices, int dims) {
  launch::LaunchOptions options = optionsOf(choices);
  std::vector<std::int64_t> blocks = choices.blocks;
  if (blocks.empty()) {
    blocks.assign(static_cast<std::size_t>(std::min(dims, 3)), 1);
    blocks.front() = static_cast<std::int64_t>(devicesOf(choices).size());
  }
  options.shares->blocks = domainOf(blocks);
  return options;
}

launch::LaunchOptions cutByAnnotation(const SkeletonChoices& choices) { return optionsOf(choices); }

launch::Annotation bandsFor(const SkeletonShape& shape) {
  launch::Annotation bands;
  bands.dims[0] = {0, -std::int64_t{shape.front().first}, shape.front().second};
  bands.count = 1;
  return bands;
}

void waitFor(const std::vector<Device>& devices) {
  for (const Device& device : devices) device.sync();
}

void refuseChoice(const char* choice, const char* reason) {
  throw ArgumentError(fmt::format("stencil skeleton: {}: {}", choice, reason));
}

void refuseDimensions(int given, int wanted) {
  throw ArgumentError(fmt::format(
      "stencil skeleton: the pattern has {} dimension{}, but the skeleton has {}; make a "
      "StencilSkeleton<T, {}>",
      given, given == 1 ? "" : "s", wanted, given));
}

void refuseField(int field, int fields) {
  throw ArgumentError(fmt::format(
      "stencil skeleton: there is no field {}; there are {}, counted from 0", field, fields));
}

void rethrowWithBlocks(const LaunchError& error) {
  throw LaunchError(fmt::format(
      "stencil skeleton: {}; a kernel whose accesses the library does not know is cut into bands: "
      "leave blocks(...) out",
      error.what()));
}

}  // namespace hpl::stencils
