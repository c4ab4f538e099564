// Shared memory: dynamic and static beside each other, and pointers whose space is known only when the kernel runs.

extern __shared__ __align__(16) unsigned char pool[];

// Doubles, floats and bytes laid out by hand in one dynamic block of 13 n bytes; one block of at least n threads.
extern "C" __global__ void shared_dynamic(int n, const float* x, float* y) {
    __shared__ int head;
    double* d = (double*)pool;
    float* f = (float*)(pool + n * sizeof(double));
    unsigned char* b = (unsigned char*)(f + n);
    int t = threadIdx.x;
    if (t == 0) head = n - 1;
    if (t < n) {
        d[t] = (double)x[t] * 0.5;
        f[t] = x[t];
        b[t] = (unsigned char)t;
    }
    __syncthreads();
    if (t < n) y[t] = (float)d[head - t] + f[b[t]];
}

// One load through a pointer to shared, local or global memory, and what the pointer says of itself; 64 threads.
extern "C" __global__ void shared_generic_pointer(int n, const float* x, float* y, int pick) {
    __shared__ float s[64];
    float l[4];
    int t = threadIdx.x;
    s[t & 63] = x[t];
    l[t & 3] = x[t] + 1.0f;
    l[(t + 1) & 3] = 0.5f;
    __syncthreads();
    const float* p = pick == 0 ? &s[(t + 1) & 63] : pick == 1 ? &l[t & 3] : &x[n - 1 - t];
    y[t] = *p + (__isShared(p) ? 100.0f : 0.0f) + (__isGlobal(p) ? 200.0f : 0.0f);
}
