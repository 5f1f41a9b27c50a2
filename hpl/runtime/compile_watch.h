// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "hpl/runtime/cl.h"
#include "hpl/runtime/device_state.h"

/// Long compilations are reported on stderr, so that a program that seems to hang says why. Drivers
/// compile while they build a program, or, as PoCL does, when a kernel is launched for the first
/// time. A thread looks after both while there is something to look after; it ends with the last
/// compilation.
namespace hpl::runtime {

struct Program;

/// A build lasts as long as one of these lives. After a second the library warns once:
/// `kernel 'blur' has been compiling for 1 s on device ...`. Silent under HPL_LOG=error and off.
class CompileWatch {
 public:
  /// `choice`: how the kernel was laid out, a phrase for people; may be empty.
  CompileWatch(const DeviceState& device, const std::string& kernel, const std::string& choice);
  ~CompileWatch();
  CompileWatch(const CompileWatch&) = delete;
  CompileWatch& operator=(const CompileWatch&) = delete;

  /// Whether the warning was written.
  bool hasSpoken() const;

  struct Entry;

 private:
  std::shared_ptr<Entry> entry_;
};

/// Whether first launches of the program are watched: the warning would be shown, was not given for
/// this program, and the driver does not do all its work inside the calls.
bool watchesFirstLaunch(const DeviceState& device, const Program& program) noexcept;

/// Marks the place of a first launch in the device's compute queue, before the launch is enqueued
/// with the same `waits`. Null when the launch is not watched or the call failed.
cl::Event beforeFirstLaunch(DeviceState& device, const Program& program, cl_uint waitCount,
                            const cl_event* waits) noexcept;

/// Warns once if the driver does not begin `launch` for a second after `before` has ended. Returns
/// at once. Does nothing when either event is null.
void watchFirstLaunch(const DeviceState& device, std::shared_ptr<const Program> program,
                      const std::string& choice, cl::Event before, cl_event launch);

/// Drops all events, at the end of the program; nothing is watched any more.
void stopCompileWatch() noexcept;

}  // namespace hpl::runtime
