typedef float16 hpl_float16 __attribute__((aligned(4)));
#if defined(__has_attribute)
#if __has_attribute(min_vector_width)
#define hpl_wide __attribute__((min_vector_width(512)))
#endif
#endif
#ifndef hpl_wide
#define hpl_wide
#endif

int hpl_load_acquire(volatile __global int* const cell) {
  return atomic_load_explicit((volatile __global atomic_int*)cell, memory_order_acquire, memory_scope_device);
}

int hpl_load_relaxed(volatile __global int* const cell) {
  return atomic_load_explicit((volatile __global atomic_int*)cell, memory_order_relaxed, memory_scope_device);
}

void hpl_store_relaxed(volatile __global int* const cell, const int value) {
  atomic_store_explicit((volatile __global atomic_int*)cell, value, memory_order_relaxed, memory_scope_device);
}

void hpl_store_release(volatile __global int* const cell, const int value) {
  atomic_store_explicit((volatile __global atomic_int*)cell, value, memory_order_release, memory_scope_device);
}

hpl_wide __kernel void jacobi(__global const float* a1, const ulong a1_offset, const ulong a1_s0,
    __global float* a2, const ulong a2_offset, const ulong a2_s0, __global float* a3,
    const ulong a3_offset, const ulong a3_s0, const ulong a3_s1, __global int* a4,
    const ulong a4_offset, const int s1, const int s2, const int s3, const int s4,
    const ulong size_y, const ulong first_y, const ulong count_y, const ulong size_x,
    const ulong first_x, const ulong count_x) {  // p.cpp:6
  __local float box_a1[4704];
  a1 += a1_offset;
  a2 += a2_offset;
  a3 += a3_offset;
  a4 += a4_offset;
  const ulong gidx = get_group_id(0);
  const ulong gidy = get_group_id(1);
  long whole_y = (long)size_y;
  long tile_y = (long)first_y + (long)gidy * 32;
  long tile_end_y = tile_y + 32 < (long)first_y + (long)count_y ? tile_y + 32 :
      (long)first_y + (long)count_y;
  long box_y = tile_y - 4 > 0 ? tile_y - 4 : 0L;
  long box_end_y = tile_end_y + 4 < whole_y ? tile_end_y + 4 : whole_y;
  ulong origin_y = (ulong)(tile_y - 4);
  long whole_x = (long)size_x;
  long tile_x = (long)first_x + (long)gidx * 64;
  long tile_end_x = tile_x + 64 < (long)first_x + (long)count_x ? tile_x + 64 :
      (long)first_x + (long)count_x;
  long box_x = tile_x - 16 + ((tile_x - 4 - (tile_x - 16)) & -16L) > 0 ?
      tile_x - 16 + ((tile_x - 4 - (tile_x - 16)) & -16L) : 0L;
  long box_end_x = tile_x - 16 + ((tile_end_x + 4 - (tile_x - 16) + 15) & -16L) < whole_x ?
      tile_x - 16 + ((tile_end_x + 4 - (tile_x - 16) + 15) & -16L) : whole_x;
  ulong origin_x = (ulong)(tile_x - 16);
  long now_a1 = 30L;
  int failed = 0;
  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  for (long y = box_y; y < box_end_y; y++) {
    long x = box_x;
    #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
    for (; x + 16 <= box_end_x; x += 16L) {
      *(__local hpl_float16*)(box_a1 + (ulong)now_a1 * 16 + ((ulong)y - origin_y) * 96 - origin_x +
          (ulong)x) = *(__global const hpl_float16*)(a1 + y * a1_s0 + x);
    }
    #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
    for (; x + 1 <= box_end_x; x++) {
      box_a1[(ulong)now_a1 * 16 + ((ulong)y - origin_y) * 96 - origin_x + (ulong)x] =
          a1[y * a1_s0 + x];
    }
  }
  long todo = (long)s4;
  int round_ = s2;
  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  while (0 < todo) {
    long now = todo < 4 ? todo : 4L;
    #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
    for (long remaining = now - 1; remaining >= 0; remaining--) {
      long from_y = tile_y - remaining > 0 ? tile_y - remaining : 0L;
      long to_y = tile_end_y + remaining < whole_y ? tile_end_y + remaining : whole_y;
      long from_x = tile_x - remaining > 0 ? tile_x - remaining : 0L;
      long to_x = tile_end_x + remaining < whole_x ? tile_end_x + remaining : whole_x;
      if (from_y < to_y && from_x < to_x) {
        #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
        for (long y_1 = from_y - 1 > 0 ? from_y - 1 : 0L;
            y_1 < (to_y + 1 < whole_y ? to_y + 1 : whole_y); y_1++) {
          #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
          for (long x_1 = from_x - 1; x_1 < (to_x + 1 < 0 ? to_x + 1 : 0L); x_1++) {
            float v4 = 1.0f;
            box_a1[(ulong)now_a1 * 16 + ((ulong)y_1 - origin_y) * 96 - origin_x + (ulong)x_1] = v4;
          }
        }
        #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
        for (long y_2 = from_y - 1 > 0 ? from_y - 1 : 0L;
            y_2 < (to_y + 1 < whole_y ? to_y + 1 : whole_y); y_2++) {
          #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
          for (long x_2 = from_x - 1 > whole_x ? from_x - 1 : whole_x; x_2 < to_x + 1; x_2++) {
            float v5 = 1.0f;
            box_a1[(ulong)now_a1 * 16 + ((ulong)y_2 - origin_y) * 96 - origin_x + (ulong)x_2] = v5;
          }
        }
        #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
        for (long y_3 = from_y - 1; y_3 < (to_y + 1 < 0 ? to_y + 1 : 0L); y_3++) {
          #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
          for (long x_3 = from_x - 1; x_3 < to_x + 1; x_3++) {
            float v2 = 1.0f;
            box_a1[(ulong)now_a1 * 16 + ((ulong)y_3 - origin_y) * 96 - origin_x + (ulong)x_3] = v2;
          }
        }
        #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
        for (long y_4 = from_y - 1 > whole_y ? from_y - 1 : whole_y; y_4 < to_y + 1; y_4++) {
          #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
          for (long x_4 = from_x - 1; x_4 < to_x + 1; x_4++) {
            float v3 = 1.0f;
            box_a1[(ulong)now_a1 * 16 + ((ulong)y_4 - origin_y) * 96 - origin_x + (ulong)x_4] = v3;
          }
        }
        #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
        for (long next_8 = from_y; next_8 < to_y; next_8 += from_x + 16 <= to_x &&
            next_8 + 4 <= to_y ? 4L : 1L) {
          int tall = from_x + 16 <= to_x && next_8 + 4 <= to_y;
          long y_5 = now_a1 != 0 ? next_8 : from_y + to_y - next_8 - (tall ? 4L : 1L);
          long x_5 = from_x;
          ulong row_a1_4 = (ulong)now_a1 * 16 + ((ulong)y_5 - origin_y) * 96 - origin_x;
          ulong new_a1_4 = (ulong)(30 - now_a1) * 16 + ((ulong)y_5 - origin_y) * 96 - origin_x;
          if (tall) {
            ulong end = (ulong)to_x - origin_x;
            #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
            for (; x_5 < to_x; x_5 = x_5 + 16 < to_x ?
                (x_5 + 16 - (long)(((ulong)x_5 - origin_x) & 15) < to_x - 16 ?
                x_5 + 16 - (long)(((ulong)x_5 - origin_x) & 15) : to_x - 16) : to_x) {
              ulong at_2 = (ulong)x_5 - origin_x;
              if (at_2 % 16 == 0 && at_2 + 31 <= end) {
                float16 here_9 = *(__local hpl_float16*)(box_a1 + row_a1_4 + origin_x + at_2);
                float16 first_8 = *(__local hpl_float16*)(box_a1 + row_a1_4 + origin_x +
                    (at_2 - 1));
                float16 before_8 = (float16)(first_8.s1, first_8.s2, first_8.s3, first_8.s4,
                    first_8.s5, first_8.s6, first_8.s7, first_8.s8, first_8.s9, first_8.sa,
                    first_8.sb, first_8.sc, first_8.sd, first_8.se, first_8.sf, first_8.s0);
                float16 here_8 = *(__local hpl_float16*)(box_a1 + row_a1_4 + origin_x + 96 + at_2);
                float16 first_9 = *(__local hpl_float16*)(box_a1 + row_a1_4 + origin_x + 96 +
                    (at_2 - 1));
                float16 before_9 = (float16)(first_9.s1, first_9.s2, first_9.s3, first_9.s4,
                    first_9.s5, first_9.s6, first_9.s7, first_9.s8, first_9.s9, first_9.sa,
                    first_9.sb, first_9.sc, first_9.sd, first_9.se, first_9.sf, first_9.s0);
                float16 here_10 = *(__local hpl_float16*)(box_a1 + row_a1_4 + origin_x + 192 +
                    at_2);
                float16 first_10 = *(__local hpl_float16*)(box_a1 + row_a1_4 + origin_x + 192 +
                    (at_2 - 1));
                float16 before_10 = (float16)(first_10.s1, first_10.s2, first_10.s3, first_10.s4,
                    first_10.s5, first_10.s6, first_10.s7, first_10.s8, first_10.s9, first_10.sa,
                    first_10.sb, first_10.sc, first_10.sd, first_10.se, first_10.sf, first_10.s0);
                float16 here_11 = *(__local hpl_float16*)(box_a1 + row_a1_4 + origin_x + 288 +
                    at_2);
                float16 first_11 = *(__local hpl_float16*)(box_a1 + row_a1_4 + origin_x + 288 +
                    (at_2 - 1));
                float16 before_11 = (float16)(first_11.s1, first_11.s2, first_11.s3, first_11.s4,
                    first_11.s5, first_11.s6, first_11.s7, first_11.s8, first_11.s9, first_11.sa,
                    first_11.sb, first_11.sc, first_11.sd, first_11.se, first_11.sf, first_11.s0);
                #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
                for (; at_2 + 31 <= end; at_2 += 16UL) {
                  float16 next_10 = *(__local hpl_float16*)(box_a1 + row_a1_4 + origin_x +
                      (at_2 + 16));
                  float16 next_9 = *(__local hpl_float16*)(box_a1 + row_a1_4 + origin_x + 96 +
                      (at_2 + 16));
                  float16 next_11 = *(__local hpl_float16*)(box_a1 + row_a1_4 + origin_x + 192 +
                      (at_2 + 16));
                  float16 next_12 = *(__local hpl_float16*)(box_a1 + row_a1_4 + origin_x + 288 +
                      (at_2 + 16));
                  float16 v1_10;
                  float16 v1_11;
                  float16 v1_12;
                  float16 v1_13;
                  float16 a1_at_36 = *(__local hpl_float16*)(box_a1 + row_a1_4 + origin_x - 96 +
                      at_2);
                  float16 a1_at_37 = here_8;
                  float16 a1_at_38 = (float16)(before_8.sf, here_9.s0, here_9.s1, here_9.s2,
                      here_9.s3, here_9.s4, here_9.s5, here_9.s6, here_9.s7, here_9.s8, here_9.s9,
                      here_9.sa, here_9.sb, here_9.sc, here_9.sd, here_9.se);
                  float16 a1_at_39 = (float16)(here_9.s1, here_9.s2, here_9.s3, here_9.s4,
                      here_9.s5, here_9.s6, here_9.s7, here_9.s8, here_9.s9, here_9.sa, here_9.sb,
                      here_9.sc, here_9.sd, here_9.se, here_9.sf, next_10.s0);
                  v1_10 = (float16)(0.25f) * (a1_at_36 + a1_at_37 + a1_at_38 + a1_at_39);
                  float16 result_10 = v1_10;
                  float16 a1_at_40 = here_9;
                  float16 a1_at_41 = here_10;
                  float16 a1_at_42 = (float16)(before_9.sf, here_8.s0, here_8.s1, here_8.s2,
                      here_8.s3, here_8.s4, here_8.s5, here_8.s6, here_8.s7, here_8.s8, here_8.s9,
                      here_8.sa, here_8.sb, here_8.sc, here_8.sd, here_8.se);
                  float16 a1_at_43 = (float16)(here_8.s1, here_8.s2, here_8.s3, here_8.s4,
                      here_8.s5, here_8.s6, here_8.s7, here_8.s8, here_8.s9, here_8.sa, here_8.sb,
                      here_8.sc, here_8.sd, here_8.se, here_8.sf, next_9.s0);
                  v1_11 = (float16)(0.25f) * (a1_at_40 + a1_at_41 + a1_at_42 + a1_at_43);
                  float16 result_11 = v1_11;
                  float16 a1_at_44 = here_11;
                  float16 a1_at_45 = (float16)(before_10.sf, here_10.s0, here_10.s1, here_10.s2,
                      here_10.s3, here_10.s4, here_10.s5, here_10.s6, here_10.s7, here_10.s8,
                      here_10.s9, here_10.sa, here_10.sb, here_10.sc, here_10.sd, here_10.se);
                  float16 a1_at_46 = (float16)(here_10.s1, here_10.s2, here_10.s3, here_10.s4,
                      here_10.s5, here_10.s6, here_10.s7, here_10.s8, here_10.s9, here_10.sa,
                      here_10.sb, here_10.sc, here_10.sd, here_10.se, here_10.sf, next_11.s0);
                  v1_12 = (float16)(0.25f) * (a1_at_37 + a1_at_44 + a1_at_45 + a1_at_46);
                  float16 result_12 = v1_12;
                  float16 a1_at_47 = *(__local hpl_float16*)(box_a1 + row_a1_4 + origin_x + 384 +
                      at_2);
                  float16 a1_at_48 = (float16)(before_11.sf, here_11.s0, here_11.s1, here_11.s2,
                      here_11.s3, here_11.s4, here_11.s5, here_11.s6, here_11.s7, here_11.s8,
                      here_11.s9, here_11.sa, here_11.sb, here_11.sc, here_11.sd, here_11.se);
                  float16 a1_at_49 = (float16)(here_11.s1, here_11.s2, here_11.s3, here_11.s4,
                      here_11.s5, here_11.s6, here_11.s7, here_11.s8, here_11.s9, here_11.sa,
                      here_11.sb, here_11.sc, here_11.sd, here_11.se, here_11.sf, next_12.s0);
                  v1_13 = (float16)(0.25f) * (a1_at_41 + a1_at_47 + a1_at_48 + a1_at_49);
                  float16 result_13 = v1_13;
                  *(__local hpl_float16*)(box_a1 + new_a1_4 + origin_x + at_2) = result_10;
                  *(__local hpl_float16*)(box_a1 + new_a1_4 + origin_x + 96 + at_2) = result_11;
                  *(__local hpl_float16*)(box_a1 + new_a1_4 + origin_x + 192 + at_2) = result_12;
                  *(__local hpl_float16*)(box_a1 + new_a1_4 + origin_x + 288 + at_2) = result_13;
                  before_8 = here_9;
                  here_9 = next_10;
                  before_9 = here_8;
                  here_8 = next_9;
                  before_10 = here_10;
                  here_10 = next_11;
                  before_11 = here_11;
                  here_11 = next_12;
                }
                at_2 -= 16UL;
              } else {
                float16 v1_14;
                float16 v1_15;
                float16 v1_16;
                float16 v1_17;
                float16 a1_at_50 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5 - 96);
                float16 a1_at_51 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5 + 96);
                float16 a1_at_52 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5 - 1);
                float16 a1_at_53 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5 + 1);
                v1_14 = (float16)(0.25f) * (a1_at_50 + a1_at_51 + a1_at_52 + a1_at_53);
                float16 result_14 = v1_14;
                float16 a1_at_54 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5);
                float16 a1_at_55 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5 + 192);
                float16 a1_at_56 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5 + 95);
                float16 a1_at_57 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5 + 97);
                v1_15 = (float16)(0.25f) * (a1_at_54 + a1_at_55 + a1_at_56 + a1_at_57);
                float16 result_15 = v1_15;
                float16 a1_at_58 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5 + 288);
                float16 a1_at_59 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5 + 191);
                float16 a1_at_60 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5 + 193);
                v1_16 = (float16)(0.25f) * (a1_at_51 + a1_at_58 + a1_at_59 + a1_at_60);
                float16 result_16 = v1_16;
                float16 a1_at_61 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5 + 384);
                float16 a1_at_62 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5 + 287);
                float16 a1_at_63 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5 + 289);
                v1_17 = (float16)(0.25f) * (a1_at_55 + a1_at_61 + a1_at_62 + a1_at_63);
                float16 result_17 = v1_17;
                *(__local hpl_float16*)(box_a1 + new_a1_4 + (ulong)x_5) = result_14;
                *(__local hpl_float16*)(box_a1 + new_a1_4 + (ulong)x_5 + 96) = result_15;
                *(__local hpl_float16*)(box_a1 + new_a1_4 + (ulong)x_5 + 192) = result_16;
                *(__local hpl_float16*)(box_a1 + new_a1_4 + (ulong)x_5 + 288) = result_17;
              }
              x_5 = (long)(at_2 + origin_x);
            }
          } else {
            if (from_x + 16 <= to_x) {
              #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
              for (; x_5 < to_x; x_5 = x_5 + 16 < to_x ?
                  (x_5 + 16 - (long)(((ulong)x_5 - origin_x) & 15) < to_x - 16 ?
                  x_5 + 16 - (long)(((ulong)x_5 - origin_x) & 15) : to_x - 16) : to_x) {
                float16 v1_18;
                float16 a1_at_64 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5 - 96);
                float16 a1_at_65 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5 + 96);
                float16 a1_at_66 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5 - 1);
                float16 a1_at_67 = *(__local hpl_float16*)(box_a1 + row_a1_4 + (ulong)x_5 + 1);
                v1_18 = (float16)(0.25f) * (a1_at_64 + a1_at_65 + a1_at_66 + a1_at_67);
                float16 result_18 = v1_18;
                *(__local hpl_float16*)(box_a1 + new_a1_4 + (ulong)x_5) = result_18;
              }
            }
            #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
            for (; x_5 < to_x; x_5++) {
              float v1_19 = 0.25f * (box_a1[row_a1_4 + (ulong)x_5 - 96] +
                  box_a1[row_a1_4 + (ulong)x_5 + 96] + box_a1[row_a1_4 + (ulong)x_5 - 1] +
                  box_a1[row_a1_4 + (ulong)x_5 + 1]);
              box_a1[new_a1_4 + (ulong)x_5] = v1_19;
            }
          }
        }
        now_a1 = 30 - now_a1;
      }
    }
    todo -= now;
    round_++;
    if (0 < todo) {
      long v_half = (long)(round_ & 1);
      long low_y = 0 < tile_y ? (tile_y + 4 < tile_end_y ? tile_y + 4 : tile_end_y) : tile_y;
      long high_y = (tile_end_y < whole_y ? tile_end_y - 4 : tile_end_y) > low_y ?
          (tile_end_y < whole_y ? tile_end_y - 4 : tile_end_y) : low_y;
      #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
      for (long y_6 = tile_y; y_6 < low_y; y_6++) {
        long x_6 = tile_x;
        #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
        for (; x_6 + 16 <= tile_end_x; x_6 += 16L) {
          *(__global hpl_float16*)(a3 + v_half * a3_s0 + y_6 * a3_s1 + x_6) =
              *(__local hpl_float16*)(box_a1 + (ulong)now_a1 * 16 + ((ulong)y_6 - origin_y) * 96 -
              origin_x + (ulong)x_6);
        }
        #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
        for (; x_6 + 1 <= tile_end_x; x_6++) {
          a3[v_half * a3_s0 + y_6 * a3_s1 + x_6] =
              box_a1[(ulong)now_a1 * 16 + ((ulong)y_6 - origin_y) * 96 - origin_x + (ulong)x_6];
        }
      }
      #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
      for (long y_7 = high_y; y_7 < tile_end_y; y_7++) {
        long x_7 = tile_x;
        #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
        for (; x_7 + 16 <= tile_end_x; x_7 += 16L) {
          *(__global hpl_float16*)(a3 + v_half * a3_s0 + y_7 * a3_s1 + x_7) =
              *(__local hpl_float16*)(box_a1 + (ulong)now_a1 * 16 + ((ulong)y_7 - origin_y) * 96 -
              origin_x + (ulong)x_7);
        }
        #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
        for (; x_7 + 1 <= tile_end_x; x_7++) {
          a3[v_half * a3_s0 + y_7 * a3_s1 + x_7] =
              box_a1[(ulong)now_a1 * 16 + ((ulong)y_7 - origin_y) * 96 - origin_x + (ulong)x_7];
        }
      }
      hpl_store_release(&a4[(ulong)((0L * 2L + ((long)s3 + (long)gidy)) * 1 + (long)gidx + 1) *
          32], round_);
      #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
      for (long near_y = (long)s3 + (long)gidy - 1; near_y <= (long)s3 + (long)gidy + 1; near_y++) {
        if (near_y >= 0 && near_y < 2) {
          long other = (0L * 2L + near_y) * 1 + (long)gidx + 1;
          if (other != (0L * 2L + ((long)s3 + (long)gidy)) * 1 + (long)gidx + 1 && failed == 0) {
            int seen;
            int looks = 0;
            #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
            for (;;) {
              seen = hpl_load_acquire(&a4[(ulong)other * 32]);
              if (!(seen < round_)) break;
              if (looks >= s1) {
                hpl_store_relaxed(&a4[0UL * 32UL], s2);
                failed = 1;
                break;
              }
              if ((looks & 63) == 63) {
                int others = hpl_load_relaxed(&a4[0UL * 32UL]);
                if (others == s2) {
                  failed = 1;
                  break;
                }
              }
              looks++;
            }
          }
        }
      }
      if (failed != 0) {
        return;
      }
      long rim_y = tile_y - 4 > 0 ? tile_y - 4 : 0L;
      long rim_end_y = tile_end_y + 4 < whole_y ? tile_end_y + 4 : whole_y;
      #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
      for (long y_8 = rim_y; y_8 < tile_y; y_8++) {
        long x_8 = tile_x;
        #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
        for (; x_8 + 16 <= tile_end_x; x_8 += 16L) {
          *(__local hpl_float16*)(box_a1 + (ulong)now_a1 * 16 + ((ulong)y_8 - origin_y) * 96 -
              origin_x + (ulong)x_8) = *(__global hpl_float16*)(a3 + v_half * a3_s0 + y_8 * a3_s1 +
              x_8);
        }
        #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
        for (; x_8 + 1 <= tile_end_x; x_8++) {
          box_a1[(ulong)now_a1 * 16 + ((ulong)y_8 - origin_y) * 96 - origin_x + (ulong)x_8] =
              a3[v_half * a3_s0 + y_8 * a3_s1 + x_8];
        }
      }
      #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
      for (long y_9 = tile_end_y; y_9 < rim_end_y; y_9++) {
        long x_9 = tile_x;
        #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
        for (; x_9 + 16 <= tile_end_x; x_9 += 16L) {
          *(__local hpl_float16*)(box_a1 + (ulong)now_a1 * 16 + ((ulong)y_9 - origin_y) * 96 -
              origin_x + (ulong)x_9) = *(__global hpl_float16*)(a3 + v_half * a3_s0 + y_9 * a3_s1 +
              x_9);
        }
        #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
        for (; x_9 + 1 <= tile_end_x; x_9++) {
          box_a1[(ulong)now_a1 * 16 + ((ulong)y_9 - origin_y) * 96 - origin_x + (ulong)x_9] =
              a3[v_half * a3_s0 + y_9 * a3_s1 + x_9];
        }
      }
    }
  }
  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  for (long y_10 = tile_y; y_10 < tile_end_y; y_10++) {
    long x_10 = tile_x;
    #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
    for (; x_10 + 16 <= tile_end_x; x_10 += 16L) {
      *(__global hpl_float16*)(a2 + y_10 * a2_s0 + x_10) =
          *(__local hpl_float16*)(box_a1 + (ulong)now_a1 * 16 + ((ulong)y_10 - origin_y) * 96 -
          origin_x + (ulong)x_10);
    }
    #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
    for (; x_10 + 1 <= tile_end_x; x_10++) {
      a2[y_10 * a2_s0 + x_10] = box_a1[(ulong)now_a1 * 16 + ((ulong)y_10 - origin_y) * 96 -
          origin_x + (ulong)x_10];
    }
  }
}
