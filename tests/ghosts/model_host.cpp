// SPDX-License-Identifier: Apache-2.0
// The host's part in random programs: reads, writes, assignments and fills.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "model_program.h"

using namespace hpl;

namespace ghosts_model {

template <int N>
void RandomProgram<N>::hostRead(std::size_t i, const Rect& r) {
  log_ += fmt::format("read a{}{}\n", i, show(r));
  const std::vector<int> values = ghosts_tests::valuesOf(view(i, r));
  pair(i).model->hostRead(r);
  std::size_t next = 0;
  forEachCell(r, [&](int y, int x) {
    const int wanted = pair(i).model->value(y, x);
    const int found = values[next++];
    if (found != wanted)
      FAIL("a" << i << "(" << y << ", " << x << ") is " << found << ", should be " << wanted
               << " after:\n"
               << log_);
  });
}

// All cells from a list, or some of them one by one.
template <int N>
void RandomProgram<N>::hostWrite(std::size_t i, const Rect& r) {
  log_ += fmt::format("write a{}{}\n", i, show(r));
  Array<int, N>& target = view(i, r);
  if (r == whole() || oneIn(2)) {
    std::vector<int> values(r.size());
    for (int& value : values) value = below(1000);
    target.copyFrom(values.data());
    pair(i).model->hostWrite(r, true);
    std::size_t next = 0;
    forEachCell(r, [&](int y, int x) { pair(i).model->set(y, x, values[next++]); });
    return;
  }
  pair(i).model->hostWrite(r, false);
  forEachCell(r, [&](int y, int x) {
    if (!(y == r.y0 && x == r.x0) && !oneIn(3)) return;
    const int value = below(1000);
    if constexpr (N == 1) {
      target(x - r.x0) = value;
    } else {
      target(y - r.y0, x - r.x0) = value;
    }
    pair(i).model->set(y, x, value);
  });
}

template <int N>
void RandomProgram<N>::assign() {
  const std::size_t dst = some();
  const std::size_t src = some();
  const Rect to = oneIn(3) ? whole() : randomRect();
  const Rect from = moved(to);
  if (dst == src && to == from) return;
  log_ += fmt::format("a{}{} = a{}{}\n", dst, show(to), src, show(from));
  view(dst, to) = view(src, from);
  const std::uint64_t before = Model::moved.across;
  Model::copy(*pair(dst).model, to, *pair(src).model, from);
  if (!machine_.sharesHostMemory) return;
  // Which copies within the host's memory a device makes depends on what is busy: it makes those of
  // busy ones, and they count as copies between devices.
  before_.bytesDeviceToDevice = getTotalProfile().bytesDeviceToDevice;
  modelBefore_.across += Model::moved.across - before;
}

template <int N>
void RandomProgram<N>::fill() {
  const std::size_t i = some();
  const Rect r = oneIn(3) ? whole() : randomRect();
  const int value = below(1000);
  log_ += fmt::format("a{}{} = {}\n", i, show(r), value);
  view(i, r) = value;
  pair(i).model->fill(r, value);
}

template void RandomProgram<1>::hostRead(std::size_t, const Rect&);
template void RandomProgram<2>::hostRead(std::size_t, const Rect&);
template void RandomProgram<1>::hostWrite(std::size_t, const Rect&);
template void RandomProgram<2>::hostWrite(std::size_t, const Rect&);
template void RandomProgram<1>::assign();
template void RandomProgram<2>::assign();
template void RandomProgram<1>::fill();
template void RandomProgram<2>::fill();

}  // namespace ghosts_model
