// Random numbers by Philox4x32-10; seed by value, offset from device memory.

__device__ __forceinline__ uint4 philox(uint4 c, uint2 k) {
#pragma unroll
    for (int r = 0; r < 10; r++) {
        unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
        unsigned h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
        c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
        k.x += 0x9E3779B9u;
        k.y += 0xBB67AE85u;
    }
    return c;
}
__device__ __forceinline__ float u01(unsigned v) { return v * 2.3283064e-10f + 1.1641532e-10f; }
__device__ __forceinline__ uint4 draw(unsigned long long seed, unsigned long long off, int i) {
    return philox(make_uint4((unsigned)off, (unsigned)(off >> 32), (unsigned)i, 0u),
                  make_uint2((unsigned)seed, (unsigned)(seed >> 32)));
}

// Four uniform numbers in (0, 1] a thread.
extern "C" __global__ void philox_uniform_f32(int n4, unsigned long long seed, const unsigned long long* __restrict__ off,
                                              float4* __restrict__ o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    uint4 r = draw(seed, *off, i);
    o[i] = make_float4(u01(r.x), u01(r.y), u01(r.z), u01(r.w));
}

// Four normal numbers a thread, by Box and Muller's method.
extern "C" __global__ void philox_normal_f32(int n4, unsigned long long seed, const unsigned long long* __restrict__ off,
                                             float4* __restrict__ o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    uint4 r = draw(seed, *off, i);
    float a = sqrtf(-2.0f * logf(u01(r.x))), b = sqrtf(-2.0f * logf(u01(r.z))), s0, c0, s1, c1;
    sincosf(6.2831853f * u01(r.y), &s0, &c0);
    sincosf(6.2831853f * u01(r.w), &s1, &c1);
    o[i] = make_float4(a * c0, a * s0, b * c1, b * s1);
}

// Each element is dropped with probability p, the others scaled; the mask is kept.
extern "C" __global__ void dropout_f32(int n, float p, unsigned long long seed, const unsigned long long* __restrict__ off,
                                       const float* __restrict__ x, float* __restrict__ y, unsigned char* __restrict__ mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bool keep = u01(draw(seed, *off, i).x) >= p;
    y[i] = keep ? x[i] / (1.0f - p) : 0.0f;
    mask[i] = keep;
}

// Advances the offset.
extern "C" __global__ void philox_advance(unsigned long long* off, unsigned long long by) { *off += by; }
