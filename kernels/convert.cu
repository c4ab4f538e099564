// Conversions between all pairs of integer and floating types, every rounding, saturation.
// Results lie in planes of n elements; the order in each kernel is the order written.
// also: compute_80

#define CVT32(plane, form, constraint, value) \
    { int r; asm(form " %0, %1;" : "=r"(r) : constraint(value)); o[(plane) * n + i] = r; }
#define CVT64(plane, form, constraint, value) \
    { long long r; asm(form " %0, %1;" : "=l"(r) : constraint(value)); o[(plane) * n + i] = r; }
#define CVTF32(plane, form, constraint, value) \
    { float r; asm(form " %0, %1;" : "=f"(r) : constraint(value)); o[(plane) * n + i] = r; }
#define CVTF64(plane, form, constraint, value) \
    { double r; asm(form " %0, %1;" : "=d"(r) : constraint(value)); o[(plane) * n + i] = r; }

// f32 to 32-bit integers in the four roundings; to 16 bits toward zero; to 8 bits by way of C.
extern "C" __global__ void cvt_f32_to_i32(int n, const float* a, int* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    CVT32(0, "cvt.rni.s32.f32", "f", x)
    CVT32(1, "cvt.rzi.s32.f32", "f", x)
    CVT32(2, "cvt.rmi.s32.f32", "f", x)
    CVT32(3, "cvt.rpi.s32.f32", "f", x)
    CVT32(4, "cvt.rni.u32.f32", "f", x)
    CVT32(5, "cvt.rzi.u32.f32", "f", x)
    CVT32(6, "cvt.rmi.u32.f32", "f", x)
    CVT32(7, "cvt.rpi.u32.f32", "f", x)
    CVT32(8, "cvt.rzi.ftz.s32.f32", "f", x)
    CVT32(9, "cvt.rpi.ftz.s32.f32", "f", x)
    o[10 * n + i] = __float_as_int(x);
}

// f32 to 64-bit integers in the four roundings.
extern "C" __global__ void cvt_f32_to_i64(int n, const float* a, long long* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    CVT64(0, "cvt.rni.s64.f32", "f", x)
    CVT64(1, "cvt.rzi.s64.f32", "f", x)
    CVT64(2, "cvt.rmi.s64.f32", "f", x)
    CVT64(3, "cvt.rpi.s64.f32", "f", x)
    CVT64(4, "cvt.rzi.u64.f32", "f", x)
    CVT64(5, "cvt.rpi.u64.f32", "f", x)
}

// f64 to 32-bit integers in the four roundings.
extern "C" __global__ void cvt_f64_to_i32(int n, const double* a, int* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = a[i];
    CVT32(0, "cvt.rni.s32.f64", "d", x)
    CVT32(1, "cvt.rzi.s32.f64", "d", x)
    CVT32(2, "cvt.rmi.s32.f64", "d", x)
    CVT32(3, "cvt.rpi.s32.f64", "d", x)
    CVT32(4, "cvt.rzi.u32.f64", "d", x)
    CVT32(5, "cvt.rpi.u32.f64", "d", x)
}

// f64 to 64-bit integers in the four roundings.
extern "C" __global__ void cvt_f64_to_i64(int n, const double* a, long long* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = a[i];
    CVT64(0, "cvt.rni.s64.f64", "d", x)
    CVT64(1, "cvt.rzi.s64.f64", "d", x)
    CVT64(2, "cvt.rmi.s64.f64", "d", x)
    CVT64(3, "cvt.rpi.s64.f64", "d", x)
    CVT64(4, "cvt.rzi.u64.f64", "d", x)
    CVT64(5, "cvt.rni.u64.f64", "d", x)
    o[6 * n + i] = __double_as_longlong(x);
}

// Integers of all widths to f32, in the four roundings where bits are lost.
extern "C" __global__ void cvt_int_to_f32(int n, const int* a, const long long* b, float* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i];
    long long y = b[i];
    CVTF32(0, "cvt.rn.f32.s32", "r", x)
    CVTF32(1, "cvt.rz.f32.s32", "r", x)
    CVTF32(2, "cvt.rm.f32.s32", "r", x)
    CVTF32(3, "cvt.rp.f32.s32", "r", x)
    CVTF32(4, "cvt.rn.f32.u32", "r", x)
    CVTF32(5, "cvt.rz.f32.u32", "r", x)
    CVTF32(6, "cvt.rn.f32.s64", "l", y)
    CVTF32(7, "cvt.rz.f32.s64", "l", y)
    CVTF32(8, "cvt.rm.f32.s64", "l", y)
    CVTF32(9, "cvt.rp.f32.s64", "l", y)
    CVTF32(10, "cvt.rn.f32.u64", "l", y)
    CVTF32(11, "cvt.rp.f32.u64", "l", y)
    o[12 * n + i] = (float)(short)x;
    o[13 * n + i] = (float)(unsigned short)x;
    o[14 * n + i] = (float)(signed char)x;
    o[15 * n + i] = (float)(unsigned char)x;
}

// Integers of all widths to f64; only 64-bit ones can need rounding.
extern "C" __global__ void cvt_int_to_f64(int n, const int* a, const long long* b, double* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i];
    long long y = b[i];
    CVTF64(0, "cvt.rn.f64.s32", "r", x)
    CVTF64(1, "cvt.rn.f64.u32", "r", x)
    CVTF64(2, "cvt.rn.f64.s64", "l", y)
    CVTF64(3, "cvt.rz.f64.s64", "l", y)
    CVTF64(4, "cvt.rm.f64.s64", "l", y)
    CVTF64(5, "cvt.rp.f64.s64", "l", y)
    CVTF64(6, "cvt.rn.f64.u64", "l", y)
    o[7 * n + i] = (double)(short)x;
    o[8 * n + i] = (double)(unsigned char)x;
}

// f64 to f32 in the four roundings and saturating.
extern "C" __global__ void cvt_f64_to_f32(int n, const double* a, float* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = a[i];
    CVTF32(0, "cvt.rn.f32.f64", "d", x)
    CVTF32(1, "cvt.rz.f32.f64", "d", x)
    CVTF32(2, "cvt.rm.f32.f64", "d", x)
    CVTF32(3, "cvt.rp.f32.f64", "d", x)
    CVTF32(4, "cvt.rn.ftz.f32.f64", "d", x)
    CVTF32(5, "cvt.rn.sat.f32.f64", "d", x)
}

// f32 to f64, with and without flushing; f64 rounded to integral f64 in the four ways.
extern "C" __global__ void cvt_to_f64(int n, const float* a, const double* b, double* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    double y = b[i];
    CVTF64(0, "cvt.f64.f32", "f", x)
    CVTF64(1, "cvt.ftz.f64.f32", "f", x)
    CVTF64(2, "cvt.rni.f64.f64", "d", y)
    CVTF64(3, "cvt.rzi.f64.f64", "d", y)
    CVTF64(4, "cvt.rmi.f64.f64", "d", y)
    CVTF64(5, "cvt.rpi.f64.f64", "d", y)
}

// f32 rounded to integral f32 in the four ways, flushing and saturating.
extern "C" __global__ void cvt_f32_to_f32(int n, const float* a, float* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    CVTF32(0, "cvt.rni.f32.f32", "f", x)
    CVTF32(1, "cvt.rzi.f32.f32", "f", x)
    CVTF32(2, "cvt.rmi.f32.f32", "f", x)
    CVTF32(3, "cvt.rpi.f32.f32", "f", x)
    CVTF32(4, "cvt.sat.f32.f32", "f", x)
    CVTF32(5, "cvt.ftz.sat.f32.f32", "f", x)
    CVTF32(6, "cvt.rmi.ftz.f32.f32", "f", x)
}

// Between integer widths: extension, truncation, and saturation instead of truncation.
extern "C" __global__ void cvt_int_to_int(int n, const int* a, const long long* b, int* o, long long* p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i];
    long long y = b[i];
    o[0 * n + i] = (signed char)x;
    o[1 * n + i] = (unsigned char)x;
    o[2 * n + i] = (short)x;
    o[3 * n + i] = (unsigned short)x;
    o[4 * n + i] = (int)y;
    CVT32(5, "cvt.sat.s8.s32", "r", x)
    CVT32(6, "cvt.sat.u8.s32", "r", x)
    CVT32(7, "cvt.sat.s16.s32", "r", x)
    CVT32(8, "cvt.sat.u16.u32", "r", x)
    CVT32(9, "cvt.sat.s32.s64", "l", y)
    CVT32(10, "cvt.sat.u32.s64", "l", y)
    CVT32(11, "cvt.sat.s32.u32", "r", x)
    p[0 * n + i] = (long long)x;
    p[1 * n + i] = (long long)(unsigned)x;
    p[2 * n + i] = (long long)(short)x;
}

// f32 to 8- and 16-bit integers, toward zero and to nearest.
extern "C" __global__ void cvt_f32_to_small(int n, const float* a, int* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    CVT32(0, "cvt.rzi.s16.f32", "f", x)
    CVT32(1, "cvt.rzi.u16.f32", "f", x)
    CVT32(2, "cvt.rni.s8.f32", "f", x)
    CVT32(3, "cvt.rni.u8.f32", "f", x)
    o[4 * n + i] = (int)(unsigned char)x;
    o[5 * n + i] = (int)(short)x;
}
