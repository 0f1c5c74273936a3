// Four 8-bit floats a word to fp32: one by one, and two at a time.

typedef float pair __attribute__((ext_vector_type(2)));

__kernel void single(__global const uint *x, __global float *out, int n) {
  float total = 0;
  for (int i = get_global_id(0); i < n; i += 4) {
#pragma unroll
    for (int j = 0; j < 4; ++j)
      total += __builtin_amdgcn_cvt_f32_fp8(x[i + j], 0) + __builtin_amdgcn_cvt_f32_fp8(x[i + j], 1) +
               __builtin_amdgcn_cvt_f32_fp8(x[i + j], 2) + __builtin_amdgcn_cvt_f32_fp8(x[i + j], 3);
  }
  out[get_global_id(0)] = total;
}

__kernel void pairs(__global const uint *x, __global float *out, int n) {
  pair total = 0;
  for (int i = get_global_id(0); i < n; i += 4) {
#pragma unroll
    for (int j = 0; j < 4; ++j)
      total += __builtin_amdgcn_cvt_pk_f32_fp8(x[i + j], 0) + __builtin_amdgcn_cvt_pk_f32_fp8(x[i + j], 1);
  }
  out[get_global_id(0)] = total.x + total.y;
}
