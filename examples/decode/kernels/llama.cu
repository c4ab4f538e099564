// One decode step of a Llama-like model, one token of one sequence. Weights, keys and values are bf16, f16 or f32, as the
// checkpoint has them: an entry point for each. What is between two kernels is f32, and so are all sums.
//
// What a step needs from the last one is in device memory: `history` has the tokens, `position` says where the sequence
// stands. A step is limited by reading the weights once, so the products read 16 bytes at a time, several rows in flight, and ask
// for them before they look at the vector, which the kernel before them has just written.
//
// Every sum has one order, given by the launch's shape. Exponentials are spelled out in + * fma, so that every device gives the
// same bits. `text.cu` has what a step does besides: choosing the token and moving on.

#define FULL 0xFFFFFFFFu
#define LOWEST (-3.4e38f)

typedef unsigned short u16;
typedef unsigned long long u64;

// The types of weights. A chunk is 16 bytes of them, PER elements. `wide` and `narrow` convert one, `unpack` a chunk.
struct Bf16 {
    typedef u16 Stored;
    static const unsigned PER = 8;
    static __device__ __forceinline__ float wide(u16 x) { return __uint_as_float((unsigned)x << 16); }
    // To the nearest, ties to even; a NaN stays one.
    static __device__ __forceinline__ u16 narrow(float x) {
        unsigned bits = __float_as_uint(x);
        if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (u16)(bits >> 16 | 0x40u);
        return (u16)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
    }
    static __device__ __forceinline__ void two(unsigned x, float* to) {
        to[0] = __uint_as_float(x << 16);
        to[1] = __uint_as_float(x & 0xFFFF0000u);
    }
    static __device__ __forceinline__ void unpack(uint4 x, float* to) {
        two(x.x, to), two(x.y, to + 2), two(x.z, to + 4), two(x.w, to + 6);
    }
};

struct F16 {
    typedef u16 Stored;
    static const unsigned PER = 8;
    static __device__ __forceinline__ float wide(u16 x) {
        float r;
        asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x));
        return r;
    }
    static __device__ __forceinline__ u16 narrow(float x) {
        u16 r;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
        return r;
    }
    static __device__ __forceinline__ void two(unsigned x, float* to) {
        to[0] = wide((u16)(x & 0xFFFFu));
        to[1] = wide((u16)(x >> 16));
    }
    static __device__ __forceinline__ void unpack(uint4 x, float* to) {
        two(x.x, to), two(x.y, to + 2), two(x.z, to + 4), two(x.w, to + 6);
    }
};

struct F32 {
    typedef float Stored;
    static const unsigned PER = 4;
    static __device__ __forceinline__ float wide(float x) { return x; }
    static __device__ __forceinline__ float narrow(float x) { return x; }
    static __device__ __forceinline__ void unpack(uint4 x, float* to) {
        to[0] = __uint_as_float(x.x), to[1] = __uint_as_float(x.y);
        to[2] = __uint_as_float(x.z), to[3] = __uint_as_float(x.w);
    }
};

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

__device__ __forceinline__ float silu(float x) {
    float e = exp_nonpositive(-fabsf(x));
    return __fmul_rn(x, __fdiv_rn(x >= 0.0f ? 1.0f : e, __fadd_rn(1.0f, e)));
}

__device__ __forceinline__ float warp_sum(float x) {
    for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(FULL, x, offset);
    return x;
}

__device__ __forceinline__ float warp_max(float x) {
    for (int offset = 16; offset > 0; offset /= 2) x = fmaxf(x, __shfl_xor_sync(FULL, x, offset));
    return x;
}

// The sums over a warp of R numbers each lane has, R a power of two up to 32: lane l has the one of number l / (32 / R).
template <int R>
__device__ __forceinline__ float warp_sums(float (&sum)[R]) {
    int offset = 16;
#pragma unroll
    for (int half = R / 2; half > 0; half /= 2, offset /= 2) {
        bool upper = threadIdx.x & offset;
#pragma unroll
        for (int i = 0; i < half; i++) {
            float kept = upper ? sum[i + half] : sum[i], given = upper ? sum[i] : sum[i + half];
            sum[i] = kept + __shfl_xor_sync(FULL, given, offset);
        }
    }
    for (; offset > 0; offset /= 2) sum[0] += __shfl_xor_sync(FULL, sum[0], offset);
    return sum[0];
}

// Four elements of a vector that is read again and again.
__device__ __forceinline__ void four(const float* __restrict__ x, float* to) {
    float4 v = __ldg((const float4*)x);
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

// Products of rows of W with the vector x of `in` elements, a multiple of PER. A block has R rows at a time, those that `at` names,
// and there are `groups` of them for the whole launch; each thread has some chunks of all R rows. With `Norm`, x is multiplied
// with `gain` before and every product by 1 / sqrt(mean of x^2 + epsilon) after. `give` gets the sum of a group's row: the
// first R threads call it, each for its own. Any grid of blocks of whole warps.
template <class T, int R, bool Norm, class At, class Give>
__device__ __forceinline__ void product(const float* __restrict__ x, const float* __restrict__ gain,
                                        const typename T::Stored* __restrict__ w, unsigned in, unsigned groups,
                                        float epsilon, At at, Give give) {
    __shared__ float parts[32][R + 1];
    unsigned chunks = in / T::PER, t = threadIdx.x, warps = blockDim.x / 32;
    for (unsigned group = blockIdx.x; group < groups; group += gridDim.x) {
        float sum[R], squares = 0.0f;
#pragma unroll
        for (int r = 0; r < R; r++) sum[r] = 0.0f;
        for (unsigned c = t; c < chunks; c += blockDim.x) {
            uint4 chunk[R];
#pragma unroll
            for (int r = 0; r < R; r++) chunk[r] = __ldg((const uint4*)w + (u64)at(group, r) * chunks + c);
            float v[T::PER];
#pragma unroll
            for (unsigned i = 0; i < T::PER; i += 4) four(x + c * T::PER + i, v + i);
            if (Norm) {
                float g[T::PER];
#pragma unroll
                for (unsigned i = 0; i < T::PER; i += 4) four(gain + c * T::PER + i, g + i);
#pragma unroll
                for (unsigned i = 0; i < T::PER; i++) {
                    squares = __fmaf_rn(v[i], v[i], squares);
                    v[i] = __fmul_rn(v[i], g[i]);
                }
            }
#pragma unroll
            for (int r = 0; r < R; r++) {
                float y[T::PER];
                T::unpack(chunk[r], y);
#pragma unroll
                for (unsigned i = 0; i < T::PER; i++) sum[r] = __fmaf_rn(y[i], v[i], sum[r]);
            }
        }
        float mine = warp_sums<R>(sum);
        if (t % (32 / R) == 0) parts[t / 32][t % 32 / (32 / R)] = mine;
        if (Norm) {
            squares = warp_sum(squares);
            if (t % 32 == 0) parts[t / 32][R] = squares;
        }
        __syncthreads();
        if (t < R) {
            float all = 0.0f, scale = 1.0f;
            for (unsigned i = 0; i < warps; i++) all += parts[i][t];
            if (Norm) {
                float mean = 0.0f;
                for (unsigned i = 0; i < warps; i++) mean += parts[i][R];
                scale = __fdiv_rn(1.0f, __fsqrt_rn(__fdiv_rn(mean, (float)in) + epsilon));
            }
            give(group, t, __fmul_rn(all, scale));
        }
        __syncthreads();
    }
}

// y = (x / sqrt(mean of x^2 + epsilon) * gain) W^T. W is [out, in].
template <class T, int R>
__device__ __forceinline__ void norm_linear(const float* __restrict__ x, const float* __restrict__ gain,
                                            const typename T::Stored* __restrict__ w, float* __restrict__ y, unsigned in,
                                            unsigned out, float epsilon) {
    // Where R does not divide the rows, the last of them is computed more than once, and written once.
    auto at = [=](unsigned group, unsigned r) { return group * R + r < out ? group * R + r : out - 1; };
    product<T, R, true>(x, gain, w, in, (out + R - 1) / R, epsilon, at, [=](unsigned group, unsigned r, float sum) {
        if (group * R + r < out) y[group * R + r] = sum;
    });
}

// y = y + x W^T. W is [out, in].
template <class T, int R>
__device__ __forceinline__ void linear_add(const float* __restrict__ x, const typename T::Stored* __restrict__ w,
                                           float* __restrict__ y, unsigned in, unsigned out) {
    auto at = [=](unsigned group, unsigned r) { return group * R + r < out ? group * R + r : out - 1; };
    product<T, R, false>(x, nullptr, w, in, (out + R - 1) / R, 0.0f, at, [=](unsigned group, unsigned r, float sum) {
        if (group * R + r < out) y[group * R + r] = __fadd_rn(y[group * R + r], sum);
    });
}

// y = silu(n G^T) * (n U^T) with n = x / sqrt(mean of x^2 + epsilon) * gain. G and U are [hidden, in], one behind the other. The
// first half of a group's rows are gates, the other what they gate.
template <class T, int R>
__device__ __forceinline__ void norm_gate(const float* __restrict__ x, const float* __restrict__ gain,
                                          const typename T::Stored* __restrict__ w, float* __restrict__ y, unsigned in,
                                          unsigned hidden, float epsilon) {
    const unsigned H = R / 2;
    auto at = [=](unsigned group, unsigned r) {
        unsigned i = group * H + r % H;
        return (i < hidden ? i : hidden - 1) + (r < H ? 0 : hidden);
    };
    product<T, R, true>(x, gain, w, in, (hidden + H - 1) / H, epsilon, at, [=](unsigned group, unsigned r, float sum) {
        float up = __shfl_xor_sync(R == 32 ? FULL : (1u << R) - 1, sum, H);
        if (r < H && group * H + r < hidden) y[group * H + r] = __fmul_rn(silu(sum), up);
    });
}

// x = the vector of the token that the sequence stands at. One thread an element.
template <class T>
__device__ __forceinline__ void embed(const unsigned* __restrict__ history, const unsigned* __restrict__ position,
                                      const typename T::Stored* __restrict__ table, float* __restrict__ x, unsigned context,
                                      unsigned vocabulary, unsigned dim) {
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i >= dim) return;
    unsigned p = *position, token = history[p < context ? p : context];
    x[i] = T::wide(table[(u64)(token < vocabulary ? token : 0) * dim + i]);
}

// Query heads whose values are added up at a time, and chunks that a thread asks for before it uses the first.
#define TILE 4
#define AHEAD 4

// The chunks of the next positions of a thread's, unpacked; zeros behind the last position.
template <class T>
__device__ __forceinline__ void ahead(float (&to)[AHEAD][T::PER], const uint4* chunk, unsigned i, unsigned at_once,
                                      unsigned count, unsigned lanes) {
    uint4 x[AHEAD];
#pragma unroll
    for (int u = 0; u < AHEAD; u++)
        x[u] = i + u * at_once < count ? chunk[(i + u * at_once) * lanes] : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int u = 0; u < AHEAD; u++) T::unpack(x[u], to[u]);
}

// Attention of the query heads that share one head of keys and values, over `span` positions of the cache from
// blockIdx.y * span on. `qkv` has the queries of all heads, then the keys, then the values of this step. Queries and keys are
// turned by their position, element i of the first half of a head with element i of the second; the block to whose span the
// position belongs puts keys and values into the cache, [kv_heads, context, head], before it reads them.
//
// One block of 256 threads for each head of keys and values, and each span; `head` is 16, 32, 64 or 128. Where there is one
// span, out = softmax(q K^T / sqrt(head)) V; else `parts` gets what each span has of it, [spans, heads, head], and `tops` the
// largest score and the sum for each, [spans, heads, 2], and `combine` does the rest. Shared memory, in floats:
// group * head queries, group * span scores, 8 * TILE * head sums.
template <class T>
__device__ __forceinline__ void attend(const float* __restrict__ qkv, const float2* __restrict__ turns,
                                       const unsigned* __restrict__ position, typename T::Stored* keys,
                                       typename T::Stored* values, float* __restrict__ out, float* __restrict__ tops,
                                       unsigned context, unsigned head, unsigned heads, unsigned group, unsigned span,
                                       float scale) {
    extern __shared__ float4 vector[];
    unsigned t = threadIdx.x, lane = t % 32, warp = t / 32, h = blockIdx.x, half = head / 2, kv_heads = heads / group;
    float *queries = (float*)vector, *scores = queries + group * head, *sums = scores + group * span;
    unsigned p = *position < context ? *position : context - 1, first = blockIdx.y * span;
    unsigned last = first + span < p + 1 ? first + span : p + 1, count = first < last ? last - first : 0;
    float* to = out + (u64)blockIdx.y * heads * head + (u64)h * group * head;
    float* top_of = tops + ((u64)blockIdx.y * heads + (u64)h * group) * 2;
    bool whole = gridDim.y == 1;
    if (count == 0) {
#pragma unroll 1
        for (unsigned i = t; i < group * head; i += 256) to[i] = 0.0f;
#pragma unroll 1
        for (unsigned g = t; g < group; g += 256) top_of[2 * g] = LOWEST, top_of[2 * g + 1] = 0.0f;
        return;
    }
    typename T::Stored* key = keys + (u64)h * context * head;
    typename T::Stored* value = values + (u64)h * context * head;
#pragma unroll 1
    for (unsigned i = t; i < (group + 1) * half; i += 256) {
        unsigned g = i / half, d = i % half;
        if (g == group && last != p + 1) break;
        const float* from = qkv + (g < group ? (h * group + g) * head : (heads + h) * head);
        float a = from[d], b = from[d + half];
        float2 turn = turns[(u64)p * half + d];
        float x = __fmaf_rn(a, turn.x, -__fmul_rn(b, turn.y)), y = __fmaf_rn(b, turn.x, __fmul_rn(a, turn.y));
        if (g < group) {
            queries[g * head + d] = __fmul_rn(x, scale);
            queries[g * head + d + half] = __fmul_rn(y, scale);
        } else {
            const float* v = qkv + (heads + kv_heads + h) * head;
            key[(u64)p * head + d] = T::narrow(x);
            key[(u64)p * head + d + half] = T::narrow(y);
            value[(u64)p * head + d] = T::narrow(v[d]);
            value[(u64)p * head + d + half] = T::narrow(v[d + half]);
        }
    }
    __syncthreads();
    // `lanes` of a warp have a position's chunks, one each; so a warp has several positions at a time.
    unsigned lanes = head / T::PER, side = t % lanes, which = t / lanes, at_once = 256 / lanes;
    const uint4* chunk = (const uint4*)(key + (u64)first * head) + side;
#pragma unroll 1
    for (unsigned begin = 0; begin < count; begin += AHEAD * at_once) {
        float k[AHEAD][T::PER];
        ahead<T>(k, chunk, begin + which, at_once, count, lanes);
#pragma unroll 1
        for (unsigned g = 0; g < group; g++) {
            float q[T::PER], s[AHEAD];
#pragma unroll
            for (unsigned j = 0; j < T::PER; j += 4) {
                float4 v = *(const float4*)(queries + g * head + side * T::PER + j);
                q[j] = v.x, q[j + 1] = v.y, q[j + 2] = v.z, q[j + 3] = v.w;
            }
#pragma unroll
            for (int u = 0; u < AHEAD; u++) {
                s[u] = 0.0f;
#pragma unroll
                for (unsigned j = 0; j < T::PER; j++) s[u] = __fmaf_rn(k[u][j], q[j], s[u]);
            }
#pragma unroll 1
            for (unsigned offset = lanes / 2; offset > 0; offset /= 2) {
#pragma unroll
                for (int u = 0; u < AHEAD; u++) s[u] += __shfl_xor_sync(FULL, s[u], offset);
            }
#pragma unroll
            for (int u = 0; u < AHEAD; u++) {
                unsigned i = begin + which + u * at_once;
                if (side == 0 && i < count) scores[g * span + i] = s[u];
            }
        }
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned g = warp; g < group; g += 8) {
        float* of = scores + g * span;
        float top = LOWEST, sum = 0.0f;
#pragma unroll 1
        for (unsigned i = lane; i < count; i += 32) top = fmaxf(top, of[i]);
        top = warp_max(top);
#pragma unroll 1
        for (unsigned i = lane; i < count; i += 32) {
            float e = exp_nonpositive(__fadd_rn(of[i], -top));
            of[i] = e;
            sum += e;
        }
        sum = warp_sum(sum);
        // The sum stays for the end: the queries are not needed any more.
        if (lane == 0) {
            queries[g] = sum;
            top_of[2 * g] = top, top_of[2 * g + 1] = sum;
        }
    }
    __syncthreads();
    chunk = (const uint4*)(value + (u64)first * head) + side;
#pragma unroll 1
    for (unsigned tile = 0; tile < group; tile += TILE) {
        float sum[TILE][T::PER];
#pragma unroll
        for (int g = 0; g < TILE; g++)
#pragma unroll
            for (unsigned j = 0; j < T::PER; j++) sum[g][j] = 0.0f;
#pragma unroll 1
        for (unsigned begin = 0; begin < count; begin += AHEAD * at_once) {
            float v[AHEAD][T::PER];
            ahead<T>(v, chunk, begin + which, at_once, count, lanes);
#pragma unroll
            for (int u = 0; u < AHEAD; u++) {
                unsigned i = begin + which + u * at_once;
#pragma unroll
                for (int g = 0; g < TILE; g++) {
                    float e = i < count && tile + g < group ? scores[(tile + g) * span + i] : 0.0f;
#pragma unroll
                    for (unsigned j = 0; j < T::PER; j++) sum[g][j] = __fmaf_rn(e, v[u][j], sum[g][j]);
                }
            }
        }
        // Over the positions of a warp, then over the warps.
#pragma unroll 1
        for (unsigned offset = 16; offset >= lanes; offset /= 2) {
#pragma unroll
            for (int g = 0; g < TILE; g++)
#pragma unroll
                for (unsigned j = 0; j < T::PER; j++) sum[g][j] += __shfl_xor_sync(FULL, sum[g][j], offset);
        }
        if (lane < lanes) {
#pragma unroll
            for (int g = 0; g < TILE; g++)
#pragma unroll
                for (unsigned j = 0; j < T::PER; j++) sums[(warp * TILE + g) * head + side * T::PER + j] = sum[g][j];
        }
        __syncthreads();
#pragma unroll 1
        for (unsigned i = t; i < TILE * head; i += 256) {
            unsigned g = tile + i / head;
            if (g >= group) break;
            float all = 0.0f;
            for (unsigned w = 0; w < 8; w++) all += sums[w * TILE * head + i];
            to[g * head + i % head] = whole ? __fdiv_rn(all, queries[g]) : all;
        }
        __syncthreads();
    }
}

#define STEP(name, T, S)                                                                                                      \
    extern "C" __global__ void embed_##name(const unsigned* __restrict__ history, const unsigned* __restrict__ position,      \
                                            const S* __restrict__ table, float* __restrict__ x, unsigned context,             \
                                            unsigned vocabulary, unsigned dim) {                                              \
        embed<T>(history, position, table, x, context, vocabulary, dim);                                                      \
    }                                                                                                                         \
    extern "C" __global__ void norm_linear_##name(const float* __restrict__ x, const float* __restrict__ gain,                \
                                                  const S* __restrict__ w, float* __restrict__ y, unsigned in, unsigned out,  \
                                                  float epsilon) {                                                            \
        norm_linear<T, 8>(x, gain, w, y, in, out, epsilon);                                                                   \
    }                                                                                                                         \
    extern "C" __global__ void norm_gate_##name(const float* __restrict__ x, const float* __restrict__ gain,                  \
                                                const S* __restrict__ w, float* __restrict__ y, unsigned in, unsigned hidden, \
                                                float epsilon) {                                                              \
        norm_gate<T, 8>(x, gain, w, y, in, hidden, epsilon);                                                                  \
    }                                                                                                                         \
    extern "C" __global__ void linear_add_##name(const float* __restrict__ x, const S* __restrict__ w, float* __restrict__ y, \
                                                 unsigned in, unsigned out) {                                                 \
        linear_add<T, 8>(x, w, y, in, out);                                                                                   \
    }                                                                                                                         \
    extern "C" __global__ void attend_##name(const float* __restrict__ qkv, const float2* __restrict__ turns,                 \
                                             const unsigned* __restrict__ position, S* keys, S* values,                       \
                                             float* __restrict__ out, float* __restrict__ tops, unsigned context,             \
                                             unsigned head, unsigned heads, unsigned group, unsigned span, float scale) {     \
        attend<T>(qkv, turns, position, keys, values, out, tops, context, head, heads, group, span, scale);                   \
    }
STEP(bf16, Bf16, u16)
STEP(f16, F16, u16)
STEP(f32, F32, float)
