// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <thread>

#include "devices.h"
#include "hpl/memory/contents.h"

namespace coherence_tests {

using namespace memory_tests;
using hpl::memory::kHostReadable;
using hpl::memory::kHostWritable;
using hpl::memory::detail::currentOn;
using hpl::memory::detail::currentOnHost;
using hpl::memory::detail::replicaBox;

namespace {

// An array whose cells hold their row-major number.
std::shared_ptr<Root> counted(const Extents& shape, const char* label = "counted") {
  auto array = makeArray(shape, label);
  View& view = array->whole();
  view.openForWriting(true);
  auto* cells = reinterpret_cast<std::int64_t*>(view.host);
  for (std::size_t i = 0; i < view.size(); ++i) cells[i] = static_cast<std::int64_t>(i);
  return array;
}

// The bytes that `f` moves.
template <class F>
Bytes moved(F&& f) {
  const Bytes before = bytesSoFar();
  f();
  return bytesSoFar() - before;
}

}  // namespace

TEST_CASE("a device read copies exactly the box it needs, once") {
  const auto array = counted({100, 100});
  DeviceState& device = separateDevice();
  View& band = array->whole().subView(Point{10, 0}, Point{19, 99});
  CHECK(moved([&] { launch(device, {Work::Increment, &band, nullptr, 1}); }) == Bytes{8000, 0, 0});
  CHECK(replicaBox(*array, device) == band.box());
  CHECK(moved([&] { launch(device, {Work::Increment, &band, nullptr, 1}); }) == Bytes{0, 0, 0});
  // The band is downloaded, the rest was never anywhere else.
  CHECK(moved([&] { array->whole().openForReading(); }) == Bytes{0, 8000, 0});
  CHECK(hostCell(array->whole(), {10, 0}) == (1000 * 3 + 1) * 3 + 1);
  CHECK(hostCell(array->whole(), {9, 99}) == 999);
  CHECK(moved([&] { array->whole().openForReading(); }) == Bytes{0, 0, 0});
}

TEST_CASE("a launch that overwrites everything uploads nothing") {
  const auto array = counted({64, 64});
  CHECK(moved([&] {
          launch(separateDevice(), {Work::Set, &array->whole(), nullptr, 5});
        }) == Bytes{});
  array->whole().openForReading();
  CHECK(hostCell(array->whole(), {63, 63}) == 5);
}

TEST_CASE("a conditional write keeps the cells that it does not write") {
  const auto array = counted({4, 4});
  launch(separateDevice(), {Work::SetSome, &array->whole(), nullptr, -1});
  array->whole().openForReading();
  CHECK(hostCell(array->whole(), {0, 0}) == -1);
  CHECK(hostCell(array->whole(), {0, 1}) == 1);
  CHECK(hostCell(array->whole(), {3, 2}) == 14);
}

TEST_CASE("contents that nobody wrote are never transferred") {
  const auto array = makeArray({100});
  CHECK(moved([&] {
          launch(separateDevice(), {Work::SetSome, &array->whole(), nullptr, 1});
        }) == Bytes{});
}

TEST_CASE("writing a small view on the host outdates the small box on the device only") {
  const auto array = counted({100, 100});
  DeviceState& device = separateDevice();
  launch(device, {Work::Increment, &array->whole(), nullptr, 0});
  View& corner = array->whole().subView(Point{0, 0}, Point{9, 9});
  CHECK(moved([&] { corner.openForWriting(); }) == Bytes{0, 800, 0});
  hostCell(corner, {9, 9}) = 7;
  CHECK(moved([&] {
          launch(device, {Work::Increment, &array->whole(), nullptr, 0});
        }) == Bytes{800, 0, 0});
  CHECK(moved([&] { corner.openForWriting(true); }) == Bytes{});
}

TEST_CASE("a need outside of the replica grows it to the hull and keeps what is there") {
  const auto array = counted({100});
  DeviceState& device = separateDevice();
  View& low = array->whole().subView(Point{10}, Point{19});
  View& high = array->whole().subView(Point{30}, Point{39});
  launch(device, {Work::Increment, &low, nullptr, 0});
  CHECK(moved([&] { launch(device, {Work::Increment, &high, nullptr, 0}); }) == Bytes{80, 0, 0});
  CHECK(replicaBox(*array, device) == Box({10}, {40}));
  // [20, 30) lies within the buffer but was never needed.
  CHECK(currentOn(*array, device).size() == 2);
  CHECK(moved([&] { array->whole().openForReading(); }) == Bytes{0, 160, 0});
  CHECK(hostCell(array->whole(), {15}) == 45);
  CHECK(hostCell(array->whole(), {35}) == 105);
  CHECK(hostCell(array->whole(), {25}) == 25);
}

TEST_CASE("several views of one array in one launch share one replica") {
  const auto array = counted({100});
  View& dst = array->whole().subView(Point{0}, Point{9});
  View& src = array->whole().subView(Point{50}, Point{59});
  const Plan plan = launch(separateDevice(), {Work::FromSource, &dst, &src, 1});
  REQUIRE(plan.placements.size() == 2);
  CHECK(plan.placements[0].buffer == plan.placements[1].buffer);
  CHECK(plan.placements[0].box == Box({0}, {60}));
  CHECK(plan.placements[0].offset == 0);
  CHECK(plan.placements[1].offset == 50);
  array->whole().openForReading();
  CHECK(hostCell(array->whole(), {9}) == 59 * 2 + 1);
}

TEST_CASE("placements give offset and strides within the replica's own box") {
  const auto array = counted({10, 20});
  View& view = array->whole().subView(Point{2, 3}, Point{5, 12});
  const Plan plan = launch(separateDevice(), {Work::Increment, &view, nullptr, 0});
  CHECK(plan.placements[0].strides == Extents{10, 1});
  CHECK(plan.placements[0].offset == 0);
  if (!hasSharedDevices()) return;
  const Plan shared =
      launch(sharedDevice(), {Work::Increment, &counted({10, 20})->whole(), nullptr, 0});
  CHECK(shared.placements[0].box == Box({0, 0}, {10, 20}));
}

TEST_CASE("host states follow what devices do") {
  const auto array = counted({10, 10});
  View& whole = array->whole();
  View& top = whole.subView(Point{0, 0}, Point{4, 9});
  View& bottom = whole.subView(Point{5, 0}, Point{9, 9});
  CHECK(whole.hostState == (kHostReadable | kHostWritable));
  top.openForWriting();
  bottom.openForReading();
  CHECK(bottom.hostState == kHostReadable);
  for (const bool shared : {false, true}) {
    DeviceState& device = shared ? sharedDevice() : separateDevice();
    const auto other = makeArray({5, 10});
    whole.openForWriting();
    top.openForWriting();
    bottom.openForReading();
    launch(device, {Work::FromSource, &other->whole(), &top, 0});
    CHECK(whole.hostState == kHostReadable);
    CHECK(top.hostState == kHostReadable);
    CHECK(bottom.hostState == kHostReadable);
    launch(device, {Work::Set, &bottom, nullptr, 1});
    CHECK(whole.hostState == 0);
    CHECK(top.hostState == kHostReadable);
    CHECK(bottom.hostState == 0);
  }
}

TEST_CASE("a device that works in the host's memory moves nothing") {
  if (!hasSharedDevices()) return;
  const auto array = counted({1000});
  DeviceState& device = sharedDevice();
  const Bytes bytes = moved([&] {
    Plan plan = launch(device, {Work::Increment, &array->whole(), nullptr, 1});
    repeat(plan);
    array->whole().openForReading();
  });
  CHECK(bytes == Bytes{});
  CHECK(hostCell(array->whole(), {10}) == (10 * 3 + 1) * 3 + 1);
}

TEST_CASE("devices of different contexts that share the host's memory take turns") {
  if (!hasSharedDevices()) return;
  const std::vector<DeviceState*> devices = openDevices(":0*3", true);
  const auto array = counted({100});
  std::vector<Plan> plans;
  for (DeviceState* device : devices) {
    plans.push_back(launch(*device, {Work::Increment, &array->whole(), nullptr, 1, 100000}));
  }
  for (int round = 0; round < 5; ++round) {
    for (Plan& plan : plans) CHECK_FALSE(repeat(plan));
  }
  CHECK(repeat(plans.back()));
  array->whole().openForReading();
  std::int64_t wanted = 7;
  for (int i = 0; i < 3 * 6 + 1; ++i) wanted = wanted * 3 + 1;
  CHECK(hostCell(array->whole(), {7}) == wanted);
}

TEST_CASE("devices of one context copy directly, of different contexts through the host") {
  for (const char* list : {":0/2", ":0*3"}) {
    CAPTURE(list);
    if (!canBeOpened(list)) continue;
    const std::vector<DeviceState*> devices = openDevices(list, false);
    // More than one chunk of the staged path.
    const auto array = counted({1200, 1000});
    launch(*devices[0], {Work::Increment, &array->whole(), nullptr, 1});
    const Bytes bytes = moved([&] {
      launch(*devices[1], {Work::Increment, &array->whole(), nullptr, 1});
    });
    CHECK(bytes == Bytes{0, 0, 1200 * 1000 * 8});
    array->whole().openForReading();
    CHECK(hostCell(array->whole(), {1199, 999}) == (1199999 * 3 + 1) * 3 + 1);
  }
}

TEST_CASE("repeating launches changes no epoch, whatever their number") {
  const auto a = counted({100});
  const auto b = counted({100});
  DeviceState& device = separateDevice();
  Plan there = launch(device, {Work::FromSource, &b->whole(), &a->whole(), 0});
  Plan back = launch(device, {Work::FromSource, &a->whole(), &b->whole(), 0});
  repeat(there);
  repeat(back);
  const std::uint64_t epochs[] = {a->epoch(), b->epoch()};
  for (int i = 0; i < 300; ++i) {
    CHECK(repeat(there));
    CHECK(repeat(back));
  }
  CHECK(epochs[0] == a->epoch());
  CHECK(epochs[1] == b->epoch());
  // A host access is something to look at; another array's life is not.
  makeArray({10})->whole().openForWriting();
  CHECK(repeat(there));
  b->whole().openForReading();
  CHECK_FALSE(repeat(there));
}

TEST_CASE("many different boxes of one array keep the order of commands") {
  const auto array = counted({400});
  DeviceState& device = separateDevice();
  for (Index i = 0; i < 40; ++i) {
    View& view = array->whole().subView(Point{i * 10}, Point{i * 10 + 9});
    launch(device, {Work::Increment, &view, nullptr, 1, i == 39 ? 1000000 : 0});
  }
  array->whole().openForReading();
  for (Index i = 0; i < 400; ++i) REQUIRE(hostCell(array->whole(), {i}) == i * 3 + 1);
}

TEST_CASE("a launch that fails before its commit leaves the array as it was") {
  const auto array = counted({10});
  DeviceState& device = separateDevice();
  {
    Transaction transaction;
    const DeviceUse use{&array->whole(), true, true, false};
    Placement placement;
    std::vector<cl::Event> waits;
    transaction.prepare(device, {&use, 1}, {&placement, 1}, waits);
  }
  // The copy that was made is a copy, no more: a host write outdates it.
  array->whole().openForWriting();
  hostCell(array->whole(), {3}) = 100;
  launch(device, {Work::Increment, &array->whole(), nullptr, 0});
  array->whole().openForReading();
  CHECK(hostCell(array->whole(), {3}) == 300);
}

TEST_CASE("launches without events are waited for with a marker") {
  const auto array = counted({10});
  DeviceState& device = separateDevice();
  const std::int64_t pattern = 77;
  for (int i = 0; i < 3; ++i) {
    Transaction transaction;
    const DeviceUse use{&array->whole(), false, true, true};
    Placement placement;
    std::vector<cl::Event> waits;
    transaction.prepare(device, {&use, 1}, {&placement, 1}, waits);
    const cl::Buffer buffer(placement.buffer, true);
    device.computeQueue().enqueueFillBuffer(buffer, pattern, 0, 80, &waits);
    transaction.commit({});
  }
  array->whole().openForReading();
  CHECK(hostCell(array->whole(), {9}) == 77);
}

}  // namespace coherence_tests
