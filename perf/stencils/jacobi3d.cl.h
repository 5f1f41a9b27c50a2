// SPDX-License-Identifier: Apache-2.0
// Jacobi in three dimensions with 7 and with 27 points, four planes at a time. A work-item owns a
// block of rows and planes. Borders keep their values.
R"CLC(
#define SEVEN(b, f, n, s, w, e) (((b) + (f) + (n) + (s) + (w) + (e)) * (1.0f / 6.0f))

/* Plane i of the six that four planes need: the row there, its vectors around the current one. */
#define PLANE(i)                                                 \
  const __global float* q##i = in + (z + i - 1) * plane + y * w; \
  FL p##i = LDFL(q##i), c##i = LDFL(q##i + V), n##i
#define NEXT(i) n##i = LDFL(q##i + x + V)
#define SHIFT(i) \
  p##i = c##i;   \
  c##i = n##i
#define STORE7(i, j, k)                                                                \
  STFL(out + (z + i) * plane + y * w + x,                                              \
       SEVEN(c##i, c##k, LDFL(q##j - w + x), LDFL(q##j + w + x), LEFT(FL, p##j, c##j), \
             RIGHT(FL, c##j, n##j)))

/* A vector of the inside anywhere; q points at its first element. */
VECTORS FL seven(const __global float* q, size_t w, size_t plane) {
  return SEVEN(LDFL(q - plane), LDFL(q + plane), LDFL(q - w), LDFL(q + w), LDFL(q - 1),
               LDFL(q + 1));
}

/* Sums over the points across faces, edges and corners. */
VECTORS FL twentySeven(const __global float* q, size_t w, size_t plane) {
  const __global float *b = q - plane, *f = q + plane;
  FL faces = LDFL(b) + LDFL(q - w) + LDFL(q - 1) + LDFL(q + 1) + LDFL(q + w) + LDFL(f);
  FL edges = LDFL(b - w) + LDFL(b - 1) + LDFL(b + 1) + LDFL(b + w) + LDFL(q - w - 1) +
             LDFL(q - w + 1) + LDFL(q + w - 1) + LDFL(q + w + 1) + LDFL(f - w) + LDFL(f - 1) +
             LDFL(f + 1) + LDFL(f + w);
  FL corners = LDFL(b - w - 1) + LDFL(b - w + 1) + LDFL(b + w - 1) + LDFL(b + w + 1) +
               LDFL(f - w - 1) + LDFL(f - w + 1) + LDFL(f + w - 1) + LDFL(f + w + 1);
  return (14.0f * faces + 3.0f * edges + corners) * (1.0f / 128.0f);
}

#define INSIDE                                                               \
  const size_t w = width, h = height, plane = w * h;                         \
  const size_t y0 = 1 + get_global_id(0) * rows, y1 = min(y0 + rows, h - 1); \
  const size_t z0 = 1 + get_global_id(1) * planes;                           \
  const size_t z1 = min(z0 + planes, (size_t)depth - 1), last = w - 1 - V

WIDE void jacobi7(__global float* out, const __global float* in, int width, int height, int depth,
                  int rows, int planes) {
  INSIDE;
  size_t z = z0;
#define ONE7(x, z)                      \
  STFL(out + (z) * plane + y * w + (x), \
       seven(in + (z) * plane + y * w + (x), w, plane))
  for (; z + 4 <= z1; z += 4)
    for (size_t y = y0; y < y1; y++) {
      for (int i = 0; i < 4; i++) ONE7(1, z + i);
      PLANE(0); PLANE(1); PLANE(2); PLANE(3); PLANE(4); PLANE(5);
      size_t x = V;
      for (; x + 2 * V <= w; x += V) {
        NEXT(0); NEXT(1); NEXT(2); NEXT(3); NEXT(4); NEXT(5);
        STORE7(0, 1, 2); STORE7(1, 2, 3); STORE7(2, 3, 4); STORE7(3, 4, 5);
        SHIFT(0); SHIFT(1); SHIFT(2); SHIFT(3); SHIFT(4); SHIFT(5);
      }
      for (; x < w - 1; x += V)
        for (int i = 0; i < 4; i++) ONE7(min(x, last), z + i);
    }
  for (; z < z1; z++)
    for (size_t y = y0; y < y1; y++)
      for (size_t x = 1; x < w - 1; x += V) ONE7(min(x, last), z);
}

/* A load for all planes that it is a neighbour in, so that few vectors live at a time. */
VECTORS void four27(__global float* o, const __global float* q, size_t w, size_t plane) {
  FL sum[4][3];
  _Pragma("unroll") for (int j = 0; j < 4; j++)
    sum[j][0] = sum[j][1] = sum[j][2] = 0.0f;
  _Pragma("unroll") for (int i = 0; i < 6; i++)
    _Pragma("unroll") for (int k = 0; k < 9; k++) {
      const int dy = k / 3 - 1, dx = k % 3 - 1;
      FL v = LDFL(q + (i - 1) * (long)plane + dy * (long)w + dx);
      _Pragma("unroll") for (int j = 0; j < 4; j++) {
        const int away = abs(i - 1 - j) + (k / 3 != 1) + (k % 3 != 1);
        if (i >= j && i <= j + 2 && away > 0) sum[j][away - 1] += v;
      }
    }
  _Pragma("unroll") for (int j = 0; j < 4; j++)
    STFL(o + j * plane, (14.0f * sum[j][0] + 3.0f * sum[j][1] + sum[j][2]) * (1.0f / 128.0f));
}

/* Loads instead of shuffles: the 18 rows of four planes do not fit the registers. */
WIDE void jacobi27(__global float* out, const __global float* in, int width, int height, int depth,
                   int rows, int planes) {
  INSIDE;
  size_t z = z0;
#define ONE27(x, z)                     \
  STFL(out + (z) * plane + y * w + (x), \
       twentySeven(in + (z) * plane + y * w + (x), w, plane))
  for (; z + 4 <= z1; z += 4)
    for (size_t y = y0; y < y1; y++) {
      for (int i = 0; i < 4; i++) ONE27(1, z + i);
      for (size_t x = V; x + V < w; x += V)
        four27(out + z * plane + y * w + x, in + z * plane + y * w + x, w, plane);
      for (int i = 0; i < 4; i++) ONE27(last, z + i);
    }
  for (; z < z1; z++)
    for (size_t y = y0; y < y1; y++)
      for (size_t x = 1; x < w - 1; x += V) ONE27(min(x, last), z);
}
)CLC"
