// A linear layer y = x W^T + b and its gradients, f32. x is [n, in], W is [out, in].

// Forward; the bias may be a null pointer.
extern "C" __global__ void linear_fwd_f32(int n, int in, int out, const float* __restrict__ x, const float* __restrict__ w,
                                          const float* __restrict__ b, float* __restrict__ y) {
    int o = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (o >= out) return;
    float s = b ? b[o] : 0.0f;
    for (int i = 0; i < in; i++) s += x[r * in + i] * w[o * in + i];
    y[r * out + o] = s;
}

// dx = dy W.
extern "C" __global__ void linear_bwd_x_f32(int n, int in, int out, const float* __restrict__ dy, const float* __restrict__ w,
                                            float* __restrict__ dx) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (i >= in) return;
    float s = 0.0f;
    for (int o = 0; o < out; o++) s += dy[r * out + o] * w[o * in + i];
    dx[r * in + i] = s;
}

// dW += dy^T x, db += column sums of dy.
extern "C" __global__ void linear_bwd_w_f32(int n, int in, int out, const float* __restrict__ dy, const float* __restrict__ x,
                                            float* __restrict__ dw, float* __restrict__ db) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, o = blockIdx.y;
    if (i >= in) return;
    float s = 0.0f, t = 0.0f;
    for (int r = 0; r < n; r++) {
        s += dy[r * out + o] * x[r * in + i];
        t += dy[r * out + o];
    }
    dw[o * in + i] += s;
    if (i == 0) db[o] += t;
}
