// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/global_ids.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>

#include "hpl/ir/access.h"
#include "hpl/ir/group_numbers.h"
#include "hpl/ir/printer.h"
#include "hpl/ir/verifier.h"
#include "tests/ir/ir_builder.h"

namespace global_ids_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

struct Fixture {
  IrBuilder b{"k"};
  A v = b.array("v", kInt, 1);

  E group(int axis) { return b.query(Query::GroupId, axis); }
  E size(int axis) { return b.query(Query::LocalSize, axis); }
  E local(int axis) { return b.query(Query::LocalId, axis); }
  E asInt(E value) { return b.cast(kInt, value); }
  void use(E value) { b.set(v(asInt(value)), asInt(value)); }
};

using Build = std::function<void(Fixture&)>;

std::shared_ptr<const Kernel> made(const Build& build) {
  Fixture f;
  build(f);
  auto kernel = std::make_shared<const Kernel>(f.b.finish());
  verify(*kernel);
  return kernel;
}

std::shared_ptr<const Kernel> rewritten(const Build& build, const GroupSize& local = {}) {
  auto other = withGlobalIds(made(build), local);
  verify(*other);
  return other;
}

/// Whether nothing but the global id along `axis` is left.
bool isId(const Build& build, int axis = 0, const GroupSize& local = {}) {
  const auto kernel = rewritten(build, local);
  const AccessSummary summary = analyze(*kernel);
  return !summary.usesLocalIdOrGroup && summary.arrays.front().writes.size() == 1 &&
         summary.arrays.front().writes.front() == IndexForm::affine(axis, 0, 0);
}

}  // namespace

TEST_CASE("the group's number times its size and the local id are the global id") {
  CHECK(isId([](Fixture& f) { f.use(f.group(0) * f.size(0) + f.local(0)); }));
  CHECK(isId([](Fixture& f) { f.use(f.local(0) + f.size(0) * f.group(0)); }));
  CHECK(isId([](Fixture& f) { f.use(f.group(1) * f.size(1) + f.local(1)); }, 1));
  CHECK(isId(
      [](Fixture& f) { f.use(f.asInt(f.group(0)) * f.asInt(f.size(0)) + f.asInt(f.local(0))); }));
  CHECK(isId([](Fixture& f) {
    A block = f.b.var("block", kInt, f.asInt(f.group(0)));
    A thread = f.b.var("thread", kInt, f.asInt(f.local(0)));
    A width = f.b.var("width", kInt, f.asInt(f.size(0)));
    A first = f.b.var("first", kInt, *block * *width);
    A i = f.b.var("i", kInt, *first + *thread);
    f.use(*i);
  }));
}

TEST_CASE("what else is made of groups stays") {
  const auto stays = [](const Build& build) {
    return analyze(*rewritten(build)).usesLocalIdOrGroup;
  };
  CHECK(stays([](Fixture& f) { f.use(f.group(0) * f.size(1) + f.local(0)); }));
  CHECK(stays([](Fixture& f) { f.use(f.group(0) * f.size(0) + f.local(1)); }));
  CHECK(stays([](Fixture& f) { f.use(f.group(1) * f.size(0) + f.local(0)); }));
  CHECK(stays([](Fixture& f) { f.use(f.group(0) * f.size(0) - f.local(0)); }));
  CHECK(stays([](Fixture& f) { f.use(f.group(0) * 16 + f.local(0)); }));
  CHECK(stays([](Fixture& f) { f.use(f.group(0) + f.size(0) * f.local(0)); }));
  CHECK(stays([](Fixture& f) {
    const E narrow = f.b.cast(kUchar, f.group(0) * f.size(0));
    f.use(f.b.cast(kUlong, narrow) + f.local(0));
  }));
  // Another value before it is asked for.
  CHECK(stays([](Fixture& f) {
    A block = f.b.var("block", kInt, f.asInt(f.group(0)));
    f.b.set(*block, *block + 1);
    f.use(*block * f.asInt(f.size(0)) + f.asInt(f.local(0)));
  }));
  // The local id is wanted as well.
  CHECK(stays([](Fixture& f) {
    A thread = f.b.var("thread", kInt, f.asInt(f.local(0)));
    f.b.set(f.v(f.asInt(f.group(0) * f.size(0)) + *thread), *thread);
  }));
}

TEST_CASE("a kernel without groups is the same object") {
  Fixture f;
  f.use(f.b.query(Query::GlobalId, 0));
  const auto kernel = std::make_shared<const Kernel>(f.b.finish());
  CHECK(withGlobalIds(kernel) == kernel);
}

TEST_CASE("a number in the place of the group's size is it, where that is known") {
  const Build byNumber = [](Fixture& f) { f.use(f.group(1) * 16 + f.local(1)); };
  CHECK(isId(byNumber, 1, {1, 16, 1}));
  CHECK_FALSE(isId(byNumber, 1, {16, 1, 1}));
  CHECK_FALSE(isId(byNumber, 1, {1, 8, 1}));
  CHECK_FALSE(isId(byNumber, 1));
}

TEST_CASE("numbers of groups follow from ids, where the group's size is known") {
  const auto writes = [](const Build& build) {
    const auto kernel = withGroupNumbers(made(build), {8, 4, 1});
    verify(*kernel);
    const AccessSummary summary = analyze(*kernel);
    CHECK_FALSE(summary.usesLocalIdOrGroup);
    return toString(summary.arrays.front().writes.front());
  };
  CHECK(writes([](Fixture& f) { f.use(f.group(0)); }) == "[in idx/8]");
  CHECK(writes([](Fixture& f) { f.use(f.group(1) + 2); }) == "[in (idy+8)/4]");
  CHECK(writes([](Fixture& f) { f.use(f.group(2)); }) == "[idz]");
  CHECK(writes([](Fixture& f) { f.use(f.size(0)); }) == "[8]");
  CHECK(writes([](Fixture& f) { f.use(f.b.query(Query::NumGroups, 0)); }) == "[?]");

  const auto other = made([](Fixture& f) { f.use(f.local(0)); });
  CHECK(withGroupNumbers(other, {8, 1, 1}) == other);
}

}  // namespace global_ids_tests
