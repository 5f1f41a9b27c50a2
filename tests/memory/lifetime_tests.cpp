// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "devices.h"
#include "hpl/memory/contents.h"

namespace lifetime_tests {

using namespace memory_tests;

TEST_CASE("user memory is used as it is and is current when the array dies") {
  for (const std::size_t misalignment : {0u, 1u}) {
    for (const bool shared : {false, true}) {
      CAPTURE(misalignment);
      CAPTURE(shared);
      struct alignas(128) Memory {
        std::int64_t cells[101];
      };
      const auto memory = std::make_unique<Memory>();
      std::int64_t* cells = memory->cells + misalignment;
      for (int i = 0; i < 100; ++i) cells[i] = i;
      {
        const auto array = makeArray({100}, "mine", cells);
        CHECK(array->hasUserMemory());
        CHECK(array->whole().host == reinterpret_cast<std::byte*>(cells));
        DeviceState& device = shared ? sharedDevice() : separateDevice();
        launch(device, {Work::Increment, &array->whole().subView(Point{0}, Point{49}), nullptr, 1,
                        1000000});
      }
      CHECK(cells[0] == 1);
      CHECK(cells[49] == 148);
      CHECK(cells[50] == 50);
    }
  }
}

TEST_CASE("an array may die while kernels and transfers use it") {
  for (const bool shared : {false, true}) {
    DeviceState& device = shared ? sharedDevice() : separateDevice();
    for (int i = 0; i < 20; ++i) {
      const auto a = makeArray({10000});
      const auto b = makeArray({10000});
      a->whole().openForWriting(true);
      launch(device, {Work::FromSource, &b->whole(), &a->whole(), 1, 500000});
      hpl::memory::copy(a->whole(), b->whole());
    }
  }
  separateDevice().finish();
  CHECK(separateDevice().memoryUsed() == 0);
}

TEST_CASE("an array outlives its owner's handle for as long as somebody shares it") {
  auto array = makeArray({10});
  const std::weak_ptr<Root> watch = array;
  launch(separateDevice(), {Work::Set, &array->whole(), nullptr, 1});
  const auto second = array;
  array.reset();
  CHECK_FALSE(watch.expired());
  second->whole().openForReading();
  CHECK(hostCell(second->whole(), {0}) == 1);
}

TEST_CASE("arrays without host memory live on the device alone") {
  const auto array = makeArray({1000}, "device only", nullptr, HostMemory::None);
  DeviceState& device = separateDevice();
  launch(device, {Work::Set, &array->whole(), nullptr, 3});
  Plan plan = launch(device, {Work::Increment, &array->whole(), nullptr, 0});
  CHECK(repeat(plan));
  CHECK(array->whole().host == nullptr);
  array->whole().openForReading();
  REQUIRE(array->whole().host != nullptr);
  CHECK(hostCell(array->whole(), {999}) == 27);
}

namespace {

// A thread's own arrays, on every device, with host accesses in between.
void useArrays(const std::vector<DeviceState*>& devices, int thread, std::atomic<int>& wrong) {
  for (int round = 0; round < 10; ++round) {
    const auto a = makeArray({64, 8}, "thread's own");
    View& view = a->whole();
    const std::int64_t start = thread * 1000;
    hpl::memory::fill(view, &start);
    std::int64_t wanted = start;
    for (DeviceState* device : devices) {
      Plan plan = launch(*device, {Work::Increment, &view, nullptr, 1});
      repeat(plan);
      wanted = (wanted * 3 + 1) * 3 + 1;
    }
    View& row = view.subView(Point{5, 0}, Point{5, 7});
    row.openForReading();
    if (hostCell(row, {0, 7}) != wanted) ++wrong;
    row.openForWriting();
    hostCell(row, {0, 7}) = 5;
    launch(*devices.back(), {Work::Increment, &view, nullptr, 0});
    view.openForReading();
    if (hostCell(view, {5, 7}) != 15 || hostCell(view, {63, 0}) != wanted * 3) ++wrong;
  }
}

}  // namespace

TEST_CASE("threads use arrays of their own at the same time, also when memory is short") {
  std::vector<DeviceState*> devices = openDevices(":0*4", false);
  for (DeviceState* device : openDevices(":0*3", true)) devices.push_back(device);
  for (const std::size_t limit : {std::size_t{1} << 30, std::size_t{10000}}) {
    const std::size_t before = devices[0]->memoryLimit();
    devices[0]->setMemoryLimit(limit);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] { useArrays(devices, t, wrong); });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    devices[0]->setMemoryLimit(before);
  }
}

TEST_CASE("threads read one array at the same time, on the host and on devices") {
  const std::vector<DeviceState*> devices = openDevices(":0*3", false);
  const auto source = makeArray({500}, "shared");
  source->whole().openForWriting(true);
  for (Index i = 0; i < 500; ++i) hostCell(source->whole(), {i}) = i;
  launch(*devices[0], {Work::Increment, &source->whole(), nullptr, 0});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const auto mine = makeArray({500});
      launch(*devices[static_cast<std::size_t>(t % 3)],
             {Work::FromSource, &mine->whole(), &source->whole(), 1});
      source->whole().openForReading();
      if (hostCell(source->whole(), {499}) != 499 * 3) ++wrong;
      mine->whole().openForReading();
      if (hostCell(mine->whole(), {499}) != 499 * 6 + 1) ++wrong;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

}  // namespace lifetime_tests
