// What compute-sanitizer's initcheck says of memory that is freed in stream order and allocated again on another stream.
//
//     cc -o late_free late_free.c -I/usr/local/cuda/include -L/usr/local/cuda/lib64/stubs -lcuda
//     compute-sanitizer --tool initcheck --print-limit 0 ./late_free query    # reports uninitialised copies
//     compute-sanitizer --tool initcheck --print-limit 0 ./late_free wait     # reports none
//
// 300 times: memory is allocated on one stream, which is waited for; a graph on a second stream writes all of it with a kernel
// and copies it, and is waited for; the memory is freed on a third stream. The only difference between the two runs is how the
// program learns that the free has run: by asking the third stream until it has, or by waiting for it. No copy ever reads what
// the kernel before it did not write, and the copied number is checked each time.
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) do { CUresult code = (call); if (code) { printf("%s: %d\n", #call, code); exit(2); } } while (0)

enum { BYTES = 128, THREADS = 32, ROUNDS = 300 };

static const char *PTX =
    ".version 8.4\n.target sm_75\n.address_size 64\n"
    ".visible .entry put(.param .u32 value, .param .u64 y)\n"
    "{ .reg .b32 %r<3>; .reg .b64 %rd<4>;\n"
    "  ld.param.u32 %r1, [value]; ld.param.u64 %rd1, [y]; mov.u32 %r2, %tid.x;\n"
    "  mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1; ret; }\n";

int main(int count, char **words) {
    int waits = count > 1 && strcmp(words[1], "wait") == 0;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction put;
    CUstream home, user, reaper;
    CUevent event;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, PTX));
    CHECK(cuModuleGetFunction(&put, module, "put"));
    CHECK(cuStreamCreate(&home, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&user, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&reaper, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CUdeviceptr target, last = 0;
    unsigned *host;
    CHECK(cuMemAlloc(&target, BYTES));
    CHECK(cuMemAllocHost((void **)&host, BYTES));
    int again = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        CUdeviceptr memory;
        CHECK(cuMemAllocAsync(&memory, BYTES, home));
        CHECK(cuStreamSynchronize(home));
        again += memory == last;
        last = memory;

        CUgraph graph;
        CUgraphExec exec;
        CUgraphNode kernel, copy;
        CHECK(cuGraphCreate(&graph, 0));
        void *arguments[] = {&round, &memory};
        CUDA_KERNEL_NODE_PARAMS launch = {0};
        launch.func = put;
        launch.gridDimX = launch.gridDimY = launch.gridDimZ = 1;
        launch.blockDimX = THREADS;
        launch.blockDimY = launch.blockDimZ = 1;
        launch.kernelParams = arguments;
        CHECK(cuGraphAddKernelNode(&kernel, graph, NULL, 0, &launch));
        CUDA_MEMCPY3D bytes = {0};
        bytes.srcMemoryType = bytes.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        bytes.srcDevice = memory;
        bytes.dstDevice = target;
        bytes.WidthInBytes = BYTES;
        bytes.Height = bytes.Depth = 1;
        CHECK(cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &bytes, context));
        CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
        CHECK(cuGraphLaunch(exec, user));
        CHECK(cuMemcpyDtoHAsync(host, target, BYTES, user));
        CHECK(cuStreamSynchronize(user));
        if (host[0] != round || host[THREADS - 1] != round) {
            printf("wrong in round %u\n", round);
            return 1;
        }
        CHECK(cuEventRecord(event, user));
        CHECK(cuStreamWaitEvent(reaper, event, 0));
        CHECK(cuMemFreeAsync(memory, reaper));
        CHECK(cuGraphExecDestroy(exec));
        CHECK(cuGraphDestroy(graph));
        if (waits) CHECK(cuStreamSynchronize(reaper));
        while (cuStreamQuery(reaper) == CUDA_ERROR_NOT_READY) {}
    }
    printf("%d rounds right, the same address again in %d\n", ROUNDS, again);
    return 0;
}
