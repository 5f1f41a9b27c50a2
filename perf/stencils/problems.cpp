// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include "hpl/memory/detail/host_memory.h"
#include "stencils/workload.h"

namespace perf::stencils {
namespace {

/// A linear congruential generator: the same numbers everywhere.
class Random {
 public:
  /// 24 bits.
  std::uint32_t next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }

 private:
  std::uint32_t state_ = 12345;
};

void fillPicture(Problem& problem, Random& random) {
  std::size_t i = 0;
  for (int y = 0; y < problem.height; ++y) {
    for (int x = 0; x < problem.width; ++x) {
      const double hills = 60 * std::sin(0.05 * x) * std::cos(0.07 * y);
      const int squares = (x / 37 + y / 53) % 2 == 0 ? 0 : 40;
      problem.values[i++] = static_cast<float>(90 + static_cast<int>(hills) + squares +
                                               static_cast<int>(random.next() % 20));
    }
  }
}

/// A dam that breaks above an uneven ground; the ring of cells around it is the wall.
void fillBasin(Problem& problem) {
  problem.values.assign(4 * problem.points(), 0.0f);
  problem.ground.assign(problem.points(), 1000.0f);
  for (int y = 1; y + 1 < problem.height; ++y) {
    for (int x = 1; x + 1 < problem.width; ++x) {
      const std::size_t i = static_cast<std::size_t>(y) * static_cast<std::size_t>(problem.width) +
                            static_cast<std::size_t>(x);
      const float ground = static_cast<float>(std::sin(0.05 * x) + std::cos(0.04 * y));
      const float depth = (x < problem.width / 2 ? 9.0f : 4.0f) - ground;
      problem.ground[i] = ground;
      problem.values[4 * i] = depth;
      problem.values[4 * i + 3] = x < problem.width / 2 ? depth : 0.0f;
    }
  }
}

}  // namespace

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {
      {"life", "LIFE, int", {2048, 8192}, 2, 8, 0, kTile},
      {"gauss", "GAUSS 11x11, float", {4096}, 2, 8, 1e-5f, kTile},
      {"jacobi5", "Jacobi 5-pt, float", {4096}, 2, 8, 1e-5f, kTile},
      {"jacobi9", "Jacobi 9-pt, float", {4096}, 2, 8, 1e-5f, kTile},
      {"jacobi3d7", "Jacobi3D 7-pt, float", {256}, 3, 8, 1e-5f, kPoint},
      {"jacobi3d27", "Jacobi3D 27-pt, float", {256}, 3, 8, 1e-5f, kPoint},
      {"canny", "CANNY, four stages", {4096}, 2, 2, 0, kTile},
      {"shwa", "SHWA, a step", {2000}, 2, 36, 1e-3f, nullptr},
  };
  return all;
}

namespace {

std::shared_ptr<std::byte> memoryOf(std::size_t bytes) {
  const auto placed = hpl::memory::detail::allocatePlaced(bytes);
  if (placed.data == nullptr) throw std::bad_alloc();
  return {placed.data, [allocated = placed.allocated](std::byte*) { std::free(allocated); }};
}

}  // namespace

Problem makeProblem(const std::string& workload, int width, int height, int depth) {
  if (width < kSmallestSide || height < kSmallestSide) {
    throw std::invalid_argument("a side is " + std::to_string(width < height ? width : height) +
                                ", but the hand-written kernels need " +
                                std::to_string(kSmallestSide) + " at least");
  }
  Problem problem{workload, width, height, depth, {}, {}, {}, {}};
  Random random;
  if (workload == "shwa") {
    fillBasin(problem);
    return problem;
  }
  problem.values.resize(problem.points());
  if (workload != "canny") {
    problem.first = memoryOf(4 * problem.points());
    problem.second = memoryOf(4 * problem.points());
  }
  if (workload == "canny") {
    fillPicture(problem, random);
  } else if (workload == "life") {
    for (float& value : problem.values) value = random.next() % 3 == 0 ? 1.0f : 0.0f;
  } else {
    for (float& value : problem.values) value = static_cast<float>(random.next()) / 16777216.0f;
  }
  for (const Workload& known : workloads())
    if (known.name == workload) return problem;
  throw std::invalid_argument("there is no workload '" + workload + "'; --help lists them");
}

}  // namespace perf::stencils
