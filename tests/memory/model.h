// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "devices.h"

/// The tiny sequential model that the coherence engine is compared with: one bit per cell and
/// space, written from DESIGN.md section 4 without any of the engine's data structures.
namespace memory_tests {

/// The devices of a test as the model sees them: which space each uses and which are direct
/// neighbours. Space 0 is the host.
struct Spaces {
  std::vector<int> ofDevice;
  bool oneContext = false;

  int count() const;
};

class Model {
 public:
  /// An array of `cells`; defined from the start if `initial` is not empty.
  Model(const Extents& shape, const Spaces& spaces, std::vector<std::int64_t> initial);

  void hostRead(const Box& box);
  void hostWrite(const Box& box, bool discardOld);
  void set(const Point& cell, std::int64_t value);
  /// A launch on a device, first applied to the copies and then to the values.
  static void launch(int device, Work work, Model& dst, const Box& dstBox, Model* src,
                     const Box* srcBox, std::int64_t value);
  static void copy(Model& dst, const Box& dstBox, Model& src, const Box& srcBox);
  void fill(const Box& box, std::int64_t value);

  bool isDefined(const Point& cell) const { return defined_[at(cell)]; }
  std::int64_t value(const Point& cell) const { return values_[at(cell)]; }
  /// Whether the space's copy of the cell is current.
  bool isCurrent(int space, const Point& cell) const {
    return current_[static_cast<std::size_t>(space)][at(cell)];
  }

  /// Bytes that the operations so far had to move, over all models.
  static Bytes necessary;

 private:
  std::size_t at(const Point& cell) const;
  bool allCurrent(int space, const Box& box) const;
  void bringTo(int space, const Box& box);
  void writtenIn(int space, const Box& box);
  void copyValues(const Box& dstBox, const Model& src, const Box& srcBox, std::int64_t factor,
                  std::int64_t summand);
  int homeOf(const Box& box) const;
  int workSpaceOf(const Model& owner, int space) const;
  std::vector<int> sourcesFor(int space) const;

  Extents shape_;
  Spaces spaces_;
  std::vector<std::int64_t> values_;
  std::vector<bool> defined_;
  std::vector<std::vector<bool>> current_;
};

/// Calls `f` with each cell of a box in row-major order.
template <class F>
void forEachCell(const Box& box, F&& f) {
  if (box.empty()) return;
  Point cell = box.lo();
  for (;;) {
    f(cell);
    int d = box.rank() - 1;
    while (d >= 0 && ++cell[d] == box.hi(d)) {
      cell[d] = box.lo(d);
      --d;
    }
    if (d < 0) return;
  }
}

}  // namespace memory_tests
