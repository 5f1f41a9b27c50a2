// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hpl {

/// The form of a kernel made by a stencil template. A program that names one names it twice, for
/// StencilKernel... and for PrepareStencilKernel...; the two must agree.
enum class StencilForm : unsigned char {
  /// Direct on CPU devices, Tile on all others.
  Automatic,
  /// Each work-item computes one element straight from the input: no local memory, no barrier.
  /// Local memory and barriers make CPUs 7 to 50 times slower.
  Direct,
  /// The work-items of a group fill a tile in local memory together. Each computes several elements
  /// from it (paper, Section 3.3).
  Tile
};

}  // namespace hpl
