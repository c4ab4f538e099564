// Cross entropy of rows of logits against integer targets.

// loss = log(sum of exp) - logit of the target; also that logarithm. One block of 128 per row.
extern "C" __global__ void cross_entropy_f32(int cols, const float* __restrict__ logits, const int* __restrict__ target,
                                             float* __restrict__ loss, float* __restrict__ lse_out) {
    __shared__ float s[128];
    int t = threadIdx.x;
    const float* x = logits + (size_t)blockIdx.x * cols;
    float m = -3.402823466e38f;
    for (int c = t; c < cols; c += 128) m = fmaxf(m, x[c]);
    s[t] = m;
    __syncthreads();
    for (int k = 64; k > 0; k >>= 1) {
        if (t < k) s[t] = fmaxf(s[t], s[t + k]);
        __syncthreads();
    }
    m = s[0];
    __syncthreads();
    float z = 0.0f;
    for (int c = t; c < cols; c += 128) z += expf(x[c] - m);
    s[t] = z;
    __syncthreads();
    for (int k = 64; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) {
        float lse = m + logf(s[0]);
        lse_out[blockIdx.x] = lse;
        loss[blockIdx.x] = lse - x[target[blockIdx.x]];
    }
}

// Gradient of the mean loss: (softmax - one at the target) / rows. One thread an element, one row a block row.
extern "C" __global__ void cross_entropy_bwd_f32(int rows, int cols, const float* __restrict__ logits,
                                                 const int* __restrict__ target, const float* __restrict__ lse,
                                                 float* __restrict__ dlogits) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (c >= cols) return;
    size_t i = (size_t)r * cols + c;
    float p = expf(logits[i] - lse[r]);
    dlogits[i] = (p - (c == target[r] ? 1.0f : 0.0f)) / rows;
}
