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

}  // namespace

int main(int argc, char** argv) {
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
