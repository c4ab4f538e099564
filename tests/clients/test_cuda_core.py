"""cuda-core, NVIDIA's package for Python, on the software driver: as its documentation uses it.

Programs are compiled by NVRTC to PTX and to machine code, linked by nvJitLink, and launched on streams and in graphs.
Results are compared with numpy.
"""

import multiprocessing
import pathlib
import tempfile
import unittest

import numpy as np
import nvidia
from cuda.core import (
    Buffer,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    EventOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ManagedMemoryResource,
    ObjectCode,
    Program,
    ProgramOptions,
    StreamOptions,
    VirtualMemoryResource,
    launch,
)
from cuda.core.graph import GraphDefinition
from cuda.core.utils import StridedMemoryView

SOURCE = r"""
template <typename T>
__global__ void saxpy(T a, const T* x, const T* y, T* out, size_t n) {
    for (size_t i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x) out[i] = a * x[i] + y[i];
}
extern "C" __global__ void add_one(int* p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] += 1; }
extern "C" __global__ void twice(int* p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] *= 2; }
extern "C" __global__ void reverse(int* p, int n) {
    extern __shared__ int s[];
    int i = threadIdx.x;
    s[i] = p[i];
    __syncthreads();
    p[i] = s[n - 1 - i];
}
"""


def floats(n, seed=1):
    return np.random.default_rng(seed).standard_normal(n, dtype=np.float32)


class Case(unittest.TestCase):
    def setUp(self):
        self.device = Device(0)
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.pinned = LegacyPinnedMemoryResource()

    def tearDown(self):
        self.stream.sync()
        self.stream.close()

    def program(self, source=SOURCE, kind="cubin", names=(), **options):
        options = ProgramOptions(std="c++17", arch=f"sm_{self.device.arch}", **options)
        return Program(source, code_type="c++", options=options).compile(kind, name_expressions=names)

    def host(self, array):
        """The array in page-locked memory, as a buffer and as an array over it."""
        buffer = self.pinned.allocate(array.nbytes)
        view = np.from_dlpack(buffer).view(array.dtype)
        view[:] = array
        return buffer, view

    def device_array(self, array):
        staging, _ = self.host(array)
        buffer = self.device.allocate(array.nbytes, stream=self.stream)
        buffer.copy_from(staging, stream=self.stream)
        self.stream.sync()
        return buffer

    def back(self, buffer, dtype):
        staging, view = self.host(np.zeros(buffer.size // np.dtype(dtype).itemsize, dtype))
        buffer.copy_to(staging, stream=self.stream)
        self.stream.sync()
        return view.copy()


class TestPrograms(Case):
    def saxpy(self, kind):
        code = self.program(kind=kind, names=("saxpy<float>", "saxpy<double>"))
        x, y = floats(1000), floats(1000, 2)
        dx, dy, out = self.device_array(x), self.device_array(y), self.device_array(np.zeros(1000, np.float32))
        kernel = code.get_kernel("saxpy<float>")
        launch(self.stream, LaunchConfig(grid=4, block=128), kernel, np.float32(3), dx, dy, out, np.uint64(1000))
        np.testing.assert_allclose(self.back(out, np.float32), np.float32(3) * x + y, rtol=1e-6, atol=1e-6)

    def test_a_template_as_ptx(self):
        self.saxpy("ptx")

    def test_a_template_as_machine_code(self):
        self.saxpy("cubin")

    def test_two_objects_are_linked(self):
        part = "__device__ int square(int x) { return x * x; }"
        main = 'extern __device__ int square(int); extern "C" __global__ void squares(int* p) { p[threadIdx.x] = square(threadIdx.x); }'
        objects = [self.program(text, kind="ptx", relocatable_device_code=True) for text in (part, main)]
        linked = Linker(*objects, options=LinkerOptions(arch=f"sm_{self.device.arch}")).link("cubin")
        out = self.device_array(np.zeros(32, np.int32))
        launch(self.stream, LaunchConfig(grid=1, block=32), linked.get_kernel("squares"), out)
        np.testing.assert_array_equal(self.back(out, np.int32), np.arange(32) ** 2)

    def test_objects_for_optimisation_at_link_time(self):
        part = "__device__ int cube(int x) { return x * x * x; }"
        main = 'extern __device__ int cube(int); extern "C" __global__ void cubes(int* p) { p[threadIdx.x] = cube(threadIdx.x); }'
        objects = [self.program(text, kind="ltoir", link_time_optimization=True) for text in (part, main)]
        options = LinkerOptions(arch=f"sm_{self.device.arch}", link_time_optimization=True)
        linked = Linker(*objects, options=options).link("cubin")
        out = self.device_array(np.zeros(32, np.int32))
        launch(self.stream, LaunchConfig(grid=1, block=32), linked.get_kernel("cubes"), out)
        np.testing.assert_array_equal(self.back(out, np.int32), np.arange(32) ** 3)

    def test_ptx_from_a_text_and_from_a_file(self):
        code = self.program(kind="ptx").code
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kernels.ptx"
            path.write_bytes(code)
            for one in (ObjectCode.from_ptx(code), ObjectCode.from_ptx(str(path))):
                data = self.device_array(np.arange(100, dtype=np.int32))
                launch(self.stream, LaunchConfig(grid=1, block=128), one.get_kernel("add_one"), data, np.int32(100))
                np.testing.assert_array_equal(self.back(data, np.int32), np.arange(100) + 1)

    def test_a_mistake_is_said_with_its_log(self):
        with self.assertRaisesRegex(Exception, "undefined"):
            self.program('extern "C" __global__ void broken() { nothing(); }')

    def test_what_a_kernel_says_of_itself(self):
        kernel = self.program().get_kernel("reverse")
        self.assertEqual(kernel.num_arguments, 2)
        self.assertEqual([(info.offset, info.size) for info in kernel.arguments_info], [(0, 8), (8, 4)])
        self.assertGreaterEqual(kernel.attributes.max_threads_per_block, 128)
        self.assertEqual(kernel.attributes.shared_size_bytes, 0)
        self.assertGreaterEqual(kernel.occupancy.max_active_blocks_per_multiprocessor(128, 0), 1)


class TestLaunches(Case):
    def test_dynamic_shared_memory(self):
        data = self.device_array(np.arange(64, dtype=np.int32))
        kernel = self.program().get_kernel("reverse")
        launch(self.stream, LaunchConfig(grid=1, block=64, shmem_size=256), kernel, data, np.int32(64))
        np.testing.assert_array_equal(self.back(data, np.int32), np.arange(64)[::-1])

    def test_scalars_of_every_kind(self):
        source = r"""extern "C" __global__ void store(signed char a, short b, int c, long long d, float e, double f, bool g, double* out) {
            out[0] = a; out[1] = b; out[2] = c; out[3] = (double)d; out[4] = e; out[5] = f; out[6] = g; }"""
        out = self.device_array(np.zeros(7))
        values = (np.int8(-3), np.int16(-300), np.int32(-70000), np.int64(1 << 40), np.float32(0.5), np.float64(0.1), True)
        launch(self.stream, LaunchConfig(grid=1, block=1), self.program(source).get_kernel("store"), *values, out)
        np.testing.assert_array_equal(self.back(out, np.float64), [-3, -300, -70000, 1 << 40, 0.5, 0.1, 1])

    def test_a_cooperative_grid(self):
        source = r"""#include <cooperative_groups.h>
        extern "C" __global__ void totals(int* p, int* out) {
            auto grid = cooperative_groups::this_grid();
            p[grid.thread_rank()] = grid.thread_rank();
            grid.sync();
            if (grid.thread_rank() == 0) { int t = 0; for (int i = 0; i < grid.size(); i++) t += p[i]; *out = t; } }"""
        (root,) = (pathlib.Path(path) / "cu13/include" for path in nvidia.__path__)
        include = [str(root), str(root / "cccl")]
        kernel = self.program(source, include_path=include).get_kernel("totals")
        data, out = self.device_array(np.zeros(256, np.int32)), self.device_array(np.zeros(1, np.int32))
        launch(self.stream, LaunchConfig(grid=4, block=64, is_cooperative=True), kernel, data, out)
        self.assertEqual(self.back(out, np.int32)[0], 256 * 255 // 2)

    def test_events_and_streams(self):
        other = self.device.create_stream(options=StreamOptions(nonblocking=True, priority=-1))
        self.assertTrue(other.is_nonblocking)
        data = self.device_array(np.zeros(100, np.int32))
        code = self.program()
        config = LaunchConfig(grid=1, block=128)
        begun = self.stream.record(options=EventOptions(timing_enabled=True))
        launch(self.stream, config, code.get_kernel("add_one"), data, np.int32(100))
        event = self.stream.record(options=EventOptions(timing_enabled=True))
        other.wait(event)
        launch(other, config, code.get_kernel("twice"), data, np.int32(100))
        other.sync()
        self.assertTrue(event.is_done)
        self.assertGreaterEqual(event - begun, 0)
        np.testing.assert_array_equal(self.back(data, np.int32), np.full(100, 2))

    def test_the_default_stream(self):
        stream = self.device.default_stream
        data = self.device_array(np.zeros(10, np.int32))
        launch(stream, LaunchConfig(grid=1, block=32), self.program().get_kernel("add_one"), data, np.int32(10))
        stream.sync()
        np.testing.assert_array_equal(self.back(data, np.int32), np.ones(10))


class TestMemory(Case):
    def test_a_pool(self):
        pool = DeviceMemoryResource(self.device, options=DeviceMemoryResourceOptions(max_size=64 << 20))
        buffers = [pool.allocate(1 << 20, stream=self.stream) for _ in range(8)]
        self.assertTrue(all(buffer.is_device_accessible and not buffer.is_host_accessible for buffer in buffers))
        self.assertGreaterEqual(pool.attributes.used_mem_current, 8 << 20)
        for buffer in buffers:
            buffer.close(self.stream)
        self.stream.sync()
        self.assertEqual(pool.attributes.used_mem_current, 0)

    def test_fill(self):
        buffer = self.device.allocate(400, stream=self.stream)
        buffer.fill(np.int32(-7), stream=self.stream)
        np.testing.assert_array_equal(self.back(buffer, np.int32), np.full(100, -7))

    def test_managed_memory(self):
        pool = ManagedMemoryResource()
        buffer = pool.allocate(400, stream=self.stream)
        self.stream.sync()
        self.assertTrue(buffer.is_device_accessible and buffer.is_host_accessible)
        view = np.from_dlpack(buffer).view(np.int32)
        view[:] = np.arange(100)
        launch(self.stream, LaunchConfig(grid=1, block=128), self.program().get_kernel("add_one"), buffer, np.int32(100))
        self.stream.sync()
        np.testing.assert_array_equal(view, np.arange(100) + 1)

    def test_virtual_memory(self):
        pool = VirtualMemoryResource(self.device)
        buffer = pool.allocate(2 << 20)
        buffer.copy_from(self.host(np.arange(512 << 10, dtype=np.int32))[0], stream=self.stream)
        np.testing.assert_array_equal(self.back(buffer, np.int32), np.arange(512 << 10))
        buffer.close()

    def test_memory_of_somebody_else(self):
        data = self.device_array(np.arange(10, dtype=np.int32))
        borrowed = Buffer.from_handle(int(data.handle), data.size, owner=data)
        np.testing.assert_array_equal(self.back(borrowed, np.int32), np.arange(10))

    def test_views(self):
        data = self.device_array(np.arange(24, dtype=np.int32))
        view = StridedMemoryView.from_buffer(data, (4, 6), dtype=np.dtype(np.int32))
        self.assertEqual((view.shape, view.ptr, view.is_device_accessible), ((4, 6), int(data.handle), True))

    def test_device_to_device(self):
        data = self.device_array(floats(300))
        other = self.device.allocate(data.size, stream=self.stream)
        other.copy_from(data, stream=self.stream)
        np.testing.assert_array_equal(self.back(other, np.float32), floats(300))


class TestGraphs(Case):
    def test_a_recorded_graph(self):
        data = self.device_array(np.zeros(100, np.int32))
        code, config = self.program(), LaunchConfig(grid=1, block=128)
        builder = self.device.create_graph_builder().begin_building()
        launch(builder, config, code.get_kernel("add_one"), data, np.int32(100))
        launch(builder, config, code.get_kernel("twice"), data, np.int32(100))
        graph = builder.end_building().complete()
        for _ in range(3):
            graph.launch(self.stream)
        np.testing.assert_array_equal(self.back(data, np.int32), np.full(100, 14))

    def test_branches(self):
        datas = [self.device_array(np.zeros(100, np.int32)) for _ in range(3)]
        kernel, config = self.program().get_kernel("add_one"), LaunchConfig(grid=1, block=128)
        builder = self.device.create_graph_builder().begin_building()
        branches = builder.split(3)
        for branch, data in zip(branches, datas):
            launch(branch, config, kernel, data, np.int32(100))
        joined = branches[0].join(*branches)
        joined.end_building().complete().launch(self.stream)
        for data in datas:
            np.testing.assert_array_equal(self.back(data, np.int32), np.ones(100))

    def test_a_graph_by_its_nodes(self):
        data = self.device_array(np.zeros(100, np.int32))
        code, config, called = self.program(), LaunchConfig(grid=1, block=128), []
        graph = GraphDefinition()
        first = graph.memset(int(data.handle), np.int32(5), 100)
        second = first.launch(config, code.get_kernel("add_one"), data, np.int32(100))
        second.callback(lambda: called.append(1))
        graph.instantiate().launch(self.stream)
        np.testing.assert_array_equal(self.back(data, np.int32), np.full(100, 6))
        self.assertEqual((called, len(graph.nodes()), len(graph.edges())), ([1], 3, 2))

    def test_an_update(self):
        data = self.device_array(np.zeros(100, np.int32))
        kernel, config = self.program().get_kernel("add_one"), LaunchConfig(grid=1, block=128)

        def built(n):
            builder = self.device.create_graph_builder().begin_building()
            launch(builder, config, kernel, data, np.int32(n))
            return builder.end_building()

        graph = built(100).complete()
        graph.launch(self.stream)
        graph.update(built(50))
        graph.launch(self.stream)
        np.testing.assert_array_equal(self.back(data, np.int32), np.where(np.arange(100) < 50, 2, 1))

    def test_a_loop_in_a_graph(self):
        source = r"""extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(cudaGraphConditionalHandle, unsigned int);
        extern "C" __global__ void step(int* p, cudaGraphConditionalHandle handle) { if (++*p >= 5) cudaGraphSetConditional(handle, 0); }"""
        data = self.device_array(np.zeros(1, np.int32))
        kernel = self.program(source, kind="ptx").get_kernel("step")
        builder = self.device.create_graph_builder().begin_building()
        condition = builder.create_condition(default_value=1)
        body = builder.while_loop(condition).begin_building()
        launch(body, LaunchConfig(grid=1, block=1), kernel, data, condition)
        body.end_building()
        builder.end_building().complete().launch(self.stream)
        self.assertEqual(self.back(data, np.int32)[0], 5)


class TestDevice(Case):
    def test_what_it_says_of_itself(self):
        self.assertEqual(tuple(self.device.compute_capability), (9, 0))
        self.assertIn("Dacapo", self.device.name)
        self.assertEqual(len(self.device.uuid), 36)
        properties = self.device.properties
        self.assertEqual((properties.warp_size, properties.max_threads_per_block), (32, 1024))

    def test_the_list_of_devices(self):
        self.assertEqual(len(Device.get_all_devices()), 1)

    def test_a_fault_is_an_error(self):
        # In a process of its own: the context is lost with it.
        process = multiprocessing.get_context("spawn").Process(target=fault)
        process.start()
        process.join()
        self.assertEqual(process.exitcode, 0)


def fault():
    """Exits with 0 if a write to an address of nobody's is an error of the stream."""
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    source = 'extern "C" __global__ void wild(int* p) { *p = 1; }'
    code = Program(source, code_type="c++", options=ProgramOptions(arch=f"sm_{device.arch}")).compile("ptx")
    launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("wild"), 64)
    try:
        stream.sync()
    except Exception as error:
        if "CUDA_ERROR_ILLEGAL_ADDRESS" in str(error):
            raise SystemExit(0)
    raise SystemExit(1)


if __name__ == "__main__":
    unittest.main()
