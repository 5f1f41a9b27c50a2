// SPDX-License-Identifier: Apache-2.0
#include "hpl/codegen/emit.h"

#include "hpl/codegen/detail/preamble.h"
#include "hpl/codegen/detail/types.h"
#include "hpl/codegen/detail/writer.h"

namespace hpl::codegen {
namespace {

std::string buildOptions(const EmitOptions& options, bool hasOrdered) {
  std::string text = hasOrdered && options.hasOrderedAtomics ? "-cl-std=CL3.0" : "-cl-std=CL1.2";
  // Where a field fades out towards nothing its numbers become subnormal, and processors are many
  // times slower on those.
  if (options.fp != FpMode::Strict) text += " -cl-denorms-are-zero";
  if (options.fp == FpMode::Fast) text += " -cl-fast-relaxed-math";
  if (options.fp == FpMode::Strict && options.hasCorrectlyRoundedDivide) {
    text += " -cl-fp32-correctly-rounded-divide-sqrt";
  }
  if (options.registers > 0) text += " -cl-nv-maxrregcount=" + std::to_string(options.registers);
  return text;
}

}  // namespace

EmittedKernel emit(const ir::Kernel& kernel, const EmitOptions& options) {
  detail::Session session(kernel, options);
  const detail::Usage& usage = session.usage;
  EmittedKernel emitted;
  emitted.hasBarrier = usage.of(kernel.entry).hasBarrier;
  session.masked = options.guardDims > 0 && emitted.hasBarrier;
  // The device has those cells of a slice that the work-items inside touch.
  if (session.masked && options.sliceDims == 0) {
    session.surplusLoads = ir::SurplusLoads(kernel);
    session.loadsBeyond = session.surplusLoads.anyWithin(options.guardDims);
  }

  detail::checkDevice(kernel, usage, options);
  for (const ir::StructType* type : usage.structs) {
    session.globals.claimExactly(detail::structName(*type));
  }
  const std::vector<const ir::Function*> functions = detail::calledFunctions(kernel);
  detail::writeNatives(session, functions);
  emitted.name = session.globals.claim(kernel.title());
  session.functionNames[kernel.entry] = emitted.name;
  for (const ir::Function* function : functions) {
    if (function->native == nullptr)
      session.functionNames[function] = session.globals.claim(function->name);
  }
  for (const ir::Function* function : functions) {
    if (function->native == nullptr) detail::FunctionWriter(session, *function).writeFunction();
  }
  const std::size_t before = session.text.out().size();
  detail::FunctionWriter(session, *kernel.entry).writeKernel(emitted.slots);
  session.text.out().insert(before, session.apart);

  emitted.source = detail::preamble(session) + session.text.out();
  emitted.buildOptions = buildOptions(options, !session.ordered.empty());
  emitted.sites = std::move(session.sites);
  emitted.probes = std::move(session.probes);
  return emitted;
}

bool decodeViolation(const EmittedKernel& kernel, const std::int32_t* words,
                     AccessViolation& violation) {
  const std::int32_t site = words[ErrorBuffer::Site];
  if (site <= 0 || static_cast<std::size_t>(site) > kernel.sites.size()) return false;
  const auto join = [words](std::size_t low, std::size_t high) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(words[high])) << 32 |
           static_cast<std::uint32_t>(words[low]);
  };
  violation.site = kernel.sites[static_cast<std::size_t>(site) - 1];
  violation.param = words[ErrorBuffer::Param] - 1;
  violation.dimension = words[ErrorBuffer::Dimension];
  violation.index = static_cast<std::int64_t>(join(ErrorBuffer::IndexLow, ErrorBuffer::IndexHigh));
  violation.extent = join(ErrorBuffer::ExtentLow, ErrorBuffer::ExtentHigh);
  for (std::size_t d = 0; d < 3; ++d) {
    violation.globalId[d] = static_cast<std::uint32_t>(words[ErrorBuffer::GlobalIdX + d]);
  }
  return true;
}

}  // namespace hpl::codegen
