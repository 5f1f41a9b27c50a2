// SPDX-License-Identifier: Apache-2.0
// Random kernels on the device and in the interpreter must agree bit for bit.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hpl/error.h"
#include "hpl/runtime/runtime.h"
#include "tests/ir/random_kernel.h"
#include "tests/launch/random_batch.h"

namespace random_kernels_tests {

using namespace hpl;
using hpl::test::Contents;
using hpl::test::Prepared;

namespace {

/// One in this many seeds gives a kernel that may have barriers. It is built by itself, as launches
/// build theirs. The others share programs: there, barriers cost more than sharing saves, and a
/// kernel that is right by itself has given wrong results on PoCL.
constexpr std::uint64_t kAlone = 20;
constexpr std::size_t kPerBatch = 40;

std::uint64_t fromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

Prepared prepare(std::uint64_t seed, const DeviceProperties& device) {
  ir::test::RandomKernelOptions random;
  random.doubles = device.hasDouble;
  random.floatDivision = device.type == CPU;
  random.barriers = seed % kAlone == 0;
  Prepared prepared;
  prepared.random = ir::test::makeRandomKernel(seed, random);
  codegen::EmitOptions options;
  options.fp = codegen::FpMode::Strict;
  options.hasDouble = device.hasDouble;
  options.hasHalf = device.hasHalf;
  const ir::NDRange& range = prepared.random.range;
  for (std::size_t d = 0; d < 3; ++d)
    if (range.global[d] % range.local[d] != 0) options.guardDims = static_cast<int>(d) + 1;
  prepared.emitted = codegen::emit(prepared.random.kernel, options);
  return prepared;
}

void compare(const Prepared& prepared, const Contents& device) {
  INFO("RANDOM_SEED=" << prepared.random.seed << " RANDOM_KERNELS=1 runs this kernel alone:\n"
                      << prepared.emitted.source);
  const Contents expected = ir::test::interpretRandomKernel(prepared.random);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("argument " << i);
    CHECK(device[i] == expected[i]);
  }
}

void checkAlone(runtime::DeviceState& device, const Prepared& prepared) {
  try {
    compare(prepared, hpl::test::runAlone(device, prepared));
  } catch (const BuildError& error) {
    FAIL_CHECK("RANDOM_SEED=" << prepared.random.seed
                              << " does not build: " << std::string(error.what()));
  }
}

void checkTogether(runtime::DeviceState& device, const std::vector<Prepared>& batch) {
  std::vector<Contents> results;
  try {
    results = hpl::test::runTogether(device, batch);
  } catch (const hpl::test::BuildFailure& error) {
    // Names the kernels that do not build; if each of them does, putting them together is wrong.
    for (const Prepared& prepared : batch) checkAlone(device, prepared);
    FAIL_CHECK("a batch of random kernels does not build: " << std::string(error.what()));
    return;
  }
  for (std::size_t k = 0; k < batch.size(); ++k) compare(batch[k], results[k]);
}

}  // namespace

TEST_CASE("random kernels give the same bits on the device and in the interpreter") {
  // RANDOM_KERNELS=n runs n of them, RANDOM_SEED=s begins at another seed.
  const std::uint64_t count = fromEnvironment("RANDOM_KERNELS", 1000);
  const std::uint64_t first = fromEnvironment("RANDOM_SEED", 1);
  runtime::DeviceState& device = runtime::Runtime::get().defaultDevice();
  const DeviceProperties properties = Device(device).getProperties();

  using Key = std::pair<std::string, std::array<std::uint64_t, 3>>;
  std::map<Key, std::vector<Prepared>> batches;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Prepared prepared = prepare(seed, properties);
    if (seed % kAlone == 0) {
      checkAlone(device, prepared);
      continue;
    }
    std::vector<Prepared>& batch =
        batches[{prepared.emitted.buildOptions, prepared.random.range.local}];
    batch.push_back(std::move(prepared));
    if (batch.size() < kPerBatch) continue;
    checkTogether(device, batch);
    batch.clear();
  }
  for (const auto& [key, batch] : batches)
    if (!batch.empty()) checkTogether(device, batch);
  MESSAGE(count << " random kernels, seeds from " << first);
}

}  // namespace random_kernels_tests
