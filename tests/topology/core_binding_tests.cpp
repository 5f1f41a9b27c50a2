// SPDX-License-Identifier: Apache-2.0
#include "hpl/topology/core_binding.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <thread>
#include <vector>

namespace core_binding_tests {

using namespace hpl::topology;

namespace {

/// On which of the system's processors the calling thread may run.
std::vector<int> allowedHere() {
  cpu_set_t set;
  CPU_ZERO(&set);
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  std::vector<int> found;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) found.push_back(i);
  return found;
}

unsigned online() { return static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))); }

/// A thread that was there before and says where it may run when it is asked.
class Witness {
 public:
  Witness() = default;
  ~Witness() {
    if (thread_.joinable()) ask();
  }
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  std::vector<int> ask() {
    asked_.set_value();
    thread_.join();
    return said_;
  }

 private:
  std::promise<void> asked_;
  std::vector<int> said_;
  std::thread thread_{[this] {
    asked_.get_future().wait();
    said_ = allowedHere();
  }};
};

std::vector<int> allowedToNewThread() { return std::async(std::launch::async, allowedHere).get(); }

}  // namespace

TEST_CASE("threads that are there and those that come keep to the cores, until they are unbound") {
  const std::vector<int> all = allowedHere();
  const unsigned count = online();
  if (all.size() != count || count < 2) return;
  Witness before, bound, after;
  const CoreRange halves[] = {{0, count / 2}, {count / 2, count - count / 2}};
  CHECK(before.ask() == all);
  std::vector<int> both;
  for (const CoreRange& half : halves) {
    if (!bindToCores({&half, 1}, count)) return;  // without hwloc
    CHECK(allowedHere().size() == half.count);
    CHECK(allowedToNewThread() == allowedHere());
    const std::vector<int> own = allowedHere();
    both.insert(both.end(), own.begin(), own.end());
    if (half.first > 0) CHECK(bound.ask() == own);
    unbindFromCores();
  }
  std::sort(both.begin(), both.end());
  CHECK(both == all);
  REQUIRE(bindToCores(halves, count));
  CHECK(allowedHere() == all);
  unbindFromCores();
  CHECK(after.ask() == all);
}

TEST_CASE("a process that somebody has bound, and a machine of other cores, are left alone") {
  const std::vector<int> all = allowedHere();
  const unsigned count = online();
  if (all.size() != count || count < 2) return;
  const CoreRange first{0, 1};
  CHECK_FALSE(bindToCores({&first, 1}, count + 1));
  CHECK(allowedHere() == all);
  const CoreRange beyond{0, count + 1};
  CHECK_FALSE(bindToCores({&beyond, 1}, count));
  CHECK(allowedHere() == all);
  const auto own = std::async(std::launch::async, [&] {
                     cpu_set_t last;
                     CPU_ZERO(&last);
                     CPU_SET(all.back(), &last);
                     REQUIRE(sched_setaffinity(0, sizeof last, &last) == 0);
                     CHECK_FALSE(bindToCores({&first, 1}, count));
                     return allowedHere();
                   }).get();
  CHECK(own == std::vector<int>{all.back()});
  CHECK(allowedHere() == all);
}

}  // namespace core_binding_tests
