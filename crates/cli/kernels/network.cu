// One training step of a small network: linear layers, ReLU, softmax with cross entropy, Adam. Matrices are row by row.
//
// Every sum has one order, and every operation is rounded once and spelled out (+ - * / sqrt fma): the same step gives the
// same bits on every device, and src/reference.rs gives them too.

__device__ __forceinline__ unsigned thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// e^x for x <= 0. x = k ln 2 + r, with |r| at most half of ln 2; e^r by its series to the seventh power. Below -87 it is 0.
__device__ __forceinline__ float exp_nonpositive(float x) {
    if (!(x >= -87.0f)) return 0.0f;
    float k = rintf(__fmul_rn(x, 1.442695f));
    float r = __fmaf_rn(k, -0.6931472f, x);
    r = __fmaf_rn(k, 1.9046543e-9f, r);
    float p = 1.9841270e-4f;
    p = __fmaf_rn(p, r, 1.3888889e-3f);
    p = __fmaf_rn(p, r, 8.3333333e-3f);
    p = __fmaf_rn(p, r, 4.1666667e-2f);
    p = __fmaf_rn(p, r, 0.16666667f);
    p = __fmaf_rn(p, r, 0.5f);
    p = __fmaf_rn(p, r, 1.0f);
    p = __fmaf_rn(p, r, 1.0f);
    return __fmul_rn(p, __int_as_float(((int)k + 127) << 23));
}

// ln x for a normal x. x = m * 2^e with m in [2/3, 4/3); ln m is 2 atanh((m - 1) / (m + 1)), by its series.
__device__ __forceinline__ float ln(float x) {
    int bits = __float_as_int(x), e = (bits - 0x3F2AAAAB) >> 23;
    float f = __fadd_rn(__int_as_float(bits - e * 0x800000), -1.0f);
    float s = __fdiv_rn(f, __fadd_rn(f, 2.0f)), z = __fmul_rn(s, s);
    float p = 0.18181818f;
    p = __fmaf_rn(p, z, 0.22222222f);
    p = __fmaf_rn(p, z, 0.2857143f);
    p = __fmaf_rn(p, z, 0.4f);
    p = __fmaf_rn(p, z, 0.6666667f);
    float m = __fmaf_rn(__fmul_rn(s, z), p, __fmul_rn(s, 2.0f));
    return __fmaf_rn((float)e, 0.6931472f, m);
}

// y = x W^T + b. x is [rows, in], W is [out, in]. One thread an element of y.
extern "C" __global__ void linear_forward(const float* __restrict__ x, const float* __restrict__ w,
                                          const float* __restrict__ b, float* __restrict__ y, unsigned rows, unsigned in,
                                          unsigned out) {
    unsigned t = thread();
    if (t >= rows * out) return;
    unsigned r = t / out, o = t % out;
    float s = b[o];
    for (unsigned i = 0; i < in; i++) s = __fmaf_rn(x[r * in + i], w[o * in + i], s);
    y[t] = s;
}

// dx = dy W. One thread an element of dx.
extern "C" __global__ void linear_backward_input(const float* __restrict__ dy, const float* __restrict__ w,
                                                 float* __restrict__ dx, unsigned rows, unsigned in, unsigned out) {
    unsigned t = thread();
    if (t >= rows * in) return;
    unsigned r = t / in, i = t % in;
    float s = 0.0f;
    for (unsigned o = 0; o < out; o++) s = __fmaf_rn(dy[r * out + o], w[o * in + i], s);
    dx[t] = s;
}

// dW += dy^T x. One thread an element of dW.
extern "C" __global__ void linear_backward_weight(const float* __restrict__ dy, const float* __restrict__ x,
                                                  float* __restrict__ dw, unsigned rows, unsigned in, unsigned out) {
    unsigned t = thread();
    if (t >= out * in) return;
    unsigned o = t / in, i = t % in;
    float s = dw[t];
    for (unsigned r = 0; r < rows; r++) s = __fmaf_rn(dy[r * out + o], x[r * in + i], s);
    dw[t] = s;
}

// db += column sums of dy. One thread a column.
extern "C" __global__ void linear_backward_bias(const float* __restrict__ dy, float* __restrict__ db, unsigned rows,
                                                unsigned out) {
    unsigned o = thread();
    if (o >= out) return;
    float s = db[o];
    for (unsigned r = 0; r < rows; r++) s = __fadd_rn(s, dy[r * out + o]);
    db[o] = s;
}

// y = max(x, 0).
extern "C" __global__ void relu(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    unsigned t = thread();
    if (t < n) y[t] = x[t] > 0.0f ? x[t] : 0.0f;
}

// dx = dy where y > 0, else 0; y is what relu gave.
extern "C" __global__ void relu_backward(const float* __restrict__ y, const float* __restrict__ dy, float* __restrict__ dx,
                                         unsigned n) {
    unsigned t = thread();
    if (t < n) dx[t] = y[t] > 0.0f ? dy[t] : 0.0f;
}

// loss = the mean over rows of -ln softmax(logits)[label], and its gradient in dlogits. A label that is no class counts for
// nothing: no loss, no gradient. One block of 256 threads; thread t has rows t, t + 256, .., and a tree adds the threads up.
extern "C" __global__ void softmax_cross_entropy(const float* __restrict__ logits, const unsigned* __restrict__ labels,
                                                 float* __restrict__ dlogits, float* __restrict__ loss, unsigned rows,
                                                 unsigned classes) {
    __shared__ float sums[256];
    float mine = 0.0f;
    for (unsigned r = threadIdx.x; r < rows; r += 256) {
        const float* row = logits + (unsigned long long)r * classes;
        float* to = dlogits + (unsigned long long)r * classes;
        unsigned label = labels[r];
        if (label >= classes) {
            for (unsigned c = 0; c < classes; c++) to[c] = 0.0f;
            continue;
        }
        float top = row[0], sum = 0.0f;
        for (unsigned c = 1; c < classes; c++) top = row[c] > top ? row[c] : top;
        for (unsigned c = 0; c < classes; c++) sum = __fadd_rn(sum, exp_nonpositive(__fadd_rn(row[c], -top)));
        for (unsigned c = 0; c < classes; c++) {
            float p = __fdiv_rn(exp_nonpositive(__fadd_rn(row[c], -top)), sum);
            to[c] = __fdiv_rn(c == label ? __fadd_rn(p, -1.0f) : p, (float)rows);
        }
        mine = __fadd_rn(mine, __fadd_rn(ln(sum), -__fadd_rn(row[label], -top)));
    }
    sums[threadIdx.x] = mine;
    for (unsigned half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] = __fadd_rn(sums[threadIdx.x], sums[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) *loss = __fdiv_rn(sums[0], (float)rows);
}

// x = 0.
extern "C" __global__ void zero(float* __restrict__ x, unsigned n) {
    unsigned t = thread();
    if (t < n) x[t] = 0.0f;
}

// powers[0] *= beta1, powers[1] *= beta2: the powers of this step, kept on the device so that every replay has its own. One thread.
extern "C" __global__ void adam_advance(float* powers, float beta1, float beta2) {
    if (thread() != 0) return;
    powers[0] = __fmul_rn(powers[0], beta1);
    powers[1] = __fmul_rn(powers[1], beta2);
}

// Adam (Kingma and Ba, 2015), with the powers of the betas from device memory.
extern "C" __global__ void adam_step(float rate, float beta1, float beta2, float epsilon, const float* __restrict__ powers,
                                     const float* __restrict__ g, float* __restrict__ p, float* __restrict__ m,
                                     float* __restrict__ v, unsigned n) {
    unsigned t = thread();
    if (t >= n) return;
    float gt = g[t];
    float mt = __fmaf_rn(beta1, m[t], __fmul_rn(__fadd_rn(1.0f, -beta1), gt));
    float vt = __fmaf_rn(beta2, v[t], __fmul_rn(__fmul_rn(__fadd_rn(1.0f, -beta2), gt), gt));
    m[t] = mt;
    v[t] = vt;
    float mean = __fdiv_rn(mt, __fadd_rn(1.0f, -powers[0])), square = __fdiv_rn(vt, __fadd_rn(1.0f, -powers[1]));
    p[t] = __fmaf_rn(-rate, __fdiv_rn(mean, __fadd_rn(__fsqrt_rn(square), epsilon)), p[t]);
}

// p -= rate * g.
extern "C" __global__ void sgd(float rate, const float* __restrict__ g, float* __restrict__ p, unsigned n) {
    unsigned t = thread();
    if (t < n) p[t] = __fmaf_rn(-rate, g[t], p[t]);
}
