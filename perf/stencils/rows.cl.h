// SPDX-License-Identifier: Apache-2.0
// What the kernels for CPU devices share. Every work-item is a work-group of its own and owns a
// band of rows. It goes along them with vectors of the elements' alignment: aligned ones in the
// middle of a row, so that stores touch one line of the cache each, and one overlapping vector at
// either end. The neighbours to the left and right come out of registers (LEFT, RIGHT) instead of
// loads, which would cross lines. Needs rows of at least 2 * V elements.
R"CLC(
#define V 16
typedef uchar16 UC;
typedef short16 SH;
typedef int16 IN;
typedef float16 FL;
typedef UC UCU __attribute__((aligned(1)));
typedef SH SHU __attribute__((aligned(2)));
typedef IN INU __attribute__((aligned(4)));
typedef FL FLU __attribute__((aligned(4)));
#define LDUC(p) (*(const __global UCU*)(p))
#define LDSH(p) (*(const __global SHU*)(p))
#define LDIN(p) (*(const __global INU*)(p))
#define LDFL(p) (*(const __global FLU*)(p))
#define STUC(p, v) (*(__global UCU*)(p) = (v))
#define STSH(p, v) (*(__global SHU*)(p) = (v))
#define STIN(p, v) (*(__global INU*)(p) = (v))
#define STFL(p, v) (*(__global FLU*)(p) = (v))
/* The vector one element to the left or to the right, from two adjacent ones. */
#define LEFT(T, a, b)                                                                         \
  (T)((a).sf, (b).s0, (b).s1, (b).s2, (b).s3, (b).s4, (b).s5, (b).s6, (b).s7, (b).s8, (b).s9, \
      (b).sa, (b).sb, (b).sc, (b).sd, (b).se)
#define RIGHT(T, a, b)                                                                        \
  (T)((a).s1, (a).s2, (a).s3, (a).s4, (a).s5, (a).s6, (a).s7, (a).s8, (a).s9, (a).sa, (a).sb, \
      (a).sc, (a).sd, (a).se, (a).sf, (b).s0)
/* Without the attribute a function that is not inlined has vectors of 256 bits: half the speed. */
#define VECTORS __attribute__((min_vector_width(512)))
#define WIDE VECTORS __kernel
)CLC"
