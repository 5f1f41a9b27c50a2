// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include "hpl/memory/contents.h"

namespace model_tests {

using namespace memory_tests;

namespace {

struct Configuration {
  const char* name;
  const char* devices;
  bool zeroCopy;
  int deviceCount;
  Spaces spaces;
};

// One pair of an array and its model.
struct Pair {
  std::vector<std::int64_t> userMemory;
  std::shared_ptr<Root> array;
  std::unique_ptr<Model> model;
};

// A launch that was made and may be repeated.
struct Past {
  Plan plan;
  std::size_t dst = 0;
  std::size_t src = 0;
};

class RandomProgram {
 public:
  RandomProgram(const Configuration& configuration, unsigned seed)
      : configuration_(configuration),
        random_(seed),
        devices_(openDevices(configuration.devices, configuration.zeroCopy)) {
    // If several devices have a cell, the first one gives it.
    for (DeviceState* device : devices_) hpl::memory::detail::spaceOf(*device);
    devices_.resize(static_cast<std::size_t>(configuration.deviceCount));
    const Extents shapes[] = {{40}, {9, 11}, {4, 5, 6}};
    const Extents shape = shapes[below(3)];
    for (int i = 0; i < 3; ++i) makePair(shape);
  }

  void run(int operations) {
    for (int i = 0; i < operations; ++i) {
      step();
      checkCounters();
      if (!configuration_.zeroCopy) checkValidity();
    }
    for (Pair& pair : pairs_) readAll(pair);
    checkCounters();
  }

  /// The arrays die; user memory must then hold the values.
  void finish() {
    for (Pair& pair : pairs_) {
      pair.array.reset();
      if (pair.userMemory.empty()) continue;
      std::size_t i = 0;
      forEachCell(wholeBox(), [&](const Point& cell) {
        if (pair.model->isDefined(cell)) CHECK(pair.userMemory[i] == pair.model->value(cell));
        ++i;
      });
    }
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::int64_t someValue() { return below(1000); }
  Box wholeBox() const { return Box::ofExtents(shape_); }

  void makePair(const Extents& shape) {
    shape_ = shape;
    Pair& pair = pairs_.emplace_back();
    const int kind = below(3);
    std::vector<std::int64_t> initial;
    if (kind == 0) {
      // Misaligned on purpose half of the time: such memory is never shared with a device.
      pair.userMemory.resize(static_cast<std::size_t>(wholeBox().volume()));
      for (auto& value : pair.userMemory) value = someValue();
      initial = pair.userMemory;
    }
    const Spaces spaces =
        kind == 0 && configuration_.zeroCopy ? userSpaces(pair) : configuration_.spaces;
    pair.array = makeArray(shape, "array " + std::to_string(pairs_.size()),
                           pair.userMemory.empty() ? nullptr : pair.userMemory.data(),
                           kind == 1 ? HostMemory::None : HostMemory::Plain);
    pair.model = std::make_unique<Model>(shape, spaces, initial);
    // Which copy makes unwritten cells current depends on timing where devices share the host's
    // memory, so there are none there.
    if (configuration_.zeroCopy && initial.empty()) writeBox(pair, wholeBox(), true);
  }

  // Memory that is not aligned cannot be shared: the devices have copies of their own.
  Spaces userSpaces(const Pair& pair) const {
    if (reinterpret_cast<std::uintptr_t>(pair.userMemory.data()) % 128 == 0) {
      return configuration_.spaces;
    }
    Spaces own;
    for (int d = 0; d < configuration_.deviceCount; ++d) own.ofDevice.push_back(d + 1);
    own.oneContext = configuration_.spaces.oneContext;
    return own;
  }

  Box randomBox() {
    Point lo = shape_;
    Point hi = shape_;
    for (int d = 0; d < shape_.rank(); ++d) {
      const Index a = below(static_cast<int>(shape_[d]));
      const Index b = below(static_cast<int>(shape_[d]));
      // Whole dimensions often: real programs use them.
      lo[d] = below(3) == 0 ? 0 : std::min(a, b);
      hi[d] = lo[d] == 0 && below(2) == 0 ? shape_[d] : std::max(a, b) + 1;
    }
    return Box(lo, hi);
  }

  // A box of the same extents somewhere else.
  Box movedBox(const Box& box) {
    Point lo = box.lo();
    Point hi = box.hi();
    for (int d = 0; d < box.rank(); ++d) {
      lo[d] = below(static_cast<int>(shape_[d] - box.extent(d) + 1));
      hi[d] = lo[d] + box.extent(d);
    }
    return Box(lo, hi);
  }

  Pair& somePair() { return pairs_[static_cast<std::size_t>(below(3))]; }

  void step() {
    const int what = below(100);
    if (what < 15) return hostRead(somePair());
    if (what < 30) return hostWrite(somePair());
    if (what < 65) return launchSomething();
    if (what < 80) return repeatSomething();
    if (what < 93) return copySomething();
    fillSomething();
  }

  void readAll(Pair& pair) { readBox(pair, wholeBox()); }
  void hostRead(Pair& pair) { readBox(pair, randomBox()); }

  void readBox(Pair& pair, const Box& box) {
    View& view = pair.array->view(box);
    // An open view promises that nothing needs to be done.
    if ((view.hostState.load() & hpl::memory::kHostReadable) == 0) view.openForReading();
    pair.model->hostRead(box);
    compare(pair, view);
  }

  void compare(Pair& pair, View& view) {
    forEachCell(view.box(), [&](const Point& cell) {
      if (!pair.model->isDefined(cell)) return;
      Point relative = cell;
      for (int d = 0; d < cell.rank(); ++d) relative[d] -= view.box().lo(d);
      if (hostCell(view, relative) != pair.model->value(cell)) {
        FAIL_CHECK("cell " << cell.toString() << " of " << view.box().toString() << " is "
                           << hostCell(view, relative) << ", should be "
                           << pair.model->value(cell));
      }
    });
  }

  void hostWrite(Pair& pair) { writeBox(pair, randomBox(), below(2) == 0); }

  void writeBox(Pair& pair, const Box& box, bool all) {
    View& view = pair.array->view(box);
    const bool wasOpen = (view.hostState.load() & hpl::memory::kHostWritable) != 0;
    if (!wasOpen) view.openForWriting(all);
    pair.model->hostWrite(view.box(), all && !wasOpen);
    const int divisor = 2 + below(3);
    forEachCell(view.box(), [&](const Point& cell) {
      if (!all && random_() % static_cast<unsigned>(divisor) == 0) return;
      Point relative = cell;
      for (int d = 0; d < cell.rank(); ++d) relative[d] -= view.box().lo(d);
      const std::int64_t value = someValue();
      hostCell(view, relative) = value;
      pair.model->set(cell, value);
    });
  }

  int idleOften() { return below(4) == 0 ? 200000 : 0; }

  void launchSomething() {
    Past past;
    const auto work = static_cast<Work>(below(4));
    past.dst = static_cast<std::size_t>(below(3));
    past.src = static_cast<std::size_t>(below(3));
    const Box box = randomBox();
    Launch job{work, &pairs_[past.dst].array->view(box), nullptr, someValue(), idleOften()};
    // The order in which a kernel would read and write overlapping boxes is not ours to model.
    const Box other = movedBox(box);
    if (work == Work::FromSource) {
      if (past.src == past.dst && other.intersects(box)) return;
      job.src = &pairs_[past.src].array->view(other);
    }
    DeviceState& device = *devices_[static_cast<std::size_t>(below(configuration_.deviceCount))];
    past.plan = launch(device, job);
    launchModel(past);
    past_.push_back(std::move(past));
  }

  void launchModel(const Past& past) {
    const Launch& job = past.plan.launch;
    int device = 0;
    while (devices_[static_cast<std::size_t>(device)] != past.plan.device) ++device;
    Model* src = job.src ? pairs_[past.src].model.get() : nullptr;
    Model::launch(device, job.work, *pairs_[past.dst].model, job.dst->box(), src,
                  job.src ? &job.src->box() : nullptr, job.value);
  }

  void repeatSomething() {
    if (past_.empty()) return;
    // The last ones are likely to be fresh, old ones are likely not to be.
    const int back = below(2) == 0 ? 1 : 1 + below(static_cast<int>(past_.size()));
    Past& past = past_[past_.size() - static_cast<std::size_t>(back)];
    for (int n = 1 + below(3); n > 0; --n) {
      repeat(past.plan);
      launchModel(past);
    }
  }

  void copySomething() {
    Pair& dst = somePair();
    Pair& src = somePair();
    const Box box = randomBox();
    const Box from = movedBox(box);
    hpl::memory::copy(dst.array->view(box), src.array->view(from));
    if (&dst == &src && box == from) return;
    Model::copy(*dst.model, box, *src.model, from);
  }

  void fillSomething() {
    Pair& pair = somePair();
    const Box box = randomBox();
    const std::int64_t value = someValue();
    hpl::memory::fill(pair.array->view(box), &value);
    pair.model->fill(box, value);
  }

  void checkCounters() {
    const Bytes moved = bytesSoFar() - bytesBefore_;
    const Bytes wanted = Model::necessary - necessaryBefore_;
    CHECK(moved.up == wanted.up);
    CHECK(moved.down == wanted.down);
    // Copies within a zero-copy device are made by it only while it is busy.
    if (!configuration_.zeroCopy) CHECK(moved.across == wanted.across);
  }

  void checkValidity() {
    for (Pair& pair : pairs_) {
      checkSpace(pair, 0, hpl::memory::detail::currentOnHost(*pair.array));
      for (std::size_t d = 0; d < devices_.size(); ++d) {
        checkSpace(pair, configuration_.spaces.ofDevice[d],
                   hpl::memory::detail::currentOn(*pair.array, *devices_[d]));
      }
    }
  }

  void checkSpace(Pair& pair, int space, const std::vector<Box>& boxes) {
    std::size_t listed = 0;
    for (const Box& box : boxes) {
      forEachCell(box, [&](const Point& cell) {
        if (!pair.model->isCurrent(space, cell)) {
          FAIL_CHECK("space " << space << " should not hold " << cell.toString());
        }
        ++listed;
      });
    }
    std::size_t wanted = 0;
    forEachCell(wholeBox(),
                [&](const Point& cell) { wanted += pair.model->isCurrent(space, cell) ? 1u : 0u; });
    CHECK(listed == wanted);
  }

  const Configuration& configuration_;
  std::mt19937 random_;
  std::vector<DeviceState*> devices_;
  Extents shape_;
  std::vector<Pair> pairs_;
  std::vector<Past> past_;
  Bytes bytesBefore_ = bytesSoFar();
  Bytes necessaryBefore_ = Model::necessary;
};

// TEST_SEEDS programs per configuration.
unsigned seedCount() {
  const char* wish = std::getenv("TEST_SEEDS");
  return wish ? static_cast<unsigned>(std::strtoul(wish, nullptr, 10)) : 60;
}

}  // namespace

TEST_CASE("random programs give the model's values and move exactly the stale cells") {
  const Configuration configurations[] = {
      {"one device", ":0*3", false, 1, {{1}, false}},
      {"two devices of different contexts", ":0*3", false, 2, {{1, 2}, false}},
      {"three devices of different contexts", ":0*3", false, 3, {{1, 2, 3}, false}},
      {"two sub-devices of one context", ":0/2", false, 2, {{1, 2}, true}},
      {"one device that works in the host's memory", ":0*3", true, 1, {{0}, false}},
      {"three devices that work in the host's memory", ":0*3", true, 3, {{0, 0, 0}, false}},
  };
  for (const Configuration& configuration : configurations) {
    const std::string name = configuration.name;
    CAPTURE(name);
    if (!canBeOpened(configuration.devices) || (configuration.zeroCopy && !hasSharedDevices()))
      continue;
    for (unsigned seed = 1; seed <= seedCount(); ++seed) {
      CAPTURE(seed);
      RandomProgram program(configuration, seed);
      program.run(40);
      program.finish();
    }
  }
}

}  // namespace model_tests
