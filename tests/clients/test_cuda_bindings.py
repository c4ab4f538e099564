"""cuda-bindings, the driver API and NVRTC as Python sees them, on the software driver. Compared with numpy."""

import ctypes
import unittest

import numpy as np
from cuda.bindings import driver, nvrtc

SOURCE = r"""
__constant__ float scale[4];
__device__ int counter;
extern "C" __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}
extern "C" __global__ void add_one(int* p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] += 1; }
extern "C" __global__ void twice(int* p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] *= 2; }
extern "C" __global__ void scaled(float* p) { p[threadIdx.x] = scale[threadIdx.x % 4]; atomicAdd(&counter, 1); }
extern "C" __global__ void reversed(int* p) {
    extern __shared__ int s[];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void fetch(cudaTextureObject_t t, float* out, int width) {
    int x = threadIdx.x, y = blockIdx.x;
    out[y * width + x] = tex2D<float>(t, x, y);
}
"""


def done(answer):
    """The values of an answer, or an error with the driver's own words."""
    code, *values = answer
    if isinstance(code, nvrtc.nvrtcResult):
        if code != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise RuntimeError(code.name)
    elif code != driver.CUresult.CUDA_SUCCESS:
        _, name = driver.cuGetErrorName(code)
        _, words = driver.cuGetErrorString(code)
        raise RuntimeError(f"{name.decode()}: {words.decode()}")
    return values[0] if len(values) == 1 else values


def compiled(source, kind="ptx", *options):
    program = done(nvrtc.nvrtcCreateProgram(source.encode(), b"kernels.cu", 0, None, None))
    arch = b"--gpu-architecture=sm_90" if kind != "ptx" else b"--gpu-architecture=compute_90"
    options = [arch, *options]
    code, *_ = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if code != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        log = b" " * done(nvrtc.nvrtcGetProgramLogSize(program))
        nvrtc.nvrtcGetProgramLog(program, log)
        raise RuntimeError(log.decode())
    size, get = {
        "ptx": (nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX),
        "cubin": (nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN),
    }[kind]
    text = b" " * done(size(program))
    done(get(program, text))
    return text


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done(driver.cuInit(0))
        cls.device = done(driver.cuDeviceGet(0))
        cls.context = done(driver.cuDevicePrimaryCtxRetain(cls.device))
        done(driver.cuCtxSetCurrent(cls.context))
        cls.module = done(driver.cuModuleLoadData(compiled(SOURCE)))
        cls.stream = done(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))

    @classmethod
    def tearDownClass(cls):
        done(driver.cuStreamDestroy(cls.stream))
        done(driver.cuModuleUnload(cls.module))
        done(driver.cuDevicePrimaryCtxRelease(cls.device))

    def kernel(self, name, module=None):
        return done(driver.cuModuleGetFunction(module or self.module, name))

    def upload(self, array):
        pointer = done(driver.cuMemAlloc(array.nbytes))
        self.addCleanup(driver.cuMemFree, pointer)
        done(driver.cuMemcpyHtoD(pointer, array.ctypes.data, array.nbytes))
        return pointer

    def download(self, pointer, shape, dtype):
        out = np.empty(shape, dtype)
        done(driver.cuMemcpyDtoH(out.ctypes.data, pointer, out.nbytes))
        return out

    def launch(self, kernel, grid, block, values, types, shared=0, stream=None):
        done(driver.cuLaunchKernel(kernel, grid, 1, 1, block, 1, 1, shared, stream or self.stream, (values, types), 0))

    def add_one(self, pointer, n=100, stream=None, name=b"add_one"):
        self.launch(self.kernel(name), 1, 128, (pointer, n), (None, ctypes.c_int), stream=stream)

    def wait(self):
        done(driver.cuStreamSynchronize(self.stream))


class TestModules(Case):
    def saxpy(self, module):
        random = np.random.default_rng(3)
        x, y = random.standard_normal(1000, dtype=np.float32), random.standard_normal(1000, dtype=np.float32)
        dx, dy, out = self.upload(x), self.upload(y), self.upload(np.zeros_like(x))
        types = (ctypes.c_float, None, None, None, ctypes.c_size_t)
        self.launch(self.kernel(b"saxpy", module), 8, 128, (2.5, dx, dy, out, 1000), types)
        self.wait()
        got = self.download(out, 1000, np.float32)
        np.testing.assert_allclose(got, np.float32(2.5) * x + y, rtol=1e-6, atol=1e-6)

    def test_ptx(self):
        self.saxpy(self.module)

    def test_machine_code(self):
        module = done(driver.cuModuleLoadData(compiled(SOURCE, "cubin")))
        self.saxpy(module)
        done(driver.cuModuleUnload(module))

    def test_arguments_by_address(self):
        data = self.upload(np.zeros(10, np.int32))
        pointer, count = np.array([int(data)], np.uint64), np.array([10], np.int32)
        addresses = np.array([pointer.ctypes.data, count.ctypes.data], np.uint64)
        done(driver.cuLaunchKernel(self.kernel(b"add_one"), 1, 1, 1, 32, 1, 1, 0, self.stream, addresses.ctypes.data, 0))
        self.wait()
        np.testing.assert_array_equal(self.download(data, 10, np.int32), np.ones(10))

    def test_globals(self):
        scale, size = done(driver.cuModuleGetGlobal(self.module, b"scale"))
        self.assertEqual(size, 16)
        values = np.array([1, 2, 3, 4], np.float32)
        done(driver.cuMemcpyHtoD(scale, values.ctypes.data, 16))
        out = self.upload(np.zeros(32, np.float32))
        counter, _ = done(driver.cuModuleGetGlobal(self.module, b"counter"))
        done(driver.cuMemsetD32(counter, 0, 1))
        self.launch(self.kernel(b"scaled"), 1, 32, (out,), (None,))
        self.wait()
        np.testing.assert_array_equal(self.download(out, 32, np.float32), np.tile(values, 8))
        self.assertEqual(self.download(counter, 1, np.int32)[0], 32)

    def test_a_library(self):
        library = done(driver.cuLibraryLoadData(compiled(SOURCE), [], [], 0, [], [], 0))
        kernel = done(driver.cuLibraryGetKernel(library, b"add_one"))
        function = done(driver.cuKernelGetFunction(kernel))
        data = self.upload(np.zeros(100, np.int32))
        self.launch(function, 1, 128, (data, 100), (None, ctypes.c_int))
        self.wait()
        np.testing.assert_array_equal(self.download(data, 100, np.int32), np.ones(100))
        done(driver.cuLibraryUnload(library))

    def test_a_link(self):
        part = compiled("__device__ int square(int x) { return x * x; }", "ptx", b"--relocatable-device-code=true")
        main = 'extern __device__ int square(int); extern "C" __global__ void squares(int* p) { p[threadIdx.x] = square(threadIdx.x); }'
        main = compiled(main, "ptx", b"--relocatable-device-code=true")
        state = done(driver.cuLinkCreate(0, [], []))
        for name, text in ((b"part", part), (b"main", main)):
            kind = driver.CUjitInputType.CU_JIT_INPUT_PTX
            done(driver.cuLinkAddData(state, kind, text, len(text), name, 0, [], []))
        image, size = done(driver.cuLinkComplete(state))
        self.assertGreater(size, 0)
        module = done(driver.cuModuleLoadData(image))
        done(driver.cuLinkDestroy(state))
        out = self.upload(np.zeros(32, np.int32))
        self.launch(self.kernel(b"squares", module), 1, 32, (out,), (None,))
        self.wait()
        np.testing.assert_array_equal(self.download(out, 32, np.int32), np.arange(32) ** 2)

    def test_what_a_function_says_of_itself(self):
        function, attribute = self.kernel(b"reversed"), driver.CUfunction_attribute
        threads = done(driver.cuFuncGetAttribute(attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function))
        self.assertEqual(threads, 1024)
        self.assertEqual(done(driver.cuFuncGetName(function)), b"reversed")
        blocks = done(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, 128, 0))
        self.assertGreaterEqual(blocks, 1)

    def test_mistakes_have_words(self):
        code, _ = driver.cuModuleGetFunction(self.module, b"nothing")
        self.assertEqual(code, driver.CUresult.CUDA_ERROR_NOT_FOUND)
        self.assertEqual(done(driver.cuGetErrorName(code)), b"CUDA_ERROR_NOT_FOUND")
        self.assertIn(b" ", done(driver.cuGetErrorString(code)))
        with self.assertRaisesRegex(RuntimeError, "undefined"):
            compiled("__global__ void broken() { nothing(); }")


class TestMemory(Case):
    def test_fills(self):
        pointer = self.upload(np.zeros(64, np.uint8))
        done(driver.cuMemsetD8(pointer, 7, 16))
        done(driver.cuMemsetD16(int(pointer) + 16, 0x0102, 8))
        done(driver.cuMemsetD32Async(int(pointer) + 32, 0x01020304, 8, self.stream))
        self.wait()
        expected = np.concatenate([np.full(16, 7), np.tile([2, 1], 8), np.tile([4, 3, 2, 1], 8)]).astype(np.uint8)
        np.testing.assert_array_equal(self.download(pointer, 64, np.uint8), expected)

    def test_page_locked_memory(self):
        address = done(driver.cuMemHostAlloc(400, driver.CU_MEMHOSTALLOC_DEVICEMAP))
        view = np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_int)), (100,))
        view[:] = np.arange(100)
        pointer = done(driver.cuMemHostGetDevicePointer(address, 0))
        self.add_one(pointer)
        self.wait()
        np.testing.assert_array_equal(view, np.arange(100) + 1)
        done(driver.cuMemFreeHost(address))

    def test_managed_memory(self):
        flags = driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL
        pointer = done(driver.cuMemAllocManaged(400, flags.value))
        view = np.ctypeslib.as_array(ctypes.cast(int(pointer), ctypes.POINTER(ctypes.c_int)), (100,))
        view[:] = 5
        self.add_one(pointer)
        self.wait()
        np.testing.assert_array_equal(view, np.full(100, 6))
        kind = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED
        self.assertTrue(done(driver.cuPointerGetAttribute(kind, pointer)))
        done(driver.cuMemFree(pointer))

    def test_pools(self):
        pool = done(driver.cuDeviceGetDefaultMemPool(self.device))
        threshold = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        done(driver.cuMemPoolSetAttribute(pool, threshold, driver.cuuint64_t(1 << 20)))
        self.assertEqual(int(done(driver.cuMemPoolGetAttribute(pool, threshold))), 1 << 20)
        pointer = done(driver.cuMemAllocAsync(400, self.stream))
        done(driver.cuMemsetD32Async(pointer, 3, 100, self.stream))
        self.add_one(pointer)
        out = np.zeros(100, np.int32)
        done(driver.cuMemcpyDtoHAsync(out.ctypes.data, pointer, 400, self.stream))
        done(driver.cuMemFreeAsync(pointer, self.stream))
        self.wait()
        np.testing.assert_array_equal(out, np.full(100, 4))

    def test_rectangles(self):
        host = np.arange(60, dtype=np.int32).reshape(6, 10)
        pointer, pitch = done(driver.cuMemAllocPitch(40, 6, 4))
        copy = driver.CUDA_MEMCPY2D()
        copy.srcMemoryType, copy.srcHost, copy.srcPitch = driver.CUmemorytype.CU_MEMORYTYPE_HOST, host.ctypes.data, 40
        copy.dstMemoryType, copy.dstDevice, copy.dstPitch = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE, pointer, pitch
        copy.WidthInBytes, copy.Height = 40, 6
        done(driver.cuMemcpy2D(copy))
        row = self.download(int(pointer) + 2 * pitch, 10, np.int32)
        np.testing.assert_array_equal(row, host[2])
        done(driver.cuMemFree(pointer))

    def test_textures(self):
        host = np.arange(32, dtype=np.float32).reshape(4, 8)
        shape = driver.CUDA_ARRAY_DESCRIPTOR()
        shape.Width, shape.Height, shape.NumChannels = 8, 4, 1
        shape.Format = driver.CUarray_format.CU_AD_FORMAT_FLOAT
        array = done(driver.cuArrayCreate(shape))
        copy = driver.CUDA_MEMCPY2D()
        copy.srcMemoryType, copy.srcHost, copy.srcPitch = driver.CUmemorytype.CU_MEMORYTYPE_HOST, host.ctypes.data, 32
        copy.dstMemoryType, copy.dstArray = driver.CUmemorytype.CU_MEMORYTYPE_ARRAY, array
        copy.WidthInBytes, copy.Height = 32, 4
        done(driver.cuMemcpy2D(copy))
        resource, texture = driver.CUDA_RESOURCE_DESC(), driver.CUDA_TEXTURE_DESC()
        resource.resType, resource.res.array.hArray = driver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY, array
        made = done(driver.cuTexObjectCreate(resource, texture, None))
        out = self.upload(np.zeros_like(host))
        self.launch(self.kernel(b"fetch"), 4, 8, (made, out, 8), (None, None, ctypes.c_int))
        self.wait()
        np.testing.assert_array_equal(self.download(out, (4, 8), np.float32), host)
        done(driver.cuTexObjectDestroy(made))
        done(driver.cuArrayDestroy(array))

    def test_how_much_there_is(self):
        free, total = done(driver.cuMemGetInfo())
        self.assertTrue(0 < free <= total)
        self.assertEqual(total, done(driver.cuDeviceTotalMem(self.device)))


class TestStreams(Case):
    def test_events(self):
        data = self.upload(np.zeros(100, np.int32))
        begin, end = (done(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DEFAULT)) for _ in range(2))
        done(driver.cuEventRecord(begin, self.stream))
        self.add_one(data)
        done(driver.cuEventRecord(end, self.stream))
        done(driver.cuEventSynchronize(end))
        self.assertGreaterEqual(done(driver.cuEventElapsedTime(begin, end)), 0)
        for event in (begin, end):
            done(driver.cuEventDestroy(event))

    def test_one_stream_waits_for_another(self):
        data = self.upload(np.zeros(100, np.int32))
        other = done(driver.cuStreamCreateWithPriority(driver.CUstream_flags.CU_STREAM_NON_BLOCKING, -1))
        event = done(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING))
        self.add_one(data)
        done(driver.cuEventRecord(event, self.stream))
        done(driver.cuStreamWaitEvent(other, event, 0))
        self.add_one(data, stream=other, name=b"twice")
        done(driver.cuStreamSynchronize(other))
        np.testing.assert_array_equal(self.download(data, 100, np.int32), np.full(100, 2))
        done(driver.cuStreamDestroy(other))
        done(driver.cuEventDestroy(event))

    def test_a_host_function(self):
        called = []
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: called.append(1))
        wrapped = driver.CUhostFn(_ptr=ctypes.addressof(function))
        done(driver.cuLaunchHostFunc(self.stream, wrapped, 0))
        self.wait()
        self.assertEqual(called, [1])

    def test_dynamic_shared_memory(self):
        data = self.upload(np.arange(64, dtype=np.int32))
        self.launch(self.kernel(b"reversed"), 1, 64, (data,), (None,), shared=256)
        self.wait()
        np.testing.assert_array_equal(self.download(data, 64, np.int32), np.arange(64)[::-1])

    def test_a_launch_with_attributes(self):
        data = self.upload(np.zeros(100, np.int32))
        config = driver.CUlaunchConfig()
        config.gridDimX = config.gridDimY = config.gridDimZ = 1
        config.blockDimX, config.blockDimY, config.blockDimZ = 128, 1, 1
        config.hStream, config.numAttrs = self.stream, 0
        done(driver.cuLaunchKernelEx(config, self.kernel(b"add_one"), ((data, 100), (None, ctypes.c_int)), 0))
        self.wait()
        np.testing.assert_array_equal(self.download(data, 100, np.int32), np.ones(100))


class TestGraphs(Case):
    def test_a_capture(self):
        data = self.upload(np.zeros(100, np.int32))
        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        done(driver.cuStreamBeginCapture(self.stream, mode))
        self.add_one(data)
        self.add_one(data, name=b"twice")
        graph = done(driver.cuStreamEndCapture(self.stream))
        self.assertEqual(done(driver.cuGraphGetNodes(graph))[1], 2)
        executable = done(driver.cuGraphInstantiate(graph, 0))
        for _ in range(3):
            done(driver.cuGraphLaunch(executable, self.stream))
        self.wait()
        np.testing.assert_array_equal(self.download(data, 100, np.int32), np.full(100, 14))
        done(driver.cuGraphExecDestroy(executable))
        done(driver.cuGraphDestroy(graph))

    def test_nodes(self):
        data = self.upload(np.zeros(100, np.int32))
        graph = done(driver.cuGraphCreate(0))
        fill = driver.CUDA_MEMSET_NODE_PARAMS()
        fill.dst, fill.value, fill.elementSize, fill.width, fill.height = data, 9, 4, 100, 1
        filled = done(driver.cuGraphAddMemsetNode(graph, [], 0, fill, self.context))
        launch = driver.CUDA_KERNEL_NODE_PARAMS()
        launch.func = self.kernel(b"add_one")
        launch.gridDimX = launch.gridDimY = launch.gridDimZ = 1
        launch.blockDimX, launch.blockDimY, launch.blockDimZ = 128, 1, 1
        launch.kernelParams = ((data, 100), (None, ctypes.c_int))
        node = done(driver.cuGraphAddKernelNode(graph, [filled], 1, launch))
        executable = done(driver.cuGraphInstantiate(graph, 0))
        done(driver.cuGraphLaunch(executable, self.stream))
        self.wait()
        np.testing.assert_array_equal(self.download(data, 100, np.int32), np.full(100, 10))
        launch.kernelParams = ((data, 50), (None, ctypes.c_int))
        done(driver.cuGraphExecKernelNodeSetParams(executable, node, launch))
        done(driver.cuGraphLaunch(executable, self.stream))
        self.wait()
        np.testing.assert_array_equal(self.download(data, 100, np.int32), np.where(np.arange(100) < 50, 10, 9))
        done(driver.cuGraphExecDestroy(executable))
        done(driver.cuGraphDestroy(graph))

    def test_an_update(self):
        data, mode = self.upload(np.zeros(100, np.int32)), driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL

        def captured(n):
            done(driver.cuStreamBeginCapture(self.stream, mode))
            self.add_one(data, n)
            return done(driver.cuStreamEndCapture(self.stream))

        executable = done(driver.cuGraphInstantiate(captured(100), 0))
        result = done(driver.cuGraphExecUpdate(executable, captured(10)))
        self.assertEqual(result.result, driver.CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_SUCCESS)
        done(driver.cuGraphLaunch(executable, self.stream))
        self.wait()
        np.testing.assert_array_equal(self.download(data, 100, np.int32), np.arange(100) < 10)


class TestDevice(Case):
    def test_what_it_says_of_itself(self):
        attribute = driver.CUdevice_attribute
        major = done(driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, self.device))
        self.assertEqual(major, 9)
        self.assertEqual(done(driver.cuDeviceGetCount()), 1)
        self.assertIn(b"Dacapo", done(driver.cuDeviceGetName(64, self.device)))
        self.assertEqual(done(driver.cuDriverGetVersion()), 13000)

    def test_contexts(self):
        mine = done(driver.cuCtxCreate(None, 0, self.device))
        self.assertEqual(int(done(driver.cuCtxGetCurrent())), int(mine))
        done(driver.cuCtxPopCurrent())
        self.assertEqual(int(done(driver.cuCtxGetCurrent())), int(self.context))
        done(driver.cuCtxDestroy(mine))

    def test_limits(self):
        limit = driver.CUlimit.CU_LIMIT_PRINTF_FIFO_SIZE
        before = done(driver.cuCtxGetLimit(limit))
        done(driver.cuCtxSetLimit(limit, 2 << 20))
        self.assertGreaterEqual(done(driver.cuCtxGetLimit(limit)), 2 << 20)
        done(driver.cuCtxSetLimit(limit, before))


if __name__ == "__main__":
    unittest.main()
