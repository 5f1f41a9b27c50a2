// SPDX-License-Identifier: Apache-2.0
// Filters and other operations on pictures.
#include <doctest/doctest.h>

#include "support.h"

namespace pictures_tests {

using namespace hpl;
using namespace classics;

namespace {

using Bytes = Array<unsigned char, 2>;
using Picture = Array<float, 2>;
using Ints = Array<int, 2>;

/// Sorts the nine neighbours in an array of the work-item's own.
void median(Bytes out, const Bytes& in) {
  Array<unsigned char, 1> window(9);
  Int count = 0;
  if_(idx > 0 && idy > 0 && idx < szx - 1 && idy < szy - 1) {
    for_(Int dy = -1, dy <= 1, dy++) {
      for_(Int dx = -1, dx <= 1, dx++) {
        window[count] = in[idy + dy][idx + dx];
        count++;
      }
    }
    for_(Int i = 1, i < 9, i++) {
      Uchar key = window[i];
      Int j = i - 1;
      while_(j >= 0 && window[j] > key) {
        window[j + 1] = window[j];
        j--;
      }
      window[j + 1] = key;
    }
    out[idy][idx] = window[4];
  }
  else_ { out[idy][idx] = in[idy][idx]; }
}

/// The mean of the neighbours that there are.
void meanInside(Picture out, const Picture& in, Int r, Int w, Int h) {
  Float sum = 0.0f;
  Int count = 0;
  for_(Int dy = -r, dy <= r, dy++) {
    for_(Int dx = -r, dx <= r, dx++) {
      Int y = cast<int>(idy) + dy, x = cast<int>(idx) + dx;
      if_(x < 0 || y < 0 || x >= w || y >= h) {
        continue_;
      }
      sum += in[y][x];
      count++;
    }
  }
  out[idy][idx] = sum / cast<float>(count);
}

/// The sum with the nearest pixels beyond the edges.
void sumClamped(Picture out, const Picture& in, Int r, Int w, Int h) {
  Float sum = 0.0f;
  for_(Int dy = -r, dy <= r, dy++) {
    for_(Int dx = -r, dx <= r, dx++) {
      sum += in[min(max(cast<int>(idy) + dy, 0), h - 1)][clamp(cast<int>(idx) + dx, 0, w - 1)];
    }
  }
  out[idy][idx] = sum;
}

void convolution(Picture out, const Picture& in, Array<float, 2, Constant> mask) {
  if_(idx >= 2 && idy >= 2 && idx < szx - 2 && idy < szy - 2) {
    Float sum = 0.0f;
    for_(Int i = 0, i < 5, i++) {
      for_(Int j = 0, j < 5, j++) {
        sum += mask[i][j] * in[idy + i - 2][idx + j - 2];
      }
    }
    out[idy][idx] = sum;
  }
}

void bilinear(Picture out, const Picture& in, Float sx, Float sy, Int w, Int h) {
  Float x = cast<float>(idx) * sx, y = cast<float>(idy) * sy;
  Int x0 = cast<int>(floor(x)), y0 = cast<int>(floor(y));
  Int x1 = min(x0 + 1, w - 1), y1 = min(y0 + 1, h - 1);
  Float fx = x - cast<float>(x0), fy = y - cast<float>(y0);
  Float above = in[y0][x0] * (1.0f - fx) + in[y0][x1] * fx;
  Float below = in[y1][x0] * (1.0f - fx) + in[y1][x1] * fx;
  out[idy][idx] = above * (1.0f - fy) + below * fy;
}

void sumRows(Ints out, const Ints& in, Int columns) {
  Int sum = 0;
  for_(Int x = 0, x < columns, x++) {
    sum += in[idx][x];
    out[idx][x] = sum;
  }
}
void sumColumns(Ints out, Int rows) {
  for_(Int y = 1, y < rows, y++) {
    out[y][idx] += out[y - 1][idx];
  }
}

void mandelbrot(Ints out, Int most) {
  Float cx = cast<float>(idx) * (3.0f / 64) - 2.0f, cy = cast<float>(idy) * (2.0f / 48) - 1.0f;
  Float x = 0.0f, y = 0.0f;
  for_(Int k = 0, k < most, k++) {
    if_(x* x + y * y > 4.0f) {
      out[idy][idx] = k;
      return_();
    }
    Float t = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = t;
  }
  out[idy][idx] = -1;
}

void differences(Ints right, Ints down, const Ints& in) {
  right[idy][idx] = in[idy][min(idx + 1, szx - 1)] - in[idy][idx];
  down[idy][idx] = in[min(idy + 1, szy - 1)][idx] - in[idy][idx];
}

/// A launch of whole groups, some of which lie beyond the picture.
void guarded(Ints out, const Ints& in, Int h, Int w) {
  if_(idy >= h || idx >= w) {
    return_();
  }
  out[idy][idx] = in[idy][idx] + cast<int>(idx * 100 + idy);
}

/// Each pixel goes by the parities of its row and column.
void byParity(Ints out, const Ints& in) {
  if_(idy % 2 == 0) {
    out[idy][idx] = in[idy][idx];
  }
  else_ {
    if_(idx % 2 == 0) {
      out[idy][idx] = in[idy - 1][idx];
    }
    else_ { out[idy][idx] = -in[idy][idx - 1]; }
  }
}

}  // namespace

TEST_CASE("the median of neighbours that are sorted in a private array") {
  const int h = 67, w = 93;
  const auto in = numbers<unsigned char>(h * w, 0, 255);
  auto expected = in;
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      std::vector<unsigned char> window;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) window.push_back(in[at(y + dy, x + dx, w)]);
      std::sort(window.begin(), window.end());
      expected[at(y, x, w)] = window[4];
    }
  Bytes out(h, w);
  onAll(median)(out, arrayOf(in, h, w));
  CHECK(valuesOf(out) == expected);
}

TEST_CASE("box filters of any radius, which leave out pixels beyond the edges or repeat the last") {
  const int h = 45, w = 61;
  const auto in = numbers<float>(h * w, 0, 99);
  const Picture picture = arrayOf(in, h, w);
  Picture mean(h, w), sum(h, w);
  for (const int r : {1, 3, 0}) {
    CAPTURE(r);
    std::vector<float> means(in.size()), sums(in.size());
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        float inside = 0;
        int count = 0;
        for (int dy = -r; dy <= r; ++dy)
          for (int dx = -r; dx <= r; ++dx) {
            const int v = std::clamp(y + dy, 0, h - 1), u = std::clamp(x + dx, 0, w - 1);
            sums[at(y, x, w)] += in[at(v, u, w)];
            if (v != y + dy || u != x + dx) continue;
            inside += in[at(v, u, w)];
            ++count;
          }
        means[at(y, x, w)] = inside / static_cast<float>(count);
      }
    onAll(meanInside)(mean, picture, r, w, h);
    CHECK(valuesOf(mean) == means);
    onAll(sumClamped)(sum, picture, r, w, h);
    CHECK(valuesOf(sum) == sums);
  }
}

TEST_CASE("a convolution with a mask in constant memory") {
  const int h = 39, w = 66;
  const auto in = numbers<float>(h * w, -9, 9, 1), mask = numbers<float>(25, -3, 3, 2);
  auto expected = in;
  for (int y = 2; y < h - 2; ++y)
    for (int x = 2; x < w - 2; ++x) {
      float& sum = expected[at(y, x, w)] = 0;
      for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j) sum += mask[at(i, j, 5)] * in[at(y + i - 2, x + j - 2, w)];
    }
  Array<float, 2, Constant> weights(5, 5);
  weights.copyFrom(mask.data());
  Picture out = arrayOf(in, h, w);
  onAll(convolution)(out, arrayOf(in, h, w), weights);
  CHECK(valuesOf(out) == expected);
}

TEST_CASE("an enlarged picture, interpolated between pixels") {
  const int h = 30, w = 40, rows = 77, columns = 91;
  const auto in = numbers<float>(h * w, 0, 255);
  const float sx = float(w - 1) / (columns - 1), sy = float(h - 1) / (rows - 1);
  std::vector<float> expected;
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i) {
      const float x = static_cast<float>(i) * sx, y = static_cast<float>(j) * sy;
      const int x0 = static_cast<int>(x), y0 = static_cast<int>(y);
      const int x1 = std::min(x0 + 1, w - 1), y1 = std::min(y0 + 1, h - 1);
      const float fx = x - static_cast<float>(x0), fy = y - static_cast<float>(y0);
      const float above = in[at(y0, x0, w)] * (1 - fx) + in[at(y0, x1, w)] * fx;
      const float below = in[at(y1, x0, w)] * (1 - fx) + in[at(y1, x1, w)] * fx;
      expected.push_back(above * (1 - fy) + below * fy);
    }
  Picture out(rows, columns);
  onAll(bilinear)(out, arrayOf(in, h, w), sx, sy, w, h);
  CHECK(areNear(valuesOf(out), expected, 1e-5));
}

TEST_CASE("an integral image: sums along rows, then along columns") {
  const int h = 37, w = 53;
  const auto in = numbers<int>(h * w, 0, 9);
  auto expected = in;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      if (x > 0) expected[at(y, x, w)] += expected[at(y, x - 1, w)];
      if (y > 0) expected[at(y, x, w)] += expected[at(y - 1, x, w)];
      if (x > 0 && y > 0) expected[at(y, x, w)] -= expected[at(y - 1, x - 1, w)];
    }
  Ints sums(h, w);
  onAll(sumRows).global(h)(sums, arrayOf(in, h, w), w);
  onAll(sumColumns).global(w)(sums, h);
  CHECK(valuesOf(sums) == expected);
}

TEST_CASE("the Mandelbrot set, with a return from the loop") {
  const int h = 48, w = 64, most = 50;
  Ints out(h, w);
  onAll(mandelbrot)(out, most);
  for (int j = 0; j < h; ++j)
    for (int i = 0; i < w; ++i) {
      const float cx = static_cast<float>(i) * (3.0f / 64) - 2.0f;
      const float cy = static_cast<float>(j) * (2.0f / 48) - 1.0f;
      float x = 0, y = 0;
      int k = 0;
      for (; k < most && x * x + y * y <= 4.0f; ++k) {
        const float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
      }
      REQUIRE(out(j, i) == (k == most ? -1 : k));
    }
}

TEST_CASE("differences to the next pixels, guarded launches, and branches by parity") {
  const int h = 34, w = 46;
  const auto in = numbers<int>(h * w, -99, 99);
  const Ints picture = arrayOf(in, h, w);
  Ints right(h, w), down(h, w), sum(h, w), parity(h, w);
  onAll(differences)(right, down, picture);
  onAll(guarded).global(64, 48).local(16, 16)(sum, picture, h, w);
  onAll(byParity)(parity, picture);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const int here = in[at(y, x, w)];
      REQUIRE(right(y, x) == in[at(y, std::min(x + 1, w - 1), w)] - here);
      REQUIRE(down(y, x) == in[at(std::min(y + 1, h - 1), x, w)] - here);
      REQUIRE(sum(y, x) == here + x * 100 + y);
      const int odd = x % 2 == 0 ? in[at(y - y % 2, x, w)] : -in[at(y, x - x % 2, w)];
      REQUIRE(parity(y, x) == (y % 2 == 0 ? here : odd));
    }
}

}  // namespace pictures_tests
