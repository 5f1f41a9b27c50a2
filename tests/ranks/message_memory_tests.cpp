// SPDX-License-Identifier: Apache-2.0
// Where messages lie: memory that a device wants them in, if there is some.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "hpl/ranks/transport.h"
#include "hpl/ranks/world.h"
#include "program_on_ranks.h"

namespace message_memory_tests {

using namespace hpl;
using namespace ranks_tests;

namespace {

/// The blocks that a source has given, and those that still exist.
struct Given {
  int blocks = 0;
  int alive = 0;
  std::size_t bytes = 0;
};

constexpr std::align_val_t kAlignment{128};

void increment2d(Grid a) { a[idy][idx] += 1; }

/// Gives at most `most` blocks.
ranks::MessageSource sourceOf(const std::shared_ptr<Given>& given, int most) {
  return [given, most](std::size_t bytes) -> std::shared_ptr<std::byte> {
    if (given->blocks == most) return nullptr;
    ++given->blocks;
    ++given->alive;
    given->bytes += bytes;
    return {static_cast<std::byte*>(::operator new(bytes, kAlignment)), [given](std::byte* memory) {
              --given->alive;
              ::operator delete(memory, kAlignment);
            }};
  };
}

bool isAligned(const std::shared_ptr<std::byte>& memory) {
  return reinterpret_cast<std::uintptr_t>(memory.get()) % 128 == 0;
}

}  // namespace

TEST_CASE("messages lie in the memory that their source gives, and in plain memory without it") {
  const auto given = std::make_shared<Given>();
  ranks::takeMessageMemoryFrom(sourceOf(given, 2));
  auto first = ranks::messageMemory(5000);
  auto second = ranks::messageMemory(100000);
  CHECK(given->blocks == 2);
  CHECK(given->bytes >= 105000);
  auto third = ranks::messageMemory(5000);
  CHECK(given->blocks == 2);
  for (const auto& memory : {first, second, third}) {
    REQUIRE(memory != nullptr);
    CHECK(isAligned(memory));
  }
  std::byte* const place = first.get();
  first.reset();
  first = ranks::messageMemory(4500);
  CHECK(first.get() == place);
  CHECK(given->alive == 2);
  ranks::clearMessageMemory();  // all are in use
  CHECK(given->alive == 2);
  first.reset();
  second.reset();
  third.reset();
  CHECK(given->alive == 2);  // kept for the next ones
  ranks::clearMessageMemory();
  CHECK(given->alive == 0);
  // Memory of another source is not mixed with it.
  first = ranks::messageMemory(5000);
  ranks::takeMessageMemoryFrom({});
  CHECK(given->blocks == 2);
  second = ranks::messageMemory(5000);
  CHECK(isAligned(second));
}

TEST_CASE("cells pass between ranks through the memory of the source") {
  const auto program = [](bool isGiven, bool gathersAll) {
    // The first operation of a session would set the source that devices want.
    Grid warm(2, 2);
    warm = 1;
    const auto given = std::make_shared<Given>();
    if (isGiven) ranks::takeMessageMemoryFrom(sourceOf(given, 1000));
    Grid a(40, 30), b(40, 30);
    setCells(a, 7);
    setCells(b, 8);
    for (int step = 0; step < 10; ++step) {
      eval(fivePoint)(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
      swap(a, b);
    }
    std::string said = cellsOf(a);
    if (gathersAll) said += cellsOf(b);
    if (isGiven && given->blocks == 0) return std::string("no message lay there");
    return said;
  };
  for (const bool gathersAll : {false, true}) {
    const std::string expected = saidOn(1, 1, [&] { return program(false, gathersAll); });
    CHECK(saidOn(2, 1, [&] { return program(true, gathersAll); }) == expected);
    CHECK(saidOnNodes(3, 1, 1, [&] { return program(true, gathersAll); }) == expected);
  }
}

TEST_CASE("cells of GPUs pass between ranks through page-locked memory, on each rank its own") {
  using Bytes = std::size_t();
  auto* const pinned = reinterpret_cast<Bytes*>(dlsym(RTLD_DEFAULT, "hplDisguisePinnedBytes"));
  if (pinned == nullptr) return;  // no device says that it is a GPU
  const auto program = [&](bool isPinned) {
    Grid a(200, 300);
    setCells(a, 7);
    eval(increment2d)(PART1(a, 1));
    const std::size_t before = pinned();
    constexpr std::size_t kBytes = std::size_t{3} << 20;
    const auto message = ranks::messageMemory(kBytes);
    const bool isThere = pinned() >= before + kBytes;
    eval(increment2d)(PART2(a, 1));  // all ranks have something for all others
    return cellsOf(a) + (isPinned == isThere ? "" : "in other memory");
  };
  const std::string expected = saidOn(1, 1, [&] { return program(false); });
  CHECK(saidOnNodes(3, 1, 1, [&] { return program(true); }) == expected);
}

}  // namespace message_memory_tests
