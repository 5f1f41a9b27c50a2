// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Contenders by hand, compiled for the very machine: C++ with OpenMP as a g++ user writes it.
namespace perf::peers::twins {

/// A step of the wave equation in an array of side x side, with a source at (sx, sy).
void waveStep(float* next, const float* now, int side, int sx, int sy);
/// The same of the heat equation, into another array.
void heatStep(float* next, const float* now, int side, int sx, int sy);

/// A step of the acoustic wave equation of 8th or 16th order in space (the weights of reach 4 or 8,
/// from the cell itself outwards), in place: `next` has the state before `now`. Blocks of 16 rows
/// in 16 planes.
void acousticStep(float* next, const float* now, const float* speed, int side, int reach,
                  const float* weights);

/// The game of life, a mask of weights 1 2 1 and Sobel's on pictures of bytes of side x side.
void life(std::uint8_t* out, const std::uint8_t* in, int side);
void smooth(std::uint8_t* out, const std::uint8_t* in, int side);
void edges(std::uint8_t* out, const std::uint8_t* in, int side);

/// The game of life on a torus of side x side; columns at the edges by themselves.
void torus(int* out, const int* in, int side);

/// How many steps the points of the Mandelbrot set's square from (-2, -1.25) on take to leave, at
/// most `most`: 16 neighbours in a masked vector, as ISPC compiles such loops. Without AVX-512 one
/// by one.
void mandelbrot(std::int32_t* steps, int side, int most);

/// The product of a sparse matrix, row i of which has the elements begin[i]..begin[i + 1], with x:
/// 16 rows in a masked vector that gathers their elements; without AVX-512 one by one.
void sparseProduct(float* y, const float* values, const std::int32_t* columns,
                   const std::int32_t* begin, const float* x, int rows);

/// A grid of side x side values of a multigrid solver: unknowns, right side, residual.
struct MultigridLevel {
  double* u;
  double* f;
  double* r;
  int side;
  double square;  ///< of the distance between neighbours
};
/// Relaxes both colours of a chessboard, `times` times.
void relax(const MultigridLevel& grid, int times);
void residual(const MultigridLevel& grid);
void restrictTo(const MultigridLevel& coarse, const MultigridLevel& fine);
void correct(const MultigridLevel& fine, const MultigridLevel& coarse);

/// c = a b, matrices of side x side: rows of b, so that vectors run along them.
void product(float* c, const float* a, const float* b, int side);

/// The transposed matrix, in blocks of 16 x 16.
void transpose(float* out, const float* in, int side);

/// A mask of 11 x 11 weights, each the product of two of `weights`; and the same as a pass along
/// rows and one along columns, which follow each other row by row.
void mask(float* out, const float* in, int side, const float* weights);
void twoPasses(float* out, const float* in, int side, const float* weights);

/// `cells` is a multiple of 2^20.
void setBytes(float* x, int byte, std::int64_t cells);
void fill(float* x, float value, std::int64_t cells);
float sum(const float* x, std::int64_t cells);
/// a = b + factor * c; `pastCaches`: by stores that leave the caches alone, where there are some.
void triad(float* a, const float* b, const float* c, float factor, std::int64_t cells,
           bool pastCaches);
/// How often each byte occurs; four private copies for each thread.
void histogram(std::uint32_t* counts, const std::uint8_t* bytes, std::int64_t cells);

/// Does `iterations` iterations for A x = b from x = 0, where A is the five-point operator on side
/// x side.
void conjugateGradients(double* x, const double* b, int side, int iterations);
/// The mean of the four neighbours, 0 beyond the edges; one more at (source, source).
void heatWithSource(float* next, const float* now, int side, int source);

/// Generations of the game of life, 64 cells a word, dead beyond the edges. The result is in
/// `cells`; the number of generations is a multiple of 16.
void lifeInWords(std::uint64_t* cells, std::uint64_t* other, int rows, int words, int generations);
/// Steps of Yee's scheme in a box with conducting walls.
void electromagneticWave(float* ex, float* ey, float* hz, const float* glass, int side, int steps);

}  // namespace perf::peers::twins
