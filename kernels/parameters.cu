// Parameters of every size, launch bounds, a struct by value that is indexed, the shape of the launch.

struct Big { float v[64]; };

// Adds one, with launch bounds; blocks of 128.
extern "C" __global__ void __launch_bounds__(128, 4) bounded(int n, float* x) {
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) x[i] += 1.0f;
}

// A struct of 256 bytes that stays in the parameter space and is indexed there.
extern "C" __global__ void big_parameter(const __grid_constant__ Big b, int k, float* y) {
    y[threadIdx.x] = b.v[(threadIdx.x + k) & 63];
}

// One parameter of each kind, so that offsets and padding matter.
extern "C" __global__ void mixed_parameters(char a, short b, int c, long long d, float e, double f, bool g, unsigned char h,
                                            float3 i, int* o) {
    o[0] = a;
    o[1] = b;
    o[2] = c;
    o[3] = (int)d;
    o[4] = (int)(d >> 32);
    o[5] = __float_as_int(e);
    o[6] = (int)f;
    o[7] = g;
    o[8] = h;
    o[9] = (int)(i.x + i.y * 10.0f + i.z * 100.0f);
}

// What each thread of a three-dimensional launch knows of its place: one number a thread, in launch order.
extern "C" __global__ void launch_shape(unsigned long long* o) {
    unsigned long long block = blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    unsigned long long v = threadIdx.x | threadIdx.y << 6 | threadIdx.z << 12;
    v |= (unsigned long long)(blockIdx.x | blockIdx.y << 6 | blockIdx.z << 12) << 20;
    v |= (unsigned long long)(gridDim.x + gridDim.y * gridDim.z + blockDim.x * blockDim.y * blockDim.z) << 40;
    o[block * threads + t] = v;
}

// Nothing at all.
extern "C" __global__ void empty() {}
