// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hpl::ranks {

/// The launcher that started this process as one of several that MPI knows, by its environment:
/// "mpirun". Empty: none that is known.
std::string launcher();

/// How many times the launcher has started the program, as far as it says; 0: unknown.
int launchedRanks();

}  // namespace hpl::ranks
