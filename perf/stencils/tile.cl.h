// SPDX-License-Identifier: Apache-2.0
// The paper's template: groups of 16x16 threads that fill a tile in local memory together, beyond
// the edges with zeros, and meet at a barrier. One point per thread.
R"CLC(
#define TILED(T, R)                                                             \
  local T tile[16 + 2 * R][16 + 2 * R];                                         \
  const int lx = get_local_id(0), ly = get_local_id(1);                         \
  const int x = get_global_id(0), y = get_global_id(1), w = width, h = height;  \
  for (int j = ly; j < 16 + 2 * R; j += 16)                                     \
    for (int i = lx; i < 16 + 2 * R; i += 16) {                                 \
      const int fx = x - lx + i - R, fy = y - ly + j - R;                       \
      tile[j][i] =                                                              \
          fx >= 0 && fx < w && fy >= 0 && fy < h ? in[(size_t)fy * w + fx] : 0; \
    }                                                                           \
  barrier(CLK_LOCAL_MEM_FENCE);                                                 \
  const size_t here = (size_t)y * w + x;                                        \
  const int inside = x >= R && x + R < w && y >= R && y + R < h
#define P(dy, dx, R) tile[ly + R + (dy)][lx + R + (dx)]

kernel void lifeTile(global int* out, const global int* in, int width, int height) {
  TILED(int, 1);
  int n = P(-1, -1, 1) + P(-1, 0, 1) + P(-1, 1, 1) + P(0, -1, 1) + P(0, 1, 1) + P(1, -1, 1) +
          P(1, 0, 1) + P(1, 1, 1);
  if (x < w && y < h) out[here] = n == 3 || (P(0, 0, 1) && n == 2);
}

kernel void jacobi5Tile(global float* out, const global float* in, int width, int height) {
  TILED(float, 1);
  if (inside) out[here] = 0.25f * (P(-1, 0, 1) + P(1, 0, 1) + P(0, -1, 1) + P(0, 1, 1));
}

kernel void jacobi9Tile(global float* out, const global float* in, int width, int height) {
  TILED(float, 1);
  if (inside)
    out[here] = 0.1f * (P(-1, -1, 1) + P(-1, 1, 1) + P(1, -1, 1) + P(1, 1, 1)) +
                0.15f * (P(-1, 0, 1) + P(1, 0, 1) + P(0, -1, 1) + P(0, 1, 1));
}

kernel void gaussTile(global float* out, const global float* in, int width, int height) {
  TILED(float, 5);
  if (!inside) return;
  float mean = 0.0f;
  for (int j = 0; j < 11; j++)
    for (int i = 0; i < 11; i++) mean += kWeights[j * 11 + i] * tile[ly + j][lx + i];
  out[here] = mean;
}

constant int kTileMask[5][5] = {
    {2, 4, 5, 4, 2}, {4, 9, 12, 9, 4}, {5, 12, 15, 12, 5}, {4, 9, 12, 9, 4}, {2, 4, 5, 4, 2}};

kernel void smoothTile(global short* out, const global uchar* in, int width, int height) {
  TILED(uchar, 2);
  if (x >= w || y >= h) return;
  int sum = 79;
  for (int j = 0; j < 5; j++)
    for (int i = 0; i < 5; i++) sum += 16 * kTileMask[j][i] * tile[ly + j][lx + i];
  out[here] = inside ? sum / 159 : 16 * P(0, 0, 2);
}

kernel void gradientTile(global int* strength, global uchar* direction, const global short* in,
                         int width, int height) {
  TILED(short, 1);
  if (x >= w || y >= h) return;
  int gx = P(-1, 1, 1) + 2 * P(0, 1, 1) + P(1, 1, 1) - P(-1, -1, 1) - 2 * P(0, -1, 1) - P(1, -1, 1);
  int gy = P(1, -1, 1) + 2 * P(1, 0, 1) + P(1, 1, 1) - P(-1, -1, 1) - 2 * P(-1, 0, 1) - P(-1, 1, 1);
  int across = abs(gx), down = abs(gy);
  int towards = down * 33461 < across * 13860   ? 0
                : across * 33461 < down * 13860 ? 1
                : (gx > 0) == (gy > 0)          ? 2
                                                : 3;
  strength[here] = inside ? gx * gx + gy * gy : 0;
  direction[here] = inside ? towards : 0;
}

kernel void thinTile(global int* out, const global int* in, const global uchar* direction,
                     int width, int height) {
  TILED(int, 1);
  if (x >= w || y >= h) return;
  int d = direction[here], v = P(0, 0, 1);
  int before = d == 0 ? P(0, -1, 1) : d == 1 ? P(-1, 0, 1) : d == 2 ? P(-1, -1, 1) : P(-1, 1, 1);
  int after = d == 0 ? P(0, 1, 1) : d == 1 ? P(1, 0, 1) : d == 2 ? P(1, 1, 1) : P(1, -1, 1);
  out[here] = inside && v >= before && v > after ? v : 0;
}

kernel void classifyTile(global uchar* labels, const global int* ridges, int width, int height,
                         int low, int high) {
  const size_t x = get_global_id(0), y = get_global_id(1), here = y * width + x;
  if (x < width && y < height)
    labels[here] = ridges[here] >= high ? 255 : ridges[here] >= low ? 128 : 0;
}

/* In three dimensions the paper's comparison reads global memory. */
#define IN3                                                                               \
  const size_t w = width, plane = w * height, x = get_global_id(0), y = get_global_id(1), \
               z = get_global_id(2);                                                      \
  if (x < 1 || x + 1 >= w || y < 1 || y + 1 >= height || z < 1 || z + 1 >= depth) return; \
  const global float* q = in + z * plane + y * w + x

kernel void jacobi7Point(global float* out, const global float* in, int width, int height,
                         int depth) {
  IN3;
  out[z * plane + y * w + x] =
      (q[-plane] + q[plane] + q[-w] + q[w] + q[-1] + q[1]) * (1.0f / 6.0f);
}

kernel void jacobi27Point(global float* out, const global float* in, int width, int height,
                          int depth) {
  IN3;
  const global float *b = q - plane, *f = q + plane;
  float faces = b[0] + q[-w] + q[-1] + q[1] + q[w] + f[0];
  float edges = b[-w] + b[-1] + b[1] + b[w] + q[-w - 1] + q[-w + 1] + q[w - 1] + q[w + 1] +
                f[-w] + f[-1] + f[1] + f[w];
  float corners = b[-w - 1] + b[-w + 1] + b[w - 1] + b[w + 1] + f[-w - 1] + f[-w + 1] +
                  f[w - 1] + f[w + 1];
  out[z * plane + y * w + x] =
      (14.0f * faces + 3.0f * edges + corners) * (1.0f / 128.0f);
}

/* Four streams per work-item are faster than one. `share`: floats of each. */
kernel void copyAll(global float* out, const global float* in, ulong share) {
  const ulong begin = get_global_id(0) * share * 4;
  for (ulong i = begin; i < begin + share; i += 16)
    for (int j = 0; j < 4; j++)
      *(global float16*)(out + i + j * share) = *(const global float16*)(in + i + j * share);
}

/* For devices that hide the latency of memory by many work-items. */
kernel void copyVector(global float4* out, const global float4* in) {
  out[get_global_id(0)] = in[get_global_id(0)];
}
)CLC"
