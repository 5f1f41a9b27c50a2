// SPDX-License-Identifier: Apache-2.0
// Jacobi with 5 and with 9 points, four rows at a time. Borders keep their values.
R"CLC(
#define FIVE(n, w, e, s) (0.25f * ((n) + (s) + (w) + (e)))
#define NINE(nw, n, ne, w, e, sw, s, se) \
  (0.1f * ((nw) + (ne) + (sw) + (se)) + 0.15f * ((n) + (s) + (w) + (e)))

#define ROW(i)                                       \
  const __global float* q##i = in + (y + i) * w - w; \
  FL p##i = LDFL(q##i), c##i = LDFL(q##i + V), n##i
#define NEXT(i)              \
  n##i = LDFL(q##i + x + V); \
  FL l##i = LEFT(FL, p##i, c##i), r##i = RIGHT(FL, c##i, n##i)
#define SHIFT(i) \
  p##i = c##i;   \
  c##i = n##i
#define STORE5(i, j, k) STFL(out + (y + i) * w + x, FIVE(c##i, l##j, r##j, c##k))
#define STORE9(i, j, k) \
  STFL(out + (y + i) * w + x, NINE(l##i, c##i, r##i, l##j, r##j, l##k, c##k, r##k))

/* A vector of the inside anywhere. */
#define AT5(q) FIVE(LDFL(q - w), LDFL(q - 1), LDFL(q + 1), LDFL(q + w))
#define AT9(q)                                                                  \
  NINE(LDFL(q - w - 1), LDFL(q - w), LDFL(q - w + 1), LDFL(q - 1), LDFL(q + 1), \
       LDFL(q + w - 1), LDFL(q + w), LDFL(q + w + 1))

#define JACOBI(name, AT, STORE)                                                            \
  VECTORS void name##At(__global float* out, const __global float* in, size_t x, size_t y, \
                        size_t w) {                                                        \
    const __global float* q = in + y * w + x;                                              \
    STFL(out + y * w + x, AT(q));                                                          \
  }                                                                                        \
  WIDE void name(__global float* out, const __global float* in, int width, int height,     \
                 int band) {                                                               \
    const size_t w = width, h = height, last = w - 1 - V;                                  \
    size_t y = 1 + get_global_id(0) * band;                                                \
    const size_t end = min(y + band, h - 1);                                               \
    for (; y + 4 <= end; y += 4) {                                                         \
      for (int i = 0; i < 4; i++) name##At(out, in, 1, y + i, w);                          \
      ROW(0); ROW(1); ROW(2); ROW(3); ROW(4); ROW(5);                                      \
      size_t x = V;                                                                        \
      for (; x + 2 * V <= w; x += V) {                                                     \
        NEXT(0); NEXT(1); NEXT(2); NEXT(3); NEXT(4); NEXT(5);                              \
        STORE(0, 1, 2); STORE(1, 2, 3); STORE(2, 3, 4); STORE(3, 4, 5);                    \
        SHIFT(0); SHIFT(1); SHIFT(2); SHIFT(3); SHIFT(4); SHIFT(5);                        \
      }                                                                                    \
      for (; x < w - 1; x += V)                                                            \
        for (int i = 0; i < 4; i++) name##At(out, in, min(x, last), y + i, w);             \
    }                                                                                      \
    for (; y < end; y++)                                                                   \
      for (size_t x = 1; x < w - 1; x += V) name##At(out, in, min(x, last), y, w);         \
  }

JACOBI(jacobi5, AT5, STORE5)
JACOBI(jacobi9, AT9, STORE9)
)CLC"
