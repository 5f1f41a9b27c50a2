// SPDX-License-Identifier: Apache-2.0
// A program of several ranks that does what its argument says; check_sessions.py runs it. Compiled
// with HPL_TESTS_MPI for hpl::mpi::Session, without for hpl::ranks::Session.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/ranks/world.h"
#include "tests/ranks/scattered.h"

#ifdef HPL_TESTS_MPI
#include <mpi.h>

#include "hpl/mpi.h"
using Session = hpl::mpi::Session;
#else
using Session = hpl::ranks::Session;
#endif

namespace {

hpl::ranks::Courier& courier() { return hpl::ranks::world()->courier(); }

void hello(const Session& session) {
  std::printf("rank %d of %d on node %d of %d (%s)\n", session.rank(), session.size(),
              session.node(), session.nodes(), session.nodeName().c_str());
}

/// Large and small messages around the ring of ranks, and collective calls: prints what is wrong.
void exchange(const Session& session) {
  const int next = (session.rank() + 1) % session.size();
  const int last = (session.rank() + session.size() - 1) % session.size();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{3'000'000}}) {
    const std::vector<std::byte> own(bytes, static_cast<std::byte>(session.rank() + 1));
    std::vector<std::byte> other(bytes);
    std::atomic<int> open{2};
    const auto done = [&](const std::exception_ptr& failure, std::size_t) {
      if (failure) std::printf("a message failed\n");
      --open;
    };
    courier().receive(last, other, done);
    courier().send(next, own, done);
    while (open > 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    // The same from several places of memory to others.
    open = 2;
    hpl_tests::Scattered from(own, {7, bytes / 2});
    hpl_tests::Scattered to(std::vector<std::byte>(bytes), {bytes / 3, 100, 0});
    courier().receive(last, to.parts<std::byte>(), done);
    courier().send(next, from.parts<const std::byte>(), done);
    while (open > 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (to.bytes() != other) std::printf("%zu scattered bytes arrived wrong\n", bytes);
    if (other != std::vector<std::byte>(bytes, static_cast<std::byte>(last + 1)))
      std::printf("%zu bytes arrived wrong\n", bytes);
    std::vector<std::byte> shared(bytes, static_cast<std::byte>(session.rank()));
    courier().broadcast(session.size() - 1, shared);
    if (shared != std::vector<std::byte>(bytes, static_cast<std::byte>(session.size() - 1)))
      std::printf("%zu bytes were broadcast wrong\n", bytes);
    if (courier().allgather(own).size() != static_cast<std::size_t>(session.size()))
      std::printf("an allgather failed\n");
  }
  std::printf("exchanged\n");
}

/// A message that is longer than its receiver expects.
void surplus(const Session& session) {
  std::vector<std::byte> bytes(session.rank() == 0 ? 500 : 1000);
  std::atomic<int> open{1};
  if (session.rank() > 1) return;
  const auto done = [&](const std::exception_ptr& failure, std::size_t) {
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const hpl::RankError& error) {
      std::printf("%s\n", error.what());
    }
    --open;
  };
  if (session.rank() == 0)
    courier().receive(1, bytes, done);
  else
    courier().send(0, bytes, done);
  while (open > 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

void listDevices(const Session& session) {
  std::string text = "rank " + std::to_string(session.rank()) + " sees";
  for (const hpl::Device& device : hpl::devices()) {
    text += " " + std::to_string(device.rank());
    if (device.isLocal()) text += "*";
  }
  std::printf("%s\n", text.c_str());
}

void smooth(hpl::Array<float, 1> out, const hpl::Array<float, 1>& in) {
  using namespace hpl;
  if_(idx > 0 && idx + 1 < szx) {
    out[idx] = 0.5f * (in[idx - 1] + in[idx + 1]);
  }
}

/// Steps with an exchange, for a timeline.
void steps() {
  hpl::Array<float, 1> now(4000), next(4000);
  now = 1.0f;
  next = 1.0f;
  for (int step = 0; step < 20; ++step) {
    eval(smooth)(hpl::PART1(next, 1, hpl::AUTO_SYNC), hpl::PART1(now, 1, hpl::AUTO_SYNC));
    swap(now, next);
  }
  std::printf("a cell is %g\n", now(2000).value());
}

void smoothRows(hpl::Array<float, 2> out, const hpl::Array<float, 2>& in) {
  using namespace hpl;
  if_(idx > 0 && idx + 1 < szx) {
    out[idy][idx] = 0.5f * (in[idy][idx - 1] + in[idy][idx + 1]);
  }
}

/// The same with parts that are columns.
void columns() {
  hpl::Array<float, 2> now(50, 300), next(50, 300);
  now = 1.0f;
  next = 1.0f;
  for (int step = 0; step < 20; ++step) {
    eval(smoothRows)(hpl::PART2(next, 1, hpl::AUTO_SYNC), hpl::PART2(now, 1, hpl::AUTO_SYNC));
    swap(now, next);
  }
  std::printf("a cell is %g\n", now(20, 200).value());
}

void diagonals(hpl::Array<int, 2> out, const hpl::Array<int, 2>& in) {
  using namespace hpl;
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    out[idy][idx] = 3 * in[idy - 1][idx - 1] + in[idy - 1][idx + 1] - in[idy + 1][idx];
  }
}

/// Blocks with rows of 2 KiB and more on all devices, against a loop of the host's.
void blocks() {
  constexpr std::size_t kRows = 30, kColumns = 4000;
  hpl::Array<int, 2> now(kRows, kColumns), next(kRows, kColumns);
  std::vector<int> cells(kRows * kColumns), other;
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<int>(i * 7919 % 1000);
  now.copyFrom(cells.data());
  next.copyFrom(cells.data());
  other = cells;
  for (int step = 0; step < 12; ++step) {
    eval(diagonals).devices()(hpl::PART12(next, 1, 1, hpl::AUTO_SYNC),
                              hpl::PART12(now, 1, 1, hpl::AUTO_SYNC));
    swap(now, next);
    for (std::size_t y = 1; y + 1 < kRows; ++y)
      for (std::size_t x = 1; x + 1 < kColumns; ++x) {
        const std::size_t at = y * kColumns + x;
        // As unsigned, which may overflow.
        other[at] = static_cast<int>(3U * static_cast<unsigned>(cells[at - kColumns - 1]) +
                                     static_cast<unsigned>(cells[at - kColumns + 1]) -
                                     static_cast<unsigned>(cells[at + kColumns]));
      }
    std::swap(cells, other);
  }
  now.copyTo(other.data());
  std::printf("blocks are %s\n", other == cells ? "right" : "wrong");
}

/// Ends rank 1 in the middle, while the others go on.
void endOne(const Session& session, const std::string& how) {
  if (session.rank() == 1) {
    courier().allAgree(true);
    if (how == "kill") raise(SIGKILL);
    if (how == "exit") std::exit(5);
    if (how == "throw") throw hpl::ShapeError("the shape is wrong");
    if (how == "fail") courier().fail("launch of 'heat'", "the device is lost");
    return;  // "return"
  }
  const auto begin = std::chrono::steady_clock::now();
  try {
    for (;;) courier().allAgree(true);
  } catch (const hpl::RankError& error) {
    const auto late = std::chrono::steady_clock::now() - begin;
    std::printf("rank %d: %s%s\n", session.rank(), error.what(),
                late < std::chrono::seconds(2) ? "" : " (late)");
    throw;
  }
}

void initializeMpi(const std::string& what) {
#ifdef HPL_TESTS_MPI
  int level = 0;
  if (what == "single") MPI_Init(nullptr, nullptr);
  if (what == "multiple") MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  if (what == "finalized") {
    MPI_Init(nullptr, nullptr);
    MPI_Finalize();
  }
#else
  static_cast<void>(what);
#endif
}

void finalizeMpi(const std::string& what) {
#ifdef HPL_TESTS_MPI
  if (what == "multiple" || what == "single") MPI_Finalize();
#else
  static_cast<void>(what);
#endif
}

void run(int argc, char** argv, const std::string& what) {
  if (what == "late") hpl::getDeviceNumber();
  Session session(argc, argv);
  if (what == "twice") Session(argc, argv);
  if (what == "hello" || what == "multiple") hello(session);
  if (what == "exchange") exchange(session);
  if (what == "surplus") surplus(session);
  if (what == "devices") listDevices(session);
  if (what == "steps") steps();
  if (what == "columns") columns();
  if (what == "blocks") blocks();
  if (what == "input" && session.rank() != 0)
    std::printf("rank %d reads %d\n", session.rank(), getchar());
  if (what == "code") std::exit(session.rank() == 2 ? 9 : 0);
  if (what == "kill" || what == "exit" || what == "throw" || what == "fail" || what == "return")
    endOne(session, what);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "hello";
  std::printf("before\n");
  initializeMpi(what);
  int code = 0;
  try {
    run(argc, argv, what);
  } catch (const hpl::RankError&) {
    code = 3;
  } catch (const hpl::Error& error) {
    if (what == "throw") throw;
    std::printf("%s\n", error.what());
    code = 4;
  }
  finalizeMpi(what);
  return code;
}
