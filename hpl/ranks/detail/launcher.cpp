// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/launcher.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace hpl::ranks {

std::string launcher() {
  struct Mark {
    const char* variable;
    const char* name;
  };
  // Open MPI; srun and others that speak PMIx; MPICH's and Intel's mpirun, and srun --mpi=pmi2.
  constexpr std::array marks{Mark{"OMPI_COMM_WORLD_RANK", "mpirun"},
                             Mark{"PMIX_RANK", "the launcher"}, Mark{"PMI_RANK", "mpirun"}};
  for (const Mark& mark : marks)
    if (std::getenv(mark.variable) != nullptr) return mark.name;
  return {};
}

int launchedRanks() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* const text = std::getenv(variable);
    if (text != nullptr) return std::max(0, std::atoi(text));
  }
  return 0;
}

}  // namespace hpl::ranks
