// Integer arithmetic, logic, shifts and bit operations in all widths.
// Results lie in planes: o[k * n + i] is operation k on element i. Divisors must not be zero.
// also: compute_90

// 32-bit signed arithmetic and logic.
extern "C" __global__ void int_s32(int n, const int* a, const int* b, int* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i], y = b[i];
    o[0 * n + i] = x + y;
    o[1 * n + i] = x - y;
    o[2 * n + i] = x * y;
    o[3 * n + i] = x & y;
    o[4 * n + i] = x | y;
    o[5 * n + i] = x ^ y;
    o[6 * n + i] = ~x;
    o[7 * n + i] = min(x, y);
    o[8 * n + i] = max(x, y);
    o[9 * n + i] = abs(x);
    o[10 * n + i] = -x;
    o[11 * n + i] = __mulhi(x, y);
    o[12 * n + i] = (x & y) ^ (~x & 0x55555555) ^ (y | x);
    o[13 * n + i] = (x > y) ? x * 3 : y;
    o[14 * n + i] = __sad(x, y, 7);
    o[15 * n + i] = __mul24(x, y);
}

// Quotient and remainder: signed and unsigned, by a variable and by constants.
extern "C" __global__ void int_div_rem_32(int n, const int* a, const int* b, int* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i], y = b[i];
    unsigned u = (unsigned)x, v = (unsigned)y;
    o[0 * n + i] = x / y;
    o[1 * n + i] = x % y;
    o[2 * n + i] = (int)(u / v);
    o[3 * n + i] = (int)(u % v);
    o[4 * n + i] = x / 7;
    o[5 * n + i] = x % 8;
    o[6 * n + i] = (int)(u / 10u);
    o[7 * n + i] = (int)(u % 1000u);
}

// 32-bit unsigned arithmetic and bit counting.
extern "C" __global__ void int_u32(int n, const unsigned* a, const unsigned* b, unsigned* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    o[0 * n + i] = umin(x, y);
    o[1 * n + i] = umax(x, y);
    o[2 * n + i] = __umulhi(x, y);
    o[3 * n + i] = __popc(x);
    o[4 * n + i] = __clz(x);
    o[5 * n + i] = __ffs(x);
    o[6 * n + i] = __brev(x);
    o[7 * n + i] = (x >> 5) & 0xff;
    o[8 * n + i] = (unsigned)((unsigned long long)x * y >> 17);
    o[9 * n + i] = __usad(x, y, 1u);
    o[10 * n + i] = __uhadd(x, y);
    o[11 * n + i] = x * y + 12345u;
}

// Four-way byte dot products in the four combinations of signedness, with an accumulator.
extern "C" __global__ void int_dp4a(int n, const int* a, const int* b, int* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i], y = b[i], r;
    o[0 * n + i] = __dp4a(x, y, 1000);
    o[1 * n + i] = (int)__dp4a((unsigned)x, (unsigned)y, 7u);
    asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(-5));
    o[2 * n + i] = r;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(5));
    o[3 * n + i] = r;
}

// Shifts by amounts that the caller chooses freely: PTX clamps at the width, where C would leave it undefined.
extern "C" __global__ void int_shifts(int n, const unsigned* a, const unsigned* b, const unsigned long long* c, unsigned* o,
                                      unsigned long long* p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], s = b[i], r;
    unsigned long long y = c[i], q;
    asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(s));
    o[0 * n + i] = r;
    asm("shr.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(s));
    o[1 * n + i] = r;
    asm("shr.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(s));
    o[2 * n + i] = r;
    asm("shl.b64 %0, %1, %2;" : "=l"(q) : "l"(y), "r"(s));
    p[0 * n + i] = q;
    asm("shr.u64 %0, %1, %2;" : "=l"(q) : "l"(y), "r"(s));
    p[1 * n + i] = q;
    asm("shr.s64 %0, %1, %2;" : "=l"(q) : "l"(y), "r"(s));
    p[2 * n + i] = q;
}

// Bit fields: extract and insert with free positions and lengths, three-input logic, leading bit, n-th set bit.
extern "C" __global__ void int_bitfields(int n, const unsigned* a, const unsigned* b, const unsigned* c, unsigned* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], pos = b[i], len = c[i], r;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(pos), "r"(len));
    o[0 * n + i] = r;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(pos), "r"(len));
    o[1 * n + i] = r;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(pos * 77u), "r"(x), "r"(pos), "r"(len));
    o[2 * n + i] = r;
    asm("lop3.b32 %0, %1, %2, 0x0f0f0f0f, 0x96;" : "=r"(r) : "r"(x), "r"(pos));
    o[3 * n + i] = r;
    asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(r) : "r"(x), "r"(pos), "r"(len));
    o[4 * n + i] = r;
    asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(x));
    o[5 * n + i] = r;
    asm("bfind.shiftamt.s32 %0, %1;" : "=r"(r) : "r"(x));
    o[6 * n + i] = r;
    asm("mul24.lo.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(pos));
    o[7 * n + i] = r;
    asm("fns.b32 %0, %1, 0, 2;" : "=r"(r) : "r"(x));
    o[8 * n + i] = r;
}

// 64-bit arithmetic, logic, bit counting, high products, division.
extern "C" __global__ void int_64(int n, const long long* a, const long long* b, long long* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long x = a[i], y = b[i];
    unsigned long long u = (unsigned long long)x, v = (unsigned long long)y;
    o[0 * n + i] = x + y;
    o[1 * n + i] = x - y;
    o[2 * n + i] = x * y;
    o[3 * n + i] = x / y;
    o[4 * n + i] = x % y;
    o[5 * n + i] = (long long)(u / v);
    o[6 * n + i] = (long long)(u % v);
    o[7 * n + i] = __mul64hi(x, y);
    o[8 * n + i] = (long long)__umul64hi(u, v);
    o[9 * n + i] = min(x, y);
    o[10 * n + i] = (long long)max(u, v);
    o[11 * n + i] = (x & y) | (~x ^ y);
    o[12 * n + i] = (long long)__popcll(u) * 10000 + __clzll(x) * 100 + __ffsll(x);
    o[13 * n + i] = (long long)__brevll(u);
    o[14 * n + i] = -x;
    o[15 * n + i] = x < 0 ? -x : x;
}

// 8- and 16-bit arithmetic: what is extended, what wraps, what is truncated when stored.
extern "C" __global__ void int_small(int n, const unsigned char* a, const short* b, signed char* o8, unsigned short* o16) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char x = a[i];
    short y = b[i];
    o8[i] = (signed char)(x + y);
    o16[i] = (unsigned short)(x * y) >> 3;
    o8[n + i] = (signed char)(y >> 2);
    o16[n + i] = (unsigned short)(y < 0 ? -y : y);
    o16[2 * n + i] = (unsigned short)(y / (short)(x | 1));
}

// Multiply-add in wide, low and high forms.
extern "C" __global__ void int_mad(int n, const int* a, const int* b, long long* o, int* p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i], y = b[i], r;
    long long w = (long long)x << 20, q;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(q) : "r"(x), "r"(y), "l"(w));
    o[0 * n + i] = q;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(q) : "r"(x), "r"(y), "l"(w));
    o[1 * n + i] = q;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(q) : "r"(x), "r"(y));
    o[2 * n + i] = q;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(q) : "r"(x), "r"(y));
    o[3 * n + i] = q;
    asm("mad.hi.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(x));
    p[0 * n + i] = r;
    asm("mad.hi.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(y));
    p[1 * n + i] = r;
    asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(y));
    p[2 * n + i] = r;
}
