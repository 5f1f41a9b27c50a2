// SPDX-License-Identifier: Apache-2.0
// The kernels of CANNY: a stage each, and all stages at once.
R"CLC(
#define BAND                          \
  const size_t w = width, h = height; \
  const size_t y0 = get_global_id(0) * band, y1 = min(y0 + band, h)

WIDE void smooth(__global short* s, const __global uchar* picture, int width, int height,
                 int band) {
  BAND;
  for (size_t y = y0; y < y1; y += 4) {
    __global short* o[4] = {s + y * w, s + (y + 1) * w, s + (y + 2) * w, s + (y + 3) * w};
    if (y + 4 <= y1)
      smoothRows(o, picture + y * w, y, w, h);
    else
      for (; y < y1; y++) smoothRow(s + y * w, picture + y * w, y, w, h);
  }
}

WIDE void gradient(__global int* strength, __global uchar* direction, __global short* s, int width,
                   int height, int band) {
  BAND;
  for (size_t y = y0; y < y1; y += 4) {
    __global int* g[4];
    __global uchar* d[4];
    __global short* r[6];
    for (int j = 0; j < 4; j++) g[j] = strength + (y + j) * w, d[j] = direction + (y + j) * w;
    for (int j = 0; j < 6; j++) r[j] = s + (y + j) * w - w;
    if (y + 4 <= y1)
      gradientRows(g, d, r, y, w, h);
    else
      for (int j = 0; y < y1; j++, y++) gradientRow(g[j], d[j], r + j, y, w, h);
  }
}

WIDE void thin(__global int* ridges, __global int* strength, const __global uchar* direction,
               int width, int height, int band) {
  BAND;
  for (size_t y = y0; y < y1; y++) {
    __global int* o = ridges + y * w;
    __global int* g[3] = {strength + y * w - w, strength + y * w, strength + y * w + w};
    if (y > 0 && y + 1 < h) {
#define BODYT(x) STIN(o + (x), ridge(g, direction + y * w, x))
      ALONG(1, w - 1, BODYT);
      o[0] = o[w - 1] = 0;
    } else {
      for (size_t x = 0; x < w; x++) o[x] = 0;
    }
  }
}

WIDE void classify(__global uchar* labels, const __global int* ridges, int width, int height,
                   int band, int low, int high) {
  BAND;
  size_t i = y0 * w;
  for (; i + V <= y1 * w; i += V) STUC(labels + i, label(LDIN(ridges + i), low, high));
  for (; i < y1 * w; i++) labels[i] = ridges[i] >= high ? 255 : ridges[i] >= low ? 128 : 0;
}

/* Few work-items with long bands: each has 8 rows of every kind in `rows`, 56 bytes per column,
   which stay in its core's cache. Four rows of smoothed pixels make four rows of gradients one row
   above, which make four rows of labels another one above. */
WIDE void fused(__global uchar* labels, const __global uchar* picture, __global uchar* rows,
                int width, int height, int band, int low, int high) {
  BAND;
  __global int* strength = (__global int*)(rows + get_global_id(0) * 56 * w);
  __global short* smoothed = (__global short*)(strength + 8 * w);
  __global uchar* direction = (__global uchar*)(smoothed + 8 * w);
  for (long y = (long)y0 - 2; y < (long)y1 + 2; y += 4) {
    __global short* s[6];
    __global int* g[6];
    __global uchar* d[6];
    for (int j = 0; j < 4; j++) s[j] = smoothed + ((y + j) & 7) * w;
    if (y >= 0)
      smoothRows(s, picture + y * w, y, w, h);
    else
      for (int j = 2; j < 4; j++) smoothRow(s[j], picture + (y + j) * w, y + j, w, h);
    for (int j = 0; j < 6; j++) {
      s[j] = smoothed + ((y - 2 + j) & 7) * w;
      g[j] = strength + ((y - 1 + j) & 7) * w;
      d[j] = direction + ((y - 1 + j) & 7) * w;
    }
    for (int j = 0; j < 4; j++)
      if (y - 1 + j == 0) gradientRow(g[j], d[j], s + j, 0, w, h);
    if (y >= 2) {
      gradientRows(g, d, s, y - 1, w, h);
    } else {
      for (int j = 0; j < 4; j++)
        if (y - 1 + j > 0) gradientRow(g[j], d[j], s + j, y - 1 + j, w, h);
    }
    for (int j = 0; j < 6; j++) g[j] = strength + ((y - 3 + j) & 7) * w;
    for (int j = 0; j < 4; j++) {
      const long row = y - 2 + j;
      if (row < (long)y0 || row >= (long)y1) continue;
      __global uchar* o = labels + row * w;
      if (row > 0 && row + 1 < (long)h) {
        const __global uchar* towards = direction + (row & 7) * w;
#define BODYF(x) STUC(o + (x), label(ridge(g + j, towards, x), low, high))
        ALONG(1, w - 1, BODYF);
        o[0] = o[w - 1] = 0;
      } else {
        for (size_t x = 0; x < w; x++) o[x] = 0;
      }
    }
  }
}
)CLC"
