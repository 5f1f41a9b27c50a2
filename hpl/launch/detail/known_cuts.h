// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "hpl/launch/detail/axis_dims.h"
#include "hpl/launch/detail/cutting.h"
#include "hpl/memory/view.h"
#include "hpl/runtime/device.h"

/// How arrays were cut when a launch first distributed them by itself. Other launches follow, so
/// that kernels that would each like another cut do not send whole arrays to and fro. It depends
/// on nothing but the program's launches in their order.
namespace hpl::launch {

/// The devices for which a cut is made, and their weights.
struct CutFor {
  std::vector<runtime::DeviceState*> devices;
  std::vector<double> weights;
  friend bool operator==(const CutFor&, const CutFor&) = default;
};

/// The cutting of a domain that gives each device the cells of the view that it had; nothing when
/// the view was never cut for these devices, or along a dimension through which no axis of
/// `mayBeCut` walks.
std::optional<Cutting> knownCutting(const memory::View& view, const CutFor& whom,
                                    const AxisDims& dims, const AxisSet& mayBeCut,
                                    const std::array<geometry::Index, 3>& domain);

/// The first cut of an array counts.
void noteCutting(const memory::View& view, const CutFor& whom, const AxisDims& dims,
                 const Cutting& cutting, const std::array<geometry::Index, 3>& domain);

}  // namespace hpl::launch
