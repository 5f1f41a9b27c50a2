// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hpl {

/// How kernels treat floating point: `DEFAULT_FP` is OpenCL's default (a*b+c may be contracted, as
/// g++ and nvcc do), `STRICT` switches contraction off so that results equal the host's bit for
/// bit where OpenCL guarantees it, `FAST` allows relaxed mathematics.
enum FpMode : int { DEFAULT_FP = 0, STRICT = 1, FAST = 2 };

}  // namespace hpl
