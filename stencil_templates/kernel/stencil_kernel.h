// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stencils as statements of a kernel: StencilKernel1D, 2D and 3D with their boundaries,
// StencilKernel for several inputs and outputs, and the preparation of their launches.

#include "hpl/hpl.h"
#include "stencil_templates/kernel/form.h"
#include "stencil_templates/kernel/prepare.h"
#include "stencil_templates/kernel/several.h"
#include "stencil_templates/kernel/single.h"
