// What compute-sanitizer's initcheck says of a copy in a graph, from memory that the kernel before it has written.
//
//     cc -o kernel_then_copy kernel_then_copy.c -I/usr/local/cuda/include -L/usr/local/cuda/lib64/stubs -lcuda
//     compute-sanitizer --tool initcheck --print-limit 0 ./kernel_then_copy
//
// Many times: fresh memory, allocated on one stream, which is waited for; a graph on another stream, which writes all of the
// memory with a kernel and copies it, and is waited for. The copied numbers are checked, and all of them are right. No copy reads
// what the kernel before it did not write, and nothing is freed, so that every report is false. How many there are differs from
// run to run and from machine to machine.
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call) do { CUresult code = (call); if (code) { printf("%s: %d\n", #call, code); exit(2); } } while (0)

enum { BYTES = 128, THREADS = 32, ROUNDS = 3000 };

static const char *PTX =
    ".version 8.4\n.target sm_75\n.address_size 64\n"
    ".visible .entry put(.param .u32 value, .param .u64 y)\n"
    "{ .reg .b32 %r<3>; .reg .b64 %rd<4>;\n"
    "  ld.param.u32 %r1, [value]; ld.param.u64 %rd1, [y]; mov.u32 %r2, %tid.x;\n"
    "  mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1; ret; }\n";

int main(void) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction put;
    CUstream home, user;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, PTX));
    CHECK(cuModuleGetFunction(&put, module, "put"));
    CHECK(cuStreamCreate(&home, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&user, CU_STREAM_NON_BLOCKING));
    CUdeviceptr target;
    unsigned *host;
    CHECK(cuMemAllocAsync(&target, BYTES, home));
    CHECK(cuMemsetD8Async(target, 0, BYTES, home));
    CHECK(cuStreamSynchronize(home));
    CHECK(cuMemAllocHost((void **)&host, BYTES));
    for (unsigned round = 0; round < ROUNDS; round++) {
        CUdeviceptr memory;
        CHECK(cuMemAllocAsync(&memory, BYTES, home));
        CHECK(cuStreamSynchronize(home));

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
        CHECK(cuGraphExecDestroy(exec));
        CHECK(cuGraphDestroy(graph));
    }
    printf("%d rounds right\n", ROUNDS);
    return 0;
}
