// bf16 on 16-bit integers, by PTX in place of NVIDIA's header. Results lie in planes: o[k * n + i] is operation k on element i.
// arch: compute_90

typedef unsigned short u16;

#define HALF1(plane, form) { u16 r; asm(form " %0, %1;" : "=h"(r) : "h"(x)); o[(plane) * n + i] = r; }
#define HALF2(plane, form) { u16 r; asm(form " %0, %1, %2;" : "=h"(r) : "h"(x), "h"(y)); o[(plane) * n + i] = r; }
#define HALF3(plane, form) { u16 r; asm(form " %0, %1, %2, %3;" : "=h"(r) : "h"(x), "h"(y), "h"(z)); o[(plane) * n + i] = r; }

static __device__ __forceinline__ float wide(u16 x) {
    float r;
    asm("cvt.f32.bf16 %0, %1;" : "=f"(r) : "h"(x));
    return r;
}
static __device__ __forceinline__ u16 narrow(float x) {
    u16 r;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(x));
    return r;
}

// Sums, products, signs and extremes.
extern "C" __global__ void bf16_arith(int n, const u16* a, const u16* b, const u16* c, u16* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u16 x = a[i], y = b[i], z = c[i];
    HALF2(0, "add.bf16")
    HALF2(1, "sub.bf16")
    HALF2(2, "mul.bf16")
    HALF3(3, "fma.rn.bf16")
    HALF3(4, "fma.rn.relu.bf16")
    HALF2(5, "min.bf16")
    HALF2(6, "max.bf16")
    HALF2(7, "min.NaN.bf16")
    HALF2(8, "max.NaN.bf16")
    HALF2(9, "max.xorsign.abs.bf16")
    HALF1(10, "neg.bf16")
    HALF1(11, "abs.bf16")
}

// Extremes of f16, which sm_80 brought.
extern "C" __global__ void half_extremes(int n, const u16* a, const u16* b, const u16* c, u16* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u16 x = a[i], y = b[i], z = c[i];
    HALF2(0, "min.f16")
    HALF2(1, "max.f16")
    HALF2(2, "min.ftz.f16")
    HALF2(3, "max.NaN.f16")
    HALF2(4, "min.xorsign.abs.f16")
    HALF3(5, "fma.rn.relu.f16")
    HALF3(6, "fma.rn.ftz.relu.f16")
}

// To and from other types.
extern "C" __global__ void bf16_convert(int n, const float* f, const int* v, const u16* h, u16* o, int* w, unsigned* p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#define FROM(plane, form, letter, value) { u16 r; asm(form " %0, %1;" : "=h"(r) : letter(value)); o[(plane) * n + i] = r; }
    FROM(0, "cvt.rn.bf16.f32", "f", f[i])
    FROM(1, "cvt.rz.bf16.f32", "f", f[i])
    FROM(2, "cvt.rn.relu.bf16.f32", "f", f[i])
    FROM(3, "cvt.rn.bf16.s32", "r", v[i])
    FROM(4, "cvt.rp.bf16.s32", "r", v[i])
    FROM(5, "cvt.rn.bf16.f64", "d", (double)f[i])
    FROM(6, "cvt.rzi.bf16.bf16", "h", h[i])
    int r;
    asm("cvt.rzi.s32.bf16 %0, %1;" : "=r"(r) : "h"(h[i]));
    w[i] = r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(f[i]), "f"(wide(h[i])));
    p[i] = r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(f[i]), "f"(wide(h[i])));
    p[n + i] = r;
    asm("cvt.rz.relu.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(f[i]), "f"(wide(h[i])));
    p[2 * n + i] = r;
}

// y = x W + b in bf16 with sums in f32, two columns at a time.
extern "C" __global__ void bf16_linear(int rows, int in, int out, const u16* x, const unsigned* w, const unsigned* bias, unsigned* y) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (c >= out || r >= rows) return;
    float s0 = wide((u16)bias[c]), s1 = wide((u16)(bias[c] >> 16));
    for (int k = 0; k < in; k++) {
        float v = wide(x[r * in + k]);
        unsigned pair = w[k * out + c];
        s0 = __fmaf_rn(v, wide((u16)pair), s0);
        s1 = __fmaf_rn(v, wide((u16)(pair >> 16)), s1);
    }
    y[r * out + c] = (unsigned)narrow(s0) | (unsigned)narrow(s1) << 16;
}

// The inner product of rows in bf16 pairs, one thread a row.
extern "C" __global__ void bf16_dot(int rows, int n, const unsigned* a, const unsigned* b, unsigned* o) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    unsigned sum = 0;
    for (int k = 0; k < n; k++) {
        unsigned x = a[row * n + k], y = b[row * n + k], product;
        asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(product) : "r"(x), "r"(y));
        asm("add.rn.bf16x2 %0, %0, %1;" : "+r"(sum) : "r"(product));
    }
    o[row] = sum;
}

// Sums of small whole numbers, so that their order does not matter.
extern "C" __global__ void bf16_atomic(int n, const u16* a, const unsigned* pairs, u16* sums, unsigned* pair_sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    asm volatile("{ .reg .b16 old; atom.add.noftz.bf16 old, [%0], %1; }" :: "l"(sums + (i & 3)), "h"(a[i]) : "memory");
    asm volatile("{ .reg .b32 old; atom.global.add.noftz.bf16x2 old, [%0], %1; }" :: "l"(pair_sums + (i & 1)), "r"(pairs[i]) : "memory");
    asm volatile("red.add.noftz.bf16x2 [%0], %1;" :: "l"(pair_sums + 2), "r"(pairs[i]) : "memory");
}
