// The small program that each founding system writes in its own way: y = a x + y, with an `a` that changes.

// y += a x, `a` by value.
extern "C" __global__ void axpy(float a, const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __fmaf_rn(a, x[i], y[i]);
}

// y += a x, `a` in device memory.
extern "C" __global__ void axpy_at(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y,
                                   unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __fmaf_rn(*a, x[i], y[i]);
}

// out = a x, `a` in device memory.
extern "C" __global__ void scale(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ out,
                                 unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __fmul_rn(*a, x[i]);
}

// out = x + y.
extern "C" __global__ void add(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out,
                               unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __fadd_rn(x[i], y[i]);
}
