// SPDX-License-Identifier: Apache-2.0
// Kernel time of generated code against the hand-written OpenCL C below, each with 2^22 work-items:
// same algorithm, same work-groups, same device and, where it works in the host's memory, same
// memory.
#include "hpl/hpl.h"
#include "pairs.h"
#include "raw_opencl.h"

using namespace hpl;

namespace {

constexpr std::size_t kSide = 2048;
constexpr std::size_t kItems = kSide * kSide;
constexpr int kTile = 16;
constexpr int kDepth = 64;
constexpr int kBodies = 64;

void saxpy(Array<float, 1> y, const Array<float, 1>& x, Float a) { y[idx] = a * x[idx] + y[idx]; }

void jacobi(Array<float, 2> out, const Array<float, 2>& in) {
  if_(idx > 0 && idx < szx - 1 && idy > 0 && idy < szy - 1) {
    out[idy][idx] =
        0.25f * (in[idy - 1][idx] + in[idy + 1][idx] + in[idy][idx - 1] + in[idy][idx + 1]);
  }
}

void matmul(Array<float, 2> c, const Array<float, 2>& a, const Array<float, 2>& b) {
  Array<float, 2, Local> tileA(kTile, kTile);
  Array<float, 2, Local> tileB(kTile, kTile);
  Float sum = 0.0f;
  for_(Int t = 0, t < kDepth / kTile, t++) {
    tileA[lidy][lidx] = a[idy][t * kTile + lidx];
    tileB[lidy][lidx] = b[t * kTile + lidy][idx];
    barrier(LOCAL);
    for_(Int k = 0, k < kTile, k++) sum += tileA[lidy][k] * tileB[k][lidx];
    barrier(LOCAL);
  }
  c[idy][idx] = sum;
}

void life(Array<int, 2> next, const Array<int, 2>& now) {
  if_(idx > 0 && idx < szx - 1 && idy > 0 && idy < szy - 1) {
    Int n = now[idy - 1][idx - 1] + now[idy - 1][idx] + now[idy - 1][idx + 1] + now[idy][idx - 1] +
            now[idy][idx + 1] + now[idy + 1][idx - 1] + now[idy + 1][idx] + now[idy + 1][idx + 1];
    next[idy][idx] = n == 3 || (now[idy][idx] && n == 2);
  }
}

void nbody(Array<float4, 1> acceleration, const Array<float4, 1>& bodies) {
  Float4 self = bodies[idx];
  Float ax = 0.0f;
  Float ay = 0.0f;
  Float az = 0.0f;
  for_(Int j = 0, j < kBodies, j++) {
    Float4 other = bodies[j];
    Float dx = other.x - self.x;
    Float dy = other.y - self.y;
    Float dz = other.z - self.z;
    Float r = rsqrt(dx * dx + dy * dy + dz * dz + 0.01f);
    Float s = other.w * r * r * r;
    ax += s * dx;
    ay += s * dy;
    az += s * dz;
  }
  acceleration[idx] = make<float4>(ax, ay, az, 0.0f);
}

const char* const kSource = R"(
__kernel void saxpy(__global float* y, __global const float* x, float a) {
  size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}
__kernel void jacobi(__global float* out, __global const float* in, ulong n) {
  size_t x = get_global_id(0), y = get_global_id(1);
  if (x > 0 && x < get_global_size(0) - 1 && y > 0 && y < get_global_size(1) - 1)
    out[y * n + x] = 0.25f * (in[(y - 1) * n + x] + in[(y + 1) * n + x] + in[y * n + x - 1] + in[y * n + x + 1]);
}
#define TILE 16
#define DEPTH 64
__kernel void matmul(__global float* c, __global const float* a, __global const float* b, ulong n) {
  __local float ta[TILE][TILE];
  __local float tb[TILE][TILE];
  size_t x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
  float sum = 0;
  for (int t = 0; t < DEPTH / TILE; t++) {
    ta[ly][lx] = a[y * DEPTH + t * TILE + lx];
    tb[ly][lx] = b[(t * TILE + ly) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; k++) sum += ta[ly][k] * tb[k][lx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[y * n + x] = sum;
}
__kernel void life(__global int* next, __global const int* now, ulong n) {
  size_t x = get_global_id(0), y = get_global_id(1);
  if (x > 0 && x < get_global_size(0) - 1 && y > 0 && y < get_global_size(1) - 1) {
    int s = now[(y - 1) * n + x - 1] + now[(y - 1) * n + x] + now[(y - 1) * n + x + 1] +
            now[y * n + x - 1] + now[y * n + x + 1] +
            now[(y + 1) * n + x - 1] + now[(y + 1) * n + x] + now[(y + 1) * n + x + 1];
    next[y * n + x] = s == 3 || (now[y * n + x] && s == 2);
  }
}
__kernel void nbody(__global float4* acceleration, __global const float4* bodies) {
  size_t i = get_global_id(0);
  float4 self = bodies[i];
  float ax = 0, ay = 0, az = 0;
  for (int j = 0; j < 64; j++) {
    float4 other = bodies[j];
    float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
    float r = rsqrt(dx * dx + dy * dy + dz * dz + 0.01f);
    float s = other.w * r * r * r;
    ax += s * dx; ay += s * dy; az += s * dz;
  }
  acceleration[i] = (float4)(ax, ay, az, 0);
}
)";

template <class T, int N, class... E>
Array<T, N> filled(T value, E... extents) {
  Array<T, N> array(extents...);
  array = value;
  return array;
}

}  // namespace

int main(int argc, char** argv) {
  perf::Raw raw;
  const Device device = defaultDevice();
  const auto wait = [&] { device.sync(); };
  const cl_ulong width = kSide;
  constexpr int kPairs = 31;

  Array<float, 1> y1 = filled<float, 1>(1.0f, kItems);
  Array<float, 1> x1 = filled<float, 1>(1.0f, kItems);
  cl_kernel rawSaxpy = raw.kernel(kSource, "saxpy");
  raw.set(rawSaxpy, 0, raw.over(y1));
  raw.set(rawSaxpy, 1, raw.over(x1));
  raw.set(rawSaxpy, 2, 0.5f);
  perf::registerPair(
      "kernel/saxpy", 1,
      [&] {
        eval(saxpy).local(1024)(y1, x1, 0.5f);
        wait();
      },
      [&] {
        raw.launch(rawSaxpy, {kItems}, {1024});
        raw.finish();
      },
      {}, kPairs);

  Array<float, 2> out = filled<float, 2>(0.0f, kSide, kSide);
  Array<float, 2> in = filled<float, 2>(1.0f, kSide, kSide);
  cl_kernel rawJacobi = raw.kernel(kSource, "jacobi");
  raw.set(rawJacobi, 0, raw.over(out));
  raw.set(rawJacobi, 1, raw.over(in));
  raw.set(rawJacobi, 2, width);
  perf::registerPair(
      "kernel/jacobi_5pt", 1,
      [&] {
        eval(jacobi).local(256, 1)(out, in);
        wait();
      },
      [&] {
        raw.launch(rawJacobi, {kSide, kSide}, {256, 1});
        raw.finish();
      },
      {}, kPairs);

  Array<float, 2> a = filled<float, 2>(1.0f, kSide, kDepth);
  Array<float, 2> b = filled<float, 2>(1.0f, kDepth, kSide);
  cl_kernel rawMatmul = raw.kernel(kSource, "matmul");
  raw.set(rawMatmul, 0, raw.over(out));
  raw.set(rawMatmul, 1, raw.over(a));
  raw.set(rawMatmul, 2, raw.over(b));
  raw.set(rawMatmul, 3, width);
  perf::registerPair(
      "kernel/matmul_tiled", 1,
      [&] {
        eval(matmul).local(kTile, kTile)(out, a, b);
        wait();
      },
      [&] {
        raw.launch(rawMatmul, {kSide, kSide}, {kTile, kTile});
        raw.finish();
      },
      {}, kPairs);

  Array<int, 2> next = filled<int, 2>(0, kSide, kSide);
  Array<int, 2> now = filled<int, 2>(1, kSide, kSide);
  cl_kernel rawLife = raw.kernel(kSource, "life");
  raw.set(rawLife, 0, raw.over(next));
  raw.set(rawLife, 1, raw.over(now));
  raw.set(rawLife, 2, width);
  perf::registerPair(
      "kernel/life", 1,
      [&] {
        eval(life).local(256, 1)(next, now);
        wait();
      },
      [&] {
        raw.launch(rawLife, {kSide, kSide}, {256, 1});
        raw.finish();
      },
      {}, kPairs);

  Array<float4, 1> acceleration = filled<float4, 1>(float4(0.0f), kItems);
  Array<float4, 1> bodies = filled<float4, 1>(float4(1.0f), kItems);
  cl_kernel rawBodies = raw.kernel(kSource, "nbody");
  raw.set(rawBodies, 0, raw.over(acceleration));
  raw.set(rawBodies, 1, raw.over(bodies));
  perf::registerPair(
      "kernel/nbody", 1,
      [&] {
        eval(nbody).local(256)(acceleration, bodies);
        wait();
      },
      [&] {
        raw.launch(rawBodies, {kItems}, {256});
        raw.finish();
      },
      {}, kPairs);
  return perf::runAll(argc, argv);
}
