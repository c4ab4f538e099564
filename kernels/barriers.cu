// Barriers of a block: with votes, named, split into arrival and waiting, and of a warp.

// Whether any, whether all, how many: three numbers per block.
extern "C" __global__ void barrier_votes(const int* x, int* y) {
    int t = threadIdx.x, v = x[blockIdx.x * blockDim.x + t];
    int any = __syncthreads_or(v > 10), all = __syncthreads_and(v > 0), count = __syncthreads_count(v & 1);
    if (t == 0) {
        y[3 * blockIdx.x] = any;
        y[3 * blockIdx.x + 1] = all;
        y[3 * blockIdx.x + 2] = count;
    }
}

// One warp fills, announces and goes on; the other waits and reads. Blocks of 64.
extern "C" __global__ void barrier_named(const float* x, float* y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    x += blockIdx.x * 32;
    y += blockIdx.x * 32;
    if (t < 32) {
        s[t] = x[t] * 2.0f;
        __threadfence_block();
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        y[t - 32] = s[63 - t];
    }
    asm volatile("barrier.sync 2;" ::: "memory");
}

// Each warp reverses its 32 elements in place through shared memory; warps of any number up to 8.
extern "C" __global__ void barrier_warp(int* x) {
    __shared__ int s[8][32];
    int t = threadIdx.x, w = t >> 5, lane = t & 31;
    x += blockIdx.x * blockDim.x;
    s[w][lane] = x[t];
    __syncwarp();
    x[t] = s[w][31 - lane];
    __syncwarp(lane >= 16 ? 0xffff0000u : 0x0000ffffu);
    __threadfence_system();
}

// Threads with a negative number leave; the barrier is for those that stay.
extern "C" __global__ void barrier_early_exit(int n, const int* x, int* y) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (t >= n || x[t] < 0) return;
    s[t] = x[t] + 1;
    __syncthreads();
    y[t] = s[t] + s[0] * 2;
}
