// SPDX-License-Identifier: Apache-2.0
#include "hpl/mpi/session.h"

#include <mpi.h>

#include "hpl/mpi/detail/mpi_fabric.h"
#include "hpl/ranks/detail/launcher.h"
#include "hpl/runtime/settings.h"

namespace hpl::mpi {
namespace {

std::unique_ptr<ranks::Fabric> make() { return std::make_unique<MpiFabric>(); }

bool isStartedByMpi() {
  if (runtime::settings().mpiRanks || !ranks::launcher().empty()) return true;
  int isInitialized = 0;
  MPI_Initialized(&isInitialized);
  return isInitialized != 0;
}

}  // namespace

Session::Session(int, char**) : ranks::Session(isStartedByMpi() ? make : nullptr) {}

}  // namespace hpl::mpi
