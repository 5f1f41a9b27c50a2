// SPDX-License-Identifier: Apache-2.0
// Every built-in function is emitted so that a device's compiler takes it, and emission is fast.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "hpl/codegen/emit.h"
#include "tests/codegen/device_run.h"
#include "tests/ir/ir_builder.h"

namespace builtin_tests {

namespace {

using namespace hpl::ir;        // NOLINT: the builder's operators and names
using namespace hpl::ir::test;  // NOLINT
using hpl::codegen::emit;
using hpl::codegen::EmitOptions;

constexpr int kBuiltins = 0
#define HPL_BUILTIN(name, arity, family) +1
#include "hpl/ir/builtins.def"
#undef HPL_BUILTIN
    ;

bool hasOutPointer(Builtin f) {
  return f == Builtin::fract_ || f == Builtin::frexp_ || f == Builtin::lgamma_r_ ||
         f == Builtin::modf_ || f == Builtin::remquo_ || f == Builtin::sincos_;
}

struct Signature {
  Type result;
  std::vector<Type> args;
};

/// A valid overload of each built-in on vectors of four (or on scalars where there are none).
Signature signatureOf(Builtin f) {
  const Type f4 = vec(kFloat, 4), i4 = vec(kInt, 4), u4 = vec(kUint, 4), f3 = vec(kFloat, 3);
  const BuiltinInfo& info = infoOf(f);
  const auto same = [&](Type type) { return Signature{type, std::vector<Type>(info.arity, type)}; };
  switch (f) {
    case Builtin::ilogb_:
      return {i4, {f4}};
    case Builtin::ldexp_:
    case Builtin::pown_:
    case Builtin::rootn_:
      return {f4, {f4, i4}};
    case Builtin::nan_:
      return {f4, {u4}};
    case Builtin::abs_:
      return {u4, {i4}};
    case Builtin::abs_diff_:
      return {u4, {i4, i4}};
    case Builtin::upsample_:
      return {vec(kLong, 4), {i4, u4}};
    case Builtin::cross_:
      return {f3, {f3, f3}};
    case Builtin::dot_:
    case Builtin::distance_:
    case Builtin::fast_distance_:
      return {kFloat, {f4, f4}};
    case Builtin::length_:
    case Builtin::fast_length_:
      return {kFloat, {f4}};
    case Builtin::any_:
    case Builtin::all_:
      return {kInt, {i4}};
    case Builtin::bitselect_:
      return same(f4);
    case Builtin::select_:
      return {f4, {f4, f4, i4}};
    case Builtin::as_type_:
      return {i4, {f4}};
    case Builtin::shuffle_:
      return {f4, {f4, u4}};
    case Builtin::shuffle2_:
      return {f4, {f4, f4, u4}};
    default:
      break;
  }
  if (info.family == BuiltinFamily::Integer) return same(i4);
  if (info.family == BuiltinFamily::Relational) {
    return {i4, std::vector<Type>(info.arity, f4)};
  }
  return same(f4);
}

}  // namespace

TEST_CASE("every built-in function compiles on vectors and scalars") {
  if (!hpl::codegen::test::hasDevice()) {
    MESSAGE("no OpenCL device: not run");
    return;
  }
  IrBuilder b("builtins");
  int count = 0;
  for (int i = 0; i < kBuiltins; ++i) {
    const auto f = static_cast<Builtin>(i);
    if (hasOutPointer(f)) continue;
    for (const bool isVector : {true, false}) {
      Signature signature = signatureOf(f);
      const bool vectorsOnly =
          f == Builtin::shuffle_ || f == Builtin::shuffle2_ || f == Builtin::cross_;
      if (!isVector && vectorsOnly) continue;
      const auto shape = [&](Type type) { return isVector ? type : type.element(); };
      // The scalar forms of the relational functions give int; double's would too.
      const Type result = shape(signature.result);
      std::vector<const Expr*> args;
      for (std::size_t a = 0; a < signature.args.size(); ++a) {
        const Type type = shape(signature.args[a]);
        A arg = b.var("a" + std::to_string(count) + "_" + std::to_string(a), type,
                      b.convert(b.lit(type.element(), 1), type));
        args.push_back(*arg);
      }
      A target = b.array("out" + std::to_string(count++), result, 1);
      b.set(target(b.idx()), b.builtin(f, result, args));
    }
  }
  const Kernel kernel = b.finish();
  CHECK(hpl::codegen::test::buildLog(emit(kernel)) == "");
}

TEST_CASE("emission of an ordinary kernel takes well under a millisecond") {
  IrBuilder b("stencil");
  A out = b.array("out", kFloat, 2), in = b.array("in", kFloat, 2, {.readOnly = true});
  b.at(10, "stencil.cpp");
  b.if_(b.idx() > 0 && b.idy() > 0, [&] {
    E sum = in(b.idy(), b.idx());
    for (int dy = -2; dy <= 2; ++dy) {
      for (int dx = -2; dx <= 2; ++dx) {
        sum = sum + in(b.idy() + dy, b.idx() + dx) * b.real(kFloat, 0.04);
      }
    }
    b.set(out(b.idy(), b.idx()), sum);
  });
  const Kernel kernel = b.finish();
  emit(kernel);
  double best = 1;
  for (int i = 0; i < 20; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    emit(kernel);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    best = std::min(best, spent.count());
  }
  MESSAGE("emission of a 25-point stencil: ", best * 1e6, " us");
#ifdef HPL_TESTS_SLOW_BUILD
  CHECK(best < 1e-2);
#else
  CHECK(best < 1e-3);
#endif
}

}  // namespace builtin_tests
