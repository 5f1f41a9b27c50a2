// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hpl {

/// Base of all kernel values. C++ looks up operators and functions also where the bases of their
/// arguments are declared: `idx + 1` finds those of this namespace, even in a namespace of a
/// program that has operators of its own, which hide those that `using namespace hpl` brings.
struct KernelTerm {};

}  // namespace hpl
