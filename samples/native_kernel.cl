// SPDX-License-Identifier: Apache-2.0
// The kernel that native_kernel.cpp reads from this file.
kernel void scale(global float* out, global const float* in, float factor) {
  const size_t i = get_global_id(0);
  out[i] = factor * in[i];
}
