// Variables of the module: constant tables, structs with pointers, strings, zero-filled and initialised globals.

__constant__ float c_filter[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
__constant__ int c_offsets[4] = {-1, 0, 1, 2};
__device__ float g_scale = 0.0625f;
__device__ unsigned char g_bytes[5] = {1, 2, 3, 4, 5};
__device__ double g_table[4] = {0.5, 1.5, -2.5, 1e300};
__device__ int g_zero[16];
struct Cfg { int a; float b; const float* p; char c[3]; };
__constant__ Cfg c_cfg = {7, 2.5f, c_filter, {'x', 'y', 0}};

// A 3x3 smoothing filter over an image, nothing beyond its border.
extern "C" __global__ void conv3x3_f32(int h, int w, const float* __restrict__ x, float* __restrict__ y) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= h || c >= w) return;
    float s = 0.0f;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++) {
            int rr = r + i, cc = c + j;
            if (rr >= 0 && rr < h && cc >= 0 && cc < w) s += x[rr * w + cc] * c_filter[(i + 1) * 3 + j + 1];
        }
    y[r * w + c] = s * g_scale;
}

// Sums of entries of all the tables, picked by sel[i] from 0 to 8; z reads what was never initialised: zero, plus seven.
extern "C" __global__ void constant_lookup(int n, const int* sel, float* y, int* z) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int s = sel[i];
    y[i] = c_filter[s] + c_offsets[s & 3] + c_cfg.p[c_cfg.a] + c_cfg.b + c_cfg.c[i & 1] + g_bytes[s % 5] + (float)g_table[i & 3];
    z[i] = g_zero[i & 15] + c_cfg.a;
}
