// y = W x, one warp per row.

__device__ __forceinline__ float warp_sum(float v) {
    for (int m = 16; m > 0; m >>= 1) v += __shfl_xor_sync(0xffffffffu, v, m);
    return v;
}

// W in f32; any number of columns.
extern "C" __global__ void matvec_f32(int rows, int cols, const float* __restrict__ w, const float* __restrict__ x,
                                      float* __restrict__ y) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (r >= rows) return;
    float s = 0.0f;
    for (int c = lane; c < cols; c += 32) s += w[(size_t)r * cols + c] * x[c];
    s = warp_sum(s);
    if (lane == 0) y[r] = s;
}

// W in signed bytes with one scale per row; columns a multiple of 4.
extern "C" __global__ void matvec_i8(int rows, int cols, const signed char* __restrict__ w, const float* __restrict__ scale,
                                     const float* __restrict__ x, float* __restrict__ y) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (r >= rows) return;
    const char4* wr = (const char4*)(w + (size_t)r * cols);
    const float4* xr = (const float4*)x;
    float s = 0.0f;
    for (int c = lane; c < cols / 4; c += 32) {
        char4 a = wr[c];
        float4 b = xr[c];
        s += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    s = warp_sum(s);
    if (lane == 0) y[r] = s * scale[r];
}
