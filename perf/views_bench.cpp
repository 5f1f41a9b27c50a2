// SPDX-License-Identifier: Apache-2.0
// Kernels on views with strides, of other shapes and transposed, 2048 x 2048, against kernels that
// are written for the places of the cells.
#include "hpl/hpl.h"
#include "pairs.h"

using namespace hpl;

namespace {

using Grid = Array<float, 2>;
using Vector = Array<float, 1>;

constexpr int kSide = 2048;

void scale(Grid a) { a[idy][idx] *= 1.0001f; }
void scaleEven(Grid a) { a[idy][2 * idx] *= 1.0001f; }
void scaleRow(Vector a) { a[idx] *= 1.0001f; }
void add(Grid to, const Grid& from) { to[idy][idx] += from[idy][idx]; }
void addTurned(Grid to, const Grid& from) { to[idy][idx] += from[idx][idy]; }

void compare(const std::string& name, FRunner ours, FRunner byHand) {
  const auto run = [](FRunner runner) {
    return [runner]() mutable {
      runner.run();
      runner.wait();
    };
  };
  perf::registerPair("views/" + name, 1, run(ours), run(byHand));
}

}  // namespace

int main(int argc, char** argv) {
  Grid a(kSide, kSide), b(kSide, kSide);
  Vector v(kSide * kSide);
  a = 1.0f;
  b = 2.0f;
  v = 3.0f;
  const Grid even = a(Range(0, kSide - 1), Range(0, kSide - 2, 2));
  compare("every_second_column", eval(scale)(even), eval(scaleEven).global(kSide / 2, kSide)(a));
  compare("vector_as_matrix", eval(scale)(v.reshaped(kSide, kSide)), eval(scaleRow)(v));
  compare("matrix_as_vector", eval(scaleRow)(b.reshaped(kSide * kSide)), eval(scale)(b));
  compare("transposed", eval(add)(a, b.transposed()), eval(addTurned)(a, b));
  return perf::runAll(argc, argv);
}
