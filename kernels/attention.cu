// Attention for one new token over a cache of keys and values whose length is read from device memory.
// also: compute_90

#define INFINITY __int_as_float(0x7f800000)  // NVRTC has no <math.h>

// One block per head, a multiple of 32 threads. Caches are [max_len, kv_heads, dim]. Dynamic shared memory:
// max_len + 32 floats.
extern "C" __global__ void attention_decode_f32(int heads, int kv_heads, int dim, int max_len, const int* __restrict__ len_ptr,
                                                const float* __restrict__ q, const float* __restrict__ kc,
                                                const float* __restrict__ vc, float* __restrict__ out) {
    extern __shared__ float sh[];
    float *score = sh, *red = sh + max_len;
    int h = blockIdx.x, kvh = h / (heads / kv_heads), t = threadIdx.x, lane = t & 31, w = t >> 5, nw = blockDim.x >> 5;
    int len = *len_ptr;
    float scale = rsqrtf((float)dim);
    for (int j = w; j < len; j += nw) {
        float s = 0.0f;
        for (int d = lane; d < dim; d += 32) s += q[h * dim + d] * kc[((size_t)j * kv_heads + kvh) * dim + d];
        for (int m = 16; m > 0; m >>= 1) s += __shfl_xor_sync(0xffffffffu, s, m);
        if (lane == 0) score[j] = s * scale;
    }
    __syncthreads();
    float m = -INFINITY;
    for (int j = t; j < len; j += blockDim.x) m = fmaxf(m, score[j]);
    for (int k = 16; k > 0; k >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, k));
    if (lane == 0) red[w] = m;
    __syncthreads();
    for (int k = 0; k < nw; k++) m = fmaxf(m, red[k]);
    __syncthreads();
    float z = 0.0f;
    for (int j = t; j < len; j += blockDim.x) {
        float e = expf(score[j] - m);
        score[j] = e;
        z += e;
    }
    for (int k = 16; k > 0; k >>= 1) z += __shfl_xor_sync(0xffffffffu, z, k);
    if (lane == 0) red[w] = z;
    __syncthreads();
    z = 0.0f;
    for (int k = 0; k < nw; k++) z += red[k];
    for (int d = t; d < dim; d += blockDim.x) {
        float a = 0.0f;
        for (int j = 0; j < len; j++) a += score[j] * vc[((size_t)j * kv_heads + kvh) * dim + d];
        out[h * dim + d] = a / z;
    }
}

// Writes this step's key and value at position *len_ptr, if there is room; then one thread advances the length.
extern "C" __global__ void kv_append_f32(int kv_dim, int max_len, int* len_ptr, const float* __restrict__ k,
                                         const float* __restrict__ v, float* __restrict__ kc, float* __restrict__ vc) {
    int p = *len_ptr, i = threadIdx.x;
    for (; i < kv_dim; i += blockDim.x)
        if (p < max_len) {
            kc[(size_t)p * kv_dim + i] = k[i];
            vc[(size_t)p * kv_dim + i] = v[i];
        }
    __syncthreads();
    if (threadIdx.x == 0) *len_ptr = p + 1;
}
