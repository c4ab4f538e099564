// When this was reached, by the device's own timer: for `Graph::profile`.

// Writes the time in nanoseconds. One thread.
extern "C" __global__ void stamp(unsigned long long* at) {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    *at = now;
}
