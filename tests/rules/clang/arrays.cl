// Arrays whose index is known at run time only, and one that is unrolled away.

__kernel void histogram(__global const uchar *x, __global uint *out, int n) {
  uint counts[32];
  for (int i = 0; i < 32; ++i) counts[i] = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) counts[x[i] & 31] += 1;
  for (int i = 0; i < 32; ++i) out[get_global_id(0) * 32 + i] = counts[i];
}

__kernel void lookup(__global const int *x, __global float *out, __global const float *table, int n) {
  float own[64];
  for (int i = 0; i < 64; ++i) own[i] = table[i] * (float)get_global_id(0);
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) out[i] = own[x[i] & 63];
}

__kernel void unrolled(__global const float *x, __global float *out) {
  float row[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) row[i] = x[get_global_id(0) * 8 + i];
  float total = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) total += row[i] * row[7 - i];
  out[get_global_id(0)] = total;
}
