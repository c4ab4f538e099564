// cuCtxSynchronize on one thread, relaxed captures on another. On an H200 (driver 580.159.04) the process ends with a segmentation
// fault inside cuCtxSynchronize, within seconds, also with a pause between two of its calls; without that thread it does not.
//
//   gcc -O1 -o synchronize_beside_capture synchronize_beside_capture.c -I$CUDA/include -L$CUDA/lib64/stubs -lcuda -lpthread
//   ./synchronize_beside_capture PAUSE_IN_US SECONDS        (a pause of -1: no such thread)
#include <cuda.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static atomic_int over;
static CUcontext context;
static long synchronized, refused;

static void *synchronize(void *argument) {
    long pause_us = *(long *)argument;
    struct timespec pause = {pause_us / 1000000, pause_us % 1000000 * 1000};
    cuCtxSetCurrent(context);
    while (!atomic_load(&over)) {
        refused += cuCtxSynchronize() != CUDA_SUCCESS;
        synchronized++;
        if (pause_us) nanosleep(&pause, NULL);
    }
    return NULL;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

int main(int count, char **arguments) {
    long pause_us = count > 1 ? atol(arguments[1]) : 0;
    double seconds = count > 2 ? atof(arguments[2]) : 5;
    CUdevice device;
    CUstream captured, launched;
    CUdeviceptr from, to;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) ||
        cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING) || cuStreamCreate(&launched, CU_STREAM_NON_BLOCKING) ||
        cuMemAlloc(&from, 4096) || cuMemAlloc(&to, 4096)) {
        fprintf(stderr, "no device\n");
        return 2;
    }
    pthread_t other;
    if (pause_us >= 0) pthread_create(&other, NULL, synchronize, &pause_us);
    long graphs = 0, broken = 0;
    for (double end = now() + seconds; now() < end;) {
        CUgraph graph = NULL;
        CUgraphExec executable;
        CUresult code = cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_RELAXED);
        for (int copy = 0; copy < 3 && !code; copy++) code = cuMemcpyDtoDAsync(to, from, 4096, captured);
        if (cuStreamEndCapture(captured, &graph) || code) {
            broken++;
            continue;
        }
        if (!cuGraphInstantiateWithFlags(&executable, graph, 0)) {
            cuGraphLaunch(executable, launched);
            cuStreamSynchronize(launched);
            cuGraphExecDestroy(executable);
            graphs++;
        }
        cuGraphDestroy(graph);
    }
    atomic_store(&over, 1);
    if (pause_us >= 0) pthread_join(other, NULL);
    printf("a pause of %ld us: %ld graphs, %ld captures broken, %ld synchronizations, %ld of them refused\n", pause_us, graphs,
           broken, synchronized, refused);
    return 0;
}
