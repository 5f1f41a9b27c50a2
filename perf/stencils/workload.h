// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// The stencil benchmarks: several ways to compute the same thing, which must agree before they are
/// timed.
namespace perf::stencils {

/// The computation, and its data. All contenders of a problem begin with its values.
struct Problem {
  std::string workload;  ///< a Workload's name
  int width = 0;         ///< x, contiguous
  int height = 0;        ///< y
  int depth = 1;         ///< z
  /// One per point, row-major; for `shwa` four: depth, the two discharges, pollutant.
  std::vector<float> values;
  std::vector<float> ground;  ///< of `shwa`: one per cell
  /// Two buffers of four bytes per point, null for `shwa` and `canny`: contenders that go from one
  /// to the other use the same. Otherwise the luck that each has with the pages that it gets
  /// decides, where two buffers just fit into a cache: up to 1.7 times at 2048 x 2048.
  std::shared_ptr<std::byte> first, second;

  std::size_t points() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
           static_cast<std::size_t>(depth);
  }
};

/// One way to solve a problem.
struct Contender {
  std::string name;
  /// Back to the problem's values.
  std::function<void()> reset;
  /// Does that many further iterations, each with the result of the one before; returns when they
  /// are done. For `canny` each begins with the same picture.
  std::function<void(int iterations)> run;
  /// The values after the last iteration, as Problem::values. Empty for contenders that solve
  /// nothing.
  std::function<std::vector<float>()> result;
  double bytesPerPoint = 0;  ///< if it differs from the workload's
};

/// A kind of problem.
struct Workload {
  std::string name;
  std::string title;
  std::vector<int> sizes;  ///< sides of its squares or cubes that are measured by default
  int dimensions;          ///< of the domain
  double bytesPerPoint;    ///< read once and written once
  float tolerance;         ///< between contenders, absolute; 0 for integers
  const char* paperTwin;   ///< the contender that stands for the paper's kernel; null: none
};

/// In the order in which they are measured.
const std::vector<Workload>& workloads();

/// Pseudo-random values, the same in every run. Throws std::invalid_argument for an unknown name
/// and for sides of less than kSmallestSide.
Problem makeProblem(const std::string& workload, int width, int height, int depth);

/// The vectors of the hand-written kernels need rows of this length.
constexpr int kSmallestSide = 40;

/// Names that tables refer to.
inline const char* const kRows = "OpenCL rows";
inline const char* const kFused = "OpenCL fused";
inline const char* const kTile = "paper's 16x16 tile";
inline const char* const kPoint = "one point per item";
inline const char* const kOpenMp = "OpenMP";
inline const char* const kCopy = "copy";

/// Hand-written OpenCL on the library's default device: the best shapes for CPUs that we know, the
/// paper's 16x16 local-memory kernels, in 3-D one point per work-item, and a copy.
std::vector<Contender> openClContenders(const Problem& problem);

/// Plain C++ for g++ -O3 -march=native. None if the build found no OpenMP.
std::vector<Contender> openMpContenders(const Problem& problem);

/// The library's contenders: kernels in its own language.
std::vector<Contender> libraryContenders(const Problem& problem);

}  // namespace perf::stencils
