// SPDX-License-Identifier: Apache-2.0
#include "model_kernels.h"

using namespace hpl;
using ghosts_tests::Grid;
using ghosts_tests::Numbers;

namespace ghosts_model {

void setOf(Numbers a, Int c) { a[idx] = c + 7 * cast<int>(idx); }

void setOf(Grid a, Int c) { a[idy][idx] = c + 7 * cast<int>(idx) + 13 * cast<int>(idy); }

void scaleOf(Numbers a, Int c) { a[idx] = 3 * a[idx] + c; }

void scaleOf(Grid a, Int c) { a[idy][idx] = 3 * a[idy][idx] + c; }

void nearOf(Numbers out, Numbers in, Int c) {
  if_(idx > 0 && idx + 1 < szx) {
    out[idx] = in[idx - 1] - c * in[idx] + 3 * in[idx + 1];
  }
}

void nearOf(Grid out, Grid in, Int c) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    out[idy][idx] = in[idy - 1][idx - 1] - c * in[idy][idx] + 3 * in[idy + 1][idx + 1] +
                    5 * in[idy - 1][idx + 1] + 7 * in[idy + 1][idx - 1];
  }
}

void farOf(Numbers out, Numbers in, Int width, Int c) {
  Int x = cast<int>(idx);
  if_(x > 1 && x + 1 < width) {
    out[idx] = in[idx - 2] + c * in[idx + 1];
  }
}

void farOf(Grid out, Grid in, Int height, Int width, Int c) {
  Int y = cast<int>(idy), x = cast<int>(idx);
  if_(y > 1 && y + 1 < height && x > 0 && x + 2 < width) {
    out[idy][idx] = in[idy - 2][idx + 2] + c * in[idy + 1][idx - 1];
  }
}

void lookOf(Numbers out, Numbers in, Int width, Int c, Int dx) {
  Int x = cast<int>(idx) + dx;
  if_(x >= 0 && x < width) {
    out[idx] = in[x] + c;
  }
}

void lookOf(Grid out, Grid in, Int height, Int width, Int c, Int dy, Int dx) {
  Int y = cast<int>(idy) + dy, x = cast<int>(idx) + dx;
  if_(y >= 0 && y < height && x >= 0 && x < width) {
    out[idy][idx] = in[y][x] + c;
  }
}

Reach Call::reach(bool alongY, bool alongX, bool isVector) const {
  Reach reach;
  reach.known = work != Work::Look;
  if (work == Work::Near) {
    reach = {alongY, alongY, alongX, alongX};
  } else if (work == Work::Far && isVector) {
    reach = {0, 0, 2, 1};
  } else if (work == Work::Far) {
    reach = {2 * alongY, alongY, alongX, 2 * alongX};
  }
  reach.allY = !alongY;
  reach.allX = !alongX;
  return reach;
}

std::vector<std::pair<int, int>> Call::sites(bool isVector) const {
  if (work != Work::Far) return {};
  if (isVector) return {{0, -2}, {0, 1}};
  return {{-2, 2}, {1, -1}};
}

Reach Call::rim(bool isVector) const {
  Reach rim;
  rim.known = work != Work::Set && work != Work::Look;
  if (work == Work::Near) rim = {!isVector, !isVector, 1, 1};
  if (work == Work::Far) rim = isVector ? Reach{0, 0, 2, 1} : Reach{2, 1, 1, 2};
  return rim;
}

namespace {

// The cells of one argument, by the kernel's indices; overflow wraps around as on devices.
struct Cells {
  const Frame& frame;
  std::vector<int>& buffer;

  int& at(int y, int x) const {
    const int row = frame.y + y - frame.cells.y0;
    const int column = frame.x + x - frame.cells.x0;
    return buffer.at(static_cast<std::size_t>(row * frame.cells.width() + column));
  }
  unsigned operator()(int y, int x) const { return static_cast<unsigned>(at(y, x)); }
};

// The stencils where they write; false elsewhere.
bool stencilAt(const Call& call, const Cells& in, int height, int width, bool isVector, int y,
               int x, unsigned& value) {
  const auto c = static_cast<unsigned>(call.c);
  if (call.work == Work::Near && isVector) {
    if (x < 1 || x + 1 >= width) return false;
    value = in(0, x - 1) - c * in(0, x) + 3 * in(0, x + 1);
  } else if (call.work == Work::Near) {
    if (y < 1 || y + 1 >= height || x < 1 || x + 1 >= width) return false;
    value = in(y - 1, x - 1) - c * in(y, x) + 3 * in(y + 1, x + 1) + 5 * in(y - 1, x + 1) +
            7 * in(y + 1, x - 1);
  } else if (isVector) {
    if (x < 2 || x + 1 >= width) return false;
    value = in(0, x - 2) + c * in(0, x + 1);
  } else {
    if (y < 2 || y + 1 >= height || x < 1 || x + 2 >= width) return false;
    value = in(y - 2, x + 2) + c * in(y + 1, x - 1);
  }
  return true;
}

}  // namespace

void runOnHost(const Call& call, const Rect& indices, int height, int width,
               const std::vector<Frame>& frames, std::vector<std::vector<int>>& buffers,
               bool isVector) {
  const Cells out{frames.front(), buffers.front()};
  const Cells in{frames.back(), buffers.back()};
  const auto c = static_cast<unsigned>(call.c);
  forEachCell(indices, [&](int y, int x) {
    unsigned value = 0;
    if (call.work == Work::Set) {
      value = c + 7u * static_cast<unsigned>(x) + 13u * static_cast<unsigned>(y);
    } else if (call.work == Work::Scale) {
      value = 3 * in(y, x) + c;
    } else if (call.work == Work::Look) {
      const int fromY = y + call.dy;
      const int fromX = x + call.dx;
      if (fromY < 0 || fromY >= height || fromX < 0 || fromX >= width) return;
      value = in(fromY, fromX) + c;
    } else if (!stencilAt(call, in, height, width, isVector, y, x, value)) {
      return;
    }
    out.at(y, x) = static_cast<int>(value);
  });
}

}  // namespace ghosts_model
