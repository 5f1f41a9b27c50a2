// SPDX-License-Identifier: Apache-2.0
// How programs are drawn.
#include <algorithm>
#include <random>

#include "program.h"

namespace programs {

namespace {

class Generator {
 public:
  Generator(unsigned seed, int devices) : random_(seed * 2654435761u + 17u), devices_(devices) {
    program_.seed = seed;
    program_.dims = 1 + static_cast<int>(seed % 3);
    Point extents{1, 1, 1};
    if (program_.dims == 1) extents[2] = 16 + below(30);
    if (program_.dims == 2) extents = {1, 5 + below(12), 7 + below(12)};
    if (program_.dims == 3) extents = {4 + below(5), 4 + below(5), 7 + below(4)};
    program_.whole.hi = extents;
    program_.userMemory = oneIn(4);
    program_.overlaps = oneIn(4);
    // By themselves; left to the library; both.
    style_ = below(3);
    program_.checked = style_ == 0 && oneIn(2);
  }

  Program make() {
    const int length = 4 + below(28);
    while (static_cast<int>(program_.ops.size()) < length) {
      if (!program_.ops.empty() && oneIn(8)) {
        again();
      } else {
        program_.ops.push_back(draw());
      }
    }
    return program_;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool oneIn(int n) { return below(n) == 0; }

  // Fewer in three dimensions: each is compiled in several variants.
  Work randomWork() {
    if (program_.dims < 3) return static_cast<Work>(below(kWorks));
    static constexpr Work kFew[] = {Work::Number, Work::Ids,  Work::Add, Work::Odd,  Work::Colour,
                                    Work::Copy,   Work::Star, Work::Far, Work::Look, Work::Spread};
    return kFew[below(10)];
  }

  // Loops: the last operations once or twice more.
  void again() {
    const std::size_t size = program_.ops.size();
    const std::size_t length = 1 + static_cast<std::size_t>(below(4)) % size;
    for (int times = 1 + below(2); times > 0; --times)
      for (std::size_t i = size - length; i < size; ++i) program_.ops.push_back(program_.ops[i]);
  }

  Op draw() {
    Op op;
    const int what = below(100);
    op.a = below(kArrays);
    op.b = (op.a + 1 + below(kArrays - 1)) % kArrays;
    op.value = below(100);
    op.seed = random_();
    op.box = oneIn(3) ? program_.whole : randomBox();
    op.from = op.box;
    if (what < 6) {
      op.kind = Kind::Read;
    } else if (what < 10) {
      op.kind = Kind::ReadCell;
      op.box = randomCell();
    } else if (what < 14) {
      op.kind = Kind::WriteCells;
    } else if (what < 18) {
      op.kind = oneIn(2) ? Kind::Overwrite : Kind::Data;
      op.box = program_.whole;
    } else if (what < 22) {
      op.kind = Kind::Fill;
    } else if (what < 27) {
      op.kind = Kind::Assign;
      if (oneIn(3)) op.b = op.a;
      op.from = moved(op.box);
    } else if (what < 33) {
      op.kind = Kind::Sync;
    } else if (what < 38) {
      op.kind = Kind::Swap;
    } else if (what < 44) {
      onOne(op);
    } else if (what < 51) {
      divided(op);
    } else if (what < 95) {
      onParts(op);
    } else {
      op.kind = oneIn(2) ? Kind::PartFill : Kind::PartCopy;
      if (oneIn(2)) op.b = op.a;
    }
    return op;
  }

  void onOne(Op& op) {
    op.kind = Kind::OnOne;
    op.work = randomWork();
    op.from = moved(op.box);
    op.devices = {below(devices_)};
    op.listed = true;
    op.c.value = below(100);
    op.d.value = below(7) - 3;
  }

  void divided(Op& op) {
    onOne(op);
    op.kind = Kind::Divided;
    someDevices(op);
  }

  // Some devices, in any order.
  void someDevices(Op& op) {
    op.devices.clear();
    for (int i = 0; i < devices_; ++i) op.devices.push_back(i);
    op.listed = oneIn(3);
    if (op.listed) std::shuffle(op.devices.begin(), op.devices.end(), random_);
    if (oneIn(4)) op.devices.resize(static_cast<std::size_t>(1 + below(devices_)));
  }

  void onParts(Op& op) {
    op.kind = Kind::OnParts;
    do {
      op.work = randomWork();
    } while (op.work == Work::Colour);
    // Programs go on with the split that they have.
    const Op* last = nullptr;
    for (const Op& earlier : program_.ops)
      if (earlier.kind == Kind::OnParts) last = &earlier;
    if (last != nullptr && !oneIn(4)) {
      op.devices = last->devices;
      op.listed = last->listed;
      op.cuts = last->cuts;
      op.inCuts = last->inCuts;
      op.weights = last->weights;
    } else {
      someDevices(op);
      randomCuts(op);
    }
    op.autoSync = style_ == 1 || (style_ == 2 && oneIn(2));
    op.inAutoSync = style_ == 1 || (style_ == 2 && (oneIn(8) ? oneIn(2) : op.autoSync));
    op.c = randomScalar(100, op.devices.size());
    op.d = randomScalar(7, op.devices.size());
    op.d.value -= 3;
  }

  Scalar randomScalar(int n, std::size_t devices) {
    Scalar scalar;
    scalar.value = below(n);
    if (oneIn(4)) {
      while (scalar.values.size() < devices) scalar.values.push_back(below(n));
    } else if (oneIn(8)) {
      scalar.extent = 1 + below(program_.dims);
    }
    return scalar;
  }

  void randomCuts(Op& op) {
    const int first = 3 - program_.dims;
    const int widest = oneIn(3) ? 4 : 2;
    const int axis = first + below(program_.dims);
    const bool blocks = program_.dims > 1 && oneIn(3);
    if (!blocks) {
      Cut cut{axis, below(widest + 1), 0};
      cut.after = oneIn(2) ? cut.before : below(widest + 1);
      op.cuts = {cut};
      if (oneIn(4)) randomWeights(op);
    } else {
      for (int d = first; d < 3; ++d) {
        const int r = below(widest + 1);
        op.cuts.push_back({d, r, r});
      }
      if (program_.dims == 3 && oneIn(2)) op.cuts.erase(op.cuts.begin() + below(3));
    }
    op.inCuts = op.cuts;
    if (!blocks && oneIn(4)) op.inCuts[0].after += below(2);
  }

  void randomWeights(Op& op) {
    const int total = program_.whole.extent(op.cuts[0].dim);
    const int parts = static_cast<int>(op.devices.size());
    op.weights.assign(op.devices.size(), 1);
    for (int left = total - parts; left > 0; --left)
      ++op.weights[static_cast<std::size_t>(below(parts))];
    if (total < parts) op.weights.clear();
  }

  Box randomBox() {
    Box box;
    for (std::size_t d = 0; d < 3; ++d) {
      const int n = program_.whole.hi[d];
      const int a = below(n);
      const int b = below(n);
      box.lo[d] = oneIn(3) ? 0 : std::min(a, b);
      box.hi[d] = std::max(a, b) + 1;
    }
    return box;
  }
  Box randomCell() {
    Box box;
    for (std::size_t d = 0; d < 3; ++d) {
      box.lo[d] = below(program_.whole.hi[d]);
      box.hi[d] = box.lo[d] + 1;
    }
    return box;
  }
  Box moved(const Box& box) {
    Box result;
    for (std::size_t d = 0; d < 3; ++d) {
      const int extent = box.hi[d] - box.lo[d];
      result.lo[d] = below(program_.whole.hi[d] - extent + 1);
      result.hi[d] = result.lo[d] + extent;
    }
    return result;
  }

  std::mt19937 random_;
  int devices_;
  int style_ = 0;
  Program program_;
};

}  // namespace

Program makeProgram(unsigned seed, int devices) { return Generator(seed, devices).make(); }

}  // namespace programs
