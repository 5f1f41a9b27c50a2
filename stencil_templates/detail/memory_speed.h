// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/runtime/device.h"
#include "hpl/tune/memory_probe.h"
#include "hpl/tune/space.h"

/// How fast memory is beside the arithmetic of a processor. The model of tile_choice.h was measured
/// on servers of two cores, and the cores of most machines share less.
namespace hpl::stencils {

/// The factor that two sweeps amount to, with vectors of so many floats; 1 where it is near that of
/// the model's machines, or nothing was measured. So results do not depend on noise.
double memorySpeedOf(const tune::SweepTimes& times, int lanes);

/// By what the model multiplies the speed of memory on this device. Measured when an iteration is
/// about to do so much work that this hardly counts, `cellSteps` in all, and kept with what tuning
/// has found. 1: it is not known yet, HPL_TUNE=off, several ranks or a dry run decide, or the
/// device is no processor.
double memorySpeed(const Device& device, double cellSteps);

/// Where and as what it is kept.
std::string memorySpeedKey(const Device& device);
tune::Point pointOfMemorySpeed(double speed);

}  // namespace hpl::stencils
