// SPDX-License-Identifier: Apache-2.0
// The patterns of samples/patterns by hand, four rows at a time: star4 and box9 in the shape of
// jacobi.cl.h, star9 and upwind5 with reach 2. Borders keep their values.
R"CLC(
#define BOX(nw, n, ne, w, c, e, sw, s, se) \
  ((1.0f / 16) * (((nw) + (ne) + (sw) + (se)) + 2.0f * ((n) + (s) + (w) + (e)) + 4.0f * (c)))
#define STOREBOX(i, j, k)            \
  STFL(out + (y + i) * w + x,        \
       BOX(l##i, c##i, r##i, l##j, c##j, r##j, l##k, c##k, r##k))
#define ATBOX(q)                                                                         \
  BOX(LDFL(q - w - 1), LDFL(q - w), LDFL(q - w + 1), LDFL(q - 1), LDFL(q), LDFL(q + 1), \
      LDFL(q + w - 1), LDFL(q + w), LDFL(q + w + 1))
JACOBI(star4, AT5, STORE5)
JACOBI(box9, ATBOX, STOREBOX)

/* Two elements to the left or to the right. */
#define LEFT2(T, a, b)                                                                        \
  (T)((a).se, (a).sf, (b).s0, (b).s1, (b).s2, (b).s3, (b).s4, (b).s5, (b).s6, (b).s7, (b).s8, \
      (b).s9, (b).sa, (b).sb, (b).sc, (b).sd)
#define RIGHT2(T, a, b)                                                                       \
  (T)((a).s2, (a).s3, (a).s4, (a).s5, (a).s6, (a).s7, (a).s8, (a).s9, (a).sa, (a).sb, (a).sc, \
      (a).sd, (a).se, (a).sf, (b).s0, (b).s1)

#define STAR(near4, far4, c) ((1.0f / 12) * (16.0f * (near4) - (far4) - 60.0f * (c)))
#define UPWIND(near2, far2, c) (0.5f * ((far2) - 4.0f * (near2) + 8.0f * (c)))

/* Row y + i - 2: the vector at x alone, or those around it too. */
#define THIN(i) const __global float* q##i = in + (y + i - 2) * w
#define WIDEROW(i) \
  THIN(i);         \
  FL p##i = LDFL(q##i), c##i = LDFL(q##i + V), n##i
#define HERE(i) const FL c##i = LDFL(q##i + x)
#define AHEAD(i) n##i = LDFL(q##i + x + V)
#define STORESTAR(row, a, b, i, d, e)                                                      \
  STFL(out + (y + row) * w + x,                                                            \
       STAR(c##b + c##d + LEFT(FL, p##i, c##i) + RIGHT(FL, c##i, n##i),                    \
            c##a + c##e + LEFT2(FL, p##i, c##i) + RIGHT2(FL, c##i, n##i), c##i))
#define STOREUPWIND(row, a, b, i)                                                       \
  STFL(out + (y + row) * w + x, UPWIND(c##b + LEFT(FL, p##i, c##i),                     \
                                       c##a + LEFT2(FL, p##i, c##i), c##i))

/* A vector anywhere. */
VECTORS void star9At(__global float* out, const __global float* in, size_t x, size_t y, size_t w) {
  const __global float* q = in + y * w + x;
  STFL(out + y * w + x,
       STAR(LDFL(q - w) + LDFL(q + w) + LDFL(q - 1) + LDFL(q + 1),
            LDFL(q - 2 * w) + LDFL(q + 2 * w) + LDFL(q - 2) + LDFL(q + 2), LDFL(q)));
}
VECTORS void upwind5At(__global float* out, const __global float* in, size_t x, size_t y,
                       size_t w) {
  const __global float* q = in + y * w + x;
  STFL(out + y * w + x,
       UPWIND(LDFL(q - w) + LDFL(q - 1), LDFL(q - 2 * w) + LDFL(q - 2), LDFL(q)));
}

WIDE void star9(__global float* out, const __global float* in, int width, int height, int band) {
  const size_t w = width, h = height, last = w - 2 - V;
  size_t y = 2 + get_global_id(0) * band;
  const size_t end = min(y + band, h - 2);
  for (; y + 4 <= end; y += 4) {
    for (int i = 0; i < 4; i++) star9At(out, in, 2, y + i, w);
    THIN(0); THIN(1); WIDEROW(2); WIDEROW(3); WIDEROW(4); WIDEROW(5); THIN(6); THIN(7);
    size_t x = V;
    for (; x + 2 * V <= w; x += V) {
      HERE(0); HERE(1); AHEAD(2); AHEAD(3); AHEAD(4); AHEAD(5); HERE(6); HERE(7);
      STORESTAR(0, 0, 1, 2, 3, 4);
      STORESTAR(1, 1, 2, 3, 4, 5);
      STORESTAR(2, 2, 3, 4, 5, 6);
      STORESTAR(3, 3, 4, 5, 6, 7);
      SHIFT(2); SHIFT(3); SHIFT(4); SHIFT(5);
    }
    for (; x < w - 2; x += V)
      for (int i = 0; i < 4; i++) star9At(out, in, min(x, last), y + i, w);
  }
  for (; y < end; y++)
    for (size_t x = 2; x < w - 2; x += V) star9At(out, in, min(x, last), y, w);
}

WIDE void upwind5(__global float* out, const __global float* in, int width, int height, int band) {
  const size_t w = width, h = height, last = w - V;
  size_t y = 2 + get_global_id(0) * band;
  const size_t end = min(y + band, h);
  for (; y + 4 <= end; y += 4) {
    for (int i = 0; i < 4; i++) upwind5At(out, in, 2, y + i, w);
    THIN(0); THIN(1); THIN(2); THIN(3); THIN(4); THIN(5);
    FL p2 = LDFL(q2), p3 = LDFL(q3), p4 = LDFL(q4), p5 = LDFL(q5);
    size_t x = V;
    for (; x + V <= w; x += V) {
      HERE(0); HERE(1); HERE(2); HERE(3); HERE(4); HERE(5);
      STOREUPWIND(0, 0, 1, 2);
      STOREUPWIND(1, 1, 2, 3);
      STOREUPWIND(2, 2, 3, 4);
      STOREUPWIND(3, 3, 4, 5);
      p2 = c2; p3 = c3; p4 = c4; p5 = c5;
    }
    if (x < w)
      for (int i = 0; i < 4; i++) upwind5At(out, in, last, y + i, w);
  }
  for (; y < end; y++)
    for (size_t x = 2; x < w; x += V) upwind5At(out, in, min(x, last), y, w);
}
)CLC"
