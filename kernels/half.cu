// f16 on 16-bit integers, by PTX in place of NVIDIA's header. Results lie in planes: o[k * n + i] is operation k on element i.
// also: compute_90

typedef unsigned short u16;

#define HALF1(plane, form) { u16 r; asm(form " %0, %1;" : "=h"(r) : "h"(x)); o[(plane) * n + i] = r; }
#define HALF2(plane, form) { u16 r; asm(form " %0, %1, %2;" : "=h"(r) : "h"(x), "h"(y)); o[(plane) * n + i] = r; }
#define HALF3(plane, form) { u16 r; asm(form " %0, %1, %2, %3;" : "=h"(r) : "h"(x), "h"(y), "h"(z)); o[(plane) * n + i] = r; }

static __device__ __forceinline__ float wide(u16 x) {
    float r;
    asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x));
    return r;
}
static __device__ __forceinline__ u16 narrow(float x) {
    u16 r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
    return r;
}

// Sums, products and signs, with and without flushing and saturation.
extern "C" __global__ void half_arith(int n, const u16* a, const u16* b, const u16* c, u16* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u16 x = a[i], y = b[i], z = c[i];
    HALF2(0, "add.f16")
    HALF2(1, "sub.f16")
    HALF2(2, "mul.f16")
    HALF3(3, "fma.rn.f16")
    HALF2(4, "add.ftz.f16")
    HALF2(5, "mul.ftz.f16")
    HALF3(6, "fma.rn.ftz.f16")
    HALF2(7, "add.sat.f16")
    HALF2(8, "mul.sat.f16")
    HALF3(9, "fma.rn.sat.f16")
    HALF1(10, "neg.f16")
    HALF1(11, "abs.f16")
}

// Comparisons into predicates, and into halves.
extern "C" __global__ void half_compare(int n, const u16* a, const u16* b, u16* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u16 x = a[i], y = b[i];
    int all = 0, bit;
#define TEST(number, form) \
    asm("{ .reg .pred p; setp." form ".f16 p, %1, %2; selp.s32 %0, 1, 0, p; }" : "=r"(bit) : "h"(x), "h"(y)); \
    all |= bit << (number);
    TEST(0, "eq")
    TEST(1, "ne")
    TEST(2, "lt")
    TEST(3, "le")
    TEST(4, "gt")
    TEST(5, "ge")
    TEST(6, "equ")
    TEST(7, "neu")
    TEST(8, "ltu")
    TEST(9, "geu")
    TEST(10, "num")
    TEST(11, "nan")
    TEST(12, "lt.ftz")
    TEST(13, "eq.ftz")
    o[i] = (u16)all;
    HALF2(1, "set.lt.f16.f16")
    HALF2(2, "set.geu.f16.f16")
}

// Two at a time: the inner product of rows, one thread a row, n pairs each.
extern "C" __global__ void half_dot(int rows, int n, const unsigned* a, const unsigned* b, unsigned* o) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    unsigned sum = 0;
    for (int k = 0; k < n; k++) {
        unsigned x = a[row * n + k], y = b[row * n + k];
        asm("fma.rn.f16x2 %0, %1, %2, %0;" : "+r"(sum) : "r"(x), "r"(y));
    }
    o[row] = sum;
}

// To and from other types, in every rounding.
extern "C" __global__ void half_convert(int n, const float* f, const int* v, const u16* h, u16* o, int* w, float* g) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#define FROM(plane, form, letter, value) { u16 r; asm(form " %0, %1;" : "=h"(r) : letter(value)); o[(plane) * n + i] = r; }
    FROM(0, "cvt.rn.f16.f32", "f", f[i])
    FROM(1, "cvt.rz.f16.f32", "f", f[i])
    FROM(2, "cvt.rm.f16.f32", "f", f[i])
    FROM(3, "cvt.rp.f16.f32", "f", f[i])
    FROM(4, "cvt.rn.f16.s32", "r", v[i])
    FROM(5, "cvt.rz.f16.u32", "r", v[i])
    FROM(6, "cvt.rn.f16.f64", "d", (double)f[i])
    FROM(7, "cvt.rmi.f16.f16", "h", h[i])
    FROM(8, "cvt.rni.f16.f16", "h", h[i])
    int r;
    asm("cvt.rzi.s32.f16 %0, %1;" : "=r"(r) : "h"(h[i]));
    w[i] = r;
    asm("cvt.rni.u32.f16 %0, %1;" : "=r"(r) : "h"(h[i]));
    w[n + i] = r;
    g[i] = wide(h[i]);
}

// y = relu(x W + b) in f16 with sums in f32: a layer of a network as it is stored in half precision.
extern "C" __global__ void half_linear(int rows, int in, int out, const u16* x, const u16* w, const u16* bias, u16* y) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (c >= out || r >= rows) return;
    float s = wide(bias[c]);
    for (int k = 0; k < in; k++) s = __fmaf_rn(wide(x[r * in + k]), wide(w[k * out + c]), s);
    u16 h = narrow(s);
    asm("{ .reg .pred p; .reg .b16 zero; mov.b16 zero, 0; setp.gt.f16 p, %0, zero; selp.b16 %0, %0, zero, p; }" : "+h"(h));
    y[r * out + c] = h;
}

// Sums of halves that are whole numbers, so that their order does not matter: alone, and in pairs.
extern "C" __global__ void half_atomic(int n, const u16* a, const unsigned* pairs, u16* sums, unsigned* pair_sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    asm volatile("{ .reg .b16 old; atom.add.noftz.f16 old, [%0], %1; }" :: "l"(sums + (i & 3)), "h"(a[i]) : "memory");
    asm volatile("{ .reg .b32 old; atom.global.add.noftz.f16x2 old, [%0], %1; }" :: "l"(pair_sums + (i & 1)), "r"(pairs[i]) : "memory");
    asm volatile("red.add.noftz.f16x2 [%0], %1;" :: "l"(pair_sums + 2), "r"(pairs[i]) : "memory");
}
