// SPDX-License-Identifier: Apache-2.0
#include "tests/launch/random_batch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <regex>

#include "hpl/codegen/detail/types.h"
#include "hpl/runtime/program.h"
#include "hpl/runtime/programs.h"

namespace hpl::test {
namespace {

using ir::test::RandomArgument;
using ir::test::RandomKernel;
using Kind = codegen::Slot::Kind;

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

/// The number that a Stride, Extent or GuardSize slot stands for.
cl_ulong wordOf(const RandomKernel& random, const codegen::Slot& slot) {
  const auto dimension = static_cast<std::size_t>(slot.dimension);
  if (slot.kind == Kind::GuardSize) return random.range.global[dimension];
  const RandomArgument& argument = random.arguments[static_cast<std::size_t>(slot.param)];
  return static_cast<cl_ulong>(slot.kind == Kind::Stride ? stridesOf(argument)[dimension]
                                                         : argument.extents[dimension]);
}

void enqueue(runtime::DeviceState& device, cl::Kernel& kernel, const ir::NDRange& range) {
  std::size_t global[3], local[3];
  for (std::size_t d = 0; d < 3; ++d) {
    local[d] = range.local[d];
    global[d] = (range.global[d] + local[d] - 1) / local[d] * local[d];
  }
  REQUIRE(clEnqueueNDRangeKernel(device.computeQueue()(), kernel(), 3, nullptr, global, local, 0,
                                 nullptr, nullptr) == CL_SUCCESS);
}

/// Everything that the kernels of a batch read and write, one after the other.
class Memory {
 public:
  std::size_t add(const void* data, std::size_t size) {
    const std::size_t at = (bytes_.size() + 127) / 128 * 128;
    bytes_.resize(at + size);
    std::memcpy(bytes_.data() + at, data, size);
    return at;
  }
  cl::Buffer upload(runtime::DeviceState& device) {
    bytes_.resize(bytes_.size() + 128);
    return cl::Buffer(device.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes_.size(),
                      bytes_.data());
  }
  void download(runtime::DeviceState& device, const cl::Buffer& buffer) {
    device.computeQueue().enqueueReadBuffer(buffer, CL_TRUE, 0, bytes_.size(), bytes_.data());
  }
  const std::byte* at(std::size_t offset) const { return bytes_.data() + offset; }

 private:
  std::vector<std::byte> bytes_;
};

/// Turns kernels into the functions, the local variables and the cases of one kernel.
class BatchWriter {
 public:
  std::string functions, locals, cases;
  Memory global, constant;
  std::size_t localParameter = 16;
  /// Per kernel and argument: where it is in its memory.
  std::vector<std::vector<std::size_t>> offsets;

  void add(const Prepared& prepared) {
    number_ = std::to_string(offsets.size());
    offsets.emplace_back(prepared.random.arguments.size(), 0);
    std::string source = renamed(prepared);
    const std::string head = "__kernel void ";
    source.replace(source.find(head), head.size(), "void ");
    cases += "    case " + number_ + ": " + prepared.emitted.name + "_k" + number_ + "(";
    bool first = true;
    for (const codegen::Slot& slot : prepared.emitted.slots) {
      cases += (first ? "" : ", ") + argument(prepared.random, slot);
      first = false;
    }
    hoistLocals(source);
    cases += "); break;\n";
    functions += source + "\n";
  }

  std::string source() const {
    return functions +
           "__kernel void batch(__global uchar* global_memory, __constant uchar* constant_memory, "
           "__local uchar* local_memory, const int which) {\n" +
           locals + "  switch (which) {\n" + cases + "  }\n}\n";
  }

 private:
  /// Every name that a source declares at file scope gets the kernel's number.
  std::string renamed(const Prepared& prepared) const {
    std::string names = "hpl_mad_sat_\\w+|hpl_div_\\w+|hpl_rem_\\w+|hpl_cmul\\w*|hpl_cdiv\\w*";
    for (const ir::Function* function : prepared.random.kernel.functions)
      names += "|" + function->name;
    names += "|" + prepared.emitted.name;
    return std::regex_replace(prepared.emitted.source, std::regex("\\b(" + names + ")\\b"),
                              "$1_k" + number_);
  }

  /// Local variables belong to the kernel: it declares them and passes them on.
  void hoistLocals(std::string& source) {
    const std::string marker = "\n  __local ";
    const std::size_t head = source.rfind("void random_");
    for (;;) {
      const std::size_t open = source.find(") {\n", head);
      if (source.compare(open + 3, marker.size(), marker) != 0) return;
      const std::size_t begin = open + 4;
      const std::size_t end = source.find(';', begin);
      const std::string declaration = source.substr(begin + 2, end - begin - 2);
      const std::size_t bracket = declaration.find('[');
      const std::size_t name = declaration.rfind(' ', bracket) + 1;
      const std::string hoisted =
          "local_" + number_ + "_" + declaration.substr(name, bracket - name);
      locals += "  " + declaration.substr(0, name) + hoisted + declaration.substr(bracket) + ";\n";
      cases += ", " + hoisted;
      source.erase(begin, source.find('\n', begin) + 1 - begin);
      source.insert(open, ", " + declaration);
    }
  }

  std::string argument(const RandomKernel& random, const codegen::Slot& slot) {
    if (slot.kind == Kind::Stride || slot.kind == Kind::Extent || slot.kind == Kind::GuardSize) {
      const cl_ulong word = wordOf(random, slot);
      return "*(__global ulong*)(global_memory + " +
             std::to_string(global.add(&word, sizeof word)) + ")";
    }
    const auto param = static_cast<std::size_t>(slot.param);
    const RandomArgument& argument = random.arguments[param];
    if (slot.kind == Kind::Local) {
      localParameter = std::max(localParameter, localBytes(argument));
      return "(__local void*)local_memory";
    }
    Memory& memory = argument.constant ? constant : global;
    const std::size_t at = memory.add(argument.bytes.data(), argument.bytes.size());
    offsets.back()[param] = at;
    if (slot.kind == Kind::Scalar)
      return "*(__global " + codegen::detail::memoryType(argument.type, true) +
             "*)(global_memory + " + std::to_string(at) + ")";
    REQUIRE(slot.kind == Kind::Buffer);
    return std::string(argument.constant ? "(__constant void*)(constant_memory + "
                                         : "(__global void*)(global_memory + ") +
           std::to_string(at) + ")";
  }

  std::string number_;
};

}  // namespace

Contents runAlone(runtime::DeviceState& device, const Prepared& prepared) {
  const codegen::EmittedKernel& emitted = prepared.emitted;
  const RandomKernel& random = prepared.random;
  const auto program =
      runtime::buildProgram(device, emitted.name, emitted.source, emitted.buildOptions);
  cl::Kernel kernel(program->program, emitted.name.c_str());
  std::vector<cl::Buffer> buffers(random.arguments.size());
  for (std::size_t i = 0; i < emitted.slots.size(); ++i) {
    const codegen::Slot& slot = emitted.slots[i];
    const auto position = static_cast<cl_uint>(i);
    const auto param = static_cast<std::size_t>(std::max(slot.param, 0));
    if (slot.kind == Kind::Buffer) {
      std::vector<std::byte> bytes = random.arguments[param].bytes;
      buffers[param] = cl::Buffer(device.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                  bytes.size(), bytes.data());
      kernel.setArg(position, buffers[param]);
    } else if (slot.kind == Kind::Local) {
      kernel.setArg(position, localBytes(random.arguments[param]), nullptr);
    } else if (slot.kind == Kind::Scalar) {
      kernel.setArg(position, random.arguments[param].bytes.size(),
                    random.arguments[param].bytes.data());
    } else {
      kernel.setArg(position, wordOf(random, slot));
    }
  }
  enqueue(device, kernel, random.range);
  Contents contents(random.arguments.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (random.arguments[i].kind == RandomArgument::Kind::Local) continue;
    contents[i] = random.arguments[i].bytes;
    if (buffers[i]() != nullptr)
      device.computeQueue().enqueueReadBuffer(buffers[i], CL_TRUE, 0, contents[i].size(),
                                              contents[i].data());
  }
  return contents;
}

std::vector<Contents> runTogether(runtime::DeviceState& device,
                                  const std::vector<Prepared>& batch) {
  BatchWriter writer;
  for (const Prepared& prepared : batch) writer.add(prepared);
  // Not by way of the library's cache of binaries: to give out its binary, PoCL compiles a program
  // once more, for any local size.
  cl::Program program(device.context(), writer.source());
  try {
    program.build({device.device()}, batch.front().emitted.buildOptions.c_str());
  } catch (const cl::Error&) {
    throw BuildFailure(program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device.device()));
  }
  cl::Kernel kernel(program, "batch");
  const cl::Buffer global = writer.global.upload(device);
  const cl::Buffer constant = writer.constant.upload(device);
  kernel.setArg(0, global);
  kernel.setArg(1, constant);
  kernel.setArg(2, writer.localParameter, nullptr);
  for (std::size_t k = 0; k < batch.size(); ++k) {
    kernel.setArg(3, static_cast<cl_int>(k));
    enqueue(device, kernel, batch[k].random.range);
  }
  writer.global.download(device, global);
  std::vector<Contents> results;
  for (std::size_t k = 0; k < batch.size(); ++k) {
    Contents& contents = results.emplace_back();
    for (std::size_t i = 0; i < batch[k].random.arguments.size(); ++i) {
      const RandomArgument& argument = batch[k].random.arguments[i];
      const Memory& memory = argument.constant ? writer.constant : writer.global;
      const std::byte* begin = memory.at(writer.offsets[k][i]);
      const bool isLocal = argument.kind == RandomArgument::Kind::Local;
      contents.emplace_back(begin, begin + (isLocal ? 0 : argument.bytes.size()));
    }
  }
  return results;
}

}  // namespace hpl::test
