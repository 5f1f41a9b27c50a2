// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "hpl/coherence/machine.h"
#include "hpl/coherence/step.h"
#include "tests/ghosts/model.h"

/// The sequential model that the planners are compared with: cell by cell, one flag per space and
/// cell, written from docs/ghost-regions.md with none of the room's data structures. Vectors are
/// matrices of one row. Explicit views become parts as in the model of the ghosts' tests.
namespace coherence_model {

using ghosts_model::Distribution;
using ghosts_model::forEachCell;
using ghosts_model::Part;
using ghosts_model::Rect;
using hpl::coherence::Machine;
using hpl::coherence::SpaceId;
using hpl::coherence::Why;

using CutPtr = std::shared_ptr<const Distribution>;

/// Cells that had to move: by reason, operands and spaces.
using Moves = std::map<std::tuple<Why, int, int, SpaceId, SpaceId>, int>;

/// One device's work on one array in a launch.
struct Work {
  int array = 0;
  SpaceId device = 0;
  Rect cells;
  bool read = false;
  bool write = false;
  bool overwrites = false;
  CutPtr cut;
  bool isView = false;
  bool isSlice = false;
  /// Where the device works; found when the launch is under way.
  SpaceId place = 0;
};

/// One array.
class Field {
 public:
  /// No space has any of it; images reach `margin` cells beyond its ends.
  Field(const Machine& machine, int height, int width, int margin);

  Rect whole() const { return {0, height_, 0, width_}; }
  Rect all() const { return {-marginY_, height_ + marginY_, -marginX_, width_ + marginX_}; }
  std::size_t at(int y, int x) const {
    return static_cast<std::size_t>(y + marginY_) *
               static_cast<std::size_t>(width_ + 2 * marginX_) +
           static_cast<std::size_t>(x + marginX_);
  }
  std::size_t cellCount() const { return values.size(); }
  /// The cell that (y, x) is, or is an image of.
  std::size_t homeOf(int y, int x) const { return homes_[at(y, x)]; }
  bool isInside(int y, int x) const { return whole().has(y, x); }

  // By cell; not of images.
  std::vector<int> values;
  std::vector<char> lost;
  // By space and cell.
  std::vector<std::vector<char>> current, kept;
  std::vector<std::vector<int>> keptValues;

  CutPtr active;
  ghosts_model::Views views, future;
  std::vector<ghosts_model::DeviceView> written;
  bool partsEnded = false;

  bool allCurrent(SpaceId space, const Rect& r) const;
  bool keepsSome(SpaceId space, const Rect& r) const;
  /// The part on a device that contains the cells; null: none.
  static const Part* partOn(const CutPtr& cut, SpaceId device, const Rect& cells);
  bool owns(const Part& part, int y, int x) const;
  bool hasGhosts(const Part* part) const;
  bool isActive(const CutPtr& cut) const;
  /// The part whose own values the work sees; null: it sees the array's.
  const Part* roleOf(const Work& work) const;
  SpaceId spaceOf(const Work& work) const;
  SpaceId homeSpace(const Rect& r) const;
  SpaceId shared(SpaceId device) const { return machine_->sharedSpaceOf(device); }

  /// The value that a part, or (null) any other reader, sees in a space.
  int seen(SpaceId space, const Part* part, int y, int x) const;

  /// Where the cell comes from; -1: from nowhere. As of `snapshot`.
  SpaceId sourceOf(SpaceId to, std::size_t home) const;
  /// Copies under way are no sources: to be called before the transfers of one kind.
  void snapshot() { before_ = current; }
  void bring(SpaceId to, const Rect& r, bool acceptKept, Why why, int operand, Moves& moves);
  void exchange(int operand, Moves& moves);
  void save(SpaceId device, int y, int x, int operand, Moves& moves,
            const std::vector<SpaceId>& doTheSame = {});

  void writeAll(SpaceId space, const Rect& r);
  void write(SpaceId space, int y, int x, int value);
  void writePart(SpaceId space, const Part& part, int y, int x, int value);
  void adopt(const CutPtr& next);
  void adoptViews();
  /// The writes of a launch are done.
  void endLaunch() { newGhosts_.clear(); }
  void endDistribution();
  void loseDevice(SpaceId device);
  SpaceId heirOf(int y, int x) const;
  void endIfWhole(const Rect& r) {
    if (r == whole() && !views.parts.empty()) views.ended = true;
  }
  const Machine& machine() const { return *machine_; }

 private:
  bool goesOn(SpaceId space, const Part& writer, int y, int x, bool isImage) const;
  bool isGhostOf(SpaceId space, int y, int x) const;
  void outdate(SpaceId writer, const Part* part, int y, int x);

  const Machine* machine_;
  int height_, width_, marginY_, marginX_;
  std::vector<std::size_t> homes_;
  std::vector<std::vector<char>> before_;
  /// By space and cell: became a ghost of an explicit part by the launch at hand. Empty: none.
  std::vector<std::vector<char>> newGhosts_;
};

}  // namespace coherence_model
