// Layers of an MLP in bf16, as bits: what the memory of bucketed graphs is measured with. Sums are in f32.

__device__ __forceinline__ float low(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ __forceinline__ float high(unsigned pair) { return __uint_as_float(pair & 0xFFFF0000u); }

// The nearest bf16, ties to even. Not for NaN.
__device__ __forceinline__ unsigned short rounded(float x) {
    unsigned bits = __float_as_uint(x);
    return (unsigned short)((bits + 0x7FFFu + ((bits >> 16) & 1)) >> 16);
}

// y = x W^T + b. x is [rows, in], W is [out, in]; `in` is a multiple of 8. One warp an output and up to 8 rows, 8 warps a block.
extern "C" __global__ void mlp_linear(const unsigned short* __restrict__ x, const unsigned short* __restrict__ w,
                                      const unsigned short* __restrict__ b, unsigned short* __restrict__ y, unsigned rows,
                                      unsigned in, unsigned out) {
    unsigned lane = threadIdx.x % 32, o = blockIdx.x * 8 + threadIdx.x / 32, first = blockIdx.y * 8;
    if (o >= out) return;
    float sum[8] = {};
    const uint4* weights = (const uint4*)(w + (unsigned long long)o * in);
    for (unsigned i = lane; i < in / 8; i += 32) {
        uint4 a = weights[i];
#pragma unroll
        for (int r = 0; r < 8; r++) {
            if (first + r >= rows) continue;
            uint4 c = ((const uint4*)(x + (unsigned long long)(first + r) * in))[i];
            sum[r] = __fmaf_rn(low(a.x), low(c.x), sum[r]);
            sum[r] = __fmaf_rn(high(a.x), high(c.x), sum[r]);
            sum[r] = __fmaf_rn(low(a.y), low(c.y), sum[r]);
            sum[r] = __fmaf_rn(high(a.y), high(c.y), sum[r]);
            sum[r] = __fmaf_rn(low(a.z), low(c.z), sum[r]);
            sum[r] = __fmaf_rn(high(a.z), high(c.z), sum[r]);
            sum[r] = __fmaf_rn(low(a.w), low(c.w), sum[r]);
            sum[r] = __fmaf_rn(high(a.w), high(c.w), sum[r]);
        }
    }
    float bias = low(b[o]);
#pragma unroll
    for (int r = 0; r < 8; r++) {
        float s = sum[r];
        for (int offset = 16; offset > 0; offset /= 2) s += __shfl_xor_sync(0xFFFFFFFFu, s, offset);
        if (lane == 0 && first + r < rows) y[(unsigned long long)(first + r) * out + o] = rounded(s + bias);
    }
}

// y = max(x, 0).
extern "C" __global__ void mlp_relu(const unsigned short* __restrict__ x, unsigned short* __restrict__ y, unsigned n) {
    unsigned t = blockIdx.x * 256 + threadIdx.x;
    if (t < n) y[t] = x[t] & 0x8000u ? 0 : x[t];
}
