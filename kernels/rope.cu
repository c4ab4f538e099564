// Rotary position embedding, in place. x is [tokens, heads, dim]; one block a token and head.

// Angles by powf and sincosf; pairs of neighbours are rotated.
extern "C" __global__ void rope_f32(int heads, int dim, const int* __restrict__ pos, float base, float* x) {
    int h = blockIdx.y, tok = blockIdx.x, i = threadIdx.x;
    if (i >= dim / 2) return;
    float inv = powf(base, -2.0f * i / dim), s, c;
    sincosf(pos[tok] * inv, &s, &c);
    float* p = x + ((size_t)tok * heads + h) * dim;
    float a = p[2 * i], b = p[2 * i + 1];
    p[2 * i] = a * c - b * s;
    p[2 * i + 1] = a * s + b * c;
}

// Cosines and sines from a table [positions, dim / 2]; the two halves are rotated against each other.
extern "C" __global__ void rope_table_f32(int heads, int dim, const int* __restrict__ pos, const float2* __restrict__ cs,
                                          float* x) {
    int h = blockIdx.y, tok = blockIdx.x, i = threadIdx.x, half = dim / 2;
    if (i >= half) return;
    float2 t = cs[(size_t)pos[tok] * half + i];
    float* p = x + ((size_t)tok * heads + h) * dim;
    float a = p[i], b = p[i + half];
    // Spelled out: a bare product and difference may be fused by the assembler in either of two ways.
    p[i] = __fmaf_rn(a, t.x, -__fmul_rn(b, t.y));
    p[i + half] = __fmaf_rn(b, t.x, __fmul_rn(a, t.y));
}
