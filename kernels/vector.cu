// Vector memory accesses of every width, and the qualifiers for caching.
// also: compute_90

// Copies in vectors: 16 bytes as four floats, two doubles and two longs; 8, 4 and 2-component small types.
extern "C" __global__ void vector_copy(int n, const float4* __restrict__ a, float4* __restrict__ b, const float2* c, float2* d,
                                       const double2* e, double2* f, const uchar4* g, uchar4* h, const short4* k, short4* l,
                                       const longlong2* m, longlong2* o, const ushort2* p, ushort2* q) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    b[i] = a[i];
    d[i] = c[i];
    f[i] = e[i];
    h[i] = g[i];
    l[i] = k[i];
    o[i] = m[i];
    q[i] = p[i];
}

// Streaming, cached in L2 only, read-only, last use, volatile and written through; b and a hold 3 n vectors.
extern "C" __global__ void vector_cache_hints(int n, const float4* a, float4* b, const float* c, volatile float* d, const int* e,
                                              int* f, const char* g, char* h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __stcs(&b[i], __ldcs(&a[i]));
    __stcg(&b[n + i], __ldcg(&a[n + i]));
    __stwt(&b[2 * n + i], __ldg(&a[2 * n + i]));
    d[i] = __ldca(&c[i]) + d[n + i];
    f[i] = __ldlu(&e[i]) + __ldcv(&e[n + i]);
    __stwb(&h[i], __ldg(&g[i]));
}

// The same bytes seen as other types: a pair of words as a long, halves of words, a struct of 16 bytes, one of 10.
struct __align__(16) Quad { unsigned a, b, c, d; };
struct Odd { unsigned char a; unsigned short b; unsigned char c[3]; };
extern "C" __global__ void vector_pack(int n, const double* x, const unsigned long long* k, const unsigned* w, unsigned* o,
                                       unsigned long long* p, const Quad* q, Quad* r, const Odd* s, Odd* t, Odd by_value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    o[0 * n + i] = __double2loint(x[i]);
    o[1 * n + i] = __double2hiint(x[i]);
    unsigned lo, hi;
    asm("mov.b64 {%0, %1}, %2;" : "=r"(lo), "=r"(hi) : "l"(k[i]));
    o[2 * n + i] = lo ^ hi;
    unsigned long long swapped;
    asm("mov.b64 %0, {%1, %2};" : "=l"(swapped) : "r"(hi), "r"(lo));
    p[i] = swapped;
    unsigned short a, b;
    asm("mov.b32 {%0, %1}, %2;" : "=h"(a), "=h"(b) : "r"(w[i]));
    o[3 * n + i] = a + b;
    unsigned turned;
    asm("mov.b32 %0, {%1, %2};" : "=r"(turned) : "h"(b), "h"(a));
    o[4 * n + i] = turned;
    r[i] = q[n - 1 - i];
    t[i] = s[i];
    if (i == 0) t[0] = by_value;
}
