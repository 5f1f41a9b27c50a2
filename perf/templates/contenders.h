// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "stencils/workload.h"

/// The in-kernel stencil templates in the ways that the stencil paper's Figure 14 tells apart, and
/// what they are compared with.
namespace perf::templates {

inline const char* const kOneRow = "one row fills the tile";
inline const char* const kByHand = "4 points, by hand";

/// LIFE or GAUSS on the library's default device; the first one is the base of the comparison.
std::vector<stencils::Contender> contenders(const stencils::Problem& problem);

/// Whether the kernels of CANNY, JACOBI3D and SHWA in this folder, in each form, compute what those
/// of the samples do; says where they do not.
bool applicationsAgree();

}  // namespace perf::templates
