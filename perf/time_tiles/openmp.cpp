// SPDX-License-Identifier: Apache-2.0
// The programs with OpenMP.
#include "time_tiles/host.h"

namespace perf::time_tiles {

bool hasOpenMp() {
#ifdef _OPENMP
  return true;
#else
  return false;
#endif
}

template <class F, class T>
void openMpStep(const F& formula, int rim, const Extents& n, const T* in, T* out) {
  hostStep(formula, rim, n, in, out);
}
void openMpStep(const Rician& formula, const Extents& n, const float* in, const float* f,
                float* out) {
  hostStep(formula, n, in, f, out);
}
void openMpFdtdStep(const Extents& n, float* ex, float* ey, float* h) {
  hostFdtdStep(n, ex, ey, h);
}

template void openMpStep(const Jacobi1d3&, int, const Extents&, const float*, float*);
template void openMpStep(const Jacobi1d5&, int, const Extents&, const float*, float*);
template void openMpStep(const Jacobi1d7&, int, const Extents&, const float*, float*);
template void openMpStep(const Jacobi2d&, int, const Extents&, const float*, float*);
template void openMpStep(const Jacobi3d&, int, const Extents&, const float*, float*);
template void openMpStep(const Jacobi3dWide&, int, const Extents&, const float*, float*);
template void openMpStep(const Heat&, int, const Extents&, const float*, float*);
template void openMpStep(const Poisson&, int, const Extents&, const float*, float*);
template void openMpStep(const Gradient&, int, const Extents&, const float*, float*);
template void openMpStep(const TotalVariation&, int, const Extents&, const float*, float*);
template void openMpStep(const Life&, int, const Extents&, const int*, int*);
template void openMpStep(const Life&, int, const Extents&, const unsigned char*, unsigned char*);

}  // namespace perf::time_tiles
