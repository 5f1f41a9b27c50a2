// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Heterogeneous Programming Library: kernels as C++ functions over Arrays, run with
// eval(kernel)(arguments) on any OpenCL device. Everything a user needs is included here.

// These come first, before what includes them: compilers show over which headers they reached the
// one with an error, and most mistakes in kernels show here.
// clang-format off
#include "hpl/lang/detail/misuse.h"
#include "hpl/lang/operand.h"
#include "hpl/lang/expr.h"
#include "hpl/lang/place.h"
#include "hpl/array/scalar.h"
#include "hpl/array/parameter.h"
#include "hpl/array/array.h"
#include "hpl/array/annotation.h"
#include "hpl/launch/detail/kernel_checks.h"
// clang-format on

#include "hpl/array/alias_array.h"
#include "hpl/array/call.h"
#include "hpl/array/local_part.h"
#include "hpl/array/range.h"
#include "hpl/error.h"
#include "hpl/ghosts/exchange_plan.h"
#include "hpl/ghosts/sync_ghosts.h"
#include "hpl/lang/atomics.h"
#include "hpl/lang/complex.h"
#include "hpl/lang/control.h"
#include "hpl/lang/math.h"
#include "hpl/lang/probe.h"
#include "hpl/lang/random.h"
#include "hpl/lang/reduce.h"
#include "hpl/lang/struct.h"
#include "hpl/lang/work_items.h"
#include "hpl/launch/domain_of.h"
#include "hpl/launch/eval.h"
#include "hpl/launch/execution_plan.h"
#include "hpl/launch/native.h"
#include "hpl/launch/native_function.h"
#include "hpl/layout/domain.h"
#include "hpl/memory/ranks_profile.h"
#include "hpl/ranks/session.h"
#include "hpl/runtime/device.h"
#include "hpl/trace/profile.h"

// Last: they include much of the above.
// clang-format off
#include "hpl/algorithms/reductions.h"
#include "hpl/algorithms/scans.h"
// clang-format on

/// Older spelling of the namespace.
namespace HPL = hpl;
