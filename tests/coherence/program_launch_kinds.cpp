// SPDX-License-Identifier: Apache-2.0
// Random programs: launches on one device, annotated, divided by the library, on views.
#include <fmt/format.h>

#include <algorithm>

#include "program.h"

namespace coherence_model {

using namespace hpl::coherence;

namespace {

std::string show(const Kernel& kernel) {
  const auto margins = [](const ghosts_model::Reach& r) {
    return fmt::format("{} {} {} {}", r.beforeY, r.afterY, r.beforeX, r.afterX);
  };
  return fmt::format("{} (reads {}, leaves {}{})", kernel.seed, margins(kernel.reach),
                     margins(kernel.rim), kernel.skipsSome ? " and every third" : "");
}

}  // namespace

// ---- kinds of launches -----------------------------------------------------------------------

namespace {

Use useOf(const Work& work, int operand, const Box& cells) {
  Use use;
  use.operand = operand;
  use.reads = work.read;
  use.writes = work.write;
  use.overwrites = work.overwrites;
  use.device = work.device;
  use.cells = cells;
  use.isView = work.isView;
  use.isSlice = work.isSlice;
  return use;
}

Work outputOf(int array, SpaceId device, const Rect& cells, const Kernel& kernel, bool hasInput) {
  Work work;
  work.array = array;
  work.device = device;
  work.cells = cells;
  work.write = true;
  work.read = !hasInput;
  const auto& rim = kernel.rim;
  work.overwrites = hasInput && !kernel.skipsSome && rim.beforeY == 0 && rim.afterY == 0 &&
                    rim.beforeX == 0 && rim.afterX == 0;
  return work;
}

Work inputOf(int array, SpaceId device, const Rect& cells) {
  Work work;
  work.array = array;
  work.device = device;
  work.cells = cells;
  work.read = true;
  return work;
}

}  // namespace

void Program::launchOnOne() {
  Past past;
  past.kernel = randomKernel();
  past.hasInput = oneIn(2);
  const int out = below(2);
  const SpaceId device = randomDevice();
  const Rect cells = oneIn(2) ? subject(out).field.whole() : randomRect();
  const bool isView = !(cells == subject(out).field.whole());
  past.works.push_back(outputOf(out, device, cells, past.kernel, past.hasInput));
  past.operands = {out};
  if (past.hasInput) {
    past.works.push_back(inputOf(1 - out, device, moved(cells)));
    past.operands.push_back(1 - out);
  }
  Launch launched;
  for (std::size_t w = 0; w < past.works.size(); ++w) {
    past.works[w].isView = isView;
    launched.uses.push_back(useOf(past.works[w], static_cast<int>(w), boxOf(past.works[w].cells)));
  }
  log_ += fmt::format("launch {} on {}: a{}{}{}\n", show(past.kernel), device, out, show(cells),
                      past.hasInput ? " <- " + show(past.works[1].cells) : "");
  past.operation = operation(std::move(launched));
  launch(past);
  past_.push_back(std::move(past));
}

void Program::launchAnnotated() {
  Past past;
  past.kernel = randomKernel();
  past.hasInput = !oneIn(4);
  past.refreshes = oneIn(2);
  const int out = below(2);
  Grid grid = randomGrid();
  const bool isBlocks = oneIn(6);
  const Cut outCut = isBlocks ? randomBlocks() : cutOf(grid);
  if (oneIn(4) && !grid.periodicX && !grid.periodicY) grid.after = below(kWidestGhosts + 1);
  const Cut inCut = isBlocks ? outCut : cutOf(grid);
  past.operands = {out};
  if (past.hasInput) past.operands.push_back(1 - out);
  for (const Part& part : outCut.model->parts) {
    if (part.full.empty()) continue;
    Work work = outputOf(out, part.device, part.full, past.kernel, past.hasInput);
    work.cut = outCut.model;
    past.works.push_back(work);
    if (!past.hasInput) continue;
    for (const Part& other : inCut.model->parts) {
      if (other.device != part.device) continue;
      past.works.push_back(inputOf(1 - out, other.device, other.full));
      past.works.back().cut = inCut.model;
    }
  }
  log_ += fmt::format(
      "annotated launch {} on a{}{}, {} parts, before {}, after {}, periodic {}{}{}\n",
      show(past.kernel), out, past.hasInput ? " <-" : "", outCut.model->parts.size(), grid.before,
      grid.after, grid.periodicY, grid.periodicX, past.refreshes ? ", AUTO_SYNC" : "");
  std::shared_ptr<const PartFacts> facts;
  if (past.refreshes || oneIn(2))
    facts = std::make_shared<const PartFacts>(factsOf(past.kernel,
                                                      rank_ == 2 && (isBlocks || grid.splitsY()),
                                                      isBlocks || grid.splitsX(), past.refreshes));
  Launch launched;
  for (std::size_t operand = 0; operand < past.operands.size(); ++operand) {
    Use use = useOf(past.works[operand], static_cast<int>(operand), Box());
    use.distribution = operand == 0 ? outCut.planned : inCut.planned;
    use.facts = facts;
    launched.uses.push_back(std::move(use));
  }
  past.operation = operation(std::move(launched));
  launch(past);
  past_.push_back(std::move(past));
}

// The library has found the parts: rows, or pieces of a vector, and what they need of the input.
void Program::launchSlices() {
  Past past;
  past.kernel = randomKernel();
  past.hasInput = oneIn(2);
  past.kernel.rim = {};
  const int out = below(2);
  const std::vector<SpaceId> devices = randomDevices(4);
  const Rect all = oneIn(2) ? subject(out).field.whole() : randomRect();
  past.operands = {out};
  if (past.hasInput) past.operands.push_back(1 - out);
  const int length = rank_ == 2 ? all.height() : all.width();
  const int parts = static_cast<int>(devices.size());
  Launch launched;
  for (int i = 0; i < parts; ++i) {
    const int lo = length * i / parts, hi = length * (i + 1) / parts;
    if (lo == hi) continue;
    Rect slice = all;
    (rank_ == 2 ? slice.y0 : slice.x0) = lo + (rank_ == 2 ? all.y0 : all.x0);
    (rank_ == 2 ? slice.y1 : slice.x1) = hi + (rank_ == 2 ? all.y0 : all.x0);
    const SpaceId device = devices[static_cast<std::size_t>(i)];
    past.works.push_back(outputOf(out, device, slice, past.kernel, past.hasInput));
    past.works.back().isSlice = parts > 1;
    if (past.hasInput) past.works.push_back(inputOf(1 - out, device, slice));
  }
  const std::size_t perDevice = past.hasInput ? 2 : 1;
  for (std::size_t w = 0; w < past.works.size(); ++w)
    launched.uses.push_back(
        useOf(past.works[w], static_cast<int>(w % perDevice), boxOf(past.works[w].cells)));
  log_ +=
      fmt::format("launch {} of a{}{} in {} slices\n", show(past.kernel), out, show(all), parts);
  past.operation = operation(std::move(launched));
  launch(past);
  past_.push_back(std::move(past));
}

// Views that were cut by hand, at once or one by one.
void Program::launchViews() {
  const Kernel kernel = randomKernel();
  const std::vector<Rect>& views = views_[static_cast<std::size_t>(below(2))];
  const std::vector<SpaceId> devices = randomDevices(4);
  const std::size_t count = std::min(views.size(), devices.size());
  if (count == 0) return;
  const bool atOnce = oneIn(2), hasInput = oneIn(2);
  const int out = below(2);
  Past past;
  Launch launched;
  const auto start = [&] {
    past.kernel = kernel;
    past.hasInput = hasInput;
    past.operands = {out};
    if (hasInput) past.operands.push_back(1 - out);
    past.operation = operation(std::move(launched));
    launch(past);
    past_.push_back(std::move(past));
    past = {};
    launched = {};
  };
  for (std::size_t i = 0; i < count; ++i) {
    log_ += fmt::format("launch {} on {}: view a{}{}{}\n", show(kernel), devices[i], out,
                        show(views[i]), atOnce ? " at once" : "");
    Work works[2] = {outputOf(out, devices[i], views[i], kernel, hasInput),
                     inputOf(1 - out, devices[i], views[i])};
    for (int w = 0; w < (hasInput ? 2 : 1); ++w) {
      works[w].isView = true;
      past.works.push_back(works[w]);
      launched.uses.push_back(useOf(works[w], w, boxOf(works[w].cells)));
    }
    if (!atOnce) start();
  }
  if (atOnce) start();
}

void Program::repeat() {
  if (past_.empty()) return;
  const int back = oneIn(2) ? 1 : 1 + below(static_cast<int>(past_.size()));
  const Past past = past_[past_.size() - static_cast<std::size_t>(back)];
  for (int n = 1 + below(3); n > 0; --n) {
    log_ += fmt::format("repeat the launch {} back\n", back);
    moves_.clear();
    launch(past);
  }
}

}  // namespace coherence_model
