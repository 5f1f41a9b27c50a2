// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/ranks/session.h"

namespace hpl::mpi {

/// The ranks of a program on one or several nodes: `mpirun -n 8 ./program` runs it on all devices
/// of all ranks. Every rank runs the same program over the same arrays.
///
///     int main(int argc, char** argv) {
///       hpl::mpi::Session session(argc, argv);  // the first line, and alive until main ends
///
/// - Started by mpirun or by srun with PMI: the processes that it started are the ranks.
/// HPL_RANKS=mpi
///   says so where the launcher is not known.
/// - HPL_RANKS=4 and no launcher: four processes are forked on this machine.
/// - Otherwise: one process.
///
/// The Session initialises and finalises MPI. A program that has initialised it before needs
/// MPI_THREAD_MULTIPLE (LaunchError), and finalises it after the Session's end. Throws what
/// ranks::Session throws.
class Session : public ranks::Session {
 public:
  Session(int argc, char** argv);
};

}  // namespace hpl::mpi
