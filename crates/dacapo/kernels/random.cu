// Random numbers by Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC11), with the
// generator's state in device memory, so that a replayed graph goes on where the last replay stopped.
//
// The state is six words: key (2), counter (4, lowest word first). Draws read it and do not change it: element i takes word
// i % 4 of counter + i / 4. `philox_advance` moves the counter past what was drawn.
//
// Only + - * / sqrt fma and whole numbers, each rounded to nearest and spelled out, so that every device, the software one
// too, gives the same bits. crates/dacapo/src/random/philox.rs is the same arithmetic in Rust.

struct Block {
    unsigned word[4];
};

// The counter of the state, plus `by`, in 128 bits.
__device__ __forceinline__ Block counter_plus(const unsigned* state, unsigned long long by) {
    unsigned long long low = (unsigned long long)state[3] << 32 | state[2];
    unsigned long long high = (unsigned long long)state[5] << 32 | state[4];
    unsigned long long sum = low + by;
    high += sum < low;
    return Block{{(unsigned)sum, (unsigned)(sum >> 32), (unsigned)high, (unsigned)(high >> 32)}};
}

// Ten rounds on counter + `at`.
__device__ __forceinline__ Block draw(const unsigned* state, unsigned long long at) {
    Block c = counter_plus(state, at);
    unsigned k0 = state[0], k1 = state[1];
#pragma unroll
    for (int round = 0; round < 10; round++) {
        unsigned high0 = __umulhi(0xD2511F53u, c.word[0]), low0 = 0xD2511F53u * c.word[0];
        unsigned high1 = __umulhi(0xCD9E8D57u, c.word[2]), low1 = 0xCD9E8D57u * c.word[2];
        c = Block{{high1 ^ c.word[1] ^ k0, low1, high0 ^ c.word[3] ^ k1, low0}};
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}

// The upper 24 bits as a number in [0, 1): all of them are exact.
__device__ __forceinline__ float uniform(unsigned w) { return __fmul_rn((float)(w >> 8), 5.9604644775390625e-8f); }

// The natural logarithm of a normal number in (0, 1]. u = m * 2^e with m in [2/3, 4/3); ln m by the series of
// 2 atanh((m - 1) / (m + 1)), of which six terms reach the last bit, as the argument is at most 1/5.
__device__ __forceinline__ float ln(float u) {
    int bits = __float_as_int(u), e = (bits - 0x3F2AAAAB) >> 23;
    float f = __fadd_rn(__int_as_float(bits - e * 0x800000), -1.0f);
    float s = __fdiv_rn(f, __fadd_rn(f, 2.0f)), z = __fmul_rn(s, s);
    float p = 0.18181818f;
    p = __fmaf_rn(p, z, 0.22222222f);
    p = __fmaf_rn(p, z, 0.2857143f);
    p = __fmaf_rn(p, z, 0.4f);
    p = __fmaf_rn(p, z, 0.6666667f);
    float m = __fmaf_rn(__fmul_rn(s, z), p, __fmul_rn(s, 2.0f));
    return __fmaf_rn((float)e, 0.6931472f, m);
}

// Two normal numbers of two words, by Box and Muller's method: sqrt(-2 ln u) times cosine and sine of w1 / 2^32 turns.
__device__ __forceinline__ void normal(unsigned w0, unsigned w1, float* a, float* b) {
    float r = __fsqrt_rn(__fmul_rn(-2.0f, ln(__fmaf_rn((float)w0, 2.3283064365386963e-10f, 1.1641532182693481e-10f))));
    // The nearest quarter turn, and what is left of it: at most an eighth of a turn either way.
    unsigned quarter = (w1 + 0x20000000u) >> 30;
    float x = __fmul_rn((float)(int)(w1 << 2), 3.6572951981840676e-10f);  // pi / 2 / 2^32
    float z = __fmul_rn(x, x);
    float s = 2.7557319e-6f;
    s = __fmaf_rn(s, z, -1.9841270e-4f);
    s = __fmaf_rn(s, z, 8.3333333e-3f);
    s = __fmaf_rn(s, z, -0.16666667f);
    s = __fmaf_rn(__fmul_rn(s, z), x, x);
    float c = 2.4801587e-5f;
    c = __fmaf_rn(c, z, -1.3888889e-3f);
    c = __fmaf_rn(c, z, 4.1666667e-2f);
    c = __fmaf_rn(c, z, -0.5f);
    c = __fmaf_rn(c, z, 1.0f);
    float cosine = quarter & 1 ? s : c, sine = quarter & 1 ? c : s;
    // Quarters 1 and 2 have a negative cosine, quarters 2 and 3 a negative sine.
    if ((quarter + 1) & 2) cosine = -cosine;
    if (quarter & 2) sine = -sine;
    *a = __fmul_rn(r, cosine);
    *b = __fmul_rn(r, sine);
}

__device__ __forceinline__ unsigned long long thread() {
    return (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
}

// n words. Four elements a thread, here and below.
extern "C" __global__ void philox_u32(const unsigned* __restrict__ state, unsigned* __restrict__ out, unsigned long long n) {
    unsigned long long t = thread(), i = t * 4;
    if (i >= n) return;
    Block w = draw(state, t);
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (i + k < n) out[i + k] = w.word[k];
}

// n numbers, even in [0, 1), of 24 bits each.
extern "C" __global__ void philox_uniform(const unsigned* __restrict__ state, float* __restrict__ out, unsigned long long n) {
    unsigned long long t = thread(), i = t * 4;
    if (i >= n) return;
    Block w = draw(state, t);
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (i + k < n) out[i + k] = uniform(w.word[k]);
}

// n normal numbers of mean 0 and deviation 1. Elements 4t and 4t + 1 share words 0 and 1 of their block, the others 2 and 3.
extern "C" __global__ void philox_normal(const unsigned* __restrict__ state, float* __restrict__ out, unsigned long long n) {
    unsigned long long t = thread(), i = t * 4;
    if (i >= n) return;
    Block w = draw(state, t);
    float v[4];
    normal(w.word[0], w.word[1], &v[0], &v[1]);
    normal(w.word[2], w.word[3], &v[2], &v[3]);
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (i + k < n) out[i + k] = v[k];
}

// Moves the counter past n elements: n / 4 blocks, rounded up. Any geometry; one thread does it.
extern "C" __global__ void philox_advance(unsigned* state, unsigned long long n) {
    if (thread() != 0) return;
    Block c = counter_plus(state, n / 4 + (n % 4 != 0));
#pragma unroll
    for (int k = 0; k < 4; k++) state[2 + k] = c.word[k];
}
