// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "hpl/hpl.h"

namespace hpl::stencils {

/// How a skeleton is to be computed; what is unset the library chooses.
struct SkeletonChoices {
  /// Empty: all devices of the default device's type.
  std::vector<Device> devices;
  /// One per device; empty: equal shares.
  std::vector<double> weights;
  bool measured = false;
  /// Blocks along each dimension, slowest first; empty: bands.
  std::vector<std::int64_t> blocks;
  std::optional<FpMode> fp;
  /// Steps between two questions; 0: none.
  std::int64_t every = 0;
  std::function<bool(std::int64_t)> isDone;
};

/// A range of offsets for each dimension, slowest first.
using SkeletonShape = std::vector<std::pair<int, int>>;

/// Throws what StencilSkeleton::run says for sizes, steps, devices, shares and blocks that cannot
/// be. `shape`: how far the stencil reaches; null: its launch will say.
void checkSkeleton(const std::vector<std::int64_t>& sizes, std::int64_t iterations,
                   const SkeletonChoices& choices, const SkeletonShape* shape);

/// The devices that compute.
std::vector<Device> devicesOf(const SkeletonChoices& choices);

/// Options of launches whose arrays the library cuts: the blocks that are asked for, or bands of
/// the slowest dimension that can be cut (of more than three, the last but two).
launch::LaunchOptions cutByLibrary(const SkeletonChoices& choices, int dims);
/// Options of launches whose arrays are annotated.
launch::LaunchOptions cutByAnnotation(const SkeletonChoices& choices);

/// Bands of the slowest dimension, with exactly the ghosts that this shape reads.
launch::Annotation bandsFor(const SkeletonShape& shape);

/// The same choices for a stencil or a program.
template <class Launcher>
void chooseFor(Launcher& launcher, const SkeletonChoices& choices, int dims) {
  launcher.devices(devicesOf(choices));
  if (choices.measured) {
    launcher.weights(MEASURED);
  } else if (!choices.weights.empty()) {
    launcher.weights(choices.weights);
  }
  launcher.blocks(cutByLibrary(choices, dims).shares->blocks);
  if (choices.fp) launcher.fp(*choices.fp);
}

/// Waits for the devices.
void waitFor(const std::vector<Device>& devices);

}  // namespace hpl::stencils
