// What benchmarks launch. None of it is in the corpus: two of these kernels depend on time.

// Adds one to each of n elements: about the smallest kernel that has an effect.
extern "C" __global__ void bump(float* x, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1.0f;
}

// y = a x + y, with `a` by value: the argument that changes between replays.
extern "C" __global__ void axpy_slot(float a, const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __fmaf_rn(a, x[i], y[i]);
}

// Waits for `ns` nanoseconds of %globaltimer, then adds one to out[0]. How fine that clock is depends on the GPU and is not
// promised by the PTX ISA. Ends after a million looks at the clock, also where the clock stands still.
extern "C" __global__ void spin_ns(unsigned* out, unsigned long long ns) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    for (int looks = 0; looks < 1000000; looks++) {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        if (now - start >= ns) break;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) out[0] += 1;
}

// Waits for `cycles` of the multiprocessor's own clock, then adds one to out[0]. As fine as a cycle; the time depends on the
// frequency. Ends after a million looks at the clock.
extern "C" __global__ void spin_cycles(unsigned* out, unsigned long long cycles) {
    long long start = clock64();
    for (int looks = 0; looks < 1000000; looks++)
        if ((unsigned long long)(clock64() - start) >= cycles) break;
    if (blockIdx.x == 0 && threadIdx.x == 0) out[0] += 1;
}
