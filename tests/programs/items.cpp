// SPDX-License-Identifier: Apache-2.0
// The kernels once more, as one work-item of the model runs them.
#include "kernels.h"

namespace programs {

namespace {

// Devices wrap around on overflow, and so does this.
Cell operator+(const Cell& a, const Cell& b) { return {a.value + b.value, a.known && b.known}; }
Cell operator+(const Cell& a, unsigned b) { return {a.value + b, a.known}; }
Cell operator*(unsigned b, const Cell& a) { return {a.value * b, a.known}; }

bool isOdd(const Cell& cell) { return (cell.value & 1u) == 1u; }

// Half of a signed value, rounded towards zero.
unsigned half(unsigned value) { return static_cast<unsigned>(static_cast<int>(value) / 2); }

// True if a work-item has `before` and `after` cells before and after it along an axis.
bool inside(const Item& item, std::size_t axis, int before, int after) {
  return item.at[axis] >= before && item.at[axis] + after < item.sizes[axis];
}

// The neighbours are of the other colour, and stay what they are.
void colour(const Item& item) {
  const bool matrix = item.dims > 1;
  const unsigned sum = static_cast<unsigned>(item.at[0] + item.at[1] + item.at[2]) + item.d;
  if (!inside(item, 2, 1, 1) || (matrix && !inside(item, 1, 1, 1)) || (sum & 1u) != 0) return;
  const auto near = [&](int y, int x) { return item.out(item.at + Point{0, y, x}); };
  Cell now = matrix ? near(0, -1) + 3u * near(0, 1) + 5u * near(-1, 0) + 7u * near(1, 0)
                    : near(0, -1) + 3u * near(0, 1);
  item.out(item.at) = now + item.c;
}

void inPlace(Work work, const Item& item, Cell& own) {
  const Point& at = item.at;
  const auto n = [](int i) { return static_cast<unsigned>(i); };
  const bool isEnd = at[2] == 0 || at[2] + 1 == item.sizes[2];
  switch (work) {
    case Work::Number:
      own = {item.c};
      break;
    case Work::Ids:
      own = {item.c + n(at[2]) + 11u * n(at[1]) + 101u * n(at[0]) + 1009u * n(item.sizes[2]) +
             10007u * n(item.sizes[1])};
      break;
    case Work::Add:
      own = own + item.c;
      break;
    case Work::Grow:
      own = 3u * own + item.d;
      break;
    case Work::Rim:
      if (isEnd) own = {item.c};
      break;
    case Work::Head:
      if (at[2] < static_cast<int>(item.d)) own = {item.c};
      break;
    case Work::Colour:
      colour(item);
      break;
    default:
      if (!own.known || isOdd(own)) own = {half(own.value) + item.c, own.known};
  }
}

Cell star(const Item& item) {
  const auto near = [&](int z, int y, int x) { return item.in(item.at + Point{z, y, x}); };
  Cell sum = near(0, 0, -1) + item.c * near(0, 0, 0) + 3u * near(0, 0, 1);
  if (item.dims > 1) sum = sum + 5u * near(0, -1, 0) + 7u * near(0, 1, 0);
  if (item.dims > 2) sum = sum + 11u * near(-1, 0, 0) + 13u * near(1, 0, 0);
  return sum;
}

Cell corners(const Item& item) {
  const auto near = [&](int y, int x) { return item.in(item.at + Point{0, y, x}); };
  if (item.dims == 1) return near(0, -1) + (0u - item.c) * near(0, 1);
  return near(-1, -1) + item.c * near(-1, 1) + 3u * near(1, -1) + 5u * near(1, 1);
}

bool isInStencil(Work work, const Item& item) {
  const bool matrix = item.dims > 1;
  switch (work) {
    case Work::Star:
      return inside(item, 2, 1, 1) && (!matrix || inside(item, 1, 1, 1)) &&
             (item.dims < 3 || inside(item, 0, 1, 1));
    case Work::Corners:
      return inside(item, 2, 1, 1) && (!matrix || inside(item, 1, 1, 1));
    case Work::Far:
      return matrix ? inside(item, 2, 1, 2) && inside(item, 1, 2, 1) : inside(item, 2, 2, 1);
    case Work::Right:
    case Work::Scatter:
      return inside(item, 2, 0, 1);
    case Work::Down:
      return matrix ? inside(item, 1, 0, 1) : inside(item, 2, 0, 2);
    case Work::Wide:
      return inside(item, 2, 3, 3);
    case Work::Look: {
      const int x = item.at[2] + static_cast<int>(item.d);
      return x >= 0 && x < item.sizes[2];
    }
    case Work::Cond:
      return inside(item, 2, 1, 0);
    default:
      return true;
  }
}

Cell wide(const Item& item) {
  Cell sum{item.c};
  for (int i = -3; i <= 3; ++i)
    sum = sum + static_cast<unsigned>(i + 5) * item.in(item.at + Point{0, 0, i});
  return sum;
}

Cell far(const Item& item) {
  const auto near = [&](int y, int x) { return item.in(item.at + Point{0, y, x}); };
  if (item.dims == 1) return near(0, -2) + item.c * near(0, 1);
  return near(-2, 2) + item.c * near(1, -1);
}

// The value that a work-item writes.
Cell mapped(Work work, const Item& item) {
  const auto near = [&](int y, int x) { return item.in(item.at + Point{0, y, x}); };
  const int x = item.at[2];
  switch (work) {
    case Work::Star:
      return star(item);
    case Work::Corners:
      return corners(item);
    case Work::Far:
      return far(item);
    case Work::Right:
      return near(0, 1) + item.c;
    case Work::Down:
      return (item.dims > 1 ? near(1, 0) : near(0, 2)) + item.c;
    case Work::Wide:
      return wide(item);
    case Work::Clamp:
      return near(0, x + 1 < item.sizes[2] ? 1 : 0) + item.c;
    case Work::Look:
      return near(0, static_cast<int>(item.d)) + item.c;
    case Work::Gather:
      return near(0, (3 * x + static_cast<int>(item.d & 7u)) % item.sizes[2] - x) + item.c;
    case Work::Cond:
      return 5u * near(0, -1) + item.c;
    default:
      return near(0, 0) + item.c;
  }
}

}  // namespace

const char* nameOf(Work work) {
  static constexpr const char* kNames[] = {
      "number", "ids",   "add",  "grow",    "rim",     "head",   "odd",
      "colour", "copy",  "star", "corners", "far",     "right",  "down",
      "wide",   "clamp", "look", "gather",  "scatter", "spread", "cond"};
  return kNames[static_cast<int>(work)];
}

void runItem(Work work, const Item& item) {
  if (!hasInput(work)) return inPlace(work, item, item.out(item.at));
  if (!isInStencil(work, item)) return;
  if (work == Work::Scatter) {
    item.out(item.at + Point{0, 0, 1}) = mapped(work, item);
    return;
  }
  if (work == Work::Spread) {
    const Point by{0, 0, item.at[2]};
    if (2 * item.at[2] + 1 >= item.sizes[2]) return;
    item.out(item.at + by) = mapped(work, item);
    item.out(item.at + by + Point{0, 0, 1}) = 3u * item.in(item.at);
    return;
  }
  if (work == Work::Cond) {
    const Cell condition = item.in(item.at);
    if (!condition.known) item.out(item.at).known = false;
    if (!condition.known || !isOdd(condition)) return;
  }
  item.out(item.at) = mapped(work, item);
}

}  // namespace programs
