// SPDX-License-Identifier: Apache-2.0
// Random programs: how a launch is carried out, by the model and in memory.
#include <fmt/format.h>

#include <algorithm>

#include "program.h"

namespace coherence_model {

using namespace hpl::coherence;

namespace {

int mix(int a, int b) {
  const auto x = static_cast<unsigned>(a) * 2654435761U + static_cast<unsigned>(b) * 40503U + 17U;
  return static_cast<int>((x ^ (x >> 15)) % 100000U);
}

}  // namespace

// ---- kernels ----------------------------------------------------------------------------------

// The value that a work-item reads of the input at (y, x) of the output: the input counts from its
// own lower corner. Beyond the device's cells there is rubbish, beyond the array nothing.
int Program::input(const Work& out, const Work& in, const Part* part, int y, int x, bool inMemory) {
  const int i = y - out.cells.y0 + in.cells.y0, j = x - out.cells.x0 + in.cells.x0;
  Subject& source = subject(in.array);
  if (in.cells.has(i, j)) {
    if (!inMemory) return source.field.seen(in.place, part, i, j);
    const auto s = static_cast<std::size_t>(in.place);
    const std::size_t cell = source.field.at(i, j);
    const bool isOwn = part != nullptr && source.field.kept[s][cell];
    return isOwn ? source.memory.ofPart[s][cell] : source.memory.ofArray[s][cell];
  }
  if (in.cut == nullptr) return 0;
  bool isPeriodicY = false, isPeriodicX = false;
  for (const Part& other : in.cut->parts) {
    isPeriodicY = isPeriodicY || other.full.y0 < 0 || other.full.y1 > height_;
    isPeriodicX = isPeriodicX || other.full.x0 < 0 || other.full.x1 > width_;
  }
  const bool isBeyond =
      ((i < 0 || i >= height_) && !isPeriodicY) || ((j < 0 || j >= width_) && !isPeriodicX);
  return isBeyond ? 0 : 100000 + in.device;
}

std::vector<int> Program::compute(const Work& out, const Work& in, const Kernel& kernel,
                                  bool inMemory) {
  Subject& target = subject(out.array);
  const Part* inPart = subject(in.array).field.roleOf(in);
  const Part* outPart = target.field.roleOf(out);
  const Rect inner{out.cells.y0 + kernel.rim.beforeY, out.cells.y1 - kernel.rim.afterY,
                   out.cells.x0 + kernel.rim.beforeX, out.cells.x1 - kernel.rim.afterX};
  std::vector<int> results;
  forEachCell(out.cells, [&](int y, int x) {
    const bool skips = kernel.skipsSome && target.field.homeOf(y, x) % 3 == 0;
    if (!out.overwrites && (!inner.has(y, x) || skips)) {
      results.push_back(input(out, out, outPart, y, x, inMemory));
      return;
    }
    int value = kernel.seed;
    for (int i = -kernel.reach.beforeY; i <= kernel.reach.afterY; ++i)
      for (int j = -kernel.reach.beforeX; j <= kernel.reach.afterX; ++j)
        value = mix(value, in.read ? input(out, in, inPart, y + i, x + j, inMemory) : 0);
    results.push_back(value);
  });
  return results;
}

// ---- carrying out a launch -------------------------------------------------------------------

// A part overwrites its copy of a cell that another part will own and does not write itself.
bool Program::isStranded(const std::vector<Work>& works, const Work& work, int y, int x) {
  Field& field = subject(work.array).field;
  const CutPtr then = cutViews(field.future.parts, field.future.round, height_, width_);
  const Part* part = Field::partOn(then, work.device, work.cells);
  if (part == nullptr || !then->hasGhosts() || field.owns(*part, y, x)) return false;
  for (const Work& other : works) {
    if (&other == &work || other.array != work.array || !other.write) continue;
    const Part* owner = Field::partOn(then, other.device, other.cells);
    if (owner != nullptr && field.owns(*owner, y, x) && other.cells.has(y, x)) return false;
  }
  return field.heirOf(y, x) < 0;
}

void Program::modelBefore(std::vector<Work>& works, const StepPtr& step,
                          const std::vector<int>& operands) {
  for (std::size_t operand = 0; operand < operands.size(); ++operand) {
    Field& field = subject(operands[operand]).field;
    if (step->exchanged[operand]) {
      field.exchange(static_cast<int>(operand), moves_);
      for (std::size_t s = 0; s < field.current.size(); ++s)
        for (std::size_t cell = 0; cell < field.cellCount(); ++cell)
          if (field.current[s][cell] && !field.kept[s][cell])
            subject(operands[operand]).memory.ofPart[s][cell] =
                subject(operands[operand]).memory.ofArray[s][cell];
    }
    field.snapshot();
    const auto isHere = [&](const Work& work) { return work.array == operands[operand]; };
    for (Work& work : works)
      if (isHere(work)) work.place = field.spaceOf(work);
    for (const Work& work : works) {
      if (isHere(work) && (work.read || (work.write && !work.overwrites)))
        field.bring(work.place, work.cells, field.roleOf(work) != nullptr, Why::Contents,
                    static_cast<int>(operand), moves_);
    }
    const auto overwrites = [&](const Work& work, int y, int x) {
      const bool isPart = work.write && work.isView && work.cut == nullptr;
      return isHere(work) && work.place != kHosts && isPart && work.cells.has(y, x) &&
             isStranded(works, work, y, x);
    };
    if (field.written.empty()) continue;
    forEachCell(field.whole(), [&](int y, int x) {
      std::vector<SpaceId> devices;
      for (const Work& work : works)
        if (overwrites(work, y, x)) devices.push_back(work.device);
      std::sort(devices.begin(), devices.end());
      for (const SpaceId device : devices)
        field.save(device, y, x, static_cast<int>(operand), moves_, devices);
    });
  }
}

void Program::adoptViews(Subject& subject) {
  Field& field = subject.field;
  if (field.written.empty()) return;
  forEachCell(field.whole(), [&](int y, int x) {
    const SpaceId heir = field.heirOf(y, x);
    if (heir < 0) return;
    const auto s = static_cast<std::size_t>(heir);
    subject.memory.ofArray[s][field.at(y, x)] = subject.memory.ofPart[s][field.at(y, x)];
  });
  field.adoptViews();
}

void Program::modelAfter(const std::vector<Work>& works,
                         const std::vector<std::vector<int>>& results) {
  for (Subject& subject : subjects_) adoptViews(subject);
  for (const Work& work : works) {
    Field& field = subject(work.array).field;
    if (work.cut == nullptr || (!work.write && field.active != nullptr)) continue;
    if (work.write) {
      field.views = {};
      field.partsEnded = false;
    }
    field.adopt(work.cut);
  }
  for (std::size_t w = 0; w < works.size(); ++w) {
    const Work& work = works[w];
    if (!work.write) continue;
    Field& field = subject(work.array).field;
    const Part* found = field.roleOf(work);
    if (found == nullptr && work.isSlice) field.partsEnded = true;
    const CutPtr keep = field.active;
    std::size_t next = 0;
    forEachCell(work.cells, [&](int y, int x) {
      if (found != nullptr) {
        field.writePart(work.place, *found, y, x, results[w][next++]);
      } else {
        field.write(work.place, y, x, results[w][next++]);
      }
    });
  }
  // The devices may have written all of an array together.
  for (Subject& subject : subjects_) {
    Field& field = subject.field;
    field.endLaunch();
    std::vector<char> covered(field.cellCount(), 0);
    for (const Work& work : works)
      if (&this->subject(work.array) == &subject && work.write && work.cut == nullptr &&
          !(work.isView && !(work.cells == field.whole())))
        forEachCell(work.cells, [&](int y, int x) { covered[field.at(y, x)] = 1; });
    bool all = !field.views.parts.empty();
    forEachCell(field.whole(), [&](int y, int x) { all = all && covered[field.at(y, x)]; });
    if (all) field.views.ended = true;
  }
}

// AUTO_SYNC: no core is computed from a ghost that is out of date, as far as the parts reach.
void Program::checkCores(const std::vector<Work>& works, const Kernel& kernel) {
  for (std::size_t w = 0; w + 1 < works.size(); w += 2) {
    const Work &out = works[w], &in = works[w + 1];
    const Part* part = subject(in.array).field.roleOf(in);
    if (part == nullptr || !(out.cells == in.cells)) continue;
    const Field& field = subject(in.array).field;
    const Part* outPart = Field::partOn(out.cut, out.device, out.cells);
    forEachCell(outPart->core, [&](int y, int x) {
      for (int i = -kernel.reach.beforeY; i <= kernel.reach.afterY; ++i)
        for (int j = -kernel.reach.beforeX; j <= kernel.reach.afterX; ++j)
          if (in.cells.has(y + i, x + j) &&
              field.seen(in.device, part, y + i, x + j) != field.seen(0, nullptr, y + i, x + j))
            fail(fmt::format("a core would be computed from the stale ghost ({}, {}) of device {}",
                             y + i, x + j, in.device));
    });
  }
}

void Program::launch(const Past& past) {
  std::vector<Work> works = past.works;
  moves_.clear();
  for (Subject& subject : subjects_) subject.field.written.clear();
  for (const Work& work : works) {
    Field& field = subject(work.array).field;
    if (work.write && work.isView && work.cut == nullptr && !(work.cells == field.whole()))
      field.written.push_back({work.device, work.cells, work.cells, 0, 0});
  }
  for (Subject& subject : subjects_)
    subject.field.future = viewsAfter(subject.field.views, subject.field.written, height_, width_);
  const StepPtr step = plan(past.operation, past.operands);
  carryOut(step, past.operands);
  modelBefore(works, step, past.operands);
  if (past.refreshes && past.hasInput) checkCores(works, past.kernel);
  std::vector<std::vector<int>> byModel, inMemory;
  const std::size_t perDevice = past.hasInput ? 2 : 1;
  for (std::size_t w = 0; w < works.size(); ++w) {
    byModel.emplace_back();
    inMemory.emplace_back();
    if (w % perDevice != 0) continue;
    const Work &out = works[w], &in = works[w + perDevice - 1];
    byModel.back() = compute(out, in, past.kernel, false);
    inMemory.back() = compute(out, in, past.kernel, true);
  }
  modelAfter(works, byModel);
  for (std::size_t w = 0; w < works.size(); ++w) {
    if (!works[w].write) continue;
    std::size_t next = 0;
    forEachCell(works[w].cells, [&](int y, int x) {
      put(subject(works[w].array), works[w].place, y, x, inMemory[w][next++]);
    });
  }
  finish(step, past.operands);
}

}  // namespace coherence_model
