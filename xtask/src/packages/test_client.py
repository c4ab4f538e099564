"""Tests as a user of numba-cuda and cuda-core writes them; they know nothing of Dacapo."""

import numpy as np
import pytest
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from numba import cuda


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.reduce
def total(a, b):
    return a + b


@pytest.mark.parametrize("n", [1, 100, 1000])
def test_saxpy(n):
    x, y = np.arange(n, dtype=np.float32), np.ones(n, dtype=np.float32)
    on_device = cuda.to_device(y)
    saxpy[(n + 127) // 128, 128](np.float32(2), cuda.to_device(x), on_device)
    np.testing.assert_array_equal(on_device.copy_to_host(), 2 * x + y)


def test_reduction():
    assert total(np.arange(1000)) == 499500


def test_machine_code_of_nvrtc():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    source = 'extern "C" __global__ void fill(int* p) { p[threadIdx.x] = threadIdx.x; }'
    kernel = Program(source, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel("fill")
    numbers = cuda.device_array(32, np.int32)
    launch(stream, LaunchConfig(grid=1, block=32), kernel, numbers.__cuda_array_interface__["data"][0])
    stream.sync()
    np.testing.assert_array_equal(numbers.copy_to_host(), np.arange(32))
