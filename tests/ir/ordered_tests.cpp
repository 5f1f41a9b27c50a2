// SPDX-License-Identifier: Apache-2.0
// Atomic loads and stores with an order, fences, volatile accesses; groups that wait for each other
// in the interpreter.
#include <doctest/doctest.h>

#include "hpl/error.h"
#include "hpl/ir/interpreter.h"
#include "hpl/ir/printer.h"
#include "hpl/ir/verifier.h"
#include "ir_builder.h"

namespace ordered_tests {

using namespace hpl;
using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

Stmt* load(IrBuilder& b, E cell, A result, MemoryOrder order) {
  return const_cast<Stmt*>(
      b.stmt(Atomic{result.v, AtomicOp::Load, cell, {}, order, MemoryScope::Device}));
}
Stmt* store(IrBuilder& b, E cell, E value, MemoryOrder order) {
  return const_cast<Stmt*>(
      b.stmt(Atomic{nullptr, AtomicOp::Store, cell, {value}, order, MemoryScope::Device}));
}

/// Why a kernel of one statement is refused; empty: it is not.
template <class Body>
std::string refusal(Body body) {
  IrBuilder b("k");
  A flags = b.array("flags", kInt, 1);
  A cells = b.array("cells", kFloat, 1);
  A x = b.var("x", kInt, 0);
  body(b, flags, cells, x);
  const Kernel kernel = b.finish();
  try {
    verify(kernel);
  } catch (const KernelError& error) {
    return error.what();
  }
  return "";
}

bool says(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

/// Group g waits for the flag of group g + 1, which it gives what it has counted; the last begins.
/// `order`: of the flags. Each adds 1 to a plain cell.
Kernel chain(MemoryOrder acquire, MemoryOrder release, int last) {
  IrBuilder b("chain");
  A flags = b.array("flags", kInt, 1);
  A cell = b.array("cell", kInt, 1);
  A seen = b.var("seen", kInt, 0);
  b.if_(b.binary(BinaryOp::Ne, b.gidx(), b.lit(kUlong, last)), [&] {
    const Block* prepare = b.block([&] {
      load(b, flags(b.binary(BinaryOp::Add, b.gidx(), b.lit(kUlong, 1))), seen, acquire);
    });
    const Block* body = b.block([] {});
    b.stmt(Loop{prepare, b.binary(BinaryOp::Eq, b.ref(seen), b.lit(0)), nullptr, body});
  });
  b.set(cell(b.lit(0)), b.binary(BinaryOp::Add, cell(b.lit(0)), b.lit(1)));
  store(b, flags(b.gidx()), b.lit(1), release);
  return b.finish();
}

int run(const Kernel& kernel, int groups, bool detectRaces) {
  verify(kernel);
  std::vector<int> flags(static_cast<std::size_t>(groups));
  int cell = 0;
  NDRange range{1, {static_cast<std::uint64_t>(groups), 1, 1}, {1, 1, 1}};
  InterpreterOptions options;
  options.detectRaces = detectRaces;
  options.maxLoopIterations = 10000;
  interpret(kernel, range, {arrayArgument(flags.data(), {groups}), arrayArgument(&cell, {1})},
            options);
  return cell;
}

}  // namespace

TEST_CASE("atomic loads and stores have the orders that they can have") {
  CHECK(refusal([](IrBuilder& b, A flags, A, A x) {
          load(b, flags(b.lit(0)), x, MemoryOrder::Acquire);
          load(b, flags(b.lit(0)), x, MemoryOrder::Relaxed);
          store(b, flags(b.lit(0)), *x, MemoryOrder::Release);
          b.stmt(Fence{MemoryOrder::AcquireRelease, MemoryScope::Device});
        }) == "");
  CHECK(says(refusal([](IrBuilder& b, A flags, A, A x) {
               load(b, flags(b.lit(0)), x, MemoryOrder::Release);
             }),
             "atomic_load cannot be release: a load is relaxed or acquires"));
  CHECK(says(refusal([](IrBuilder& b, A flags, A, A x) {
               store(b, flags(b.lit(0)), *x, MemoryOrder::Acquire);
             }),
             "atomic_store cannot be acquire: a store is relaxed or releases"));
  CHECK(says(refusal([](IrBuilder& b, A flags, A, A x) {
               b.stmt(Atomic{x.v, AtomicOp::Add, flags(b.lit(0)), {*x}, MemoryOrder::Acquire});
             }),
             "atomic_add cannot be acquire: only loads and stores have an order; put fences around "
             "it"));
  CHECK(says(refusal([](IrBuilder& b, A flags, A, A x) {
               b.stmt(Atomic{x.v, AtomicOp::Store, flags(b.lit(0)), {*x}});
             }),
             "atomic_store has no result"));
  CHECK(says(refusal([](IrBuilder& b, A, A cells, A x) {
               load(b, cells(b.lit(0)), x, MemoryOrder::Acquire);
             }),
             "atomic_load works on int and uint, not on float: 'cells[0]'"));
  CHECK(says(refusal([](IrBuilder& b, A, A, A) {
               b.stmt(Fence{MemoryOrder::Relaxed, MemoryScope::Device});
             }),
             "a relaxed fence orders nothing: it acquires, releases or both"));
}

TEST_CASE("volatile accesses are for global memory") {
  CHECK(refusal([](IrBuilder& b, A flags, A, A x) {
          b.set(x, b.expr(kInt, Access{flags.v, {b.lit(0)}, 1, true}));
        }) == "");
  CHECK(says(refusal([](IrBuilder& b, A, A, A) {
               A mine = b.local("mine", kInt, {4});
               b.set(b.expr(kInt, Access{mine.v, {b.lit(0)}, 1, true}), 1);
             }),
             "volatile accesses are for global memory, which other groups see; 'mine' is in local "
             "memory"));
}

TEST_CASE("ordered atomics, fences and volatile accesses are printed") {
  IrBuilder b("k");
  A flags = b.array("flags", kInt, 1);
  A x = b.var("x", kInt, 0);
  load(b, flags(b.lit(0)), x, MemoryOrder::Acquire);
  b.stmt(Fence{MemoryOrder::Release, MemoryScope::AllDevices});
  store(b, flags(b.lit(1)), *x, MemoryOrder::Relaxed);
  b.set(x, b.expr(kInt, Access{flags.v, {b.lit(2)}, 1, true}));
  const Kernel kernel = b.finish();
  const std::string text = print(kernel);
  CHECK(says(text, "x = atomic_load(&flags[0], acquire, device);"));
  CHECK(says(text, "fence(release, all_devices);"));
  CHECK(says(text, "atomic_store(&flags[1], x, relaxed, device);"));
  CHECK(says(text, "x = volatile flags[2];"));
}

TEST_CASE("groups that wait for later ones take turns") {
  const Kernel kernel = chain(MemoryOrder::Acquire, MemoryOrder::Release, 4);
  CHECK(run(kernel, 5, false) == 5);
}

TEST_CASE("a release orders groups for the one that acquires, and nothing else does") {
  CHECK(run(chain(MemoryOrder::Acquire, MemoryOrder::Release, 4), 5, true) == 5);
  CHECK_THROWS_WITH_AS(run(chain(MemoryOrder::Relaxed, MemoryOrder::Release, 4), 5, true),
                       doctest::Contains("data race on 'cell'"), KernelError);
  CHECK_THROWS_WITH_AS(run(chain(MemoryOrder::Acquire, MemoryOrder::Relaxed, 4), 5, true),
                       doctest::Contains("data race on 'cell'"), KernelError);
}

TEST_CASE("a wait for what no group does ends at the limit of iterations, for all groups") {
  IrBuilder b("forever");
  A flags = b.array("flags", kInt, 1);
  b.array("cell", kInt, 1);
  A seen = b.var("seen", kInt, 0);
  const Block* prepare = b.block([&] { load(b, flags(b.gidx()), seen, MemoryOrder::Acquire); });
  const Block* body = b.block([] {});
  b.stmt(Loop{prepare, b.binary(BinaryOp::Eq, b.ref(seen), b.lit(0)), nullptr, body});
  const Kernel kernel = b.finish();
  CHECK_THROWS_WITH_AS(run(kernel, 3, false), doctest::Contains("a loop runs longer than 10000"),
                       KernelError);
}

TEST_CASE("too many groups that may wait for each other are refused") {
  CHECK_THROWS_WITH_AS(run(chain(MemoryOrder::Acquire, MemoryOrder::Release, 299), 300, false),
                       "kernel 'chain': its groups may wait for each other, and 300 of them cannot "
                       "be interpreted at once; at most 256 can: choose larger groups",
                       LaunchError);
}

}  // namespace ordered_tests
