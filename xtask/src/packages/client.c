/* A program of a stranger: y = 2 x + y on device 0, by driver calls, checked. Ends with 0 if every number is right.
 * It opens libcuda.so.1; compiled with -DLINKED it is linked with it instead. */

#include <stdio.h>
#include <stdlib.h>
#ifndef LINKED
#include <dlfcn.h>
#endif

typedef unsigned long long CUdeviceptr;
typedef void *handle;

#define CALLS(X)                                                                                                       \
    X(cuInit, (unsigned))                                                                                              \
    X(cuDeviceGet, (int *, int))                                                                                       \
    X(cuDevicePrimaryCtxRetain, (handle *, int))                                                                       \
    X(cuCtxSetCurrent, (handle))                                                                                       \
    X(cuModuleLoadData, (handle *, const void *))                                                                      \
    X(cuModuleGetFunction, (handle *, handle, const char *))                                                           \
    X(cuMemAlloc_v2, (CUdeviceptr *, size_t))                                                                          \
    X(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t))                                                            \
    X(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t))                                                                  \
    X(cuLaunchKernel, (handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **,  \
                       void **))                                                                                       \
    X(cuCtxSynchronize, (void))                                                                                        \
    X(cuMemFree_v2, (CUdeviceptr))

#ifdef LINKED
#define DECLARE(name, arguments) extern int name arguments;
CALLS(DECLARE)
static void find_calls(void) {}
#else
#define DECLARE(name, arguments) static int(*name) arguments;
CALLS(DECLARE)
static void find_calls(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
#define FIND(name, arguments)                                                                                          \
    if (!(*(void **)&name = dlsym(library, #name))) {                                                                  \
        fprintf(stderr, "no " #name "\n");                                                                             \
        exit(2);                                                                                                       \
    }
    CALLS(FIND)
}
#endif

static const char PTX[] = ".version 8.4\n.target sm_75\n.address_size 64\n"
                          ".visible .entry axpy(.param .u64 x, .param .u64 y, .param .u32 n) {\n"
                          ".reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<6>;\n"
                          "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n];\n"
                          "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
                          "mad.lo.s32 %r5, %r2, %r3, %r4;\n"
                          "setp.ge.u32 %p1, %r5, %r1;\n"
                          "@%p1 bra DONE;\n"
                          "mul.wide.u32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n"
                          "ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd5];\n"
                          "fma.rn.f32 %f3, %f1, 0f40000000, %f2;\n"
                          "st.global.f32 [%rd5], %f3;\n"
                          "DONE: ret;\n}\n";

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        int code = call;                                                                                               \
        if (code) {                                                                                                    \
            fprintf(stderr, "%s: %d\n", #call, code);                                                                  \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

int main(void) {
    enum { N = 1000 };
    static float x[N], y[N];
    int device;
    handle context, module, function;
    CUdeviceptr device_x, device_y;
    unsigned n = N;
    void *arguments[] = {&device_x, &device_y, &n};
    find_calls();
    for (int i = 0; i < N; i++) {
        x[i] = i % 7;
        y[i] = i % 5;
    }
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, PTX));
    CHECK(cuModuleGetFunction(&function, module, "axpy"));
    CHECK(cuMemAlloc_v2(&device_x, sizeof x));
    CHECK(cuMemAlloc_v2(&device_y, sizeof y));
    CHECK(cuMemcpyHtoD_v2(device_x, x, sizeof x));
    CHECK(cuMemcpyHtoD_v2(device_y, y, sizeof y));
    CHECK(cuLaunchKernel(function, (N + 255) / 256, 1, 1, 256, 1, 1, 0, 0, arguments, 0));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH_v2(y, device_y, sizeof y));
    CHECK(cuMemFree_v2(device_x));
    CHECK(cuMemFree_v2(device_y));
    for (int i = 0; i < N; i++) {
        if (y[i] != 2.0f * (i % 7) + i % 5) {
            fprintf(stderr, "y[%d] is %f\n", i, y[i]);
            return 1;
        }
    }
    return 0;
}
