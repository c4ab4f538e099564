// What the forms of the library's suite launch: one small kernel for each kind of parameter, condition and geometry.

struct Affine {
    float scale;
    float shift;
    unsigned skip;
};

// y[i] = a * x[i] + y[i].
extern "C" __global__ void saxpy(unsigned n, float a, const float* x, float* y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

// y[i] = x[i] + by: whole, never read before.
extern "C" __global__ void add(unsigned n, const float* x, float by, float* y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + by;
}

// z[i] = x[i] * y[i]: whole, never read before.
extern "C" __global__ void multiply(unsigned n, const float* x, const float* y, float* z) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] * y[i];
}

// y[i] += by, with any geometry.
extern "C" __global__ void add_stride(unsigned n, float by, float* y) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += by;
}

// y[i] += 1 for the first `count` elements only; a thread for each of those.
extern "C" __global__ void increment_first(unsigned count, unsigned* y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] += 1;
}

// y[i] = x[offset + i].
extern "C" __global__ void window(unsigned n, unsigned offset, const unsigned* x, unsigned* y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[offset + i];
}

// y[i] *= *s, a number in device memory.
extern "C" __global__ void scale_by(unsigned n, const float* s, float* y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] *= *s;
}

// *total = x[0] + x[1] + .., in this order, by one thread.
extern "C" __global__ void sum(unsigned n, const float* x, float* total) {
    float v = 0.0f;
    for (unsigned i = 0; i < n; i++) v += x[i];
    *total = v;
}

// *total += by.
extern "C" __global__ void add_to(const float* by, float* total) { *total += *by; }

// y[i] = p.scale * x[i] + p.shift, but 0 for i < p.skip: a struct by value.
extern "C" __global__ void affine(unsigned n, Affine p, const float* x, float* y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = i < p.skip ? 0.0f : p.scale * x[i] + p.shift;
}

// y[i] *= 2 for half precision, given as 16 bits.
extern "C" __global__ void double_f16(unsigned n, unsigned short* y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v;
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(y[i]));
    v *= 2.0f;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y[i]) : "f"(v));
}

// y[i] *= 2 for bfloat16, given as 16 bits; exact, so the low half is cut off.
extern "C" __global__ void double_bf16(unsigned n, unsigned short* y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = __int_as_float((int)y[i] << 16) * 2.0f;
    y[i] = (unsigned short)(__float_as_int(v) >> 16);
}

// y[i] = y[i] * 1664525 + 1013904223, `rounds` times: work that takes a while.
extern "C" __global__ void churn(unsigned n, unsigned rounds, unsigned* y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = y[i];
#pragma unroll 1
    for (unsigned k = 0; k < rounds; k++) v = v * 1664525u + 1013904223u;
    y[i] = v;
}

// The module's own memory: how often `count_call` ran since the module was loaded.
__device__ unsigned calls;

// calls += 1; *out = calls. By one thread.
extern "C" __global__ void count_call(unsigned* out) {
    calls += 1;
    *out = calls;
}

// Four numbers at once: x and y at multiples of 16 bytes. y[i] = x[i] + 1, n a multiple of 4.
extern "C" __global__ void add_one_by_four(unsigned n, const float4* x, float4* y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    float4 v = x[i];
    v.x += 1.0f, v.y += 1.0f, v.z += 1.0f, v.w += 1.0f;
    y[i] = v;
}

// Reverses each block's elements in dynamic shared memory; n a multiple of the block.
extern "C" __global__ void reverse_blocks(float* y) {
    extern __shared__ float s[];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = y[i];
    __syncthreads();
    y[i] = s[blockDim.x - 1 - threadIdx.x];
}
