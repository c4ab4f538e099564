// When this was reached, by the device's own timer: for `Graph::profile`.

__device__ __forceinline__ unsigned long long now() {
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

// Writes the time in nanoseconds. One thread.
extern "C" __global__ void stamp(unsigned long long* at) { *at = now(); }

// The end of an op, whose begin is in the first of four words: the second is the time, the third all that went by between
// begin and end, the fourth how often. In a loop an op begins and ends in every round. One thread.
extern "C" __global__ void stamp_end(unsigned long long* op) {
    unsigned long long time = now();
    op[1] = time;
    op[2] += time - op[0];
    op[3] += 1;
}
