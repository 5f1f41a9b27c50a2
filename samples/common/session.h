// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace hpl::ranks {
class Session;
}

namespace samples {

/// The ranks of a sample: `HPL_RANKS=4 ./life`, and `mpirun -n 4 ./life` where MPI was found; one
/// process otherwise. All ranks compute and read the same, and rank 0 alone shows it: what other
/// ranks print goes nowhere from here on. To be made before devices are used; after the command
/// line was read, so that --help needs none.
class Session {
 public:
  /// Throws what hpl::ranks::Session throws.
  Session(int argc, char** argv);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Whether this is rank 0.
  bool isFirst() const;
  /// The file that this rank is to write where the sample writes `name`: on rank 0 that file,
  /// elsewhere one that keeps nothing. Empty for an empty name.
  std::string file(const std::string& name) const;

 private:
  std::unique_ptr<hpl::ranks::Session> session_;
};

}  // namespace samples
