// SPDX-License-Identifier: Apache-2.0
// Stencil patterns (EPSILOD, section 4.1): the kernel specialised for a pattern, with its weights
// as constants and its zero weights left out, against the generic one, which reads all weights at
// run time, and against OpenCL by hand; the four two-dimensional patterns of samples/patterns,
// 4096 x 4096 floats, and the one of four dimensions, 64^4. --check compares results alone.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>

#include "pairs.h"
#include "stencil_templates/stencil_templates.h"
#include "stencils/opencl_plan.h"

using namespace hpl;

namespace {

const std::string kRowsSource =
#include "stencils/rows.cl.h"
    ;
const std::string kJacobiSource =
#include "stencils/jacobi.cl.h"
    ;
const std::string kPatternsSource =
#include "stencils/patterns.cl.h"
    ;
const char* const kNames[] = {"box9", "star4", "star9", "upwind5"};

/// Steps of a sample, and rows of a work-item's band.
constexpr int kSteps = 4;
constexpr cl_int kBand = 16;

StencilPattern patternOf(const std::string& name) {
  return StencilPattern::read(HPL_SAMPLES_DIR "/patterns/" + name + ".pattern");
}

/// A pattern by hand, in the memory of arrays, so that all contenders work in the same places.
class HandWritten {
 public:
  HandWritten(const std::string& name, Array<float, 2>& in, Array<float, 2>& out)
      : in_(device_.over(memoryOf(in), in.size() * sizeof(float))),
        out_(device_.over(memoryOf(out), out.size() * sizeof(float))) {
    const auto width = static_cast<cl_int>(in.getDimension(1));
    const auto height = static_cast<cl_int>(in.getDimension(0));
    const bool isWide = name == "star9" || name == "upwind5";
    const int rows = height - (name == "upwind5" ? 2 : isWide ? 4 : 2);
    items_ = static_cast<std::size_t>((rows + kBand - 1) / kBand);
    kernel_ = device_.bind(device_.program(kRowsSource + kJacobiSource + kPatternsSource),
                           name.c_str(), out_, in_, width, height, kBand);
  }
  void step() { device_.launch(kernel_, {items_}, {1}); }
  void finish() { device_.finish(); }
  std::vector<float> result(std::size_t count) { return device_.read<float>(out_, count); }

 private:
  /// The array outlives the pointer.
  static std::shared_ptr<std::byte> memoryOf(Array<float, 2>& array) {
    return {reinterpret_cast<std::byte*>(array.data()), [](std::byte*) {}};
  }

  perf::stencils::ClDevice device_;
  perf::stencils::Buffer in_, out_;
  perf::stencils::Kernel kernel_;
  std::size_t items_ = 0;
};

std::vector<float> someValues(std::size_t count) {
  std::mt19937 random(1);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random() % 1000) / 1000;
  return values;
}

/// Whether the kernels by hand compute what the specialised ones do, borders included.
bool agree(const std::string& name, int width, int height) {
  const std::vector<float> values = someValues(static_cast<std::size_t>(width * height));
  Array<float, 2> in(height, width), out(height, width);
  in.copyFrom(values.data());
  out.copyFrom(values.data());
  patternOf(name).specific<float, 2>()(in, out);
  Array<float, 2> theirIn(height, width), theirOut(height, width);
  theirIn.copyFrom(values.data());
  theirOut.copyFrom(values.data());
  HandWritten twin(name, theirIn, theirOut);
  twin.step();
  const std::vector<float> theirs = twin.result(values.size());
  const float* ours = out.data(HPL_RD);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::abs(ours[i] - theirs[i]) <= 1e-5f) continue;
    std::fprintf(stderr, "%s, %d x %d: the kernel by hand differs, first in number %zu\n",
                 name.c_str(), width, height, i);
    return false;
  }
  return true;
}

bool agreeAll() {
  bool fine = true;
  for (const char* name : kNames)
    for (const auto& [width, height] : {std::pair{64, 48}, {131, 67}, {40, 41}, {257, 130}})
      fine = agree(name, width, height) && fine;
  return fine;
}

/// `kSteps` launches.
std::function<void()> runs(FRunner launch, const StencilPattern& pattern) {
  const auto runner = std::make_shared<FRunner>(std::move(launch));
  return [runner, pattern] {
    for (int s = 0; s < kSteps; ++s) runner->run();
    runner->wait();
  };
}

void registerPlanes() {
  constexpr int kSide = 4096;
  static Array<float, 2> in(kSide, kSide), out(kSide, kSide);
  in = 0.5f;
  out = 0.0f;
  for (const std::string name : kNames) {
    const StencilPattern pattern = patternOf(name);
    const auto specific = runs(pattern.specific<float, 2>()(in, out), pattern);
    perf::registerPair("pattern_" + name + "/specific_against_generic", kSteps, specific,
                       runs(pattern.generic<float, 2>(in, out), pattern));
    const auto twin = std::make_shared<HandWritten>(name, in, out);
    perf::registerPair("pattern_" + name + "/specific_against_hand_written", kSteps, specific,
                       [twin] {
                         for (int s = 0; s < kSteps; ++s) twin->step();
                         twin->finish();
                       });
  }
}

void registerFourDimensions() {
  constexpr int kSide = 64;
  static Array<float, 4> in(kSide, kSide, kSide, kSide), out(kSide, kSide, kSide, kSide);
  in = 0.5f;
  out = 0.0f;
  const StencilPattern pattern = patternOf("star8");
  static const auto step = pattern.specific<float, 4>();
  perf::registerPair("pattern_star8/specific_against_generic", kSteps, runs(step(in, out), pattern),
                     runs(pattern.generic<float, 4>(in, out), pattern));
}

}  // namespace

int main(int argc, char** argv) {
  if (!agreeAll()) return 1;
  if (argc == 2 && std::strcmp(argv[1], "--check") == 0) return 0;
  registerPlanes();
  registerFourDimensions();
  return perf::runAll(argc, argv);
}
