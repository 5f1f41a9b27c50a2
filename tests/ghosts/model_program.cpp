// SPDX-License-Identifier: Apache-2.0
// What random programs are made of: arrays, their lives, and the choice of operations.
#include "model_program.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "hpl/memory/detail/device_access.h"
#include "hpl/runtime/device_state.h"

using namespace hpl;

namespace ghosts_model {

std::string show(const Rect& r) { return fmt::format("[{}:{}, {}:{})", r.y0, r.y1, r.x0, r.x1); }

template <int N>
std::vector<int> RandomProgram<N>::randomSizes(int total, int parts, int least) {
  std::vector<int> sizes(static_cast<std::size_t>(parts), least);
  for (int left = total - least * parts; left > 0; --left)
    ++sizes[static_cast<std::size_t>(below(parts))];
  return sizes;
}

template <int N>
RandomProgram<N>::RandomProgram(unsigned seed)
    : random_(seed), devices_(ghosts_tests::testDevices()), before_(getTotalProfile()) {
  machine_.devices = static_cast<int>(devices_.size());
  // If several devices have a cell, the first one gives it.
  for (const Device& device : devices_) memory::detail::spaceOf(device.state());
  machine_.sharesHostMemory = ghosts_tests::devicesShareHostMemory();
  machine_.oneContext =
      devices_.size() > 1 && devices_[0].state().sharesContextWith(devices_[1].state());
  // Nearly square, so that four blocks are two by two.
  height_ = N == 1 ? 1 : 16 + below(4);
  width_ = N == 1 ? 40 + below(20) : 16 + below(4);
  modelBefore_ = Model::moved;
  pairs_.resize(kArrays);
  for (std::size_t i = 0; i < kArrays; ++i) makePair(i);
  for (int i = 0; i < 2; ++i) makeViews();
}

template <int N>
void RandomProgram<N>::makePair(std::size_t i) {
  pairs_[i] = std::make_unique<Pair<N>>();
  Pair<N>& fresh = pair(i);
  if (oneIn(3)) {
    const std::size_t alignment = runtime::DeviceState::hostAlignment;
    std::size_t space = whole().size() * sizeof(int) + alignment;
    fresh.memory = std::make_unique<std::byte[]>(space);
    void* at = fresh.memory.get();
    fresh.user = static_cast<int*>(std::align(alignment, whole().size() * sizeof(int), at, space));
  }
  if constexpr (N == 1) {
    fresh.array = fresh.user ? std::make_unique<Array<int, 1>>(width_, fresh.user)
                             : std::make_unique<Array<int, 1>>(width_);
  } else {
    fresh.array = fresh.user ? std::make_unique<Array<int, 2>>(height_, width_, fresh.user)
                             : std::make_unique<Array<int, 2>>(height_, width_);
  }
  fresh.model = std::make_unique<Model>(machine_, height_, width_);
  hostWrite(i, whole());
}

// User memory gets what it lacks when the last handle dies.
template <int N>
void RandomProgram<N>::killPair(std::size_t i) {
  Pair<N>& old = pair(i);
  std::erase_if(past_, [&](const Entry& entry) {
    return entry.targets.out == i || (entry.hasInput && entry.targets.in == i);
  });
  old.array.reset();
  if (old.user == nullptr) return;
  old.model->hostRead(whole());
  bool same = true;
  forEachCell(whole(), [&](int y, int x) {
    same = same && old.user[y * width_ + x] == old.model->value(y, x);
  });
  CHECK_MESSAGE(same, "user memory is wrong after:\n" << log_);
}

template <int N>
void RandomProgram<N>::makeViews() {
  const bool alongY = N == 2 && oneIn(2);
  const int total = alongY ? height_ : width_;
  const int overlap = below(kWidest + 1);
  std::vector<Rect> views;
  int start = 0;
  // No view may contain its neighbour.
  for (const int size : randomSizes(total, 1 + below(machine_.devices), kWidest + 1)) {
    Rect r = whole();
    (alongY ? r.y0 : r.x0) = std::max(0, start - overlap);
    start += size;
    (alongY ? r.y1 : r.x1) = std::min(total, start + below(2) + overlap / 2);
    views.push_back(r);
  }
  views_.push_back(views);
}

template <int N>
void RandomProgram<N>::run(int operations) {
  for (int i = 0; i < operations; ++i) {
    step();
    checkBytes();
    checkCopies();
  }
  checkKeptValues();
  for (std::size_t i = 0; i < kArrays; ++i) {
    hostRead(i, whole());
    checkBytes();
    killPair(i);
  }
  checkBytes();
}

template <int N>
void RandomProgram<N>::step() {
  const int what = below(100);
  if (what < 8) return hostRead(some(), oneIn(3) ? whole() : randomRect());
  if (what < 15) return hostWrite(some(), oneIn(6) ? whole() : randomRect());
  if (what < 23) return assign();
  if (what < 26) return fill();
  if (what < 34) return launchOnOne();
  if (what < 58) return launchAnnotated();
  if (what < 66) return launchDivided();
  if (what < 80) return launchOnViews();
  if (what < 88) return repeat();
  if (what < 98) {
    const std::size_t i = some();
    log_ += fmt::format("a{}.syncGhosts\n", i);
    pair(i).array->syncGhosts();
    pair(i).model->syncGhosts();
    return;
  }
  const std::size_t i = some();
  log_ += fmt::format("a{} dies\n", i);
  killPair(i);
  makePair(i);
}

template <int N>
Rect RandomProgram<N>::randomRect() {
  const auto range = [&](int extent, int& lo, int& hi) {
    const int a = below(extent);
    const int b = below(extent);
    lo = oneIn(3) ? 0 : std::min(a, b);
    hi = std::max(a, b) + 1;
  };
  Rect r;
  range(height_, r.y0, r.y1);
  range(width_, r.x0, r.x1);
  return r;
}

template <int N>
Rect RandomProgram<N>::moved(const Rect& r) {
  const int y = below(height_ - r.height() + 1);
  const int x = below(width_ - r.width() + 1);
  return {y, y + r.height(), x, x + r.width()};
}

template <int N>
Array<int, N>& RandomProgram<N>::view(std::size_t i, const Rect& r) {
  if (r == whole()) return *pair(i).array;
  if constexpr (N == 1) {
    return (*pair(i).array)(Range(r.x0, r.x1 - 1));
  } else {
    return (*pair(i).array)(Range(r.y0, r.y1 - 1), Range(r.x0, r.x1 - 1));
  }
}

template RandomProgram<1>::RandomProgram(unsigned);
template RandomProgram<2>::RandomProgram(unsigned);
template void RandomProgram<1>::run(int);
template void RandomProgram<2>::run(int);
template Rect RandomProgram<1>::randomRect();
template Rect RandomProgram<2>::randomRect();
template Rect RandomProgram<1>::moved(const Rect&);
template Rect RandomProgram<2>::moved(const Rect&);
template Array<int, 1>& RandomProgram<1>::view(std::size_t, const Rect&);
template Array<int, 2>& RandomProgram<2>::view(std::size_t, const Rect&);
template std::vector<int> RandomProgram<1>::randomSizes(int, int, int);
template std::vector<int> RandomProgram<2>::randomSizes(int, int, int);

}  // namespace ghosts_model
