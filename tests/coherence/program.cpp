// SPDX-License-Identifier: Apache-2.0
// Random programs: what they are made of, and how a step is carried out and compared.
#include "program.h"

#include "parcels_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "hpl/coherence/describe.h"

namespace coherence_model {

using namespace hpl::coherence;
using hpl::geometry::Point;

namespace {

Machine randomMachine(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const int devices = below(3) == 0 ? 1 + below(15) : 1 + below(5);
  std::vector<Space> spaces;
  const int ranks = 1 + below(3), contexts = 1 + below(3);
  const bool share = below(4) == 0;
  for (int d = 0; d < devices; ++d) {
    Space& space = spaces.emplace_back();
    space.rank = d * ranks / devices;
    space.node = space.rank / 2;
    space.context = below(contexts);
    space.sharesHosts = share && below(2) == 0;
  }
  return Machine(std::move(spaces));
}

// In the second process hardly any step is remembered.
constexpr Planner::Memory kForgetful{2, 8};

}  // namespace

std::string show(const ghosts_model::Rect& rect) {
  return fmt::format("[{}:{}, {}:{})", rect.y0, rect.y1, rect.x0, rect.x1);
}

Program::Program(std::uint32_t seed)
    : random_(seed),
      machine_(randomMachine(random_)),
      planner_(machine_),
      elsewhere_(machine_, kForgetful) {
  rank_ = oneIn(2) ? 1 : 2;
  height_ = rank_ == 1 ? 1 : 2 + below(5);
  width_ = rank_ == 1 ? 4 + below(20) : 2 + below(6);
  margin_ = oneIn(4) ? 3 : 0;
  log_ = fmt::format("seed {}: {} devices, {} x {}\n", seed, machine_.spaceCount() - 1, height_,
                     width_);
  makeSubjects();
  for (int i = 0; i < 2; ++i) {
    std::vector<Rect> cut;
    for (int n = 2 + below(3); n > 0; --n) {
      Rect r = randomRect();
      if (!(r == subject(0).field.whole())) cut.push_back(r);
    }
    views_.push_back(std::move(cut));
  }
}

void Program::makeSubjects() {
  for (int i = 0; i < 2; ++i) {
    Root root;
    root.number = i;
    root.extents =
        rank_ == 1 ? hpl::geometry::Extents{width_} : hpl::geometry::Extents{height_, width_};
    root.elementSize = sizeof(int);
    root.label = fmt::format("a{}", i);
    RootStates here(root, machine_.spaceCount()), there(root, machine_.spaceCount());
    Subject made{Field(machine_, height_, width_, margin_),
                 here,
                 there,
                 here.onHosts(),
                 there.onHosts(),
                 {}};
    std::fill(made.field.current[0].begin(), made.field.current[0].end(), 0);
    made.memory.ofArray.assign(static_cast<std::size_t>(machine_.spaceCount()),
                               std::vector<int>(made.field.cellCount(), -1));
    made.memory.ofPart = made.memory.ofArray;
    forEachCell(made.field.whole(), [&](int y, int x) {
      const std::size_t cell = made.field.at(y, x);
      made.field.current[0][cell] = 1;
      made.field.values[cell] = 100 * i + static_cast<int>(cell);
      put(made, kHosts, y, x, made.field.values[cell]);
    });
    subjects_.push_back(std::move(made));
  }
}

SpaceId Program::randomDevice() {
  for (;;) {
    const SpaceId device = 1 + below(machine_.spaceCount() - 1);
    if (machine_.isAlive(device)) return device;
  }
}

std::vector<SpaceId> Program::randomDevices(int most) {
  std::vector<SpaceId> devices;
  for (SpaceId d = 1; d < machine_.spaceCount(); ++d)
    if (machine_.isAlive(d)) devices.push_back(d);
  if (oneIn(4)) std::shuffle(devices.begin(), devices.end(), random_);
  const int count = oneIn(3) ? 1 + below(most) : most;
  if (static_cast<int>(devices.size()) > count) devices.resize(static_cast<std::size_t>(count));
  return devices;
}

Rect Program::randomRect() {
  const int y0 = below(height_), x0 = below(width_);
  return {y0, y0 + 1 + below(height_ - y0), x0, x0 + 1 + below(width_ - x0)};
}

Rect Program::moved(const Rect& r) {
  const int y = below(height_ - r.height() + 1), x = below(width_ - r.width() + 1);
  return {y, y + r.height(), x, x + r.width()};
}

Box Program::boxOf(const Rect& r) const {
  return rank_ == 1 ? Box({r.x0}, {r.x1}) : Box({r.y0, r.x0}, {r.y1, r.x1});
}

void Program::fail(const std::string& what) const {
  std::string states;
  for (const Subject& subject : subjects_) states += describe(*subject.state, machine_);
  throw std::runtime_error(fmt::format("{}\nafter:\n{}\n{}", what, log_, states));
}

void Program::run(int operations) {
  for (int i = 0; i < operations; ++i) one();
}

void Program::one() {
  moves_.clear();
  const int kind = below(100);
  if (kind < 8) return hostRead();
  if (kind < 15) return hostWrite();
  if (kind < 19) return fill();
  if (kind < 23) return localAccess();
  if (kind < 32) return assign();
  if (kind < 42) return exchange();
  if (kind < 45) return newCut();
  if (kind < 46) return loseDevice();
  if (kind < 47) return die();
  if (kind < 56) return launchOnOne();
  if (kind < 72) return launchAnnotated();
  if (kind < 77) return launchSlices();
  if (kind < 88) return launchViews();
  return repeat();
}

// ---- planning --------------------------------------------------------------------------------

StepPtr Program::plan(const OperationPtr& operation, const std::vector<int>& operands) {
  std::vector<StatePtr> here, there;
  for (const int i : operands) {
    here.push_back(subject(i).state);
    there.push_back(subject(i).stateElsewhere);
  }
  const StepPtr step = planner_.plan(operation, here);
  const StepPtr other = elsewhere_.plan(operation, there);
  compareProcesses(step, other);
  if (planner_.plan(operation, here) != step) fail("a repetition was planned anew");
  // The second process has planned nearly everything anew, from states of its own.
  const StepPtr anew = oneIn(4) ? planner_.planAnew(*operation, here) : step;
  if (!(anew->transfers == step->transfers) || anew->after != step->after ||
      anew->worksInHosts != step->worksInHosts || anew->site != step->site)
    fail("planning anew gives another step");
  for (std::size_t i = 0; i < operands.size(); ++i) {
    subject(operands[i]).state = step->after[i];
    subject(operands[i]).stateElsewhere = other->after[i];
  }
  return step;
}

// The second process has other states in its memory and plans nearly everything anew. Each rank
// expects what another one sends, in the same order, since their lists are equal.
void Program::compareProcesses(const StepPtr& here, const StepPtr& there) const {
  if (!(here->transfers == there->transfers)) fail("two processes plan different messages");
  for (std::size_t i = 0; i < here->after.size(); ++i)
    if (here->after[i]->hash() != there->after[i]->hash())
      fail("two processes know different things");
  // One rank more than have devices.
  const int ranks = machine_.space(machine_.spaceCount() - 1).rank + 2;
  const std::string defect = defectOfParcels(*here, *there, machine_, ranks);
  if (!defect.empty()) fail("messages with " + defect);
}

// ---- carrying out ----------------------------------------------------------------------------

void Program::put(Subject& to, SpaceId space, int y, int x, int value) {
  const auto s = static_cast<std::size_t>(space);
  to.memory.ofArray[s][to.field.at(y, x)] = value;
  to.memory.ofPart[s][to.field.at(y, x)] = value;
}

// To be called before the model changes. Transfers of one reason happen at once: all are read
// before any is written.
void Program::carryOut(const StepPtr& step, const std::vector<int>& operands) {
  const auto rectOf = [&](const Box& box) {
    const auto at = [](hpl::geometry::Index i) { return static_cast<int>(i); };
    if (rank_ == 1) return Rect{0, 1, at(box.lo(0)), at(box.hi(0))};
    return Rect{at(box.lo(0)), at(box.hi(0)), at(box.lo(1)), at(box.hi(1))};
  };
  for (const Why why : {Why::Exchange, Why::Save, Why::Contents, Why::Assign}) {
    std::vector<std::vector<int>> under;
    for (const Transfer transfer : step->transfers) {
      auto& values = under.emplace_back();
      if (transfer.why != why) continue;
      const Subject& from = subject(operands[static_cast<std::size_t>(transfer.fromOperand)]);
      const auto s = static_cast<std::size_t>(transfer.from);
      const auto& memory =
          transfer.read == Value::OfPart ? from.memory.ofPart[s] : from.memory.ofArray[s];
      forEachCell(rectOf(transfer.source()),
                  [&](int y, int x) { values.push_back(memory[from.field.at(y, x)]); });
    }
    for (std::size_t i = 0; i < step->transfers.size(); ++i) {
      const Transfer transfer = step->transfers[i];
      if (transfer.why != why) continue;
      Subject& to = subject(operands[static_cast<std::size_t>(transfer.toOperand)]);
      const auto s = static_cast<std::size_t>(transfer.to);
      std::size_t next = 0;
      forEachCell(rectOf(transfer.target), [&](int y, int x) {
        const std::size_t cell = to.field.at(y, x);
        to.memory.ofArray[s][cell] = under[i][next];
        // Transfers for readers of the array leave the values that a part has of its own.
        if (why != Why::Contents || !to.field.kept[s][cell])
          to.memory.ofPart[s][cell] = under[i][next];
        ++next;
      });
    }
  }
}

// A cell of which a space has the array's value alone looks the same to its part.
void Program::finish(const StepPtr& step, const std::vector<int>& operands) {
  for (const int i : operands) {
    Subject& subject = subjects_[static_cast<std::size_t>(i)];
    for (std::size_t s = 0; s < subject.field.current.size(); ++s)
      for (std::size_t cell = 0; cell < subject.field.cellCount(); ++cell)
        if (subject.field.current[s][cell] && !subject.field.kept[s][cell])
          subject.memory.ofPart[s][cell] = subject.memory.ofArray[s][cell];
  }
  compare(step, operands);
}

// ---- comparing -------------------------------------------------------------------------------

void Program::compare(const StepPtr& step, const std::vector<int>& operands) {
  compareMoves(step);
  for (const int i : operands) {
    compareCells(subject(i));
    compareTrust(subject(i));
  }
}

void Program::compareMoves(const StepPtr& step) {
  Moves planned;
  for (const Transfer t : step->transfers)
    planned[{t.why, t.fromOperand, t.toOperand, t.from, t.to}] +=
        static_cast<int>(t.target.volume());
  std::erase_if(moves_, [](const auto& entry) { return entry.second == 0; });
  if (planned == moves_) return;
  std::string wanted;
  for (const auto& [key, cells] : moves_)
    wanted += fmt::format("  {} cells, reason {}, operand {} on {} -> operand {} on {}\n", cells,
                          static_cast<int>(std::get<0>(key)), std::get<1>(key), std::get<3>(key),
                          std::get<2>(key), std::get<4>(key));
  const std::vector<Root> roots{subject(0).states.root(), subject(1).states.root()};
  fail(fmt::format("planned:\n{}but the model moves:\n{}",
                   describe(step->transfers, machine_, roots), wanted));
}

namespace {

std::vector<char> cellsOf(const hpl::geometry::Region& region, const Field& field, int rank) {
  std::vector<char> cells(field.cellCount(), 0);
  for (const Box& box : region) {
    const int y0 = rank == 1 ? 0 : static_cast<int>(box.lo(0));
    const int y1 = rank == 1 ? 1 : static_cast<int>(box.hi(0));
    const Rect r{y0, y1, static_cast<int>(box.lo(rank - 1)), static_cast<int>(box.hi(rank - 1))};
    forEachCell(r, [&](int y, int x) { ++cells[field.at(y, x)]; });
  }
  return cells;
}

}  // namespace

void Program::compareCells(Subject& subject) {
  const Field& field = subject.field;
  for (SpaceId space = 0; space < machine_.spaceCount(); ++space) {
    const auto s = static_cast<std::size_t>(space);
    const Copies copies = subject.state->copiesOf(space);
    const auto current = cellsOf(copies.current, field, rank_);
    const auto kept = cellsOf(copies.kept, field, rank_);
    const auto& ofArray = subject.memory.ofArray[s];
    const auto& ofPart = subject.memory.ofPart[s];
    forEachCell(field.all(), [&](int y, int x) {
      const std::size_t cell = field.at(y, x);
      const auto differ = [&](const char* what, int is, int should) {
        if (is != should)
          fail(fmt::format("{} ({}, {}) on {}: {} is {}, should be {}",
                           subject.states.root().describe(), y, x, machine_.describe(space), what,
                           is, should));
      };
      differ("current", current[cell], field.current[s][cell]);
      differ("kept", kept[cell], field.kept[s][cell]);
      if (current[cell]) differ("the value", ofArray[cell], field.values[field.homeOf(y, x)]);
      if (kept[cell]) differ("the part's value", ofPart[cell], field.keptValues[s][cell]);
    });
  }
}

// Whatever a part is said to have right has its owner's value.
void Program::compareTrust(Subject& subject) {
  const Field& field = subject.field;
  if (field.active == nullptr || field.active->isExplicit) return;
  for (SpaceId space = 1; space < machine_.spaceCount(); ++space) {
    const auto s = static_cast<std::size_t>(space);
    const auto trusted = cellsOf(subject.state->copiesOf(space).trusted, field, rank_);
    forEachCell(field.all(), [&](int y, int x) {
      const std::size_t cell = field.at(y, x);
      if (!trusted[cell] || !field.kept[s][cell]) return;
      const int value = field.values[field.homeOf(y, x)];
      if (field.keptValues[s][cell] != value)
        fail(fmt::format("{} ({}, {}) on {} is trusted, but is {} where its owner has {}",
                         subject.states.root().describe(), y, x, machine_.describe(space),
                         field.keptValues[s][cell], value));
    });
  }
}

}  // namespace coherence_model
