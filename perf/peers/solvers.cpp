// SPDX-License-Identifier: Apache-2.0
// Iterations that do more than one stencil: conjugate gradients, and steps that the host changes.
#include <algorithm>
#include <memory>
#include <vector>

#include "hpl/hpl.h"
#include "peers/peers.h"
#include "peers/twins.h"
#include "stencil_templates/stencil_templates.h"

using namespace hpl;

namespace perf::peers {
namespace {

constexpr int kSide = 1024;
constexpr int kIterations = 40;
using Vector = Array<double, 1>;

/// The five-point operator on a vector: cell i of the box is at (i / side, i % side).
void timesStencil(Vector q, const Vector& p) {
  Int x = cast<int>(idx) % kSide;
  Double sum = 4.0 * p[idx];
  if_(idx >= kSide) {
    sum -= p[idx - kSide];
  }
  if_(idx + kSide < szx) {
    sum -= p[idx + kSide];
  }
  if_(x > 0) {
    sum -= p[idx - 1];
  }
  if_(x + 1 < kSide) {
    sum -= p[idx + 1];
  }
  q[idx] = sum;
}

void step(Vector x, Vector r, const Vector& p, const Vector& q, const Vector& rr,
          const Vector& pq) {
  Double alpha = rr[0] / pq[0];
  x[idx] += alpha * p[idx];
  r[idx] -= alpha * q[idx];
}

void turn(Vector p, const Vector& r, const Vector& rr, const Vector& before) {
  p[idx] = r[idx] + rr[0] / before[0] * p[idx];
}

struct System {
  Vector x{kSide * kSide}, b{kSide * kSide}, r{kSide * kSide}, p{kSide * kSide}, q{kSide * kSide};
  Vector rr{1}, before{1}, pq{1};
  std::vector<double> hostX = std::vector<double>(kSide * kSide);
  System() {
    double* cells = b.data(HPL_WR);
    for (int i = 0; i < kSide * kSide; ++i) cells[i] = i % 1777 == 0 ? 1.0 : 0.0;
  }
  void solve() {
    x = 0.0;
    r = b;
    p = b;
    dot(r, r).into(rr);
    for (int k = 0; k < kIterations; ++k) {
      eval(timesStencil)(q, p);
      dot(p, q).into(pq);
      eval(step)(x, r, p, q, rr, pq);
      swap(rr, before);
      dot(r, r).into(rr);
      eval(turn)(p, r, rr, before);
    }
    defaultDevice().sync();
  }
  static double sumOf(const double* cells) {
    double total = 0;
    for (int i = 0; i < kSide * kSide; ++i) total += cells[i] * (1 + i % 5);
    return total;
  }
};

Row conjugateGradients() {
  auto ours = std::make_shared<System>();
  auto twin = std::make_shared<System>();
  double* x = twin->hostX.data();
  const double* b = twin->b.data(HPL_RD);
  return {
      "conjugate gradients 1024^2, 40 iterations",
      1.0,
      {{"HPL", [ours] { ours->solve(); }, [ours] { return System::sumOf(ours->x.data(HPL_RD)); }},
       {"g++ OpenMP", [=] { twins::conjugateGradients(x, b, kSide, kIterations); },
        [twin] { return System::sumOf(twin->hostX.data()); }}}};
}

constexpr int kSteps = 64;

/// Where the source is before each step; the walls stay 0.
int sourceAt(std::int64_t step) { return 100 + static_cast<int>(step) * 7; }

Float heat(Neighbourhood<float, 2> u, Int sx, Int sy) {
  Float value = 0.25f * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1));
  if_(idx == sx && idy == sy) {
    value += 1.0f;
  }
  return value;
}

struct Box {
  Array<float, 2> cells{kSide, kSide};
  std::vector<float> host = std::vector<float>(kSide * kSide), other = host;
  static double sumOf(const float* cells) {
    double total = 0;
    for (int i = 0; i < kSide * kSide; ++i) total += static_cast<double>(cells[i]) * (1 + i % 5);
    return total;
  }
};

Row movingSource() {
  auto ours = std::make_shared<Box>();
  auto twin = std::make_shared<Box>();
  Box* box = twin.get();
  auto program = std::make_shared<StencilProgram>();
  Stencil stencil(heat);
  stencil.boundary(Fixed(0));
  program->apply(stencil)(ours->cells, ours->cells, perStep(sourceAt), perStep(sourceAt));
  program->every(1, [](std::int64_t) { return false; });
  const auto run = [ours, program] {
    ours->cells = 0.0f;
    program->run(kSteps);
    defaultDevice().sync();
  };
  return {"heat 1024^2, moving source, every(1)",
          1.0,
          {{"HPL", run, [ours] { return Box::sumOf(ours->cells.data(HPL_RD)); }},
           {"g++ OpenMP",
            [box] {
              std::fill(box->host.begin(), box->host.end(), 0.0f);
              for (int k = 0; k < kSteps; ++k) {
                twins::heatWithSource(box->other.data(), box->host.data(), kSide, sourceAt(k));
                box->host.swap(box->other);
              }
            },
            [twin] { return Box::sumOf(twin->host.data()); }}}};
}

}  // namespace

std::vector<NamedRow> solverRows() {
  return {{"gradients", conjugateGradients}, {"moving_source", movingSource}};
}

}  // namespace perf::peers
