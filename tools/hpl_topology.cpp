// SPDX-License-Identifier: Apache-2.0
// Prints the ranks, nodes and devices that a program started like this one has, and the paths
// between them: mpirun -n 4 hpl_topology [--measure]
#include <cstdio>
#include <cstring>
#include <exception>

#include "hpl/ranks/topology.h"
#include "hpl/ranks/world.h"

#ifdef HPL_TOOL_WITH_MPI
#include "hpl/mpi.h"
using Session = hpl::mpi::Session;
#else
#include "hpl/ranks/session.h"
using Session = hpl::ranks::Session;
#endif

namespace {

constexpr const char* kUsage =
    "Usage: hpl_topology [--measure]\n"
    "Prints ranks, nodes and devices, and how cells pass between devices. Start it as your "
    "program:\n"
    "with mpirun, or with HPL_RANKS=n; HPL_DEVICES counts.\n"
    "  --measure  also sends messages between every two ranks, and prints how long they take\n";

void print(int argc, char** argv, bool measures) {
  const Session session(argc, argv);
  hpl::ranks::World& world = *hpl::ranks::world();
  if (session.rank() == 0) std::fputs(hpl::ranks::describeTopology(world).c_str(), stdout);
  if (!measures || session.size() == 1) return;
  const auto links = hpl::ranks::measureLinks(world);
  if (session.rank() == 0) std::printf("\n%s", hpl::ranks::describeLinks(world, links).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const bool measures = argc == 2 && std::strcmp(argv[1], "--measure") == 0;
  if (argc > 1 && !measures) {
    std::fputs(kUsage, std::strcmp(argv[1], "--help") == 0 ? stdout : stderr);
    return std::strcmp(argv[1], "--help") == 0 ? 0 : 2;
  }
  try {
    print(argc, argv, measures);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hpl_topology: %s\n", error.what());
    return 1;
  }
  return 0;
}
