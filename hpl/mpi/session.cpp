// SPDX-License-Identifier: Apache-2.0
#include "hpl/mpi/session.h"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <string>

#include "hpl/error.h"
#include "hpl/mpi/detail/mpi_fabric.h"
#include "hpl/ranks/detail/launcher.h"
#include "hpl/runtime/settings.h"

namespace hpl::mpi {
namespace {

std::string nameOfMpi() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string name(text.data(), static_cast<std::size_t>(length));
  return name.substr(0, name.find_first_of(",\n"));
}

std::unique_ptr<ranks::Fabric> make() {
  auto fabric = std::make_unique<MpiFabric>();
  // Each process would do all of the work, and overwrite the files of the others.
  if (fabric->size() == 1 && ranks::launchedRanks() > 1)
    throw LaunchError(fmt::format(
        "{} has started this program {} times, but to MPI each is alone: they belong to different "
        "MPIs. The program is linked to \"{}\": start it by the mpirun of that one, or build "
        "hpl::mpi with the other (-DMPI_CXX_COMPILER=...)",
        ranks::launcher(), ranks::launchedRanks(), nameOfMpi()));
  return fabric;
}

bool isStartedByMpi() {
  if (runtime::settings().mpiRanks || !ranks::launcher().empty()) return true;
  int isInitialized = 0;
  MPI_Initialized(&isInitialized);
  return isInitialized != 0;
}

}  // namespace

Session::Session(int, char**) : ranks::Session(isStartedByMpi() ? make : nullptr) {}

}  // namespace hpl::mpi
