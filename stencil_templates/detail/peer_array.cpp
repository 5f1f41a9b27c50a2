// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/peer_array.h"

#include <cstring>

#include "hpl/geometry/box.h"

namespace hpl::stencils {

void PeerArray::makeRoots(std::size_t devices, memory::RootOptions options) {
  options.isInternal = true;
  if (devices > 1) options.hostMemory = memory::HostMemory::Plain;
  roots_.push_back(memory::Root::create(options));
  if (devices == 1) return;
  memory::Root& first = *roots_.front();
  options.userMemory = first.hostData(first.whole().box(), true, true);
  std::memset(options.userMemory, 0, first.bytes());
  while (roots_.size() < devices) roots_.push_back(memory::Root::create(options));
}

PeerArray::PeerArray(std::size_t devices, const memory::Root& like,
                     const geometry::Extents& extents) {
  memory::RootOptions options;
  options.shape = extents;
  options.elementSize = like.elementSize();
  options.type = like.type();
  options.label = like.label();
  options.hostMemory = memory::HostMemory::None;
  options.isRankLocal = like.isRankLocal();
  makeRoots(devices, std::move(options));
}

PeerArray::PeerArray(std::size_t devices, const ir::Type& type, const geometry::Extents& extents) {
  memory::RootOptions options;
  options.shape = extents;
  options.elementSize = ir::sizeOf(type);
  options.type = type;
  makeRoots(devices, std::move(options));
  if (devices > 1) return;
  memory::Root& own = *roots_.front();
  std::memset(own.hostData(own.whole().box(), true, true), 0, own.bytes());
}

PeerArray::~PeerArray() {
  // The first one has the memory.
  while (!roots_.empty()) roots_.pop_back();
}

launch::Argument PeerArray::argumentOn(std::size_t device) const {
  memory::View& whole = roots_[device]->whole();
  launch::Argument argument;
  argument.kind = launch::Argument::Kind::Array;
  argument.type = roots_[device]->type();
  argument.rank = whole.extents.rank();
  argument.view = &whole;
  return argument;
}

launch::Argument PeerArray::argument() const {
  if (roots_.size() == 1) return argumentOn(0);
  return launch::Argument::perDevice(
      this, roots_.size(), [](const void* array, std::size_t device) {
        return static_cast<const PeerArray*>(array)->argumentOn(device);
      });
}

const void* PeerArray::cellsAfter(std::size_t device) const {
  memory::Root& own = *roots_[device];
  return own.hostData(own.whole().box(), false);
}

}  // namespace hpl::stencils
