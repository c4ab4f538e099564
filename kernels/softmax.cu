// Softmax over rows, forward and backward.
// fast: the same with --use_fast_math
// also: compute_90, compute_90 fast

#define INFINITY __int_as_float(0x7f800000)  // NVRTC has no <math.h>

// One block of 256 per row; three passes: maximum, sum of exponentials, quotients.
extern "C" __global__ void softmax_block_f32(int cols, const float* __restrict__ x, float* __restrict__ y) {
    __shared__ float s[256];
    int t = threadIdx.x;
    const float* xr = x + (size_t)blockIdx.x * cols;
    float* yr = y + (size_t)blockIdx.x * cols;
    float m = -INFINITY;
    for (int c = t; c < cols; c += blockDim.x) m = fmaxf(m, xr[c]);
    s[t] = m;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k >>= 1) {
        if (t < k) s[t] = fmaxf(s[t], s[t + k]);
        __syncthreads();
    }
    m = s[0];
    __syncthreads();
    float z = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) z += expf(xr[c] - m);
    s[t] = z;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    float inv = 1.0f / s[0];
    for (int c = t; c < cols; c += blockDim.x) yr[c] = expf(xr[c] - m) * inv;
}

// One warp per row; maximum and sum in one pass, rescaled whenever the maximum grows.
extern "C" __global__ void softmax_online_warp_f32(int rows, int cols, const float* __restrict__ x, float* __restrict__ y) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    float m = -INFINITY, z = 0.0f;
    for (int c = lane; c < cols; c += 32) {
        float v = x[r * cols + c], m2 = fmaxf(m, v);
        z = z * __expf(m - m2) + __expf(v - m2);
        m = m2;
    }
    for (int d = 16; d > 0; d >>= 1) {
        float mo = __shfl_xor_sync(0xffffffffu, m, d), zo = __shfl_xor_sync(0xffffffffu, z, d), m2 = fmaxf(m, mo);
        z = (m2 == -INFINITY) ? 0.0f : z * __expf(m - m2) + zo * __expf(mo - m2);
        m = m2;
    }
    for (int c = lane; c < cols; c += 32) y[r * cols + c] = __expf(x[r * cols + c] - m) / z;
}

// dx = y (dy - sum of y dy over the row); one block of 32 per row.
extern "C" __global__ void softmax_bwd_f32(int cols, const float* __restrict__ y, const float* __restrict__ dy,
                                           float* __restrict__ dx) {
    __shared__ float s;
    size_t base = (size_t)blockIdx.x * cols;
    float v = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32) v += y[base + c] * dy[base + c];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x == 0) s = v;
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += 32) dx[base + c] = y[base + c] * (dy[base + c] - s);
}
