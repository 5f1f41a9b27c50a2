// SPDX-License-Identifier: Apache-2.0
#include "hpl/lang/half.h"

#include "hpl/ir/half.h"

namespace hpl {

std::uint16_t half::encode(float value) noexcept { return ir::floatToHalf(value); }

float half::decode(std::uint16_t bits) noexcept { return ir::halfToFloat(bits); }

}  // namespace hpl
