// The kernel of the README's example: y = a * x + y. One thread an element.
extern "C" __global__ void saxpy(float a, const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
