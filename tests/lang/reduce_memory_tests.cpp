// SPDX-License-Identifier: Apache-2.0
// Group reductions with less local memory than work-items, and with groups that contradict them.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "tests/messages.h"

namespace reduce_memory_tests {

using namespace hpl;
using hpl_tests::contains;
using hpl_tests::messageOf;

namespace {

constexpr long kUntouched = -12345;

struct Case {
  int localMem;  ///< elements; negative: a local array of as many
  int teams = 1;
  bool inTree = true;
  bool toAll = false;
  bool knowsSize = false;
  bool unroll = false;
  int elements = 0;
  int minGroup = 1;
};

struct CaseKernel {
  Case c;
  int group;
  const char* op;
  template <class R>
  void modify(R&& r) const {
    r.nTeams(c.teams).inTree(c.inTree).toAll(c.toAll).nElems(c.elements).minGroupSize(c.minGroup);
    if (c.knowsSize) r.groupSize(group);
    if (c.unroll) r.unroll();
  }
  void operator()(Array<long, 1> out, const Array<long, 1>& in) const {
    Long result = kUntouched;
    if (c.localMem < 0) {
      Array<long, 1, Local> scratch(-c.localMem);
      modify(reduce(result, in[idx], op).localMem(scratch));
    } else {
      modify(reduce(result, in[idx], op).localMem(c.localMem));
    }
    // The memory must be safe to use again.
    Long again = kUntouched;
    modify(reduce(again, in[idx] * 2, op));
    out[idx] = result + again - kUntouched;
  }
};

/// The interpreter also sees races and accesses beyond an array, and needs no compiler.
enum class Where { Interpreter, Device };

void check(const Case& c, int group, int items, Where where = Where::Interpreter) {
  for (const char* op : {"+", "max"}) {
    INFO("localMem " << c.localMem << ", teams " << c.teams << ", tree " << c.inTree << ", all "
                     << c.toAll << ", size known " << c.knowsSize << ", unrolled " << c.unroll
                     << ", elements " << c.elements << ", group " << group << ", items " << items
                     << ", operator " << op);
    Array<long, 1> in(items), out(items);
    for (int i = 0; i < items; ++i) in(i) = 1 + i * 37 % 11;
    if (where == Where::Device) {
      eval(CaseKernel{c, group, op}).local(group)(out, in);
    } else {
      eval(CaseKernel{c, group, op}).local(group).interpret(out, in);
    }
    const int team = group / c.teams;
    for (int i = 0; i < items; ++i) {
      const int first = i / team * team;
      int end = std::min(first + team, items);
      if (c.elements > 0) end = std::min(end, first + c.elements);
      long expected = in(first);
      for (int k = first + 1; k < end; ++k)
        expected = op[0] == '+' ? expected + in(k) : std::max<long>(expected, in(k));
      expected *= 3;  // of the values, and of the doubled ones
      if (!c.toAll && i != first) {
        CHECK(out(i) == kUntouched);
      } else {
        CHECK(out(i) == expected - kUntouched);
      }
    }
  }
}

template <class Kernel>
std::string messageFrom(Kernel kernel, int local) {
  Array<float, 1> out(64), in(64);
  in = 1.0f;
  return messageOf<Error>([&] { eval(kernel).global(64).local(local)(out, in); });
}

}  // namespace

TEST_CASE("reduce takes any number of elements of local memory, down to one per team") {
  for (const int elements : {1, 2, 3, 5, 8, 23, 24, 25, 100})
    for (const bool inTree : {true, false})
      check({.localMem = elements, .inTree = inTree, .toAll = elements % 2 == 1}, 24, 65);
}

TEST_CASE("little local memory goes with every other modifier of reduce") {
  for (const int elements : {3, 7, 12, 40}) {
    check({.localMem = elements, .teams = 3}, 24, 72);
    check({.localMem = elements, .teams = 3, .inTree = false, .toAll = true}, 24, 72);
    check({.localMem = elements, .knowsSize = true}, 24, 65);
    check({.localMem = elements, .toAll = true, .knowsSize = true, .unroll = true}, 24, 65);
    check({.localMem = elements, .teams = 2, .knowsSize = true, .unroll = true}, 24, 72);
    check({.localMem = elements, .elements = 10}, 24, 65);
    check({.localMem = elements, .minGroup = 16}, 24, 72);
  }
}

TEST_CASE("devices reduce with little local memory, too") {
  check({.localMem = 5, .toAll = true}, 24, 65, Where::Device);
  check({.localMem = -7, .inTree = false}, 24, 65, Where::Device);
  check({.localMem = 7, .teams = 3, .knowsSize = true, .unroll = true}, 24, 72, Where::Device);
}

TEST_CASE("a local array that is smaller than the group is no write beyond it") {
  for (const int elements : {1, 5, 23, 24, 30}) {
    check({.localMem = -elements}, 24, 65);
    check({.localMem = -elements, .inTree = false}, 24, 65);
    check({.localMem = -elements, .toAll = true, .knowsSize = true, .unroll = true}, 24, 65);
  }
}

TEST_CASE("values of which local memory holds few reduce in groups of any size") {
  // Devices with registers for smaller groups only.
  const int group = Device().getProperties().type == CPU ? 1024 : 256;
  Array<double, 1> out(4096 / group), in(4096);
  in = 0.5;
  // 64 KiB for 16 lanes of double would be more than half of most devices' local memory.
  eval([](Array<double, 1> o, const Array<double, 1>& a) {
    Array<double16, 0> value = cast<double16>(a[idx]);
    Array<double16, 0> sum = cast<double16>(0.0);
    reduce(sum, value, "+");
    if_(lidx == 0) {
      o[gidx] = sum[0] + sum[15];
    }
  })
      .global(4096)
      .local(group)(out, in);
  for (int g = 0; g < 4096 / group; ++g) CHECK(out(g) == group);
}

TEST_CASE("reduce refuses local memory that it cannot use") {
  const std::string none = messageFrom(
      [](Array<float, 1> o, const Array<float, 1>& a) { reduce(o[gidx], a[idx], "+").localMem(0); },
      16);
  INFO(none);
  CHECK(contains(none, "localMem(0) leaves no local memory; give at least 1 element"));
  const std::string teams = messageFrom(
      [](Array<float, 1> o, const Array<float, 1>& a) {
        reduce(o[gidx], a[idx], "+").localMem(3).nTeams(4);
      },
      16);
  INFO(teams);
  CHECK(contains(teams, "3 elements of local memory are too few for nTeams(4)"));
  const std::string both = messageFrom(
      [](Array<float, 1> o, const Array<float, 1>& a) {
        Array<float, 1, Local> mine(16);
        reduce(o[gidx], a[idx], "+").localMem(3).localMem(mine);
      },
      16);
  INFO(both);
  CHECK(contains(both, "localMem was given an array and a number of elements; give one"));
  const std::string type = messageFrom(
      [](Array<float, 1> o, const Array<float, 1>& a) {
        Array<int, 1, Local> mine(16);
        reduce(o[gidx], a[idx], "+").localMem(mine);
      },
      16);
  INFO(type);
  CHECK(contains(type, "localMem needs a 1-D local array of float, or a host number of elements"));
  Array<float, 1> out(64), in(64);
  in = 1.0f;
  const auto kernel = [](Array<float, 1> o, const Array<float, 1>& a, Array<float, 1, Local> mine) {
    reduce(o[gidx], a[idx], "+").localMem(mine);
  };
  const std::string small = messageOf<LaunchError>(
      [&] { eval(kernel).global(64).local(32)(out, in, Array<float, 1, Local>(31)); });
  INFO(small);
  CHECK(contains(small, "a local array of 31 elements (argument 3) for a group of 32"));
  eval(kernel).global(64).local(32)(out, in, Array<float, 1, Local>(32));
  CHECK(out(1) == 32.0f);
}

TEST_CASE("a launch refuses groups that contradict a reduction") {
  const auto sized = [](Array<float, 1> o, const Array<float, 1>& a) {
    reduce(o[gidx], a[idx], "+").groupSize(16);
  };
  const std::string size = messageFrom(sized, 32);
  INFO(size);
  CHECK(contains(size, "reduce_memory_tests.cpp:"));
  CHECK(contains(size, ".groupSize(16), and the groups of this launch are 32 x 1 x 1 work-items"));
  const std::string teams = messageFrom(
      [](Array<float, 1> o, const Array<float, 1>& a) { reduce(o[gidx], a[idx], "+").nTeams(3); },
      16);
  INFO(teams);
  CHECK(contains(teams, "the number of teams divides"));
  const auto flat = [](Array<float, 1> o, const Array<float, 2>& a) {
    reduce(o[gidy * ngroupsx + gidx], a[idy][idx], "+").ndims(1);
  };
  Array<float, 1> sums(16);
  Array<float, 2> table(8, 8);
  table = 1.0f;
  const std::string dims =
      messageOf<LaunchError>([&] { eval(flat).global(8, 8).local(4, 4)(sums, table); });
  INFO(dims);
  CHECK(contains(dims, ".ndims(1), and the groups of this launch are 4 x 4 x 1"));
  eval(flat).global(8, 8).local(4, 1)(sums, table);
  CHECK(sums(15) == 4.0f);
  const std::string interpreted =
      messageOf<LaunchError>([&] { eval(flat).global(8, 8).local(4, 4).interpret(sums, table); });
  CHECK(contains(interpreted, ".ndims(1)"));
}

}  // namespace reduce_memory_tests
