// SPDX-License-Identifier: Apache-2.0
// Four rows at a time. Beyond the edges all cells are dead, which is a vector of zeros.
R"CLC(
#define ALIVE(n, c) (-((((n) - (c)) | (c)) == 3))

/* Row i of the six that four rows need: its address, and the vectors around the current one. */
#define ROW(i)                                      \
  const __global int* q##i = now + (y + i) * w - w; \
  IN p##i = 0, c##i = LDIN(q##i), n##i
#define SUM(i)               \
  n##i = LDIN(q##i + x + V); \
  IN s##i = LEFT(IN, p##i, c##i) + c##i + RIGHT(IN, c##i, n##i)
#define SHIFT(i) \
  p##i = c##i;   \
  c##i = n##i
#define STORE(i, j, k) STIN(next + (y + i) * w + x, ALIVE(s##i + s##j + s##k, c##j))

/* Sums of three cells of a row, which may be those at its ends. */
VECTORS IN lifeThree(const __global int* q, size_t x, size_t w) {
  IN c = LDIN(q + x), none = 0;
  IN left = x > 0 ? LDIN(q + x - 1) : LEFT(IN, none, c);
  IN right = x + V < w ? LDIN(q + x + 1) : RIGHT(IN, c, none);
  return left + c + right;
}

/* A vector anywhere. */
VECTORS void lifeAt(__global int* next, const __global int* now, size_t x, size_t y, size_t w,
                    size_t h) {
  const __global int* q = now + y * w;
  IN n = lifeThree(q, x, w);
  if (y > 0) n += lifeThree(q - w, x, w);
  if (y + 1 < h) n += lifeThree(q + w, x, w);
  STIN(next + y * w + x, ALIVE(n, LDIN(q + x)));
}

VECTORS void lifeRow(__global int* next, const __global int* now, size_t y, size_t w, size_t h) {
  for (size_t x = 0; x < w; x += V) lifeAt(next, now, min(x, w - V), y, w, h);
}

WIDE void life(__global int* next, const __global int* now, int width, int height, int band) {
  const size_t w = width, h = height;
  size_t y = get_global_id(0) * band;
  const size_t end = min(y + band, h);
  if (y == 0) lifeRow(next, now, y++, w, h);
  for (; y + 4 <= min(end, h - 1); y += 4) {
    ROW(0); ROW(1); ROW(2); ROW(3); ROW(4); ROW(5);
    size_t x = 0;
    for (; x + 2 * V <= w; x += V) {
      SUM(0); SUM(1); SUM(2); SUM(3); SUM(4); SUM(5);
      STORE(0, 1, 2); STORE(1, 2, 3); STORE(2, 3, 4); STORE(3, 4, 5);
      SHIFT(0); SHIFT(1); SHIFT(2); SHIFT(3); SHIFT(4); SHIFT(5);
    }
    for (; x < w; x += V)
      for (int i = 0; i < 4; i++) lifeAt(next, now, min(x, w - V), y + i, w, h);
  }
  for (; y < end; y++) lifeRow(next, now, y, w, h);
}
)CLC"
