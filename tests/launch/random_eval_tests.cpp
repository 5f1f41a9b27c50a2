// SPDX-License-Identifier: Apache-2.0
// Random kernels written in the embedded language and launched with eval, on arrays and views that
// the host touches in between, must leave the bits that the interpreter leaves.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "hpl/error.h"
#include "hpl/hpl.h"
#include "tests/launch/random_functor.h"

namespace random_eval_tests {

using namespace hpl;
using hpl::test::RandomFunctor;

namespace {

std::uint64_t fromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }
  bool chance(int percent) { return below(100) < percent; }
  unsigned bits() { return static_cast<unsigned>(chance(50) ? random_() % 64 : random_()); }
  /// Not 0, and no larger than what kernels calculate with.
  float real() { return static_cast<float>(below(4000) - 2000) / 16.0f + 0.03125f; }

 private:
  std::mt19937_64 random_;
};

/// The arguments of a kernel; `out`, `state` and `in` may be views inside of larger arrays.
struct Arguments {
  Arguments(const RandomFunctor& f, std::int64_t outFrame, std::int64_t inFrame, Draw draw)
      : outRoot(f.rows + 2 * outFrame, f.columns + 2 * outFrame),
        stateRoot(f.rows + 2 * outFrame, f.columns + 2 * outFrame),
        inRoot(f.inRows + 2 * inFrame, f.inColumns + 2 * inFrame),
        counters(RandomFunctor::kCounters),
        table(f.tableSize),
        out(framed(outRoot, f.rows, f.columns, outFrame)),
        state(framed(stateRoot, f.rows, f.columns, outFrame)),
        in(framed(inRoot, f.inRows, f.inColumns, inFrame)) {
    fill(outRoot, [&] { return draw.bits(); });
    fill(stateRoot, [&] { return draw.real(); });
    fill(inRoot, [&] { return draw.bits(); });
    fill(counters, [&] { return draw.bits(); });
    fill(table, [&] { return draw.real(); });
  }

  /// The accesses of a program on the host between two launches.
  void touch(Draw& draw) {
    if (draw.chance(40)) in(0, 0) += 5u;
    if (draw.chance(40)) out(0, 0) = 0u;
    if (draw.chance(30)) state(state.getDimension(0) - 1, 0) = 2.5f;
    if (draw.chance(30)) table(0) = -table(0);
    if (draw.chance(20)) out = 7u;
    if (draw.chance(20)) counters = 0u;
  }

  Array<unsigned, 2> outRoot;
  Array<float, 2> stateRoot;
  Array<unsigned, 2> inRoot;
  Array<unsigned, 1> counters;
  Array<float, 1> table;
  Array<unsigned, 2>& out;
  Array<float, 2>& state;
  Array<unsigned, 2>& in;

 private:
  template <class T>
  static Array<T, 2>& framed(Array<T, 2>& root, std::int64_t rows, std::int64_t columns,
                             std::int64_t frame) {
    if (frame == 0) return root;
    return root(Range(frame, frame + rows - 1), Range(frame, frame + columns - 1));
  }
  template <class T, int N, class Value>
  static void fill(Array<T, N>& array, Value value) {
    T* cell = array.data(HPL_WR);
    for (std::size_t i = 0; i < array.size(); ++i) cell[i] = value();
  }
};

template <class T, int N>
void checkSameBits(const char* name, Array<T, N>& device, Array<T, N>& interpreter) {
  const T* a = device.data(HPL_RD);
  const T* b = interpreter.data(HPL_RD);
  std::size_t first = 0;
  while (first < device.size() && std::memcmp(a + first, b + first, sizeof(T)) == 0) ++first;
  INFO(name << " differs at cell " << first);
  CHECK(first == device.size());
}

RandomFunctor drawFunctor(std::uint64_t seed, Draw& draw, bool exchanging) {
  RandomFunctor f;
  f.seed = seed;
  std::int64_t rows = 1 + draw.below(4);
  std::int64_t columns = 1 + draw.below(6);
  if (exchanging) {
    f.groupRows = std::int64_t{1} << draw.below(3);
    f.groupColumns = std::int64_t{2} << draw.below(3);
    rows *= f.groupRows;
    columns *= f.groupColumns;
  } else {
    rows += draw.below(9);
    columns += draw.below(40);
  }
  f.rows = rows;
  f.columns = columns;
  f.sideBySide = !exchanging && draw.chance(60) ? 1 : 0;
  f.inRows = f.sideBySide != 0 || draw.chance(50) ? rows : 1 + draw.below(20);
  f.inColumns = f.sideBySide != 0 || draw.chance(50) ? columns : 1 + draw.below(40);
  f.tableSize = 1 + draw.below(10);
  f.floatDivision = defaultDevice().getProperties().type == CPU ? 1 : 0;
  return f;
}

/// One program of up to three launches. Returns whether the kernel changed `out`.
bool runProgram(std::uint64_t seed, bool exchanging) {
  Draw draw(seed * 0x9E3779B97F4A7C15u);
  const RandomFunctor kernel = drawFunctor(seed, draw, exchanging);
  const std::int64_t outFrame = draw.chance(40) ? 1 + draw.below(3) : 0;
  const std::int64_t inFrame = draw.chance(40) ? 1 + draw.below(3) : 0;
  const Draw contents(draw.bits());
  Arguments device(kernel, outFrame, inFrame, contents);
  Arguments interpreter(kernel, outFrame, inFrame, contents);
  const Arguments before(kernel, outFrame, inFrame, contents);

  for (std::int64_t launches = 1 + draw.below(3); launches > 0; --launches) {
    const unsigned s = draw.bits();
    const float t = draw.real();
    const auto launcher = [&] {
      auto launch = eval(kernel);
      launch.fp(STRICT);
      if (exchanging)
        launch.local(static_cast<std::size_t>(kernel.groupColumns),
                     static_cast<std::size_t>(kernel.groupRows));
      return launch;
    };
    launcher()(device.out, device.state, device.counters, device.in, device.table, s, t);
    launcher().interpret(interpreter.out, interpreter.state, interpreter.counters, interpreter.in,
                         interpreter.table, s, t);
    Draw same = draw;
    device.touch(draw);
    interpreter.touch(same);
  }
  checkSameBits("out", device.outRoot, interpreter.outRoot);
  checkSameBits("state", device.stateRoot, interpreter.stateRoot);
  checkSameBits("in", device.inRoot, interpreter.inRoot);
  checkSameBits("counters", device.counters, interpreter.counters);
  checkSameBits("table", device.table, interpreter.table);
  const Array<unsigned, 2>& old = before.outRoot;
  return std::memcmp(device.outRoot.data(HPL_RD), old.data(), old.size() * sizeof(unsigned)) != 0;
}

}  // namespace

TEST_CASE("random kernels launched by eval leave the bits that the interpreter leaves") {
  // RANDOM_KERNELS=n runs 20 kernels for each 1,000 of n, RANDOM_SEED=s begins at another seed.
  const std::uint64_t count =
      std::max<std::uint64_t>(1, fromEnvironment("RANDOM_KERNELS", 1000) * 20 / 1000);
  const std::uint64_t first = fromEnvironment("RANDOM_SEED", 1);
  std::uint64_t changed = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    INFO("RANDOM_SEED=" << seed << " RANDOM_KERNELS=1 runs this kernel alone, "
                        << "HPL_DUMP_KERNELS=FOLDER writes its source");
    try {
      if (runProgram(seed, seed % 2 == 0)) ++changed;
    } catch (const Error& error) {
      FAIL_CHECK(std::string(error.what()));
    }
  }
  // Kernels that compute nothing would agree everywhere.
  if (count >= 20) CHECK(changed * 10 >= count * 9);
  MESSAGE(count << " random kernels through eval, every other one with barriers, seeds from "
                << first);
}

}  // namespace random_eval_tests
