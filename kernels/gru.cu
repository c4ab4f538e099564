// The pointwise part of a gated recurrent unit. gx = W x + b and gh = U h + c are [batch, 3 hid] in the order r, z, n.

__device__ __forceinline__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

// The new state, and the four values that the gradient needs, interleaved.
extern "C" __global__ void gru_fwd_f32(int batch, int hid, const float* __restrict__ gx, const float* __restrict__ gh,
                                       const float* __restrict__ h, float* __restrict__ hn, float* __restrict__ saved) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * hid) return;
    int b = i / hid, j = i % hid, g = b * 3 * hid + j;
    float r = sigmoid(gx[g] + gh[g]), z = sigmoid(gx[g + hid] + gh[g + hid]), q = gh[g + 2 * hid];
    float n = tanhf(gx[g + 2 * hid] + r * q);
    hn[i] = (1.0f - z) * n + z * h[i];
    saved[4 * i] = r;
    saved[4 * i + 1] = z;
    saved[4 * i + 2] = n;
    saved[4 * i + 3] = q;
}

// Gradients of both pre-activations and of the old state.
extern "C" __global__ void gru_bwd_f32(int batch, int hid, const float* __restrict__ dh, const float* __restrict__ h,
                                       const float4* __restrict__ saved, float* __restrict__ dgx, float* __restrict__ dgh,
                                       float* __restrict__ dhp) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * hid) return;
    int b = i / hid, j = i % hid, g = b * 3 * hid + j;
    float4 s = saved[i];
    float d = dh[i], r = s.x, z = s.y, n = s.z, q = s.w;
    float dn = d * (1.0f - z) * __fmaf_rn(-n, n, 1.0f), dz = d * (h[i] - n) * z * (1.0f - z), dr = dn * q * r * (1.0f - r);
    dgx[g] = dr;
    dgx[g + hid] = dz;
    dgx[g + 2 * hid] = dn;
    dgh[g] = dr;
    dgh[g + hid] = dz;
    dgh[g + 2 * hid] = dn * r;
    dhp[i] = d * z;
}
