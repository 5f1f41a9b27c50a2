// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

#include "hpl/geometry/region.h"

// The launch path handles whole arrays and whole parts: sets of one box. This file counts the
// allocations of the whole test program to hold the promise that they need none.

namespace {
thread_local std::size_t allocations = 0;

/// Allocations made by an action.
template <class Action>
std::size_t allocationsOf(Action&& action) {
  const std::size_t before = allocations;
  action();
  return allocations - before;
}
}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
// std::stable_sort asks for memory this way; new and delete must stay a pair.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace allocation_tests {

using hpl::geometry::Box;
using hpl::geometry::Region;

TEST_CASE("sets of one box are made, copied, combined and compared without allocation") {
  const Box whole({0, 0}, {100, 50});
  bool ok = true;
  const std::size_t count = allocationsOf([&] {
    Region region(whole.withRange(0, 0, 40));
    region.add(whole.withRange(0, 40, 100));  // rows that continue it
    region.add(whole.withRange(0, 30, 60));   // rows that it has
    ok = ok && region == Region(whole) && region.boxCount() == 1;
    const Region copy = region;
    region.intersect(whole.withRange(1, 10, 20));
    ok = ok && copy.contains(region) && !region.contains(copy) && copy.intersects(region);
    region.subtract(whole);
    ok = ok && region.empty();
    ok = ok && copy.volume() == 5000 && copy.translated({5, 5}).boundingBox().lo(0) == 5;
    ok = ok && copy.grown({1, 1}, {1, 1}).volume() == 102 * 52;
    region = copy;
    region.intersect(copy);
    ok = ok && region == copy;
  });
  CHECK(ok);
  CHECK(count == 0);
}

TEST_CASE("queries of sets of many boxes do not allocate") {
  Region ring(Box({0, 0}, {9, 9}));
  ring.subtract(Box({3, 3}, {6, 6}));
  bool ok = true;
  const std::size_t count = allocationsOf([&] {
    ok = ok && ring.contains(Box({0, 0}, {3, 9})) && !ring.contains(Box({2, 2}, {4, 4}));
    ok = ok && ring.intersects(Box({2, 2}, {4, 4})) && ring == ring;
    ok = ok && ring.volume() == 72 && ring.boundingBox() == Box({0, 0}, {9, 9});
  });
  CHECK(ok);
  CHECK(count == 0);
}

}  // namespace allocation_tests
