// SPDX-License-Identifier: Apache-2.0
// What launches do to fields.
#include "field.h"

namespace programs {

namespace {

struct Reach {
  Point before{0, 0, 0}, after{0, 0, 0};
  bool known = true;
};

Reach reachOf(Work work, int dims) {
  const int y = dims > 1 ? 1 : 0;
  const int z = dims > 2 ? 1 : 0;
  switch (work) {
    case Work::Star:
      return {{z, y, 1}, {z, y, 1}};
    case Work::Corners:
      return {{0, y, 1}, {0, y, 1}};
    case Work::Far:
      return dims == 1 ? Reach{{0, 0, 2}, {0, 0, 1}, true} : Reach{{0, 2, 1}, {0, 1, 2}, true};
    case Work::Right:
      return {{0, 0, 0}, {0, 0, 1}};
    case Work::Down:
      return {{0, 0, 0}, {0, y, dims == 1 ? 2 : 0}};
    case Work::Wide:
      return {{0, 0, 3}, {0, 0, 3}};
    case Work::Scatter:
    case Work::Cond:
      return {{0, 0, 1}, {0, 0, 0}};
    case Work::Clamp:
    case Work::Look:
    case Work::Gather:
    case Work::Spread:
      return {{0, 0, 0}, {0, 0, 0}, false};
    default:
      return {};
  }
}

Point sizesOf(const Box& box) { return {box.extent(0), box.extent(1), box.extent(2)}; }

}  // namespace

Box neededFor(Work work, int dims, const Box& core, const Box& full) {
  const Reach reach = reachOf(work, dims);
  if (!reach.known) return full;
  return Box{core.lo - reach.before, core.hi + reach.after}.intersect(full);
}

std::vector<Cell> PartLaunch::run(std::size_t part, Belief out, Belief in) const {
  const Box& outBox = out_.split[part].full;
  std::vector<Cell> cells;
  forEachCell(outBox,
              [&](const Point& p) { cells.push_back(out_.field->seen(out_.split, part, p, out)); });
  Item item;
  item.sizes = sizesOf(outBox);
  item.c = c_[part];
  item.d = d_[part];
  item.dims = dims_;
  item.out = [&](const Point& p) -> Cell& { return cells.at(outBox.offset(p + outBox.lo)); };
  if (in_.field != nullptr) {
    const Box& inBox = in_.split[part].full;
    item.in = [&, inBox](const Point& p) {
      return in_.field->seen(in_.split, part, p + inBox.lo, in);
    };
  }
  forEachCell({{0, 0, 0}, item.sizes}, [&](const Point& p) {
    item.at = p;
    runItem(work_, item);
  });
  return cells;
}

PartLaunch::PartLaunch(Work work, int dims, const PartArgument& out, const PartArgument& in,
                       const std::vector<unsigned>& c, const std::vector<unsigned>& d)
    : work_(work), dims_(dims), out_(out), in_(in), c_(c), d_(d) {
  for (std::size_t part = 0; part < out.split.size(); ++part) {
    cores_.push_back(run(part, coreBelief(out), coreBelief(in)));
    ghosts_.push_back(run(part, ghostBelief(out), ghostBelief(in)));
    const std::vector<Cell> right = run(part, Belief::Owners, Belief::Owners);
    const Part& self = out.split[part];
    forEachCell(self.core, [&](const Point& p) {
      const std::size_t at = self.full.offset(p);
      defined_ = defined_ && cores_.back()[at].known;
      wrong_ = wrong_ || cores_.back()[at].value != right[at].value;
    });
    if (in.field == nullptr) continue;
    const Box core{self.core.lo - self.full.lo + in.split[part].full.lo,
                   self.core.hi - self.full.lo + in.split[part].full.lo};
    mayBeWrong_ =
        mayBeWrong_ ||
        in.field->mayBeStale(in.split, part, neededFor(work, dims, core, in.split[part].full));
  }
}

void PartLaunch::commit() const {
  Field& field = *out_.field;
  if (in_.field != nullptr && in_.autoSync) in_.field->mayHaveSynced();
  if (!field.isSplitAs(out_.split)) field.adopt(out_.split);
  field.noteLaunch();
  for (std::size_t part = 0; part < out_.split.size(); ++part) {
    const Part& self = out_.split[part];
    forEachCell(self.full, [&](const Point& p) {
      const std::size_t at = self.full.offset(p);
      if (self.core.has(p)) {
        field.setCore(p, cores_[part][at].value);
      } else {
        field.setGhost(part, p, ghosts_[part][at]);
      }
    });
  }
}

void launchOnWhole(Work work, int dims, Field& out, const Box& outBox, const Field* in,
                   const Box& inBox, unsigned c, unsigned d) {
  std::vector<Cell> cells;
  forEachCell(outBox, [&](const Point& p) { cells.push_back({out.value(p)}); });
  std::vector<char> written(cells.size(), 0);
  Item item;
  item.sizes = sizesOf(outBox);
  item.c = c;
  item.d = d;
  item.dims = dims;
  item.out = [&](const Point& p) -> Cell& {
    written[outBox.offset(p + outBox.lo)] = 1;
    return cells.at(outBox.offset(p + outBox.lo));
  };
  item.in = [&](const Point& p) { return Cell{in->value(p + inBox.lo)}; };
  forEachCell({{0, 0, 0}, item.sizes}, [&](const Point& p) {
    item.at = p;
    runItem(work, item);
  });
  forEachCell(outBox, [&](const Point& p) {
    const std::size_t at = outBox.offset(p);
    if (written[at] && (hasInput(work) || cells[at].value != out.value(p)))
      out.write(p, cells[at].value);
  });
  out.mayHaveWritten(outBox);
}

}  // namespace programs
