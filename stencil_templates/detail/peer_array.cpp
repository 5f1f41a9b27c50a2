// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/peer_array.h"

#include <cstring>

#include "hpl/geometry/box.h"
#include "hpl/memory/operations.h"
#include "hpl/memory/peer_memory.h"

namespace hpl::stencils {
namespace {

constexpr const char* kOwner = "what devices exchange cells through";

}  // namespace

void PeerArray::makeRoots(memory::RootOptions options) {
  options.isInternal = true;
  options.isRankLocal = on_.isRankLocal;
  if (on_.size() > 1) {
    std::size_t bytes = options.elementSize;
    for (const geometry::Index extent : options.shape) bytes *= static_cast<std::size_t>(extent);
    options.commonBlock =
        on_.isRankLocal ? memory::ownPeerMemory(bytes, kOwner) : memory::peerMemory(bytes, kOwner);
  }
  while (roots_.size() < on_.size()) roots_.push_back(memory::Root::create(options));
}

PeerArray::PeerArray(const Spinners& on, const memory::Root& like, const geometry::Extents& extents)
    : on_(on) {
  memory::RootOptions options;
  options.shape = extents;
  options.elementSize = like.elementSize();
  options.type = like.type();
  options.label = like.label();
  options.hostMemory = memory::HostMemory::None;
  makeRoots(std::move(options));
}

PeerArray::PeerArray(const Spinners& on, const ir::Type& type, const geometry::Extents& extents)
    : on_(on) {
  memory::RootOptions options;
  options.shape = extents;
  options.elementSize = ir::sizeOf(type);
  options.type = type;
  makeRoots(std::move(options));
  if (on_.size() > 1) return;
  memory::Root& own = *roots_.front();
  std::memset(own.hostData(own.whole().box(), true, true), 0, own.bytes());
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

void PeerArray::settle() const {
  if (on_.size() == 1) return;
  for (const Device& device : on_.devices)
    if (device.isLocal()) device.sync();
  if (!on_.isRankLocal) memory::detail::tellRanks("end of kernels that wait for each other", {});
}

const void* PeerArray::cells() const {
  memory::Root& own = *roots_.front();
  if (on_.size() > 1) return own.commonBlock();
  return own.hostData(own.whole().box(), false);
}

}  // namespace hpl::stencils
