// Each approximate instruction alone, so that its bound in the PTX manual can be held against it directly.
// Results lie in planes: o[k * n + i] is instruction k on element i.

#define UNARY(plane, form) { float r; asm(form " %0, %1;" : "=f"(r) : "f"(x)); o[(plane) * n + i] = r; }

// Powers of two.
extern "C" __global__ void ex2_f32(int n, const float* a, float* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    UNARY(0, "ex2.approx.f32")
    UNARY(1, "ex2.approx.ftz.f32")
}

// Logarithms to base two.
extern "C" __global__ void lg2_f32(int n, const float* a, float* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    UNARY(0, "lg2.approx.f32")
    UNARY(1, "lg2.approx.ftz.f32")
}

// Sine and cosine.
extern "C" __global__ void sin_cos_f32(int n, const float* a, float* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    UNARY(0, "sin.approx.f32")
    UNARY(1, "cos.approx.f32")
    UNARY(2, "sin.approx.ftz.f32")
    UNARY(3, "cos.approx.ftz.f32")
}

// Reciprocals.
extern "C" __global__ void rcp_f32(int n, const float* a, float* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    UNARY(0, "rcp.approx.f32")
    UNARY(1, "rcp.approx.ftz.f32")
}

// Square roots and their reciprocals.
extern "C" __global__ void sqrt_rsqrt_f32(int n, const float* a, float* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    UNARY(0, "sqrt.approx.f32")
    UNARY(1, "sqrt.approx.ftz.f32")
    UNARY(2, "rsqrt.approx.f32")
    UNARY(3, "rsqrt.approx.ftz.f32")
}

// Hyperbolic tangent in one instruction (sm_75 and later).
extern "C" __global__ void tanh_approx_f32(int n, const float* a, float* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    UNARY(0, "tanh.approx.f32")
}

// Quotients: the fast one, whose divisor's range is limited, and the one with the full range.
extern "C" __global__ void div_f32(int n, const float* a, const float* b, float* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float r;
    asm("div.approx.f32 %0, %1, %2;" : "=f"(r) : "f"(a[i]), "f"(b[i]));
    o[0 * n + i] = r;
    asm("div.approx.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a[i]), "f"(b[i]));
    o[1 * n + i] = r;
    asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(a[i]), "f"(b[i]));
    o[2 * n + i] = r;
    asm("div.full.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a[i]), "f"(b[i]));
    o[3 * n + i] = r;
}

// The gross seeds for f64 reciprocal and reciprocal square root.
extern "C" __global__ void rcp_rsqrt_f64(int n, const double* a, double* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = a[i], r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    o[0 * n + i] = r;
    asm("rsqrt.approx.f64 %0, %1;" : "=d"(r) : "d"(x));
    o[1 * n + i] = r;
}
