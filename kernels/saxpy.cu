// y = a x + y: the smallest useful kernel, bounds-checked and grid-stride.
// also: compute_90, compute_90 fast

// y[i] = a * x[i] + y[i], one thread an element.
extern "C" __global__ void saxpy_f32(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

// The same with any grid: each thread strides over the elements.
extern "C" __global__ void saxpy_stride_f32(int n, float a, const float* x, float* y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}

// The same in double precision.
extern "C" __global__ void daxpy_f64(int n, double a, const double* __restrict__ x, double* __restrict__ y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

// The same in wrapping 32-bit integers.
extern "C" __global__ void iaxpy_i32(int n, int a, const int* __restrict__ x, int* __restrict__ y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
