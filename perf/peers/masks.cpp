// SPDX-License-Identifier: Apache-2.0
// A mask that is the product of a column and a row, written as one mask.
#include <cmath>
#include <memory>
#include <vector>

#include "hpl/hpl.h"
#include "peers/peers.h"
#include "peers/twins.h"
#include "stencil_templates/stencil_templates.h"

using namespace hpl;

namespace perf::peers {
namespace {

constexpr int kSide = 4096;
constexpr int kReach = 5;

/// The weights of OpenCV's getGaussianKernel(11, 2).
std::vector<float> weights() {
  std::vector<float> all;
  double total = 0;
  for (int i = -kReach; i <= kReach; ++i) total += std::exp(-i * i / 8.0);
  for (int i = -kReach; i <= kReach; ++i)
    all.push_back(static_cast<float>(std::exp(-i * i / 8.0) / total));
  return all;
}

Float gauss(Neighbourhood<float, 2> in) {
  const std::vector<float> weight = weights();
  Float sum = 0.0f;
  for (int y = -kReach; y <= kReach; ++y)
    for (int x = -kReach; x <= kReach; ++x)
      sum += weight[static_cast<std::size_t>(y + kReach)] *
             weight[static_cast<std::size_t>(x + kReach)] * in(y, x);
  return sum;
}

struct Pictures {
  Array<float, 2> in{kSide, kSide}, out{kSide, kSide};
  Pictures() {
    std::vector<float> cells(in.size());
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<float>(i * 7919 % 256);
    in.copyFrom(cells.data());
    out = 0.0f;
  }
  /// Without the edges, which contenders treat in their own ways.
  double sum() {
    double total = 0;
    const float* cells = out.data(HPL_RD);
    for (int y = kReach; y < kSide - kReach; ++y)
      for (int x = kReach; x < kSide - kReach; ++x)
        total += static_cast<double>(cells[y * kSide + x]) * (1 + x % 5);
    return total;
  }
};

Row gaussRow() {
  auto ours = std::make_shared<Pictures>();
  auto byHand = std::make_shared<Pictures>();
  auto stencil = std::make_shared<Stencil>(gauss);
  float* out = byHand->out.data(HPL_RDWR);
  const float* in = byHand->in.data(HPL_RD);
  const auto weight = std::make_shared<std::vector<float>>(weights());
  return {"Gauss 11x11 of floats 4096^2, one mask",
          0.55,
          {{"HPL",
            [ours, stencil] {
              (*stencil)(ours->in, ours->out);
              defaultDevice().sync();
            },
            [ours] { return ours->sum(); }},
           {"one mask by hand", [=] { twins::mask(out, in, kSide, weight->data()); },
            [byHand] { return byHand->sum(); }},
           {"two passes by hand", [=] { twins::twoPasses(out, in, kSide, weight->data()); },
            [byHand] { return byHand->sum(); }}}};
}

}  // namespace

std::vector<NamedRow> maskRows() { return {{"gauss", gaussRow}}; }

}  // namespace perf::peers
