// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hpl {

/// How kernels treat floating point. With `DEFAULT_FP` a*b+c may be contracted, as by g++ and nvcc,
/// and subnormal numbers (below 1.2e-38 in float) may count as zero. `STRICT` switches both off, so
/// that results equal the host's bit for bit where OpenCL guarantees it. `FAST` is as `DEFAULT_FP`,
/// and allows relaxed mathematics.
enum FpMode : int { DEFAULT_FP = 0, STRICT = 1, FAST = 2 };

}  // namespace hpl
