// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace hpl::ranks {

class Fabric;

/// The ranks of a program on one machine: `HPL_RANKS=4 ./program` runs main four times from the
/// Session on, in processes that share all arrays and devices. hpl::mpi::Session does the same on
/// several machines. Without HPL_RANKS, and in a dry run, it is a program of one process.
///
///     int main(int argc, char** argv) {
///       hpl::ranks::Session session(argc, argv);  // the first line, and alive until main ends
///
/// The process that was started waits for the ranks, and ends with rank 0's exit code, or that of
/// the first rank that failed. All ranks print; only rank 0 reads the standard input.
///
/// Throws LaunchError if there is a Session already, DeviceError if the program has used a device
/// before or a rank's devices cannot be opened, SettingsError if ranks have different settings or
/// HPL_RANKS=mpi asks for MPI, RankError if ranks cannot be started. The last three have the same
/// message on all ranks.
class Session {
 public:
  Session(int argc, char** argv);
  /// Collective: waits for the other ranks. Where an exception ends the session, the other ranks
  /// get a RankError instead.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// This process's number, from 0 on, and the number of processes.
  int rank() const noexcept;
  int size() const noexcept;
  /// The machine that this rank runs on, numbered from 0 on in the order of the ranks, the number
  /// of machines, and the name of this one.
  int node() const noexcept;
  int nodes() const noexcept;
  const std::string& nodeName() const noexcept;

 protected:
  using MakeFabric = std::unique_ptr<Fabric> (*)();
  /// A session whose ranks are there already, started by a launcher. `make` may be null: there is
  /// no launcher.
  explicit Session(MakeFabric make);

 private:
  /// Exceptions under way when the session began.
  int exceptions_;
};

}  // namespace hpl::ranks
