// Control that compilers seldom emit: branches by index, calls through pointers, recursion, assertions that hold.
// also: compute_80, compute_90

typedef int (*Step)(int);
__device__ __noinline__ int step_add(int x) { return x + 7; }
__device__ __noinline__ int step_mul(int x) { return x * 5; }
__device__ __noinline__ int step_xor(int x) { return x ^ 0x55aa; }
__device__ __noinline__ int step_neg(int x) { return -x; }
__device__ Step g_steps[4] = {step_add, step_mul, step_xor, step_neg};

// Each lane goes its own way through a table of functions, as often as its number says.
extern "C" __global__ void indirect_calls(int n, const int* x, int* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i];
    for (int k = 0; k < (i & 7); k++) v = g_steps[(v >> k) & 3](v);
    y[i] = v;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

// Recursion whose depth differs by lane.
extern "C" __global__ void recursion(int n, const int* x, int* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = fibonacci(x[i] & 7) * 1000 + ackermann(x[i] >> 3 & 1, x[i] >> 4 & 3);
}

// A branch by index: four targets, two of them one, one that falls into the next.
extern "C" __global__ void indexed_branch(int n, const unsigned* x, unsigned* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned r;
    asm volatile("{\n"
        ".reg .b32 index;\n"
        "and.b32 index, %1, 3;\n"
        "mov.b32 %0, 5;\n"
        "TARGETS: .branchtargets FIRST, SECOND, THIRD, SECOND;\n"
        "brx.idx index, TARGETS;\n"
        "FIRST: add.u32 %0, %0, %1; bra MEET;\n"
        "SECOND: mul.lo.u32 %0, %1, 3;\n"
        "THIRD: xor.b32 %0, %0, %1;\n"
        "MEET: add.u32 %0, %0, 1;\n"
        "}" : "=r"(r) : "r"(x[i]));
    y[i] = r;
}

// An assertion that holds for every element: `limit` is 256.
extern "C" __global__ void assertions(int n, const int* x, int limit, int* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i] & 255;
    if (v >= limit) __assertfail("v < limit", "control.cu", 59, "assertions", 1);
    y[i] = v + 1;
}

// A queue in local memory and a sort of it: arrays that only addresses know.
extern "C" __global__ void local_sort(int n, const int* x, int* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int keys[12];
    for (int k = 0; k < 12; k++) keys[k] = (x[i] * (2 * k + 1)) >> (k & 7) & 1023;
    for (int k = 1; k < 12; k++) {
        int key = keys[k], at = k;
        while (at > 0 && keys[at - 1] > key) {
            keys[at] = keys[at - 1];
            at--;
        }
        keys[at] = key;
    }
    int s = 0;
    for (int k = 0; k < 12; k++) s = s * 7 + keys[(k + i) % 12];
    y[i] = s;
}
