// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hpl::ranks {

/// What started this process as one of several that MPI knows, by its environment: "mpirun". Empty:
/// nothing that is known.
std::string launcher();

}  // namespace hpl::ranks
