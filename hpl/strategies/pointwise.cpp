// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/pointwise.h"

#include <algorithm>
#include <cmath>

#include "hpl/strategies/rows.h"

namespace hpl::strategies {
namespace {

// Measured on PoCL 3.1, two Zen 5 cores with AVX-512; perf/pointwise_bench.cpp has some of the
// kernels.

/// Operations of all work-items below which a launch costs more than the kernel.
constexpr double kLittleWork = 65536;
/// Sides of branches cost at least this many operations where compilers leave them branches, of
/// which a vector that goes one way computes one; cheaper ones become selections, in all lanes at
/// once.
constexpr double kCostlySide = 40;
/// Compilers see that this many operations on bytes fit into 16 bits; explicit vectors are of 32.
constexpr double kFewInNarrowLanes = 6;
/// Fewer operations wait for memory however they are laid out.
constexpr double kFewOperations = 4;

std::string countText(double count, const char* what) {
  const long long rounded = std::llround(count);
  return std::to_string(rounded) + " " + what + (rounded == 1 ? "" : "s");
}

}  // namespace

Pointwise pointwiseOf(const ir::Kernel& kernel, const ir::AccessSummary& summary) {
  Pointwise result;
  result.isPointwise = !hasReuse(kernel, summary);
  if (!result.isPointwise) return result;
  result.cost = costOf(kernel, summary);
  for (const ir::ArrayAccess& access : summary.arrays) {
    if (!access.read && !access.written) continue;
    const ir::Type& type = access.array->type;
    const std::size_t bytes = type.isStruct() ? ir::sizeOf(type) : ir::sizeOf(type.scalar);
    result.narrowest = result.narrowest == 0 ? bytes : std::min(result.narrowest, bytes);
    result.widest = std::max(result.widest, bytes);
    const bool isPlain = !type.isStruct() && type.isScalar();
    if (isPlain && bytes >= 4 && access.written && !access.read) result.onlyWritesSome = true;
  }
  return result;
}

PointwiseChoice choosePointwise(const Pointwise& kernel, double workItems, bool isMasked,
                                bool leavesCaches) {
  const PointCost& cost = kernel.cost;
  const std::string own = "each work-item reads its own elements only, ";
  const std::string operations = countText(cost.operations, "operation");
  if (workItems * (1 + cost.operations) < kLittleWork)
    return {false, own + countText(workItems, "work-item") + " with " + operations +
                       " each, so a launch costs more than its kernel"};
  if (isMasked) return {true, "rows that groups would not share evenly"};
  if (leavesCaches && kernel.onlyWritesSome)
    return {true, "results that are written past the caches"};
  if (cost.calls > 0) return {true, countText(cost.calls, "function") + " like exp"};
  if (cost.sides > 0 && cost.operations < kCostlySide * cost.sides)
    return {false, own + operations + " on " + countText(cost.sides, "side") +
                       " of branches on values, so compilers select"};
  if (kernel.widest <= 2 && cost.operations > kFewInNarrowLanes)
    return {false, own + operations + " on elements of " +
                       countText(static_cast<double>(kernel.widest), "byte") +
                       ", which compilers compute in narrow lanes"};
  if (kernel.narrowest < 4)
    return {true, "elements of " + countText(static_cast<double>(kernel.narrowest), "byte")};
  if (cost.operations < kFewOperations)
    return {false, own + "with " + operations + ", so memory decides"};
  return {true, operations + " on elements of its own"};
}

int vectorsFor(const Pointwise& kernel, std::size_t row, int lanes) {
  int vectors = kernel.cost.calls > 0 ? 1 : kernel.narrowest < 4 ? 4 : 2;
  // The rest of a row is computed one by one.
  constexpr std::size_t kSteps = 8;
  while (vectors > 1 && row < kSteps * static_cast<std::size_t>(lanes * vectors)) vectors /= 2;
  return vectors;
}

}  // namespace hpl::strategies
