// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/kernel/detail/helper_layout.h"

#include <cstdint>

namespace hpl::kernel_stencils {

int signatureOf(int rank, const Reach& reach, bool tile) {
  // FNV-1a over everything that distinguishes helpers.
  std::uint32_t hash = 2166136261u;
  const auto mix = [&](int value) {
    hash = (hash ^ static_cast<std::uint32_t>(value)) * 16777619u;
  };
  mix(rank);
  mix(tile ? 1 : 0);
  for (int d = 0; d < rank; ++d) {
    mix(reach.before[d]);
    mix(reach.after[d]);
  }
  return static_cast<int>(hash & 0x7fffffffu);
}

bool usesTile(StencilForm form, const Device& device) {
  if (form != StencilForm::Automatic) return form == StencilForm::Tile;
  return device.type() != CPU;
}

}  // namespace hpl::kernel_stencils
