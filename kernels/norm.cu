// Normalisation of rows.
// fast: the same with --use_fast_math
// also: compute_90, compute_75 fast

// y = x / sqrt(mean of squares + eps) * g, in vectors of four; cols a multiple of 4, block a multiple of 32,
// dynamic shared memory of one float per warp.
extern "C" __global__ void rmsnorm_f32(int cols, float eps, const float4* __restrict__ x, const float4* __restrict__ g,
                                       float4* __restrict__ y) {
    extern __shared__ float red[];
    int t = threadIdx.x, n4 = cols / 4;
    const float4* xr = x + (size_t)blockIdx.x * n4;
    float s = 0.0f;
    for (int c = t; c < n4; c += blockDim.x) {
        float4 v = xr[c];
        s += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    for (int m = 16; m > 0; m >>= 1) s += __shfl_xor_sync(0xffffffffu, s, m);
    if ((t & 31) == 0) red[t >> 5] = s;
    __syncthreads();
    s = 0.0f;
    for (int k = 0; k < blockDim.x / 32; k++) s += red[k];
    float r = rsqrtf(s / cols + eps);
    for (int c = t; c < n4; c += blockDim.x) {
        float4 v = xr[c], w = g[c];
        y[(size_t)blockIdx.x * n4 + c] = make_float4(v.x * r * w.x, v.y * r * w.y, v.z * r * w.z, v.w * r * w.w);
    }
}

// y = (x - mean) / sqrt(variance + eps) * g + b; one block of 32 per row; also the mean and the inverse deviation.
extern "C" __global__ void layernorm_f32(int cols, float eps, const float* __restrict__ x, const float* __restrict__ g,
                                         const float* __restrict__ b, float* __restrict__ y, float* __restrict__ stats) {
    int lane = threadIdx.x;
    size_t base = (size_t)blockIdx.x * cols;
    float s = 0.0f, q = 0.0f;
    for (int c = lane; c < cols; c += 32) s += x[base + c];
    for (int m = 16; m > 0; m >>= 1) s += __shfl_xor_sync(0xffffffffu, s, m);
    float mean = s / cols;
    for (int c = lane; c < cols; c += 32) {
        float d = x[base + c] - mean;
        q += d * d;
    }
    for (int m = 16; m > 0; m >>= 1) q += __shfl_xor_sync(0xffffffffu, q, m);
    float r = 1.0f / sqrtf(q / cols + eps);
    for (int c = lane; c < cols; c += 32) y[base + c] = (x[base + c] - mean) * r * g[c] + b[c];
    if (lane == 0) {
        stats[2 * blockIdx.x] = mean;
        stats[2 * blockIdx.x + 1] = r;
    }
}
