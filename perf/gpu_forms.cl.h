// SPDX-License-Identifier: Apache-2.0
// Sweeps of five and of seven points in forms for GPUs, by hand. PLACE: the type in which places
// are computed; R: rows or planes of a work-item. Borders keep their values.
R"CLC(
#ifndef PLACE
#define PLACE ulong
#endif
#ifndef R
#define R 1
#endif
#ifndef DEPTH
#define DEPTH 4
#endif
#ifndef WIDTH
#define WIDTH 64
#define HEIGHT 64
#define GROUP 4
#endif

#define AT(r, c) in[(PLACE)(r) * s + (PLACE)(c)]
#define FIVE(y, x) (0.25f * (AT((y) - 1, x) + AT((y) + 1, x) + AT(y, (x) - 1) + AT(y, (x) + 1)))
#define INSIDE(y, x) ((x) >= 1 && (x) + 1 < n && (y) >= 1 && (y) + 1 < n)

kernel void copyOne(global float* restrict out, global const float* restrict in, const uint n) {
  const PLACE i = (PLACE)get_global_id(1) * n + get_global_id(0);
  out[i] = in[i];
}
kernel void copyVector(global float4* restrict out, global const float4* restrict in, const uint n) {
  const PLACE i = (PLACE)get_global_id(1) * (n / 4) + get_global_id(0);
  out[i] = in[i];
}

kernel void points(global float* restrict out, global const float* restrict in, const uint n) {
  const PLACE s = n, x = get_global_id(0), y = get_global_id(1);
  out[y * s + x] = INSIDE(y, x) ? FIVE(y, x) : AT(y, x);
}

kernel void columns(global float* restrict out, global const float* restrict in, const uint n) {
  const PLACE s = n, x = get_global_id(0), y = get_global_id(1) * R;
  if (!(x >= 1 && x + 1 < n && y >= 1 && y + R < n)) {
    for (PLACE i = y; i < y + R; i++) out[i * s + x] = INSIDE(i, x) ? FIVE(i, x) : AT(i, x);
    return;
  }
  float c[R + 2], w[R], e[R];
  for (int r = 0; r < R + 2; r++) c[r] = AT(y + r - 1, x);
  for (int r = 0; r < R; r++) w[r] = AT(y + r, x - 1), e[r] = AT(y + r, x + 1);
  for (int r = 0; r < R; r++) out[(y + r) * s + x] = 0.25f * (c[r] + c[r + 2] + w[r] + e[r]);
}

/* Four neighbours per work-item, in aligned vectors. */
kernel void vectors(global float* restrict out, global const float* restrict in, const uint n) {
  const PLACE s = n, x = get_global_id(0) * 4, y = get_global_id(1) * R;
  if (!(x >= 1 && x + 4 < n && y >= 1 && y + R < n)) {
    for (PLACE i = y; i < y + R; i++)
      for (PLACE j = x; j < x + 4; j++) out[i * s + j] = INSIDE(i, j) ? FIVE(i, j) : AT(i, j);
    return;
  }
  float4 c[R + 2];
  float w[R], e[R];
  for (int r = 0; r < R + 2; r++) c[r] = *(global const float4*)&AT(y + r - 1, x);
  for (int r = 0; r < R; r++) w[r] = AT(y + r, x - 1), e[r] = AT(y + r, x + 4);
  for (int r = 0; r < R; r++) {
    const float4 own = c[r + 1];
    *(global float4*)&out[(y + r) * s + x] =
        0.25f * (c[r] + c[r + 2] + (float4)(w[r], own.xyz) + (float4)(own.yzw, e[r]));
  }
}

#define AT3(z, y, x) in[((PLACE)(z) * s + (PLACE)(y)) * s + (PLACE)(x)]
#define SEVEN(z, y, x)                                                                  \
  (0.125f * (2 * AT3(z, y, x) + AT3((z) - 1, y, x) + AT3((z) + 1, y, x) +               \
             AT3(z, (y) - 1, x) + AT3(z, (y) + 1, x) + AT3(z, y, (x) - 1) + AT3(z, y, (x) + 1)))
#define INSIDE3(z, y, x) (INSIDE(y, x) && (z) >= 1 && (z) + 1 < n)

kernel void points3(global float* restrict out, global const float* restrict in, const uint n) {
  const PLACE s = n, x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  out[(z * s + y) * s + x] = INSIDE3(z, y, x) ? SEVEN(z, y, x) : AT3(z, y, x);
}

kernel void columns3(global float* restrict out, global const float* restrict in, const uint n) {
  const PLACE s = n, x = get_global_id(0), y = get_global_id(1), z = get_global_id(2) * R;
  if (!(INSIDE(y, x) && z >= 1 && z + R < n)) {
    for (PLACE i = z; i < z + R; i++)
      out[(i * s + y) * s + x] = INSIDE3(i, y, x) ? SEVEN(i, y, x) : AT3(i, y, x);
    return;
  }
  float c[R + 2], north[R], south[R], west[R], east[R];
  for (int r = 0; r < R + 2; r++) c[r] = AT3(z + r - 1, y, x);
  for (int r = 0; r < R; r++) {
    north[r] = AT3(z + r, y - 1, x), south[r] = AT3(z + r, y + 1, x);
    west[r] = AT3(z + r, y, x - 1), east[r] = AT3(z + r, y, x + 1);
  }
  for (int r = 0; r < R; r++)
    out[((z + r) * s + y) * s + x] = 0.125f * (2 * c[r + 1] + c[r] + c[r + 2] + north[r] +
                                               south[r] + west[r] + east[r]);
}

/* Four neighbours in each of R planes, in aligned vectors. */
#define VECTOR3(z, y, x) (*(global const float4*)&AT3(z, y, x))
kernel void vectors3(global float* restrict out, global const float* restrict in, const uint n) {
  const PLACE s = n, x = get_global_id(0) * 4, y = get_global_id(1), z = get_global_id(2) * R;
  if (!(INSIDE(y, x) && x + 4 < n && z >= 1 && z + R < n)) {
    for (PLACE i = z; i < z + R; i++)
      for (PLACE k = x; k < x + 4; k++)
        out[(i * s + y) * s + k] = INSIDE3(i, y, k) ? SEVEN(i, y, k) : AT3(i, y, k);
    return;
  }
  float4 c[R + 2], north[R], south[R];
  float w[R], e[R];
  for (int r = 0; r < R + 2; r++) c[r] = VECTOR3(z + r - 1, y, x);
  for (int r = 0; r < R; r++) {
    north[r] = VECTOR3(z + r, y - 1, x), south[r] = VECTOR3(z + r, y + 1, x);
    w[r] = AT3(z + r, y, x - 1), e[r] = AT3(z + r, y, x + 4);
  }
  for (int r = 0; r < R; r++) {
    const float4 own = c[r + 1];
    *(global float4*)&out[((z + r) * s + y) * s + x] =
        0.125f * (2 * own + c[r] + c[r + 2] + north[r] + south[r] + (float4)(w[r], own.xyz) +
                  (float4)(own.yzw, e[r]));
  }
}

/* Four neighbours along x in ROWS rows, from plane to plane through R of them: each plane is loaded
   once, AHEAD of them before they are needed. */
#ifndef ROWS
#define ROWS 1
#define AHEAD 1
#define UNROLL 1
#endif
kernel void march3(global float* restrict out, global const float* restrict in, const uint n) {
  const int s = n, x = (int)get_global_id(0) * 4, y = (int)get_global_id(1) * ROWS;
  const int begin = (int)get_global_id(2) * R;
  const int west = max(x - 1, 0), east = min(x + 4, s - 1);
  const int north = max(y - 1, 0), south = min(y + ROWS, s - 1);
  float4 c[AHEAD + 3][ROWS];
  for (int a = 0; a < AHEAD + 2; a++)
    for (int r = 0; r < ROWS; r++) c[a][r] = VECTOR3(clamp(begin + a - 1, 0, s - 1), y + r, x);
#pragma unroll UNROLL
  for (int z = begin; z < begin + R; z++) {
    float4 coming[ROWS];
    for (int r = 0; r < ROWS; r++) coming[r] = VECTOR3(min(z + AHEAD + 1, s - 1), y + r, x);
    const float4 up = VECTOR3(z, north, x), down = VECTOR3(z, south, x);
    float w[ROWS], e[ROWS];
    for (int r = 0; r < ROWS; r++) w[r] = AT3(z, y + r, west), e[r] = AT3(z, y + r, east);
    for (int r = 0; r < ROWS; r++) {
      const float4 own = c[1][r];
      float4 found = 0.125f * (2 * own + c[0][r] + (AHEAD > 0 ? c[2][r] : coming[r]) + (r > 0 ? c[1][r - 1] : up) +
                               (r + 1 < ROWS ? c[1][r + 1] : down) + (float4)(w[r], own.xyz) +
                               (float4)(own.yzw, e[r]));
      if (z < 1 || z + 1 >= s || y + r < 1 || y + r + 1 >= s) found = own;
      if (x == 0) found.x = own.x;
      if (x + 4 == s) found.w = own.w;
      *(global float4*)&out[((PLACE)z * s + (y + r)) * s + x] = found;
    }
    for (int r = 0; r < ROWS; r++) {
      for (int a = 0; a < AHEAD + 1; a++) c[a][r] = c[a + 1][r];
      c[AHEAD + 1][r] = coming[r];
    }
  }
}

/* DEPTH steps on a box of HEIGHT x WIDTH cells; a work-item has a column of it in registers, and
   sees its neighbours' in local memory. */
#define COLUMN (HEIGHT / GROUP)
kernel void tiles(global float* restrict out, global const float* restrict in, const uint n) {
  local float box[(HEIGHT + 2) * WIDTH];
  const int size = n, lx = get_local_id(0), ly = get_local_id(1) * COLUMN;
  const int x = (int)get_group_id(0) * (WIDTH - 2 * DEPTH) + lx - DEPTH;
  const int y = (int)get_group_id(1) * (HEIGHT - 2 * DEPTH) + ly - DEPTH;
  float c[COLUMN], v[COLUMN];
  for (int k = 0; k < COLUMN; k++)
    c[k] = in[(ulong)clamp(y + k, 0, size - 1) * n + clamp(x, 0, size - 1)];
  for (int k = 0; k < COLUMN; k++) box[(ly + k + 1) * WIDTH + lx] = c[k];
  barrier(CLK_LOCAL_MEM_FENCE);
  const int west = max(lx - 1, 0), east = min(lx + 1, WIDTH - 1);
  const bool isInside = x >= 1 && x < size - 1;
  for (int t = 0; t < DEPTH; t++) {
    const float above = box[ly * WIDTH + lx], below = box[(ly + COLUMN + 1) * WIDTH + lx];
    for (int k = 0; k < COLUMN; k++) {
      const float up = k > 0 ? c[k - 1] : above, down = k + 1 < COLUMN ? c[k + 1] : below;
      local const float* const row = box + (ly + k + 1) * WIDTH;
      const float found = 0.25f * (up + down + row[west] + row[east]);
      v[k] = isInside && y + k >= 1 && y + k < size - 1 ? found : c[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < COLUMN; k++) box[(ly + k + 1) * WIDTH + lx] = c[k] = v[k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int k = 0; k < COLUMN; k++)
    if (lx >= DEPTH && lx < WIDTH - DEPTH && ly + k >= DEPTH && ly + k < HEIGHT - DEPTH && x < size &&
        y + k < size)
      out[(ulong)(y + k) * n + x] = c[k];
}
)CLC"
