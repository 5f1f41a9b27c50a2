// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

/// The tiny sequential model that launches on several devices are compared with. Written from
/// DESIGN.md sections 4 and 5 cell by cell, with none of the library's data structures: per array
/// the value of each cell, and per device which cells it has, which of them it keeps for itself
/// and with which value. Vectors are matrices of one row.
namespace ghosts_model {

/// Rows [y0, y1) and columns [x0, x1).
struct Rect {
  int y0 = 0, y1 = 0, x0 = 0, x1 = 0;

  int height() const { return y1 - y0; }
  int width() const { return x1 - x0; }
  bool empty() const { return y0 >= y1 || x0 >= x1; }
  std::size_t size() const {
    return empty() ? 0 : static_cast<std::size_t>(height()) * static_cast<std::size_t>(width());
  }
  bool has(int y, int x) const { return y >= y0 && y < y1 && x >= x0 && x < x1; }
  bool contains(const Rect& r) const {
    return r.y0 >= y0 && r.y1 <= y1 && r.x0 >= x0 && r.x1 <= x1;
  }
  friend bool operator==(const Rect&, const Rect&) = default;
};

Rect intersect(const Rect& a, const Rect& b);
/// The smallest rectangle around both; empty ones do not count.
Rect hull(const Rect& a, const Rect& b);
/// Grown by `before` cells towards lower and `after` cells towards higher positions.
struct Reach {
  int beforeY = 0, afterY = 0, beforeX = 0, afterX = 0;
  /// False: the kernel may read anything.
  bool known = true;
  /// Dimensions along which its reads are unknown.
  bool allY = false, allX = false;
};
Rect grown(const Rect& r, const Reach& reach);

/// The part of a distributed array that one device has. `owns`: one flag per cell of the array.
struct Part {
  int device = 0;
  Rect full;
  std::vector<char> owns;
  Rect core;  ///< around the owned cells
};

struct Distribution {
  bool isExplicit = false;
  std::vector<Part> parts;
  /// For an explicit one: which parts may have ghosts of each other, row by row.
  std::vector<char> related;

  bool hasGhosts() const;
};
bool equal(const Distribution& a, const Distribution& b);
/// Parts of different devices with ghosts of each other; always in annotated distributions.
bool areNeighbours(const Distribution& distribution, const Part& a, const Part& b);

/// A view that a device works on as its part.
struct DeviceView {
  int device = 0;
  Rect box;
  /// Around what the device wrote of the view in its last round.
  Rect last;
  /// The rounds that made the view a part and that last wrote it or a piece of it.
  int taken = 0, round = 0;
  int id = 0;
  /// The views of other devices some cell of which one round wrote on both.
  std::vector<int> met = {};
};
/// The parts of an array at some time.
struct Views {
  std::vector<DeviceView> parts;
  int round = 1;
  std::vector<DeviceView> covered;  ///< what the round has written
  int lastId = 0;
  bool ended = false;  ///< the whole array was written since
};
/// The parts after a launch that writes the views in `written`.
Views viewsAfter(Views views, const std::vector<DeviceView>& written, int height, int width);

/// Views on devices in a round, in the order in which they became parts, cut as DESIGN.md section 5
/// says.
std::shared_ptr<const Distribution> cutViews(const std::vector<DeviceView>& views, int round,
                                             int height, int width);

struct Machine {
  int devices = 1;
  bool sharesHostMemory = false;
  bool oneContext = false;
};

struct Bytes {
  std::uint64_t up = 0, down = 0, across = 0;
};

class Model;

/// One array argument on one device of a launch.
struct Use {
  Model* array = nullptr;
  Rect cells;
  /// Those cells whose values the kernel may read. Empty: all.
  std::vector<Rect> touched = {};
  bool read = false;
  bool write = false;
  /// Writes every cell whatever was there.
  bool overwrites = false;
  /// The argument is annotated; null: it is not.
  std::shared_ptr<const Distribution> distribution;
  bool autoSync = false;
  Reach reach;
  /// The cells at the ends that the kernel leaves unwritten. Unknown: what it writes may be another
  /// value than its neighbour's, whatever both read.
  Reach rim;
  /// An argument that is a view of its array and not annotated.
  bool isView = false;
};

/// One device's share of a launch. `run` gets the cells of each use, row by row, as the kernel
/// finds them, and leaves what it makes of them.
struct Share {
  int device = 0;
  std::vector<Use> uses;
  std::function<void(std::vector<std::vector<int>>&)> run;
};

class Model {
 public:
  /// An array that was never written.
  Model(const Machine& machine, int height, int width);

  Rect whole() const { return {0, height_, 0, width_}; }
  int value(int y, int x) const { return values_[at(y, x)]; }

  void hostRead(const Rect& r) {
    snapshot();
    bringTo(0, r, false);
  }
  /// The host opens a view for writing, after which set() is allowed in it.
  void hostWrite(const Rect& r, bool discardOld);
  void set(int y, int x, int value) { values_[at(y, x)] = value; }
  void fill(const Rect& r, int value);
  static void copy(Model& dst, const Rect& dstRect, Model& src, const Rect& srcRect);
  static void launch(const std::vector<Share>& shares);
  /// Brings every ghost cell that is out of date up to date.
  void syncGhosts();

  /// Whether the device has memory of its own for the array, and what it holds.
  bool hasOwn(int device) const;
  bool isCurrentOn(int device, int y, int x) const {
    return current_[static_cast<std::size_t>(1 + device)][at(y, x)] != 0;
  }
  bool isCurrentAnywhere(int y, int x) const {
    bool anywhere = false;
    for (const auto& space : current_) anywhere = anywhere || space[at(y, x)] != 0;
    return anywhere;
  }
  bool keeps(int device, int y, int x) const {
    return devices_[static_cast<std::size_t>(device)].kept[at(y, x)] != 0;
  }

  /// The value there of a device that keeps the cell.
  int keptValue(int device, int y, int x) const {
    return devices_[static_cast<std::size_t>(device)].keptValue[at(y, x)];
  }

  /// The bytes that had to move so far, over all models.
  static Bytes moved;

 private:
  // The cells of the array that a device has in memory of its own.
  struct Device {
    std::vector<char> kept;
    std::vector<int> keptValue;
    /// Kept cells that have their owner's value.
    std::vector<char> trusted;
  };
  struct Role {
    const Part* part = nullptr;
    bool ownBuffer = false;
  };

  std::size_t at(int y, int x) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(x);
  }
  bool allCurrent(int space, const Rect& r) const;
  int spaceOf(int device, bool ownBuffer) const;
  Role roleOf(int device, const Use& use) const;
  const Part* partOn(const Distribution& distribution, int device, const Rect& cells) const;
  void place(int device, bool ownBuffer);
  void snapshot() { before_ = current_; }
  int sourceOf(int space, std::size_t cell) const;
  void bringTo(int space, const Rect& r, bool acceptKept);
  std::vector<int> seenBy(int device, const Use& use, const Role& role) const;
  void note(int device, const Use& use, const std::vector<int>& result, bool ownBuffer);
  void adopt(std::shared_ptr<const Distribution> next);
  void adoptViews();
  int heirOf(int y, int x) const;
  static void foresee(const std::vector<Share>& shares);
  void save(const std::vector<Share>& shares, int device, const Use& use, bool ownBuffer);
  void writeAll(int space, const Rect& r);
  void writePart(int space, const Part& part, const Rect& r, const std::vector<int>& result);
  bool goesOn(int device, const Part& writer, int y, int x) const;
  bool isGhostOf(int device, int y, int x) const;
  int homeOf(const Rect& r) const;
  bool keepsSome(int device, const Rect& r) const;
  bool isActive(const Use& use) const;
  const Part& partOf(int device, const Use& use) const;

  static Rect neededBy(const Share& share, const Use& read);
  bool isStale(int device, const Use& use, const Rect& needed) const;
  bool isRight(int device, const Use& use, int y, int x) const;
  static bool computesRight(const Share& share, const Use& written, int y, int x);
  static bool isRightAfter(const std::vector<Share>& shares, const Share& share, const Use& written,
                           int y, int x);

  Machine machine_;
  int height_, width_;
  std::vector<int> values_;
  /// By space: 0 is the host, 1 + d what device d has of its own.
  std::vector<std::vector<char>> current_;
  /// The same before the cells of one operation move.
  std::vector<std::vector<char>> before_;
  std::vector<Device> devices_;
  /// Devices with memory of their own for the array, in the order of their first use.
  std::vector<int> order_;
  std::shared_ptr<const Distribution> active_;
  Views views_;
  /// The value of views_ after the present launch, and the views that this one writes.
  Views future_;
  std::vector<DeviceView> written_;
  /// By device and cell: became a ghost of an explicit part by the present launch. Empty: none.
  std::vector<std::vector<char>> newGhosts_;
};

/// Calls f(y, x) for the cells of a rectangle, row by row.
template <class F>
void forEachCell(const Rect& r, F&& f) {
  for (int y = r.y0; y < r.y1; ++y)
    for (int x = r.x0; x < r.x1; ++x) f(y, x);
}

}  // namespace ghosts_model
