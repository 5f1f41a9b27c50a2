// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hpl/codegen/emit.h"
#include "hpl/runtime/cl.h"

/// Shows the values that probe() noted in a launch.
namespace hpl::launch {

struct DevicePlan;

/// One value that a work-item has shown.
struct ProbedValue {
  std::string label;
  ir::Type type;
  ir::SourceLocation where;
  /// The value's bits; integers have as many as long.
  std::uint64_t bits = 0;
  /// In the whole array, x first.
  std::array<std::uint64_t, 3> position{};
};

/// A value in memory, in the layout of its type; without a position.
ProbedValue probedValue(const ir::Probe& probe, const ir::SourceLocation& where,
                        const std::byte* value);

/// A kernel's probes and the buffer in which its work-items leave values.
struct Probes {
  std::vector<codegen::ProbeSite> sites;
  cl::Buffer values;
};

/// Makes the buffer for the probes of a kernel; null: it has none.
std::unique_ptr<Probes> makeProbes(runtime::DeviceState& device,
                                   const codegen::EmittedKernel& emitted);
/// Before the kernel of a launch: nothing has been shown.
void clearProbes(const DevicePlan& plan);
/// After a launch: waits and prints.
void showProbes(const DevicePlan& plan);

/// Prints values of one launch, sorted by position, as far as HPL_PROBE_LINES allows. `total`
/// counts those, too, for which there was no room; `place` follows the kernel's name.
void printProbes(std::vector<ProbedValue> values, std::size_t total, int dims,
                 const std::string& kernel, const std::string& place);

}  // namespace hpl::launch
