// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/root.h"

#include <fmt/format.h>

#include <limits>

#include "hpl/error.h"
#include "hpl/memory/detail/coherence.h"
#include "hpl/memory/detail/host_access.h"
#include "hpl/memory/detail/local_writes.h"
#include "hpl/runtime/fork.h"
#include "hpl/runtime/global_list.h"
#include "hpl/runtime/log.h"

namespace hpl::memory {

namespace {

std::string nameOf(const std::string& label) {
  return label.empty() ? std::string("unnamed array") : fmt::format("array \"{}\"", label);
}

// Checks the shape and returns the number of elements.
std::size_t checkedSize(const RootOptions& options) {
  const geometry::Extents& shape = options.shape;
  if (shape.rank() < 1) {
    throw ShapeError(fmt::format("{} has no dimensions; give it 1 to {} extents",
                                 nameOf(options.label), geometry::kMaxDims));
  }
  std::size_t bytes = options.elementSize;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape[d] <= 0) {
      throw ShapeError(
          fmt::format("{} would have extent {} in dimension {} of {}; every extent "
                      "must be at least 1",
                      nameOf(options.label), shape[d], d + 1, shape.toString()));
    }
    const auto extent = static_cast<std::size_t>(shape[d]);
    if (extent > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / bytes) {
      throw ShapeError(
          fmt::format("{} of extents {} and {} bytes per element has more bytes than "
                      "a machine can address",
                      nameOf(options.label), shape.toString(), options.elementSize));
    }
    bytes *= extent;
  }
  return bytes / options.elementSize;
}

}  // namespace

std::shared_ptr<Root> Root::create(RootOptions options) {
  options.isRankLocal = options.isRankLocal && runtime::hasRanks();
  if (runtime::hasRanks() && !options.isInternal && !options.isRankLocal)
    detail::refuseInLocalWork("new array");
  return std::make_shared<Root>(Key{}, std::move(options));
}

Root::Root(Key, RootOptions options) : options_(std::move(options)), size_(checkedSize(options_)) {
  // Driver calls, which pinned memory needs, are not made under the lock.
  detail::HostBlock block;
  auto* data = static_cast<std::byte*>(options_.userMemory);
  if (commonBlock() != nullptr) {
    data = commonBlock();
  } else if (!hasUserMemory() && options_.hostMemory != HostMemory::None) {
    block = detail::HostBlock(bytes(), options_.hostMemory, describe());
    data = block.data();
  }
  const detail::Lock lock(detail::coherenceMutex());
  // Memory of our own is always aligned, also where it is not allocated yet.
  state_ = std::make_unique<detail::RootState>(
      *this, reinterpret_cast<std::uintptr_t>(data) % runtime::DeviceState::hostAlignment == 0,
      !options_.isInternal && !options_.isRankLocal);
  state_->ownHost = std::move(block);
  state_->hostData = data;
  state_->changeLayout();
  whole_ = &state_->intern(nullptr, state_->wholeBox());
}

void Root::setLabel(std::string label) {
  options_.label = std::move(label);
  const detail::Lock lock(detail::coherenceMutex());
  state_->states.setLabel(options_.label);
}

std::string Root::describe() const { return nameOf(label()); }

View& Root::view(const geometry::Box& box) {
  if (box == whole_->box()) return *whole_;
  const detail::Lock lock(detail::coherenceMutex());
  return state_->intern(nullptr, box);
}

View& Root::view(View& parent, const geometry::Box& box) {
  if (&parent == whole_) return view(box);
  if (box == parent.box()) return parent;
  const detail::Lock lock(detail::coherenceMutex());
  return state_->intern(&parent, box);
}

ViewHold Root::viewForProgram(View& parent, const geometry::Box& box) {
  if (box == parent.box()) return ViewHold(parent);
  if (box == whole_->box()) return ViewHold(*whole_);
  const detail::Lock lock(detail::coherenceMutex());
  ViewHold asked(
      state_->intern(&parent == whole_ ? nullptr : &parent, box, detail::ViewTable::For::Program));
  state_->dropOldViews();
  return asked;
}

ViewHold Root::mappedForProgram(View& box, const ViewCells& cells) {
  const detail::Lock lock(detail::coherenceMutex());
  ViewHold asked(state_->intern(&box, box.box(), detail::ViewTable::For::Program, &cells));
  state_->dropOldViews();
  return asked;
}

void* Root::hostData(const geometry::Box& box, bool forWriting, bool discardOld) {
  View& opened = view(box);
  if (forWriting) {
    opened.openForWriting(discardOld);
  } else {
    opened.openForReading();
  }
  return opened.host;
}

geometry::Region Root::written() const {
  const detail::Lock lock(detail::coherenceMutex());
  geometry::Region cells;
  for (int space = 0; space < state_->known->spaceCount(); ++space)
    cells.add(state_->known->copiesOf(space).current);
  return cells.intersect(whole_->box());  // periodic ghosts are copies of others
}

Root::~Root() {
  if (runtime::isForked() && detail::isKnownToDevices(*state_)) {
    // The other process still has the array. Here its OpenCL objects cannot even be given back.
    static_cast<void>(state_.release());
    return;
  }
  try {
    detail::retire(*state_);
  } catch (const std::exception& error) {
    runtime::log::error(
        fmt::format("{} dies without its last values: {}", describe(), error.what()));
  }
}

}  // namespace hpl::memory
