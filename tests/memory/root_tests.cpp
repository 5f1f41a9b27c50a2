// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "devices.h"
#include "hpl/error.h"

namespace root_tests {

using namespace memory_tests;

namespace {

// Sanitizers end the program at an allocation that no system would grant.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

// Counts how often handles die.
int destroyed = 0;
void destroyInt(void* p) {
  delete static_cast<int*>(p);
  ++destroyed;
}

}  // namespace

TEST_CASE("an array knows its shape, size and type") {
  const auto array = makeArray({3, 4, 5}, "cube");
  CHECK(array->rank() == 3);
  CHECK(array->size() == 60);
  CHECK(array->bytes() == 480);
  CHECK(array->elementSize() == 8);
  CHECK(array->type().scalar == hpl::ir::Scalar::Long);
  CHECK(array->shape() == Extents{3, 4, 5});
  CHECK(array->whole().box() == Box({0, 0, 0}, {3, 4, 5}));
  CHECK(array->whole().strides == Extents{20, 5, 1});
  CHECK_FALSE(array->hasUserMemory());
  CHECK(array->describe() == "array \"cube\"");
  array->setLabel("");
  CHECK(array->describe() == "unnamed array");
}

TEST_CASE("impossible shapes are refused with the reason") {
  CHECK_THROWS_WITH_AS(
      makeArray({3, 0}, "a"),
      "array \"a\" would have extent 0 in dimension 2 of (3, 0); every extent must "
      "be at least 1",
      hpl::ShapeError);
  CHECK_THROWS_WITH_AS(
      makeArray({-7}),
      "unnamed array would have extent -7 in dimension 1 of (-7); every extent must "
      "be at least 1",
      hpl::ShapeError);
  CHECK_THROWS_WITH_AS(makeArray(Extents{}, "s"),
                       "array \"s\" has no dimensions; give it 1 to 8 extents", hpl::ShapeError);
  CHECK_THROWS_WITH_AS(
      makeArray({Index{1} << 40, Index{1} << 30}, "huge"),
      "array \"huge\" of extents (1099511627776, 1073741824) and 8 bytes per element "
      "has more bytes than a machine can address",
      hpl::ShapeError);
}

TEST_CASE("host memory that the system does not give is an AllocationError" *
          doctest::skip(kSanitized)) {
  CHECK_THROWS_WITH_AS(makeArray({Index{1} << 59}, "big"),
                       "array \"big\" needs 4611686018427387904 bytes of host memory, which the "
                       "system does not give; make the array smaller, or free others first",
                       hpl::AllocationError);
}

TEST_CASE("our own host memory is aligned for devices that work in it") {
  for (const Index n : {1, 3, 17, 1000, 100000}) {
    const auto array = makeArray({n});
    CHECK(reinterpret_cast<std::uintptr_t>(array->whole().host) % 128 == 0);
  }
}

TEST_CASE("large arrays that are made one after another begin at different places of a page") {
  // Cells of the same index would otherwise compete for the same lines of the first-level cache.
  constexpr std::int64_t kPage = 4096;
  std::vector<std::shared_ptr<hpl::memory::Root>> arrays;
  std::vector<std::int64_t> places;
  for (int i = 0; i < 5; ++i) {
    arrays.push_back(makeArray({kPage * 4}));
    const auto address = reinterpret_cast<std::uintptr_t>(arrays.back()->whole().host);
    CHECK(address % 128 == 0);
    places.push_back(static_cast<std::int64_t>(address % kPage));
  }
  for (std::size_t a = 0; a < places.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const std::int64_t apart = std::abs(places[a] - places[b]);
      CHECK(std::min(apart, kPage - apart) >= 384);
    }
}

TEST_CASE("an array without host memory gets it when the host asks") {
  const auto array = makeArray({8, 8}, "late", nullptr, HostMemory::None);
  View& part = array->whole().subView(Point{2, 2}, Point{5, 5});
  CHECK(array->whole().host == nullptr);
  CHECK(part.host == nullptr);
  array->whole().openForWriting();
  REQUIRE(part.host != nullptr);
  CHECK(part.host == array->whole().host + (2 * 8 + 2) * 8);
}

TEST_CASE("page-locked memory is asked for, and ordinary memory does where there is none") {
  const auto array = makeArray({1000}, "fast", nullptr, HostMemory::Fast);
  View& view = array->whole();
  view.openForWriting(true);
  for (Index i = 0; i < 1000; ++i) hostCell(view, {i}) = i;
  launch(separateDevice(), {Work::Increment, &view, nullptr, 1});
  view.openForReading();
  CHECK(hostCell(view, {999}) == 2998);
}

TEST_CASE("views are interned: the same box of the same parent is the same object") {
  const auto array = makeArray({10, 10});
  View& whole = array->whole();
  View& outer = whole.subView(Point{2, 2}, Point{8, 8});
  View& inner = outer.subView(Point{1, 0}, Point{3, 6});
  CHECK(inner.box() == Box({3, 2}, {6, 9}));
  CHECK(&inner == &outer.subView(Box({1, 0}, {4, 7})));
  CHECK(&outer == &outer.subView(Point{0, 0}, Point{6, 6}));
  CHECK(inner.parent() == &outer);
  // The same cells seen from the whole array: another view, since it names no part.
  View& direct = whole.subView(Point{3, 2}, Point{5, 8});
  CHECK(&direct != &inner);
  CHECK(direct.parent() == nullptr);
  CHECK(&direct == &array->view(Box({3, 2}, {6, 9})));
  CHECK(&direct == &whole.subView(Box({3, 2}, {6, 9})));
  CHECK(&whole == &whole.subView(Point{0, 0}, Point{9, 9}));
  CHECK(inner.extents == Extents{3, 7});
  CHECK(inner.size() == 21);
  CHECK(inner.strides == Extents{10, 1});
  CHECK(inner.host == whole.host + (3 * 10 + 2) * 8);
  CHECK(&inner.root() == array.get());
}

TEST_CASE("bad ranges name array, dimension, range and extent") {
  const auto array = makeArray({10, 20}, "height");
  View& whole = array->whole();
  struct Case {
    Point first;
    Point last;
    const char* message;
  };
  const Case cases[] = {
      {{0, -1},
       {9, 5},
       "array \"height\": Range(-1, 5) in dimension 2 (extent 20) is negative; positions count "
       "from "
       "0"},
      {{7, 0},
       {4, 5},
       "array \"height\": Range(7, 4) in dimension 1 (extent 10) is reversed; the first position "
       "comes first"},
      {{5, 0},
       {10, 5},
       "array \"height\": Range(5, 10) in dimension 1 (extent 10) reaches beyond the extent 10; "
       "ranges include both ends, so the last position is 9"},
  };
  for (const Case& c : cases) {
    CHECK_THROWS_WITH_AS(whole.subView(c.first, c.last), c.message, hpl::ShapeError);
  }
  CHECK_THROWS_WITH_AS(whole.subView(Point{0}, Point{1}),
                       "array \"height\" has 2 dimensions, but 1 ranges were given",
                       hpl::ShapeError);
  View& part = whole.subView(Point{2, 2}, Point{4, 4});
  CHECK_THROWS_WITH_AS(part.subView(Point{0, 0}, Point{3, 1}),
                       "array \"height\": Range(0, 3) in dimension 1 (extent 3) reaches beyond the "
                       "extent 3; ranges include both ends, so the last position is 2",
                       hpl::ShapeError);
}

TEST_CASE("a view keeps one handle and destroys it with the array") {
  destroyed = 0;
  {
    const auto array = makeArray({4});
    View& view = array->whole();
    CHECK(view.handle() == nullptr);
    int* first = new int(1);
    CHECK(view.adoptHandle(first, destroyInt) == first);
    CHECK(view.adoptHandle(new int(2), destroyInt) == first);
    CHECK(view.handle() == first);
    CHECK(destroyed == 1);
  }
  CHECK(destroyed == 2);
}

TEST_CASE("hostData gives the first cell of a box after making it current") {
  const auto array = makeArray({6, 6});
  auto* all = static_cast<std::int64_t*>(array->hostData(array->whole().box(), true, true));
  for (int i = 0; i < 36; ++i) all[i] = i;
  const Box box({2, 3}, {4, 5});
  CHECK(*static_cast<std::int64_t*>(array->hostData(box, false)) == 15);
  launch(separateDevice(), {Work::Increment, &array->view(box), nullptr, 1});
  CHECK(*static_cast<std::int64_t*>(array->hostData(box, false)) == 46);
}

TEST_CASE("epochs are never reused, not even by another array") {
  std::uint64_t last = 0;
  for (int i = 0; i < 5; ++i) {
    const auto array = makeArray({4});
    CHECK(array->epoch() > last);
    last = array->epoch();
  }
}

}  // namespace root_tests
