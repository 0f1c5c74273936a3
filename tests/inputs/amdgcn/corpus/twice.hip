typedef struct dim3 { unsigned x, y, z; } dim3;
typedef int hipError_t;
typedef struct ihipStream_t *hipStream_t;
extern "C" hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, hipStream_t);
extern "C" unsigned __hipPopCallConfiguration(dim3 *, dim3 *, unsigned long *, void *);
extern "C" __attribute__((global)) void twice(float *x) { x[__builtin_amdgcn_workitem_id_x()] *= 2; }
