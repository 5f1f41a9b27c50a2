// SPDX-License-Identifier: Apache-2.0
// The smallest program that compiles, captures, launches and reads back: a kernel and a stencil.
#include <cstdio>

#include "hpl/hpl.h"
#ifdef WITH_IO
#include "hpl/io.h"
#endif
#include "stencil_templates/stencil_templates.h"

using namespace hpl;

void saxpy(Array<float, 1> y, Array<float, 1> x, Float a) { y[idx] = a * x[idx] + y[idx]; }

int main() {
  constexpr int n = 1000;
  Array<float, 1> x(n), y(n);
  for (int i = 0; i < n; ++i) {
    x(i) = static_cast<float>(i);
    y(i) = 1.0f;
  }
  eval(saxpy)(y, x, 2.0f);
  for (int i = 0; i < n; ++i) {
    if (y(i) != 2.0f * static_cast<float>(i) + 1.0f) {
      std::printf("y(%d) is %g\n", i, static_cast<double>(y(i)));
      return 1;
    }
  }
  Stencil difference([](Neighbourhood<float, 1> cell) { return cell(1) - cell(0); });
  difference.boundary(Nearest());
  difference(y, x);
  if (x(10) != 2.0f || x(n - 1) != 0.0f) {
    std::puts("the stencil is wrong");
    return 1;
  }
#ifdef WITH_IO
  io::writeNpy("x.npy", x);
  Array<float, 1> again = io::readNpy<float, 1>("x.npy");
  Array<float, 2> picture(8, 8);
  picture = 0.5f;
  io::writePng("picture.png", picture, io::viridis());
  io::Animation film("film.gif");
  film.add(picture);
  film.close();
  if (io::Hdf5File::isAvailable()) io::Hdf5File("x.h5", io::Hdf5File::Create).write("x", x);
  if (again(10) != x(10) || io::PngFile("picture.png").width() != 8) {
    std::puts("files are wrong");
    return 1;
  }
#endif
  std::puts("saxpy and a stencil through the installed package: correct");
  return 0;
}
