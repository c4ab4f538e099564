// What times the nodes of a graph best: event-record nodes, or a kernel that stores the global timer? For docs/timing.md.
//
//   nvcc -O2 -arch=sm_90 -o stamps stamps.cu && ./stamps
//
// Each graph is made plain, with a stamp before and behind each kernel (of either kind), and with event-record nodes behind
// only. Printed: how long a replay takes, median and least of 25 behind 5 that warm up, in microseconds; then of the last
// one [start +length] of the first kernels, or [end].
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <vector>

#define OK(call)                                                                                  \
    do {                                                                                          \
        cudaError_t answer = (call);                                                              \
        if (answer) {                                                                             \
            printf("%s: %s (line %d)\n", #call, cudaGetErrorString(answer), __LINE__);            \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

__device__ unsigned long long now() {
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

__global__ void spin(long long cycles) {
    long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

__global__ void tiny(int* x) {
    if (threadIdx.x == 0) x[blockIdx.x] += 1;
}

__global__ void stamp(unsigned long long* at) { *at = now(); }

__global__ void steps(unsigned long long* out, int n) {
    unsigned long long last = now();
    for (int k = 0; k < n;) {
        unsigned long long time = now();
        if (time != last) {
            out[k++] = time - last;
            last = time;
        }
    }
}

enum How { PLAIN, EVENTS, TIMER, EVENTS_ENDS };
static const char* names[] = {"plain", "events", "timer kernels", "events, ends only"};
static int* X;
static unsigned long long* stamps;

struct Draft {
    How how;
    cudaGraph_t graph;
    std::vector<cudaEvent_t> events;
    int count;
};

static cudaGraphNode_t kernel_node(Draft& draft, void* function, void** arguments, int blocks, int threads,
                                   cudaGraphNode_t* after, int count) {
    cudaKernelNodeParams params = {};
    params.func = function;
    params.gridDim = blocks;
    params.blockDim = threads;
    params.kernelParams = arguments;
    cudaGraphNode_t node;
    OK(cudaGraphAddKernelNode(&node, draft.graph, after, count, &params));
    return node;
}

static cudaGraphNode_t mark(Draft& draft, cudaGraphNode_t* after, int count) {
    int number = draft.count++;
    if (draft.how == TIMER) {
        unsigned long long* at = stamps + number;
        void* arguments[] = {&at};
        return kernel_node(draft, (void*)stamp, arguments, 1, 1, after, count);
    }
    cudaEvent_t event;
    OK(cudaEventCreate(&event));
    draft.events.push_back(event);
    cudaGraphNode_t node;
    OK(cudaGraphAddEventRecordNode(&node, draft.graph, after, count, event));
    return node;
}

static void measure(const char* what, How how, bool parallel, long long cycles, int kernels) {
    Draft draft = {how};
    OK(cudaGraphCreate(&draft.graph, 0));
    cudaGraphNode_t root = {}, last = {};
    bool has_root = how != PLAIN, has_last = has_root;
    if (has_root) root = last = mark(draft, nullptr, 0);
    for (int i = 0; i < kernels; i++) {
        cudaGraphNode_t after = parallel ? root : last;
        int count = parallel ? has_root : has_last;
        if (how == EVENTS || how == TIMER) {
            after = mark(draft, &after, count);
            count = 1;
        }
        void *of_spin[] = {&cycles}, *of_tiny[] = {&X};
        last = cycles ? kernel_node(draft, (void*)spin, of_spin, 1, 128, &after, count)
                      : kernel_node(draft, (void*)tiny, of_tiny, 4, 128, &after, count);
        if (how != PLAIN) last = mark(draft, &last, 1);
        has_last = true;
    }
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, draft.graph, 0));
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudaEvent_t begin, end;
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    std::vector<float> totals;
    for (int i = 0; i < 30; i++) {
        OK(cudaEventRecord(begin, stream));
        OK(cudaGraphLaunch(exec, stream));
        OK(cudaEventRecord(end, stream));
        OK(cudaStreamSynchronize(stream));
        float ms;
        OK(cudaEventElapsedTime(&ms, begin, end));
        if (i > 4) totals.push_back(ms * 1000);
    }
    std::sort(totals.begin(), totals.end());
    printf("%-28s %-18s total us p50 %.2f min %.2f", what, names[how], totals[totals.size() / 2], totals[0]);
    if (how != PLAIN) {
        std::vector<double> at(draft.count);
        if (how == TIMER) {
            std::vector<unsigned long long> read(draft.count);
            OK(cudaMemcpy(read.data(), stamps, draft.count * 8, cudaMemcpyDeviceToHost));
            for (int i = 0; i < draft.count; i++) at[i] = (double)(long long)(read[i] - read[0]) / 1000;
        } else {
            for (int i = 0; i < draft.count; i++) {
                float ms;
                OK(cudaEventElapsedTime(&ms, draft.events[0], draft.events[i]));
                at[i] = ms * 1000;
            }
        }
        printf(" | ");
        if (how == EVENTS_ENDS)
            for (int i = 1; i < draft.count && i < 9; i++) printf(" [%.3f]", at[i]);
        else
            for (int i = 1; i + 1 < draft.count && i < 17; i += 2) printf(" [%.3f +%.3f]", at[i], at[i + 1] - at[i]);
    }
    printf("\n");
}

int main() {
    cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, 0));
    int version;
    OK(cudaDriverGetVersion(&version));
    printf("%s, CUDA %d\n", properties.name, version);
    OK(cudaMalloc(&X, 1 << 20));
    OK(cudaMemset(X, 0, 1 << 20));
    OK(cudaMalloc(&stamps, 1 << 20));
    unsigned long long seen[64];
    steps<<<1, 1>>>(stamps, 64);
    OK(cudaMemcpy(seen, stamps, sizeof seen, cudaMemcpyDeviceToHost));
    printf("steps of the global timer, ns:");
    for (int i = 0; i < 64; i++) printf(" %llu", seen[i]);
    printf("\n");
    // Clocks up.
    spin<<<132, 128>>>(200000000);
    OK(cudaDeviceSynchronize());
    for (int how = 0; how < 4; how++) {
        measure("line, 8 x spin 20k cycles", (How)how, false, 20000, 8);
        measure("line, 8 x spin 100k cycles", (How)how, false, 100000, 8);
        measure("line, 16 x tiny", (How)how, false, 0, 16);
        measure("line, 64 x tiny", (How)how, false, 0, 64);
        measure("parallel, 4 x spin 100k", (How)how, true, 100000, 4);
        measure("parallel, 8 x tiny", (How)how, true, 0, 8);
    }
    return 0;
}
