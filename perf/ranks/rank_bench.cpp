// SPDX-License-Identifier: Apache-2.0
// What ranks cost, for perf/ranks.py and perf/network.sh: one program, as it is in one process and
// on several ranks.
//
//     hpl_rank_bench life|jacobi3d|launch|exchange [STEPS]          one process
//     mpirun -n 2 hpl_rank_bench life|jacobi3d|exchange|wide [STEPS]    two ranks; also HPL_RANKS=2
//     HPL_BENCH_SESSION=0                                           without a Session
//
// Prints seconds for a step, and seconds that the host spent on its calls. life: 2048^2 ints,
// jacobi3d: 160^3 floats, both with an exchange of borders in each step; exchange: the same over
// rows so short that nothing but the host's work counts; wide: over rows of 2 MiB, with work enough
// in each cell to hide them behind; launch: a kernel on one device, and no
// exchange. All check a sum of their cells.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "hpl/hpl.h"
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
  double step, host;
};

/// Runs `step` so often, after some that are not timed.
template <class Step, class Finish>
Times timed(int steps, const Step& step, const Finish& finish) {
  for (int i = 0; i < 10; ++i) step();
  finish();
  const auto begin = Clock::now();
  for (int i = 0; i < steps; ++i) step();
  const double host = since(begin);
  finish();
  return {since(begin) / steps, host / steps};
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
  return timed(
      steps,
      [&] {
        eval(kernel).devices()(PART1(next, 1, AUTO_SYNC), PART1(now, 1, AUTO_SYNC));
        swap(now, next);
      },
      // A sum needs every part's last state.
      [&] {
        const T total = sum(now);
        if (!(total >= 0)) std::abort();
      });
}

Times run(const std::string& what, int steps) {
  if (what == "life")
    return stepsOver(Array<int, 2>(2048, 2048), Array<int, 2>(2048, 2048), life, steps);
  if (what == "exchange")
    return stepsOver(Array<int, 2>(32, 16), Array<int, 2>(32, 16), life, steps);
  if (what == "wide")
    return stepsOver(Array<float, 2>(48, 1 << 19), Array<float, 2>(48, 1 << 19), wide, steps);
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
  std::fprintf(stderr, "hpl_rank_bench: life, jacobi3d, exchange, wide or launch, not %s\n",
               what.c_str());
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const wish = std::getenv("HPL_BENCH_SESSION");
  std::unique_ptr<Session> session;
  if (wish == nullptr || std::string(wish) != "0") session = std::make_unique<Session>(argc, argv);
  const std::string what = argc > 1 ? argv[1] : "life";
  const int steps = argc > 2 ? std::max(1, std::atoi(argv[2])) : 200;
  const Times times = run(what, steps);
  if (session == nullptr || session->rank() == 0)
    std::printf("%.9g %.9g\n", times.step, times.host);
  return 0;
}
