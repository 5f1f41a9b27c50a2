// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "hpl/launch/detail/shares.h"

/// Overlap of exchange and computation: a device runs its share of a launch in pieces one after
/// another, first the borders that other devices wait for, then the interior, during which the
/// exchange can happen.
namespace hpl::launch {

/// The borders of a share, the slowest axis first, so that most cells lie in contiguous memory, and
/// then the interior. `ends`: how thick borders are along each axis, below and above. Empty:
/// nothing is left for an interior.
std::vector<Slice> frameOf(const Slice& share, const Slice& ends);

/// How cells pass between a device and those that it exchanges with, the slowest way first.
enum class Passage { Network, Node, Host, Context };

/// The facts about a share before it runs.
struct OverlapCase {
  Passage passage = Passage::Context;
  /// Transfers take no core from the kernels.
  bool runsBeside = false;
  /// Bytes of the exchange, and its transfers.
  double bytes = 0;
  int messages = 0;
  /// Bytes that the interior reads and writes at least.
  double interiorBytes = 0;
  /// Launches more than one.
  int moreLaunches = 0;
  /// All devices of the launch are parts or copies of one CPU, no more than it has cores.
  bool hasOwnCores = false;
};

/// Whether borders come first, and why, with numbers.
struct OverlapChoice {
  bool pays = false;
  std::string why;
};
OverlapChoice choiceFor(const OverlapCase& known);

/// The pieces of a part of annotated arrays, in the ids of the part. Empty: the whole part at once,
/// because the kernel cannot be cut or because it would not pay (HPL_OVERLAP).
std::vector<Slice> piecesOfPart(const ShareJob& job, const std::vector<Cut>& cuts,
                                std::size_t device);
/// The same of a block that the library gave to the device, in the ids of the whole domain.
std::vector<Slice> piecesOfBlock(const ShareJob& job, const Division& division, std::size_t device);

}  // namespace hpl::launch
