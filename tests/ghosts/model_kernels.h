// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "model.h"
#include "support.h"

/// The kernels of the random programs, for devices and for the model. Parameters are arguments, so
/// few kernels are built. Sizes are those of the input, as the kernel sees it.
namespace ghosts_model {

enum class Work {
  Set,    ///< a[i] = c + position in the part
  Scale,  ///< a[i] = 3 a[i] + c
  Near,   ///< a stencil of radius 1, corners included, guarded by the size of the domain
  Far,    ///< a stencil that reaches two cells to one side and one to the other
  Look    ///< out[i] = in[i + shift] + c: nobody can tell how far it reads
};

struct Call {
  Work work = Work::Set;
  int c = 0;
  int dy = 0, dx = 0;

  bool hasInput() const { return work >= Work::Near; }
  /// How far it reads in the dimensions that are split.
  Reach reach(bool alongY, bool alongX, bool isVector) const;
  /// (dy, dx) of what Far reads, one by one; none for the others.
  std::vector<std::pair<int, int>> sites(bool isVector) const;
  /// The cells that it leaves unwritten. Unknown for Set, whose values tell where a part begins,
  /// and Look, which compares with arguments.
  Reach rim(bool isVector) const;
};

/// An array argument: which cells the buffer holds, and where its kernel's index 0 is.
struct Frame {
  Rect cells;
  int y = 0, x = 0;
};

/// Applies the kernel to the buffers of output and input when it runs over `indices`. `height`,
/// `width`: of the input.
void runOnHost(const Call& call, const Rect& indices, int height, int width,
               const std::vector<Frame>& frames, std::vector<std::vector<int>>& buffers,
               bool isVector);

void setOf(ghosts_tests::Numbers a, hpl::Int c);
void setOf(ghosts_tests::Grid a, hpl::Int c);
void scaleOf(ghosts_tests::Numbers a, hpl::Int c);
void scaleOf(ghosts_tests::Grid a, hpl::Int c);
void nearOf(ghosts_tests::Numbers out, ghosts_tests::Numbers in, hpl::Int c);
void nearOf(ghosts_tests::Grid out, ghosts_tests::Grid in, hpl::Int c);
void farOf(ghosts_tests::Numbers out, ghosts_tests::Numbers in, hpl::Int width, hpl::Int c);
void farOf(ghosts_tests::Grid out, ghosts_tests::Grid in, hpl::Int height, hpl::Int width,
           hpl::Int c);
void lookOf(ghosts_tests::Numbers out, ghosts_tests::Numbers in, hpl::Int width, hpl::Int c,
            hpl::Int dx);
void lookOf(ghosts_tests::Grid out, ghosts_tests::Grid in, hpl::Int height, hpl::Int width,
            hpl::Int c, hpl::Int dy, hpl::Int dx);

/// Launches a vector's kernel. Arguments may be arrays, annotated arrays or one view per device;
/// scalars may be one per device.
template <class Prepare, class Out, class In, class Size, class C>
hpl::FRunner start(const Call& call, Prepare prepare, const Out& out, const In& in,
                   const Size& width, const C& c) {
  using ghosts_tests::Numbers;
  using hpl::Int;
  using InPlace = void (*)(Numbers, Int);
  using Plain = void (*)(Numbers, Numbers, Int);
  using Stencil = void (*)(Numbers, Numbers, Int, Int);
  using Shift = void (*)(Numbers, Numbers, Int, Int, Int);
  switch (call.work) {
    case Work::Set:
      return prepare(hpl::eval(InPlace{setOf}))(out, c);
    case Work::Scale:
      return prepare(hpl::eval(InPlace{scaleOf}))(out, c);
    case Work::Near:
      return prepare(hpl::eval(Plain{nearOf}))(out, in, c);
    case Work::Far:
      return prepare(hpl::eval(Stencil{farOf}))(out, in, width, c);
    default:
      return prepare(hpl::eval(Shift{lookOf}))(out, in, width, c, call.dx);
  }
}

/// Launches a matrix's kernel.
template <class Prepare, class Out, class In, class Size, class C>
hpl::FRunner start(const Call& call, Prepare prepare, const Out& out, const In& in,
                   const Size& height, const Size& width, const C& c) {
  using ghosts_tests::Grid;
  using hpl::Int;
  using InPlace = void (*)(Grid, Int);
  using Plain = void (*)(Grid, Grid, Int);
  using Stencil = void (*)(Grid, Grid, Int, Int, Int);
  using Shift = void (*)(Grid, Grid, Int, Int, Int, Int, Int);
  switch (call.work) {
    case Work::Set:
      return prepare(hpl::eval(InPlace{setOf}))(out, c);
    case Work::Scale:
      return prepare(hpl::eval(InPlace{scaleOf}))(out, c);
    case Work::Near:
      return prepare(hpl::eval(Plain{nearOf}))(out, in, c);
    case Work::Far:
      return prepare(hpl::eval(Stencil{farOf}))(out, in, height, width, c);
    default:
      return prepare(hpl::eval(Shift{lookOf}))(out, in, height, width, c, call.dy, call.dx);
  }
}

}  // namespace ghosts_model
