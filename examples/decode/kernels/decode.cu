// One decode step of a small transformer, f32, for a batch of sequences that stand at different positions.
//
// What a step needs from the last one is in device memory: `history` has the tokens of every sequence, `positions` says where
// each stands, `limits` where it ends, `lengths` how much of it was given. A batch is a list of sequences, `rows`; a row that
// names no sequence is padding, and one whose sequence is at its end has nothing to do: both are embedded as zeros, leave
// cache, history and positions alone, and disturb no other row, because no kernel mixes rows.
//
// Every row is added up in one order, whatever the batch: the same tokens come out of every batch size. Exponentials are
// spelled out in + * fma, so that every device gives the same bits.

#define FULL 0xFFFFFFFFu

struct Place {
    unsigned sequence, position;
    bool active;
};

// The sequence of a row and where it stands.
__device__ __forceinline__ Place place(const unsigned* rows, const unsigned* positions, const unsigned* limits, unsigned row,
                                       unsigned sequences, unsigned context) {
    Place p = {rows[row], 0, false};
    if (p.sequence >= sequences) return p;
    p.position = positions[p.sequence];
    p.active = p.position < limits[p.sequence] && p.position < context;
    return p;
}

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

__device__ __forceinline__ float warp_sum(float x) {
    for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(FULL, x, offset);
    return x;
}

__device__ __forceinline__ float warp_max(float x) {
    for (int offset = 16; offset > 0; offset /= 2) x = fmaxf(x, __shfl_xor_sync(FULL, x, offset));
    return x;
}

// The sum over a block of 256 threads; every thread has it. `parts` is shared memory of eight.
__device__ __forceinline__ float block_sum(float x, float* parts) {
    x = warp_sum(x);
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    float sum = parts[0];
    for (int i = 1; i < 8; i++) sum += parts[i];
    return sum;
}

__device__ __forceinline__ float block_max(float x, float* parts) {
    x = warp_max(x);
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    float top = parts[0];
    for (int i = 1; i < 8; i++) top = fmaxf(top, parts[i]);
    return top;
}

__device__ __forceinline__ unsigned block_count(unsigned x, unsigned* parts) {
    for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(FULL, x, offset);
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    unsigned sum = parts[0];
    for (int i = 1; i < 8; i++) sum += parts[i];
    return sum;
}

// x[row] = the vector of the token that the row's sequence stands at; zeros for padding. One block of 256 threads a row.
extern "C" __global__ void embed(const unsigned* __restrict__ rows, const unsigned* __restrict__ positions,
                                 const unsigned* __restrict__ limits, const unsigned* __restrict__ history,
                                 const float* __restrict__ table, float* __restrict__ x, unsigned sequences,
                                 unsigned context, unsigned vocabulary, unsigned dim) {
    Place p = place(rows, positions, limits, blockIdx.x, sequences, context);
    unsigned token = p.active ? history[(unsigned long long)p.sequence * (context + 1) + p.position] : vocabulary;
    for (unsigned i = threadIdx.x; i < dim; i += 256)
        x[(unsigned long long)blockIdx.x * dim + i] = token < vocabulary ? table[(unsigned long long)token * dim + i] : 0.0f;
}

// y = x / sqrt(mean of x^2 + epsilon) * gain, row by row. One block of 256 threads a row.
extern "C" __global__ void rms_norm(const float* __restrict__ x, const float* __restrict__ gain, float* __restrict__ y,
                                    unsigned dim, float epsilon) {
    __shared__ float parts[8];
    const float* from = x + (unsigned long long)blockIdx.x * dim;
    float* to = y + (unsigned long long)blockIdx.x * dim;
    float sum = 0.0f;
    for (unsigned i = threadIdx.x; i < dim; i += 256) sum = __fmaf_rn(from[i], from[i], sum);
    float scale = __fdiv_rn(1.0f, __fsqrt_rn(__fdiv_rn(block_sum(sum, parts), (float)dim) + epsilon));
    for (unsigned i = threadIdx.x; i < dim; i += 256) to[i] = __fmul_rn(__fmul_rn(from[i], scale), gain[i]);
}

// y = x W^T, or y + x W^T. x is [rows, in], W is [out, in]; `in` is a multiple of 4. One warp an output and up to R rows: the
// weights are read once for all of them. 8 warps a block.
template <int R, bool Add>
__device__ __forceinline__ void linear(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                                       unsigned rows, unsigned in, unsigned out) {
    unsigned lane = threadIdx.x % 32, o = blockIdx.x * 8 + threadIdx.x / 32, first = blockIdx.y * R;
    if (o >= out) return;
    float sum[R];
#pragma unroll
    for (int r = 0; r < R; r++) sum[r] = 0.0f;
    const float4* weights = (const float4*)(w + (unsigned long long)o * in);
    // A row that is not there is read as the last one: with a branch around each, the loads would wait for one another.
    const float4* from[R];
#pragma unroll
    for (int r = 0; r < R; r++) from[r] = (const float4*)(x + (unsigned long long)(first + r < rows ? first + r : rows - 1) * in);
#pragma unroll 2
    for (unsigned i = lane; i < in / 4; i += 32) {
        float4 a = weights[i];
#pragma unroll
        for (int r = 0; r < R; r++) {
            float4 b = from[r][i];
            sum[r] = __fmaf_rn(a.x, b.x, sum[r]);
            sum[r] = __fmaf_rn(a.y, b.y, sum[r]);
            sum[r] = __fmaf_rn(a.z, b.z, sum[r]);
            sum[r] = __fmaf_rn(a.w, b.w, sum[r]);
        }
    }
#pragma unroll
    for (int r = 0; r < R; r++) {
        float s = warp_sum(sum[r]);
        if (lane != 0 || first + r >= rows) continue;
        float* to = y + (unsigned long long)(first + r) * out + o;
        *to = Add ? __fadd_rn(*to, s) : s;
    }
}

#define LINEAR(R)                                                                                                              \
    extern "C" __global__ void linear_##R(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,     \
                                          unsigned rows, unsigned in, unsigned out) {                                          \
        linear<R, false>(x, w, y, rows, in, out);                                                                              \
    }                                                                                                                          \
    extern "C" __global__ void linear_add_##R(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, \
                                              unsigned rows, unsigned in, unsigned out) {                                      \
        linear<R, true>(x, w, y, rows, in, out);                                                                               \
    }
LINEAR(1)
LINEAR(2)
LINEAR(4)
LINEAR(8)

// Turns the queries and keys of `qkv` by their position, pair by pair, and puts keys and values into the cache. `turns` has
// cosine and sine for each position and pair of a head; caches are [sequences, heads, context, head]. One thread a pair.
extern "C" __global__ void rope_append(float* __restrict__ qkv, const float2* __restrict__ turns,
                                       const unsigned* __restrict__ rows, const unsigned* __restrict__ positions,
                                       const unsigned* __restrict__ limits, float* __restrict__ keys,
                                       float* __restrict__ values, unsigned batch, unsigned sequences, unsigned context,
                                       unsigned dim, unsigned head) {
    unsigned t = blockIdx.x * 256 + threadIdx.x;
    if (t >= batch * (dim / 2)) return;
    unsigned row = t / (dim / 2), pair = t % (dim / 2);
    Place p = place(rows, positions, limits, row, sequences, context);
    if (!p.active) return;
    float2 turn = turns[(unsigned long long)p.position * (head / 2) + pair % (head / 2)];
    float2* of = (float2*)(qkv + (unsigned long long)row * 3 * dim);
    float2 q = of[pair], k = of[dim / 2 + pair], v = of[dim + pair];
    float2 qt = {__fmaf_rn(q.x, turn.x, -__fmul_rn(q.y, turn.y)), __fmaf_rn(q.x, turn.y, __fmul_rn(q.y, turn.x))};
    float2 kt = {__fmaf_rn(k.x, turn.x, -__fmul_rn(k.y, turn.y)), __fmaf_rn(k.x, turn.y, __fmul_rn(k.y, turn.x))};
    of[pair] = qt;
    unsigned long long h = pair / (head / 2);
    unsigned long long at = ((p.sequence * (unsigned long long)(dim / head) + h) * context + p.position) * (head / 2) + pair % (head / 2);
    ((float2*)keys)[at] = kt;
    ((float2*)values)[at] = v;
}

// out = softmax(q K^T / sqrt(head)) V over what the cache has of the row's sequence; zeros for padding. One block of 256
// threads a row and head; `head` divides 256. A thread has whole positions of the scores, then one element of some positions'
// values. Shared memory: a score for each position, 256 partial sums.
extern "C" __global__ void attend(const float* __restrict__ qkv, const float* __restrict__ keys,
                                  const float* __restrict__ values, const unsigned* __restrict__ rows,
                                  const unsigned* __restrict__ positions, const unsigned* __restrict__ limits,
                                  float* __restrict__ out, unsigned sequences, unsigned context, unsigned dim, unsigned head,
                                  float scale) {
    extern __shared__ float shared[];
    __shared__ float parts[8];
    __shared__ float4 query[32];
    float *scores = shared, *partial = shared + context;
    unsigned heads = dim / head, row = blockIdx.x / heads, h = blockIdx.x % heads, t = threadIdx.x;
    float* to = out + (unsigned long long)row * dim + h * head;
    Place p = place(rows, positions, limits, row, sequences, context);
    if (!p.active) {
        if (t < head) to[t] = 0.0f;
        return;
    }
    unsigned n = p.position + 1;
    unsigned long long base = (p.sequence * (unsigned long long)heads + h) * context * head;
    if (t < head / 4) query[t] = ((const float4*)(qkv + (unsigned long long)row * 3 * dim + h * head))[t];
    __syncthreads();
    float top = -3.4e38f;
    for (unsigned i = t; i < n; i += 256) {
        const float4* key = (const float4*)(keys + base + (unsigned long long)i * head);
        float s = 0.0f;
#pragma unroll 8
        for (unsigned d = 0; d < head / 4; d++) {
            float4 k = key[d], q = query[d];
            s = __fmaf_rn(k.x, q.x, s);
            s = __fmaf_rn(k.y, q.y, s);
            s = __fmaf_rn(k.z, q.z, s);
            s = __fmaf_rn(k.w, q.w, s);
        }
        s = __fmul_rn(s, scale);
        scores[i] = s;
        top = fmaxf(top, s);
    }
    top = block_max(top, parts);
    float sum = 0.0f;
    for (unsigned i = t; i < n; i += 256) {
        float e = exp_nonpositive(__fadd_rn(scores[i], -top));
        scores[i] = e;
        sum += e;
    }
    // Behind the barriers in it, every score is there for every thread.
    sum = block_sum(sum, parts);
    unsigned d = t % head, groups = 256 / head;
    float value = 0.0f;
#pragma unroll 8
    for (unsigned i = t / head; i < n; i += groups)
        value = __fmaf_rn(scores[i], values[base + (unsigned long long)i * head + d], value);
    partial[t] = value;
    __syncthreads();
    if (t >= head) return;
    for (unsigned g = 1; g < groups; g++) value = __fadd_rn(value, partial[g * head + t]);
    to[t] = __fdiv_rn(value, sum);
}

// y = gate / (1 + e^-gate) * up, where a row of `gated` is all gates, then all ups. One thread an element.
extern "C" __global__ void swiglu(const float* __restrict__ gated, float* __restrict__ y, unsigned n, unsigned hidden) {
    unsigned t = blockIdx.x * 256 + threadIdx.x;
    if (t >= n) return;
    const float* row = gated + (unsigned long long)(t / hidden) * 2 * hidden;
    float gate = row[t % hidden], e = exp_nonpositive(-fabsf(gate));
    float sigmoid = __fdiv_rn(gate >= 0.0f ? 1.0f : e, __fadd_rn(1.0f, e));
    y[t] = __fmul_rn(__fmul_rn(gate, sigmoid), row[hidden + t % hidden]);
}

// A float as a number without sign that is ordered as the floats are.
__device__ __forceinline__ unsigned ordered(float x) {
    unsigned bits = __float_as_uint(x);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// next[row] = a token by its logits: the largest where the temperature is 0, else drawn by the number in `noise` that belongs
// to the row's sequence, among the `top_k` largest (more where some are equal; 0: among all). 0 for padding. One block of 256
// threads a row; thread t has tokens t * share .. (t + 1) * share.
extern "C" __global__ void sample(const float* __restrict__ logits, const float* __restrict__ noise,
                                  const unsigned* __restrict__ rows, unsigned* __restrict__ next, float temperature,
                                  unsigned top_k, unsigned sequences, unsigned vocabulary) {
    __shared__ float parts[8];
    __shared__ unsigned counts[8];
    __shared__ float sums[256];
    __shared__ unsigned chosen;
    unsigned row = blockIdx.x, t = threadIdx.x, sequence = rows[row];
    if (sequence >= sequences) {
        if (t == 0) next[row] = 0;
        return;
    }
    const float* of = logits + (unsigned long long)row * vocabulary;
    unsigned share = (vocabulary + 255) / 256, begin = t * share < vocabulary ? t * share : vocabulary;
    unsigned end = begin + share < vocabulary ? begin + share : vocabulary;
    if (t == 0) chosen = vocabulary;
    float top = -3.4e38f;
    for (unsigned i = begin; i < end; i++) top = fmaxf(top, of[i]);
    top = block_max(top, parts);
    if (!(temperature > 0.0f)) {
        for (unsigned i = begin; i < end; i++)
            if (of[i] == top) atomicMin(&chosen, i);
        __syncthreads();
        if (t == 0) next[row] = chosen < vocabulary ? chosen : 0;
        return;
    }
    // The top_k-th largest, bit by bit: the largest number that at least top_k logits reach.
    unsigned least = 0;
    if (top_k > 0 && top_k < vocabulary) {
        for (int bit = 31; bit >= 0; bit--) {
            unsigned tried = least | 1u << bit, reached = 0;
            for (unsigned i = begin; i < end; i++) reached += ordered(of[i]) >= tried;
            if (block_count(reached, counts) >= top_k) least = tried;
        }
    }
    float mine = 0.0f;
    for (unsigned i = begin; i < end; i++)
        if (ordered(of[i]) >= least) mine += exp_nonpositive(__fdiv_rn(__fadd_rn(of[i], -top), temperature));
    // Sums of all threads up to each.
    sums[t] = mine;
    __syncthreads();
    for (unsigned offset = 1; offset < 256; offset *= 2) {
        float before = t >= offset ? sums[t - offset] : 0.0f;
        __syncthreads();
        sums[t] = __fadd_rn(before, sums[t]);
        __syncthreads();
    }
    float target = __fmul_rn(noise[sequence], sums[255]);
    if (mine > 0.0f && sums[t] > target) atomicMin(&chosen, t);
    __syncthreads();
    // Rounding may leave the target at the very end: then it is the last thread that has something.
    unsigned who = chosen;
    __syncthreads();
    if (who >= vocabulary) {
        if (t == 0) chosen = 0;
        __syncthreads();
        if (mine > 0.0f) atomicMax(&chosen, t);
        __syncthreads();
        who = chosen;
    }
    if (t != who) return;
    float reached = t == 0 ? 0.0f : sums[t - 1];
    unsigned token = 0;
    for (unsigned i = begin; i < end; i++) {
        if (ordered(of[i]) < least) continue;
        float part = exp_nonpositive(__fdiv_rn(__fadd_rn(of[i], -top), temperature));
        if (!(part > 0.0f)) continue;
        token = i;
        reached = __fadd_rn(reached, part);
        if (reached > target) break;
    }
    next[row] = token;
}

// The state of one row, one token on: where the sequence is past what was given, the next token is the one that was chosen.
// Says whether that one was written.
__device__ __forceinline__ bool move_on(const Place& p, unsigned row, const unsigned* __restrict__ next,
                                        const unsigned* __restrict__ lengths, unsigned* __restrict__ positions,
                                        unsigned* __restrict__ history, unsigned context) {
    bool chosen = p.position + 1 >= lengths[p.sequence];
    if (chosen) history[(unsigned long long)p.sequence * (context + 1) + p.position + 1] = next[row];
    positions[p.sequence] = p.position + 1;
    return chosen;
}

// Every sequence of the batch, one token on. One thread a row.
extern "C" __global__ void advance(const unsigned* __restrict__ rows, const unsigned* __restrict__ next,
                                   const unsigned* __restrict__ lengths, const unsigned* __restrict__ limits,
                                   unsigned* __restrict__ positions, unsigned* __restrict__ history, unsigned batch,
                                   unsigned sequences, unsigned context) {
    unsigned row = blockIdx.x * 64 + threadIdx.x;
    if (row >= batch) return;
    Place p = place(rows, positions, limits, row, sequences, context);
    if (p.active) move_on(p, row, next, lengths, positions, history, context);
}

// The same, and a sequence that has chosen the end token ends there. running = how many of the batch have not ended. One block
// of 256 threads: the count needs no atomics.
extern "C" __global__ void advance_until(const unsigned* __restrict__ rows, const unsigned* __restrict__ next,
                                         const unsigned* __restrict__ lengths, unsigned* __restrict__ limits,
                                         unsigned* __restrict__ positions, unsigned* __restrict__ history,
                                         unsigned* __restrict__ running, unsigned end_token, unsigned batch,
                                         unsigned sequences, unsigned context) {
    __shared__ unsigned parts[8];
    unsigned mine = 0;
    for (unsigned row = threadIdx.x; row < batch; row += 256) {
        Place p = place(rows, positions, limits, row, sequences, context);
        if (!p.active) continue;
        bool ended = move_on(p, row, next, lengths, positions, history, context) && next[row] == end_token;
        if (ended) limits[p.sequence] = p.position + 1;
        mine += !ended && p.position + 1 < limits[p.sequence] && p.position + 1 < context;
    }
    mine = block_count(mine, parts);
    if (threadIdx.x == 0) *running = mine;
}
