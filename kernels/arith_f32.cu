// f32 arithmetic whose bits IEEE 754 fixes, comparisons, and every rounding mode.
// Results lie in planes: o[k * n + i] is operation k on element i.
// also: compute_90

// + - * / sqrt, reciprocal, min, max, abs, negation, copysign, saturation, fused multiply-add.
extern "C" __global__ void arith_f32(int n, const float* a, const float* b, float* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i];
    o[0 * n + i] = x + y;
    o[1 * n + i] = x - y;
    o[2 * n + i] = x * y;
    o[3 * n + i] = x / y;
    o[4 * n + i] = sqrtf(x);
    o[5 * n + i] = 1.0f / x;
    o[6 * n + i] = fminf(x, y);
    o[7 * n + i] = fmaxf(x, y);
    o[8 * n + i] = fabsf(x);
    o[9 * n + i] = -x;
    o[10 * n + i] = copysignf(x, y);
    o[11 * n + i] = __saturatef(x);
    o[12 * n + i] = fmaf(x, y, 1.5f);
}

// Rounding to integers in the four ways and half away from zero.
extern "C" __global__ void round_f32(int n, const float* a, float* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    o[0 * n + i] = floorf(x);
    o[1 * n + i] = ceilf(x);
    o[2 * n + i] = truncf(x);
    o[3 * n + i] = rintf(x);
    o[4 * n + i] = roundf(x);
}

// Ordered and unordered comparisons, classification, a compound condition; one byte each.
extern "C" __global__ void compare_f32(int n, const float* a, const float* b, unsigned char* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i];
    o[0 * n + i] = x < y;
    o[1 * n + i] = x <= y;
    o[2 * n + i] = x == y;
    o[3 * n + i] = x != y;
    o[4 * n + i] = !(x >= y);
    o[5 * n + i] = !(x > y);
    o[6 * n + i] = isnan(x);
    o[7 * n + i] = isinf(x);
    o[8 * n + i] = (x > y) && (y > 0.0f || x < -1.0f);
}

// Addition, multiplication and fused multiply-add, each rounded to nearest, to zero, down and up.
extern "C" __global__ void rounding_add_mul_fma_f32(int n, const float* a, const float* b, float* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i];
    o[0 * n + i] = __fadd_rn(x, y);
    o[1 * n + i] = __fadd_rz(x, y);
    o[2 * n + i] = __fadd_rd(x, y);
    o[3 * n + i] = __fadd_ru(x, y);
    o[4 * n + i] = __fmul_rn(x, y);
    o[5 * n + i] = __fmul_rz(x, y);
    o[6 * n + i] = __fmul_rd(x, y);
    o[7 * n + i] = __fmul_ru(x, y);
    o[8 * n + i] = __fmaf_rn(x, y, x);
    o[9 * n + i] = __fmaf_rz(x, y, x);
    o[10 * n + i] = __fmaf_rd(x, y, x);
    o[11 * n + i] = __fmaf_ru(x, y, x);
}

// Division, square root and reciprocal, each rounded in the four ways.
extern "C" __global__ void rounding_div_sqrt_rcp_f32(int n, const float* a, const float* b, float* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i];
    o[0 * n + i] = __fdiv_rn(x, y);
    o[1 * n + i] = __fdiv_rz(x, y);
    o[2 * n + i] = __fdiv_rd(x, y);
    o[3 * n + i] = __fdiv_ru(x, y);
    o[4 * n + i] = __fsqrt_rn(x);
    o[5 * n + i] = __fsqrt_rz(x);
    o[6 * n + i] = __fsqrt_rd(x);
    o[7 * n + i] = __fsqrt_ru(x);
    o[8 * n + i] = __frcp_rn(x);
    o[9 * n + i] = __frcp_rz(x);
    o[10 * n + i] = __frcp_rd(x);
    o[11 * n + i] = __frcp_ru(x);
}
