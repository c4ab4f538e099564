// C[m,n] = A[m,k] B[k,n] in f32, three ways.
// also: compute_80, compute_90 fast

// One thread an element of C, straight from global memory.
extern "C" __global__ void matmul_naive_f32(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
                                            float* __restrict__ c) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    float s = 0.0f;
    for (int p = 0; p < k; p++) s += a[i * k + p] * b[p * n + j];
    c[i * n + j] = s;
}

// Tiles of 16x16 in shared memory; 16x16 threads; any sizes.
extern "C" __global__ void matmul_tiled_f32(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
                                            float* __restrict__ c) {
    __shared__ float as[16][16], bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, j = blockIdx.x * 16 + tx, i = blockIdx.y * 16 + ty;
    float s = 0.0f;
    for (int p = 0; p < k; p += 16) {
        as[ty][tx] = i < m && p + tx < k ? a[i * k + p + tx] : 0.0f;
        bs[ty][tx] = p + ty < k && j < n ? b[(p + ty) * n + j] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int q = 0; q < 16; q++) s += as[ty][q] * bs[q][tx];
        __syncthreads();
    }
    if (i < m && j < n) c[i * n + j] = s;
}

// Tiles of 64x64, 4x4 results a thread in registers; 16x16 threads; m and n multiples of 64, k of 16.
extern "C" __global__ void __launch_bounds__(256, 2)
    matmul_reg4x4_f32(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
    __shared__ __align__(16) float as[16][64];
    __shared__ __align__(16) float bs[16][64];
    int t = threadIdx.y * 16 + threadIdx.x, row = blockIdx.y * 64, col = blockIdx.x * 64;
    float acc[4][4] = {};
    for (int p = 0; p < k; p += 16) {
        float4 av = *(const float4*)&a[(row + t / 4) * k + p + (t % 4) * 4];
        as[(t % 4) * 4 + 0][t / 4] = av.x;
        as[(t % 4) * 4 + 1][t / 4] = av.y;
        as[(t % 4) * 4 + 2][t / 4] = av.z;
        as[(t % 4) * 4 + 3][t / 4] = av.w;
        *(float4*)&bs[t / 16][(t % 16) * 4] = *(const float4*)&b[(p + t / 16) * n + col + (t % 16) * 4];
        __syncthreads();
#pragma unroll
        for (int q = 0; q < 16; q++) {
            float4 x = *(float4*)&as[q][threadIdx.y * 4], y = *(float4*)&bs[q][threadIdx.x * 4];
            float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int u = 0; u < 4; u++)
#pragma unroll
                for (int v = 0; v < 4; v++) acc[u][v] += xs[u] * ys[v];
        }
        __syncthreads();
    }
    for (int u = 0; u < 4; u++)
        *(float4*)&c[(row + threadIdx.y * 4 + u) * n + col + threadIdx.x * 4] =
            make_float4(acc[u][0], acc[u][1], acc[u][2], acc[u][3]);
}
