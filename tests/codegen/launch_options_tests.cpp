// SPDX-License-Identifier: Apache-2.0
// What launches ask of the text: axes along other dimensions, strides that arrays share.
#include <doctest/doctest.h>

#include <vector>

#include "hpl/codegen/emit.h"
#include "tests/codegen/device_run.h"
#include "tests/ir/ir_builder.h"
#include "tests/messages.h"

namespace launch_options_tests {

namespace {

using hpl_tests::contains;

using namespace hpl::ir;        // NOLINT: the builder's operators and names
using namespace hpl::ir::test;  // NOLINT
using hpl::codegen::emit;
using hpl::codegen::EmitOptions;
using hpl::codegen::EmittedKernel;
using hpl::codegen::ErrorBuffer;
using hpl::codegen::Slot;

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

TEST_CASE("global arrays that share no memory are restrict pointers when the launch says so") {
  IrBuilder b("copy");
  A out = b.array("out", kFloat, 1), in = b.array("in", kFloat, 1, {.readOnly = true});
  b.set(out(b.idx()), in(b.idx()));
  const Kernel kernel = b.finish();
  EmitOptions options;
  options.distinctArrays = true;
  CHECK(contains(emit(kernel, options).source,
                 "copy(__global float* restrict out, __global const float* restrict in)"));
  CHECK_FALSE(contains(emit(kernel).source, "restrict"));
}

namespace {

/// The kernel with its last statements in a block that is to be compiled on its own.
void setApart(const Kernel& kernel, std::size_t statements) {
  auto* body = const_cast<Block*>(kernel.entry->body);
  const auto first = body->stmts.end() - static_cast<std::ptrdiff_t>(statements);
  const Block part{{first, body->stmts.end()}, true};
  body->stmts.erase(first, body->stmts.end());
  body->stmts.push_back(kernel.arena->add(Stmt{{}, part}));
}

}  // namespace

TEST_CASE("a block that is set apart becomes a function that gets what it reads") {
  IrBuilder b("scale");
  A out = b.array("out", kFloat, 2), in = b.array("in", kFloat, 2, {.readOnly = true});
  A factor = b.scalar("factor", kFloat);
  A sum = b.var("sum", kFloat, in(b.idy(), b.idx()));
  b.set(out(b.idy(), b.idx()), *sum * *factor);
  const Kernel kernel = b.finish();
  setApart(kernel, 1);
  EmitOptions options;
  options.stridesOf = {-1, 0};
  CHECK(emit(kernel, options).source ==
        "#if defined(__has_attribute)\n"
        "#if __has_attribute(noinline)\n"
        "#define hpl_apart __attribute__((noinline))\n"
        "#endif\n"
        "#endif\n"
        "#ifndef hpl_apart\n"
        "#define hpl_apart\n"
        "#endif\n"
        "\n"
        "hpl_apart void scale_block(const ulong idy, const ulong idx, __global float* out,\n"
        "    const ulong out_s0, const float sum, const float factor) {\n"
        "  out[idy * out_s0 + idx] = sum * factor;\n"
        "}\n"
        "\n"
        "__kernel void scale(__global float* out, const ulong out_s0, __global const float* in,\n"
        "    const float factor) {\n"
        "  const ulong idx = get_global_id(0);\n"
        "  const ulong idy = get_global_id(1);\n"
        "  float sum = in[idy * out_s0 + idx];\n"
        "  scale_block(idy, idx, out, out_s0, sum, factor);\n"
        "}\n");
}

TEST_CASE("a block that changes what is around it, leaves it or is checked stays where it is") {
  const auto make = [](bool changes) {
    IrBuilder b("sums");
    A out = b.array("out", kFloat, 1);
    A sum = b.var("sum", kFloat, b.lit(kFloat, 1));
    if (changes) b.set(sum, *sum + *sum);
    b.set(out(b.idx()), *sum);
    if (!changes) b.ret();
    const Kernel kernel = b.finish();
    setApart(kernel, 2);
    return kernel;
  };
  for (const bool changes : {true, false}) {
    const std::string source = emit(make(changes)).source;
    CHECK_FALSE(contains(source, "hpl_apart"));
    CHECK(contains(source, "  {\n"));
  }
  IrBuilder b("copy");
  A out = b.array("out", kInt, 1);
  b.set(out(b.idx()), b.lit(3));
  const Kernel kernel = b.finish();
  setApart(kernel, 1);
  CHECK(contains(emit(kernel).source, "hpl_apart"));
  EmitOptions options;
  options.checkBounds = true;
  CHECK_FALSE(contains(emit(kernel, options).source, "hpl_apart"));
}

TEST_CASE("a kernel whose body is set apart calls it with all that the body names") {
  IrBuilder b("scale");
  A out = b.array("out", kFloat, 2), in = b.array("in", kFloat, 2, {.readOnly = true});
  A factor = b.scalar("factor", kFloat);
  A tile = b.local("tile", kFloat, {16});
  b.set(tile(b.idx()), in(b.idy(), b.idx()));
  b.set(out(b.idy(), b.idx()), tile(b.idx()) * *factor);
  EmitOptions options;
  options.bodiesApart = options.distinctArrays = true;
  options.stridesOf = {-1, 0};
  options.offset = {true};
  const std::string source = emit(b.finish(), options).source;
  CHECK(
      source.substr(source.find("hpl_apart void")) ==
      "hpl_apart void scale_body(__global float* restrict out, const ulong out_s0,\n"
      "    __global const float* restrict in, const float factor, __local float* tile, const ulong "
      "idx,\n"
      "    const ulong idy) {\n"
      "  tile[idx] = in[idy * out_s0 + idx];\n"
      "  out[idy * out_s0 + idx] = tile[idx] * factor;\n"
      "}\n"
      "\n"
      "__kernel void scale(__global float* restrict out, const ulong out_offset, const ulong "
      "out_s0,\n"
      "    __global const float* restrict in, const float factor) {\n"
      "  __local float tile[16];\n"
      "  out += out_offset;\n"
      "  const ulong idx = get_global_id(0);\n"
      "  const ulong idy = get_global_id(1);\n"
      "  scale_body(out, out_s0, in, factor, tile, idx, idy);\n"
      "}\n");
}

TEST_CASE("bodies with barriers, arrays of several dimensions in local memory or guards stay") {
  const auto source = [](bool waits, bool isWide, int guardDims, bool checks) {
    IrBuilder b("copy");
    A out = b.array("out", kInt, 1);
    A tile = isWide ? b.local("tile", kInt, {4, 4}) : b.local("tile", kInt, {16});
    if (waits) b.barrier();
    if (isWide) {
      b.set(tile(b.lit(1), b.idx()), b.lit(3));
    } else {
      b.set(tile(b.idx()), b.lit(3));
    }
    b.set(out(b.idx()), b.lit(3));
    EmitOptions options;
    options.bodiesApart = true;
    options.guardDims = guardDims;
    options.checkBounds = checks;
    return emit(b.finish(), options).source;
  };
  CHECK(contains(source(false, false, 0, false), "copy_body"));
  CHECK_FALSE(contains(source(true, false, 0, false), "copy_body"));
  CHECK_FALSE(contains(source(false, true, 0, false), "copy_body"));
  CHECK_FALSE(contains(source(false, false, 1, false), "copy_body"));
  CHECK_FALSE(contains(source(false, false, 0, true), "copy_body"));
}

}  // namespace launch_options_tests
