// arch: compute_80
// One decode step of a transformer of GPT-2's kind in bf16, sums in f32: four kernels a layer for one sequence, five for more.
//
// What bounds such a step is reading the weights once. So
// - norms, residuals, GELU, the writes to the cache and the choice of the token are parts of the products beside them;
// - a warp asks for all its weights before it waits for anything: 16 bytes a lane, past L1, which could not keep them.
// A kernel that brings the next one's weights into L2 was tried: it ends later by as much as the next one gains.
//
// One sequence: a warp multiplies a few rows of a matrix by the vector, with fused multiply-adds. Attention is done again by
// every block that needs it, which costs less than a kernel of its own for the product behind it.
// More of them: tensor cores. The weights of a block are read once for all sequences.
//
// The sums of a row have one order in each kernel, so the same step gives the same bits again. Those for one sequence and for
// many add in different orders and round activations in different places: their logits agree to bf16, not to the bit.
//
// Vectors have at most 768 numbers (`WIDTH`), the inner ones of the MLP any multiple of 32; heads have 64.

typedef unsigned short bf16;
typedef unsigned u32;
typedef unsigned long long u64;

#define FULL 0xFFFFFFFFu
#define EPSILON 1e-5f
#define HEAD 64
#define WIDTH 768
// Columns that a warp has: eight a lane, one load. A row of WIDTH takes STRIPS of them.
#define STRIP 256
#define STRIPS (WIDTH / STRIP)
// One sequence: rows of a matrix that a warp has at once. Chosen so that GPT-2-small's matrices make 128 blocks: about one for
// each multiprocessor of a large GPU, so that few read the same vector.
#define ROWS 6
#define QKV_GROUPS 3
#define UP_GROUPS 4
#define DOWN_STRIPS 12
#define HEAD_ROWS 4
// Rows that a block of `attend_out` makes.
#define ATTEND_ROWS 96
// Threads of the blocks that attend for one, up to 8 and up to 32 sequences: where there are few blocks, they are larger.
#define ATTEND_1 256
#define ATTEND_8 512
#define ATTEND_32 256
// How many of these blocks, and of the last product's, a multiprocessor should have at a time. Of all others it is one: told
// that, the assembler takes the registers to have all of a warp's loads on their way. Else it waits for one after the other.
#define AT_A_TIME_8 1
#define AT_A_TIME_32 2
#define HEADS_8 2
#define HEADS_32 2
// Many sequences: eights of rows that a block has, warps that share the columns, and loads that each has in flight.
#define QKV_TILES 3
#define UP_TILES 3
#define HEAD_TILES 2
#define NORM_WARPS 8
#define ADD_WARPS 24
#define ADD_LOADS_8 4
#define ADD_LOADS_32 2
// Less than any score.
#define LOWEST -1e30f

// What some of this is worth is measured by doing without it (crates/bench/src/worth):
// FEW_REGISTERS         the assembler is not told that one block at a time is enough
// CACHED_WEIGHTS        weights go through L1
// ONE_ROW_AT_A_TIME     a warp asks for the weights of a row when it has those of the row before
// NORMED_BEFORE         vectors come with norm and gains in them, and products only multiply
#ifdef FEW_REGISTERS
#define AT_A_TIME_1 0
#else
#define AT_A_TIME_1 1
#endif
#ifdef NORMED_BEFORE
#define SCALE(squares, dim) 1.0f
#else
#define SCALE(squares, dim) rsqrtf((squares) / (dim) + EPSILON)
#endif

__device__ __forceinline__ float low(u32 pair) { return __uint_as_float(pair << 16); }
__device__ __forceinline__ float high(u32 pair) { return __uint_as_float(pair & 0xFFFF0000u); }

// Two numbers, rounded to nearest even.
__device__ __forceinline__ u32 pack(float lower, float upper) {
    u32 pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(upper), "f"(lower));
    return pair;
}

__device__ __forceinline__ bf16 rounded(float x) { return (bf16)pack(x, 0.0f); }

// Eight weights, past L1: nobody on this multiprocessor reads them again.
__device__ __forceinline__ uint4 weights(const bf16* at) {
    uint4 w;
#ifdef CACHED_WEIGHTS
#define LOAD "ld.global.nc.v4.u32"
#else
#define LOAD "ld.global.nc.L1::no_allocate.v4.u32"
#endif
    asm volatile(LOAD " {%0, %1, %2, %3}, [%4];"
                 : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w)
                 : "l"(at));
    return w;
}

// What an earlier kernel wrote. Cached in L1, because other warps of the block read it too: an L2 that gives the same lines to
// thousands of warps is slower than the memory.
__device__ __forceinline__ float4 fresh(const float* at) {
    float4 x;
    asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "l"(at));
    return x;
}

__device__ __forceinline__ uint4 fresh(const bf16* at) {
    uint4 x;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "l"(at));
    return x;
}

__device__ __forceinline__ u32 fresh(const u32* at) {
    u32 x;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(at));
    return x;
}

__device__ __forceinline__ float fresh_one(const float* at) { return __uint_as_float(fresh((const u32*)at)); }

__device__ __forceinline__ void eight(const float* from, float* x) {
    float4 a = fresh(from), b = fresh(from + 4);
    x[0] = a.x, x[1] = a.y, x[2] = a.z, x[3] = a.w, x[4] = b.x, x[5] = b.y, x[6] = b.z, x[7] = b.w;
}

__device__ __forceinline__ float dot(uint4 w, const float* x, float sum) {
    sum = __fmaf_rn(low(w.x), x[0], sum);
    sum = __fmaf_rn(high(w.x), x[1], sum);
    sum = __fmaf_rn(low(w.y), x[2], sum);
    sum = __fmaf_rn(high(w.y), x[3], sum);
    sum = __fmaf_rn(low(w.z), x[4], sum);
    sum = __fmaf_rn(high(w.z), x[5], sum);
    sum = __fmaf_rn(low(w.w), x[6], sum);
    return __fmaf_rn(high(w.w), x[7], sum);
}

__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(FULL, x, offset);
    return x;
}

// x (1 + erf(x / sqrt 2)) / 2, with erf to 1.5e-7: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
__device__ __forceinline__ float gelu(float x) {
    float z = fabsf(x) * 0.70710678f, t = __fdividef(1.0f, __fmaf_rn(0.3275911f, z, 1.0f));
    float p = __fmaf_rn(1.061405429f, t, -1.453152027f);
    p = __fmaf_rn(p, t, 1.421413741f);
    p = __fmaf_rn(p, t, -0.284496736f);
    p = __fmaf_rn(p, t, 0.254829592f);
    float erf = 1.0f - p * t * __expf(-z * z);
    return 0.5f * x * (1.0f + copysignf(erf, x));
}

// Larger for a larger logit, and among equal ones for the first token. 0 is less than all.
__device__ __forceinline__ u64 rank(float logit, u32 token) {
    u32 bits = __float_as_uint(logit);
    bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (u64)bits << 32 | (0xFFFFFFFFu - token);
}

__device__ __forceinline__ u64 better(u64 a, u64 b) { return a > b ? a : b; }

// Output `row` of the product for queries, keys and values: queries are scaled for the softmax, keys and values go to the
// cache, [sequences, heads, context, HEAD].
__device__ __forceinline__ void place(float value, u32 row, u32 sequence, u32 position, u32 dim, u32 context, float* queries,
                                      bf16* keys, bf16* values) {
    if (row < dim) {
        queries[(u64)sequence * dim + row] = value * 0.125f;
        return;
    }
    u32 i = row < 2 * dim ? row - dim : row - 2 * dim;
    u64 at = (((u64)sequence * (dim / HEAD) + i / HEAD) * context + position) * HEAD + i % HEAD;
    if (row < 2 * dim)
        keys[at] = rounded(value);
    else
        values[at] = rounded(value);
}

// ---------------------------------------------------------------------------------------------------------- attention

// What a warp knows of its keys: the largest score, the sum of the exponentials, and the values weighted with them.
struct Part {
    float top, sum, out[HEAD];
};

// out = softmax(q K^T) V over the keys up to `position`. Eight lanes have a key, a warp four of them at once, and each warp
// keeps its own largest score, so that they meet once, at the end. A round is 128 keys. With EAGER those of the first are
// loaded before it is known how many there are, as far as the context goes: more bytes for less waiting.
template <int THREADS, bool EAGER>
__device__ __forceinline__ void attention(const float* q, const bf16* keys, const bf16* values, u32 position, u32 context,
                                          Part* parts, float* out) {
    const int AT_ONCE = THREADS / 8, LOADS = 128 / AT_ONCE;
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, mine = warp * 4 + lane / 8, column = lane % 8 * 8;
    float top = LOWEST, sum = 0.0f, acc[8], query[8];
#pragma unroll
    for (int i = 0; i < 8; i++) acc[i] = 0.0f;
    eight(q + column, query);
    u32 first = mine;
    do {
        u32 known = EAGER && first == mine ? context - 1 : position;
        uint4 k[LOADS], v[LOADS];
#pragma unroll
        for (int p = 0; p < LOADS; p++) {
            u64 at = (u64)(first + p * AT_ONCE) * HEAD + column;
            k[p] = v[p] = make_uint4(0, 0, 0, 0);
            if (first + p * AT_ONCE <= known) k[p] = fresh(keys + at), v[p] = fresh(values + at);
        }
        float score[LOADS], before = top;
#pragma unroll
        for (int p = 0; p < LOADS; p++) score[p] = dot(k[p], query, 0.0f);
#pragma unroll
        for (int offset = 1; offset < 8; offset *= 2)
#pragma unroll
            for (int p = 0; p < LOADS; p++) score[p] += __shfl_xor_sync(FULL, score[p], offset);
#pragma unroll
        for (int p = 0; p < LOADS; p++) top = fmaxf(top, first + p * AT_ONCE <= position ? score[p] : LOWEST);
        top = fmaxf(top, __shfl_xor_sync(FULL, top, 8));
        top = fmaxf(top, __shfl_xor_sync(FULL, top, 16));
        float shrink = __expf(before - top);
        sum *= shrink;
#pragma unroll
        for (int i = 0; i < 8; i++) acc[i] *= shrink;
#pragma unroll
        for (int p = 0; p < LOADS; p++) {
            float e = first + p * AT_ONCE <= position ? __expf(score[p] - top) : 0.0f;
            u32 pairs[4] = {v[p].x, v[p].y, v[p].z, v[p].w};
            sum += e;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                acc[2 * i] = __fmaf_rn(e, low(pairs[i]), acc[2 * i]);
                acc[2 * i + 1] = __fmaf_rn(e, high(pairs[i]), acc[2 * i + 1]);
            }
        }
        first += 128;
    } while (first - mine <= position);
#pragma unroll
    for (int offset = 8; offset < 32; offset *= 2) {
        sum += __shfl_xor_sync(FULL, sum, offset);
#pragma unroll
        for (int i = 0; i < 8; i++) acc[i] += __shfl_xor_sync(FULL, acc[i], offset);
    }
    if (lane < 8) {
#pragma unroll
        for (int i = 0; i < 8; i++) parts[warp].out[column + i] = acc[i];
        if (lane == 0) parts[warp].top = top, parts[warp].sum = sum;
    }
    __syncthreads();
    if (threadIdx.x < HEAD) {
        float most = LOWEST, total = 0.0f, value = 0.0f;
#pragma unroll
        for (int i = 0; i < THREADS / 32; i++) most = fmaxf(most, parts[i].top);
#pragma unroll
        for (int i = 0; i < THREADS / 32; i++) {
            float share = __expf(parts[i].top - most);
            total = __fmaf_rn(share, parts[i].sum, total);
            value = __fmaf_rn(share, parts[i].out[threadIdx.x], value);
        }
        out[threadIdx.x] = __fdividef(value, total);
    }
    __syncthreads();
}

// out[sequence] = softmax(q K^T) V, head by head, rounded. A block a head and sequence: grid [heads, sequences].
template <int THREADS>
__device__ __forceinline__ void attend_many(const float* queries, const bf16* keys, const bf16* values, const u32* positions,
                                            bf16* out, u32 context, u32 dim) {
    __shared__ Part parts[THREADS / 32];
    __shared__ float attended[HEAD];
    u32 head = blockIdx.x, sequence = blockIdx.y, position = min(fresh(positions + sequence), context - 1);
    u64 at = ((u64)sequence * (dim / HEAD) + head) * context * HEAD, to = (u64)sequence * dim + head * HEAD;
    attention<THREADS, false>(queries + to, keys + at, values + at, position, context, parts, attended);
    if (threadIdx.x < HEAD) out[to + threadIdx.x] = rounded(attended[threadIdx.x]);
}

// -------------------------------------------------------------------------------------------------------- one sequence

// The lane's eight columns of R rows: what lies outside is zero.
template <int R>
struct Strip {
    uint4 w[R];

    __device__ __forceinline__ void load(const bf16* matrix, u32 row, u32 rows, u32 column, u32 columns) {
        u32 held_up = 0;
#pragma unroll
        for (int r = 0; r < R; r++) {
            bool inside = row + r < rows && column < columns;
            w[r] = inside ? weights(matrix + held_up + (u64)(row + r) * columns + column) : make_uint4(0, 0, 0, 0);
#ifdef ONE_ROW_AT_A_TIME
            // Always 0, which nobody can know before the weights are there.
            held_up = w[r].x & (columns >> 31);
#endif
        }
    }

    __device__ __forceinline__ void times(const float (&x)[8], float* sum) const {
#pragma unroll
        for (int r = 0; r < R; r++) sum[r] = dot(w[r], x, sum[r]);
    }
};

template <int N>
__device__ __forceinline__ void warp_sums(float (&sum)[N]) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
#pragma unroll
        for (int i = 0; i < N; i++) sum[i] += __shfl_xor_sync(FULL, sum[i], offset);
}

// Lane i leaves the i-th sum.
template <int N>
__device__ __forceinline__ void leave(const float (&sum)[N], float* to, u32 lane) {
#pragma unroll
    for (int i = 0; i < N; i++)
        if (lane == i) to[i] = sum[i];
}

// Multiplies x by its gains; what comes back is the sum of the squares of what it was before.
__device__ __forceinline__ float gained(float (&x)[8], uint4 gains) {
#ifdef NORMED_BEFORE
    return 0.0f;
#endif
    u32 pairs[4] = {gains.x, gains.y, gains.z, gains.w};
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        squares = __fmaf_rn(x[i], x[i], squares);
        x[i] *= i % 2 ? high(pairs[i / 2]) : low(pairs[i / 2]);
    }
    return squares;
}

// Queries, keys and values of one sequence: W [3 dim, dim] times norm(x). A block has QKV_GROUPS * ROWS rows; each group has a
// warp for every strip of columns, and they meet once, at the end. The norm is one factor for all, so it can wait until then.
extern "C" __global__ void __launch_bounds__(QKV_GROUPS * STRIPS * 32, AT_A_TIME_1)
    gpt2_qkv_1(const bf16* __restrict__ w, const bf16* __restrict__ gain, const float* __restrict__ x,
               const u32* __restrict__ positions, float* __restrict__ queries, bf16* __restrict__ keys,
               bf16* __restrict__ values, u32 context, u32 dim) {
    __shared__ float sums[QKV_GROUPS][STRIPS][ROWS + 1];
    u32 lane = threadIdx.x % 32, strip = threadIdx.x / 32 % STRIPS, group = threadIdx.x / 32 / STRIPS;
    u32 column = strip * STRIP + lane * 8, row = (blockIdx.x * QKV_GROUPS + group) * ROWS;
    Strip<ROWS> m;
    m.load(w, row, 3 * dim, column, dim);
    float v[8] = {}, sum[ROWS + 1] = {};
    uint4 gains = make_uint4(0, 0, 0, 0);
    if (column < dim) eight(x + column, v), gains = weights(gain + column);
    u32 position = fresh(positions);
    sum[ROWS] = gained(v, gains);
    m.times(v, sum);
    warp_sums(sum);
    leave(sum, sums[group][strip], lane);
    __syncthreads();
    u32 mine = threadIdx.x / ROWS, r = threadIdx.x % ROWS, output = (blockIdx.x * QKV_GROUPS + mine) * ROWS + r;
    if (mine >= QKV_GROUPS || output >= 3 * dim || position >= context) return;
    float total = 0.0f, squares = 0.0f;
#pragma unroll
    for (int i = 0; i < STRIPS; i++) total += sums[mine][i][r], squares += sums[0][i][ROWS];
    place(total * SCALE(squares, dim), output, 0, position, dim, context, queries, keys, values);
}

// shares[head] = the head's share of W [dim, dim] times the attended values, of one sequence. Grid [heads, ..]: every block
// attends for its head, and then makes ATTEND_ROWS rows.
extern "C" __global__ void __launch_bounds__(ATTEND_1, AT_A_TIME_1)
    gpt2_attend_out_1(const bf16* __restrict__ w, const float* __restrict__ queries, const bf16* __restrict__ keys,
                      const bf16* __restrict__ values, const u32* __restrict__ positions, float* __restrict__ shares,
                      u32 context, u32 dim) {
    __shared__ Part parts[ATTEND_1 / 32];
    __shared__ float attended[HEAD];
    const int AT_ONCE = ATTEND_1 / 8;
    u32 lane = threadIdx.x % 32, head = blockIdx.x, column = lane % 8 * 8;
    u32 row = blockIdx.y * ATTEND_ROWS + threadIdx.x / 8;
    uint4 m[ATTEND_ROWS / AT_ONCE];
#pragma unroll
    for (int i = 0; i < ATTEND_ROWS / AT_ONCE; i++) {
        u32 at = row + i * AT_ONCE;
        m[i] = at < dim ? weights(w + (u64)at * dim + head * HEAD + column) : make_uint4(0, 0, 0, 0);
    }
    u32 position = min(fresh(positions), context - 1);
    u64 at = (u64)head * context * HEAD;
    attention<ATTEND_1, true>(queries + head * HEAD, keys + at, values + at, position, context, parts, attended);
    float x[8];
#pragma unroll
    for (int i = 0; i < 8; i++) x[i] = attended[column + i];
#pragma unroll
    for (int i = 0; i < ATTEND_ROWS / AT_ONCE; i++) {
        float sum = dot(m[i], x, 0.0f);
#pragma unroll
        for (int offset = 1; offset < 8; offset *= 2) sum += __shfl_xor_sync(FULL, sum, offset);
        if (lane % 8 == 0 && row + i * AT_ONCE < dim) shares[(u64)head * dim + row + i * AT_ONCE] = sum;
    }
}

// y = x + the heads' shares; u = gelu(W [hidden, dim] norm(y)), of one sequence. Rows and strips as in `qkv_1`.
extern "C" __global__ void __launch_bounds__(UP_GROUPS * STRIPS * 32, AT_A_TIME_1)
    gpt2_up_1(const bf16* __restrict__ w, const bf16* __restrict__ gain, const float* __restrict__ x,
              const float* __restrict__ shares, float* __restrict__ y, float* __restrict__ u, u32 heads, u32 dim, u32 hidden) {
    __shared__ __align__(16) float sum_of[WIDTH];
    __shared__ float sums[UP_GROUPS][STRIPS][ROWS + 1];
    u32 lane = threadIdx.x % 32, strip = threadIdx.x / 32 % STRIPS, group = threadIdx.x / 32 / STRIPS;
    u32 column = strip * STRIP + lane * 8, row = (blockIdx.x * UP_GROUPS + group) * ROWS;
    Strip<ROWS> m;
    m.load(w, row, hidden, column, dim);
    uint4 gains = column < dim ? weights(gain + column) : make_uint4(0, 0, 0, 0);
    for (u32 i = threadIdx.x * 4; i < dim; i += blockDim.x * 4) {
        float4 t = fresh(x + i), share[WIDTH / HEAD];
#pragma unroll
        for (int h = 0; h < WIDTH / HEAD; h++) share[h] = h < heads ? fresh(shares + h * dim + i) : make_float4(0, 0, 0, 0);
#pragma unroll
        for (int h = 0; h < WIDTH / HEAD; h++) t.x += share[h].x, t.y += share[h].y, t.z += share[h].z, t.w += share[h].w;
        if (blockIdx.x == 0) *(float4*)(y + i) = t;
        *(float4*)(sum_of + i) = t;
    }
    __syncthreads();
    float v[8] = {}, sum[ROWS + 1] = {};
    if (column < dim) {
#pragma unroll
        for (int i = 0; i < 8; i++) v[i] = sum_of[column + i];
    }
    sum[ROWS] = gained(v, gains);
    m.times(v, sum);
    warp_sums(sum);
    leave(sum, sums[group][strip], lane);
    __syncthreads();
    u32 mine = threadIdx.x / ROWS, r = threadIdx.x % ROWS, output = (blockIdx.x * UP_GROUPS + mine) * ROWS + r;
    if (mine >= UP_GROUPS || output >= hidden) return;
    float total = 0.0f, squares = 0.0f;
#pragma unroll
    for (int i = 0; i < STRIPS; i++) total += sums[mine][i][r], squares += sums[0][i][ROWS];
    u[output] = gelu(total * SCALE(squares, dim));
}

// x = y + W [dim, hidden] u, of one sequence. A block has ROWS rows, a warp a strip of columns of all of them.
extern "C" __global__ void __launch_bounds__(DOWN_STRIPS * 32, AT_A_TIME_1)
    gpt2_down_1(const bf16* __restrict__ w, const float* __restrict__ u, const float* __restrict__ y, float* __restrict__ x,
                u32 dim, u32 hidden) {
    __shared__ float sums[DOWN_STRIPS][ROWS];
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * ROWS, mine = first + threadIdx.x;
    float sum[ROWS] = {}, before = 0.0f;
    for (u32 column = warp * STRIP + lane * 8, round = 0; round * DOWN_STRIPS * STRIP < hidden; round++) {
        Strip<ROWS> m;
        m.load(w, first, dim, column, hidden);
        float v[8] = {};
        if (column < hidden) eight(u + column, v);
        if (round == 0) {
            if (threadIdx.x < ROWS && mine < dim) before = fresh_one(y + mine);
        }
        m.times(v, sum);
        column += DOWN_STRIPS * STRIP;
    }
    warp_sums(sum);
    leave(sum, sums[warp], lane);
    __syncthreads();
    if (threadIdx.x >= ROWS || mine >= dim) return;
#pragma unroll
    for (int i = 0; i < DOWN_STRIPS; i++) before += sums[i][threadIdx.x];
    x[mine] = before;
}

// The weights of HEAD_ROWS rows, all columns.
struct Whole {
    Strip<HEAD_ROWS> strips[STRIPS];

    __device__ __forceinline__ void load(const bf16* matrix, u32 row, u32 rows, u32 columns, u32 lane) {
#pragma unroll
        for (int i = 0; i < STRIPS; i++) strips[i].load(matrix, row, rows, i * STRIP + lane * 8, columns);
    }
};

// logits = W [vocabulary, dim] norm(x), of one sequence; best[block] = the best token that the block saw. A warp has whole
// rows; blocks go on through the matrix, and ask for the next weights before they use the last.
extern "C" __global__ void __launch_bounds__(256)
    gpt2_head_1(const bf16* __restrict__ w, const bf16* __restrict__ gain, const float* __restrict__ x,
                float* __restrict__ logits, u64* __restrict__ best, u32 dim, u32 vocabulary) {
    __shared__ u64 tops[8];
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = (blockIdx.x * 8 + warp) * HEAD_ROWS;
    u32 step = gridDim.x * 8 * HEAD_ROWS;
    Whole m;
    m.load(w, row, vocabulary, dim, lane);
    float v[STRIPS][8] = {}, squares = 0.0f;
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
        u32 column = i * STRIP + lane * 8;
        uint4 gains = make_uint4(0, 0, 0, 0);
        if (column < dim) eight(x + column, v[i]), gains = weights(gain + column);
        squares += gained(v[i], gains);
    }
    float scale = SCALE(warp_sum(squares), dim);
    u64 top = 0;
    for (; row < vocabulary; row += step) {
        Whole next;
        next.load(w, row + step, vocabulary, dim, lane);
        float sum[HEAD_ROWS] = {};
#pragma unroll
        for (int i = 0; i < STRIPS; i++) m.strips[i].times(v[i], sum);
        warp_sums(sum);
#pragma unroll
        for (int r = 0; r < HEAD_ROWS; r++)
            if (lane == r && row + r < vocabulary) {
                float logit = sum[r] * scale;
                logits[row + r] = logit;
                top = better(top, rank(logit, row + r));
            }
        m = next;
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) top = better(top, __shfl_xor_sync(FULL, top, offset));
    if (lane == 0) tops[warp] = top;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 8; i++) top = better(top, tops[i]);
        best[blockIdx.x] = top;
    }
}

// ------------------------------------------------------------------------------------------------------ many sequences

// c += a b on the tensor cores: a is 16 rows of activations, b is 8 rows of weights, 16 columns of both.
__device__ __forceinline__ void mma(float (&c)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

__device__ __forceinline__ u32 word(const uint4& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

// A block makes TILES * 8 outputs of up to SEQUENCES sequences (8, or a multiple of 16). Its warps share the columns: chunks of
// 32 go around among them, and lane t of a group of four has 8 beside each other, one load of 16 bytes. Which columns a
// multiplication takes for its first and which for its last does not matter, as long as both matrices take the same: so no
// element has to change its lane.
template <int SEQUENCES, int TILES, int WARPS, int LOADS, bool NORM>
struct Product {
    static const int GROUPS = (SEQUENCES + 15) / 16, HALVES = SEQUENCES == 8 ? 1 : 2, OUTPUTS = TILES * 8;
    // Columns of one round, and results that a thread makes.
    static const int ROUND = LOADS * WARPS * 32, RESULTS = (OUTPUTS * SEQUENCES + WARPS * 32 - 1) / (WARPS * 32);

    // The width is 5 more than a multiple of 16: then threads that read one sequence's outputs meet in no bank, and lanes that
    // write their fragments in few.
    struct Shared {
        float sums[WARPS][OUTPUTS][GROUPS * 16 + 5], squares[WARPS][SEQUENCES];
    };

    uint4 x[LOADS][GROUPS][HALVES], w[LOADS][TILES];
    float c[GROUPS][TILES][4];
    u32 warp, group, member;

    __device__ __forceinline__ Product() {
        warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, member = threadIdx.x % 4;
    }

    __device__ __forceinline__ u32 column(u32 first, int i) { return first + (i * WARPS + warp) * 32 + member * 8; }

    __device__ __forceinline__ void load_weights(const bf16* from, u32 output, u32 outputs, u32 first, u32 columns) {
#pragma unroll
        for (int i = 0; i < LOADS; i++)
#pragma unroll
            for (int n = 0; n < TILES; n++) {
                u32 k = column(first, i), row = output + n * 8 + group;
                w[i][n] = row < outputs && k < columns ? weights(from + (u64)row * columns + k) : make_uint4(0, 0, 0, 0);
            }
    }

    __device__ __forceinline__ void load_activations(const bf16* from, u32 batch, u32 first, u32 columns) {
#pragma unroll
        for (int i = 0; i < LOADS; i++)
#pragma unroll
            for (int m = 0; m < GROUPS; m++)
#pragma unroll
                for (int h = 0; h < HALVES; h++) {
                    u32 k = column(first, i), row = m * 16 + h * 8 + group;
                    x[i][m][h] = row < batch && k < columns ? fresh(from + (u64)row * columns + k) : make_uint4(0, 0, 0, 0);
                }
    }

    // Loads the activations, multiplies them by their gains, and leaves the sums of their squares in shared memory.
    __device__ __forceinline__ void load_normed(const bf16* from, const bf16* gain, u32 batch, u32 columns, Shared& shared) {
        load_activations(from, batch, 0, columns);
        uint4 gains[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            gains[i] = column(0, i) < columns ? weights(gain + column(0, i)) : make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int m = 0; m < GROUPS; m++)
#pragma unroll
            for (int h = 0; h < HALVES; h++) {
                float square = 0.0f;
#pragma unroll
                for (int i = 0; i < LOADS; i++) {
                    u32 pairs[4];
#pragma unroll
                    for (int k = 0; k < 4; k++) {
                        u32 pair = word(x[i][m][h], k), by = word(gains[i], k);
                        square = __fmaf_rn(low(pair), low(pair), square);
                        square = __fmaf_rn(high(pair), high(pair), square);
                        pairs[k] = pack(low(pair) * low(by), high(pair) * high(by));
                    }
                    x[i][m][h] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
                }
                square += __shfl_xor_sync(FULL, square, 1);
                square += __shfl_xor_sync(FULL, square, 2);
                if (member == 0) shared.squares[warp][m * 16 + h * 8 + group] = square;
            }
    }

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int m = 0; m < GROUPS; m++)
#pragma unroll
            for (int n = 0; n < TILES; n++) c[m][n][0] = c[m][n][1] = c[m][n][2] = c[m][n][3] = 0.0f;
    }

    __device__ __forceinline__ void multiply() {
#pragma unroll
        for (int i = 0; i < LOADS; i++)
#pragma unroll
            for (int half = 0; half < 4; half += 2)
#pragma unroll
                for (int m = 0; m < GROUPS; m++)
#pragma unroll
                    for (int n = 0; n < TILES; n++) {
                        const uint4 &upper = x[i][m][0], &lower = x[i][m][HALVES - 1];
                        mma(c[m][n], word(upper, half), HALVES == 1 ? 0 : word(lower, half), word(upper, half + 1),
                            HALVES == 1 ? 0 : word(lower, half + 1), word(w[i][n], half), word(w[i][n], half + 1));
                    }
    }

    __device__ __forceinline__ void share(Shared& shared) {
#pragma unroll
        for (int m = 0; m < GROUPS; m++)
#pragma unroll
            for (int n = 0; n < TILES; n++)
#pragma unroll
                for (int i = 0; i < 2 * HALVES; i++)
                    shared.sums[warp][n * 8 + member * 2 + i % 2][m * 16 + i / 2 * 8 + group] = c[m][n][i];
    }

    // Which of the block's outputs, of which sequence, the thread's result number i is.
    static __device__ __forceinline__ void result(int i, u32& output, u32& sequence) {
        u32 at = i * WARPS * 32 + threadIdx.x;
        output = at % OUTPUTS, sequence = at / OUTPUTS;
    }

    // The whole sum of it.
    static __device__ __forceinline__ float total(const Shared& shared, u32 output, u32 sequence, u32 columns) {
        float sum = 0.0f, square = 0.0f;
#pragma unroll
        for (int i = 0; i < WARPS; i++) {
            sum += shared.sums[i][output][sequence];
            if (NORM) square += shared.squares[i][sequence];
        }
        return NORM ? sum * rsqrtf(square / columns + EPSILON) : sum;
    }
};

// What the kernels for up to 8 and up to 32 sequences are made of. A vector's columns are held at once.
#define NORMED(SEQUENCES, TILES) Product<SEQUENCES, TILES, NORM_WARPS, WIDTH / 32 / NORM_WARPS, true>

template <int SEQUENCES>
__device__ __forceinline__ void qkv_many(const bf16* w, const bf16* gain, const bf16* x, const u32* positions, float* queries,
                                         bf16* keys, bf16* values, u32 batch, u32 context,
                                         u32 dim) {
    typedef NORMED(SEQUENCES, QKV_TILES) P;
    __shared__ typename P::Shared shared;
    u32 first = blockIdx.x * P::OUTPUTS, output, sequence, position[P::RESULTS];
    P p;
    p.load_weights(w, first, 3 * dim, 0, dim);
#pragma unroll
    for (int i = 0; i < P::RESULTS; i++) {
        P::result(i, output, sequence);
        position[i] = sequence < batch ? fresh(positions + sequence) : context;
    }
    p.load_normed(x, gain, batch, dim, shared);
    p.clear();
    p.multiply();
    p.share(shared);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < P::RESULTS; i++) {
        P::result(i, output, sequence);
        if (position[i] >= context || first + output >= 3 * dim) continue;
        float sum = P::total(shared, output, sequence, dim);
        place(sum, first + output, sequence, position[i], dim, context, queries, keys, values);
    }
}

// x += W [outputs, inputs] v, in f32 and rounded.
template <int SEQUENCES, int LOADS>
__device__ __forceinline__ void add_many(const bf16* w, const bf16* v, float* x, bf16* x_rounded, u32 batch, u32 inputs,
                                         u32 outputs) {
    typedef Product<SEQUENCES, 1, ADD_WARPS, LOADS, false> P;
    __shared__ typename P::Shared shared;
    u32 first = blockIdx.x * P::OUTPUTS, output, sequence;
    float before[P::RESULTS];
    P p;
    p.clear();
    for (u32 column = 0; column < inputs; column += P::ROUND) {
        p.load_weights(w, first, outputs, column, inputs);
        p.load_activations(v, batch, column, inputs);
        if (column == 0) {
#pragma unroll
            for (int i = 0; i < P::RESULTS; i++) {
                P::result(i, output, sequence);
                bool inside = sequence < batch && first + output < outputs;
                before[i] = inside ? fresh_one(x + (u64)sequence * outputs + first + output) : 0.0f;
            }
        }
        p.multiply();
    }
    p.share(shared);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < P::RESULTS; i++) {
        P::result(i, output, sequence);
        if (sequence >= batch || first + output >= outputs) continue;
        u64 at = (u64)sequence * outputs + first + output;
        float sum = before[i] + P::total(shared, output, sequence, inputs);
        x[at] = sum;
        x_rounded[at] = rounded(sum);
    }
}

// u = gelu(W [hidden, dim] norm(x)), rounded.
template <int SEQUENCES>
__device__ __forceinline__ void up_many(const bf16* w, const bf16* gain, const bf16* x, bf16* u, u32 batch, u32 dim,
                                        u32 hidden) {
    typedef NORMED(SEQUENCES, UP_TILES) P;
    __shared__ typename P::Shared shared;
    u32 first = blockIdx.x * P::OUTPUTS, output, sequence;
    P p;
    p.load_weights(w, first, hidden, 0, dim);
    p.load_normed(x, gain, batch, dim, shared);
    p.clear();
    p.multiply();
    p.share(shared);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < P::RESULTS; i++) {
        P::result(i, output, sequence);
        if (sequence >= batch || first + output >= hidden) continue;
        u[(u64)sequence * hidden + first + output] = rounded(gelu(P::total(shared, output, sequence, dim)));
    }
}

// logits = W [vocabulary, dim] norm(x); best[sequence][block] = the best token that the block saw. Blocks go on through the
// rows of W, with the activations in registers, and ask for the next weights before they add up the last.
template <int SEQUENCES>
__device__ __forceinline__ void head_many(const bf16* w, const bf16* gain, const bf16* x, float* logits, u64* best, u32 batch,
                                          u32 dim, u32 vocabulary) {
    typedef Product<SEQUENCES, HEAD_TILES, 8, WIDTH / 32 / 8, true> P;
    __shared__ typename P::Shared shared;
    u64 tops[P::RESULTS];
#pragma unroll
    for (int i = 0; i < P::RESULTS; i++) tops[i] = 0;
    u32 first = blockIdx.x * P::OUTPUTS, output, sequence;
    P p;
    p.load_weights(w, first, vocabulary, 0, dim);
    p.load_normed(x, gain, batch, dim, shared);
    for (; first < vocabulary; first += gridDim.x * P::OUTPUTS) {
        p.clear();
        p.multiply();
        p.load_weights(w, first + gridDim.x * P::OUTPUTS, vocabulary, 0, dim);
        p.share(shared);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < P::RESULTS; i++) {
            P::result(i, output, sequence);
            if (sequence >= batch || first + output >= vocabulary) continue;
            float logit = P::total(shared, output, sequence, dim);
            logits[(u64)sequence * vocabulary + first + output] = logit;
            tops[i] = better(tops[i], rank(logit, first + output));
        }
        __syncthreads();
    }
    // OUTPUTS threads beside each other have one sequence.
#pragma unroll
    for (int i = 0; i < P::RESULTS; i++) {
#pragma unroll
        for (int offset = P::OUTPUTS / 2; offset > 0; offset /= 2)
            tops[i] = better(tops[i], __shfl_xor_sync(FULL, tops[i], offset));
        P::result(i, output, sequence);
        if (output == 0 && sequence < batch) best[(u64)sequence * gridDim.x + blockIdx.x] = tops[i];
    }
}

#define MANY(SEQUENCES)                                                                                                        \
    extern "C" __global__ void __launch_bounds__(NORM_WARPS * 32, 1) gpt2_qkv_##SEQUENCES(                                     \
        const bf16* __restrict__ w, const bf16* __restrict__ gain, const bf16* __restrict__ x,                                 \
        const u32* __restrict__ positions, float* __restrict__ queries, bf16* __restrict__ keys, bf16* __restrict__ values,    \
        u32 batch, u32 context, u32 dim) {                                                                                     \
        qkv_many<SEQUENCES>(w, gain, x, positions, queries, keys, values, batch, context, dim);                                \
    }                                                                                                                          \
    extern "C" __global__ void __launch_bounds__(ATTEND_##SEQUENCES, AT_A_TIME_##SEQUENCES) gpt2_attend_##SEQUENCES(           \
        const float* __restrict__ queries, const bf16* __restrict__ keys, const bf16* __restrict__ values,                     \
        const u32* __restrict__ positions, bf16* __restrict__ out, u32 context, u32 dim) {                                     \
        attend_many<ATTEND_##SEQUENCES>(queries, keys, values, positions, out, context, dim);                                  \
    }                                                                                                                          \
    extern "C" __global__ void __launch_bounds__(ADD_WARPS * 32, 1) gpt2_add_##SEQUENCES(                                      \
        const bf16* __restrict__ w, const bf16* __restrict__ v, float* __restrict__ x, bf16* __restrict__ x_rounded,           \
        u32 batch, u32 inputs, u32 outputs) {                                                                                  \
        add_many<SEQUENCES, ADD_LOADS_##SEQUENCES>(w, v, x, x_rounded, batch, inputs, outputs);                                \
    }                                                                                                                          \
    extern "C" __global__ void __launch_bounds__(NORM_WARPS * 32, 1) gpt2_up_##SEQUENCES(                                      \
        const bf16* __restrict__ w, const bf16* __restrict__ gain, const bf16* __restrict__ x, bf16* __restrict__ u,           \
        u32 batch, u32 dim, u32 hidden) {                                                                                      \
        up_many<SEQUENCES>(w, gain, x, u, batch, dim, hidden);                                                                 \
    }                                                                                                                          \
    extern "C" __global__ void __launch_bounds__(256, HEADS_##SEQUENCES) gpt2_head_##SEQUENCES(                                \
        const bf16* __restrict__ w, const bf16* __restrict__ gain, const bf16* __restrict__ x, float* __restrict__ logits,     \
        u64* __restrict__ best, u32 batch, u32 dim, u32 vocabulary) {                                                          \
        head_many<SEQUENCES>(w, gain, x, logits, best, batch, dim, vocabulary);                                                \
    }

MANY(8)
MANY(32)

// ----------------------------------------------------------------------------------------------------------- the token

// Threads of its blocks.
#define TOKEN 256

// x = the token's vector, as it is and in f32.
__device__ __forceinline__ void vector_of(u32 token, const bf16* table, float* x, bf16* x_rounded, u32 dim) {
    for (u32 i = threadIdx.x; i < dim; i += TOKEN) {
        bf16 value = table[(u64)token * dim + i];
        x[i] = low(value);
        x_rounded[i] = value;
    }
}

// x = the vectors of the tokens that the sequences stand at: what the first step begins with. A block a sequence.
extern "C" __global__ void __launch_bounds__(TOKEN)
    gpt2_embed(const u32* __restrict__ history, const u32* __restrict__ positions, const bf16* __restrict__ table,
               float* __restrict__ x, bf16* __restrict__ x_rounded, u32 context, u32 dim, u32 vocabulary) {
    u32 sequence = blockIdx.x, position = positions[sequence];
    u32 token = position < context ? history[(u64)sequence * context + position] : vocabulary;
    u64 to = (u64)sequence * dim;
    if (token < vocabulary) vector_of(token, table, x + to, x_rounded + to, dim);
}

// Moves a sequence on by one token, the best of what the blocks of the product saw or the one that was given, and makes x its
// vector, with which the next step begins. One that is at the end of its context stays. With `step` 0 it is moved nowhere,
// and its x is made of the same token again: for measuring. A block a sequence.
extern "C" __global__ void __launch_bounds__(TOKEN)
    gpt2_choose(const u64* __restrict__ best, const u32* __restrict__ lengths, u32* __restrict__ positions,
                u32* __restrict__ history, const bf16* __restrict__ table, float* __restrict__ x, bf16* __restrict__ x_rounded,
                u32 candidates, u32 context, u32 dim, u32 vocabulary,
                u32 step) {
    __shared__ u64 tops[TOKEN / 32];
    u32 sequence = blockIdx.x, next = __ldcg(positions + sequence) + step;
    u64 top = 0;
    for (u32 i = threadIdx.x; i < candidates; i += TOKEN) top = better(top, __ldcg(best + (u64)sequence * candidates + i));
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) top = better(top, __shfl_xor_sync(FULL, top, offset));
    if (threadIdx.x % 32 == 0) tops[threadIdx.x / 32] = top;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TOKEN / 32; i++) top = better(top, tops[i]);
    if (next >= context) return;
    u32* entry = history + (u64)sequence * context + next;
    u32 token = next < lengths[sequence] || step == 0 ? *entry : 0xFFFFFFFFu - (u32)top;
    u64 to = (u64)sequence * dim;
    if (token < vocabulary) vector_of(token, table, x + to, x_rounded + to, dim);
    __syncthreads();
    if (threadIdx.x == 0) *entry = token, positions[sequence] = next;
}
