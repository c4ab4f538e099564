// Training steps of a recurrent and of a feed-forward network: products with what follows them, GRU cells, Adam.
//
// Made for small matrices, where a kernel's time is latency: many small blocks, all loads of a thread in flight at once, and
// sums that are shared by the threads of a block. Matrices are row by row; widths are multiples of 4, so that everything can
// be loaded 16 bytes at a time.
//
// Every sum has one order, and every operation is rounded once and spelled out: the same step gives the same bits on every
// device, and src/reference gives them too.

#define WARP 0xFFFFFFFFu

__device__ __forceinline__ float add(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ float sub(float a, float b) { return __fadd_rn(a, -b); }
__device__ __forceinline__ float mul(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ float fma4(float4 a, float4 b, float s) {
    return __fmaf_rn(a.w, b.w, __fmaf_rn(a.z, b.z, __fmaf_rn(a.y, b.y, __fmaf_rn(a.x, b.x, s))));
}
__device__ __forceinline__ float4 add4(float4 a, float4 b) {
    return make_float4(add(a.x, b.x), add(a.y, b.y), add(a.z, b.z), add(a.w, b.w));
}
__device__ __forceinline__ float4 load4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ __forceinline__ void store4(float* p, float4 v) { *reinterpret_cast<float4*>(p) = v; }
// Read-only memory of this launch, past the caches that keep what is written.
__device__ __forceinline__ float4 fetch4(const float* p) { return __ldg(reinterpret_cast<const float4*>(p)); }

// e^x for x <= 0. x = k ln 2 + r, with |r| at most half of ln 2; e^r by its series to the seventh power. Below -87 it is 0.
__device__ __forceinline__ float exp_nonpositive(float x) {
    float k = rintf(mul(x, 1.442695f));
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
    p = mul(p, __int_as_float(((int)k + 127) << 23));
    return x < -87.0f ? 0.0f : p;
}

__device__ __forceinline__ float sigmoid(float x) {
    float e = exp_nonpositive(-fabsf(x)), s = __fdiv_rn(1.0f, add(1.0f, e));
    return x < 0.0f ? mul(e, s) : s;
}

__device__ __forceinline__ float tangent(float x) {
    float e = exp_nonpositive(mul(-2.0f, fabsf(x))), t = __fdiv_rn(sub(1.0f, e), add(1.0f, e));
    return x < 0.0f ? -t : t;
}

// x times the chance that a normal number is below x, and the slope of that. The chance from Abramowitz and Stegun, Handbook
// of Mathematical Functions, 7.1.26, whose error is below 1e-7 here.
__device__ __forceinline__ float gelu(float x, float* slope) {
    float a = mul(fabsf(x), 0.70710678f), e = exp_nonpositive(-mul(a, a)), t = __fdiv_rn(1.0f, __fmaf_rn(0.3275911f, a, 1.0f));
    float p = __fmaf_rn(1.0614054f, t, -1.4531520f);
    p = __fmaf_rn(p, t, 1.4214137f);
    p = __fmaf_rn(p, t, -0.28449674f);
    p = __fmaf_rn(p, t, 0.25482959f);
    float tail = mul(mul(mul(p, t), e), 0.5f), chance = x < 0.0f ? tail : sub(1.0f, tail);
    *slope = __fmaf_rn(mul(x, 0.39894228f), e, chance);
    return mul(x, chance);
}

// The sum of a value of each of the block's 256 threads, by halves. Thread 0 has it.
__device__ __forceinline__ float block_sum(float mine, float* sums) {
    sums[threadIdx.x] = mine;
    for (unsigned half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] = add(sums[threadIdx.x], sums[threadIdx.x + half]);
    }
    return sums[0];
}

// ---------------------------------------------------------------------------------------------------------------------
// Products. C is [m, n], the sum goes over k. A block of 256 threads makes 32 x 32 of C: four groups of 64 threads take turns
// of 32 terms (group g has the terms t with t / 32 % 4 == g), each thread 4 x 4 sums, and the groups' sums are added in order.

#define TILE 32
#define PITCH 36  // of a row in shared memory: rows that are read at the same time start in different banks

// How a factor lies: by rows, with the terms of a sum side by side; or by terms, with the rows side by side.
#define BY_ROWS 0
#define BY_TERMS 1

struct Shared {
    float a[4][TILE * PITCH], b[4][TILE * PITCH];
};

// This thread's four pieces of a 32 x 32 tile; what is outside of the factor is 0.
template <int LIES>
__device__ __forceinline__ void fetch_tile(float4 (&to)[4], const float* f, unsigned row0, unsigned term0, unsigned rows,
                                           unsigned terms, unsigned lane) {
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        unsigned r = lane / 8 + 8 * i, c = lane % 8 * 4;
        unsigned row = LIES == BY_ROWS ? row0 + r : row0 + c, term = LIES == BY_ROWS ? term0 + c : term0 + r;
        bool inside = row < rows && term < terms;
        to[i] = inside ? fetch4(LIES == BY_ROWS ? f + (size_t)row * terms + term : f + (size_t)term * rows + row)
                       : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
}

__device__ __forceinline__ void put_tile(float* to, const float4 (&from)[4], unsigned lane) {
#pragma unroll
    for (unsigned i = 0; i < 4; i++) store4(to + (lane / 8 + 8 * i) * PITCH + lane % 8 * 4, from[i]);
}

__device__ __forceinline__ float part(float4 v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

// Leaves the product of this block's tile in shared memory: thread t gets the four numbers of row t / 8 from column t % 8 * 4.
// The sums of the rows of A, where `row_sums` is asked for, are in it for each thread: of row t for t < 32.
template <int A, int B, bool SUMS>
__device__ __forceinline__ float4 product(Shared& s, const float* a, const float* b, unsigned m, unsigned n, unsigned k,
                                          bool wants_sums, float* row_sum) {
    unsigned group = threadIdx.x / 64, lane = threadIdx.x % 64, ty = lane / 8, tx = lane % 8;
    unsigned row0 = blockIdx.y * TILE, column0 = blockIdx.x * TILE;
    float* mine_a = s.a[group];
    float* mine_b = s.b[group];
    float sum[4][4] = {}, rows[4] = {};
    float4 next_a[4], next_b[4];
    fetch_tile<A>(next_a, a, row0, group * TILE, m, k, lane);
    fetch_tile<B>(next_b, b, column0, group * TILE, n, k, lane);
    for (unsigned term0 = 0; term0 < k; term0 += 4 * TILE) {
        put_tile(mine_a, next_a, lane);
        put_tile(mine_b, next_b, lane);
        __syncthreads();
        if (term0 + 4 * TILE < k) {
            fetch_tile<A>(next_a, a, row0, term0 + (4 + group) * TILE, m, k, lane);
            fetch_tile<B>(next_b, b, column0, term0 + (4 + group) * TILE, n, k, lane);
        }
#pragma unroll 4
        for (unsigned t = 0; t < TILE; t += 4) {
            float4 fa[4], fb[4];
#pragma unroll
            for (unsigned i = 0; i < 4; i++) {
                fa[i] = load4(A == BY_ROWS ? mine_a + (ty + 8 * i) * PITCH + t : mine_a + (t + i) * PITCH + ty * 4);
                fb[i] = load4(B == BY_ROWS ? mine_b + (tx + 8 * i) * PITCH + t : mine_b + (t + i) * PITCH + tx * 4);
            }
#pragma unroll
            for (int q = 0; q < 4; q++)
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    float x = A == BY_ROWS ? part(fa[i], q) : part(fa[q], i);
                    if (SUMS && wants_sums) rows[i] = add(rows[i], x);
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        sum[i][j] = __fmaf_rn(x, B == BY_ROWS ? part(fb[j], q) : part(fb[q], j), sum[i][j]);
                }
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        float* to = mine_a + (A == BY_ROWS ? ty + 8 * i : ty * 4 + i) * PITCH;
        if (SUMS && wants_sums && tx == 0) mine_b[ty * 4 + i] = rows[i];
        if (B == BY_TERMS) {
            store4(to + tx * 4, make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]));
        } else {
#pragma unroll
            for (unsigned j = 0; j < 4; j++) to[tx + 8 * j] = sum[i][j];
        }
    }
    __syncthreads();
    unsigned at = threadIdx.x / 8 * PITCH + threadIdx.x % 8 * 4;
    if (SUMS && wants_sums && threadIdx.x < TILE)
        *row_sum = add(add(add(s.b[0][threadIdx.x], s.b[1][threadIdx.x]), s.b[2][threadIdx.x]), s.b[3][threadIdx.x]);
    return add4(add4(add4(load4(s.a[0] + at), load4(s.a[1] + at)), load4(s.a[2] + at)), load4(s.a[3] + at));
}

// Where a thread's four numbers go, and whether they are inside.
struct Spot {
    unsigned row, column;
    bool inside;
    size_t at;
    __device__ __forceinline__ Spot(unsigned m, unsigned n)
        : row(blockIdx.y * TILE + threadIdx.x / 8), column(blockIdx.x * TILE + threadIdx.x % 8 * 4),
          inside(row < m && column < n), at((size_t)row * n + column) {}
};

// y = x W^T + b. x is [m, k], W is [n, k].
extern "C" __global__ void __launch_bounds__(256)
    linear(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b, float* __restrict__ y,
           unsigned m, unsigned n, unsigned k) {
    __shared__ Shared s;
    Spot to(m, n);
    float4 bias = to.inside ? fetch4(b + to.column) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float4 v = product<BY_ROWS, BY_ROWS, false>(s, x, w, m, n, k, false, 0);
    if (to.inside) store4(y + to.at, add4(v, bias));
}

// y = gelu(x W^T + b), and the slopes of gelu there.
extern "C" __global__ void __launch_bounds__(256)
    linear_gelu(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b, float* __restrict__ y,
                float* __restrict__ slopes, unsigned m, unsigned n, unsigned k) {
    __shared__ Shared s;
    Spot to(m, n);
    float4 bias = to.inside ? fetch4(b + to.column) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float4 v = add4(product<BY_ROWS, BY_ROWS, false>(s, x, w, m, n, k, false, 0), bias), slope;
    v = make_float4(gelu(v.x, &slope.x), gelu(v.y, &slope.y), gelu(v.z, &slope.z), gelu(v.w, &slope.w));
    if (!to.inside) return;
    store4(y + to.at, v);
    store4(slopes + to.at, slope);
}

// The end of the forward pass: y = f(x W^T + b) with gelu or nothing as f; the mean square distance from the targets, a part a
// block; and its gradient before f. Also moves the powers of Adam's betas on to this step: nothing else touches them now.
template <bool GELU>
__device__ __forceinline__ void loss(const float* x, const float* w, const float* b, const float* targets, float* dy,
                                     float* parts, float* powers, float beta1, float beta2, unsigned m, unsigned n,
                                     unsigned k) {
    __shared__ Shared s;
    Spot to(m, n);
    float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float4 bias = to.inside ? fetch4(b + to.column) : zero, target = to.inside ? fetch4(targets + to.at) : zero;
    float4 v = add4(product<BY_ROWS, BY_ROWS, false>(s, x, w, m, n, k, false, 0), bias);
    float4 slope = make_float4(1.0f, 1.0f, 1.0f, 1.0f);
    if (GELU) v = make_float4(gelu(v.x, &slope.x), gelu(v.y, &slope.y), gelu(v.z, &slope.z), gelu(v.w, &slope.w));
    float count = (float)(m * n), scale = __fdiv_rn(2.0f, count);
    float4 d = make_float4(sub(v.x, target.x), sub(v.y, target.y), sub(v.z, target.z), sub(v.w, target.w));
    if (!to.inside) d = zero;
    if (to.inside)
        store4(dy + to.at, make_float4(mul(mul(d.x, scale), slope.x), mul(mul(d.y, scale), slope.y),
                                       mul(mul(d.z, scale), slope.z), mul(mul(d.w, scale), slope.w)));
    float whole = block_sum(fma4(d, d, 0.0f), s.b[0]);
    if (threadIdx.x != 0) return;
    parts[blockIdx.y * gridDim.x + blockIdx.x] = __fdiv_rn(whole, count);
    if (blockIdx.x != 0 || blockIdx.y != 0) return;
    powers[0] = mul(powers[0], beta1);
    powers[1] = mul(powers[1], beta2);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_loss(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b,
                const float* __restrict__ targets, float* __restrict__ dy, float* __restrict__ parts,
                float* __restrict__ powers, float beta1, float beta2, unsigned m, unsigned n, unsigned k) {
    loss<false>(x, w, b, targets, dy, parts, powers, beta1, beta2, m, n, k);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_gelu_loss(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b,
                     const float* __restrict__ targets, float* __restrict__ dy, float* __restrict__ parts,
                     float* __restrict__ powers, float beta1, float beta2, unsigned m, unsigned n, unsigned k) {
    loss<true>(x, w, b, targets, dy, parts, powers, beta1, beta2, m, n, k);
}

// dx = (dy W) * slopes. dy is [m, k], W is [k, n].
extern "C" __global__ void __launch_bounds__(256)
    linear_gelu_backward(const float* __restrict__ dy, const float* __restrict__ w, const float* __restrict__ slopes,
                         float* __restrict__ dx, unsigned m, unsigned n, unsigned k) {
    __shared__ Shared s;
    Spot to(m, n);
    float4 slope = to.inside ? fetch4(slopes + to.at) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float4 v = product<BY_ROWS, BY_TERMS, false>(s, dy, w, m, n, k, false, 0);
    if (to.inside) store4(dx + to.at, make_float4(mul(v.x, slope.x), mul(v.y, slope.y), mul(v.z, slope.z), mul(v.w, slope.w)));
}

// dW = dy^T x and db = the sums of dy's columns, one behind the other, for each of gridDim.z layers. dy is [k, m], x is [k, n].
extern "C" __global__ void __launch_bounds__(256)
    weight_gradient(const float* __restrict__ dy, const float* __restrict__ x, float* __restrict__ gradient, unsigned m,
                    unsigned n, unsigned k) {
    __shared__ Shared s;
    size_t layer = blockIdx.z;
    Spot to(m, n);
    float* dw = gradient + layer * ((size_t)m * n + m);
    float row_sum = 0.0f;
    bool first = blockIdx.x == 0;
    float4 v = product<BY_TERMS, BY_TERMS, true>(s, dy + layer * k * m, x + layer * k * n, m, n, k, first, &row_sum);
    if (to.inside) store4(dw + to.at, v);
    unsigned row = blockIdx.y * TILE + threadIdx.x;
    if (first && threadIdx.x < TILE && row < m) dw[(size_t)m * n + row] = row_sum;
}

// ---------------------------------------------------------------------------------------------------------------------
// GRU cells (Cho et al., 2014, in the variant of cuDNN and PyTorch). A block of 256 threads makes 8 units of 8 examples.

// Adds up what 8 neighbouring lanes have: lane q keeps the values of place q, in the order of `v`.
template <int N>
__device__ __forceinline__ void share_out(float* v, unsigned lane, unsigned mask) {
    bool high = lane & mask;
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
        float keep = high ? v[N / 2 + i] : v[i], give = high ? v[i] : v[N / 2 + i];
        v[i] = add(keep, __shfl_xor_sync(WARP, give, mask));
    }
}

// One step forward. `inputs` are the gates' shares of x with their bias, [batch, 3 hidden] in the order reset, update, new; W is
// [3 hidden, hidden]. Keeps reset, update, new, and the new gate's share of h, for the way back.
//
// Lane l of a warp has terms 4 (l % 8) .. of two units; the warps of even and odd number have four examples each, and each of
// four pairs of warps every fourth piece of 32 terms.
extern "C" __global__ void __launch_bounds__(256)
    gru_forward(const float* __restrict__ inputs, const float* __restrict__ h, const float* __restrict__ w,
                const float* __restrict__ b, float* __restrict__ next, float* __restrict__ gates, unsigned batch,
                unsigned hidden) {
    __shared__ float parts[4][3][64];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, q = lane % 8, turn = warp / 2;
    unsigned row0 = blockIdx.y * 8 + warp % 2 * 4, unit0 = blockIdx.x * 8 + lane / 8 * 2;

    // What the last 64 threads need in the end is asked for now.
    unsigned row = blockIdx.y * 8 + threadIdx.x / 8 % 8, unit = blockIdx.x * 8 + threadIdx.x % 8;
    bool ends = threadIdx.x < 64 && row < batch;
    float from_x[3], bias[3], before = 0.0f;
    if (ends) {
#pragma unroll
        for (unsigned g = 0; g < 3; g++) {
            from_x[g] = __ldg(inputs + (size_t)row * 3 * hidden + g * hidden + unit);
            bias[g] = __ldg(b + g * hidden + unit);
        }
        before = __ldg(h + (size_t)row * hidden + unit);
    }

    float sum[24] = {};  // unit, example, gate
#pragma unroll 2
    for (unsigned term = (turn * 8 + q) * 4; term < hidden; term += 128) {
        float4 x[4], f[6];
#pragma unroll
        for (unsigned i = 0; i < 4; i++) x[i] = fetch4(h + (size_t)min(row0 + i, batch - 1) * hidden + term);
#pragma unroll
        for (unsigned i = 0; i < 6; i++) f[i] = fetch4(w + (size_t)(i % 3 * hidden + unit0 + i / 3) * hidden + term);
#pragma unroll
        for (unsigned u = 0; u < 2; u++)
#pragma unroll
            for (unsigned i = 0; i < 4; i++)
#pragma unroll
                for (unsigned g = 0; g < 3; g++) sum[(u * 4 + i) * 3 + g] = fma4(x[i], f[u * 3 + g], sum[(u * 4 + i) * 3 + g]);
    }
    share_out<24>(sum, lane, 4);
    share_out<12>(sum, lane, 2);
    share_out<6>(sum, lane, 1);
#pragma unroll
    for (unsigned g = 0; g < 3; g++) parts[turn][g][(warp % 2 * 4 + q % 4) * 8 + lane / 8 * 2 + q / 4] = sum[g];
    __syncthreads();
    if (!ends) return;
    float from_h[3];
#pragma unroll
    for (unsigned g = 0; g < 3; g++) {
        unsigned t = threadIdx.x;
        from_h[g] = add(add(add(add(parts[0][g][t], parts[1][g][t]), parts[2][g][t]), parts[3][g][t]), bias[g]);
    }
    float reset = sigmoid(add(from_x[0], from_h[0])), update = sigmoid(add(from_x[1], from_h[1]));
    float fresh = tangent(__fmaf_rn(reset, from_h[2], from_x[2]));
    next[(size_t)row * hidden + unit] = __fmaf_rn(update, sub(before, fresh), fresh);
    float* keep = gates + (size_t)row * 4 * hidden + unit;
    keep[0] = reset;
    keep[hidden] = update;
    keep[2 * hidden] = fresh;
    keep[3 * hidden] = from_h[2];
}

// One step back: dh = carry + dy W, with what comes out of the step behind; then the gradients of this step's gates before
// their functions, as x sees them and as h sees them, and what goes past the gates to the step before. dy is [batch, k], W is
// [k, hidden].
//
// Lane l of a warp has four units, four examples, and of every 256 terms the four from 32 warp + 4 (l % 8).
extern "C" __global__ void __launch_bounds__(256)
    gru_backward(const float* __restrict__ dy, const float* __restrict__ w, const float* __restrict__ carry,
                 const float* __restrict__ gates, const float* __restrict__ h, float* __restrict__ dx_gates,
                 float* __restrict__ dh_gates, float* __restrict__ carried, unsigned batch, unsigned hidden, unsigned k) {
    __shared__ float parts[8][64];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, q = lane % 8;
    unsigned row0 = blockIdx.y * 8 + lane / 16 * 4, unit0 = blockIdx.x * 8 + lane / 8 % 2 * 4;

    unsigned row = blockIdx.y * 8 + threadIdx.x / 8 % 8, unit = blockIdx.x * 8 + threadIdx.x % 8;
    bool ends = threadIdx.x < 64 && row < batch;
    float reset = 0.0f, update = 0.0f, fresh = 0.0f, from_h = 0.0f, before = 0.0f, dh = 0.0f;
    if (ends) {
        const float* kept = gates + (size_t)row * 4 * hidden + unit;
        reset = __ldg(kept);
        update = __ldg(kept + hidden);
        fresh = __ldg(kept + 2 * hidden);
        from_h = __ldg(kept + 3 * hidden);
        before = __ldg(h + (size_t)row * hidden + unit);
        dh = __ldg(carry + (size_t)row * hidden + unit);
    }

    float sum[16] = {};  // example, unit
#pragma unroll 3
    for (unsigned term = (warp * 8 + q) * 4; term < k; term += 256) {
        float4 x[4], f[4];
#pragma unroll
        for (unsigned i = 0; i < 4; i++) x[i] = fetch4(dy + (size_t)min(row0 + i, batch - 1) * k + term);
#pragma unroll
        for (unsigned i = 0; i < 4; i++) f[i] = fetch4(w + (size_t)(term + i) * hidden + unit0);
#pragma unroll
        for (int t = 0; t < 4; t++)
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int u = 0; u < 4; u++) sum[i * 4 + u] = __fmaf_rn(part(x[i], t), part(f[t], u), sum[i * 4 + u]);
    }
    share_out<16>(sum, lane, 4);
    share_out<8>(sum, lane, 2);
    share_out<4>(sum, lane, 1);
    unsigned at = (lane / 16 * 4 + q / 2) * 8 + lane / 8 % 2 * 4 + q % 2 * 2;
    parts[warp][at] = sum[0];
    parts[warp][at + 1] = sum[1];
    __syncthreads();
    if (!ends) return;
    float whole = parts[0][threadIdx.x];
#pragma unroll
    for (unsigned i = 1; i < 8; i++) whole = add(whole, parts[i][threadIdx.x]);
    dh = add(dh, whole);
    float dfresh = mul(mul(dh, sub(1.0f, update)), __fmaf_rn(-fresh, fresh, 1.0f));
    float dupdate = mul(mul(dh, sub(before, fresh)), mul(update, sub(1.0f, update)));
    float dreset = mul(mul(dfresh, from_h), mul(reset, sub(1.0f, reset)));
    float* to_x = dx_gates + (size_t)row * 3 * hidden + unit;
    float* to_h = dh_gates + (size_t)row * 3 * hidden + unit;
    to_x[0] = dreset;
    to_x[hidden] = dupdate;
    to_x[2 * hidden] = dfresh;
    to_h[0] = dreset;
    to_h[hidden] = dupdate;
    to_h[2 * hidden] = mul(dfresh, reset);
    carried[(size_t)row * hidden + unit] = mul(dh, update);
}

// ---------------------------------------------------------------------------------------------------------------------

__device__ __forceinline__ float adam_one(float rate, float beta1, float beta2, float epsilon, float past1, float past2, float g,
                                          float p, float* m, float* v) {
    *m = __fmaf_rn(beta1, *m, mul(sub(1.0f, beta1), g));
    *v = __fmaf_rn(beta2, *v, mul(mul(sub(1.0f, beta2), g), g));
    float mean = __fdiv_rn(*m, past1), square = __fdiv_rn(*v, past2);
    return __fmaf_rn(-rate, __fdiv_rn(mean, add(__fsqrt_rn(square), epsilon)), p);
}

// Adam (Kingma and Ba, 2015) over all parameters, four a thread, with the powers of the betas from device memory. One block more
// than they need adds up the parts of the loss.
extern "C" __global__ void __launch_bounds__(256)
    adam(float rate, float beta1, float beta2, float epsilon, const float* __restrict__ powers, const float* __restrict__ g,
         const float* __restrict__ parts, float* __restrict__ p, float* __restrict__ m, float* __restrict__ v,
         float* __restrict__ loss, unsigned n, unsigned parts_n) {
    __shared__ float sums[256];
    if (blockIdx.x == gridDim.x - 1) {
        float mine = 0.0f;
        for (unsigned i = threadIdx.x; i < parts_n; i += 256) mine = add(mine, parts[i]);
        float whole = block_sum(mine, sums);
        if (threadIdx.x == 0) *loss = whole;
        return;
    }
    unsigned at = (blockIdx.x * 256 + threadIdx.x) * 4;
    if (at >= n) return;
    float past1 = sub(1.0f, powers[0]), past2 = sub(1.0f, powers[1]);
    float4 gt = fetch4(g + at), pt = load4(p + at), mt = load4(m + at), vt = load4(v + at);
    pt.x = adam_one(rate, beta1, beta2, epsilon, past1, past2, gt.x, pt.x, &mt.x, &vt.x);
    pt.y = adam_one(rate, beta1, beta2, epsilon, past1, past2, gt.y, pt.y, &mt.y, &vt.y);
    pt.z = adam_one(rate, beta1, beta2, epsilon, past1, past2, gt.z, pt.z, &mt.z, &vt.z);
    pt.w = adam_one(rate, beta1, beta2, epsilon, past1, past2, gt.w, pt.w, &mt.w, &vt.w);
    store4(p + at, pt);
    store4(m + at, mt);
    store4(v + at, vt);
}
