"""Triton on the software driver: kernels as Triton's tutorials write them, compiled for three generations of GPUs.

Triton finds the driver by itself and launches its kernels itself; arrays are anything with `data_ptr()` and `dtype`.
Everything is compared with numpy.
"""

import os
import unittest

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import numpy as np
import triton
import triton.language as tl
from cuda.bindings import driver
from triton.backends.compiler import GPUTarget
from triton.runtime import driver as active

RANDOM = np.random.default_rng(11)


def done(answer):
    code, *values = answer
    if code != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(code.name)
    return values[0] if values else None


class Array:
    """Memory on the device, as a kernel's argument."""

    TYPES = {
        "float16": tl.float16, "float32": tl.float32, "float64": tl.float64,
        "int8": tl.int8, "int32": tl.int32, "int64": tl.int64, "uint8": tl.uint8,
    }

    def __init__(self, array):
        array = np.ascontiguousarray(array)
        self.shape, self.host, self.dtype = array.shape, array, self.TYPES[array.dtype.name]
        self.pointer = done(driver.cuMemAlloc(array.nbytes))
        done(driver.cuMemcpyHtoD(self.pointer, array.ctypes.data, array.nbytes))

    def __del__(self):
        driver.cuMemFree(self.pointer)

    def data_ptr(self):
        return int(self.pointer)

    def numpy(self):
        out = np.empty_like(self.host)
        done(driver.cuMemcpyDtoH(out.ctypes.data, self.pointer, out.nbytes))
        return out


def zeros(*shape, dtype=np.float32):
    return Array(np.zeros(shape, dtype))


def floats(*shape):
    return RANDOM.standard_normal(shape, dtype=np.float32)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    e = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + at, e / tl.sum(e, axis=0), mask=at < columns)


@triton.jit
def layer_norm_kernel(x, w, b, out, columns, eps, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    mask = at < columns
    values = tl.load(x + row * columns + at, mask=mask, other=0.0)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(mask, values - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    y = centred * scale * tl.load(w + at, mask=mask, other=0.0) + tl.load(b + at, mask=mask, other=0.0)
    tl.store(out + row * columns + at, y, mask=mask)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        at = k + tl.arange(0, BK)
        x = tl.load(a + i[:, None] * K + at[None, :], mask=(i[:, None] < M) & (at[None, :] < K), other=0.0)
        y = tl.load(b + at[:, None] * N + j[None, :], mask=(at[:, None] < K) & (j[None, :] < N), other=0.0)
        total = tl.dot(x, y, total, input_precision=PRECISION)
    tl.store(c + i[:, None] * N + j[None, :], total, mask=(i[:, None] < M) & (j[None, :] < N))


@triton.jit
def transpose_kernel(x, out, M, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x + i[:, None] * N + j[None, :], mask=(i[:, None] < M) & (j[None, :] < N))
    tl.store(out + j[:, None] * M + i[None, :], tl.trans(tile), mask=(j[:, None] < N) & (i[None, :] < M))


@triton.jit
def histogram_kernel(x, counts, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(counts + values, 1, mask=at < n)


@triton.jit
def scan_kernel(x, sums, products, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(sums + at, tl.cumsum(values, axis=0), mask=at < n)
    tl.store(products + at, tl.cumprod(tl.where(values > 0, 1.0, -1.0), axis=0), mask=at < n)


@triton.jit
def extremes_kernel(x, largest, where, total, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    best, index = tl.max(values, axis=0, return_indices=True)
    tl.store(largest + row, best)
    tl.store(where + row, index)
    tl.atomic_max(total, best.to(tl.float32))


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(keep, tl.load(x + at, mask=at < n) / (1 - p), 0.0), mask=at < n)


@triton.jit
def gather_kernel(table, rows, out, columns, BLOCK: tl.constexpr):
    row, at = tl.load(rows + tl.program_id(0)), tl.arange(0, BLOCK)
    tl.store(out + tl.program_id(0) * columns + at, tl.load(table + row * columns + at, mask=at < columns), mask=at < columns)


@triton.jit
def sort_kernel(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at)))


@triton.jit
def attention_kernel(q, k, v, out, length, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    i, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    queries = tl.load(q + i[:, None] * D + d[None, :], mask=i[:, None] < length, other=0.0)
    largest = tl.full((BM,), -float("inf"), tl.float32)
    total, result = tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    for begin in range(0, length, BN):
        j = begin + tl.arange(0, BN)
        keys = tl.load(k + j[None, :] * D + d[:, None], mask=j[None, :] < length, other=0.0)
        scores = tl.dot(queries, keys, input_precision="ieee") * scale
        scores = tl.where(j[None, :] < length, scores, -float("inf"))
        now = tl.maximum(largest, tl.max(scores, axis=1))
        e, shrink = tl.exp(scores - now[:, None]), tl.exp(largest - now)
        values = tl.load(v + j[:, None] * D + d[None, :], mask=j[:, None] < length, other=0.0)
        total = total * shrink + tl.sum(e, axis=1)
        result = tl.dot(e, values, result * shrink[:, None], input_precision="ieee")
        largest = now
    tl.store(out + i[:, None] * D + d[None, :], result / total[:, None], mask=i[:, None] < length)


@triton.jit
def types_kernel(x, halves, bytes_, longs, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    values = tl.load(x + at, mask=mask)
    tl.store(halves + at, values.to(tl.float16), mask=mask)
    tl.store(bytes_ + at, values.to(tl.int8), mask=mask)
    tl.store(longs + at, values.to(tl.int64) * 3, mask=mask)


class Kernels:
    """The tests, for an architecture that a class below names."""

    arch = 90

    @classmethod
    def setUpClass(cls):
        done(driver.cuInit(0))
        cls.context = done(driver.cuDevicePrimaryCtxRetain(0))
        done(driver.cuCtxSetCurrent(cls.context))
        cls.target = active.active.get_current_target
        active.active.get_current_target = lambda: GPUTarget("cuda", cls.arch, 32)
        # Kernels that were compiled for another one stay with their device.
        for kernel in globals().values():
            if isinstance(kernel, triton.JITFunction):
                kernel.device_caches.clear()

    @classmethod
    def tearDownClass(cls):
        active.active.get_current_target = cls.target
        driver.cuDevicePrimaryCtxRelease(0)

    def test_add(self):
        x, y = floats(1000), floats(1000)
        out = zeros(1000)
        compiled = add_kernel[(triton.cdiv(1000, 256),)](Array(x), Array(y), out, 1000, BLOCK=256)
        np.testing.assert_array_equal(out.numpy(), x + y)
        self.assertRegex(compiled.asm["ptx"], rf"\.target sm_{self.arch}")

    def test_softmax(self):
        x, out = floats(13, 200), zeros(13, 200)
        softmax_kernel[(13,)](Array(x), out, 200, BLOCK=256)
        e = np.exp(x - x.max(axis=1, keepdims=True))
        np.testing.assert_allclose(out.numpy(), e / e.sum(axis=1, keepdims=True), rtol=1e-5)

    def test_layer_norm(self):
        x, w, b, out = floats(9, 100), floats(100), floats(100), zeros(9, 100)
        layer_norm_kernel[(9,)](Array(x), Array(w), Array(b), out, 100, 1e-5, BLOCK=128)
        mean, variance = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
        np.testing.assert_allclose(out.numpy(), (x - mean) / np.sqrt(variance + 1e-5) * w + b, rtol=1e-4, atol=1e-5)

    def test_matmul(self):
        a, b, c = floats(70, 50), floats(50, 40), zeros(70, 40)
        matmul_kernel[(3, 2)](Array(a), Array(b), c, 70, 40, 50, BM=32, BN=32, BK=16, PRECISION="ieee")
        np.testing.assert_allclose(c.numpy(), a @ b, rtol=1e-4, atol=1e-4)

    def test_matmul_on_tensor_cores(self):
        a, b, c = floats(64, 64).astype(np.float16), floats(64, 64).astype(np.float16), zeros(64, 64)
        matmul_kernel[(2, 2)](Array(a), Array(b), c, 64, 64, 64, BM=32, BN=32, BK=32, PRECISION="tf32")
        np.testing.assert_allclose(c.numpy(), a.astype(np.float32) @ b.astype(np.float32), rtol=1e-2, atol=1e-2)

    def test_transpose(self):
        x, out = floats(50, 70), zeros(70, 50)
        transpose_kernel[(2, 3)](Array(x), out, 50, 70, BLOCK=32)
        np.testing.assert_array_equal(out.numpy(), x.T)

    def test_histogram(self):
        x = RANDOM.integers(0, 10, 3000, dtype=np.int32)
        counts = zeros(10, dtype=np.int32)
        histogram_kernel[(triton.cdiv(3000, 512),)](Array(x), counts, 3000, BLOCK=512)
        np.testing.assert_array_equal(counts.numpy(), np.bincount(x, minlength=10))

    def test_scan(self):
        x, sums, signs = floats(200), zeros(200), zeros(200)
        scan_kernel[(1,)](Array(x), sums, signs, 200, BLOCK=256)
        np.testing.assert_allclose(sums.numpy(), np.cumsum(x), rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(signs.numpy(), np.cumprod(np.where(x > 0, 1.0, -1.0)).astype(np.float32))

    def test_extremes(self):
        x = floats(8, 90)
        largest, where, total = zeros(8), zeros(8, dtype=np.int32), Array(np.full(1, -100, np.float32))
        extremes_kernel[(8,)](Array(x), largest, where, total, 90, BLOCK=128)
        np.testing.assert_array_equal(largest.numpy(), x.max(axis=1))
        np.testing.assert_array_equal(where.numpy(), x.argmax(axis=1))
        self.assertEqual(total.numpy()[0], x.max())

    def test_dropout(self):
        x, first, second = np.ones(4000, np.float32), zeros(4000), zeros(4000)
        for out in (first, second):
            dropout_kernel[(triton.cdiv(4000, 1024),)](Array(x), out, 4000, 0.25, 123, BLOCK=1024)
        np.testing.assert_array_equal(first.numpy(), second.numpy())
        self.assertAlmostEqual((first.numpy() == 0).mean(), 0.25, delta=0.03)

    def test_gather(self):
        table, rows, out = floats(30, 20), RANDOM.integers(0, 30, 12, dtype=np.int64), zeros(12, 20)
        gather_kernel[(12,)](Array(table), Array(rows), out, 20, BLOCK=32)
        np.testing.assert_array_equal(out.numpy(), table[rows])

    def test_sort(self):
        x, out = floats(256), zeros(256)
        sort_kernel[(1,)](Array(x), out, BLOCK=256)
        np.testing.assert_array_equal(out.numpy(), np.sort(x))

    def test_attention(self):
        q, k, v, out = floats(40, 16), floats(40, 16), floats(40, 16), zeros(40, 16)
        attention_kernel[(3,)](Array(q), Array(k), Array(v), out, 40, 0.25, D=16, BM=16, BN=16)
        scores = q @ k.T * np.float32(0.25)
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        np.testing.assert_allclose(out.numpy(), e / e.sum(axis=1, keepdims=True) @ v, rtol=1e-4, atol=1e-5)

    def test_types(self):
        x = (floats(300) * 40).clip(-120, 120)
        halves, bytes_, longs = zeros(300, dtype=np.float16), zeros(300, dtype=np.int8), zeros(300, dtype=np.int64)
        types_kernel[(3,)](Array(x), halves, bytes_, longs, 300, BLOCK=128)
        np.testing.assert_array_equal(halves.numpy(), x.astype(np.float16))
        np.testing.assert_array_equal(bytes_.numpy(), x.astype(np.int8))
        np.testing.assert_array_equal(longs.numpy(), x.astype(np.int64) * 3)


class TestSm75(Kernels, unittest.TestCase):
    arch = 75


class TestSm80(Kernels, unittest.TestCase):
    arch = 80


class TestSm90(Kernels, unittest.TestCase):
    arch = 90


if __name__ == "__main__":
    unittest.main()
