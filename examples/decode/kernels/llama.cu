// One decode step of a Llama-like model, one token of one sequence. Weights, keys and values are bf16, f16 or f32, as the
// checkpoint has them: an entry point for each. What is between two kernels is f32, and so are all sums.
//
// What a step needs from the last one is in device memory: `history` has the tokens, `position` says where the sequence
// stands. A step is limited by reading the weights once, so the products read 16 bytes at a time, several of them in flight,
// and ask for the first before they look at the vector, which the kernel before them has just written.
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

// The next U chunks of a lane in each of R rows, from chunk `c` on, `step` apart; zeros behind the end of a row.
template <int R, int U>
__device__ __forceinline__ void fetch(uint4 (&w)[R][U], const uint4* const (&row)[R], unsigned c, unsigned step,
                                      unsigned chunks) {
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
        for (int r = 0; r < R; r++)
            w[r][u] = c + step * u < chunks ? __ldg(row[r] + c + step * u) : make_uint4(0, 0, 0, 0);
}

// Adds the products of what was fetched with the vector. That lies in shared memory in planes of float4, so that neighbouring
// lanes read neighbouring words: plane p has the p-th four elements of every chunk.
template <class T, int R, int U>
__device__ __forceinline__ void multiply(float (&sum)[R], const uint4 (&w)[R][U], const float4* vector, unsigned c,
                                         unsigned step, unsigned chunks) {
#pragma unroll
    for (int u = 0; u < U; u++) {
        if (c + step * u >= chunks) break;
        float x[T::PER];
#pragma unroll
        for (unsigned p = 0; p < T::PER / 4; p++) {
            float4 v = vector[p * chunks + c + step * u];
            x[4 * p] = v.x, x[4 * p + 1] = v.y, x[4 * p + 2] = v.z, x[4 * p + 3] = v.w;
        }
#pragma unroll
        for (int r = 0; r < R; r++) {
            float y[T::PER];
            T::unpack(w[r][u], y);
#pragma unroll
            for (unsigned i = 0; i < T::PER; i++) sum[r] = __fmaf_rn(y[i], x[i], sum[r]);
        }
    }
}

// Products of R rows of W with the vector x of `in` elements, a multiple of PER. S warps share the rows; the first of them
// hands the R sums to `give`. With `Norm`, x is multiplied with `gain` before and every product by 1 / sqrt(mean of x^2 + epsilon)
// after. With `Double`, chunks are asked for while those before them are multiplied, which takes twice the registers. Blocks
// of whole warps, S of them or a multiple, 32 at most. Shared memory: 4 bytes for each element of x. Which U, S and `Double`
// are best was measured on an H200, kernel by kernel.
template <class T, int R, int U, int S, bool Double, bool Norm, class Give>
__device__ __forceinline__ void product(const float* __restrict__ x, const float* __restrict__ gain,
                                        const typename T::Stored* __restrict__ w, const unsigned (&row)[R], unsigned in,
                                        float epsilon, Give give) {
    extern __shared__ float4 vector[];
    __shared__ float parts[32], sums[32][R];
    const unsigned PLANES = T::PER / 4, STEP = 32 * S;
    unsigned chunks = in / T::PER, lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    unsigned first = warp % S * 32 + lane;
    uint4 ahead[R][U];
    const uint4* from[R];
#pragma unroll
    for (int r = 0; r < R; r++) from[r] = (const uint4*)w + (u64)row[r] * chunks;
    fetch<R, U>(ahead, from, first, STEP, chunks);
    float squares = 0.0f;
#pragma unroll 2
    for (unsigned i = threadIdx.x; i < in / 4; i += blockDim.x) {
        float4 v = ((const float4*)x)[i];
        if (Norm) {
            float4 g = ((const float4*)gain)[i];
            squares = __fmaf_rn(v.x, v.x, squares), squares = __fmaf_rn(v.y, v.y, squares);
            squares = __fmaf_rn(v.z, v.z, squares), squares = __fmaf_rn(v.w, v.w, squares);
            v.x = __fmul_rn(v.x, g.x), v.y = __fmul_rn(v.y, g.y), v.z = __fmul_rn(v.z, g.z), v.w = __fmul_rn(v.w, g.w);
        }
        vector[i % PLANES * chunks + i / PLANES] = v;
    }
    if (Norm) {
        squares = warp_sum(squares);
        if (lane == 0) parts[warp] = squares;
    }
    __syncthreads();
    float sum[R];
#pragma unroll
    for (int r = 0; r < R; r++) sum[r] = 0.0f;
    for (unsigned c = first; c < chunks; c += STEP * U) {
        if (Double) {
            uint4 next[R][U];
            if (c + STEP * U < chunks) fetch<R, U>(next, from, c + STEP * U, STEP, chunks);
            multiply<T, R, U>(sum, ahead, vector, c, STEP, chunks);
#pragma unroll
            for (int r = 0; r < R; r++)
#pragma unroll
                for (int u = 0; u < U; u++) ahead[r][u] = next[r][u];
        } else {
            if (c != first) fetch<R, U>(ahead, from, c, STEP, chunks);
            multiply<T, R, U>(sum, ahead, vector, c, STEP, chunks);
        }
    }
#pragma unroll
    for (int r = 0; r < R; r++) sum[r] = warp_sum(sum[r]);
    if (S > 1) {
        if (lane == 0)
#pragma unroll
            for (int r = 0; r < R; r++) sums[warp][r] = sum[r];
        __syncthreads();
    }
    if (lane != 0 || warp % S != 0) return;
    if (S > 1) {
#pragma unroll
        for (int s = 1; s < S; s++)
#pragma unroll
            for (int r = 0; r < R; r++) sum[r] += sums[warp + s][r];
    }
    if (Norm) {
        float all = 0.0f;
#pragma unroll 1
        for (unsigned i = 0; i < warps; i++) all += parts[i];
        float scale = __fdiv_rn(1.0f, __fsqrt_rn(__fdiv_rn(all, (float)in) + epsilon));
#pragma unroll
        for (int r = 0; r < R; r++) sum[r] = __fmul_rn(sum[r], scale);
    }
    give(sum);
}

// The number of the row, or rows side by side, that a warp of S has a part in.
template <int S>
__device__ __forceinline__ unsigned mine() {
    return blockIdx.x * (blockDim.x / 32 / S) + threadIdx.x / 32 / S;
}

// y = (x / sqrt(mean of x^2 + epsilon) * gain) W^T. W is [out, in]. A warp a row.
template <class T>
__device__ __forceinline__ void norm_linear(const float* __restrict__ x, const float* __restrict__ gain,
                                            const typename T::Stored* __restrict__ w, float* __restrict__ y, unsigned in,
                                            unsigned out, float epsilon) {
    // A warp without a row computes the last one again, and writes nothing.
    unsigned o = mine<1>();
    const unsigned row[1] = {o < out ? o : out - 1};
    product<T, 1, 4, 1, true, true>(x, gain, w, row, in, epsilon, [=](float (&sum)[1]) {
        if (o < out) y[o] = sum[0];
    });
}

// y = y + x W^T. W is [out, in]. Two warps a row.
template <class T>
__device__ __forceinline__ void linear_add(const float* __restrict__ x, const typename T::Stored* __restrict__ w,
                                           float* __restrict__ y, unsigned in, unsigned out) {
    unsigned o = mine<2>();
    const unsigned row[1] = {o < out ? o : out - 1};
    product<T, 1, 4, 2, true, false>(x, nullptr, w, row, in, 0.0f, [=](float (&sum)[1]) {
        if (o < out) y[o] = __fadd_rn(y[o], sum[0]);
    });
}

// y = silu(n G^T) * (n U^T) with n = x / sqrt(mean of x^2 + epsilon) * gain. G and U are [hidden, in], one behind the other.
// A warp for each two rows that belong together.
template <class T>
__device__ __forceinline__ void norm_gate(const float* __restrict__ x, const float* __restrict__ gain,
                                          const typename T::Stored* __restrict__ w, float* __restrict__ y, unsigned in,
                                          unsigned hidden, float epsilon) {
    unsigned o = mine<1>(), at = o < hidden ? o : hidden - 1;
    const unsigned row[2] = {at, at + hidden};
    product<T, 2, 4, 1, false, true>(x, gain, w, row, in, epsilon, [=](float (&sum)[2]) {
        if (o < hidden) y[o] = __fmul_rn(silu(sum[0]), sum[1]);
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

// Query heads whose values are added up at a time, and positions whose chunks a thread asks for before it uses the first.
#define TILE 4
#define AHEAD 4
// Threads of a block that attends.
#define THREADS 256

// The next chunks of a thread's, from `i` on, those from `begin` to before `end`; the others stay as they are.
__device__ __forceinline__ void ahead(uint4 (&to)[AHEAD], const uint4* chunks, unsigned i, unsigned begin, unsigned end) {
#pragma unroll
    for (int u = 0; u < AHEAD; u++)
        if (i + u * THREADS >= begin && i + u * THREADS < end) to[u] = chunks[i + u * THREADS];
}

// Attention of the query heads that share one head of keys and values, over `span` positions of the cache from
// blockIdx.y * span on. `qkv` has the queries of all heads, then the keys, then the values of this step. Queries and keys are
// turned by their position, element i of the first half of a head with element i of the second; the block to whose span the
// position belongs puts keys and values into the cache, [kv_heads, context, head], before it reads them.
//
// One block of THREADS threads for each head of keys and values, and each span; `head` is 16, 32, 64 or 128. Where there is one
// span, out = softmax(q K^T / sqrt(head)) V; else `parts` gets what each span has of it, [spans, heads, head], and `tops` the
// largest score and the sum for each, [spans, heads, 2], and `combine` does the rest. Shared memory, in floats:
// group * head queries, group * span scores, THREADS / 32 * TILE * head sums.
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
        for (unsigned i = t; i < group * head; i += THREADS) to[i] = 0.0f;
#pragma unroll 1
        for (unsigned g = t; g < group; g += THREADS) top_of[2 * g] = LOWEST, top_of[2 * g + 1] = 0.0f;
        return;
    }
    typename T::Stored* key = keys + (u64)h * context * head;
    typename T::Stored* value = values + (u64)h * context * head;
    // `lanes` threads have a position's chunks, one each, and the next ones those of the next position. The first chunks of
    // keys and values are asked for at once: all but those of this step, which are not there yet.
    unsigned lanes = head / T::PER, side = t % lanes, end = count * lanes, old = last == p + 1 ? end - lanes : end;
    const uint4* key_chunks = (const uint4*)(key + (u64)first * head);
    const uint4* value_chunks = (const uint4*)(value + (u64)first * head);
    uint4 k[AHEAD] = {}, v[AHEAD] = {};
    ahead(k, key_chunks, t, 0, old);
    ahead(v, value_chunks, t, 0, old);
#pragma unroll 1
    for (unsigned i = t; i < (group + 1) * half; i += THREADS) {
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
    ahead(k, key_chunks, t, old, end);
    ahead(v, value_chunks, t, old, end);
#pragma unroll 1
    for (unsigned begin = 0; begin < end; begin += AHEAD * THREADS) {
        if (begin > 0) ahead(k, key_chunks, begin + t, 0, end);
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
                float y[T::PER];
                T::unpack(k[u], y);
                s[u] = 0.0f;
#pragma unroll
                for (unsigned j = 0; j < T::PER; j++) s[u] = __fmaf_rn(y[j], q[j], s[u]);
            }
#pragma unroll 1
            for (unsigned offset = lanes / 2; offset > 0; offset /= 2) {
#pragma unroll
                for (int u = 0; u < AHEAD; u++) s[u] += __shfl_xor_sync(FULL, s[u], offset);
            }
#pragma unroll
            for (int u = 0; u < AHEAD; u++) {
                unsigned i = begin + t + u * THREADS;
                if (side == 0 && i < end) scores[g * span + i / lanes] = s[u];
            }
        }
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned g = warp; g < group; g += THREADS / 32) {
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
#pragma unroll 1
    for (unsigned tile = 0; tile < group; tile += TILE) {
        float sum[TILE][T::PER];
#pragma unroll
        for (int g = 0; g < TILE; g++)
#pragma unroll
            for (unsigned j = 0; j < T::PER; j++) sum[g][j] = 0.0f;
#pragma unroll 1
        for (unsigned begin = 0; begin < end; begin += AHEAD * THREADS) {
            // What was asked for first is still there, unless a later round took its place.
            if (begin > 0 || (tile > 0 && end > AHEAD * THREADS)) ahead(v, value_chunks, begin + t, 0, end);
#pragma unroll
            for (int u = 0; u < AHEAD; u++) {
                unsigned i = begin + t + u * THREADS;
                float y[T::PER];
                T::unpack(v[u], y);
#pragma unroll
                for (int g = 0; g < TILE; g++) {
                    float e = i < end && tile + g < group ? scores[(tile + g) * span + i / lanes] : 0.0f;
#pragma unroll
                    for (unsigned j = 0; j < T::PER; j++) sum[g][j] = __fmaf_rn(e, y[j], sum[g][j]);
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
        for (unsigned i = t; i < TILE * head; i += THREADS) {
            unsigned g = tile + i / head;
            if (g >= group) break;
            float all = 0.0f;
#pragma unroll 4
            for (unsigned w = 0; w < THREADS / 32; w++) all += sums[w * TILE * head + i];
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
        norm_linear<T>(x, gain, w, y, in, out, epsilon);                                                                      \
    }                                                                                                                         \
    extern "C" __global__ void norm_gate_##name(const float* __restrict__ x, const float* __restrict__ gain,                  \
                                                const S* __restrict__ w, float* __restrict__ y, unsigned in, unsigned hidden, \
                                                float epsilon) {                                                              \
        norm_gate<T>(x, gain, w, y, in, hidden, epsilon);                                                                     \
    }                                                                                                                         \
    extern "C" __global__ void linear_add_##name(const float* __restrict__ x, const S* __restrict__ w, float* __restrict__ y, \
                                                 unsigned in, unsigned out) {                                                 \
        linear_add<T>(x, w, y, in, out);                                                                                      \
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
