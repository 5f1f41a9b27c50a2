// SPDX-License-Identifier: Apache-2.0
// Verifier: rules about whole kernels, and bounded effort on huge expressions.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "hpl/error.h"
#include "hpl/ir/verifier.h"
#include "tests/ir/ir_builder.h"

namespace verifier_kernel_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

std::string messageOf(const Kernel& kernel) {
  try {
    verify(kernel);
  } catch (const hpl::KernelError& error) {
    return error.what();
  }
  return "legal";
}

}  // namespace

TEST_CASE("recursion is refused") {
  IrBuilder b("k");
  Function* f = b.arena().add(Function{"f", {}, kVoid, {}, nullptr, {}});
  f->body = b.block([&] { b.call(f, {}); });
  b.call(f, {});
  CHECK(messageOf(b.finish()) ==
        "kernel 'k', function 'f': function 'f' calls itself, directly or not; OpenCL C has no "
        "recursion, use a loop");
}

TEST_CASE("functions must be listed before their callers") {
  IrBuilder b("k");
  const Function* f = b.function("f", kVoid, [] {});
  b.call(f, {});
  Kernel kernel = b.finish();
  kernel.functions.clear();
  CHECK(messageOf(kernel) ==
        "kernel 'k': function 'f' is called but does not come before its caller in the kernel's "
        "functions");
}

TEST_CASE("kernels have no alias, private array or void parameters") {
  {
    IrBuilder b("k");
    b.aliasParam("p", kFloat);
    CHECK(messageOf(b.finish()).find("parameter 'p' is an alias") != std::string::npos);
  }
  {
    IrBuilder b("k");
    b.array("a", kFloat, 1, {.space = Space::Private});
    CHECK(messageOf(b.finish()).find("array parameter 'a' of a kernel must be in global") !=
          std::string::npos);
  }
  {
    IrBuilder b("k");
    b.scalar("s", kVoid);
    CHECK(messageOf(b.finish()).find("variable 's': void is no type") != std::string::npos);
  }
}

TEST_CASE("an initial value must fit and only private scalars have one") {
  const auto declared = [](Type type, Space space, std::vector<std::int64_t> extents) {
    IrBuilder b("k");
    Variable v;
    v.name = "v";
    v.type = type;
    v.space = space;
    v.rank = static_cast<int>(extents.size());
    v.extents = std::move(extents);
    b.stmt(Declare{b.arena().add(std::move(v)), b.lit(1)});
    return messageOf(b.finish());
  };
  CHECK(declared(kInt, Space::Private, {}) == "legal");
  CHECK(declared(kFloat, Space::Private, {}) ==
        "kernel 'k': the initial value of 'v' must have type float: '1' (int); convert it with "
        "cast<T>()");
  CHECK(declared(kInt, Space::Local, {}) ==
        "kernel 'k': local variable 'v' has an initial value; assign it in one work-item, then use "
        "a barrier");
  CHECK(declared(kInt, Space::Private, {3}) == "kernel 'k': array 'v' has an initial value");
  CHECK(declared(kInt, Space::Global, {3}).find("declared in global memory") != std::string::npos);
}

TEST_CASE("expressions that share subtrees exponentially often are verified once per node") {
  IrBuilder b("k");
  A v = b.array("v", kInt, 1);
  E value = v(b.idx());
  for (int i = 0; i < 200; ++i) value = value + value;
  b.set(v(b.idx()), value);
  CHECK(messageOf(b.finish()) == "legal");
}

TEST_CASE("messages about huge expressions stay short") {
  IrBuilder b("k");
  A v = b.array("v", kInt, 1);
  E value = v(b.idx());
  for (int i = 0; i < 200; ++i) value = value + value;
  b.set(v(b.idx()), b.unary(UnaryOp::BitNot, b.expr(kFloat, Cast{value, false})));
  const std::string message = messageOf(b.finish());
  CHECK(message.find("operator ~ takes integers") != std::string::npos);
  CHECK(message.find("...") != std::string::npos);
  CHECK(message.size() < 2000);
}

}  // namespace verifier_kernel_tests
