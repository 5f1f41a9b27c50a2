// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The kernels of the contenders: a Jacobi step on slices (rows of squares, planes of cubes), by
/// one work-item, whose innermost loop the compiler turns into vectors. NX, NY: cells along a
/// slice; SLICES: those of a device, which has a ghost slice on each side; COMPUTES: 0 leaves the
/// arithmetic out, so that the border slice alone is passed on.
namespace cpu_free {

inline constexpr const char* kSource = R"CLC(
#define SLICE (NX * NY)
#define LOOKS (1 << 28)

#if NY > 1
#define STEP(v, u, s)                                                                            \
  for (int y = 1; y < NY - 1; ++y)                                                               \
    for (int x = 1; x < NX - 1; ++x) {                                                           \
      const int i = (s) * SLICE + y * NX + x;                                                    \
      v[i] = (1.0f / 6) * (u[i - SLICE] + u[i + SLICE] + u[i - NX] + u[i + NX] + u[i - 1] + u[i + 1]); \
    }
#else
#define STEP(v, u, s)                                                                            \
  for (int x = 1; x < NX - 1; ++x) {                                                             \
    const int i = (s) * SLICE + x;                                                               \
    v[i] = 0.25f * (u[i - SLICE] + u[i + SLICE] + u[i - 1] + u[i + 1]);                          \
  }
#endif

#if COMPUTES
#define BORDER(v, u, s) STEP(v, u, s)
#define INNER(v, u, lo, hi)            \
  for (int s = (lo); s < (hi); ++s) {  \
    STEP(v, u, s)                      \
  }
#else
#define BORDER(v, u, s) \
  for (int x = 0; x < SLICE; ++x) v[(s) * SLICE + x] = u[(s) * SLICE + x];
#define INNER(v, u, lo, hi)
#endif

#define FIELD global float* restrict
#define PUT(to, at, from, s) \
  for (int x = 0; x < SLICE; ++x) to[(at) * SLICE + x] = from[(s) * SLICE + x];

// The border slice of the device: its last one, or its first one; 0: it has no neighbour.
kernel void whole(FIELD v, const FIELD u, int border) {
  if (border > 0) { BORDER(v, u, border) }
  INNER(v, u, border == 1 ? 2 : 1, border == SLICES ? SLICES : SLICES + 1)
}
kernel void border(FIELD v, const FIELD u, int border) { BORDER(v, u, border) }
kernel void inner(FIELD v, const FIELD u, int border) {
  INNER(v, u, border == 1 ? 2 : 1, border == SLICES ? SLICES : SLICES + 1)
}
// Writes the neighbour's ghost slice itself.
kernel void peer(FIELD v, const FIELD u, int border, FIELD other) {
  BORDER(v, u, border)
  PUT(other, border == 1 ? SLICES + 1 : 0, v, border)
  INNER(v, u, border == 1 ? 2 : 1, border == SLICES ? SLICES : SLICES + 1)
}

#define RAISE(flag, value) \
  atomic_store_explicit((volatile global atomic_int*)(flag), value, memory_order_release, memory_scope_device)
#define SEEN(flag) \
  atomic_load_explicit((volatile global atomic_int*)(flag), memory_order_acquire, memory_scope_device)

// flags[0] and flags[64]: how many steps' border slices the devices have put; flags[128]: a device has
// waited in vain.
#define WAIT(step)                                                        \
  for (int looks = 0; SEEN(&flags[border == 1 ? 0 : 64]) < (step); ++looks) \
    if (looks == LOOKS || SEEN(&flags[128]) != 0) {                       \
      RAISE(&flags[128], 1);                                              \
      return;                                                             \
    }
#define SIGNAL(step) RAISE(&flags[border == 1 ? 64 : 0], step)

// A launch per step, whose kernel waits for the neighbour's last step and signals its own.
kernel void signalled(FIELD v, const FIELD u, int border, FIELD other, global int* flags, int step) {
  WAIT(step)
  BORDER(v, u, border)
  PUT(other, border == 1 ? SLICES + 1 : 0, v, border)
  SIGNAL(step + 1);
  INNER(v, u, border == 1 ? 2 : 1, border == SLICES ? SLICES : SLICES + 1)
}

// All steps in one launch. Without a neighbour there is nothing to wait for.
kernel void all_steps(FIELD a, FIELD b, int border, FIELD other_a, FIELD other_b, global int* flags, int first,
                      int steps) {
  for (int step = 0; step < steps; ++step) {
    FIELD u = step % 2 == 0 ? a : b;
    FIELD v = step % 2 == 0 ? b : a;
    FIELD other = step % 2 == 0 ? other_b : other_a;
    if (border > 0) {
      WAIT(first + step)
      BORDER(v, u, border)
      PUT(other, border == 1 ? SLICES + 1 : 0, v, border)
      SIGNAL(first + step + 1);
    }
    INNER(v, u, border == 1 ? 2 : 1, border == SLICES ? SLICES : SLICES + 1)
  }
}

#if RESIDENT
// The same on slices that stay in local memory.
kernel void resident(FIELD a, FIELD b, int border, FIELD other_a, FIELD other_b, global int* flags, int first,
                     int steps) {
  local float one[(SLICES + 2) * SLICE];
  local float two[(SLICES + 2) * SLICE];
  for (int i = 0; i < (SLICES + 2) * SLICE; ++i) one[i] = two[i] = a[i];
  const int ghost = border == 1 ? 0 : SLICES + 1;
  for (int step = 0; step < steps; ++step) {
    local float* restrict u = step % 2 == 0 ? one : two;
    local float* restrict v = step % 2 == 0 ? two : one;
    if (border > 0) {
      WAIT(first + step)
      if (step > 0) {
        global float* mine = step % 2 == 0 ? a : b;
        for (int x = 0; x < SLICE; ++x) u[ghost * SLICE + x] = mine[ghost * SLICE + x];
      }
      BORDER(v, u, border)
      global float* other = step % 2 == 0 ? other_b : other_a;
      PUT(other, border == 1 ? SLICES + 1 : 0, v, border)
      SIGNAL(first + step + 1);
    }
    INNER(v, u, border == 1 ? 2 : 1, border == SLICES ? SLICES : SLICES + 1)
  }
  local float* last = steps % 2 == 0 ? one : two;
  global float* to = steps % 2 == 0 ? a : b;
  for (int s = 1; s <= SLICES; ++s)
    for (int x = 0; x < SLICE; ++x) to[s * SLICE + x] = last[s * SLICE + x];
}
#endif
)CLC";

}  // namespace cpu_free
