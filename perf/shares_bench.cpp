// SPDX-License-Identifier: Apache-2.0
// A launch that is shared out among the parts of a device, against the same launch on the whole
// device: what the parts reach together, of what the units have. The first device of the list is
// the whole one, the others are its parts:
//
//     HPL_DEVICES="cpu:0,cpu:0/2" hpl_shares_bench
//     POCL_MAX_PTHREAD_COUNT=3 HPL_DEVICES="cpu:0,cpu:0/2" hpl_shares_bench
//
// On two cores the parts of the first line have one core each. In the second line PoCL believes in
// three units, so that one part has two and the other has one. shares/equal halves the work,
// shares/measured divides it by measured weights.
//
//     HPL_DEVICES="cpu:0/2" hpl_shares_bench --uneven ROUNDS
//
// asks what devices of different speeds, which exchange ghosts after every step, reach together of
// what each of them does alone: perf/uneven.sh makes one of two equal devices slower.
#include <cstdlib>

#include "hpl/hpl.h"
#include "pairs.h"

using namespace hpl;

namespace {

using Cells = Array<float, 2>;

constexpr std::size_t kRows = 960;
constexpr std::size_t kColumns = 512;
constexpr int kLaunches = 8;

// Every cell costs the same, and hardly any of it is memory's.
void work(Cells out, Float seed) {
  Float x = seed + cast<float>(idx) * 1e-3f;
  Float y = seed + cast<float>(idy) * 1e-3f;
  Int i;
  for_(i = 0, i < 64, i += 1) {
    Float z = x * 0.7f - y * 0.3f;
    y = x * 0.3f + y * 0.7f;
    x = z + 1e-3f;
  }
  out[idy][idx] = x + y;
}

struct Contest {
  std::vector<Device> all = devices(defaultDevice().type());
  Device whole = all.front();
  std::vector<Device> parts{all.begin() + 1, all.end()};
  Cells one{kRows, kColumns}, equal{kRows, kColumns}, measured{kRows, kColumns};

  void syncAll() const {
    for (const Device& device : all) device.sync();
  }
  void onWhole() {
    for (int i = 0; i < kLaunches; ++i) eval(work).device(whole)(one, 0.25f);
    syncAll();
  }
  void byHalves() {
    for (int i = 0; i < kLaunches; ++i) eval(work).devices(parts)(equal, 0.25f);
    syncAll();
  }
  void byMeasure() {
    for (int i = 0; i < kLaunches; ++i)
      eval(work).devices(parts).weights(MEASURED)(measured, 0.25f);
    syncAll();
  }
  bool agree() const {
    std::vector<float> a(kRows * kColumns), b(a.size()), c(a.size());
    one.copyTo(a.data());
    equal.copyTo(b.data());
    measured.copyTo(c.data());
    return a == b && a == c;
  }
};

/// As work(), with a neighbour above and below.
void workWithNeighbours(Cells out, Cells in) {
  Float x = in[idy][idx];
  Float y = x;
  if_(idy > 0 && idy + 1 < szy) {
    y = in[idy - 1][idx] + in[idy + 1][idx];
  }
  Int i;
  for_(i = 0, i < 64, i += 1) {
    Float z = x * 0.7f - y * 0.3f;
    y = x * 0.3f + y * 0.7f;
    x = z + 1e-3f;
  }
  out[idy][idx] = 0.5f * (x + y);
}

/// Steps of all devices, and of each alone, on as many cells.
class UnevenContest {
 public:
  UnevenContest() {
    std::vector<float> cells(kRows * kColumns, 0.5f);
    for (Pair* pair : {&equal_, &measured_}) pair->set(cells.data());
    for (std::size_t d = 0; d < devices_.size(); ++d) alone_.emplace_back().set(cells.data());
  }

  std::size_t devices() const { return devices_.size(); }
  /// Millions of cells updated per second.
  double alone(std::size_t device) {
    return speed([&] {
      Pair& own = alone_[device];
      eval(workWithNeighbours).device(devices_[device])(own.next, own.now);
      swap(own.now, own.next);
    });
  }
  double equal() {
    return speed([&] { step(equal_, eval(workWithNeighbours).devices(devices_)); });
  }
  double measured() {
    return speed(
        [&] { step(measured_, eval(workWithNeighbours).devices(devices_).weights(MEASURED)); });
  }
  bool agree() const { return valuesOf(equal_) == valuesOf(measured_); }

 private:
  struct Pair {
    Cells now{kRows, kColumns}, next{kRows, kColumns};
    void set(const float* cells) {
      now.copyFrom(cells);
      next.copyFrom(cells);
    }
  };
  static std::vector<float> valuesOf(const Pair& pair) {
    std::vector<float> values(kRows * kColumns);
    pair.now.copyTo(values.data());
    return values;
  }
  template <class Launch>
  static void step(Pair& pair, Launch&& launch) {
    launch(PART1(pair.next, 1), PART1(pair.now, 1));
    pair.next.syncGhosts();
    swap(pair.now, pair.next);
  }
  template <class Step>
  double speed(Step&& oneStep) {
    constexpr int kSteps = 60;
    const double seconds = perf::secondsOf(
        [&] {
          for (int i = 0; i < kSteps; ++i) oneStep();
          for (const Device& device : devices_) device.sync();
        },
        {});
    return 1e-6 * kSteps * kRows * kColumns / seconds;
  }

  std::vector<Device> devices_ = hpl::devices(defaultDevice().type());
  Pair equal_, measured_;
  std::vector<Pair> alone_;
};

/// One line per round, then the medians.
int runUneven(int rounds) {
  UnevenContest contest;
  const std::size_t count = contest.devices();
  std::vector<double> ofSum, equalOfSum;
  std::printf("round");
  for (std::size_t d = 0; d < count; ++d) std::printf(",device_%zu", d);
  std::printf(",equal,measured,equal_of_sum,measured_of_sum\n");
  for (int round = -1; round < rounds; ++round) {  // the first one compiles and weighs
    double sum = 0;
    std::vector<double> speeds;
    for (std::size_t d = 0; d < count; ++d) sum += speeds.emplace_back(contest.alone(d));
    const double together = contest.measured(), halves = contest.equal();
    if (round < 0) continue;
    ofSum.push_back(together / sum);
    equalOfSum.push_back(halves / sum);
    std::printf("%d", round);
    for (const double speed : speeds) std::printf(",%.1f", speed);
    std::printf(",%.1f,%.1f,%.3f,%.3f\n", halves, together, equalOfSum.back(), ofSum.back());
    std::fflush(stdout);
  }
  if (!contest.agree()) {
    std::fprintf(stderr, "shares_bench: the results differ\n");
    return 1;
  }
  std::printf("median of the sum of the devices alone: equal %.3f, measured %.3f\n",
              perf::median(equalOfSum), perf::median(ofSum));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--uneven") == 0)
    return runUneven(std::max(1, std::atoi(argv[2])));
  Contest contest;
  if (contest.parts.empty()) {
    std::fprintf(stderr, "shares_bench: name a device and its parts: HPL_DEVICES=cpu:0,cpu:0/2\n");
    return 1;
  }
  contest.onWhole();
  contest.byHalves();
  contest.byMeasure();
  if (!contest.agree()) {
    std::fprintf(stderr, "shares_bench: the results differ\n");
    return 1;
  }
  perf::registerPair(
      "shares/equal", kLaunches, [&] { contest.byHalves(); }, [&] { contest.onWhole(); });
  perf::registerPair(
      "shares/measured", kLaunches, [&] { contest.byMeasure(); }, [&] { contest.onWhole(); });
  return perf::runAll(argc, argv);
}
