// What gpt2.cu does inside of products, as kernels of their own: to measure what doing it inside is worth.

#include "gpt2.cu"

// The sum of a value over a block, in every thread.
__device__ __forceinline__ float block_sum(float x, float* sums) {
    x = warp_sum(x);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = x;
    __syncthreads();
    float total = 0.0f;
    for (u32 warp = 0; warp < blockDim.x / 32; warp++) total += sums[warp];
    return total;
}

__device__ __forceinline__ float gain_of(const bf16* gain, u32 i) { return __uint_as_float((u32)gain[i] << 16); }

// n = norm(x), with its gains. One block of 256 threads.
extern "C" __global__ void __launch_bounds__(256)
    apart_norm(const bf16* __restrict__ gain, const float* __restrict__ x, float* __restrict__ n, u32 dim) {
    __shared__ float sums[8];
    float squares = 0.0f;
    for (u32 i = threadIdx.x; i < dim; i += blockDim.x) squares = __fmaf_rn(x[i], x[i], squares);
    float scale = rsqrtf(block_sum(squares, sums) / dim + EPSILON);
    for (u32 i = threadIdx.x; i < dim; i += blockDim.x) n[i] = x[i] * gain_of(gain, i) * scale;
}

// y = x + the heads' shares; n = norm(y), with its gains. One block of 256 threads.
extern "C" __global__ void __launch_bounds__(256)
    apart_join(const bf16* __restrict__ gain, const float* __restrict__ x, const float* __restrict__ shares,
               float* __restrict__ y, float* __restrict__ n, u32 heads, u32 dim) {
    __shared__ float sums[8];
    float squares = 0.0f;
    for (u32 i = threadIdx.x; i < dim; i += blockDim.x) {
        float sum = x[i];
        for (u32 head = 0; head < heads; head++) sum += shares[head * dim + i];
        y[i] = sum;
        squares = __fmaf_rn(sum, sum, squares);
    }
    float scale = rsqrtf(block_sum(squares, sums) / dim + EPSILON);
    for (u32 i = threadIdx.x; i < dim; i += blockDim.x) n[i] = y[i] * gain_of(gain, i) * scale;
}

// out = softmax(q K^T) V, head by head, of one sequence. Grid [heads].
extern "C" __global__ void __launch_bounds__(ATTEND_1, 1)
    apart_attend(const float* __restrict__ queries, const bf16* __restrict__ keys, const bf16* __restrict__ values,
                 const u32* __restrict__ positions, float* __restrict__ out, u32 context) {
    __shared__ Part parts[ATTEND_1 / 32];
    __shared__ float attended[HEAD];
    u32 head = blockIdx.x, position = min(fresh(positions), context - 1);
    u64 at = (u64)head * context * HEAD;
    attention<ATTEND_1, true>(queries + head * HEAD, keys + at, values + at, position, context, parts, attended);
    if (threadIdx.x < HEAD) out[head * HEAD + threadIdx.x] = attended[threadIdx.x];
}
