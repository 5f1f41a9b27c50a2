// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace hpl::runtime {

class DeviceState;

/// A compiled program with one kernel in it. `hpl/runtime/program.h` shows the OpenCL side.
struct Program;

/// Compiles `source` for `device` with `options`, or finds the result in memory or on disk
/// (HPL_CACHE_DIR). `kernelName` is the kernel's name in `source`; it appears in errors and names
/// the files of HPL_DUMP_KERNELS. Safe from several threads: the same program is built once. Throws
/// BuildError with the log against numbered source lines. A failed build is not remembered and does
/// not affect other programs. Warns of builds that take longer than a second; `choice`, how the
/// kernel was laid out, appears in the warning.
std::shared_ptr<const Program> buildProgram(DeviceState& device, const std::string& kernelName,
                                            const std::string& source,
                                            const std::string& options = {},
                                            const std::string& choice = {});

/// How often programs were found or compiled since the process began.
struct ProgramCacheStatistics {
  std::uint64_t memoryHits = 0;
  std::uint64_t diskHits = 0;
  /// Compiled from source.
  std::uint64_t misses = 0;
  /// Binaries written to disk.
  std::uint64_t writes = 0;
  /// Damaged files dropped, binaries the driver refused, and files that could not be written.
  std::uint64_t failures = 0;
};
ProgramCacheStatistics programCacheStatistics();

/// Forgets the programs kept in memory (those in use live on). The disk cache stays.
void clearProgramCache();

/// The log of a failed build against the source: every line numbered, the lines that the log names
/// marked with the message below.
std::string annotateBuildLog(std::string_view source, std::string_view log);

}  // namespace hpl::runtime
