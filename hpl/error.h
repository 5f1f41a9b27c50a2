// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// Exceptions of HPL. Every message says what went wrong, where, and how to fix it; the classes
/// carry the same facts as data so that a program can react without parsing text.
namespace hpl {

/// Base of every exception that the library throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Wrong number, type or rank of kernel arguments.
class ArgumentError : public Error {
 public:
  using Error::Error;
};

/// Bad extents: empty arrays, views out of range, assignments between different shapes.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// Misuse of the embedded language: host access inside a kernel, kernel operators outside one,
/// `else_` without `if_`, a kernel that the IR verifier rejects.
class KernelError : public Error {
 public:
  using Error::Error;
};

/// A launch that cannot run: a domain of 0, a local size that the device cannot hold,
/// local memory exhausted.
class LaunchError : public Error {
 public:
  using Error::Error;
};

/// No platform, no device of the requested type, or an OpenCL call that failed.
class DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& message, int code = 0) : Error(message), code_(code) {}
  /// OpenCL error code (`CL_*`), 0 when the error is not one of the driver's.
  int code() const noexcept { return code_; }

 private:
  int code_;
};

/// A device could not hold an array, even after others had made room.
class AllocationError : public DeviceError {
 public:
  /// One array that occupies the device.
  struct Resident {
    std::string label;
    std::size_t bytes;
  };
  AllocationError(const std::string& message, int code, std::vector<Resident> residents)
      : DeviceError(message, code), residents_(std::move(residents)) {}
  /// The arrays that occupied the device when the allocation failed, largest first.
  const std::vector<Resident>& residents() const noexcept { return residents_; }

 private:
  std::vector<Resident> residents_;
};

/// The device's compiler rejected a kernel.
class BuildError : public Error {
 public:
  BuildError(const std::string& message, std::string kernel, std::string log, std::string source)
      : Error(message),
        kernel_(std::move(kernel)),
        log_(std::move(log)),
        source_(std::move(source)) {}
  const std::string& kernel() const noexcept { return kernel_; }
  /// The compiler's log, as the driver printed it.
  const std::string& log() const noexcept { return log_; }
  /// The OpenCL C source that was rejected.
  const std::string& source() const noexcept { return source_; }

 private:
  std::string kernel_;
  std::string log_;
  std::string source_;
};

/// A kernel touched an array outside its extents (found by `HPL_CHECK=bounds` or the interpreter).
class BoundsError : public Error {
 public:
  using Error::Error;
};

/// A launch on several devices would compute a core cell from a ghost cell that is out of date
/// (found by `HPL_CHECK=ghosts`).
class StaleGhostError : public Error {
 public:
  StaleGhostError(const std::string& message, std::string array, int part, std::string cells,
                  int launches)
      : Error(message),
        array_(std::move(array)),
        cells_(std::move(cells)),
        part_(part),
        launches_(launches) {}
  /// Label of the array; may be empty.
  const std::string& array() const noexcept { return array_; }
  /// Number of the part, from 0.
  int part() const noexcept { return part_; }
  /// The stale cells that the launch needs, in the array's coordinates: "[4:5, 0:16)".
  const std::string& cells() const noexcept { return cells_; }
  /// Launches that wrote the part since its ghosts were last brought up to date.
  int launches() const noexcept { return launches_; }

 private:
  std::string array_;
  std::string cells_;
  int part_;
  int launches_;
};

/// Another rank of the session failed, died, or left while this one needed it. The session is over
/// on all ranks: every later operation throws it, too.
class RankError : public Error {
 public:
  RankError(const std::string& message, int rank, std::string operation)
      : Error(message), operation_(std::move(operation)), rank_(rank) {}
  /// The rank where the failure began; -1: the session's end, on this rank.
  int rank() const noexcept { return rank_; }
  /// The other rank's operation: "launch of 'heat'"; may be empty.
  const std::string& operation() const noexcept { return operation_; }

 private:
  std::string operation_;
  int rank_;
};

/// Ranks did not do the same operations in the same order. The session is over on all ranks.
class RankDivergenceError : public RankError {
 public:
  using RankError::RankError;
};

/// A malformed value of an `HPL_*` environment variable.
class SettingsError : public Error {
 public:
  using Error::Error;
};

}  // namespace hpl
