// Sums and maxima over a block: in shared memory, with shuffles, with atomics, and across blocks.
// also: compute_80, compute_90

// One sum per block by halving in shared memory; any grid, block of up to 256 threads, a power of two.
extern "C" __global__ void reduce_sum_f32(int n, const float* __restrict__ x, float* __restrict__ out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float v = 0.0f;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) v += x[i];
    s[t] = v;
    __syncthreads();
    for (int k = blockDim.x >> 1; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// One maximum per block of 256 threads, the halving unrolled; minus infinity where there is nothing.
extern "C" __global__ void reduce_max_f32(int n, const float* __restrict__ x, float* __restrict__ out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float v = -__int_as_float(0x7f800000);
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) v = fmaxf(v, x[i]);
    s[t] = v;
    __syncthreads();
#pragma unroll
    for (int k = 128; k > 0; k >>= 1) {
        if (t < k) s[t] = fmaxf(s[t], s[t + k]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// Everything added to one number: atomics in shared memory, then one to global memory per block.
extern "C" __global__ void reduce_sum_atomic_f32(int n, const float* __restrict__ x, float* out) {
    __shared__ float s;
    if (threadIdx.x == 0) s = 0.0f;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, s);
}

// One sum per block with warp shuffles, then a second round over the warps; block a multiple of 32.
__device__ __forceinline__ float warp_sum(float v) {
    for (int m = 16; m > 0; m >>= 1) v += __shfl_xor_sync(0xffffffffu, v, m);
    return v;
}
extern "C" __global__ void reduce_sum_shfl_f32(int n, const float* __restrict__ x, float* out) {
    __shared__ float s[32];
    int t = threadIdx.x, lane = t & 31, w = t >> 5;
    float v = 0.0f;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) v += x[i];
    v = warp_sum(v);
    if (lane == 0) s[w] = v;
    __syncthreads();
    if (w == 0) {
        v = lane < (blockDim.x + 31) / 32 ? s[lane] : 0.0f;
        v = warp_sum(v);
        if (lane == 0) out[blockIdx.x] = v;
    }
}

// The last block to finish adds the partial sums of all of them, in order; block of 256. `done` starts at zero
// and is zero again afterwards.
extern "C" __global__ void reduce_last_block_f32(int n, const float* __restrict__ x, volatile float* part, unsigned* done,
                                                 float* out) {
    __shared__ float s[256];
    __shared__ bool last;
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float v = 0.0f;
        for (int b = 0; b < gridDim.x; b++) v += part[b];
        *out = v;
    }
}
