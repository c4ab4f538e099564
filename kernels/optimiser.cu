// Optimiser steps. The step number is read from device memory, so that a replayed graph advances.

// AdamW with bias correction and decoupled weight decay.
extern "C" __global__ void adamw_f32(int n, float lr, float b1, float b2, float eps, float wd, const int* __restrict__ step,
                                     const float* __restrict__ g, float* __restrict__ p, float* __restrict__ m,
                                     float* __restrict__ v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float t = (float)*step, gi = g[i];
    float mi = m[i] = b1 * m[i] + (1.0f - b1) * gi, vi = v[i] = b2 * v[i] + (1.0f - b2) * gi * gi;
    float mh = mi / (1.0f - powf(b1, t)), vh = vi / (1.0f - powf(b2, t));
    p[i] -= lr * (mh / (sqrtf(vh) + eps) + wd * p[i]);
}

// Gradient descent with momentum.
extern "C" __global__ void sgd_f32(int n, float lr, float mom, const float* __restrict__ g, float* __restrict__ p,
                                   float* __restrict__ v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        // Spelled out, so that the assembler has nothing left to fuse.
        float u = v[i] = __fmaf_rn(mom, v[i], g[i]);
        p[i] = __fmaf_rn(-lr, u, p[i]);
    }
}

// Adds one to the step number.
extern "C" __global__ void step_inc(int* step) { *step += 1; }
