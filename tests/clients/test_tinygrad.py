"""tinygrad on the software driver: operators, their gradients, random numbers, and training as a CUDA graph.

Kernels are CUDA C that tinygrad writes and NVRTC compiles; `test_tinygrad_ptx.py` runs the same with tinygrad's own PTX.
Everything is compared with numpy, or with the same training step without a graph.
"""

import os
import unittest

os.environ.setdefault("DEV", "CUDA")

import numpy as np
from tinygrad import Device, Tensor, TinyJit, Variable, dtypes, nn

from tinygrad_step import training

RANDOM = np.random.default_rng(7)


def floats(*shape):
    return RANDOM.standard_normal(shape, dtype=np.float32)


class TestOperators(unittest.TestCase):
    def check(self, compute, expect, *arrays, rtol=1e-5, atol=1e-6):
        """`compute` on tensors gives what `expect` gives on arrays."""
        np.testing.assert_allclose(
            compute(*map(Tensor, arrays)).numpy(), expect(*arrays), rtol=rtol, atol=atol, strict=False
        )

    def test_the_device_is_the_software_driver(self):
        self.assertEqual(Device.DEFAULT, "CUDA")
        self.assertEqual(Tensor([1, 2, 3]).sum().item(), 6)

    def test_arithmetic(self):
        self.check(lambda a, b: a * b + a / (b.abs() + 1) - 2, lambda a, b: a * b + a / (np.abs(b) + 1) - 2, floats(33, 65), floats(33, 65))

    def test_broadcasting(self):
        self.check(lambda a, b: a + b, lambda a, b: a + b, floats(5, 1, 7), floats(1, 6, 1))

    def test_integers(self):
        a, b = RANDOM.integers(-100, 100, 257), RANDOM.integers(1, 20, 257)
        self.check(lambda a, b: a // b, lambda a, b: a // b, a, b)
        self.check(lambda a, b: a % b, lambda a, b: a % b, a, b)
        self.check(lambda a, b: (a & b) ^ (a | 3), lambda a, b: (a & b) ^ (a | 3), a, b)

    def test_shifts_and_comparisons(self):
        a = RANDOM.integers(0, 1000, 100)
        self.check(lambda a: (a << 3) + (a >> 2), lambda a: (a << 3) + (a >> 2), a)
        self.check(lambda a: (a > 500).where(a, -a), lambda a: np.where(a > 500, a, -a), a)

    def test_exponentials(self):
        a = floats(1000)
        self.check(lambda a: a.exp(), np.exp, a, rtol=1e-5)
        self.check(lambda a: (a.abs() + 0.1).log(), lambda a: np.log(np.abs(a) + 0.1), a, rtol=1e-5, atol=1e-5)
        self.check(lambda a: (a.abs() + 0.1).sqrt(), lambda a: np.sqrt(np.abs(a) + 0.1), a)

    def test_trigonometry(self):
        a = floats(1000) * 10
        self.check(lambda a: a.sin(), np.sin, a, atol=1e-5)
        self.check(lambda a: a.cos(), np.cos, a, atol=1e-5)
        self.check(lambda a: a.tanh(), np.tanh, a, atol=1e-5)

    def test_activations(self):
        a = floats(64, 64)
        self.check(lambda a: a.relu(), lambda a: np.maximum(a, 0), a)
        self.check(lambda a: a.sigmoid(), lambda a: 1 / (1 + np.exp(-a)), a)
        self.check(lambda a: a.silu(), lambda a: a / (1 + np.exp(-a)), a)
        self.check(lambda a: a.leaky_relu(0.1), lambda a: np.where(a > 0, a, a * np.float32(0.1)), a)

    def test_sums(self):
        a = floats(17, 129, 5)
        for axis in (0, 1, 2, (0, 2), None):
            self.check(lambda a: a.sum(axis=axis), lambda a: a.sum(axis=axis), a, rtol=1e-4, atol=1e-4)

    def test_means_and_deviations(self):
        a = floats(50, 300)
        self.check(lambda a: a.mean(axis=1), lambda a: a.mean(axis=1), a, atol=1e-5)
        self.check(lambda a: a.std(axis=1, correction=0), lambda a: a.std(axis=1), a, rtol=1e-4)

    def test_extremes(self):
        a = floats(40, 111)
        self.check(lambda a: a.max(axis=1), lambda a: a.max(axis=1), a)
        self.check(lambda a: a.min(axis=0), lambda a: a.min(axis=0), a)
        self.check(lambda a: a.argmax(axis=1), lambda a: a.argmax(axis=1), a)
        self.check(lambda a: a.argmin(axis=0), lambda a: a.argmin(axis=0), a)

    def test_products(self):
        self.check(lambda a, b: a @ b, lambda a, b: a @ b, floats(64, 96), floats(96, 48), rtol=1e-4, atol=1e-4)
        self.check(lambda a, b: a @ b, lambda a, b: a @ b, floats(3, 17, 31), floats(3, 31, 13), rtol=1e-4, atol=1e-4)
        self.check(lambda a, b: a.dot(b), lambda a, b: a.dot(b), floats(257), floats(257), rtol=1e-4, atol=1e-4)

    def test_einsum(self):
        self.check(
            lambda a, b: Tensor.einsum("bij,bkj->ik", a, b),
            lambda a, b: np.einsum("bij,bkj->ik", a, b),
            floats(4, 9, 16), floats(4, 11, 16), rtol=1e-4, atol=1e-4,
        )

    def test_softmax(self):
        def softmax(a):
            e = np.exp(a - a.max(axis=1, keepdims=True))
            return e / e.sum(axis=1, keepdims=True)

        self.check(lambda a: a.softmax(axis=1), softmax, floats(20, 300), rtol=1e-4)
        self.check(lambda a: a.log_softmax(axis=1), lambda a: np.log(softmax(a)), floats(20, 30), rtol=1e-4, atol=1e-5)

    def test_running_sums(self):
        self.check(lambda a: a.cumsum(axis=1), lambda a: a.cumsum(axis=1), floats(7, 600), rtol=1e-4, atol=1e-4)
        self.check(lambda a: a.cumsum(axis=0), lambda a: a.cumsum(axis=0), RANDOM.integers(-9, 9, (33, 4)))

    def test_views(self):
        a = floats(6, 8, 10)
        self.check(lambda a: a.permute(2, 0, 1).contiguous(), lambda a: a.transpose(2, 0, 1), a)
        self.check(lambda a: a[1:5, ::2, -3:], lambda a: a[1:5, ::2, -3:], a)
        self.check(lambda a: a.flip((0, 2)), lambda a: a[::-1, :, ::-1], a)
        self.check(lambda a: a.reshape(48, 10).pad(((1, 2), (3, 4))), lambda a: np.pad(a.reshape(48, 10), ((1, 2), (3, 4))), a)
        self.check(lambda a: a.expand(6, 8, 10).repeat((1, 2, 1)), lambda a: np.tile(a, (1, 2, 1)), a)

    def test_joining(self):
        a, b = floats(4, 5), floats(3, 5)
        self.check(lambda a, b: Tensor.cat(a, b), lambda a, b: np.concatenate([a, b]), a, b)
        self.check(lambda a: Tensor.stack(a, a * 2, dim=1), lambda a: np.stack([a, a * 2], axis=1), a)

    def test_indexing_by_tensors(self):
        a, rows = floats(50, 12), RANDOM.integers(0, 50, 20)
        self.check(lambda a, rows: a[rows], lambda a, rows: a[rows], a, rows)
        columns = RANDOM.integers(0, 12, (50, 3))
        self.check(lambda a, i: a.gather(1, i), lambda a, i: np.take_along_axis(a, i, 1), a, columns)

    def test_scattering(self):
        index = RANDOM.integers(0, 6, 40)
        expected = np.bincount(index, minlength=6)
        got = Tensor.zeros(6, dtype=dtypes.int32).contiguous().scatter_reduce(0, Tensor(index), Tensor.ones(40, dtype=dtypes.int32), "sum")
        np.testing.assert_array_equal(got.numpy(), expected)

    def test_sorting(self):
        a = floats(4, 100)
        self.check(lambda a: a.sort(dim=1)[0], lambda a: np.sort(a, axis=1), a)
        self.check(lambda a: a.topk(5)[0], lambda a: -np.sort(-a, axis=1)[:, :5], a)

    def test_casts(self):
        a = floats(300) * 100
        self.check(lambda a: a.cast(dtypes.int32), lambda a: a.astype(np.int32), a)
        self.check(lambda a: a.cast(dtypes.float16), lambda a: a.astype(np.float16), a)
        self.check(lambda a: a.cast(dtypes.float64) * 3, lambda a: a.astype(np.float64) * 3, a)
        self.check(lambda a: a.int().cast(dtypes.uint8), lambda a: a.astype(np.int32).astype(np.uint8), np.abs(a))
        self.check(lambda a: a.bitcast(dtypes.int32), lambda a: a.view(np.int32), a)

    def test_half_precision(self):
        a, b = floats(32, 32).astype(np.float16), floats(32, 32).astype(np.float16)
        self.check(lambda a, b: a + b, lambda a, b: a + b, a, b)
        self.check(lambda a: a.sum(), lambda a: a.astype(np.float32).sum(), a, rtol=1e-2, atol=5e-2)
        got = Tensor(a).cast(dtypes.bfloat16).float().numpy()
        np.testing.assert_allclose(got, a.astype(np.float32), rtol=2**-7)

    def test_convolution(self):
        x, w = floats(2, 3, 12, 14), floats(5, 3, 3, 3)
        got = Tensor(x).conv2d(Tensor(w), padding=1, stride=2).numpy()
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
        np.testing.assert_allclose(got, np.einsum("nchwij,ocij->nohw", windows, w), rtol=1e-4, atol=1e-4)

    def test_pooling(self):
        x = floats(2, 3, 12, 12)
        blocks = x.reshape(2, 3, 6, 2, 6, 2)
        self.check(lambda x: x.max_pool2d(), lambda x: blocks.max(axis=(3, 5)), x)
        self.check(lambda x: x.avg_pool2d(), lambda x: blocks.mean(axis=(3, 5)), x, atol=1e-5)

    def test_normalisation(self):
        x = floats(10, 64)
        mean, deviation = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
        self.check(lambda x: x.layernorm(), lambda x: (x - mean) / np.sqrt(deviation + 1e-5), x, rtol=1e-4, atol=1e-5)

    def test_attention(self):
        q, k, v = (floats(2, 4, 10, 8) for _ in range(3))

        def attention(q, k, v):
            scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(np.float32(8))
            e = np.exp(scores - scores.max(axis=-1, keepdims=True))
            return e / e.sum(axis=-1, keepdims=True) @ v

        self.check(lambda q, k, v: q.scaled_dot_product_attention(k, v), attention, q, k, v, rtol=1e-4, atol=1e-5)

    def test_large_copies(self):
        a = RANDOM.integers(0, 1 << 30, 1 << 20, dtype=np.int32)
        np.testing.assert_array_equal(Tensor(a).contiguous().numpy(), a)
        np.testing.assert_array_equal((Tensor(a) + 1).numpy(), a + 1)

    def test_empty_and_single(self):
        self.assertAlmostEqual(Tensor(3.0).exp().item(), float(np.exp(3.0)), delta=1e-4)
        self.assertEqual(Tensor([]).sum().item(), 0)

    def test_a_symbolic_length(self):
        size = Variable("size", 1, 64)
        step = TinyJit(lambda a: (a * 2).sum().realize())
        for length in (3, 9, 20, 41, 63):
            a = floats(length)
            got = step(Tensor(np.pad(a, (0, 64 - length)))[: size.bind(length)])
            np.testing.assert_allclose(got.item(), (a * 2).sum(), rtol=1e-4, atol=1e-4)


class TestGradients(unittest.TestCase):
    def gradient(self, compute, *arrays):
        tensors = [Tensor(array) for array in arrays]
        return [gradient.numpy() for gradient in compute(*tensors).gradient(*tensors)]

    def test_of_a_product(self):
        a, b = floats(13, 21), floats(21, 8)
        da, db = self.gradient(lambda a, b: (a @ b).sum(), a, b)
        ones = np.ones((13, 8), dtype=np.float32)
        np.testing.assert_allclose(da, ones @ b.T, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(db, a.T @ ones, rtol=1e-4, atol=1e-4)

    def test_of_a_chain(self):
        (a,) = [floats(100)]
        (da,) = self.gradient(lambda a: (a.tanh() * a.sigmoid()).sum(), a)
        t, s = np.tanh(a), 1 / (1 + np.exp(-a))
        np.testing.assert_allclose(da, (1 - t * t) * s + t * s * (1 - s), rtol=1e-4, atol=1e-5)

    def test_of_a_convolution_by_differences(self):
        x, w = floats(1, 1, 6, 6), floats(1, 1, 3, 3)
        _, dw = self.gradient(lambda x, w: x.conv2d(w).square().sum(), x, w)
        windows = np.lib.stride_tricks.sliding_window_view(x[0, 0], (3, 3)).astype(np.float64)
        out = np.einsum("hwij,ij->hw", windows, w[0, 0])
        np.testing.assert_allclose(dw[0, 0], 2 * np.einsum("hwij,hw->ij", windows, out), rtol=1e-3, atol=1e-3)


class TestRandom(unittest.TestCase):
    def test_a_seed_gives_the_same_numbers(self):
        Tensor.manual_seed(3)
        first = Tensor.rand(1000).numpy()
        Tensor.manual_seed(3)
        np.testing.assert_array_equal(first, Tensor.rand(1000).numpy())

    def test_distributions(self):
        Tensor.manual_seed(4)
        uniform, normal = Tensor.rand(20000).numpy(), Tensor.randn(20000).numpy()
        self.assertTrue(0 <= uniform.min() and uniform.max() < 1)
        self.assertAlmostEqual(uniform.mean(), 0.5, delta=0.02)
        self.assertAlmostEqual(normal.mean(), 0, delta=0.05)
        self.assertAlmostEqual(normal.std(), 1, delta=0.05)

    def test_dropout_keeps_the_mean(self):
        Tensor.manual_seed(5)
        with Tensor.train():
            dropped = Tensor.ones(20000).dropout(0.25).numpy()
        self.assertAlmostEqual((dropped == 0).mean(), 0.25, delta=0.02)
        self.assertAlmostEqual(dropped.mean(), 1, delta=0.03)


class TestTraining(unittest.TestCase):
    def test_a_graph_replays_with_new_inputs(self):
        @TinyJit
        def layers(x, a, b):
            return ((x @ a).relu() @ b).softmax().realize()

        a, b = floats(32, 48), floats(48, 10)
        ta, tb = Tensor(a).realize(), Tensor(b).realize()
        for _ in range(6):
            x = floats(8, 32)
            got = layers(Tensor(x).realize(), ta, tb).numpy()
            out = np.maximum(x @ a, 0) @ b
            e = np.exp(out - out.max(axis=1, keepdims=True))
            np.testing.assert_allclose(got, e / e.sum(axis=1, keepdims=True), rtol=1e-3, atol=1e-5)

    def test_a_multilayer_perceptron_learns(self):
        Tensor.manual_seed(2)
        layers = [nn.Linear(2, 16), nn.Linear(16, 2)]
        optimizer = nn.optim.Adam(nn.state.get_parameters(layers), lr=0.05)
        x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 4, dtype=np.float32)
        y = np.array([0, 1, 1, 0] * 4)

        @TinyJit
        @Tensor.train()
        def step(x, y):
            optimizer.zero_grad()
            loss = layers[1](layers[0](x).tanh()).sparse_categorical_crossentropy(y).backward()
            return loss.realize(*optimizer.schedule_step())

        tx, ty = Tensor(x).realize(), Tensor(y).realize()
        losses = [step(tx, ty).item() for _ in range(60)]
        self.assertLess(losses[-1], 0.1)
        got = layers[1](layers[0](tx).tanh()).argmax(axis=1).numpy()
        np.testing.assert_array_equal(got, y)

    def test_a_convolutional_network_in_a_graph_trains_as_without(self):
        step, images, labels = training(batch=4)
        in_graph = [step(images, labels).item() for _ in range(5)]
        step, images, labels = training(batch=4)
        plain = [step.fxn(images, labels).item() for _ in range(5)]
        np.testing.assert_allclose(in_graph, plain, rtol=1e-5)
        self.assertLess(in_graph[-1], in_graph[0])


if __name__ == "__main__":
    unittest.main()
