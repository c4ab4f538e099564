// Numbers wider than a register by carry chains; bytes by prmt; funnel shifts.
// also: compute_90

typedef unsigned long long u64;

// 128-bit sums, differences and products of two numbers of two words each. Results in planes of two words.
extern "C" __global__ void carry_128(int n, const u64* a, const u64* b, u64* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 a0 = a[2 * i], a1 = a[2 * i + 1], b0 = b[2 * i], b1 = b[2 * i + 1], r0, r1;
    asm("add.cc.u64 %0, %2, %4; addc.u64 %1, %3, %5;" : "=&l"(r0), "=l"(r1) : "l"(a0), "l"(a1), "l"(b0), "l"(b1));
    o[i] = r0;
    o[n + i] = r1;
    asm("sub.cc.u64 %0, %2, %4; subc.u64 %1, %3, %5;" : "=&l"(r0), "=l"(r1) : "l"(a0), "l"(a1), "l"(b0), "l"(b1));
    o[2 * n + i] = r0;
    o[3 * n + i] = r1;
    asm("mul.lo.u64 %0, %2, %4; mul.hi.u64 %1, %2, %4; mad.lo.cc.u64 %1, %2, %5, %1; madc.lo.u64 %1, %3, %4, %1;"
        : "=&l"(r0), "=&l"(r1) : "l"(a0), "l"(a1), "l"(b0), "l"(b1));
    o[4 * n + i] = r0;
    o[5 * n + i] = r1;
}

// The same of four words of 32 bits: what a compiler makes of __int128, spelled out.
extern "C" __global__ void carry_32(int n, const unsigned* a, const unsigned* b, unsigned* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i], r0, r1, r2, r3;
    asm("mad.lo.cc.u32 %0, %4, %5, %4;\n"
        "madc.hi.cc.u32 %1, %4, %5, %5;\n"
        "addc.cc.u32 %2, %4, %5;\n"
        "addc.u32 %3, 0, 0;\n" : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=r"(r3) : "r"(x), "r"(y));
    o[i] = r0;
    o[n + i] = r1;
    o[2 * n + i] = r2;
    o[3 * n + i] = r3;
    asm("sub.cc.s32 %0, %4, %5;\n"
        "subc.cc.s32 %1, %5, %4;\n"
        "subc.cc.s32 %2, 0, %4;\n"
        "subc.s32 %3, 0, 0;\n" : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=r"(r3) : "r"(x), "r"(y));
    o[4 * n + i] = r0;
    o[5 * n + i] = r1;
    o[6 * n + i] = r2;
    o[7 * n + i] = r3;
}

// Bytes picked from two words, in all modes; funnel shifts by amounts far beyond the width.
extern "C" __global__ void permute_shift(int n, const unsigned* a, const unsigned* b, const unsigned* c, unsigned* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#define PICK(plane, form) { unsigned r; asm(form " %0, %1, %2, %3;" : "=r"(r) : "r"(a[i]), "r"(b[i]), "r"(c[i])); o[(plane) * n + i] = r; }
    PICK(0, "prmt.b32")
    PICK(1, "prmt.b32.f4e")
    PICK(2, "prmt.b32.b4e")
    PICK(3, "prmt.b32.rc8")
    PICK(4, "prmt.b32.ecl")
    PICK(5, "prmt.b32.ecr")
    PICK(6, "prmt.b32.rc16")
    PICK(7, "shf.l.wrap.b32")
    PICK(8, "shf.l.clamp.b32")
    PICK(9, "shf.r.wrap.b32")
    PICK(10, "shf.r.clamp.b32")
}
