// Reductions over a warp in one instruction; these exist from sm_80 on. Blocks of 32 threads.
// arch: compute_80

// Sum, minimum and maximum (signed and unsigned), and, or, exclusive or: 8 results per block.
extern "C" __global__ void warp_redux(const int* x, int* out) {
    int v = x[blockIdx.x * 32 + threadIdx.x];
    int s = __reduce_add_sync(0xffffffffu, v), lo = __reduce_min_sync(0xffffffffu, v), hi = __reduce_max_sync(0xffffffffu, v);
    unsigned ulo = __reduce_min_sync(0xffffffffu, (unsigned)v), uhi = __reduce_max_sync(0xffffffffu, (unsigned)v);
    unsigned a = __reduce_and_sync(0xffffffffu, (unsigned)v), o = __reduce_or_sync(0xffffffffu, (unsigned)v);
    unsigned e = __reduce_xor_sync(0xffffffffu, (unsigned)v);
    if (threadIdx.x == 0) {
        int* r = out + 8 * blockIdx.x;
        r[0] = s;
        r[1] = lo;
        r[2] = hi;
        r[3] = (int)ulo;
        r[4] = (int)uhi;
        r[5] = (int)a;
        r[6] = (int)o;
        r[7] = (int)e;
    }
}
