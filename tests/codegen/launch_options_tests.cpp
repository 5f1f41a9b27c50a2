// SPDX-License-Identifier: Apache-2.0
// What launches ask of the text: axes along other dimensions, strides that arrays share.
#include <doctest/doctest.h>

#include <vector>

#include "hpl/codegen/emit.h"
#include "tests/codegen/device_run.h"
#include "tests/ir/ir_builder.h"

namespace {

using namespace hpl::ir;        // NOLINT: the builder's operators and names
using namespace hpl::ir::test;  // NOLINT
using hpl::codegen::emit;
using hpl::codegen::EmitOptions;
using hpl::codegen::EmittedKernel;
using hpl::codegen::ErrorBuffer;
using hpl::codegen::Slot;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("axes run along other OpenCL dimensions; slots keep counting axes") {
  IrBuilder b("rows");
  A a = b.array("a", kInt, 2);
  b.set(a(b.idx(), b.idy()), b.query(Query::GlobalSize, 0) + b.query(Query::NumGroups, 1));
  const Kernel kernel = b.finish();
  EmitOptions options;
  options.axes = {1, 0, 2};
  options.guardDims = 1;
  const EmittedKernel emitted = emit(kernel, options);
  CHECK(emitted.source ==
        "__kernel void rows(__global int* a, const ulong a_s0, const ulong hpl_size_x) {\n"
        "  if (get_global_id(1) >= hpl_size_x) return;\n"
        "  const ulong idx = get_global_id(1);\n"
        "  const ulong idy = get_global_id(0);\n"
        "  const ulong ngroupsy = get_num_groups(0);\n"
        "  a[idx * a_s0 + idy] = hpl_size_x + ngroupsy;\n"
        "}\n");
  CHECK(emitted.slots.back() == Slot{Slot::Kind::GuardSize, -1, 0});
  options.checkBounds = true;
  const std::string checked = emit(kernel, options).source;
  CHECK(contains(checked, "error[6] = (int)get_global_id(1);"));
  CHECK(contains(checked, "error[7] = (int)get_global_id(0);"));
  CHECK(contains(checked, "error[8] = (int)get_global_id(2);"));
}

TEST_CASE("arrays that share strides get one argument for them") {
  const auto make = [] {
    IrBuilder b("copy");
    A out = b.array("out", kFloat, 2), in = b.array("in", kFloat, 2, {.readOnly = true});
    A other = b.array("other", kFloat, 2, {.readOnly = true});
    b.set(out(b.idy(), b.idx()), in(b.idy(), b.idx()) + other(b.idy(), b.idx()));
    return b.finish();
  };
  const Kernel kernel = make();
  EmitOptions options;
  options.stridesOf = {-1, 0};
  const EmittedKernel emitted = emit(kernel, options);
  CHECK(emitted.source ==
        "__kernel void copy(__global float* out, const ulong out_s0, __global const float* in,\n"
        "    __global const float* other, const ulong other_s0) {\n"
        "  const ulong idx = get_global_id(0);\n"
        "  const ulong idy = get_global_id(1);\n"
        "  out[idy * out_s0 + idx] = in[idy * out_s0 + idx] + other[idy * other_s0 + idx];\n"
        "}\n");
  const std::vector<Slot> slots{{Slot::Kind::Buffer, 0, 0},
                                {Slot::Kind::Stride, 0, 0},
                                {Slot::Kind::Buffer, 1, 0},
                                {Slot::Kind::Buffer, 2, 0},
                                {Slot::Kind::Stride, 2, 0}};
  CHECK(emitted.slots == slots);
}

TEST_CASE("functions get the strides of the arrays that they are given, shared or not") {
  if (!hpl::codegen::test::hasDevice()) return;
  using namespace hpl::codegen::test;  // NOLINT
  IrBuilder b("k");
  const Function* move = b.function("move", kVoid, [&] {
    A to = b.array("to", kInt, 2), from = b.array("from", kInt, 2, {.readOnly = true});
    b.set(to(b.idy(), b.idx()), from(b.idy(), b.idx()) + 1);
  });
  A x = b.array("x", kInt, 2), y = b.array("y", kInt, 2, {.readOnly = true});
  b.call(move, {b.whole(x), b.whole(y)});
  const Kernel kernel = b.finish();
  EmitOptions options;
  options.stridesOf = {-1, 0};
  std::vector<int> x_(6), y_{1, 2, 3, 4, 5, 6};
  run(kernel, options, {array(x_, {2, 3}), array(y_, {2, 3})}, {{3, 2}, {1, 1}});
  CHECK(x_ == std::vector<int>{2, 3, 4, 5, 6, 7});
}
