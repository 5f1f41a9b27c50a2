// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/runtime/device.h"
#include "hpl/tune/memory_probe.h"
#include "hpl/tune/space.h"

/// How fast memory is beside the arithmetic of a processor. The model of tile_choice.h was measured
/// on servers of two cores, and the cores of most machines share less.
namespace hpl::stencils {

/// The factor that follows from two sweeps, with vectors of `lanes` floats; 1 where it is near that
/// of the model's machines, or nothing was measured. So results do not depend on noise.
double memorySpeedOf(const tune::SweepTimes& times, int lanes);

/// The factor by which the model multiplies the speed of memory on this device. Measured when an
/// iteration is about to do so many cell updates (`cellSteps` in all) that this hardly counts, and
/// kept with the findings of tuning. 1: it is not known yet, HPL_TUNE=off, several ranks or a dry
/// run decide, or the device is no processor.
double memorySpeed(const Device& device, double cellSteps);

/// Where and as what it is kept.
std::string memorySpeedKey(const Device& device);
tune::Point pointOfMemorySpeed(double speed);

}  // namespace hpl::stencils
