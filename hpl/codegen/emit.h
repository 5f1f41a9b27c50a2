// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hpl/ir/kernel.h"

/// From the kernel IR to OpenCL C 1.2 source. A writer: it decides nothing about tiling or
/// placement, and never talks to OpenCL.
namespace hpl::codegen {

/// How floating point may be rearranged.
enum class FpMode : std::uint8_t {
  /// OpenCL's default: a * b + c may be contracted.
  Default,
  /// No contraction, so that results equal the host's bit for bit where OpenCL guarantees it.
  Strict,
  /// `-cl-fast-relaxed-math`.
  Fast
};

/// Options of the emitted kernel that the launch chooses or the device needs.
struct EmitOptions {
  FpMode fp = FpMode::Default;
  /// Per parameter: this array argument begins at a nonzero element of its buffer and gets an
  /// Offset slot. Missing entries mean no offset.
  std::vector<bool> offset;
  /// Per parameter: an earlier array parameter of the same rank whose strides this one has too, so
  /// that it needs no Stride slots: the compiler then sees that equal indices are equal positions.
  /// -1 and missing entries: strides of its own.
  std::vector<int> stridesOf;
  /// Above 0: the global size was rounded up in the first `guardDims` axes; the kernel gets
  /// the user's size in GuardSize slots and masks the surplus work-items. In kernels without
  /// barriers they return at once. In kernels with barriers they run the control flow, but
  /// perform no stores to global memory and no atomics, and load 0 from global and constant memory
  /// unless ir/surplus.h says otherwise (as hpl::ir::interpret does).
  int guardDims = 0;
  /// Above 0: the launch runs a slice of a larger domain, in the first `sliceDims` axes. Ids begin
  /// at the SliceFirst slots, and the global size is that of the whole domain, in GuardSize slots;
  /// where the slice was rounded up (guardDims), SliceCount slots say where it ends. OpenCL's own
  /// global offset would not change the global size, and some drivers mistake kernels with offset
  /// for those without.
  int sliceDims = 0;
  /// The kernel's axis a (0 = x) runs along OpenCL dimension axes[a]: the launch's domains must be
  /// permuted alike. Slots and error buffers keep counting in the kernel's axes. See ir/axes.h.
  std::array<int, 3> axes{0, 1, 2};
  /// Conversions between vectors mean what C's conversions of their lanes mean; OpenCL's own
  /// convert_T of drivers are slow at times (PoCL: lane by lane).
  bool plainConversions = false;
  /// The compiler has clang's functions of vectors and makes the device's code of them. Others may
  /// know them and not what becomes of them: the simulator then takes any mask for empty.
  bool hasClangVectors = false;
  /// Vectors of 64-bit truth values choose right only if they are the result of a comparison.
  bool comparesWideMasks = false;
  /// The kernel computes in vectors of up to this many bits; x86 compilers cut those of 512 into
  /// halves unless they are told. 0: what the compiler thinks best.
  int vectorBits = 0;
  /// The kernel is a call of a function with its body, where that is possible: for drivers that
  /// compile kernels several times, and functions once. Not for kernels of many short work-items.
  bool bodiesApart = false;
  /// No two array parameters share memory where one of them is written: their pointers are
  /// `restrict`, so that compilers read what is the same for all steps of a loop before it.
  bool distinctArrays = false;
  /// Buffers begin at multiples of 16 bytes, as those of a device with memory of its own do: where
  /// elements lie tells how they are aligned. Compilers that see an address looked at read its
  /// array in no better way than one that the kernel writes.
  bool alignedBuffers = false;
  /// How many registers a work-item may use, for NVIDIA's compiler (cl_nv_compiler_options); 0: as
  /// it thinks best.
  int registers = 0;
  /// All arrays in global and local memory have less than 2^31 elements, and the device computes
  /// faster with 32 bits than with 64: a work-item's place in them is computed in 32.
  bool narrowPlaces = false;
  /// Check every access against the extents; see `ErrorBuffer`.
  bool checkBounds = false;
  /// The device has cl_khr_fp16. Without it half arrays are converted at loads and stores, and
  /// half variables are refused.
  bool hasHalf = false;
  /// The device computes in double precision (cl_khr_fp64).
  bool hasDouble = true;
  /// cl_khr_int64_base_atomics, and cl_khr_int64_extended_atomics (min, max, and, or, xor).
  bool hasWideAtomics = true;
  bool hasWideMinMaxAtomics = true;
  /// The device supports `-cl-fp32-correctly-rounded-divide-sqrt` (used by FpMode::Strict).
  bool hasCorrectlyRoundedDivide = false;
  /// The device has the ordered atomics of OpenCL C 3.0, acquire and release for the device's
  /// scope: kernels with atomic loads, atomic stores or fences are OpenCL C 3.0. Else they are made
  /// of the exchanges and fences of OpenCL C 1.2, or of the compiler's own operations on CPUs.
  bool hasOrderedAtomics = false;
};

/// One argument of the OpenCL kernel.
struct Slot {
  enum class Kind : std::uint8_t {
    /// Global or constant array: its buffer.
    Buffer,
    /// Local array: its size in bytes, clSetKernelArg(kernel, i, bytes, nullptr).
    Local,
    /// Scalar parameter: its value, in the layout of the parameter's type (bool is one byte, 0 or
    /// 1).
    Scalar,
    /// ulong: elements from the buffer's beginning to the array's first element.
    Offset,
    /// ulong: elements from one index of `dimension` to the next. The last dimension's stride is 1
    /// and not passed.
    Stride,
    /// ulong: extent of the array's `dimension`.
    Extent,
    /// ulong: the user's global size along the kernel's axis `dimension`.
    GuardSize,
    /// ulong: the first id of the slice along the kernel's axis `dimension`, and how many ids it
    /// has.
    SliceFirst,
    SliceCount,
    /// ulong: what Query::Origin gives along the kernel's axis `dimension`.
    Origin,
    /// Buffer of `ErrorBuffer::kWords` ints, all 0 at first.
    ErrorBuffer,
    /// Buffer of `ProbeBuffer::kWords` uints, the first of which is 0.
    ProbeBuffer
  };
  Kind kind = Kind::Buffer;
  /// Parameter of the IR kernel, -1 for those of the launch and the last two.
  int param = -1;
  /// Array dimension, slowest first (Stride, Extent), or axis of the kernel.
  int dimension = 0;

  friend bool operator==(const Slot&, const Slot&) = default;
};

/// A checked access of the kernel.
struct AccessSite {
  /// Name of the accessed variable in its function.
  std::string array;
  /// Name of the function that holds the access.
  std::string function;
  /// Parameter of the kernel that is accessed; -1 for arrays declared in the body, and for accesses
  /// in functions that kernels call (the error buffer knows the array at run time).
  int param = -1;
  int rank = 1;
  bool write = false;
  /// Through an AliasArray: index and extent are positions in the memory of the array behind it.
  bool alias = false;
  /// Index and extent are those of a view which is no box.
  bool view = false;
  ir::SourceLocation where;
};

/// The words of the error buffer of a checked kernel. Only the first violation is recorded; its
/// store is dropped, its load reads element 0, and the kernel goes on. For views that are no boxes,
/// dimension, index and extent are those of the view.
struct ErrorBuffer {
  enum Word : std::size_t {
    /// 1 + index into EmittedKernel::sites; 0: no violation.
    Site,
    Dimension,
    IndexLow,
    IndexHigh,
    ExtentLow,
    ExtentHigh,
    GlobalIdX,
    GlobalIdY,
    GlobalIdZ,
    /// 1 + parameter of the kernel that holds the element, 0 for arrays declared in kernels.
    Param,
    kWords
  };
};

/// A probe of the kernel.
struct ProbeSite {
  std::string label;
  ir::Type type;
  ir::SourceLocation where;
};

/// Word 0 of a probe buffer counts the values that work-items have shown; records of the first ones
/// follow.
struct ProbeBuffer {
  enum Word : std::size_t {
    /// Index into EmittedKernel::probes.
    Site,
    GlobalIdX,
    GlobalIdY,
    GlobalIdZ,
    /// The value's bits; of integers as many as of long, of floats those of float.
    Low,
    High,
    kRecord
  };
  static constexpr std::size_t kRecords = 16384;
  static constexpr std::size_t kWords = 1 + kRecords * kRecord;
};

/// An access outside its array, read from an error buffer.
struct AccessViolation {
  AccessSite site;
  /// Parameter of the kernel; -1: an array declared in the kernel.
  int param = -1;
  int dimension = 0;
  std::int64_t index = 0;
  std::uint64_t extent = 0;
  std::array<std::uint32_t, 3> globalId{};
};

/// A kernel in OpenCL C.
struct EmittedKernel {
  /// The kernel's name in the source; never a reserved word.
  std::string name;
  std::string source;
  /// The kernel's arguments, in order.
  std::vector<Slot> slots;
  std::string buildOptions;
  /// With checkBounds: every checked access.
  std::vector<AccessSite> sites;
  /// The kernel's probes; empty: it has none, and no ProbeBuffer slot.
  std::vector<ProbeSite> probes;
  /// The kernel executes barriers (in itself or in functions that it calls).
  bool hasBarrier = false;
};

/// Writes `kernel` as OpenCL C 1.2, or 3.0 (EmitOptions::hasOrderedAtomics). Throws KernelError for
/// what OpenCL C or the device cannot express (double or half variables without support, vectors of
/// bool), DeviceError for atomics of 64 bits without support.
EmittedKernel emit(const ir::Kernel& kernel, const EmitOptions& options = {});

/// Reads an error buffer of `ErrorBuffer::kWords` words; returns false when no violation is
/// recorded.
bool decodeViolation(const EmittedKernel& kernel, const std::int32_t* words,
                     AccessViolation& violation);

}  // namespace hpl::codegen
