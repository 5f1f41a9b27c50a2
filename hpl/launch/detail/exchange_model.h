// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "hpl/geometry/placement.h"
#include "hpl/launch/detail/axis_dims.h"
#include "hpl/launch/detail/cutting.h"

/// Compares ways to share a domain out by the bytes that devices exchange in each step, in a
/// program that writes its arrays where it reads them the next time.
namespace hpl::launch {

/// An array that a kernel reads.
struct ReadArray {
  Footprint footprint;
  geometry::Box view;
  /// The cells that there are: a view may have images of them beyond the ends of the array.
  geometry::Box cells;
  geometry::Index elementBytes = 1;
  /// Those in which a device owns what its slice of the axis walks through.
  AxisDims dims{};
};

/// One step's exchange, of all devices together.
struct ExchangeCost {
  geometry::Index bytes = 0;
  /// Transfers between two devices.
  geometry::Index messages = 0;
  /// Contiguous pieces of memory.
  geometry::Index runs = 0;
  /// Devices without work.
  int idle = 0;
  /// The bytes between nodes; nothing: not looked at.
  std::optional<geometry::Index> bytesBetweenNodes{};

  /// Time, as the bytes that a link within a node moves in it.
  geometry::Index inBytes() const;
  /// "4096 bytes in 6 messages", and "(1024 between nodes)".
  std::string describe() const;
};

class ExchangeModel {
 public:
  explicit ExchangeModel(std::vector<ReadArray> arrays) : arrays_(std::move(arrays)) {}

  ExchangeCost costOf(const Cutting& cutting) const;
  /// With bytesBetweenNodes. `nodes`: that of each device.
  ExchangeCost costOf(const Cutting& cutting, const std::vector<int>& nodes) const;
  /// The bytes between some devices, by their places in the list: (to, from) is what the block of
  /// one reads of the other's.
  geometry::SquareMatrix bytesBetween(const Cutting& cutting,
                                      const std::vector<std::size_t>& devices) const;

 private:
  struct Sample {
    std::size_t device = 0;
    /// Devices of which it is the first one.
    geometry::Index count = 1;
  };
  std::vector<Sample> samplesOf(const Cutting& cutting) const;
  ExchangeCost costOf(const Cutting& cutting, const std::vector<Sample>& samples,
                      const std::vector<int>& nodes) const;

  std::vector<ReadArray> arrays_;
};

/// The cells that a device owns of an array by its slice. The first and the last slice of an axis
/// own what lies beyond the domain.
geometry::Box ownCells(const geometry::Box& view, const AxisDims& dims, const Cutting& cutting,
                       std::size_t device, const std::array<geometry::Index, 3>& domain);

}  // namespace hpl::launch
