// SPDX-License-Identifier: Apache-2.0
// Random kernels on the device and in the interpreter must agree bit for bit. Compiling costs far
// more than running, so that many kernels share one program; a failing program is split up.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "hpl/codegen/emit.h"
#include "hpl/error.h"
#include "hpl/runtime/detail/program.h"
#include "hpl/runtime/detail/runtime.h"
#include "hpl/runtime/programs.h"
#include "tests/ir/random_kernel.h"

using namespace hpl;
using ir::test::RandomArgument;
using ir::test::RandomKernel;

namespace {

constexpr int kPerProgram = 20;

struct Prepared {
  RandomKernel random;
  codegen::EmittedKernel emitted;
};

codegen::EmitOptions optionsFor(const RandomKernel& random, const DeviceProperties& device) {
  codegen::EmitOptions options;
  options.fp = codegen::FpMode::Strict;
  options.hasDouble = device.hasDouble;
  options.hasHalf = device.hasHalf;
  for (std::size_t d = 0; d < 3; ++d)
    if (random.range.global[d] % random.range.local[d] != 0)
      options.guardDims = static_cast<int>(d) + 1;
  return options;
}

/// Every name that a kernel's source declares at file scope gets the kernel's number, so that many
/// sources fit into one program. Preprocessor lines and structs are the same everywhere.
std::string renamed(const Prepared& prepared, std::size_t number, std::string& kernelName) {
  std::string source = prepared.emitted.source;
  std::vector<std::string> names{prepared.emitted.name};
  for (const ir::Function* function : prepared.random.kernel.functions)
    names.push_back(function->name);
  for (const std::string& name : names) {
    const std::string fresh = name + "_k" + std::to_string(number);
    source = std::regex_replace(source, std::regex("\\b" + name + "\\b"), fresh);
    if (name == prepared.emitted.name) kernelName = fresh;
  }
  return source;
}

std::vector<std::int64_t> stridesOf(const RandomArgument& argument) {
  std::vector<std::int64_t> strides(argument.extents.size(), 1);
  for (std::size_t d = strides.size(); d-- > 1;) strides[d - 1] = strides[d] * argument.extents[d];
  return strides;
}

std::size_t localBytes(const RandomArgument& argument) {
  std::size_t bytes = ir::sizeOf(argument.type);
  for (const std::int64_t extent : argument.extents) bytes *= static_cast<std::size_t>(extent);
  return bytes;
}

/// Runs one kernel of a built program; the contents of its array arguments afterwards.
std::vector<std::vector<std::byte>> runKernel(runtime::DeviceState& device, cl::Kernel& kernel,
                                              const Prepared& prepared) {
  using Kind = codegen::Slot::Kind;
  const RandomKernel& random = prepared.random;
  std::vector<cl::Buffer> buffers(random.arguments.size());
  cl_uint position = 0;
  for (const codegen::Slot& slot : prepared.emitted.slots) {
    const auto param = static_cast<std::size_t>(slot.param);
    const auto dimension = static_cast<std::size_t>(slot.dimension);
    const auto word = [&](cl_ulong value) { kernel.setArg(position, value); };
    switch (slot.kind) {
      case Kind::Buffer: {
        std::vector<std::byte> bytes = random.arguments[param].bytes;
        buffers[param] = cl::Buffer(device.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                    bytes.size(), bytes.data());
        kernel.setArg(position, buffers[param]);
        break;
      }
      case Kind::Local:
        kernel.setArg(position, localBytes(random.arguments[param]), nullptr);
        break;
      case Kind::Scalar:
        kernel.setArg(position, random.arguments[param].bytes.size(),
                      random.arguments[param].bytes.data());
        break;
      case Kind::Stride:
        word(static_cast<cl_ulong>(stridesOf(random.arguments[param])[dimension]));
        break;
      case Kind::Extent:
        word(static_cast<cl_ulong>(random.arguments[param].extents[dimension]));
        break;
      case Kind::GuardSize:
        word(random.range.global[dimension]);
        break;
      default:
        FAIL("unexpected slot");
    }
    ++position;
  }
  std::size_t global[3], local[3];
  for (std::size_t d = 0; d < 3; ++d) {
    local[d] = random.range.local[d];
    global[d] = (random.range.global[d] + local[d] - 1) / local[d] * local[d];
  }
  REQUIRE(clEnqueueNDRangeKernel(device.computeQueue()(), kernel(), 3, nullptr, global, local, 0,
                                 nullptr, nullptr) == CL_SUCCESS);
  std::vector<std::vector<std::byte>> contents(random.arguments.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (random.arguments[i].kind == RandomArgument::Kind::Local) continue;
    contents[i] = random.arguments[i].bytes;
    if (buffers[i]() != nullptr)
      device.computeQueue().enqueueReadBuffer(buffers[i], CL_TRUE, 0, contents[i].size(),
                                              contents[i].data());
  }
  return contents;
}

void checkBatch(runtime::DeviceState& device, const std::vector<Prepared>& batch,
                const std::string& options) {
  std::string source;
  std::vector<std::string> names(batch.size());
  for (std::size_t k = 0; k < batch.size(); ++k) source += renamed(batch[k], k, names[k]) + "\n";
  std::shared_ptr<const runtime::Program> program;
  try {
    program = runtime::buildProgram(device, names[0], source, options);
  } catch (const BuildError& error) {
    if (batch.size() == 1) {
      FAIL_CHECK("seed " << batch[0].random.seed
                         << " does not build: " << std::string(error.what()));
      return;
    }
    for (const Prepared& prepared : batch) checkBatch(device, {prepared}, options);
    return;
  }
  for (std::size_t k = 0; k < batch.size(); ++k) {
    INFO("seed " << batch[k].random.seed << "; source:\n" << batch[k].emitted.source);
    cl::Kernel kernel(program->program, names[k].c_str());
    const auto device_ = runKernel(device, kernel, batch[k]);
    const auto expected = ir::test::interpretRandomKernel(batch[k].random);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      INFO("argument " << i);
      CHECK(device_[i] == expected[i]);
    }
  }
}

}  // namespace

TEST_CASE("random kernels give the same bits on the device and in the interpreter") {
  // RANDOM_KERNELS=n runs n of them (1,000: about seven minutes of CPU time, uncached),
  // RANDOM_SEED=s begins at another seed.
  const char* asked = std::getenv("RANDOM_KERNELS");
  const char* begin = std::getenv("RANDOM_SEED");
  const std::uint64_t count = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 200;
  const std::uint64_t first = begin != nullptr ? std::strtoull(begin, nullptr, 10) : 1;
  runtime::DeviceState& device = runtime::Runtime::get().defaultDevice();
  const DeviceProperties properties = Device(device).getProperties();
  ir::test::RandomKernelOptions options;
  options.doubles = properties.hasDouble;
  options.floatDivision = properties.type == CPU;

  // Programs are built with one set of options: those with and without doubles go together, too.
  std::map<std::string, std::vector<Prepared>> batches;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Prepared prepared;
    prepared.random = ir::test::makeRandomKernel(seed, options);
    prepared.emitted =
        codegen::emit(prepared.random.kernel, optionsFor(prepared.random, properties));
    std::vector<Prepared>& batch = batches[prepared.emitted.buildOptions];
    batch.push_back(std::move(prepared));
    if (batch.size() < kPerProgram) continue;
    checkBatch(device, batch, batch.front().emitted.buildOptions);
    batch.clear();
  }
  for (auto& [key, batch] : batches)
    if (!batch.empty()) checkBatch(device, batch, key);
  MESSAGE(count << " random kernels, seeds from " << first);
}
