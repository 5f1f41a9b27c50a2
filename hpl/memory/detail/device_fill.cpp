// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/device_fill.h"

#include <algorithm>

#include "hpl/error.h"
#include "hpl/geometry/layout.h"
#include "hpl/memory/detail/half_done.h"
#include "hpl/memory/detail/transfer.h"

namespace hpl::memory::detail {

namespace {

// Fills the first run of the box. OpenCL's fill takes patterns of 1, 2, 4, ... 128 bytes; elements
// of other sizes are put together from such pieces once, and then doubled.
class RunFiller {
 public:
  RunFiller(DeviceState& device, const cl::Buffer& buffer, const Root& root, const WaitList& waits)
      : device_(device), buffer_(buffer), root_(root), waits_(waits) {}

  /// Whether something was filled.
  bool hasBegun() const { return !first_; }

  void fill(std::size_t offset, std::size_t count, const std::byte* element) {
    const std::size_t size = root_.elementSize();
    const bool uniform =
        std::all_of(element, element + size, [&](std::byte b) { return b == element[0]; });
    const std::size_t pattern = std::min<std::size_t>(size & (~size + 1), 128);
    if (pattern == size || uniform) {
      piece(element, pattern, offset, count * size);
      return;
    }
    for (std::size_t at = 0; at < size; at += pattern) {
      piece(element + at, pattern, offset + at, pattern);
    }
    const cl::CommandQueue& queue = device_.computeQueue();
    for (std::size_t done = 1; done < count;) {
      const std::size_t more = std::min(done, count - done);
      runtime::check(runtime::insist([&] {
                       return clEnqueueCopyBuffer(queue(), buffer_(), buffer_(), offset,
                                                  offset + done * size, more * size, 0, nullptr,
                                                  nullptr);
                     }),
                     "clEnqueueCopyBuffer", &device_, runtime::Concern::array(root_.label()));
      done += more;
    }
  }

 private:
  void piece(const std::byte* bytes, std::size_t pattern, std::size_t offset, std::size_t size) {
    const auto count = static_cast<cl_uint>(first_ ? waits_.size() : 0);
    const auto* list = reinterpret_cast<const cl_event*>(waits_.data());
    const auto attempt = [&] {
      return clEnqueueFillBuffer(device_.computeQueue()(), buffer_(), bytes, pattern, offset, size,
                                 count, count == 0 ? nullptr : list, nullptr);
    };
    runtime::check(first_ ? attempt() : runtime::insist(attempt), "clEnqueueFillBuffer", &device_,
                   runtime::Concern::array(root_.label()));
    first_ = false;
  }

  DeviceState& device_;
  const cl::Buffer& buffer_;
  const Root& root_;
  const WaitList& waits_;
  bool first_ = true;
};

// First dimension that is part of a contiguous run of `length` cells.
int firstDimensionOfRun(const Box& box, geometry::Index length) {
  int d = box.rank();
  for (geometry::Index cells = 1; d > 0 && cells < length; cells *= box.extent(d)) --d;
  return d;
}

// Each outer dimension in turn: what is filled so far (one position of it, `run` cells) is doubled
// until the whole extent is.
void multiply(DeviceState& device, const cl::Buffer& buffer, const Box& enclosing, const Box& box,
              geometry::Index run, const Root& root) {
  Box filled = box;
  const int outer = firstDimensionOfRun(box, run);
  for (int d = 0; d < outer; ++d) filled = filled.withRange(d, box.lo(d), box.lo(d) + 1);
  for (int d = outer - 1; d >= 0; --d) {
    for (geometry::Index done = 1; done < box.extent(d);) {
      const geometry::Index more = std::min(done, box.extent(d) - done);
      const geometry::Index lo = box.lo(d);
      const auto copy = [&] {
        enqueueDeviceCopy(device, buffer, enclosing, filled.withRange(d, lo, lo + more), buffer,
                          enclosing, filled.withRange(d, lo + done, lo + done + more), root, {});
      };
      try {
        copy();
      } catch (const DeviceError&) {
        copy();
      }
      done += more;
    }
    filled = filled.withRange(d, box.lo(d), box.hi(d));
  }
}

}  // namespace

void enqueueFill(DeviceState& device, const cl::Buffer& buffer, const Box& enclosing,
                 const Box& box, const void* element, const Root& root, const WaitList& waits) {
  const geometry::Index run = geometry::contiguousRunLength(enclosing, box);
  const auto offset = static_cast<std::size_t>(geometry::linearOffset(enclosing, box));
  RunFiller filler(device, buffer, root, waits);
  try {
    filler.fill(offset * root.elementSize(), static_cast<std::size_t>(run),
                static_cast<const std::byte*>(element));
    multiply(device, buffer, enclosing, box, run, root);
  } catch (const DeviceError& error) {
    if (!filler.hasBegun()) throw;
    runtime::finished(device.computeQueue());
    throw HalfDoneError(error);
  }
  // The clock of the device's launches flushes again before anybody waits.
  runtime::flushed(device.computeQueue());
}

}  // namespace hpl::memory::detail
