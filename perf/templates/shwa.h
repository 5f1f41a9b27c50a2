// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/evaluation/shwa/kernels.h"
#include "stencil_templates/stencil_templates.h"

/// The stencil of SHWA through the in-kernel template for several inputs and outputs, which the
/// paper's could not express; the rest is that of samples/shwa.
namespace perf::templates {

using namespace hpl;  // NOLINT: kernels are written in the words of the library
using samples::shwa::Heights;
using samples::shwa::inflow;
using samples::shwa::Side;
using samples::shwa::sideOf;
using samples::shwa::Water;
using samples::shwa::waveSpeed;

// [style: template]
inline std::tuple<Float4, Float> flowsPoint(AliasArray<float4> water, AliasArray<float> ground,
                                            Int row) {
  Side here = sideOf(water[0], ground[0], true);
  Float4 change =
      inflow(here, sideOf(water[-1], ground[-1], true), sideOf(water[1], ground[1], true),
             sideOf(water[-row], ground[-row], false), sideOf(water[row], ground[row], false));
  Float4 cell = water[0];
  Float depth = cell.x, speed = waveSpeed(here, depth);
  return {change, speed};
}

template <StencilForm Form>
void flowsTemplate(Water water, Heights ground, Water change, Heights speed,
                   Array<float4, 2, Local> waterTile, Array<float, 2, Local> groundTile,
                   Array<int, 1> helper) {
  StencilKernel<Form>(inputs(input<1, 1, 1, 1>(water), input<1, 1, 1, 1>(ground)),
                      outputs(change, speed), temps(waterTile, groundTile), helper, flowsPoint);
}
// [end]

}  // namespace perf::templates
