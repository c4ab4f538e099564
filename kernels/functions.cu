// Device functions that are not inlined: scalars, a struct by value, pointers to locals, calls under divergence.
// also: compute_90

struct Pair { float a; double b; char c; };
__device__ __noinline__ float horner(float x, int n) {
    float s = 0.0f;
    for (int i = n; i > 0; i--) s = s * x + (float)i;
    return s;
}
__device__ __noinline__ Pair adjust(float a, Pair q) {
    q.a += a;
    q.b *= 2.0;
    q.c ^= 1;
    return q;
}
__device__ __noinline__ void div_mod(int a, int b, int* q, int* r) {
    *q = a / b;
    *r = a % b;
}

// y from polynomials whose degree differs by lane; z from quotients returned through pointers.
extern "C" __global__ void call_functions(int n, const float* x, float* y, int* z) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Pair p = {x[i], 1.0, 'a'};
    p = adjust(horner(x[i], 5), p);
    int q, r;
    div_mod(i, 7, &q, &r);
    if (x[i] > 0.0f) y[i] = horner(p.a, q & 7) + (float)p.b;
    else y[i] = (float)p.c;
    z[i] = q * 100 + r;
}

// A table of 16 entries in local memory, filled and read with indices that only the data know.
extern "C" __global__ void local_array(int n, const int* x, int* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int table[16];
    for (int k = 0; k < 16; k++) table[k] = k * k;
    int v = x[i];
    for (int k = 0; k < 8; k++) {
        table[(v >> k) & 15] += table[(v >> (k + 3)) & 15] ^ k;
        v = v * 5 + 1;
    }
    int s = 0;
    for (int k = 0; k < 16; k++) s = s * 31 + table[k];
    y[i] = s;
}

// Loops whose length, exits and nesting differ by lane: the length of a Collatz chain, with a limit.
extern "C" __global__ void divergent_loop(int n, const unsigned* x, int* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = x[i] % 1000u + 1u;
    int steps = 0;
    while (v != 1u) {
        if (v & 1u) {
            v = 3u * v + 1u;
            if (v > 9000u) break;
        } else {
            do {
                v >>= 1;
                steps += 2;
            } while ((v & 3u) == 0u);
        }
        steps++;
    }
    y[i] = steps;
}

// A switch with many dense cases, some of which fall through.
extern "C" __global__ void dense_switch(int n, const int* x, int* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i], r = 0;
    switch (v & 15) {
        case 0: r = v + 1; break;
        case 1: r = v * 3; break;
        case 2: r = v ^ 0x1234;  // falls through
        case 3: r += v >> 2; break;
        case 4: r = -v; break;
        case 5: r = v & 0xff; break;
        case 6: r = v | 0xff; break;
        case 7: r = v - 7; break;
        case 8: r = v * v; break;
        case 9: r = v % 11;  // falls through
        case 10: r += 10; break;
        case 11: r = v / 3; break;
        case 12: r = ~v; break;
        default: r = 99; break;
    }
    y[i] = r;
}
