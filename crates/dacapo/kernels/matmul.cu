// Matrix products that stand in for cuBLASLt's where it is not there: D = act(alpha * A x B + beta * C + bias), row by row in
// memory, batches one behind the other. A is m x k, or k x m where it is transposed; B is k x n, or n x k; C and D are m x n;
// the bias has n elements and is the same for every row and batch.
//
// One thread an element of D. The sum over k is one chain of fused multiply-adds in f32, from the first to the last; scale, C,
// bias and activation follow in f32; the result is rounded once. For speed there is cuBLASLt.

typedef unsigned short u16;
typedef unsigned long long u64;

enum {
    A_TRANSPOSED = 1,
    B_TRANSPOSED = 2,
    RELU = 4,
    GELU = 8,
    // D holds C. Then `c` is not looked at.
    ACCUMULATE = 16,
};

// To the nearest number with 10 bits behind the point, halves away from zero: what cvt.rna.tf32.f32 does (PTX ISA, 9.7.8.20).
// What is not finite stays as it is.
__device__ __forceinline__ float to_tf32(float x) {
    unsigned bits = __float_as_uint(x);
    if ((bits & 0x7F800000u) == 0x7F800000u) return x;
    return __uint_as_float((bits + 0x1000u) & 0xFFFFE000u);
}

__device__ __forceinline__ float from_f16(u16 x) {
    float r;
    asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x));
    return r;
}

__device__ __forceinline__ u16 to_f16(float x) {
    u16 r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
    return r;
}

__device__ __forceinline__ float from_bf16(u16 x) { return __uint_as_float((unsigned)x << 16); }

// To the nearest, halves to even. In whole numbers, because the instruction came with sm_90.
__device__ __forceinline__ u16 to_bf16(float x) {
    unsigned bits = __float_as_uint(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return 0x7FFF;
    return (u16)((bits + 0x7FFFu + (bits >> 16 & 1)) >> 16);
}

// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), with (1 + tanh y) / 2 as 1 / (1 + exp(-2 y)).
__device__ __forceinline__ float gelu(float x) {
    float y = 0.7978845608f * x * __fmaf_rn(0.044715f * x, x, 1.0f);
    return __fdiv_rn(x, 1.0f + expf(-2.0f * y));
}

__device__ __forceinline__ float same(float x) { return x; }

#define MATMUL(name, T, FACTOR, WIDE, NARROW)                                                                              \
    extern "C" __global__ void name(T* d, const T* a, const T* b, const T* c, const T* bias, const float* alpha_at,       \
                                    const float* beta_at, float alpha, float beta, u64 elements, unsigned m, unsigned n,  \
                                    unsigned k, unsigned flags) {                                                          \
        u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;                                                                \
        if (i >= elements) return;                                                                                         \
        u64 line = i / n, batch = line / m;                                                                                \
        u64 column = i - line * n, row = line - batch * m;                                                                 \
        const T* from_a = a + batch * m * k + (flags & A_TRANSPOSED ? row : row * k);                                      \
        const T* from_b = b + batch * n * k + (flags & B_TRANSPOSED ? column * k : column);                                \
        u64 step_a = flags & A_TRANSPOSED ? m : 1, step_b = flags & B_TRANSPOSED ? 1 : n;                                  \
        float sum = 0.0f;                                                                                                  \
        for (unsigned at = 0; at < k; at++, from_a += step_a, from_b += step_b)                                            \
            sum = __fmaf_rn(FACTOR(*from_a), FACTOR(*from_b), sum);                                                        \
        if (alpha_at) alpha = *alpha_at;                                                                                   \
        if (beta_at) beta = *beta_at;                                                                                      \
        if (flags & ACCUMULATE) c = d;                                                                                     \
        float x = alpha * sum;                                                                                             \
        if (c && beta != 0.0f) x = __fmaf_rn(beta, WIDE(c[i]), x);                                                         \
        if (bias) x += WIDE(bias[column]);                                                                                 \
        if (flags & RELU) x = x < 0.0f ? 0.0f : x;                                                                         \
        if (flags & GELU) x = gelu(x);                                                                                     \
        d[i] = NARROW(x);                                                                                                  \
    }

MATMUL(matmul_f32, float, same, same, same)
MATMUL(matmul_tf32, float, to_tf32, same, same)
MATMUL(matmul_f16, u16, from_f16, from_f16, to_f16)
MATMUL(matmul_bf16, u16, from_bf16, from_bf16, to_bf16)
