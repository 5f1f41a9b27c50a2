// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

#include "hpl/memory/view.h"

namespace hpl::memory::detail {

struct Asker;

/// The one map that equals this one: maps live until the process ends, as the kernels do that are
/// compiled for them.
const geometry::IndexMap& keptMap(const geometry::IndexMap& map);

/// The views of one root: the same box of the same parent is the same view, for as long as it is
/// held or was asked for lately. A program that walks over an array with a window of views so keeps
/// a bounded number of them. Guarded by the coherence lock.
///
/// A view without holders is dropped when the program has had more than kViewsKept further views of
/// the root made since it was last asked for, and so has the thread that asked for it: views that a
/// thread is at work with stay, however many others make.
class ViewTable {
 public:
  ViewTable() = default;
  ViewTable(const ViewTable&) = delete;
  ViewTable& operator=(const ViewTable&) = delete;
  /// The handles of all views end. Views that others hold have no root any more.
  ~ViewTable();

  enum class For { Library, Program };
  /// The view of a box within a parent (null: the whole array), made if need be. Views that the
  /// library asks for cause none to be dropped. `isNew` tells whether it was made. `cells` as in
  /// View's constructor.
  View& intern(Root& root, View* parent, const geometry::Box& box, const ViewCells* cells, For whom,
               bool& isNew);

  /// Drops views whose time is over, a few at most; calls `closing(view)` before each.
  template <class F>
  void dropOld(F&& closing) {
    for (int looked = 0; looked < kLooks; ++looked) {
      View* const old = nextToDrop();
      if (old == nullptr) return;
      if (!mayDrop(*old)) {
        renew(*old);
        continue;
      }
      closing(*old);
      drop(*old);
    }
  }
  template <class F>
  void forEach(F&& f) const {
    for (const auto& [key, view] : views_) f(*view);
  }
  std::size_t size() const noexcept { return views_.size(); }

 private:
  // More than one for each view that is made, so that the number of those that are kept because
  // they are held does not add to the number of those that are not.
  static constexpr int kLooks = 4;

  // The view that was asked for before all others, if it is old enough.
  View* nextToDrop() const noexcept;
  static bool mayDrop(const View& view) noexcept;
  void drop(View& view);
  void renew(View& view) noexcept;
  void link(View& view) noexcept;
  void unlink(View& view) noexcept;

  /// The parent of a view, its box, and its cells of that.
  struct Key {
    const View* parent;
    geometry::Box box;
    const geometry::IndexMap* map;
    /// Cells of the view. Where positions are divided, views of several extents have the same box.
    geometry::Box cells;
    friend bool operator<(const Key& a, const Key& b) {
      return std::tie(a.parent, a.map, a.box, a.cells) < std::tie(b.parent, b.map, b.box, b.cells);
    }
  };
  static Key keyOf(const View& view);

  std::map<Key, View*> views_;
  View* oldest_ = nullptr;
  View* newest_ = nullptr;
  std::uint64_t made_ = 0;  // for the program
};

}  // namespace hpl::memory::detail
