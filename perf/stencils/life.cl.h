// SPDX-License-Identifier: Apache-2.0
// Four rows at a time. Beyond the edges all cells are dead, which is a vector of zeros. A column of
// three cells is summed up once for the cells on either side of it.
R"CLC(
/* Of the nine cells around and with a cell c, n are alive: bits 3 and, where c is, 4 of a table. */
#define ALIVE(n, c) (((8 | (c) << 4) >> (n)) & 1)

/* Row i of the six that four rows need: its address, the current vector and the next one. */
#define ROW(i)                                      \
  const __global int* q##i = now + (y + i) * w - w; \
  IN c##i = LDIN(q##i), n##i
#define NEXT(i) n##i = LDIN(q##i + x + V)
/* The sums of the columns that begin in row i, in the vectors around the current one. */
#define COLUMNS(i, j, k) IN b##i = 0, h##i = c##i + c##j + c##k, a##i
#define SHIFT(i) \
  b##i = h##i;   \
  h##i = a##i
#define STORE(i, j)                  \
  STIN(next + (y + i) * w + x,       \
       ALIVE(LEFT(IN, b##i, h##i) + h##i + RIGHT(IN, h##i, a##i), c##j))

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
    COLUMNS(0, 1, 2); COLUMNS(1, 2, 3); COLUMNS(2, 3, 4); COLUMNS(3, 4, 5);
    size_t x = 0;
    for (; x + 2 * V <= w; x += V) {
      NEXT(0); NEXT(1); NEXT(2); NEXT(3); NEXT(4); NEXT(5);
      const IN upper = n1 + n2, lower = n3 + n4;
      a0 = n0 + upper; a1 = upper + n3; a2 = n2 + lower; a3 = lower + n5;
      STORE(0, 1); STORE(1, 2); STORE(2, 3); STORE(3, 4);
      SHIFT(0); SHIFT(1); SHIFT(2); SHIFT(3);
      c1 = n1; c2 = n2; c3 = n3; c4 = n4;
    }
    for (; x < w; x += V)
      for (int i = 0; i < 4; i++) lifeAt(next, now, min(x, w - V), y + i, w, h);
  }
  for (; y < end; y++) lifeRow(next, now, y, w, h);
}
)CLC"
