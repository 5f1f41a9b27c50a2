// SPDX-License-Identifier: Apache-2.0
// Stencil patterns (EPSILOD, section 4.1): the kernel specialised for a pattern, with its weights
// as constants and its zero weights left out, against the generic one, which reads all weights at
// run time; the four two-dimensional patterns of samples/patterns, 4096 x 4096 floats.
#include <memory>

#include "pairs.h"
#include "stencil_templates/stencil_templates.h"

using namespace hpl;

int main(int argc, char** argv) {
  constexpr int kSide = 4096;
  constexpr int kSteps = 4;
  static Array<float, 2> in(kSide, kSide), out(kSide, kSide);
  in = 0.5f;
  out = 0.0f;
  for (const char* name : {"box9", "star4", "star9", "upwind5"}) {
    const StencilPattern pattern =
        StencilPattern::read(std::string(HPL_SAMPLES_DIR "/patterns/") + name + ".pattern");
    auto specific = std::make_shared<FRunner>(pattern.specific<float, 2>()(in, out));
    auto generic = std::make_shared<FRunner>(pattern.generic<float, 2>(in, out));
    const auto runs = [pattern](const std::shared_ptr<FRunner>& runner) {
      return [runner, pattern] {
        for (int s = 0; s < kSteps; ++s) runner->run();
        runner->wait();
      };
    };
    perf::registerPair(std::string("pattern_") + name + "/specific_against_generic", kSteps,
                       runs(specific), runs(generic));
  }
  return perf::runAll(argc, argv);
}
