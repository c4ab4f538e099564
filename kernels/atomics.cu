// Atomic operations: results used (atom) and unused (red), shared and global, scopes, compare-and-swap loops, locks.

// Every integer operation by many threads, whose final values do not depend on the order. p: 8, u: 6, l: 6 cells.
extern "C" __global__ void atomics_unused(int n, const int* x, int* p, unsigned* u, unsigned long long* l) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i];
    atomicAdd(p + 0, v);
    atomicSub(p + 1, v);
    atomicMin(p + 2, v);
    atomicMax(p + 3, v);
    atomicAnd(p + 4, v);
    atomicOr(p + 5, v);
    atomicXor(p + 6, v);
    atomicInc(u + 0, 31u);
    atomicDec(u + 1, 31u);
    atomicMin(u + 2, (unsigned)v);
    atomicMax(u + 3, (unsigned)v);
    atomicAdd(u + 4, (unsigned)v);
    atomicAdd(l + 0, (unsigned long long)v);
    atomicMax(l + 1, (unsigned long long)v);
    atomicMin((long long*)l + 2, (long long)v);
    atomicOr(l + 3, (unsigned long long)v << 20);
    atomicXor(l + 4, (unsigned long long)v);
    atomicAnd(l + 5, (unsigned long long)v | 0xffff0000ull);
}

// The values that atomics hand back, each thread on its own cells: 12 ints, 4 longs, 2 floats, 1 double a thread.
extern "C" __global__ void atomics_used(int n, const int* x, int* p, unsigned long long* l, float* f, double* d, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i];
    p += 12 * i;
    l += 4 * i;
    f += 2 * i;
    d += i;
    out[0 * n + i] = atomicAdd(p + 0, v);
    out[1 * n + i] = atomicSub(p + 1, v);
    out[2 * n + i] = atomicExch(p + 2, v);
    out[3 * n + i] = atomicMin(p + 3, v);
    out[4 * n + i] = atomicMax(p + 4, v);
    out[5 * n + i] = atomicAnd(p + 5, v);
    out[6 * n + i] = atomicOr(p + 6, v);
    out[7 * n + i] = atomicXor(p + 7, v);
    out[8 * n + i] = atomicCAS(p + 8, 3, v);
    out[9 * n + i] = (int)atomicInc((unsigned*)p + 9, 31u);
    out[10 * n + i] = (int)atomicDec((unsigned*)p + 10, 31u);
    out[11 * n + i] = (int)atomicMin((unsigned*)p + 11, (unsigned)v);
    out[12 * n + i] = (int)atomicAdd(l + 0, (unsigned long long)v);
    out[13 * n + i] = (int)atomicCAS(l + 1, 5ull, (unsigned long long)v);
    out[14 * n + i] = (int)atomicExch(l + 2, (unsigned long long)v);
    out[15 * n + i] = (int)(atomicMax(l + 3, (unsigned long long)v) >> 32);
    out[16 * n + i] = __float_as_int(atomicAdd(f, (float)v));
    out[17 * n + i] = __float_as_int(atomicExch(f + 1, (float)v));
    out[18 * n + i] = (int)atomicAdd(d, (double)v);
}

// Sums in f32 and f64 by all threads on one cell each; exact, and so the same in any order, when x holds small integers.
extern "C" __global__ void atomics_float(int n, const float* x, float* f, double* d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(f, x[i]);
    atomicAdd(d, (double)x[i] * 0.5);
}

// A histogram of 16 bins: in shared memory first, then added to the result.
extern "C" __global__ void histogram_u32(int n, const unsigned* x, unsigned* bins) {
    __shared__ unsigned s[16];
    if (threadIdx.x < 16) s[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s[x[i] & 15], 1u);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}

// Block, device and system scope; compare-and-swap in shared memory.
extern "C" __global__ void atomics_scoped(int* p, float* f) {
    __shared__ int s;
    __shared__ float sf;
    __shared__ int won;
    if (threadIdx.x == 0) {
        s = 0;
        sf = 0.0f;
        won = 0;
    }
    __syncthreads();
    atomicAdd_block(&s, 1);
    atomicAdd(&sf, 1.0f);
    if (atomicCAS(&won, 0, 1) == 0) atomicAdd(p + 1, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd_system(p, s);
        atomicAdd_block(f + blockIdx.x, sf);
    }
}

// The maximum of floats by compare-and-swap of their bits.
extern "C" __global__ void atomic_cas_max_f32(int n, const float* x, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int *cell = (int*)out, old = *(volatile int*)cell, seen;
    do {
        seen = old;
        if (__int_as_float(seen) >= x[i]) break;
        old = atomicCAS(cell, seen, __float_as_int(x[i]));
    } while (old != seen);
}

// A lock taken by one thread per block: blocks must all make progress. `lock` starts at zero.
extern "C" __global__ void spin_lock_per_block(int* lock, volatile int* counter) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *counter = *counter + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

// A lock taken by every lane: hangs where diverged lanes are not scheduled independently. `lock` starts at zero.
extern "C" __global__ void spin_lock_per_lane(int* lock, volatile int* counter) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *counter = *counter + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
