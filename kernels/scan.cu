// Inclusive prefix sums over a block.
// also: compute_80, compute_75 fast

// Doubling distances in two shared buffers; block of 256.
extern "C" __global__ void scan_shared_f32(int n, const float* __restrict__ x, float* __restrict__ y) {
    __shared__ float s[2][256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, cur = 0;
    s[0][t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int d = 1; d < 256; d <<= 1) {
        s[cur ^ 1][t] = t >= d ? s[cur][t] + s[cur][t - d] : s[cur][t];
        cur ^= 1;
        __syncthreads();
    }
    if (i < n) y[i] = s[cur][t];
}

// Shuffles within each warp, then over the warps; also the sum of each block. Block a multiple of 32.
extern "C" __global__ void scan_shfl_i32(int n, const int* __restrict__ x, int* __restrict__ y, int* block_sums) {
    __shared__ int ws[32];
    int t = threadIdx.x, lane = t & 31, w = t >> 5, i = blockIdx.x * blockDim.x + t;
    int v = i < n ? x[i] : 0;
    for (int d = 1; d < 32; d <<= 1) {
        int u = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += u;
    }
    if (lane == 31) ws[w] = v;
    __syncthreads();
    if (w == 0) {
        int u = lane < blockDim.x / 32 ? ws[lane] : 0;
        for (int d = 1; d < 32; d <<= 1) {
            int q = __shfl_up_sync(0xffffffffu, u, d);
            if (lane >= d) u += q;
        }
        ws[lane] = u;
    }
    __syncthreads();
    if (w > 0) v += ws[w - 1];
    if (i < n) y[i] = v;
    if (t == blockDim.x - 1) block_sums[blockIdx.x] = v;
}
