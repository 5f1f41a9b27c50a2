// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"

/// The default device alone.
inline hpl::ExecutionPlan oneDevice() { return hpl::ExecutionPlan({{hpl::Device(), 100}}); }
