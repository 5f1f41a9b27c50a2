// SPDX-License-Identifier: Apache-2.0
#include "hpl/codegen/detail/preamble.h"

#include "hpl/codegen/detail/types.h"
#include "hpl/error.h"

namespace hpl::codegen::detail {
namespace {

using ir::Scalar;

constexpr const char* kRoundHalf = R"(float hpl_round_half(const float x) {
  ushort bits;
  vstore_half(x, 0, (half*)&bits);
  return vload_half(0, (const half*)&bits);
}

)";

std::string describePlace(const ir::SourceLocation& where) {
  if (where.file == nullptr) return {};
  return std::string(" (") + where.file + ':' + std::to_string(where.line) + ')';
}

void writeComplex(std::string& out, const Usage& usage) {
  for (int precision = 0; precision < 2; ++precision) {
    const auto at = static_cast<std::size_t>(precision);
    const std::string type = precision == 0 ? "float2" : "double2";
    const std::string suffix = precision == 0 ? "" : "_double";
    const std::string head = type + " hpl_c";
    const std::string params = suffix + "(const " + type + " a, const " + type + " b) {\n";
    if (usage.multipliesComplex[at]) {
      out += head + "mul" + params + "  return (" + type +
             ")(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);\n}\n\n";
    }
    if (usage.dividesComplex[at]) {
      out += head + "div" + params + "  const " + (precision == 0 ? "float" : "double") +
             " d = b.x * b.x + b.y * b.y;\n  return (" + type +
             ")((a.x * b.x + a.y * b.y) / d, (a.y * b.x - a.x * b.y) / d);\n}\n\n";
    }
  }
}

// Division by zero gives 0, as hpl::ir::interpret has it.
void writeSafeDivision(std::string& out, const std::string& type) {
  const std::string zero = '(' + type + ")(0)";
  const auto write = [&](const char* name, const char* op) {
    out += type + " hpl_" + name + '_' + type + "(const " + type + " a, const " + type +
           " b) {\n  return b == " + zero + " ? " + zero + " : a " + op + " (b == " + zero +
           " ? (" + type + ")(1) : b);\n}\n\n";
  };
  write("div", "/");
  write("rem", "%");
}

// Only the first violation of a launch is recorded; ErrorBuffer in emit.h names the words.
void writeChecks(std::string& out, const Session& session) {
  out +=
      R"(bool hpl_inside(__global int* error, const int site, const int dimension, const long index,
    const ulong extent, const int param) {
  if ((ulong)index < extent) return true;
  if (atomic_cmpxchg(error, 0, site) == 0) {
    error[1] = dimension;
    error[2] = (int)index;
    error[3] = (int)(index >> 32);
    error[4] = (int)extent;
    error[5] = (int)(extent >> 32);
)";
  for (int axis = 0; axis < 3; ++axis) {
    out += "    error[" + std::to_string(ErrorBuffer::GlobalIdX + axis) + "] = (int)get_global_id" +
           session.ofAxis(axis) + ";\n";
  }
  out += R"(    error[9] = param;
  }
  return false;
}

long hpl_index(__global int* error, const int site, const int dimension, const long index,
    const ulong extent, const int param) {
  return hpl_inside(error, site, dimension, index, extent, param) ? index : 0;
}

)";
}

// ProbeBuffer in emit.h names the words.
void writeProbes(std::string& out, const Session& session) {
  out +=
      "void hpl_probe(__global uint* probes, const uint site, const ulong bits) {\n"
      "  const uint at = atomic_inc(probes);\n  if (at >= " +
      std::to_string(ProbeBuffer::kRecords) + "u) return;\n  probes += 1 + at * " +
      std::to_string(ProbeBuffer::kRecord) + "u;\n  probes[0] = site;\n";
  for (int axis = 0; axis < 3; ++axis)
    out += "  probes[" + std::to_string(ProbeBuffer::GlobalIdX + axis) + "] = (uint)get_global_id" +
           session.ofAxis(axis) + ";\n";
  out += "  probes[4] = (uint)bits;\n  probes[5] = (uint)(bits >> 32);\n}\n\n";
}

constexpr const char* kPlainConversions = R"(#if defined(__has_builtin)
#if __has_builtin(__builtin_convertvector)
#define hpl_convert(type, value) __builtin_convertvector(value, type)
#endif
#endif
#ifndef hpl_convert
#define hpl_convert(type, value) convert_##type(value)
#endif

)";

// PoCL's any() takes a vector apart; this is one instruction.
constexpr const char* kMaskTest = R"(#if defined(__has_builtin)
#if __has_builtin(__builtin_reduce_or)
#define hpl_any(mask) (__builtin_reduce_or((mask) < 0) != 0)
#endif
#endif
#ifndef hpl_any
#define hpl_any(mask) any(mask)
#endif

)";

constexpr const char* kApart = R"(#if defined(__has_attribute)
#if __has_attribute(noinline)
#define hpl_apart __attribute__((noinline))
#endif
#endif
#ifndef hpl_apart
#define hpl_apart
#endif

)";

// Stores past the caches have to be visible to everybody who learns that the kernel is done.
constexpr const char* kStreamed = R"(#if defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define hpl_streams
#endif
#endif
void hpl_streamed() {
#if defined(hpl_streams) && defined(__x86_64__)
#if __has_builtin(__builtin_ia32_sfence)
  __builtin_ia32_sfence();
#endif
#endif
}

)";

// Only aligned vectors pass the caches. The types of both stores differ, so that compilers do not
// make one of them, which would not.
void writeStream(std::string& out, const std::string& name, const ir::Type& type) {
  const bool isWide = ir::sizeOf(type.scalar) == 8;
  const Scalar other = type.isFloating() ? (isWide ? Scalar::Long : Scalar::Int)
                                         : (isWide ? Scalar::Double : Scalar::Float);
  const std::string shadow = ir::toString(type.withScalar(other));
  out += "void hpl_stream_" + name + "(__global " + unalignedName(type) + "* at, const " + name +
         " value) {\n#ifdef hpl_streams\n  if (((ulong)at & " +
         std::to_string(ir::sizeOf(type) - 1) + "UL) == 0) {\n    __builtin_nontemporal_store(as_" +
         shadow + "(value), (__global " + shadow +
         "*)at);\n    return;\n  }\n#endif\n  *at = value;\n}\n\n";
}

// Half values by way of their bits, for devices that can only load and store them.
void writeHalfHelpers(std::string& out, const Session& session) {
  const auto spell = [](const char* type, int lanes) {
    return lanes > 1 ? type + std::to_string(lanes) : std::string(type);
  };
  // 3-lane vectors occupy four lanes in memory, as the "a" forms of the conversions assume.
  const auto access = [&](const char* name, int lanes) {
    return std::string(name) + (lanes == 3 ? "a" : "") + spell("_half", lanes);
  };
  for (const int lanes : session.fromHalf) {
    out += spell("float", lanes) + ' ' + spell("hpl_from_half", lanes) + "(const " +
           spell("ushort", lanes) + " bits) {\n  return " + access("vload", lanes) +
           "(0, (const half*)&bits);\n}\n\n";
  }
  for (const int lanes : session.toHalf) {
    out += spell("ushort", lanes) + ' ' + spell("hpl_to_half", lanes) + "(const " +
           spell("float", lanes) + " x) {\n  " + spell("ushort", lanes) + " bits;\n  " +
           access("vstore", lanes) + "(x, 0, (half*)&bits);\n  return bits;\n}\n\n";
  }
  if (session.roundsToHalf) out += kRoundHalf;
}

}  // namespace

std::string unalignedName(const ir::Type& type) { return "hpl_" + ir::toString(type); }

void checkDevice(const ir::Kernel& kernel, const Usage& usage, const EmitOptions& options) {
  const std::string who = "Kernel '" + kernel.title() + "'";
  if (usage.needsDouble && !options.hasDouble) {
    throw KernelError(who +
                      " uses double precision, which the device does not support "
                      "(cl_khr_fp64); use float, or run it on another device.");
  }
  if (usage.wideAtomic != nullptr && !options.hasWideAtomics) {
    throw DeviceError(who + " calls " + ir::toString(usage.wideAtomic->op) + " on " +
                      ir::toString(usage.wideAtomic->target->type) +
                      describePlace(usage.wideAtomicAt) +
                      ", and the device has no atomics of 64 bits (cl_khr_int64_base_atomics); use "
                      "int, unsigned or float there, or run it on another device.");
  }
  if (options.hasHalf) return;
  if (const ir::Variable* variable = usage.halfVector) {
    throw KernelError(who + " has the variable '" + variable->name + "'" +
                      describePlace(variable->where) + " of type " + ir::toString(variable->type) +
                      ", which the device does not support (cl_khr_fp16); use " +
                      ir::toString(variable->type.withScalar(Scalar::Float)) +
                      " there: elements of half arrays are converted when they are loaded and "
                      "stored.");
  }
}

std::string preamble(const Session& session) {
  const Usage& usage = session.usage;
  const EmitOptions& options = session.options;
  std::string out;
  if (usage.needsDouble) out += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  if (usage.needsHalf && options.hasHalf) out += "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n";
  out += atomicExtensions(session);
  if (options.fp == FpMode::Strict) out += "#pragma OPENCL FP_CONTRACT OFF\n";
  if (!out.empty()) out += '\n';
  for (const ir::StructType* type : usage.structs)
    out += structTypedef(*type, options.hasHalf) + '\n';
  for (const auto& [name, type] : session.longVectors)
    out += "typedef " + ir::toString(type.element()) + ' ' + name +
           " __attribute__((ext_vector_type(" + std::to_string(type.lanes) + ")));\n";
  for (const auto& [name, type] : session.unaligned)
    out += "typedef " + ir::toString(type) + ' ' + name + " __attribute__((aligned(" +
           std::to_string(ir::sizeOf(type.scalar)) + ")));\n";
  if (options.vectorBits > 0) {
    out +=
        "#if defined(__has_attribute)\n#if __has_attribute(min_vector_width)\n"
        "#define hpl_wide __attribute__((min_vector_width(" +
        std::to_string(options.vectorBits) +
        ")))\n#endif\n#endif\n#ifndef hpl_wide\n#define hpl_wide\n#endif\n\n";
  }
  if (!session.apart.empty()) out += kApart;
  if (session.convertsVectors) out += kPlainConversions;
  if (session.testsMasks) out += kMaskTest;
  if (!session.streamed.empty()) out += kStreamed;
  for (const auto& [name, type] : session.streamed) writeStream(out, name, type);
  for (const auto& [name, helper] : session.ordered) out += helper;
  for (const auto& [name, function] : session.ownFunctions) out += function;
  writeComplex(out, usage);
  for (const std::string& type : session.safeDivisions) writeSafeDivision(out, type);
  writeHalfHelpers(out, session);
  writeAtomicHelpers(out, session);
  if (!session.probes.empty()) writeProbes(out, session);
  if (options.checkBounds) writeChecks(out, session);
  return out;
}

}  // namespace hpl::codegen::detail
