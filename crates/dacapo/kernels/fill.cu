// `fill` for elements that a memset cannot write: those that are not 1, 2 or 4 bytes.

// Up to 64 bytes of one element, as an argument by value. Read by constant index only, so that it stays in registers.
struct Part {
    unsigned long long word[8];
};

// Bytes [offset, offset + bytes) of each of `n` elements, `stride` bytes apart, become the first `bytes` bytes of `part`; the
// other bytes stay. Needs 1 <= bytes <= 64 and offset + bytes <= stride, and `out` of n * stride bytes, at any alignment.
// An element of more than 64 bytes is written by several launches, 64 bytes each. One thread an element.
extern "C" __global__ void fill_part(unsigned char* out, unsigned long long n, unsigned stride, unsigned offset,
                                     unsigned bytes, Part part) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char* to = out + i * stride + offset;
    bool words = ((unsigned long long)to & 7) == 0;
#pragma unroll
    for (unsigned w = 0; w < 8; w++) {
        if (w * 8 >= bytes) return;
        unsigned left = bytes - w * 8;
        if (words && left >= 8) {
            *(unsigned long long*)(to + w * 8) = part.word[w];
            continue;
        }
#pragma unroll
        for (unsigned b = 0; b < 8; b++)
            if (b < left) to[w * 8 + b] = (unsigned char)(part.word[w] >> (8 * b));
    }
}
