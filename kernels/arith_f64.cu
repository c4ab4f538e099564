// f64 arithmetic, comparison and the transcendental functions that the compiler builds from exact instructions.
// Results lie in planes: o[k * n + i] is operation k on element i.

// + - * / sqrt, min, max, abs, negation, rounding to integers, select, fused multiply-add.
extern "C" __global__ void arith_f64(int n, const double* a, const double* b, double* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = a[i], y = b[i];
    o[0 * n + i] = x + y;
    o[1 * n + i] = x - y;
    o[2 * n + i] = x * y;
    o[3 * n + i] = x / y;
    o[4 * n + i] = sqrt(x);
    o[5 * n + i] = fmin(x, y);
    o[6 * n + i] = fmax(x, y);
    o[7 * n + i] = fabs(x);
    o[8 * n + i] = -x;
    o[9 * n + i] = floor(x);
    o[10 * n + i] = x > y ? x : 2.0;
    o[11 * n + i] = round(x);
    o[12 * n + i] = fma(x, y, -1.25);
}

// Exponential and logarithm.
extern "C" __global__ void math_f64(int n, const double* a, double* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = a[i];
    o[0 * n + i] = exp(x);
    o[1 * n + i] = log(x);
}

// Addition, multiplication and fused multiply-add rounded to zero, down and up.
extern "C" __global__ void rounding_f64(int n, const double* a, const double* b, double* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = a[i], y = b[i];
    o[0 * n + i] = __dadd_rz(x, y);
    o[1 * n + i] = __dadd_rd(x, y);
    o[2 * n + i] = __dadd_ru(x, y);
    o[3 * n + i] = __dmul_rz(x, y);
    o[4 * n + i] = __dmul_rd(x, y);
    o[5 * n + i] = __dmul_ru(x, y);
    o[6 * n + i] = __fma_rz(x, y, x);
    o[7 * n + i] = __fma_rd(x, y, x);
    o[8 * n + i] = __fma_ru(x, y, x);
}

// Comparisons, ordered and unordered; one byte each.
extern "C" __global__ void compare_f64(int n, const double* a, const double* b, unsigned char* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = a[i], y = b[i];
    o[0 * n + i] = x < y;
    o[1 * n + i] = x <= y;
    o[2 * n + i] = x == y;
    o[3 * n + i] = x != y;
    o[4 * n + i] = !(x >= y);
    o[5 * n + i] = isnan(x);
}
