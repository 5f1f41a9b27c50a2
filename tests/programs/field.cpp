// SPDX-License-Identifier: Apache-2.0
#include "field.h"

#include <algorithm>

namespace programs {

Field::Field(const Box& whole) : whole_(whole), values_(whole.size()) {}

void Field::write(const Point& p, unsigned value) {
  setCore(p, value);
  for (std::size_t part = 0; part < split_.size(); ++part) ghost(part, p).state = Ghost::Ordinary;
}

void Field::mayHaveWritten(const Box& box) {
  for (std::size_t part = 0; part < split_.size(); ++part)
    forEachCell(box, [&](const Point& p) {
      Kept& kept = ghost(part, p);
      if (kept.state == Ghost::Kept && kept.value != value(p)) kept.state = Ghost::Unclear;
    });
}

void Field::mayHaveEnded() {
  mayHaveWritten(whole_);
  naming_ = Naming::Unclear;
}

Naming Field::namingOf(std::size_t part) const {
  const Box& cells = split_[part].full;
  const auto owners = std::count_if(split_.begin(), split_.end(),
                                    [&](const Part& other) { return other.full == cells; });
  return owners == 1 && cells != whole_ ? naming_ : Naming::Array;
}

void Field::syncGhosts() {
  for (auto& ofPart : ghosts_)
    for (Kept& kept : ofPart) kept.state = Ghost::Ordinary;
}

void Field::adopt(const Split& split) {
  split_ = split;
  ghosts_.assign(split.size(), std::vector<Kept>(whole_.size()));
}

Cell Field::seen(const Split& split, std::size_t part, const Point& p, Belief belief) const {
  const unsigned owners = value(p);
  if (belief == Belief::Owners || !isSplitAs(split) || split[part].core.has(p)) return {owners};
  const Kept& kept = ghost(part, p);
  if (kept.state == Ghost::Ordinary) return {owners};
  if (kept.state == Ghost::Unclear) return {0, false};
  return {kept.value, belief == Belief::Actual || kept.value == owners};
}

bool Field::mayBeStale(const Split& split, std::size_t part, const Box& cells) const {
  if (!isSplitAs(split)) return false;
  bool stale = false;
  forEachCell(cells, [&](const Point& p) {
    stale = stale || (!split[part].core.has(p) && ghost(part, p).state != Ghost::Ordinary);
  });
  return stale;
}

void Field::setGhost(std::size_t part, const Point& p, const Cell& cell) {
  ghost(part, p) = {cell.known ? Ghost::Kept : Ghost::Unclear, cell.value};
}

void Field::mayHaveSynced() { mayHaveWritten(whole_); }

void Field::writeThroughPart(const Point& p, unsigned value) {
  setCore(p, value);
  for (std::size_t part = 0; part < split_.size(); ++part) {
    Kept& kept = ghost(part, p);
    if (kept.state == Ghost::Ordinary) kept.state = Ghost::Unclear;
  }
}

}  // namespace programs
