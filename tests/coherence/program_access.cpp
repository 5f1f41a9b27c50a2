// SPDX-License-Identifier: Apache-2.0
// Random programs: host access, fills, assignments, exchanges, cuts and losses.
#include <fmt/format.h>

#include <algorithm>

#include "hpl/error.h"
#include "program.h"

namespace coherence_model {

using namespace hpl::coherence;

void Program::hostRead() {
  const int i = below(2);
  const Rect r = oneIn(3) ? subject(i).field.whole() : randomRect();
  log_ += fmt::format("read a{}{}\n", i, show(r));
  const StepPtr step = plan(operation(HostRead{boxOf(r)}), {i});
  carryOut(step, {i});
  Field& field = subject(i).field;
  field.snapshot();
  field.bring(kHosts, r, false, Why::Contents, 0, moves_);
  finish(step, {i});
}

void Program::hostWrite() {
  const int i = below(2);
  const Rect r = oneIn(4) ? subject(i).field.whole() : randomRect();
  const bool overwrites = oneIn(2);
  log_ += fmt::format("{} a{}{}\n", overwrites ? "overwrite" : "write some of", i, show(r));
  const StepPtr step = plan(operation(HostWrite{boxOf(r), overwrites}), {i});
  carryOut(step, {i});
  Field& field = subject(i).field;
  if (!overwrites) {
    field.snapshot();
    field.bring(kHosts, r, false, Why::Contents, 0, moves_);
  }
  field.writeAll(kHosts, r);
  if (overwrites) field.endIfWhole(r);
  forEachCell(r, [&](int y, int x) {
    if (!overwrites && !oneIn(3)) return;
    field.values[field.at(y, x)] = below(1000);
    put(subject(i), kHosts, y, x, field.values[field.at(y, x)]);
  });
  finish(step, {i});
}

void Program::writeWhole(int i) {
  moves_.clear();
  const Rect r = subject(i).field.whole();
  log_ += fmt::format("overwrite a{}\n", i);
  const StepPtr step = plan(operation(HostWrite{boxOf(r), true}), {i});
  carryOut(step, {i});
  Field& field = subject(i).field;
  field.writeAll(kHosts, r);
  field.endIfWhole(r);
  forEachCell(r, [&](int y, int x) {
    field.values[field.at(y, x)] = below(1000);
    put(subject(i), kHosts, y, x, field.values[field.at(y, x)]);
  });
  finish(step, {i});
}

// Rows or columns of a box, dealt to devices; a cell that neither the hosts nor its device have
// comes to the device.
void Program::localAccess() {
  const int i = below(2);
  const Rect r = oneIn(2) ? subject(i).field.whole() : randomRect();
  LocalAccess access;
  access.writes = oneIn(2);
  log_ += fmt::format("local {} of a{}{} on", access.writes ? "write" : "read", i, show(r));
  std::vector<std::pair<SpaceId, Rect>> dealt;
  for (int x = r.x0; x < r.x1;) {
    const int end = std::min(r.x1, x + 1 + below(width_));
    dealt.emplace_back(randomDevice(), Rect{r.y0, r.y1, x, end});
    access.parts.push_back({dealt.back().first, boxOf(dealt.back().second)});
    log_ += fmt::format(" {}", dealt.back().first);
    x = end;
  }
  log_ += "\n";
  const bool writes = access.writes;
  const StepPtr step = plan(operation(std::move(access)), {i});
  carryOut(step, {i});
  Field& field = subject(i).field;
  field.snapshot();
  for (const auto& [device, cells] : dealt) {
    forEachCell(cells, [&, d = device](int y, int x) {
      if (!field.current[0][field.at(y, x)])
        field.bring(d, {y, y + 1, x, x + 1}, false, Why::Contents, 0, moves_);
    });
  }
  for (const auto& [device, cells] : dealt) {
    if (!writes) break;
    forEachCell(cells, [&, d = device](int y, int x) {
      field.write(d, y, x, field.values[field.at(y, x)]);
      if (oneIn(2)) field.values[field.at(y, x)] = below(1000);
      put(subject(i), d, y, x, field.values[field.at(y, x)]);
    });
  }
  finish(step, {i});
}

// A view, made from the array, or from some device's part of it.
ViewOf Program::randomView(int i, Rect& r) {
  const Field& field = subject(i).field;
  ViewOf view{boxOf(r), {boxOf(field.whole())}};
  if (field.active == nullptr || !oneIn(2)) return view;
  const auto& parts = field.active->parts;
  const Part& part = parts[static_cast<std::size_t>(below(static_cast<int>(parts.size())))];
  if (part.full.empty() || !field.whole().contains(part.full)) return view;
  const int height = std::min(r.height(), part.full.height());
  const int width = std::min(r.width(), part.full.width());
  const int y = part.full.y0 + below(part.full.height() - height + 1);
  const int x = part.full.x0 + below(part.full.width() - width + 1);
  r = {y, y + height, x, x + width};
  return {boxOf(r), {boxOf(part.full), boxOf(field.whole())}};
}

const Part* Program::partCopyOf(const Field& field, const ViewOf& view) const {
  if (field.active == nullptr || !field.active->hasGhosts()) return nullptr;
  if (field.active->isExplicit ? field.views.ended : field.partsEnded) return nullptr;
  for (const Box& outer : view.madeFrom) {
    const Part* named = nullptr;
    int count = 0;
    for (const Part& part : field.active->parts) {
      if (part.full.empty() || boxOf(part.full) != outer || part.full == field.whole()) continue;
      named = &part;
      ++count;
    }
    if (count == 1) return named;
  }
  return nullptr;
}

void Program::fill() {
  const int i = below(2), value = below(1000);
  Rect r = oneIn(4) ? subject(i).field.whole() : randomRect();
  const ViewOf view = randomView(i, r);
  log_ += fmt::format("a{}{} = {}{}\n", i, show(r), value,
                      view.madeFrom.size() > 1 ? " through a part" : "");
  const StepPtr step = plan(operation(Fill{view}), {i});
  carryOut(step, {i});
  Field& field = subject(i).field;
  const Part* found = partCopyOf(field, view);
  const SpaceId site = found != nullptr ? found->device : field.shared(field.homeSpace(r));
  if (step->site != site) fail(fmt::format("filled on {}, should be on {}", step->site, site));
  if (found != nullptr) {
    field.snapshot();
    forEachCell(r, [&](int y, int x) {
      if (!field.owns(*found, y, x)) field.save(site, y, x, 0, moves_);
    });
    forEachCell(r, [&](int y, int x) { field.writePart(site, *found, y, x, value); });
  } else {
    forEachCell(r, [&](int y, int x) { field.write(site, y, x, value); });
    field.endIfWhole(r);
  }
  forEachCell(r, [&](int y, int x) { put(subject(i), site, y, x, value); });
  finish(step, {i});
}

void Program::assign() {
  const int to = below(2), from = below(2);
  Rect toRect = oneIn(4) ? subject(to).field.whole() : randomRect();
  ViewOf target = randomView(to, toRect);
  Rect fromRect = moved(toRect);
  if (oneIn(4)) fromRect = toRect;
  ViewOf source = randomView(from, fromRect);
  // The part that the source lies in may be smaller than the target.
  if (fromRect.height() != toRect.height() || fromRect.width() != toRect.width()) {
    toRect = {toRect.y0, toRect.y0 + fromRect.height(), toRect.x0, toRect.x0 + fromRect.width()};
    target.box = boxOf(toRect);
  }
  if (to == from && target == source) return;
  log_ +=
      fmt::format("a{}{}{} = a{}{}{}\n", to, show(toRect), target.madeFrom.size() > 1 ? "'" : "",
                  from, show(fromRect), source.madeFrom.size() > 1 ? "'" : "");
  const Part* toPart = partCopyOf(subject(to).field, target);
  const Part* fromPart = partCopyOf(subject(from).field, source);
  std::vector<int> operands{to};
  if (to != from) operands.push_back(from);
  const StepPtr step = plan(operation(Copy{target, to == from ? 0 : 1, source}), operands);
  carryOut(step, operands);
  const bool isWithinOneCopy =
      fromPart != nullptr && toPart != nullptr && to == from && fromPart->device == toPart->device;
  const bool keeps =
      fromPart != nullptr && subject(from).field.keepsSome(fromPart->device, fromRect);
  if (toPart != nullptr || keeps || isWithinOneCopy) {
    const bool reads = keeps || isWithinOneCopy;
    assignThroughPart(to, toRect, toPart, from, fromRect, reads ? fromPart : nullptr);
  } else if (to != from || !(toRect == fromRect)) {
    assignArrays(to, toRect, from, fromRect);
  }
  finish(step, operands);
}

void Program::assignThroughPart(int to, const Rect& toRect, const Part* target, int from,
                                const Rect& fromRect, const Part* source) {
  Field &dst = subject(to).field, &src = subject(from).field;
  const bool sameCells = to == from && toRect == fromRect;
  const int operand = to == from ? 0 : 1;
  SpaceId site = kHosts;
  if (target != nullptr) {
    site = target->device;
    if (sameCells && source != nullptr && source->device == target->device) return;
    if (sameCells && source == nullptr) {
      dst.snapshot();
      dst.bring(site, toRect, false, Why::Contents, 0, moves_);
      auto& kept = dst.kept[static_cast<std::size_t>(site)];
      forEachCell(toRect, [&](int y, int x) { kept[dst.at(y, x)] = 0; });
      return;
    }
    dst.snapshot();
    forEachCell(toRect, [&](int y, int x) {
      if (!dst.owns(*target, y, x)) dst.save(site, y, x, 0, moves_);
    });
  }
  src.snapshot();
  if (source != nullptr) src.bring(source->device, fromRect, true, Why::Contents, operand, moves_);
  std::vector<int> values;
  forEachCell(fromRect, [&](int y, int x) {
    const SpaceId there = source != nullptr ? source->device : src.sourceOf(site, src.at(y, x));
    ++moves_[{Why::Assign, operand, 0, there, site}];
    values.push_back(source != nullptr ? src.seen(there, source, y, x) : src.values[src.at(y, x)]);
  });
  std::size_t next = 0;
  forEachCell(toRect, [&](int y, int x) {
    if (target != nullptr) {
      dst.writePart(site, *target, y, x, values[next++]);
    } else {
      dst.write(site, y, x, values[next++]);
    }
  });
  if (target == nullptr) dst.endIfWhole(toRect);
}

// The rule of hpl/memory/contents.h: where both live; where the destination lives; where the source
// lives; on the hosts.
void Program::assignArrays(int to, const Rect& toRect, int from, const Rect& fromRect) {
  Field &dst = subject(to).field, &src = subject(from).field;
  SpaceId both = -1, holder = -1;
  for (SpaceId space = machine_.spaceCount() - 1; space > 0; --space) {
    if (!src.allCurrent(space, fromRect)) continue;
    holder = space;
    if (dst.allCurrent(space, toRect)) both = space;
  }
  const SpaceId home = dst.homeSpace(toRect);
  const SpaceId site = dst.shared(both > 0 ? both : home > 0 ? home : holder > 0 ? holder : kHosts);
  src.snapshot();
  std::vector<int> values;
  forEachCell(fromRect, [&](int y, int x) {
    ++moves_[{Why::Assign, to == from ? 0 : 1, 0, src.sourceOf(site, src.at(y, x)), site}];
    values.push_back(src.values[src.at(y, x)]);
  });
  std::size_t next = 0;
  forEachCell(toRect, [&](int y, int x) { dst.write(site, y, x, values[next++]); });
  dst.endIfWhole(toRect);
}

void Program::exchange() {
  const int i = below(2), count = 1 + below(2);
  std::vector<int> operands{i};
  if (count == 2) operands.push_back(1 - i);
  log_ += fmt::format("sync a{}{}\n", i, count == 2 ? " and the other" : "");
  const StepPtr step = plan(operation(Exchange{count}), operands);
  carryOut(step, operands);
  for (int operand = 0; operand < count; ++operand)
    subject(operands[static_cast<std::size_t>(operand)]).field.exchange(operand, moves_);
  finish(step, operands);
}

void Program::newCut() {
  const int i = below(2);
  const Cut cut = oneIn(4) ? randomBlocks() : cutOf(randomGrid());
  log_ += fmt::format("cut a{} anew\n", i);
  const StepPtr step = plan(operation(NewCut{cut.planned}), {i});
  carryOut(step, {i});
  Field& field = subject(i).field;
  field.views = {};
  field.partsEnded = false;
  field.adopt(cut.model);
  finish(step, {i});
}

void Program::die() {
  const int i = below(2);
  log_ += fmt::format("a{} dies and is made anew\n", i);
  Subject& dying = subject(i);
  const StepPtr step = plan(operation(ArrayDeath{true}), {i});
  carryOut(step, {i});
  Field& field = dying.field;
  field.snapshot();
  field.bring(kHosts, field.whole(), false, Why::Contents, 0, moves_);
  forEachCell(field.whole(), [&](int y, int x) {
    if (dying.memory.ofArray[0][field.at(y, x)] != field.values[field.at(y, x)])
      fail("the user's memory did not get the array's values");
  });
  field.endDistribution();
  for (auto& space : field.current) std::fill(space.begin(), space.end(), 0);
  finish(step, {i});
  if (dying.state != dying.states.undefined()) fail("a dead array is known");
  writeWhole(i);
}

void Program::loseDevice() {
  int alive = 0;
  for (SpaceId d = 1; d < machine_.spaceCount(); ++d) alive += machine_.isAlive(d);
  if (alive < 2) return;
  const SpaceId device = randomDevice();
  log_ += fmt::format("device {} is lost\n", device);
  machine_ = machine_.without(device);
  planner_.lose(device);
  elsewhere_.lose(device);
  std::erase_if(past_, [&](const Past& past) {
    return std::any_of(past.works.begin(), past.works.end(),
                       [&](const Work& work) { return work.device == device; });
  });
  for (int i = 0; i < 2; ++i) {
    moves_.clear();
    const StepPtr step = plan(operation(DeviceDeath{device}), {i});
    carryOut(step, {i});
    Field& field = subject(i).field;
    field.loseDevice(device);
    finish(step, {i});
    hpl::geometry::Region lost;
    for (const LostCells& entry : subject(i).state->lost()) lost.add(entry.cells);
    hpl::geometry::Index count = 0;
    forEachCell(field.whole(), [&](int y, int x) {
      if (!field.lost[field.at(y, x)]) return;
      ++count;
      if (!lost.contains(boxOf({y, y + 1, x, x + 1}))) fail("a lost cell is not named");
    });
    if (lost.volume() != count) fail("a cell is called lost that is not");
    if (count == 0) continue;
    try {
      plan(operation(HostRead{boxOf(field.whole())}), {i});
    } catch (const hpl::DeviceError&) {
      writeWhole(i);
      continue;
    }
    fail("lost cells could be read");
  }
}

}  // namespace coherence_model
