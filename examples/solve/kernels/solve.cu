// Conjugate gradients on a square of side * side points, row by row: A is 4 on the diagonal and -1 for each of a point's four
// neighbours; what is outside of the square is 0.
//
// Every kernel but `measure` has one grid: blocks of 128 threads, as many as the points fill, at most 1024. A thread takes
// each point that is a whole grid behind its first. The numbers of blocks and threads depend on the points alone, so every
// sum has one order on every device, and src/reference.rs has the same. Every operation is rounded once and spelled out.
//
// A dot product is a part for each block, in memory. The next kernel's blocks each add up all parts, in the same order:
// that costs less than one more kernel, and all of them get the same bits.

#define THREADS 128
#define WARP 0xFFFFFFFFu

__device__ __forceinline__ float add(float a, float b) { return __fadd_rn(a, b); }

// The sum of a value of each of the block's threads, for all of them: the upper half of a warp is added to the lower until
// one is left, then the four warps in order.
__device__ __forceinline__ float block_sum(float mine, float* warps) {
    for (unsigned half = 16; half > 0; half /= 2) mine = add(mine, __shfl_down_sync(WARP, mine, half));
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    return add(add(add(warps[0], warps[1]), warps[2]), warps[3]);
}

// The sum of all parts of a dot product.
__device__ __forceinline__ float sum_of_parts(const float* parts, unsigned count, float* warps) {
    float mine = 0.0f;
    for (unsigned i = threadIdx.x; i < count; i += THREADS) mine = add(mine, parts[i]);
    return block_sum(mine, warps);
}

// a / b, or 0 where b is 0: then the system is solved, and another round must change nothing.
__device__ __forceinline__ float ratio(float a, float b) { return b == 0.0f ? 0.0f : __fdiv_rn(a, b); }

// x = 0, r = b, p = b, and the parts of r . r.
extern "C" __global__ void begin(const float* __restrict__ b, float* __restrict__ x, float* __restrict__ r,
                                 float* __restrict__ p, float* __restrict__ parts, unsigned n) {
    __shared__ float warps[THREADS / 32];
    float mine = 0.0f;
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        float value = b[i];
        x[i] = 0.0f;
        r[i] = value;
        p[i] = value;
        mine = __fmaf_rn(value, value, mine);
    }
    float sum = block_sum(mine, warps);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

// One block: residual = the sum of the parts of r . r, limit = what it must fall to, and no round is done yet.
extern "C" __global__ void measure(const float* __restrict__ parts, float tolerance, float* __restrict__ residual,
                                   float* __restrict__ limit, unsigned* __restrict__ rounds, unsigned count) {
    __shared__ float warps[THREADS / 32];
    float sum = sum_of_parts(parts, count, warps);
    if (threadIdx.x == 0) {
        *residual = sum;
        *limit = __fmul_rn(__fmul_rn(tolerance, tolerance), sum);
        *rounds = 0;
    }
}

// q = A p and the parts of p . q. Also before = residual: `turn` writes the new one while its blocks still need the old.
extern "C" __global__ void apply(const float* __restrict__ p, const float* __restrict__ residual, float* __restrict__ q,
                                 float* __restrict__ parts, float* __restrict__ before, unsigned side) {
    __shared__ float warps[THREADS / 32];
    float mine = 0.0f;
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < side * side; i += gridDim.x * THREADS) {
        unsigned row = i / side, column = i % side;
        float left = column > 0 ? p[i - 1] : 0.0f, right = column + 1 < side ? p[i + 1] : 0.0f;
        float above = row > 0 ? p[i - side] : 0.0f, below = row + 1 < side ? p[i + side] : 0.0f;
        float here = p[i], product = __fmaf_rn(4.0f, here, -add(add(left, right), add(above, below)));
        q[i] = product;
        mine = __fmaf_rn(here, product, mine);
    }
    float sum = block_sum(mine, warps);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
    if (blockIdx.x == 0 && threadIdx.x == 0) *before = *residual;
}

// alpha = r . r / p . q, x += alpha p, r -= alpha q, and the parts of the new r . r.
extern "C" __global__ void advance(const float* __restrict__ p, const float* __restrict__ q,
                                   const float* __restrict__ pq_parts, const float* __restrict__ before,
                                   float* __restrict__ x, float* __restrict__ r, float* __restrict__ parts, unsigned n,
                                   unsigned count) {
    __shared__ float pq_warps[THREADS / 32], warps[THREADS / 32];
    float alpha = ratio(*before, sum_of_parts(pq_parts, count, pq_warps)), mine = 0.0f;
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        float left = __fmaf_rn(-alpha, q[i], r[i]);
        x[i] = __fmaf_rn(alpha, p[i], x[i]);
        r[i] = left;
        mine = __fmaf_rn(left, left, mine);
    }
    float sum = block_sum(mine, warps);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

// residual = the new r . r, beta = the new over the old, p = r + beta p, and one round more is done.
extern "C" __global__ void turn(const float* __restrict__ r, const float* __restrict__ rr_parts,
                                const float* __restrict__ before, float* __restrict__ p, float* __restrict__ residual,
                                unsigned* __restrict__ rounds, unsigned n, unsigned count) {
    __shared__ float warps[THREADS / 32];
    float sum = sum_of_parts(rr_parts, count, warps), beta = ratio(sum, *before);
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        p[i] = __fmaf_rn(beta, p[i], r[i]);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *residual = sum;
        *rounds += 1;
    }
}
