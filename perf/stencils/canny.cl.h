// SPDX-License-Identifier: Apache-2.0
// The stages of samples/canny, four rows at a time: functions from rows to rows, which the kernels
// call with rows of whole pictures or, where all stages are one, with rows of short-lived buffers.
R"CLC(
constant int kMask[5][5] = {
    {2, 4, 5, 4, 2}, {4, 9, 12, 9, 4}, {5, 12, 15, 12, 5}, {4, 9, 12, 9, 4}, {2, 4, 5, 4, 2}};

/* Calls BODY(x) for vectors that cover [from, to): the first and the last one overlap others. */
#define ALONG(from, to, BODY)                        \
  BODY(from);                                        \
  for (size_t x = V; x + V <= (to); x += V) BODY(x); \
  BODY((to) - V)

/* N vectors below each other, from q on. */
#define SMOOTHED(N)                                                                           \
  VECTORS void smoothed##N(__global short** o, const __global uchar* q, size_t x, size_t w) { \
    IN sum[N];                                                                                \
    q += x;                                                                                   \
    _Pragma("unroll") for (int j = 0; j < N; j++) sum[j] = 79;                                \
    _Pragma("unroll") for (int i = 0; i < N + 4; i++)                                         \
      _Pragma("unroll") for (int k = 0; k < 5; k++) {                                         \
        IN v = convert_int16(LDUC(q + i * w - 2 * w + k - 2));                                \
        _Pragma("unroll") for (int j = 0; j < N; j++)                                         \
          if (i >= j && i < j + 5) sum[j] += 16 * kMask[i - j][k] * v;                        \
      }                                                                                       \
    _Pragma("unroll") for (int j = 0; j < N; j++)                                             \
      STSH(o[j] + x, convert_short16(sum[j] / 159));                                          \
  }
SMOOTHED(1)
SMOOTHED(4)

VECTORS void smoothRow(__global short* o, const __global uchar* q, size_t y, size_t w, size_t h) {
  if (y < 2 || y + 2 >= h) {
    for (size_t x = 0; x < w; x++) o[x] = 16 * q[x];
    return;
  }
#define BODY1(x) smoothed1(&o, q, x, w)
  ALONG(2, w - 2, BODY1);
  o[0] = 16 * q[0]; o[1] = 16 * q[1]; o[w - 2] = 16 * q[w - 2]; o[w - 1] = 16 * q[w - 1];
}

/* Rows y to y + 3, whose first one is at q. */
VECTORS void smoothRows(__global short** o, const __global uchar* q, size_t y, size_t w, size_t h) {
  if (y < 2 || y + 5 >= h) {
    for (int j = 0; j < 4 && y + j < h; j++) smoothRow(o[j], q + j * w, y + j, w, h);
    return;
  }
#define BODY4(x) smoothed4(o, q, x, w)
  ALONG(2, w - 2, BODY4);
  for (int j = 0; j < 4; j++, q += w) {
    o[j][0] = 16 * q[0]; o[j][1] = 16 * q[1];
    o[j][w - 2] = 16 * q[w - 2]; o[j][w - 1] = 16 * q[w - 1];
  }
}

/* s: the rows of smoothed pixels from the one above on. */
#define GRADIENTS(N)                                                                          \
  VECTORS void gradients##N(__global int** strength, __global uchar** direction,              \
                            __global short** s, size_t x) {                                   \
    IN g[N], d[N];                                                                            \
    _Pragma("unroll") for (int j = 0; j < N; j++) {                                           \
      IN nw = AT(j, -1), n = AT(j, 0), ne = AT(j, 1), west = AT(j + 1, -1), e = AT(j + 1, 1); \
      IN sw = AT(j + 2, -1), so = AT(j + 2, 0), se = AT(j + 2, 1);                            \
      IN gx = (ne + 2 * e + se) - (nw + 2 * west + sw);                                       \
      IN gy = (sw + 2 * so + se) - (nw + 2 * n + ne);                                         \
      IN across = max(gx, -gx), down = max(gy, -gy);                                          \
      g[j] = gx * gx + gy * gy;                                                               \
      d[j] = select((IN)3, (IN)2, (gx > 0) == (gy > 0));                                      \
      d[j] = select(d[j], (IN)1, across * 33461 < down * 13860);                              \
      d[j] = select(d[j], (IN)0, down * 33461 < across * 13860);                              \
    }                                                                                         \
    _Pragma("unroll") for (int j = 0; j < N; j++) {                                           \
      STIN(strength[j] + x, g[j]);                                                            \
      STUC(direction[j] + x, convert_uchar16(d[j]));                                          \
    }                                                                                         \
  }
#define AT(j, k) convert_int16(LDSH(s[j] + x + (k)))
GRADIENTS(1)
GRADIENTS(4)
#undef AT

VECTORS void gradientRow(__global int* strength, __global uchar* direction, __global short** s,
                         size_t y, size_t w, size_t h) {
  if (y > 0 && y + 1 < h) {
#define BODYG1(x) gradients1(&strength, &direction, s, x)
    ALONG(1, w - 1, BODYG1);
  } else {
    for (size_t x = 0; x < w; x++) strength[x] = 0, direction[x] = 0;
  }
  strength[0] = strength[w - 1] = 0;
  direction[0] = direction[w - 1] = 0;
}

VECTORS void gradientRows(__global int** strength, __global uchar** direction, __global short** s,
                  size_t y, size_t w, size_t h) {
  if (y < 1 || y + 4 >= h) {
    for (int j = 0; j < 4 && y + j < h; j++)
      gradientRow(strength[j], direction[j], s + j, y + j, w, h);
    return;
  }
#define BODYG4(x) gradients4(strength, direction, s, x)
  ALONG(1, w - 1, BODYG4);
  for (int j = 0; j < 4; j++) {
    strength[j][0] = strength[j][w - 1] = 0;
    direction[j][0] = direction[j][w - 1] = 0;
  }
}

/* The ridge of a vector; g: the rows of strengths from the one above on. */
VECTORS IN ridge(__global int** g, const __global uchar* direction, size_t x) {
  IN here = LDIN(g[1] + x), d = convert_int16(LDUC(direction + x));
  IN before = select(LDIN(g[0] + x + 1), LDIN(g[0] + x - 1), d == 2);
  before = select(before, LDIN(g[0] + x), d == 1);
  before = select(before, LDIN(g[1] + x - 1), d == 0);
  IN after = select(LDIN(g[2] + x - 1), LDIN(g[2] + x + 1), d == 2);
  after = select(after, LDIN(g[2] + x), d == 1);
  after = select(after, LDIN(g[1] + x + 1), d == 0);
  return select((IN)0, here, (here >= before) & (here > after));
}

VECTORS UC label(IN r, int low, int high) {
  return convert_uchar16(select(select((IN)0, (IN)128, r >= low), (IN)255, r >= high));
}
)CLC"
