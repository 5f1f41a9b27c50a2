// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "devices.h"
#include "hpl/coherence/describe.h"
#include "hpl/error.h"
#include "hpl/memory/contents.h"
#include "hpl/memory/detail/coherence.h"
#include "tests/messages.h"

namespace eviction_tests {

using namespace memory_tests;
using hpl::memory::detail::planner;
using hpl::memory::detail::replicaBox;

namespace {

using hpl_tests::messageOf;

// A device of these tests' own, whose memory they may limit.
DeviceState& limitedDevice() { return *openDevices(":0*4", false).back(); }

// Sets a limit for the length of a test; the arrays of the test must die before it.
class Limit {
 public:
  explicit Limit(std::size_t bytes) : before_(limitedDevice().memoryLimit()) {
    limitedDevice().setMemoryLimit(bytes);
  }
  ~Limit() { limitedDevice().setMemoryLimit(before_); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  std::size_t before_;
};

std::shared_ptr<Root> filled(Index cells, std::int64_t value, const std::string& label = "") {
  auto array = makeArray({cells}, label);
  array->whole().openForWriting(true);
  for (Index i = 0; i < cells; ++i) hostCell(array->whole(), {i}) = value;
  return array;
}

bool onDevice(Root& root) { return replicaBox(root, limitedDevice()).rank() != 0; }

}  // namespace

TEST_CASE("copies that the hosts have as well make room first, least recently used first") {
  const Limit limit(3 * 800);
  DeviceState& device = limitedDevice();
  const auto a = filled(100, 1, "a");
  const auto b = filled(100, 2, "b");
  const auto c = filled(100, 3, "c");
  const auto d = filled(100, 4, "d");
  for (const auto& array : {a, b, c}) {
    launch(device, {Work::Increment, &array->whole(), nullptr, 0});
    if (array != a) array->whole().openForReading();
  }
  // a is dirty and the oldest; b is the oldest clean one.
  CHECK(device.memoryUsed() == 2400);
  launch(device, {Work::Increment, &d->whole(), nullptr, 0});
  CHECK(device.memoryUsed() == 2400);
  CHECK(onDevice(*a));
  CHECK_FALSE(onDevice(*b));
  CHECK(onDevice(*c));
  CHECK(onDevice(*d));
  b->whole().openForReading();
  CHECK(hostCell(b->whole(), {99}) == 6);
}

TEST_CASE("copies that only the device has wait in the host's memory when nothing else helps") {
  const Limit limit(2 * 800);
  DeviceState& device = limitedDevice();
  const auto a = filled(100, 1, "a");
  const auto b = filled(100, 2, "b");
  const auto c = filled(100, 3, "c");
  for (const auto& array : {a, b, c}) {
    launch(device, {Work::Increment, &array->whole(), nullptr, 1});
  }
  CHECK_FALSE(onDevice(*a));
  CHECK(onDevice(*b));
  const Bytes before = bytesSoFar();
  a->whole().openForReading();
  CHECK((bytesSoFar() - before).down == 800);  // as without a limit
  CHECK_FALSE(onDevice(*a));                   // and without the device
  CHECK(hostCell(a->whole(), {50}) == 4);
  // Launches go on with arrays that come and go.
  for (int i = 0; i < 5; ++i) {
    for (const auto& array : {a, b, c}) {
      launch(device, {Work::Increment, &array->whole(), nullptr, 0});
    }
  }
  for (const auto& array : {a, b, c}) array->whole().openForReading();
  CHECK(hostCell(a->whole(), {50}) == 4 * 243);
  CHECK(hostCell(c->whole(), {50}) == 10 * 243);
}

TEST_CASE("a replica that cannot grow beside its old self makes room for itself") {
  const Limit limit(1000);
  DeviceState& device = limitedDevice();
  const auto a = filled(100, 1, "a");
  launch(device, {Work::Increment, &a->whole().subView(Point{0}, Point{79}), nullptr, 1});
  launch(device, {Work::Increment, &a->whole(), nullptr, 1});
  CHECK(replicaBox(*a, device) == Box({0}, {100}));
  a->whole().openForReading();
  CHECK(hostCell(a->whole(), {0}) == 13);
  CHECK(hostCell(a->whole(), {99}) == 4);
}

TEST_CASE("an array larger than the device is an AllocationError that says so") {
  const Limit limit(1000);
  const auto a = filled(200, 7, "big");
  const std::string message = messageOf<hpl::AllocationError>([&] {
    launch(limitedDevice(), {Work::Increment, &a->whole(), nullptr, 0});
  });
  CHECK(message == "array \"big\" needs 1600 bytes on device \"" + limitedDevice().name() +
                       "\", whose largest single array is 1000 bytes; use a smaller part of the "
                       "array at a time (a view), or distribute it over several devices");
  CHECK(hostCell(a->whole(), {199}) == 7);
  // A part of it fits.
  launch(limitedDevice(), {Work::Increment, &a->whole().subView(Point{0}, Point{99}), nullptr, 0});
  a->whole().openForReading();
  CHECK(hostCell(a->whole(), {0}) == 21);
}

TEST_CASE("a launch whose arrays do not fit together lists what is there and loses nothing") {
  const Limit limit(2000);
  DeviceState& device = limitedDevice();
  const auto a = filled(150, 1, "left");
  const auto b = filled(150, 2);
  const auto other = filled(50, 3, "other");
  launch(device, {Work::Increment, &other->whole(), nullptr, 1});
  try {
    launch(device, {Work::FromSource, &a->whole(), &b->whole(), 0});
    FAIL("nothing was thrown");
  } catch (const hpl::AllocationError& error) {
    CHECK(std::string(error.what()) ==
          "unnamed array needs 1200 bytes on device \"" + device.name() +
              "\", which has a limit of 2000 bytes; 1600 of them are taken by arrays that this "
              "launch needs or that are in use (\"left\" 1200 bytes, \"other\" 400 bytes); no data "
              "is "
              "lost; use smaller parts of the arrays at a time (views), or distribute them over "
              "several devices");
    REQUIRE(error.residents().size() == 2);
    CHECK(error.residents()[0].label == "\"left\"");
    CHECK(error.residents()[0].bytes == 1200);
  }
  // Evicting it would not have helped.
  CHECK(onDevice(*other));
  CHECK(hostCell(a->whole(), {149}) == 1);
  CHECK(hostCell(b->whole(), {149}) == 2);
  other->whole().openForReading();
  CHECK(hostCell(other->whole(), {49}) == 10);
  launch(device, {Work::Increment, &a->whole(), nullptr, 0});
  a->whole().openForReading();
  CHECK(hostCell(a->whole(), {149}) == 3);
}

TEST_CASE("the memory account is empty when all arrays are gone") {
  DeviceState& device = limitedDevice();
  {
    const auto a = filled(100, 1);
    launch(device, {Work::Increment, &a->whole(), nullptr, 0});
    launch(device, {Work::Increment, &a->whole(), nullptr, 0});
    CHECK(device.memoryUsed() == 800);
  }
  CHECK(device.memoryUsed() == 0);
}

TEST_CASE("an assignment from an array that had to make room takes place where it would anyway") {
  const Limit limit(1000);
  const auto a = filled(100, 1);
  const auto b = filled(100, 2);
  launch(limitedDevice(), {Work::Increment, &a->whole(), nullptr, 0});
  hpl::memory::copy(b->whole(), a->whole());
  CHECK_FALSE(onDevice(*a));
  CHECK(onDevice(*b));
  b->whole().openForReading();
  CHECK(hostCell(b->whole(), {99}) == 3);
}

TEST_CASE("windows of an array that is larger than its device pass through it one by one") {
  const Limit limit(1000);
  DeviceState& device = limitedDevice();
  const auto a = filled(400, 1, "a");
  for (int round = 0; round < 2; ++round)
    for (Index lo = 0; lo < 400; lo += 100) {
      launch(device, {Work::Increment, &a->whole().subView(Point{lo}, Point{lo + 99}), nullptr, 1});
      CHECK(device.memoryUsed() == 800);
    }
  a->whole().openForReading();
  for (Index i = 0; i < 400; ++i) CHECK(hostCell(a->whole(), {i}) == 13);
}

TEST_CASE("the host may write what waits for room, and the device sees it") {
  const Limit limit(1000);
  DeviceState& device = limitedDevice();
  const auto a = filled(100, 1, "a");
  const auto b = filled(100, 2, "b");
  launch(device, {Work::Increment, &a->whole(), nullptr, 1});  // 4, the device's alone
  launch(device, {Work::Increment, &b->whole(), nullptr, 0});
  CHECK_FALSE(onDevice(*a));
  View& part = a->whole().subView(Point{0}, Point{49});
  part.openForWriting(false);
  hostCell(part, {7}) = 100;
  launch(device, {Work::Increment, &a->whole(), nullptr, 1});
  launch(device, {Work::Increment, &b->whole(), nullptr, 0});
  a->whole().openForReading();
  CHECK(hostCell(a->whole(), {7}) == 301);
  CHECK(hostCell(a->whole(), {8}) == 13);
  CHECK(hostCell(a->whole(), {99}) == 13);
}

TEST_CASE("what is known of an array does not depend on how much memory its devices have") {
  DeviceState& device = limitedDevice();
  const auto statesOf = [&](std::size_t bytes) {
    const Limit limit(bytes);
    std::string states;
    const auto a = filled(100, 1), b = filled(100, 2), c = filled(100, 3);
    const auto note = [&] {
      const hpl::memory::detail::Lock lock(hpl::memory::detail::coherenceMutex());
      for (const auto& array : {a, b, c}) {
        const std::string state = describe(*array->state().known, planner().machine());
        states += state.substr(state.find('\n'));  // behind the array's number
      }
    };
    for (int i = 0; i < 3; ++i) {
      for (const auto& array : {a, b, c}) {
        launch(device, {Work::Increment, &array->whole(), nullptr, i});
        note();
      }
      launch(device, {Work::FromSource, &a->whole(), &b->whole(), 0});
      note();
      c->whole().openForReading();
      note();
      hpl::memory::copy(b->whole(), c->whole());
      note();
      a->whole().subView(Point{10}, Point{19}).openForWriting(false);
      note();
    }
    return states;
  };
  CHECK(statesOf(2 * 800) == statesOf(std::size_t{1} << 20));
}

}  // namespace eviction_tests
