// SPDX-License-Identifier: Apache-2.0
// What must agree after each operation: bytes moved, and which device has which cells.
#include <doctest/doctest.h>

#include "hpl/memory/detail/device_access.h"
#include "hpl/runtime/device_state.h"
#include "kept_values.h"
#include "model_program.h"

using namespace hpl;

namespace ghosts_model {

template <int N>
void RandomProgram<N>::checkBytes() {
  const ProfilingData now = getTotalProfile();
  const Bytes bytes{now.bytesHostToDevice - before_.bytesHostToDevice,
                    now.bytesDeviceToHost - before_.bytesDeviceToHost,
                    now.bytesDeviceToDevice - before_.bytesDeviceToDevice};
  const Bytes wanted{Model::moved.up - modelBefore_.up, Model::moved.down - modelBefore_.down,
                     Model::moved.across - modelBefore_.across};
  before_ = now;
  modelBefore_ = Model::moved;
  const bool same =
      bytes.up == wanted.up && bytes.down == wanted.down && bytes.across == wanted.across;
  if (!same)
    FAIL("moved " << bytes.up << " up, " << bytes.down << " down, " << bytes.across
                  << " across; should be " << wanted.up << ", " << wanted.down << ", "
                  << wanted.across << " after:\n"
                  << log_);
}

// Checks which cells each device has, and which it keeps for itself. Every value is somewhere.
template <int N>
void RandomProgram<N>::checkCopies() {
  for (std::size_t i = 0; i < kArrays; ++i) {
    const Model& model = *pair(i).model;
    for (int d = 0; d < machine_.devices; ++d)
      if (model.hasOwn(d)) checkCopiesOn(i, d);
    forEachCell(whole(), [&](int y, int x) {
      if (!model.isCurrentAnywhere(y, x))
        FAIL("nobody has the value of a" << i << "(" << y << ", " << x << ") after:\n" << log_);
    });
  }
}

template <int N>
void RandomProgram<N>::checkCopiesOn(std::size_t i, int d) {
  memory::Root& root = pair(i).array->hostView().root();
  runtime::DeviceState& device = devices_[static_cast<std::size_t>(d)].state();
  const Model& model = *pair(i).model;
  const auto matches = [&](const std::vector<geometry::Box>& boxes, auto isIn) {
    std::vector<char> found(whole().size(), 0);
    const auto at = [&](int y, int x) { return static_cast<std::size_t>(y * width_ + x); };
    for (const geometry::Box& box : boxes) {
      const int y0 = N == 1 ? 0 : static_cast<int>(box.lo(0));
      const int y1 = N == 1 ? 1 : static_cast<int>(box.hi(0));
      forEachCell({y0, y1, static_cast<int>(box.lo(N - 1)), static_cast<int>(box.hi(N - 1))},
                  [&](int y, int x) { found[at(y, x)] = 1; });
    }
    bool same = true;
    forEachCell(whole(), [&](int y, int x) { same = same && found[at(y, x)] == isIn(y, x); });
    return same;
  };
  const auto current = memory::detail::currentOn(root, device);
  const auto kept = memory::detail::keptOn(root, device);
  const auto list = [](const std::vector<geometry::Box>& boxes) {
    std::string text;
    for (const geometry::Box& box : boxes) text += " " + box.toString();
    return text;
  };
  const bool rightCurrent =
      matches(current, [&](int y, int x) { return model.isCurrentOn(d, y, x); });
  const bool rightKept = matches(kept, [&](int y, int x) { return model.keeps(d, y, x); });
  if (rightCurrent && rightKept) return;
  std::string wanted;
  forEachCell(whole(), [&](int y, int x) {
    if (y > 0 && x == 0) wanted += "\n";
    wanted += model.isCurrentOn(d, y, x) ? 'c' : model.keeps(d, y, x) ? 'k' : '.';
  });
  FAIL("device " << d << " has of a" << i << list(current) << " and keeps" << list(kept)
                 << ", should have (c) and keep (k)\n"
                 << wanted << "\nafter:\n"
                 << log_);
}

// Checks the ghosts of each part.
template <int N>
void RandomProgram<N>::checkKeptValues() {
  for (std::size_t i = 0; i < kArrays; ++i) {
    for (int d = 0; d < machine_.devices; ++d) {
      memory::Root& root = pair(i).array->hostView().root();
      const auto kept =
          ghosts_tests::keptValuesOn(root, devices_[static_cast<std::size_t>(d)].state());
      for (const auto& [at, value] : kept) {
        const int wanted = pair(i).model->keptValue(d, at.first, at.second);
        if (value == wanted) continue;
        FAIL("device " << d << " keeps " << value << " of a" << i << "(" << at.first << ", "
                       << at.second << "), should keep " << wanted << " after:\n"
                       << log_);
      }
    }
  }
}

template void RandomProgram<1>::checkBytes();
template void RandomProgram<2>::checkBytes();
template void RandomProgram<1>::checkCopies();
template void RandomProgram<2>::checkCopies();
template void RandomProgram<1>::checkKeptValues();
template void RandomProgram<2>::checkKeptValues();

}  // namespace ghosts_model
