// Rows of a table by 64-bit index, and the gradient of the table. One block per index.

// out[i] = table[idx[i]].
extern "C" __global__ void embedding_f32(int n, int dim, const long long* __restrict__ idx, const float* __restrict__ table,
                                         float* __restrict__ out) {
    if (blockIdx.x >= n) return;
    long long r = idx[blockIdx.x];
    for (int d = threadIdx.x; d < dim; d += blockDim.x) out[(size_t)blockIdx.x * dim + d] = table[r * dim + d];
}

// dtable[idx[i]] += dout[i], except for the padding index.
extern "C" __global__ void embedding_bwd_f32(int n, int dim, long long pad, const long long* __restrict__ idx,
                                             const float* __restrict__ dout, float* dtable) {
    if (blockIdx.x >= n) return;
    long long r = idx[blockIdx.x];
    if (r == pad) return;
    for (int d = threadIdx.x; d < dim; d += blockDim.x)
        atomicAdd(&dtable[r * dim + d], dout[(size_t)blockIdx.x * dim + d]);
}
