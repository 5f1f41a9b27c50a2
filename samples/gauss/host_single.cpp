// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "samples/gauss/host.h"
#include "samples/gauss/kernels.h"

namespace samples::gauss {

Raster<float> runSingle(const Raster<float>& picture, const Options& options, const Device& device,
                        Progress& progress) {
  Picture now(picture.height(), picture.width()), next(picture.height(), picture.width());
  now.copyFrom(picture.data());
  const Smooth smooth{gaussianWeights(options.sigma)};

  const int iterations = options.run.iterations;
  for (int done = 0; done < iterations;) {
    // Launches are asynchronous: a batch of them is queued before the progress bar waits.
    const auto batch = std::min<std::int64_t>(progress.batch(), iterations - done);
    for (std::int64_t i = 0; i < batch; ++i, ++done) {
      eval(smooth).device(device)(next, now);
      swap(now, next);
    }
    device.sync();
    progress.update(done);
  }

  Raster<float> result(picture.extent());
  now.copyTo(result.data());
  return result;
}

}  // namespace samples::gauss
