// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/contents.h"

#include <doctest/doctest.h>

#include <array>
#include <cstring>

#include "devices.h"
#include "hpl/error.h"

namespace contents_tests {

using namespace memory_tests;

namespace {

std::shared_ptr<Root> counted(const Extents& shape, const char* label = "counted") {
  auto array = makeArray(shape, label);
  View& view = array->whole();
  view.openForWriting(true);
  auto* cells = reinterpret_cast<std::int64_t*>(view.host);
  for (std::size_t i = 0; i < view.size(); ++i) cells[i] = static_cast<std::int64_t>(i);
  return array;
}

std::shared_ptr<Root> makeStructs(const Extents& shape, std::size_t elementSize,
                                  const std::string& label = "structs") {
  hpl::memory::RootOptions options;
  options.shape = shape;
  options.elementSize = elementSize;
  options.label = label;
  return Root::create(options);
}

}  // namespace

TEST_CASE("assignments between different shapes or element sizes name both sides") {
  const auto a = makeArray({4, 6}, "a");
  const auto b = makeArray({6, 4}, "b");
  CHECK_THROWS_WITH_AS(
      hpl::memory::copy(a->whole(), b->whole()),
      "cannot assign a view of array \"b\" with extents (6, 4) to a view of array "
      "\"a\" with extents (4, 6); both sides of an assignment need the same extents",
      hpl::ShapeError);
  const auto c = makeStructs({4, 6}, 12, "c");
  CHECK_THROWS_WITH_AS(hpl::memory::copy(a->whole(), c->whole()),
                       "cannot assign array \"c\" with elements of 12 bytes to array \"a\" with "
                       "elements of 8 bytes; convert the elements in a kernel",
                       hpl::ShapeError);
}

TEST_CASE("an assignment happens where the data lives") {
  const auto a = counted({50, 50});
  const auto b = counted({50, 50});
  DeviceState& device = separateDevice();
  View& from = a->whole().subView(Point{1, 1}, Point{10, 10});
  View& to = b->whole().subView(Point{30, 20}, Point{39, 29});

  SUBCASE("on the host when nothing is elsewhere") {
    const Bytes before = bytesSoFar();
    hpl::memory::copy(to, from);
    CHECK(bytesSoFar() - before == Bytes{});
    CHECK(hostCell(to, {0, 0}) == 51);
  }
  SUBCASE("on the device where the source lives") {
    launch(device, {Work::Increment, &a->whole(), nullptr, 0});
    const Bytes before = bytesSoFar();
    hpl::memory::copy(to, from);
    CHECK(bytesSoFar() - before == Bytes{0, 0, 800});
    to.openForReading();
    CHECK(hostCell(to, {9, 9}) == (10 * 50 + 10) * 3);
  }
  SUBCASE("into the device where the destination lives") {
    launch(device, {Work::Increment, &b->whole(), nullptr, 0});
    const Bytes before = bytesSoFar();
    hpl::memory::copy(to, from);
    CHECK(bytesSoFar() - before == Bytes{800, 0, 0});
    // The source is not needed on the device, so it got no replica there.
    CHECK(hpl::memory::detail::replicaBox(*a, device).rank() == 0);
    // The host may overwrite the source at once: the transfer has read it before.
    from.openForWriting(true);
    hostCell(from, {0, 0}) = -1;
    to.openForReading();
    CHECK(hostCell(to, {0, 0}) == 51);
  }
  SUBCASE("between devices when they are on two") {
    const std::vector<DeviceState*> devices = openDevices(":0*3", false);
    launch(*devices[0], {Work::Increment, &a->whole(), nullptr, 0});
    launch(*devices[1], {Work::Increment, &b->whole(), nullptr, 0});
    const Bytes before = bytesSoFar();
    hpl::memory::copy(to, from);
    CHECK(bytesSoFar() - before == Bytes{0, 0, 800});
    to.openForReading();
    CHECK(hostCell(to, {0, 0}) == 153);
  }
}

TEST_CASE("a view can be assigned from an overlapping view of the same array") {
  for (const int where : {0, 1, 2}) {
    CAPTURE(where);
    const auto array = counted({10, 10});
    if (where == 1)
      launch(separateDevice(), {Work::FromSource, &array->whole(), &counted({10, 10})->whole(), 0});
    if (where == 2) launch(sharedDevice(), {Work::Increment, &array->whole(), nullptr, 0, 3000000});
    const std::int64_t factor = where == 0 ? 1 : where == 1 ? 2 : 3;
    View& low = array->whole().subView(Point{0, 0}, Point{7, 9});
    View& high = array->whole().subView(Point{2, 0}, Point{9, 9});
    hpl::memory::copy(high, low);
    array->whole().openForReading();
    for (Index i = 0; i < 10; ++i) {
      CHECK(hostCell(array->whole(), {i, 3}) == factor * ((i < 2 ? i : i - 2) * 10 + 3));
    }
  }
}

TEST_CASE("a fill reaches every cell of any box and no other, for any element size") {
  const Box boxes[] = {Box({0, 0, 0, 0}, {3, 4, 5, 6}), Box({1, 0, 0, 0}, {3, 4, 5, 6}),
                       Box({0, 1, 0, 0}, {3, 3, 5, 6}), Box({0, 0, 2, 0}, {3, 4, 5, 6}),
                       Box({1, 1, 1, 1}, {3, 4, 5, 6}), Box({2, 3, 4, 5}, {3, 4, 5, 6})};
  for (const std::size_t size : {1, 2, 4, 8, 12, 16, 20, 64, 128, 200, 256}) {
    for (const Box& box : boxes) {
      for (const int where : {0, 1, 2}) {
        for (const bool uniform : {false, true}) {
          CAPTURE(size);
          CAPTURE(where);
          const std::string text = box.toString();
          CAPTURE(text);
          const auto array = makeStructs({3, 4, 5, 6}, size);
          View& whole = array->whole();
          const std::vector<unsigned char> zero(size, 0);
          hpl::memory::fill(whole, zero.data());
          if (where != 0) {
            // The effect on the books of a kernel that overwrites everything, and of one that does
            // not.
            DeviceState& device = where == 1 ? separateDevice() : sharedDevice();
            Transaction transaction;
            const DeviceUse use{&whole, true, true, false};
            Placement placement;
            std::vector<cl::Event> waits;
            transaction.prepare(device, {&use, 1}, {&placement, 1}, waits);
            device.computeQueue().enqueueMarkerWithWaitList(&waits);
            transaction.commit({});
          }
          std::vector<unsigned char> element(size);
          for (std::size_t i = 0; i < size; ++i) {
            element[i] = static_cast<unsigned char>(uniform ? 9 : i + 1);
          }
          hpl::memory::fill(array->view(box), element.data());
          whole.openForReading();
          std::size_t wrong = 0;
          std::size_t at = 0;
          for (Index i = 0; i < 3 * 4 * 5 * 6; ++i, at += size) {
            const Point cell{i / 120, i / 30 % 4, i / 6 % 5, i % 6};
            const void* wanted = box.contains(cell) ? element.data() : zero.data();
            wrong += std::memcmp(whole.host + at, wanted, size) != 0 ? 1u : 0u;
          }
          CHECK(wrong == 0);
        }
      }
    }
  }
}

TEST_CASE("a fill of long runs, from any cell on, reaches all cells and no other") {
  constexpr Index kCells = 700'000;
  for (const std::size_t size : {1, 2, 4, 8, 12, 16, 32, 48, 64}) {
    for (const Index first : {0, 1, 5, 17}) {
      CAPTURE(size);
      CAPTURE(first);
      const auto array = makeStructs({kCells}, size);
      const std::vector<unsigned char> zero(size, 0);
      hpl::memory::fill(array->whole(), zero.data());
      std::vector<unsigned char> element(size);
      for (std::size_t i = 0; i < size; ++i) element[i] = static_cast<unsigned char>(3 * i + 1);
      const Box box({first}, {kCells - first - 1});
      hpl::memory::fill(array->view(box), element.data());
      array->whole().openForReading();
      std::size_t wrong = 0;
      for (Index i = 0; i < kCells; ++i) {
        const void* wanted = box.contains(Point{i}) ? element.data() : zero.data();
        const auto at = static_cast<std::size_t>(i) * size;
        wrong += std::memcmp(array->whole().host + at, wanted, size) != 0 ? 1u : 0u;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("a fill on a device moves nothing and follows the kernels before it") {
  const auto array = counted({100, 100});
  launch(separateDevice(), {Work::Increment, &array->whole(), nullptr, 0, 1000000});
  const Bytes before = bytesSoFar();
  const std::int64_t value = 42;
  hpl::memory::fill(array->whole().subView(Point{10, 10}, Point{89, 89}), &value);
  CHECK(bytesSoFar() - before == Bytes{});
  array->whole().openForReading();
  CHECK(hostCell(array->whole(), {10, 10}) == 42);
  CHECK(hostCell(array->whole(), {89, 89}) == 42);
  CHECK(hostCell(array->whole(), {9, 10}) == 910 * 3);
}

}  // namespace contents_tests
