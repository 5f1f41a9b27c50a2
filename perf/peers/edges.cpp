// SPDX-License-Identifier: Apache-2.0
// Edges of a picture after Canny, with hysteresis: the sample's chain and its tiles. OpenCV stands
// beside it (opencv_peer.py) on the same picture.
#include <memory>
#include <vector>

#include "hpl/hpl.h"
#include "peers/peers.h"
#include "samples/canny/points.h"
#include "samples/canny/tile_linker.h"
#include "stencil_templates/stencil_templates.h"

using namespace hpl;

namespace perf::peers {
namespace {

using namespace samples::canny;

constexpr int kSide = 4096;
/// The sample's thresholds, for squared gradients of pixels with a fraction.
constexpr int squaredThreshold(int gradient) { return gradient * gradient * kFraction * kFraction; }
constexpr int kLow = squaredThreshold(20), kHigh = squaredThreshold(40);

class Edges {
 public:
  Edges() : pixels_(kSide, kSide), labels_(kSide, kSide), linker_(kSide, kSide, defaultDevice()) {
    // Rings, with steps from white to black where they wrap around.
    unsigned char* cells = pixels_.data(HPL_WR);
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x)
        cells[y * kSide + x] = static_cast<unsigned char>((x * x + y * y) >> 12);
    detection_.apply(smoothed)(pixels_, smooth_);
    detection_.apply(scaled).elsewhere()(pixels_, smooth_);
    detection_.apply(slope)(smooth_, strength_, direction_);
    detection_.apply(flat).elsewhere()(smooth_, strength_, direction_);
    detection_.apply(ridge)(strength_, direction_, ridges_);
    detection_.apply(none).elsewhere()(strength_, ridges_);
    detection_.apply(labelled)(ridges_, labels_, kLow, kHigh);
  }

  void run() {
    detection_.run(1);
    linker_.link(labels_);
    labels_.data(HPL_RD);
  }
  double count() {
    return static_cast<double>(
        sum([](Uchar label) { return where(label == kStrong, 1, 0); }, labels_).value());
  }

 private:
  Bytes pixels_, labels_;
  Temporary<short, 2> smooth_;
  Temporary<int, 2> strength_, ridges_;
  Temporary<unsigned char, 2> direction_;
  StencilProgram detection_;
  TileLinker linker_;
};

}  // namespace

std::vector<NamedRow> edgeRows() {
  return {{"canny", [] {
             auto edges = std::make_shared<Edges>();
             return Row{"CANNY with hysteresis 4096^2",
                        1.0,
                        {{"HPL", [edges] { edges->run(); }, [edges] { return edges->count(); }}}};
           }}};
}

}  // namespace perf::peers
