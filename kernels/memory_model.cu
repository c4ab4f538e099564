// Acquire and release, relaxed accesses by scope, fences; a flag handed from one block to another.

// Block 0 writes and raises the flag; block 1 waits for it and reads. `flag` starts at zero.
extern "C" __global__ void flag_handoff(int value, int* data, int* flag, int* out) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *data = value;
        asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        int v;
        do { asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory"); } while (v == 0);
        *out = *data;
    }
}

// Counters by way of atom, red and relaxed accesses, with fences between; what they come to does not depend on order.
extern "C" __global__ void relaxed_counters(unsigned* c, unsigned long long* d, unsigned* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v, w;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(c) : "memory");
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(w) : "l"(c + 1 + i) : "memory");
    asm volatile("red.relaxed.gpu.global.add.u64 [%0], 2;" ::"l"(d) : "memory");
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    asm volatile("fence.sc.sys;" ::: "memory");
    asm volatile("st.relaxed.cta.global.u32 [%0], %1;" ::"l"(o + i), "r"(v + w) : "memory");
    asm volatile("prefetch.global.L2 [%0];" ::"l"(o));
}
