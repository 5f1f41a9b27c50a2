// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "hpl/geometry/rect_copy.h"
#include "hpl/memory/detail/coherence.h"

/// Functions of this library as commands of devices that work in the host's memory
/// (CL_EXEC_NATIVE_KERNEL, which CPUs have): one command copies any number of rectangles.
namespace hpl::memory::detail {

/// A block of parameters, and the buffers that the driver keeps until the command has run.
struct HostCommand {
  std::vector<std::byte> block;
  std::vector<cl_mem> buffers;

  bool empty() const noexcept { return block.empty(); }
};

/// Lists that enqueueing fills, kept so that it allocates nothing.
struct HostScratch {
  std::vector<std::byte> block;
  std::vector<const void*> places;

  void reserveFor(const HostCommand& command);
};

/// The address of the replica's buffer in this process; null if the device does not work there, or
/// runs no functions of the host.
std::byte* addressForHost(const Replica& replica);

/// Collects the rectangles of a command, and each buffer once.
class HostCommandMaker {
 public:
  void use(const cl::Buffer& buffer);
  /// A null address stands for the command's message, from byte `at` on.
  void add(const std::vector<geometry::RectCopy>& copies, const std::byte* from, std::byte* to,
           std::size_t at);
  HostCommand made() const;

 private:
  struct Piece {
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    std::size_t at = 0;
    geometry::RectCopy copy;
  };
  friend struct HostCommandRun;

  std::vector<cl_mem> buffers_;
  std::vector<Piece> pieces_;
};

/// Enqueues the command. Returns the driver's code and, if that is CL_SUCCESS, its event.
cl_int enqueueHostCommand(const Queue& queue, const HostCommand& command, std::byte* message,
                          const WaitList& waits, HostScratch& scratch, cl::Event& event);

}  // namespace hpl::memory::detail
