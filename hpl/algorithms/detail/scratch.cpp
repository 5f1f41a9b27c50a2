// SPDX-License-Identifier: Apache-2.0
#include "hpl/algorithms/detail/scratch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "hpl/error.h"
#include "hpl/memory/homes.h"
#include "hpl/memory/root.h"
#include "hpl/runtime/device_state.h"

namespace hpl::algorithms {
namespace {

/// Unused arrays; the one that was given back last comes last. Never destroyed, because programs
/// may end while results of static lifetime still exist.
struct FreeArrays {
  std::mutex mutex;
  std::vector<std::shared_ptr<memory::Root>> free;

  static FreeArrays& get() {
    static auto* shelf = new FreeArrays;
    return *shelf;
  }
};
constexpr std::size_t kMostFreeArrays = 32;

}  // namespace

Scratch::Scratch(const memory::View& partner, const ir::Type& type, std::size_t elementSize,
                 std::size_t cells) {
  const bool isRankLocal = partner.root().isRankLocal();
  {
    FreeArrays& shelf = FreeArrays::get();
    const std::lock_guard lock(shelf.mutex);
    const auto known = std::find_if(shelf.free.rbegin(), shelf.free.rend(), [&](const auto& root) {
      return root->type() == type && root->size() == cells && root->isRankLocal() == isRankLocal;
    });
    if (known != shelf.free.rend()) {
      root_ = std::move(*known);
      shelf.free.erase(std::next(known).base());
      return;
    }
  }
  memory::RootOptions options;
  options.shape = {static_cast<geometry::Index>(cells)};
  options.elementSize = elementSize;
  options.type = type;
  options.label = "scratch";
  options.isRankLocal = isRankLocal;
  root_ = memory::Root::create(std::move(options));
}

Scratch::~Scratch() {
  std::shared_ptr<memory::Root> surplus;
  FreeArrays& shelf = FreeArrays::get();
  const std::lock_guard lock(shelf.mutex);
  shelf.free.push_back(std::move(root_));
  if (shelf.free.size() <= kMostFreeArrays) return;
  surplus = std::move(shelf.free.front());
  shelf.free.erase(shelf.free.begin());
}

launch::Argument Scratch::argument() const {
  launch::Argument argument;
  argument.kind = launch::Argument::Kind::Array;
  argument.rank = 1;
  argument.type = root_->type();
  argument.view = &root_->whole();
  return argument;
}

const void* Scratch::onHost(std::size_t i) const {
  const auto at = static_cast<geometry::Index>(i);
  return root_->hostData(geometry::Box({at}, {at + 1}), false);
}

BlockLaunch::BlockLaunch(memory::View& view, std::size_t cells) : count_(view.size()) {
  std::vector<memory::Home> homes;
  memory::homesOf(view, homes);
  device_ = homes.front().device;
  const std::size_t units = std::max(1u, device_->properties().computeUnits);
  // Where many work-items hide the latency of memory, there have to be many.
  const bool isCpu = device_->type() == CPU;
  const std::size_t most = (isCpu ? 4 : cells > 1 ? 16 : 512) * units;
  const std::size_t least = std::max<std::size_t>(4 * cells, isCpu ? 1024 : 32);
  blocks_ = std::clamp<std::size_t>(count_ / least, 1, most);
  chunk_ = (count_ + blocks_ - 1) / blocks_;
}

void BlockLaunch::run(const launch::EntryHandle& kernel,
                      std::initializer_list<launch::Argument> arguments,
                      std::size_t workItems) const {
  launch::LaunchOptions options;
  options.device = device_;
  options.global = Domain(workItems);
  // A block is worth a group of its own on CPUs.
  options.local = Domain(device_->type() == CPU ? 1 : std::min<std::size_t>(workItems, 64));
  launch::launch(kernel, options, {arguments.begin(), arguments.size()});
}

void checkLength(const char* name, const memory::View& other, const memory::View& view,
                 bool exactly) {
  if (exactly ? other.size() == view.size() : other.size() >= view.size()) return;
  throw ShapeError(fmt::format("{}: {} has {} cells, but needs {}{} for the {} of {}", name,
                               other.root().describe(), other.size(), exactly ? "" : "at least ",
                               view.size(), view.size(), view.root().describe()));
}

void checkDistinct(const char* name, const memory::View& a, const memory::View& b) {
  if (&a.root() != &b.root() || !a.box().intersects(b.box())) return;
  throw ArgumentError(
      fmt::format("{}: both arrays are cells of {}; pass one that shares no cell "
                  "with the other",
                  name, a.root().describe()));
}

void checkCount(const char* name, const memory::View& keys) {
  if (keys.size() <= std::numeric_limits<std::uint32_t>::max()) return;
  throw ArgumentError(fmt::format("{}: {} has {} cells, more than 2^32 - 1; sort parts of it", name,
                                  keys.root().describe(), keys.size()));
}

}  // namespace hpl::algorithms
