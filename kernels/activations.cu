// Transcendental functions and activation functions of f32, forward and backward, one kernel each.
// fast: the same with --use_fast_math, where .approx instructions and .ftz take the place of exact ones
// also: compute_90, compute_90 fast

#define KERNEL1(name, expression)                                                                \
    extern "C" __global__ void name(int n, const float* __restrict__ a, float* __restrict__ o) { \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                           \
        if (i < n) {                                                                             \
            float x = a[i];                                                                      \
            o[i] = (expression);                                                                 \
        }                                                                                        \
    }

// Rectifiers: max(x, 0), and with a small slope below zero.
KERNEL1(relu_f32, fmaxf(x, 0.0f))
KERNEL1(leaky_relu_f32, x > 0.0f ? x : 0.01f * x)

// Logistic function, and x times it.
KERNEL1(sigmoid_f32, 1.0f / (1.0f + expf(-x)))
KERNEL1(silu_f32, x / (1.0f + expf(-x)))

// Hyperbolic tangent, and the two usual forms of the Gaussian error linear unit.
KERNEL1(tanh_f32, tanhf(x))
KERNEL1(gelu_tanh_f32, 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x))))
KERNEL1(gelu_erf_f32, 0.5f * x * (1.0f + erff(x * 0.70710678f)))

// Exponentials and logarithms.
KERNEL1(exp_f32, expf(x))
KERNEL1(exp2_f32, exp2f(x))
KERNEL1(log_f32, logf(x))
KERNEL1(log1p_f32, log1pf(x))

// x to the power 2.4 for x >= 0.
KERNEL1(pow_f32, powf(x, 2.4f))

// Circular functions.
KERNEL1(sin_f32, sinf(x))
KERNEL1(cos_f32, cosf(x))
KERNEL1(atan_f32, atanf(x))

// log(1 + exp(x)), which is x where exp(x) is large.
KERNEL1(softplus_f32, x > 20.0f ? x : log1pf(expf(x)))

// The hardware's own exponential, logarithm and quotient, whatever the compiler's flags.
KERNEL1(fast_exp_f32, __expf(x))
KERNEL1(fast_log_f32, __logf(x))
KERNEL1(fast_div_f32, __fdividef(1.0f, x))

// Gradient of the rectifier.
extern "C" __global__ void relu_bwd_f32(int n, const float* x, const float* dy, float* dx) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = x[i] > 0.0f ? dy[i] : 0.0f;
}

// x logistic(x) of the gate, times the other half.
extern "C" __global__ void swiglu_f32(int n, const float* __restrict__ gate, const float* __restrict__ up,
                                      float* __restrict__ o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float g = gate[i];
        o[i] = g / (1.0f + __expf(-g)) * up[i];
    }
}
