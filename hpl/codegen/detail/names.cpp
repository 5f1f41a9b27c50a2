// SPDX-License-Identifier: Apache-2.0
#include "hpl/codegen/detail/names.h"

#include <array>
#include <cctype>

#include "hpl/ir/op.h"

namespace hpl::codegen::detail {
namespace {

// C99's and OpenCL C's keywords, types and qualifiers; the built-in functions outside
// hpl/ir/builtins.def; the macros that headers of OpenCL C compilers define; "main", which some
// drivers treat specially.
constexpr const char* kWords[] = {"auto",
                                  "break",
                                  "case",
                                  "char",
                                  "const",
                                  "continue",
                                  "default",
                                  "do",
                                  "double",
                                  "else",
                                  "enum",
                                  "extern",
                                  "float",
                                  "for",
                                  "goto",
                                  "if",
                                  "inline",
                                  "int",
                                  "long",
                                  "register",
                                  "restrict",
                                  "return",
                                  "short",
                                  "signed",
                                  "sizeof",
                                  "static",
                                  "struct",
                                  "switch",
                                  "typedef",
                                  "union",
                                  "unsigned",
                                  "void",
                                  "volatile",
                                  "while",
                                  "_Bool",
                                  "_Complex",
                                  "_Imaginary",
                                  "asm",
                                  "typeof",
                                  "__attribute__",
                                  "bool",
                                  "uchar",
                                  "ushort",
                                  "uint",
                                  "ulong",
                                  "half",
                                  "quad",
                                  "size_t",
                                  "ptrdiff_t",
                                  "intptr_t",
                                  "uintptr_t",
                                  "event_t",
                                  "sampler_t",
                                  "image1d_t",
                                  "image2d_t",
                                  "image3d_t",
                                  "image1d_array_t",
                                  "image1d_buffer_t",
                                  "image2d_array_t",
                                  "complex",
                                  "imaginary",
                                  "global",
                                  "local",
                                  "constant",
                                  "private",
                                  "generic",
                                  "kernel",
                                  "__global",
                                  "__local",
                                  "__constant",
                                  "__private",
                                  "__generic",
                                  "__kernel",
                                  "read_only",
                                  "write_only",
                                  "read_write",
                                  "__read_only",
                                  "__write_only",
                                  "__read_write",
                                  "uniform",
                                  "pipe",
                                  "true",
                                  "false",
                                  "NULL",
                                  "INFINITY",
                                  "NAN",
                                  "HUGE_VAL",
                                  "HUGE_VALF",
                                  "MAXFLOAT",
                                  "FLT_MAX",
                                  "FLT_MIN",
                                  "FLT_EPSILON",
                                  "FLT_DIG",
                                  "FLT_RADIX",
                                  "DBL_MAX",
                                  "DBL_MIN",
                                  "DBL_EPSILON",
                                  "CHAR_BIT",
                                  "CHAR_MAX",
                                  "CHAR_MIN",
                                  "SCHAR_MAX",
                                  "SCHAR_MIN",
                                  "UCHAR_MAX",
                                  "SHRT_MAX",
                                  "SHRT_MIN",
                                  "USHRT_MAX",
                                  "INT_MAX",
                                  "INT_MIN",
                                  "UINT_MAX",
                                  "LONG_MAX",
                                  "LONG_MIN",
                                  "ULONG_MAX",
                                  "M_E",
                                  "M_E_F",
                                  "M_PI",
                                  "M_PI_F",
                                  "M_PI_2",
                                  "M_PI_2_F",
                                  "M_PI_4",
                                  "M_PI_4_F",
                                  "M_SQRT2",
                                  "M_SQRT2_F",
                                  "M_LN2",
                                  "M_LN2_F",
                                  "M_LN10",
                                  "M_LN10_F",
                                  "FP_FAST_FMAF",
                                  "main",
                                  "get_work_dim",
                                  "get_global_size",
                                  "get_global_id",
                                  "get_local_size",
                                  "get_local_id",
                                  "get_num_groups",
                                  "get_group_id",
                                  "get_global_offset",
                                  "get_global_linear_id",
                                  "get_local_linear_id",
                                  "get_enqueued_local_size",
                                  "barrier",
                                  "mem_fence",
                                  "read_mem_fence",
                                  "write_mem_fence",
                                  "work_group_barrier",
                                  "prefetch",
                                  "printf",
                                  "fence",
                                  "vload_half",
                                  "vstore_half",
                                  "async_work_group_copy",
                                  "async_work_group_strided_copy",
                                  "wait_group_events",
                                  "atomic_add",
                                  "atomic_sub",
                                  "atomic_xchg",
                                  "atomic_inc",
                                  "atomic_dec",
                                  "atomic_cmpxchg",
                                  "atomic_min",
                                  "atomic_max",
                                  "atomic_and",
                                  "atomic_or",
                                  "atomic_xor",
                                  "atom_add",
                                  "atom_sub",
                                  "atom_xchg",
                                  "atom_inc",
                                  "atom_dec",
                                  "atom_cmpxchg",
                                  "atom_min",
                                  "atom_max",
                                  "atom_and",
                                  "atom_or",
                                  "atom_xor",
                                  "vec_step",
                                  "popcount",
                                  "ctz",
                                  "abs_diff",
                                  "read_imagef",
                                  "read_imagei",
                                  "read_imageui",
                                  "write_imagef",
                                  "write_imagei",
                                  "write_imageui",
                                  "get_image_width",
                                  "get_image_height",
                                  "get_image_depth",
                                  "linux",
                                  "unix",
                                  "i386",
                                  "cl_khr_fp64",
                                  "cl_khr_fp16",
                                  "dim",
                                  "y0",
                                  "y1",
                                  "yn",
                                  "j0",
                                  "j1",
                                  "jn",
                                  "gamma",
                                  "index",
                                  "rindex",
                                  "signgam",
                                  "div",
                                  "ldiv",
                                  "labs"};

// Families whose members are a prefix and a type: convert_int4_sat_rte, as_float2, vload4, ...
constexpr std::string_view kPrefixes[] = {
    "convert_", "as_",      "vload",      "vstore",      "hpl_",    "__",    "cl_",
    "CL_",      "CLK_",     "atomic_",    "atom_",       "native_", "half_", "image1d_",
    "image2d_", "image3d_", "sub_group_", "work_group_", "pocl_",   "_cl_",  "_Z"};

constexpr std::string_view kVectorBases[] = {"char",   "uchar", "short", "ushort", "int",
                                             "uint",   "long",  "ulong", "half",   "float",
                                             "double", "bool",  "quad"};

const std::unordered_set<std::string_view>& reservedWords() {
  static const std::unordered_set<std::string_view> words = [] {
    std::unordered_set<std::string_view> set;
    for (const char* word : kWords) set.insert(word);
#define HPL_BUILTIN(name, arity, family) set.insert(#name);
#include "hpl/ir/builtins.def"
#undef HPL_BUILTIN
    return set;
  }();
  return words;
}

bool isVectorName(std::string_view name) {
  for (const std::string_view base : kVectorBases) {
    if (name.substr(0, base.size()) != base) continue;
    const std::string_view rest = name.substr(base.size());
    if (rest == "2" || rest == "3" || rest == "4" || rest == "8" || rest == "16") return true;
  }
  return false;
}

}  // namespace

bool isReserved(std::string_view name) {
  if (reservedWords().count(name) != 0 || isVectorName(name)) return true;
  for (const std::string_view prefix : kPrefixes) {
    if (name.substr(0, prefix.size()) == prefix) return true;
  }
  // Identifiers that C reserves for implementations.
  return name.size() > 1 && name[0] == '_' && std::isupper(static_cast<unsigned char>(name[1]));
}

std::string toIdentifier(std::string_view wanted) {
  std::string name;
  for (const char c : wanted) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
    const bool digit = byte >= '0' && byte <= '9';
    name += letter || digit ? c : '_';
  }
  if (name.empty()) return "v";
  if (name[0] >= '0' && name[0] <= '9') name.insert(0, "v");
  return name;
}

std::string NameScope::claim(std::string_view wanted) {
  std::string name = toIdentifier(wanted);
  // A prefix is reserved whatever follows it, so that only a new prefix helps.
  bool taken = isReserved(name);
  if (taken && isReserved(name + '_')) {
    name.insert(0, "v_");
    taken = isReserved(name);
  }
  while (taken || isUsed(name)) {
    name += '_';
    taken = isReserved(name);
  }
  used_.insert(name);
  return name;
}

bool NameScope::isUsed(const std::string& name) const {
  return used_.count(name) != 0 || (outer_ != nullptr && outer_->isUsed(name));
}

}  // namespace hpl::codegen::detail
