// SPDX-License-Identifier: Apache-2.0
// Atomic loads, atomic stores and fences as OpenCL C 1.2, as OpenCL C 3.0, and on a device.
#include <doctest/doctest.h>

#include "../ir/ir_builder.h"
#include "device_run.h"
#include "hpl/codegen/emit.h"
#include "hpl/ir/verifier.h"

namespace ordered_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;
using hpl::codegen::emit;
using hpl::codegen::EmitOptions;
using hpl::codegen::EmittedKernel;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Copies flags[0] to flags[1].
Kernel copyFlag() {
  IrBuilder b("copy_flag");
  A flags = b.array("flags", kInt, 1);
  A x = b.var("x", kInt, 0);
  b.stmt(
      Atomic{x.v, AtomicOp::Load, flags(b.lit(0)), {}, MemoryOrder::Acquire, MemoryScope::Device});
  b.stmt(Fence{MemoryOrder::AcquireRelease, MemoryScope::Device});
  b.stmt(Atomic{
      nullptr, AtomicOp::Store, flags(b.lit(1)), {*x}, MemoryOrder::Release, MemoryScope::Device});
  b.set(flags(b.lit(2)), b.expr(kInt, Access{flags.v, {b.lit(1)}, 1, true}));
  Kernel kernel = b.finish();
  verify(kernel);
  return kernel;
}

}  // namespace

TEST_CASE("OpenCL C 1.2 makes atomic loads and stores of exchanges and fences, CPUs of their own") {
  const EmittedKernel emitted = emit(copyFlag());
  CHECK(contains(emitted.buildOptions, "-cl-std=CL1.2"));
  CHECK(contains(emitted.source,
                 "int hpl_load_acquire(volatile __global int* const cell) {\n"
                 "#if defined(__x86_64__)"));
  CHECK(contains(emitted.source,
                 "  return __atomic_load_n(cell, __ATOMIC_ACQUIRE);\n#else\n"
                 "  const int value = atomic_or(cell, 0);\n"
                 "  mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);\n"));
  CHECK(contains(emitted.source,
                 "  mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);\n"
                 "  atomic_xchg(cell, value);\n"));
  CHECK(contains(emitted.source, "x = hpl_load_acquire(&flags[0]);"));
  CHECK(contains(emitted.source, "hpl_store_release(&flags[1], x);"));
  CHECK(contains(emitted.source, "hpl_fence_acq_rel();"));
  CHECK(contains(emitted.source, "flags[2] = ((volatile __global int*)flags)[1];"));
}

TEST_CASE("OpenCL C 3.0 has atomic loads and stores of its own") {
  EmitOptions options;
  options.hasOrderedAtomics = true;
  const EmittedKernel emitted = emit(copyFlag(), options);
  CHECK(contains(emitted.buildOptions, "-cl-std=CL3.0"));
  CHECK(contains(emitted.source,
                 "  return atomic_load_explicit((volatile __global atomic_int*)cell, "
                 "memory_order_acquire, memory_scope_device);\n"));
  CHECK(contains(emitted.source,
                 "  atomic_store_explicit((volatile __global atomic_int*)cell, value, "
                 "memory_order_release, memory_scope_device);\n"));
  CHECK(contains(emitted.source,
                 "  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, "
                 "memory_order_acq_rel, memory_scope_device);\n"));
}

TEST_CASE("other kernels stay OpenCL C 1.2 where the device could do more") {
  IrBuilder b("plain");
  A a = b.array("a", kInt, 1);
  b.set(a(b.idx()), 1);
  EmitOptions options;
  options.hasOrderedAtomics = true;
  CHECK(contains(emit(b.finish(), options).buildOptions, "-cl-std=CL1.2"));
}

TEST_CASE("ordered atomics run on the device") {
  using namespace hpl::codegen::test;  // NOLINT
  if (!hasDevice()) return;
  std::vector<int> flags{42, 0, 0};
  run(copyFlag(), {}, {array(flags)}, {{1}, {1}});
  CHECK(flags == std::vector<int>{42, 42, 42});
}

}  // namespace ordered_tests
