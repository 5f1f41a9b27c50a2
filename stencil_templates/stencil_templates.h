// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stencils on top of hpl/hpl.h: point functions over neighbourhoods that the library launches,
// programs of several of them, and templates for use inside kernels.

// First, since compilers show over which headers they reached the one with an error.
#include "stencil_templates/neighbourhood.h"

#include "stencil_templates/detail/point_function.h"

#include "stencil_templates/boundary.h"
#include "stencil_templates/kernel/stencil_kernel.h"
#include "stencil_templates/pattern.h"
#include "stencil_templates/per_step.h"
#include "stencil_templates/program.h"
#include "stencil_templates/skeleton.h"
#include "stencil_templates/stencil.h"
#include "stencil_templates/table.h"
#include "stencil_templates/temporary.h"
