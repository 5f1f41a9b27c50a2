// SPDX-License-Identifier: Apache-2.0
// Programs, step by step, by the library and by the model.
#include <fmt/format.h>

#include <exception>
#include <memory>
#include <random>

#include "field.h"
#include "hpl/memory/detail/recording.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/settings.h"
#include "library.h"

using namespace hpl;

namespace programs {

std::vector<Device> allDevices() { return devices(defaultDevice().type()); }

namespace {

/// Settings of a program, undone at its end.
class ProgramSettings {
 public:
  explicit ProgramSettings(const Program& program) : before_(runtime::settings()) {
    runtime::Settings wanted = before_;
    wanted.checkGhosts = program.checked;
    if (program.overlaps) wanted.overlap = runtime::Overlap::On;
    runtime::overrideSettings(wanted);
  }
  ProgramSettings(const ProgramSettings&) = delete;
  ProgramSettings& operator=(const ProgramSettings&) = delete;
  ~ProgramSettings() { runtime::overrideSettings(before_); }

 private:
  runtime::Settings before_;
};

/// A way to run a program, undone at its end.
class OnThisWay {
 public:
  OnThisWay(const Program& program, const Way& way) {
    memory::detail::replayOperations(way.replays);
    for (const Device& device : allDevices()) {
      limits_.push_back(device.state().memoryLimit());
      if (way.memory == 0) continue;
      const double bytes = way.memory * static_cast<double>(program.whole.size() * sizeof(int));
      device.state().setMemoryLimit(device.state().memoryUsed() + static_cast<std::size_t>(bytes));
    }
  }
  OnThisWay(const OnThisWay&) = delete;
  OnThisWay& operator=(const OnThisWay&) = delete;
  ~OnThisWay() {
    memory::detail::replayOperations(true);
    std::size_t i = 0;
    for (const Device& device : allDevices()) device.state().setMemoryLimit(limits_[i++]);
  }

 private:
  std::vector<std::size_t> limits_;
};

/// A view that a launch has made a part.
struct WrittenView {
  int device;
  Box box;
};

/// An array of the library and its model.
template <int N>
struct Slot {
  std::unique_ptr<std::byte[]> memory;
  int* user = nullptr;  ///< the program's memory; null: the library's
  std::unique_ptr<Array<int, N>> array;
  std::unique_ptr<Field> field;
  std::vector<WrittenView> views;
};

template <int N>
class Run {
 public:
  explicit Run(const Program& program) : program_(program), settings_(program) {
    for (int i = 0; i < kArrays; ++i) {
      make(slots_[static_cast<std::size_t>(i)], i == 0 && program.userMemory);
      Op first;
      first.kind = Kind::Overwrite;
      first.a = i;
      first.seed = static_cast<unsigned>(i);
      step(first);
    }
  }

  std::string run(std::vector<std::string>* listing, int rounds = 1) {
    for (const Op& op : program_.ops) {
      for (int round = 0; round < rounds; ++round) {
        details_.clear();
        const bool meant = step(op);
        if (listing != nullptr && meant) listing->push_back(show(op, program_) + details_);
        if (!wrong_.empty()) return wrong_ + " at: " + show(op, program_);
      }
    }
    for (int i = 0; i < kArrays && wrong_.empty(); ++i) {
      read(at(i), program_.whole, i);
      finish(at(i), i);
    }
    return wrong_.empty() ? "" : wrong_ + " at the end";
  }

 private:
  Slot<N>& at(int i) { return slots_[static_cast<std::size_t>(i)]; }
  Array<int, N>& view(int i, const Box& box) { return viewOf(*at(i).array, program_.whole, box); }

  void make(Slot<N>& slot, bool isUser);
  void finish(Slot<N>& slot, int number);
  /// False: the operation means nothing here, and was left out.
  bool step(const Op& op);
  void read(Slot<N>& slot, const Box& box, int number);
  void writeCells(const Op& op);
  void overwrite(const Op& op);
  void assign(const Op& op);
  bool onWhole(const Op& op);
  bool onParts(const Op& op);
  bool throughPart(const Op& op);
  Box drawPartBox(std::mt19937& random, const Part& part) const;
  void launchParts(const Op& op, const PartLaunch& model);

  const Program& program_;
  ProgramSettings settings_;
  Slot<N> slots_[kArrays];
  std::string wrong_;
  /// Further details of an operation in the listing.
  std::string details_;
};

template <int N>
void Run<N>::make(Slot<N>& slot, bool isUser) {
  const Point& n = program_.whole.hi;
  if (isUser) {
    const std::size_t alignment = runtime::DeviceState::hostAlignment;
    const std::size_t bytes = program_.whole.size() * sizeof(int);
    std::size_t space = bytes + alignment;
    slot.memory = std::make_unique<std::byte[]>(space);
    void* start = slot.memory.get();
    slot.user = static_cast<int*>(std::align(alignment, bytes, start, space));
  }
  if constexpr (N == 1) {
    slot.array = slot.user ? std::make_unique<Array<int, 1>>(n[2], slot.user)
                           : std::make_unique<Array<int, 1>>(n[2]);
  } else if constexpr (N == 2) {
    slot.array = slot.user ? std::make_unique<Array<int, 2>>(n[1], n[2], slot.user)
                           : std::make_unique<Array<int, 2>>(n[1], n[2]);
  } else {
    slot.array = slot.user ? std::make_unique<Array<int, 3>>(n[0], n[1], n[2], slot.user)
                           : std::make_unique<Array<int, 3>>(n[0], n[1], n[2]);
  }
  slot.field = std::make_unique<Field>(program_.whole);
}

// The program's memory has the values when the array is gone.
template <int N>
void Run<N>::finish(Slot<N>& slot, int number) {
  slot.array.reset();
  if (slot.user == nullptr || !wrong_.empty() || isDryRun()) return;
  forEachCell(program_.whole, [&](const Point& p) {
    const auto found = static_cast<unsigned>(slot.user[program_.whole.offset(p)]);
    if (found != slot.field->value(p)) wrong_ = fmt::format("user memory of a{} is wrong", number);
  });
}

template <int N>
void Run<N>::read(Slot<N>& slot, const Box& box, int number) {
  std::vector<int> found(box.size());
  viewOf(*slot.array, program_.whole, box).copyTo(found.data());
  forEachCell(box, [&](const Point& p) {
    const int value = found[box.offset(p)];
    const int wanted = static_cast<int>(slot.field->value(p));
    if (value != wanted && wrong_.empty() && !isDryRun())
      wrong_ = fmt::format("a{}({}, {}, {}) is {}, should be {}", number, p[0], p[1], p[2], value,
                           wanted);
  });
}

template <int N>
void Run<N>::writeCells(const Op& op) {
  std::mt19937 random(op.seed);
  Array<int, N>& target = view(op.a, op.box);
  forEachCell(op.box, [&](const Point& p) {
    if (p != op.box.lo && random() % 3 != 0) return;
    const int value = static_cast<int>(random() % 1000);
    element(target, p - op.box.lo) = value;
    at(op.a).field->write(p, static_cast<unsigned>(value));
  });
  at(op.a).field->mayHaveWritten(op.box);
}

template <int N>
void Run<N>::overwrite(const Op& op) {
  std::mt19937 random(op.seed);
  std::vector<int> values(program_.whole.size());
  for (int& value : values) value = static_cast<int>(random() % 1000);
  if (op.kind == Kind::Data) {
    int* data = at(op.a).array->data(op.seed % 2 ? HPL_WR : HPL_RDWR);
    std::copy(values.begin(), values.end(), data);
  } else {
    at(op.a).array->copyFrom(values.data());
  }
  forEachCell(program_.whole, [&](const Point& p) {
    at(op.a).field->write(p, static_cast<unsigned>(values[program_.whole.offset(p)]));
  });
}

template <int N>
void Run<N>::assign(const Op& op) {
  view(op.a, op.box) = view(op.b, op.from);
  std::vector<unsigned> values;
  forEachCell(op.from, [&](const Point& p) { values.push_back(at(op.b).field->value(p)); });
  forEachCell(op.box, [&](const Point& p) { at(op.a).field->write(p, values[op.box.offset(p)]); });
}

// Launches that see the arrays as one.
template <int N>
bool Run<N>::onWhole(const Op& op) {
  if (op.a == op.b) return false;
  Slot<N>& out = at(op.a);
  const Box& whole = program_.whole;
  const bool alone = op.devices.size() == 1;
  if (!alone) {
    // Views may be too small for several devices, and other views may be parts.
    out.field->noteDivided(op.box == whole && out.views.empty());
  } else if (!(op.box == whole)) {
    // Displaced views of different devices would be parts.
    const int device = op.devices.front();
    for (const WrittenView& other : out.views) {
      const bool related = other.device != device && !other.box.intersect(op.box).empty() &&
                           !other.box.contains(op.box) && !op.box.contains(other.box);
      if (related) return false;
    }
    out.views.push_back({device, op.box});
    out.field->mayHaveEnded();
  }
  launch<N>(op, *out.array, view(op.a, op.box), view(op.b, op.from));
  Field* in = hasInput(op.work) ? at(op.b).field.get() : nullptr;
  launchOnWhole(op.work, N, *out.field, op.box, in, op.from, static_cast<unsigned>(op.c.value),
                static_cast<unsigned>(op.d.value));
  return true;
}

// One value per part.
std::vector<unsigned> valuesOf(const Scalar& scalar, const Split& split, int dims) {
  std::vector<unsigned> values;
  for (const Part& part : split) {
    int value = scalar.value;
    if (scalar.extent > 0) {
      value = part.full.extent(3 - dims + scalar.extent - 1);
    } else if (!scalar.values.empty()) {
      value = scalar.values[static_cast<std::size_t>(part.device)];
    }
    values.push_back(static_cast<unsigned>(value));
  }
  return values;
}

template <int N>
bool Run<N>::onParts(const Op& op) {
  if (op.a == op.b) return false;
  const Box& whole = program_.whole;
  const Split outSplit = splitOf(whole, op.cuts, op.devices, op.weights);
  const Split inSplit = splitOf(whole, op.inCuts, op.devices, op.weights);
  const PartArgument out{at(op.a).field.get(), outSplit, op.autoSync};
  PartArgument in;
  if (hasInput(op.work)) in = {at(op.b).field.get(), inSplit, op.inAutoSync};
  const PartLaunch model(op.work, N, out, in, valuesOf(op.c, outSplit, N),
                         valuesOf(op.d, outSplit, N));
  if (!model.isDefined()) return false;
  launchParts(op, model);
  return true;
}

template <int N>
void Run<N>::launchParts(const Op& op, const PartLaunch& model) {
  try {
    launch<N>(op, *at(op.a).array, annotated(*at(op.a).array, op.cuts, op.autoSync),
              annotated(*at(op.b).array, op.inCuts, op.inAutoSync));
  } catch (const StaleGhostError& error) {
    if (!program_.checked || !model.mayBeWrong())
      wrong_ = std::string("a false alarm: ") + error.what();
    return;
  }
  if (program_.checked && model.isWrong()) wrong_ = "no alarm, though a core gets a wrong value";
  model.commit();
  at(op.a).views.clear();
}

// Some cells of a part, not all.
template <int N>
Box Run<N>::drawPartBox(std::mt19937& random, const Part& part) const {
  Box box;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto n = static_cast<unsigned>(part.full.hi[d] - part.full.lo[d]);
    const int a = static_cast<int>(random() % n);
    const int b = static_cast<int>(random() % n);
    box.lo[d] = part.full.lo[d] + std::min(a, b);
    box.hi[d] = part.full.lo[d] + std::max(a, b) + 1;
  }
  return box;
}

template <int N>
bool Run<N>::throughPart(const Op& op) {
  std::mt19937 random(op.seed);
  Field& field = *at(op.a).field;
  if (field.split().size() < 2) return false;
  const std::size_t part = random() % field.split().size();
  const Part& self = field.split()[part];
  const Naming naming = field.namingOf(part);
  const Box box = drawPartBox(random, self);
  if (naming == Naming::Unclear || self.full == self.core || box == self.full) return false;
  const auto relative = [](const Box& inner, const Box& outer) {
    return Box{inner.lo - outer.lo, inner.hi - outer.lo};
  };
  const auto partView = [&](int i, const Part& p, const Box& cells) -> Array<int, N>& {
    const Box local{{0, 0, 0}, p.full.hi - p.full.lo};
    return viewOf(view(i, p.full), local, relative(cells, p.full));
  };
  std::vector<unsigned> values(box.size(), static_cast<unsigned>(op.value));
  const auto describe = [&](int i, const Part& p, const Box& cells) {
    return fmt::format(" a{}({})({})", i, programs::show(p.full, N),
                       programs::show(relative(cells, p.full), N));
  };
  details_ = "  //" + describe(op.a, self, box);
  if (op.kind == Kind::PartFill) {
    partView(op.a, self, box) = op.value;
  } else {
    Field& source = *at(op.b).field;
    if (source.split().size() < 2) return false;
    const std::size_t other = random() % source.split().size();
    const Part& from = source.split()[other];
    Box cells;
    for (std::size_t d = 0; d < 3; ++d) {
      const int extent = box.hi[d] - box.lo[d];
      const int room = from.full.hi[d] - from.full.lo[d] - extent + 1;
      if (room < 1) return false;
      cells.lo[d] = from.full.lo[d] + static_cast<int>(random() % static_cast<unsigned>(room));
      cells.hi[d] = cells.lo[d] + extent;
    }
    const Naming sourceNaming = source.namingOf(other);
    if (sourceNaming == Naming::Unclear || from.full == from.core || cells == from.full)
      return false;
    const Belief belief = sourceNaming == Naming::Part ? Belief::Actual : Belief::Owners;
    bool known = true;
    values.clear();
    forEachCell(cells, [&](const Point& p) {
      const Cell cell = source.seen(source.split(), other, p, belief);
      known = known && cell.known;
      values.push_back(cell.value);
    });
    if (!known) return false;
    details_ += " =" + describe(op.b, from, cells);
    partView(op.a, self, box) = partView(op.b, from, cells);
  }
  forEachCell(box, [&](const Point& p) {
    const unsigned value = values[box.offset(p)];
    if (naming == Naming::Array) {
      field.write(p, value);
    } else if (self.core.has(p)) {
      field.writeThroughPart(p, value);
    } else {
      field.setGhost(part, p, {value});
    }
  });
  return true;
}

template <int N>
bool Run<N>::step(const Op& op) {
  Slot<N>& slot = at(op.a);
  switch (op.kind) {
    case Kind::Read:
      read(slot, op.box, op.a);
      return true;
    case Kind::ReadCell: {
      const int found = element(*slot.array, op.box.lo);
      const int wanted = static_cast<int>(slot.field->value(op.box.lo));
      if (found != wanted && !isDryRun())
        wrong_ = fmt::format("found {}, should be {}", found, wanted);
      return true;
    }
    case Kind::WriteCells:
      writeCells(op);
      return true;
    case Kind::Overwrite:
    case Kind::Data:
      overwrite(op);
      return true;
    case Kind::Fill:
      view(op.a, op.box) = op.value;
      forEachCell(op.box,
                  [&](const Point& p) { slot.field->write(p, static_cast<unsigned>(op.value)); });
      return true;
    case Kind::Assign:
      if (op.a == op.b && op.box == op.from) return false;
      assign(op);
      return true;
    case Kind::Sync:
      slot.array->syncGhosts();
      slot.field->syncGhosts();
      return true;
    case Kind::Swap:
      if (op.a == op.b) return false;
      swap(*slot.array, *at(op.b).array);
      std::swap(slot.field, at(op.b).field);
      std::swap(slot.views, at(op.b).views);
      std::swap(slot.user, at(op.b).user);
      std::swap(slot.memory, at(op.b).memory);
      return true;
    case Kind::OnOne:
    case Kind::Divided:
      return onWhole(op);
    case Kind::OnParts:
      return onParts(op);
    default:
      return throughPart(op);
  }
}

template <int N>
std::string runOf(const Program& program, std::vector<std::string>* listing, int rounds) {
  try {
    return Run<N>(program).run(listing, rounds);
  } catch (const std::exception& error) {
    return fmt::format("an exception: {}", error.what());
  }
}

}  // namespace

namespace {

std::string runRounds(const Program& program, std::vector<std::string>* listing, int rounds) {
  if (program.dims == 1) return runOf<1>(program, listing, rounds);
  if (program.dims == 2) return runOf<2>(program, listing, rounds);
  return runOf<3>(program, listing, rounds);
}

}  // namespace

std::string run(const Program& program, std::vector<std::string>* listing) {
  return runRounds(program, listing, 1);
}

std::string run(const Program& program, const Way& way, Cost& cost) {
  const OnThisWay set(program, way);
  const ProfilingData before = getTotalProfile();
  std::string wrong = runRounds(program, nullptr, way.rounds);
  const ProfilingData after = getTotalProfile();
  cost.in = after.bytesHostToDevice - before.bytesHostToDevice;
  cost.out = after.bytesDeviceToHost - before.bytesDeviceToHost;
  cost.across = after.bytesDeviceToDevice - before.bytesDeviceToDevice;
  cost.launches = after.launches - before.launches;
  return wrong;
}

}  // namespace programs
