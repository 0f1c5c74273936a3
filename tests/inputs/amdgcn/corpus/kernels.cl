// Device functions, several kernels, LDS, private arrays and atomics, for clang -x cl.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
int collatz(int n) __attribute__((noinline));
int collatz(int n) {
  int steps = 0;
  while (n > 1) { n = n & 1 ? 3 * n + 1 : n / 2; ++steps; }
  return steps;
}

kernel void transpose(global float *out, global const float *in, int width) {
  local float tile[32][33];
  int x = get_local_id(0), y = get_local_id(1);
  int gx = get_group_id(0) * 32, gy = get_group_id(1) * 32;
  for (int i = 0; i < 32; i += 8) tile[y + i][x] = in[(gy + y + i) * width + gx + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < 32; i += 8) out[(gx + y + i) * width + gy + x] = tile[x][y + i];
}

kernel void steps(global int *out, global const int *in) {
  int i = get_global_id(0);
  out[i] = collatz(in[i]) + collatz(in[i] / 3);
}

kernel void private_array(global float *out, global const int *index, int n) {
  float kept[64];
  for (int i = 0; i < 64; ++i) kept[i] = out[i * n];
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += kept[index[i] & 63] * native_exp(sum);
  out[get_global_id(0)] = sum + sqrt(sum) / 3.0f;
}

kernel void doubles(global double *out, global const double *a, global const long *b, local double *t) {
  int i = get_global_id(0);
  t[get_local_id(0)] = a[i] * b[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  double x = t[63 - get_local_id(0)];
  out[i] = fma(x, a[i], sqrt(x)) + (double)(b[i] / 7) + convert_double(clz(b[i]));
}

kernel void counts(global int *out, global uint *bins, local uint *seen, global const uchar *in) {
  int i = get_global_id(0);
  seen[get_local_id(0)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&seen[in[i] & 63]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[in[i]], seen[get_local_id(0)]);
  out[i] = atomic_cmpxchg(&bins[256], 3u, 4u) + atomic_xchg(&bins[257], 1u);
}

kernel void halves(global half *out, global const half *a, global const short *b, global const uchar4 *c) {
  int i = get_global_id(0);
  half2 x = vload2(i, a);
  out[i] = x.x * x.y + (half)b[i] + convert_half(c[i].y) - (half)c[i].w;
}
