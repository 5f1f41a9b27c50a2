// SPDX-License-Identifier: Apache-2.0
// What ranks cost, for perf/ranks.py and perf/network.sh: one program, as it is in one process and
// on several ranks.
//
//     hpl_rank_bench WORK [STEPS]                  one process
//     mpirun -n 2 hpl_rank_bench WORK [STEPS]      two ranks; also HPL_RANKS=2
//     RANK_BENCH_SESSION=0                          without a Session
//     RANK_BENCH_ROWS=512                           rows of "compute" and "wide"
//     RANK_BENCH_DEVICE=1                           "compute" on one device of the list
//     RANK_BENCH_WEIGHTS=measured                   "compute" with measured shares
//
// life: 2048^2 ints, jacobi3d: 160^3 floats, both with an exchange of borders in each step;
// exchange: the same over rows so short that nothing but the host's work counts; wide: over rows of
// 2 MiB, with work enough in each cell to hide them behind; compute: much work in each cell and
// short borders; row: a row of 4 KiB from each of two devices to the other, and nothing else;
// launch: a kernel on one device, and no exchange. All check a sum of their cells.
//
// The rank in the middle prints: seconds for a step; seconds that the host spent on its calls, and
// of processor time, without what it waited; seconds of processor time of the courier; and of "row"
// the driver's own time to read and to write as much.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/runtime/device_state.h"
#ifdef HPL_BENCH_HAS_MPI
#include "hpl/mpi/session.h"
using Session = hpl::mpi::Session;
#else
using Session = hpl::ranks::Session;
#endif

using namespace hpl;

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void life(Array<int, 2> next, const Array<int, 2>& now) {
  if_(idy > 0 && idy + 1 < szy && idx > 0 && idx + 1 < szx) {
    Int alive = now[idy - 1][idx - 1] + now[idy - 1][idx] + now[idy - 1][idx + 1] +
                now[idy][idx - 1] + now[idy][idx + 1] + now[idy + 1][idx - 1] + now[idy + 1][idx] +
                now[idy + 1][idx + 1];
    next[idy][idx] = where(alive == 3 || (alive == 2 && now[idy][idx] == 1), 1, 0);
  }
}

void jacobi3d(Array<float, 3> next, const Array<float, 3>& now) {
  if_(idz > 0 && idz + 1 < szz && idy > 0 && idy + 1 < szy && idx > 0 && idx + 1 < szx) {
    next[idz][idy][idx] =
        (now[idz - 1][idy][idx] + now[idz + 1][idy][idx] + now[idz][idy - 1][idx] +
         now[idz][idy + 1][idx] + now[idz][idy][idx - 1] + now[idz][idy][idx + 1]) /
        6.0f;
  }
}

void wide(Array<float, 2> next, const Array<float, 2>& now) {
  if_(idy > 0 && idy + 1 < szy) {
    Float x = 0.5f * (now[idy - 1][idx] + now[idy + 1][idx]);
    Int i;
    for_(i = 0, i < 60, i++) {
      x = 0.999f * x + 0.001f;
    }
    next[idy][idx] = x;
  }
}

struct Times {
  double step, host, hostWork;
  double courier = 0;
  double driver = 0;
};

/// Processor time of the calling thread until now.
double ownTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Processor time of the courier until now.
double courierTime() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    double nanoseconds = 0;
    if (name == "hpl courier" && std::ifstream(task.path() / "schedstat") >> nanoseconds)
      return 1e-9 * nanoseconds;
  }
  return 0;
}

std::string wished(const char* variable) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? text : "";
}

/// Runs `step` so often, after some that are not timed.
template <class Step, class Finish>
Times timed(int steps, const Step& step, const Finish& finish) {
  for (int i = 0; i < 10; ++i) step();
  finish();
  const double courier = courierTime();
  const double own = ownTime();
  const auto begin = Clock::now();
  for (int i = 0; i < steps; ++i) step();
  const double host = since(begin);
  const double work = ownTime() - own;
  finish();
  return {since(begin) / steps, host / steps, work / steps, (courierTime() - courier) / steps};
}

std::vector<Device> usedDevices() {
  const std::string only = wished("RANK_BENCH_DEVICE");
  if (only.empty()) return devices();
  return {devices().at(std::stoul(only))};
}

template <class T, int N>
Times stepsOver(Array<T, N> now, Array<T, N> next, void (*kernel)(Array<T, N>, const Array<T, N>&),
                int steps) {
  forEachLocal(now, [](const LocalPart<T, N>& part) {
    std::size_t cells = 1;
    for (int d = 0; d < N; ++d) cells *= part.extents()[d];
    for (std::size_t i = 0; i < cells; ++i) part.data()[i] = static_cast<T>(i % 5 == 0 ? 1 : 0);
  });
  next = T(0);
  const std::vector<Device> used = usedDevices();
  const bool isMeasured = wished("RANK_BENCH_WEIGHTS") == "measured";
  return timed(
      steps,
      [&] {
        if (isMeasured) {
          eval(kernel).devices(used).weights(MEASURED)(PART1(next, 1, AUTO_SYNC),
                                                       PART1(now, 1, AUTO_SYNC));
        } else {
          eval(kernel).devices(used)(PART1(next, 1, AUTO_SYNC), PART1(now, 1, AUTO_SYNC));
        }
        swap(now, next);
      },
      // A sum needs every part's last state.
      [&] {
        const T total = sum(now);
        if (!(total >= 0)) std::abort();
      });
}

constexpr std::size_t kRowCells = 1024;  // 4 KiB

void fillRows(Array<float, 2> a, Float value) { a[idy][idx] = value; }

/// The driver's time to read a row and to write one, each waited for.
double driverTime(int steps) {
  std::vector<float> row(kRowCells);
  const std::size_t bytes = row.size() * sizeof(float);
  const std::vector<Device> all = devices();
  const auto own =
      std::find_if(all.begin(), all.end(), [](const Device& d) { return d.isLocal(); });
  runtime::DeviceState& device = own->state();
  const cl::CommandQueue queue(device.context(), device.device());
  const cl::Buffer memory(device.context(), CL_MEM_READ_WRITE, bytes);
  const auto both = [&] {
    queue.enqueueReadBuffer(memory, CL_TRUE, 0, bytes, row.data());
    queue.enqueueWriteBuffer(memory, CL_TRUE, 0, bytes, row.data());
  };
  both();
  const auto begin = Clock::now();
  for (int i = 0; i < steps; ++i) both();
  return since(begin) / steps;
}

/// Two devices, of which each gets a row of the other's, again and again: a launch makes the ghosts
/// old, the exchange renews them. Without the launch's own time.
Times exchangeRows(int steps) {
  const std::vector<Device> all = devices();
  if (all.size() != 2) {
    std::fprintf(stderr, "hpl_rank_bench: \"row\" wants two devices\n");
    std::exit(2);
  }
  Array<float, 2> cells(8, kRowCells);
  const auto wait = [&] {
    for (const Device& device : all)
      if (device.isLocal()) device.sync();
  };
  float value = 0;
  const auto launch = [&] {
    eval(fillRows).devices(all)(PART1(cells, 1), value++);
    wait();
  };
  const Times alone = timed(steps, launch, wait);
  Times both = timed(
      steps,
      [&] {
        launch();
        cells.syncGhosts();
        wait();
      },
      wait);
  if (!(sum(cells) > 0)) std::abort();
  both.step -= alone.step;
  both.host -= alone.host;
  both.hostWork -= alone.hostWork;
  both.driver = driverTime(steps);
  return both;
}

std::size_t rowsOr(std::size_t usual) {
  const std::string rows = wished("RANK_BENCH_ROWS");
  return rows.empty() ? usual : std::stoul(rows);
}

Times run(const std::string& what, int steps) {
  if (what == "row") return exchangeRows(steps);
  if (what == "compute") {
    const std::size_t height = rowsOr(512);
    return stepsOver(Array<float, 2>(height, kRowCells), Array<float, 2>(height, kRowCells), wide,
                     steps);
  }
  if (what == "life")
    return stepsOver(Array<int, 2>(2048, 2048), Array<int, 2>(2048, 2048), life, steps);
  if (what == "exchange")
    return stepsOver(Array<int, 2>(32, 16), Array<int, 2>(32, 16), life, steps);
  if (what == "wide") {
    const std::size_t height = rowsOr(48);
    return stepsOver(Array<float, 2>(height, 1 << 19), Array<float, 2>(height, 1 << 19), wide,
                     steps);
  }
  if (what == "jacobi3d")
    return stepsOver(Array<float, 3>(160, 160, 160), Array<float, 3>(160, 160, 160), jacobi3d,
                     steps);
  if (what == "launch") {
    Array<int, 2> now(32, 16), next(32, 16);
    now = 0;
    next = 0;
    return timed(
        steps, [&] { eval(life)(next, now); }, [&] { defaultDevice().sync(); });
  }
  std::fprintf(stderr,
               "hpl_rank_bench: life, jacobi3d, exchange, wide, compute, row or launch, not %s\n",
               what.c_str());
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  std::unique_ptr<Session> session;
  if (wished("RANK_BENCH_SESSION") != "0") session = std::make_unique<Session>(argc, argv);
  const std::string what = argc > 1 ? argv[1] : "life";
  const int steps = argc > 2 ? std::max(1, std::atoi(argv[2])) : 200;
  const Times times = run(what, steps);
  if (session == nullptr || session->rank() == session->size() / 2)
    std::printf("%.9g %.9g %.9g %.9g %.9g\n", times.step, times.host, times.hostWork, times.courier,
                times.driver);
  return 0;
}
