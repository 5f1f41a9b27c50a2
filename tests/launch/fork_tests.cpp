// SPDX-License-Identifier: Apache-2.0
// Processes that are forked from one that has used devices: a DeviceError at every door, no hang.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "hpl/hpl.h"
#include "tests/messages.h"
#include "tests/runtime/subprocess.h"

namespace fork_tests {

using namespace hpl;
using hpl_tests::contains;
using hpl_tests::messageOf;

namespace {

void addOne(Array<int, 1> a) { a[idx] += 1; }
void fillWith(Array<int, 1> a, Int value) { a[idx] = value; }

enum class End { Quick, Exit };

#ifdef __SANITIZE_ADDRESS__
// Objects on the stacks of the other threads have no owner in the child.
constexpr bool countsLeaks = true;
#else
constexpr bool countsLeaks = false;
#endif

struct ChildResult {
  bool ended = false;
  int exitCode = -1;
  std::string text;
};

/// Runs `work` in a forked process, which is given half a minute, and returns what it returned.
ChildResult inChild(const std::function<std::string()>& work, End end = End::Quick) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(30);
    std::string text;
    try {
      text = work();
    } catch (const std::exception& error) {
      text = std::string("escaped: ") + error.what();
    }
    const bool written = write(ends[1], text.data(), text.size()) >= 0;
    close(ends[1]);
    if (end == End::Exit) std::exit(written ? 7 : 1);
    _exit(written ? 7 : 1);
  }
  close(ends[1]);
  ChildResult result;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    result.text.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  result.ended = WIFEXITED(status);
  if (result.ended) result.exitCode = WEXITSTATUS(status);
  return result;
}

/// Arrays that a device holds, in every state.
struct Used {
  Array<int, 1> ahead{1000};  ///< newer on the device
  Array<int, 1> read{1000};   ///< read back
  Array<int, 1> input{1000};  ///< never written by a device
  std::vector<int> memory = std::vector<int>(1000, 5);
  Array<int, 1> user{1000, memory.data()};
  FRunner runner;

  Used() {
    ahead.label("ahead");
    ahead = 1;
    read = 1;
    input = 3;
    runner = eval(addOne)(ahead);
    eval(addOne)(read);
    eval(addOne)(user);
    eval([](Array<int, 1> a, const Array<int, 1>& b) { a[idx] += b[idx]; })(ahead, input);
    REQUIRE(read(7) == 2);
  }
};

constexpr const char* kReason =
    "this process was forked from one that had used devices, and drivers do not survive a fork(): "
    "use devices in one of the two processes only, fork before the first use of a device, or start "
    "another program with exec()";

template <class F>
std::string refused(const char* door, F&& f) {
  const std::string message = messageOf<DeviceError>(f);
  return contains(message, kReason) ? std::string() : std::string(door) + ": " + message + "\n";
}

Array<int, 1>& staticArray() {
  static Array<int, 1> array(500);
  return array;
}

}  // namespace

TEST_CASE("a forked process gets a DeviceError at every door to a device") {
  Used used;
  Array<int, 1> fresh(1000), view(1000);
  fresh = 0;
  FRunner empty;
  const Device device;
  const ChildResult child = inChild([&] {
    std::string wrong;
    wrong += refused("eval", [&] { eval(addOne)(used.ahead); });
    wrong += refused("eval of a new array", [&] { eval(addOne)(fresh); });
    wrong += refused("eval of a new kernel", [&] { eval(fillWith)(fresh, 3); });
    wrong += refused("eval of a lambda", [&] { eval([](Array<int, 1> a) { a[idx] = 1; })(fresh); });
    wrong += refused("eval on a device", [&] { eval(addOne).device(device)(fresh); });
    wrong += refused("eval on devices", [&] { eval(addOne).devices(1)(fresh); });
    wrong += refused("run", [&] { used.runner.run(); });
    wrong += refused("wait", [&] { used.runner.wait(); });
    wrong += refused("element", [&] { used.ahead(3).value(); });
    wrong += refused("element of a view", [&] { used.ahead(Range(1, 5))(2).value(); });
    wrong += refused("write an element", [&] { used.ahead(3) = 1; });
    wrong += refused("data", [&] { used.ahead.data(HPL_RD); });
    wrong += refused("data for writing", [&] { used.ahead.data(HPL_WR); });
    wrong += refused("reduce", [&] { used.ahead.reduce(std::plus<int>()); });
    wrong += refused("fill", [&] { used.ahead = 0; });
    wrong += refused("copy from", [&] { fresh = used.ahead; });
    wrong += refused("copy to", [&] { used.ahead = fresh; });
    wrong += refused("syncGhosts", [&] { used.ahead.syncGhosts(); });
    wrong += refused("user memory", [&] { used.user(3).value(); });
    wrong += refused("number of devices", [] { getDeviceNumber(); });
    wrong += refused("devices", [] { devices(); });
    wrong += refused("a device", [] { const Device other(ANY, 0); });
    wrong += refused("sync", [&] { device.sync(); });
    wrong += refused("profile", [] { getProfile(); });
    empty.wait();
    const std::string named = messageOf<DeviceError>([&] { used.ahead(3).value(); });
    if (!contains(named, "array \"ahead\" was in use on a device, and this process was forked"))
      wrong += named;
    return wrong;
  });
  CHECK(child.ended);
  CHECK(child.exitCode == 7);
  CHECK(child.text == "");
  CHECK(used.ahead(3) == 5);
  CHECK(used.user(3) == 6);
}

TEST_CASE("a forked process works with arrays that were never on a device, and with open ones") {
  Used used;
  Array<int, 2> old(20, 30);
  old = 4;
  const int* open = used.read.data(HPL_RD);
  const ChildResult child = inChild([&] {
    std::string wrong;
    const auto expect = [&](bool holds, const char* what) {
      if (!holds) wrong += std::string(what) + "\n";
    };
    expect(old(3, 4) == 4, "old array");
    old(Range(1, 2), Range(0, 29)) = 6;
    expect(old.reduce(std::plus<int>()) == 4 * 540 + 6 * 60, "sum of the old array");
    Array<int, 2> fresh(20, 30);
    fresh = old;
    fresh(0, 0) += 1;
    expect(fresh(0, 0) == 5 && old(0, 0) == 4, "new array");
    old.syncGhosts();
    swap(old, fresh);
    expect(old(0, 0) == 5, "swap");
    expect(open[7] == 2 && used.read(7) == 2, "array that was read before");
    return wrong;
  });
  CHECK(child.ended);
  CHECK(child.text == "");
  CHECK(old(0, 0) == 4);
}

TEST_CASE("arrays and launches die quietly in a forked process, and so does the process") {
  auto used = std::make_unique<Used>();
  staticArray() = 1;
  eval(addOne)(staticArray());
  for (const End end : {End::Quick, End::Exit}) {
    const ChildResult child = inChild(
        [&] {
          used.reset();
          return std::string("gone");
        },
        end);
    CHECK(child.ended);
    CHECK(child.exitCode == 7);
    CHECK(child.text == "gone");
  }
  CHECK(used->ahead(3) == 5);
  CHECK(used->user(3) == 6);
  CHECK(staticArray()(3) == 2);
}

TEST_CASE("a lock that another thread holds when a process is forked stops nothing there") {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&stop, t] {
      Array<int, 1> mine(64);
      mine = 0;
      int launches = 0;
      while (!stop) {
        eval(fillWith)(mine, ++launches);
        if (mine(5) != launches) std::abort();
        Array<int, 1> other(64);
        other = mine;
        if (launches % 50 == t) eval([t](Array<int, 1> a) { a[idx] = t; })(other);
      }
    });
  Array<int, 1> host(64);
  host = 1;
  Used used;
  int failures = 0;
  for (int round = 0; round < 60; ++round) {
    const ChildResult child = inChild(
        [&] {
          std::string wrong;
          wrong += refused("eval", [&] { eval(addOne)(host); });
          wrong +=
              refused("a new kernel", [&] { eval([](Array<int, 1> a) { a[idx] = 7; })(host); });
          wrong += refused("read", [&] { used.ahead(3).value(); });
          wrong += refused("profile", [] { getProfile(); });
          Array<int, 1> fresh(64);
          fresh = host;
          if (fresh(3) != 1) wrong += "copy";
          return wrong;
        },
        round % 2 == 0 || countsLeaks ? End::Quick : End::Exit);
    if (!child.ended || child.exitCode != 7 || !child.text.empty()) {
      MESSAGE("round " << round << ": " << child.text);
      ++failures;
    }
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
}

TEST_CASE("a forked process finds arrays whole whatever other threads were doing to theirs") {
  const Used used;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&stop] {
      Array<int, 1> from(64), to(64);
      from = 3;
      while (!stop) {
        to = from;
        for (std::size_t begin = 0; begin < 32; ++begin)
          to(Range(begin, begin + 8)) = from(Range(begin + 16, begin + 24));
        Array<int, 1> other(64);
        other = 5;
        other.reduce(std::plus<int>());
      }
    });
  Array<int, 1> host(64);
  host = 1;
  int failures = 0;
  for (int round = 0; round < 200; ++round) {
    const ChildResult child = inChild([&] {
      Array<int, 1> fresh(64);
      fresh = host;
      fresh(Range(8, 15)) = 2;
      host(Range(0, 7)) = fresh(Range(8, 15));
      return std::to_string(host(0) + host(7) + host(8) + fresh(16));
    });
    if (!child.ended || child.exitCode != 7 || child.text != "6") {
      MESSAGE("round " << round << ": " << child.text);
      ++failures;
    }
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
}

TEST_CASE("forked processes that end do not take its files from a compilation of the parent") {
  const Used used;
  const int unique = static_cast<int>(std::random_device()() % 1000000);
  std::atomic<bool> stop{false};
  std::string wrong;
  std::thread compiler([&] {
    for (int i = 0; i < 12; ++i) {
      try {
        Array<int, 1> a(64);
        const int literal = unique + i;
        eval([literal](Array<int, 1> out) { out[idx] = literal; })(a);
        if (a(5) != literal) wrong += "a wrong number\n";
      } catch (const Error& error) {
        wrong += error.what();
      }
    }
    stop = true;
  });
  int failures = 0;
  while (!stop) {
    const ChildResult child =
        inChild([] { return std::string("ended"); }, countsLeaks ? End::Quick : End::Exit);
    failures += child.text == "ended" && child.exitCode == 7 ? 0 : 1;
  }
  compiler.join();
  CHECK(wrong == "");
  CHECK(failures == 0);
}

TEST_CASE("child: forks before it uses a device" * doctest::skip()) {
  Array<int, 1> a(100);
  a = 1;
  const ChildResult child = inChild(
      [&] {
        eval(addOne)(a);
        return std::to_string(a(3).value());
      },
      End::Exit);
  eval(addOne)(a);
  std::printf("child %s, exit code %d; parent %d\n", child.text.c_str(), child.exitCode,
              a(3).value());
}

TEST_CASE("a process that is forked before the first use of a device may use devices") {
  const auto result = subprocess::run("child: forks before it uses a device");
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  CHECK(contains(result.output, "child 2, exit code 7; parent 2\n"));
}

TEST_CASE("child: forks while it is traced" * doctest::skip()) {
  Array<int, 1> a(100);
  a = 1;
  eval(addOne)(a);
  const ChildResult child =
      inChild([] { return refused("profile", [] { getProfile(); }); }, End::Exit);
  std::printf("child '%s', exit code %d; launches %d\n", child.text.c_str(), child.exitCode,
              static_cast<int>(getProfile().launches));
}

TEST_CASE("a forked process leaves the timeline of its parent alone") {
  const subprocess::TemporaryFolder folder;
  const auto result =
      subprocess::run("child: forks while it is traced",
                      "HPL_PROFILE=1 HPL_TRACE=" + (folder / "trace.json").string());
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  CHECK(contains(result.output, "child '', exit code 7; launches 1\n"));
  CHECK(std::filesystem::file_size(folder / "trace.json") > 0);
}

}  // namespace fork_tests
