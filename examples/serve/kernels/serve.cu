// One layer of the served model.

// y[r][c] = wrapped sum over k of x[r][k] * w[c][k], plus b[c]. Whole numbers stay whole numbers, below 8 in size, so that
// every answer can be checked to the bit, whatever the order of the sum.
extern "C" __global__ void dense(const float* x, const float* w, const float* b, float* y, unsigned rows, unsigned width)
{
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (unsigned long long)rows * width) {
        return;
    }
    const float* row = x + i / width * width;
    const float* column = w + i % width * width;
    float sum = b[i % width];
    for (unsigned k = 0; k < width; k++) {
        sum += row[k] * column[k];
    }
    y[i] = sum - 8.0f * truncf(sum * 0.125f);
}
