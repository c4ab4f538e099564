// What a step of a Llama-like model does besides its products (llama.cu): it puts attention together where that was computed in
// spans, chooses a token and moves on. The same for every type of weights.
//
// `history` has the tokens of the sequence, given and chosen; `position` says where it stands, `limit` where it ends.
// Exponentials and logarithms are spelled out in + * fma, so that every device gives the same bits.

#define FULL 0xFFFFFFFFu
#define LOWEST (-3.4e38f)

typedef unsigned long long u64;

// e^x for x <= 0. x = k ln 2 + r, with |r| at most half of ln 2; e^r by its series to the seventh power. Below -87 it is 0.
__device__ __forceinline__ float exp_nonpositive(float x) {
    if (!(x >= -87.0f)) return 0.0f;
    float k = rintf(__fmul_rn(x, 1.442695f));
    float r = __fmaf_rn(k, -0.6931472f, x);
    r = __fmaf_rn(k, 1.9046543e-9f, r);
    float p = 1.9841270e-4f;
    p = __fmaf_rn(p, r, 1.3888889e-3f);
    p = __fmaf_rn(p, r, 8.3333333e-3f);
    p = __fmaf_rn(p, r, 4.1666667e-2f);
    p = __fmaf_rn(p, r, 0.16666667f);
    p = __fmaf_rn(p, r, 0.5f);
    p = __fmaf_rn(p, r, 1.0f);
    p = __fmaf_rn(p, r, 1.0f);
    return __fmul_rn(p, __int_as_float(((int)k + 127) << 23));
}

// The natural logarithm of a normal x > 0. x = 2^k m with m between 1/sqrt 2 and sqrt 2; log m = 2 atanh((m - 1) / (m + 1)) by
// its series to the ninth power.
__device__ __forceinline__ float log_positive(float x) {
    int bits = __float_as_int(x), k = (bits - 0x3F3504F3) >> 23;
    float m = __int_as_float(bits - (k << 23));
    float s = __fdiv_rn(m - 1.0f, m + 1.0f), q = __fmul_rn(s, s);
    float p = 0.11111111f;
    p = __fmaf_rn(p, q, 0.14285714f);
    p = __fmaf_rn(p, q, 0.2f);
    p = __fmaf_rn(p, q, 0.33333333f);
    p = __fmaf_rn(p, q, 1.0f);
    return __fmaf_rn((float)k, 0.6931472f, __fmul_rn(__fmul_rn(2.0f, s), p));
}

// out = what the spans have of the attention, added up: `parts` and `tops` are as `attend` wrote them. One block of `head`
// threads for each query head.
extern "C" __global__ void combine(const float* __restrict__ parts, const float* __restrict__ tops, float* __restrict__ out,
                                   unsigned heads, unsigned head, unsigned spans) {
    unsigned h = blockIdx.x, d = threadIdx.x;
    float top = LOWEST, value = 0.0f, sum = 0.0f;
#pragma unroll 4
    for (unsigned s = 0; s < spans; s++) top = fmaxf(top, tops[((u64)s * heads + h) * 2]);
#pragma unroll 4
    for (unsigned s = 0; s < spans; s++) {
        u64 of = (u64)s * heads + h;
        float e = exp_nonpositive(__fadd_rn(tops[of * 2], -top));
        sum = __fmaf_rn(e, tops[of * 2 + 1], sum);
        value = __fmaf_rn(e, parts[of * head + d], value);
    }
    out[h * head + d] = __fdiv_rn(value, sum);
}

// A float as a number without sign that is ordered as the floats are, and below all of them what is no number.
__device__ __forceinline__ unsigned ordered(float x) {
    unsigned bits = __float_as_uint(x);
    if (x != x) return 0;
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// best = the largest of best and this block's candidates: a candidate is a value above, and below how far its token is from the
// end, so that among equals the first token wins. 0 is none.
__device__ __forceinline__ void offer(u64 mine, u64* best) {
    __shared__ u64 parts[8];
    for (int offset = 16; offset > 0; offset /= 2) {
        u64 other = __shfl_xor_sync(FULL, mine, offset);
        mine = other > mine ? other : mine;
    }
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int i = 1; i < 8; i++) mine = parts[i] > mine ? parts[i] : mine;
    atomicMax(best, mine);
}

__device__ __forceinline__ u64 candidate(float x, unsigned token) {
    unsigned value = ordered(x);
    return value == 0 ? 0 : (u64)value << 32 | (0xFFFFFFFFu - token);
}

// best = the likeliest token. Four logits a thread, 256 threads a block.
extern "C" __global__ void choose(const float* __restrict__ logits, u64* __restrict__ best, unsigned vocabulary) {
    u64 mine = 0;
    for (unsigned i = blockIdx.x * 1024 + threadIdx.x, end = i + 1024; i < end; i += 256) {
        if (i >= vocabulary) break;
        u64 other = candidate(logits[i], i);
        mine = other > mine ? other : mine;
    }
    offer(mine, best);
}

// best = a token drawn by its probability at this temperature: the largest of logit / temperature - log(-log(noise)), which is
// drawn by just these (Gumbel's trick). `noise` is uniform from 0 to below 1. Four logits a thread, 256 threads a block.
extern "C" __global__ void draw(const float* __restrict__ logits, const float* __restrict__ noise, u64* __restrict__ best,
                                unsigned vocabulary, float temperature) {
    u64 mine = 0;
    for (unsigned i = blockIdx.x * 1024 + threadIdx.x, end = i + 1024; i < end; i += 256) {
        if (i >= vocabulary) break;
        float u = fminf(fmaxf(noise[i], 1e-9f), 0.99999994f);
        float x = __fadd_rn(__fdiv_rn(logits[i], temperature), -log_positive(-log_positive(u)));
        u64 other = candidate(x, i);
        mine = other > mine ? other : mine;
    }
    offer(mine, best);
}

// One given token on, where another is given behind it. One thread.
extern "C" __global__ void feed(unsigned* __restrict__ position, const unsigned* __restrict__ length) {
    if (*position + 1 < *length) *position += 1;
}

// The chosen token behind the last one, and one on; at the limit nothing. A token of `ends` is the last one, and so is none at
// all: there is none where no logit is a number, and 0xFFFFFFFF is written in its place. running = whether there is another
// step. best = 0 for the next. One thread.
extern "C" __global__ void advance(u64* __restrict__ best, const unsigned* __restrict__ ends, unsigned* __restrict__ position,
                                   unsigned* __restrict__ limit, unsigned* __restrict__ history,
                                   unsigned* __restrict__ running, unsigned ends_count, unsigned context) {
    unsigned next = *position + 1, last = *limit < context ? *limit : context;
    u64 chosen = *best;
    *best = 0;
    *running = 0;
    if (next > last) return;
    unsigned token = chosen == 0 ? 0xFFFFFFFFu : 0xFFFFFFFFu - (unsigned)(chosen & 0xFFFFFFFFu);
    bool ended = token == 0xFFFFFFFFu;
    for (unsigned i = 0; i < ends_count; i++) ended |= token == ends[i];
    history[next] = token;
    *position = next;
    if (ended) *limit = next;
    *running = !ended && next < last;
}
