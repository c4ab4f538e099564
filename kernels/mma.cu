// Products of small matrices by tensor cores; these exist from sm_80 on. A warp for each tile; blocks of whole warps.
// arch: compute_80

// d = a b + c for each tile: a is 16 by 16 and b 16 by 8, of bf16; c and d are 16 by 8, of f32. Each lane finds its own words of a
// tile side by side: four of a, two of b, four of c and of d, in the order of the manual's fragments.
extern "C" __global__ void mma_bf16(int tiles, const uint4* a, const uint2* b, const float4* c, float4* d) {
    int lane = blockIdx.x * blockDim.x + threadIdx.x;
    if (lane / 32 >= tiles) return;
    uint4 x = a[lane];
    uint2 y = b[lane];
    float4 z = c[lane], w;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
                 : "=f"(w.x), "=f"(w.y), "=f"(w.z), "=f"(w.w)
                 : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y), "f"(z.x), "f"(z.y), "f"(z.z), "f"(z.w));
    d[lane] = w;
}
