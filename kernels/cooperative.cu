// Blocks that wait for each other: right only where all of them run at once, which a cooperative launch promises.
// also: compute_90

// A barrier of the grid: everybody adds one, the last of a round opens the next.
static __device__ __forceinline__ void grid_barrier(unsigned* count, unsigned round) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (*(volatile unsigned*)count < (round + 1) * gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
}

// A sum over the whole grid in one launch: partial sums, a barrier, then every block adds all of them.
extern "C" __global__ void grid_sum(int n, const int* x, volatile int* partial, unsigned* count, int* y) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
    atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
    grid_barrier(count, 0);
    if (threadIdx.x == 0) {
        int total = 0;
        for (unsigned b = 0; b < gridDim.x; b++) total += partial[b] * (int)(b + 1);
        y[blockIdx.x] = total;
    }
}

// Steps of a wave: each element takes its neighbours' values of the step before; a barrier of the grid between steps.
extern "C" __global__ void grid_wave(int n, int steps, volatile int* a, volatile int* b, unsigned* count) {
    for (int s = 0; s < steps; s++) {
        volatile int* from = s & 1 ? b : a;
        volatile int* to = s & 1 ? a : b;
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
            to[i] = from[(i + 1) % n] - from[(i + n - 1) % n] + from[i] * 3;
        grid_barrier(count, s);
    }
}
