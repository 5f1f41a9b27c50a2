// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "cells.h"
#include "hpl/hpl.h"

/// The kernels of the random programs: for devices, and cell by cell for the model. They are few,
/// and take arguments where they can, so that little is compiled.
namespace programs {

enum class Work {
  // In place: (a, c, d).
  Number,  ///< a = c
  Ids,     ///< a = c + what idx, idy, idz, szx and szy are
  Add,     ///< a += c
  Grow,    ///< a = 3 a + d
  Rim,     ///< a = c at both ends of x
  Head,    ///< a = c where x < d
  Odd,     ///< a = a / 2 + c where a is odd
  Colour,  ///< the neighbours in x and y of every second cell, of the other colour; not on parts
  // From one array to another: (out, in, c, d).
  Copy,     ///< out = in + c
  Star,     ///< neighbours along all axes, guarded by the sizes
  Corners,  ///< neighbours across corners, guarded by the sizes
  Far,      ///< more to one side than to the other, guarded by the sizes
  Right,    ///< out = in[x + 1], guarded by the size
  Down,     ///< out = in[y + 1] (vectors: in[x + 2]), guarded by the size
  Wide,     ///< a sum over x - 3 to x + 3, guarded by the size
  Clamp,    ///< out = in[min(x + 1, szx - 1)]
  Look,     ///< out = in[x + d] where that is inside: nobody can tell how far
  Gather,   ///< out = in[(3 x + d) % szx]
  Scatter,  ///< out[x + 1] = in[x], guarded by the size
  Spread,   ///< out[2 x] and out[2 x + 1] of in[x], guarded by the size
  Cond      ///< out = 5 in[x - 1] where in[x] is odd, guarded by the size
};
inline constexpr int kInPlace = 8;
inline constexpr int kWorks = 21;

const char* nameOf(Work work);
inline bool hasInput(Work work) { return static_cast<int>(work) >= kInPlace; }

/// A value, and whether the documentation says which.
struct Cell {
  unsigned value = 0;
  bool known = true;
};

/// The data of one work-item of the model. Positions are those of the arrays' first cells.
struct Item {
  Point at;     ///< its index
  Point sizes;  ///< of the domain
  unsigned c = 0, d = 0;
  int dims = 1;
  std::function<Cell&(const Point&)> out;
  std::function<Cell(const Point&)> in;
};
void runItem(Work work, const Item& item);

template <int N>
using InPlace = void (*)(hpl::Array<int, N>, hpl::Int, hpl::Int);
template <int N>
using Mapping = void (*)(hpl::Array<int, N>, const hpl::Array<int, N>&, hpl::Int, hpl::Int);

template <int N>
InPlace<N> inPlaceKernel(Work work);
template <int N>
Mapping<N> mappingKernel(Work work);

}  // namespace programs
