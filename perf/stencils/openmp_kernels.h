// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

/// Plain C++ with OpenMP, in a library of its own that is compiled with -O3 -march=native: one
/// iteration each, rows shared by the threads, the inner loop left to the compiler's vectoriser.
/// Borders as in workload.h's other contenders.
namespace perf::stencils::openmp {

void life(int* next, const int* now, int w, int h);
void jacobi5(float* out, const float* in, int w, int h);
void jacobi9(float* out, const float* in, int w, int h);
/// mask: 121 weights.
void gauss(float* out, const float* in, const float* mask, int w, int h);
void jacobi7(float* out, const float* in, int w, int h, int d);
void jacobi27(float* out, const float* in, int w, int h, int d);

void smooth(short* out, const unsigned char* in, int w, int h);
void gradient(int* strength, unsigned char* direction, const short* s, int w, int h);
void thin(int* ridges, const int* strength, const unsigned char* direction, int w, int h);
void classify(unsigned char* labels, const int* ridges, int w, int h, int low, int high);

/// Returns the speed of the fastest wave. change, water: four numbers per cell.
float flows(float* change, const float* water, const float* ground, int w, int h);
void update(float* water, const float* change, float factor, int w, int h);

}  // namespace perf::stencils::openmp
