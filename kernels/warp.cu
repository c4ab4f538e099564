// What the lanes of a warp can tell each other: shuffles, votes, matches. Blocks of 32 threads.
// also: compute_80

// Half-sum tree in f64, one result per warp.
extern "C" __global__ void warp_reduce_f64(const double* x, double* out) {
    double v = x[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
}

// All four shuffles in whole and in divided warps, with lane numbers in and out of range. 8 planes of 32 per block.
extern "C" __global__ void warp_shuffles(const int* x, int* out, int src) {
    int t = threadIdx.x, v = x[blockIdx.x * 32 + t];
    int* o = out + blockIdx.x * 256 + t;
    o[0] = __shfl_sync(0xffffffffu, v, src);
    o[32] = __shfl_sync(0xffffffffu, v, t + src, 16);
    o[64] = __shfl_up_sync(0xffffffffu, v, src & 31);
    o[96] = __shfl_up_sync(0xffffffffu, v, 1, 8);
    o[128] = __shfl_down_sync(0xffffffffu, v, src & 31);
    o[160] = __shfl_down_sync(0xffffffffu, v, 3, 4);
    o[192] = __shfl_xor_sync(0xffffffffu, v, src & 31);
    o[224] = __shfl_xor_sync(0xffffffffu, v, 5, 8);
}

// The predicate that comes with a shuffle: whether the lane read was in range.
extern "C" __global__ void warp_shuffle_in_range(const int* x, int* out) {
    int t = threadIdx.x, v = x[blockIdx.x * 32 + t], r, p;
    asm volatile("{ .reg .pred q; shfl.sync.up.b32 %0|q, %2, 3, 0, -1; selp.s32 %1, 1, 0, q; }" : "=r"(r), "=r"(p) : "r"(v));
    out[blockIdx.x * 64 + t] = r * 2 + p;
    asm volatile("{ .reg .pred q; shfl.sync.down.b32 %0|q, %2, 5, 0x1807, -1; selp.s32 %1, 1, 0, q; }" : "=r"(r), "=r"(p) : "r"(v));
    out[blockIdx.x * 64 + 32 + t] = r * 2 + p;
}

// All, any and ballot over the whole warp, over its odd lanes, and what is active in a branch. 6 planes of 32 per block.
extern "C" __global__ void warp_votes(const int* x, unsigned* out) {
    int t = threadIdx.x, v = x[blockIdx.x * 32 + t];
    unsigned* o = out + blockIdx.x * 192 + t;
    o[0] = __all_sync(0xffffffffu, v > -1000000000);
    o[32] = __any_sync(0xffffffffu, v > 2000000000);
    o[64] = __ballot_sync(0xffffffffu, v > 0);
    o[96] = 0;
    o[128] = 0;
    if (t & 1) {
        o[96] = __ballot_sync(0xaaaaaaaau, v & 2);
        o[128] = __all_sync(0xaaaaaaaau, v & 4) * 2 + __any_sync(0xaaaaaaaau, v & 8);
    }
    __syncwarp();
    int u;
    asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 0; vote.sync.uni.pred q, p, -1; selp.s32 %0, 1, 0, q; }" : "=r"(u) : "r"(v));
    o[160] = u;
}

// Which lanes hold the same value: any (32 and 64 bits) and all, with its predicate. 4 planes of 32 per block.
extern "C" __global__ void warp_match(const int* x, unsigned* out) {
    int t = threadIdx.x, v = x[blockIdx.x * 32 + t], whole;
    unsigned* o = out + blockIdx.x * 128 + t;
    o[0] = __match_any_sync(0xffffffffu, v & 3);
    o[32] = __match_any_sync(0xffffffffu, (long long)(v & 1) << 40);
    unsigned same = __match_all_sync(0xffffffffu, v >> 31, &whole);
    o[64] = same + (unsigned)whole;
    same = __match_all_sync(0xffffffffu, 7, &whole);
    o[96] = same - (unsigned)whole;
}

// Lane masks and numbers of the thread. 7 planes of 32 per block.
extern "C" __global__ void warp_identity(unsigned* out) {
    int t = threadIdx.x;
    unsigned* o = out + blockIdx.x * 224 + t;
    unsigned v;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(v));
    o[0] = v;
    asm volatile("mov.u32 %0, %%lanemask_eq;" : "=r"(v));
    o[32] = v;
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(v));
    o[64] = v;
    asm volatile("mov.u32 %0, %%lanemask_le;" : "=r"(v));
    o[96] = v;
    asm volatile("mov.u32 %0, %%lanemask_gt;" : "=r"(v));
    o[128] = v;
    asm volatile("mov.u32 %0, %%lanemask_ge;" : "=r"(v));
    o[160] = v;
    o[192] = blockIdx.x * 1000000 + gridDim.x * 10000 + blockDim.x * 100 + warpSize;
}
