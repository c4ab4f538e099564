// Conditions: compound, combined in one instruction, as integers, guarding single instructions.
// Results lie in planes: o[k * n + i] is expression k on element i.
extern "C" __global__ void predicates(int n, const int* a, const float* b, const double* c, const long long* d, int* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bool p = a[i] > 3, q = b[i] < 2.0f, r = c[i] >= 0.0, s = d[i] != 5ll;
    o[0 * n + i] = (p && q) || (r && !s);
    o[1 * n + i] = p ^ q;
    o[2 * n + i] = (p & q) | (r & s);
    o[3 * n + i] = p ? (q ? 1 : 2) : (r ? 3 : 4);
    unsigned x;
    int y;
    asm("{ .reg .pred t, u; setp.gt.s32 t, %1, 0; setp.lt.and.s32 u|t, %1, 9, t; @u mov.u32 %0, 1; @!u mov.u32 %0, 0; }"
        : "=r"(x)
        : "r"(a[i]));
    o[4 * n + i] = x;
    asm("set.le.s32.f32 %0, %1, 0f40000000;" : "=r"(y) : "f"(b[i]));
    o[5 * n + i] = y;
    asm("slct.s32.f32 %0, 1, 2, %1;" : "=r"(y) : "f"(b[i]));
    o[6 * n + i] = y;
    asm("{ .reg .pred t; testp.notanumber.f32 t, %1; selp.s32 %0, 1, 0, t; }" : "=r"(y) : "f"(b[i]));
    o[7 * n + i] = y;
}

// All comparisons of signed and unsigned numbers, 32 and 64 bits wide, as bits of one number each.
extern "C" __global__ void comparisons(int n, const int* a, const int* b, const long long* c, const long long* d, int* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i], y = b[i];
    unsigned u = (unsigned)x, v = (unsigned)y;
    long long p = c[i], q = d[i];
    unsigned long long r = (unsigned long long)p, s = (unsigned long long)q;
    o[0 * n + i] = (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5;
    o[1 * n + i] = (u < v) | (u <= v) << 1 | (u > v) << 2 | (u >= v) << 3 | (u == v) << 4 | (u != v) << 5;
    o[2 * n + i] = (p < q) | (p <= q) << 1 | (p > q) << 2 | (p >= q) << 3 | (p == q) << 4 | (p != q) << 5;
    o[3 * n + i] = (r < s) | (r <= s) << 1 | (r > s) << 2 | (r >= s) << 3 | (r == s) << 4 | (r != s) << 5;
}
