"""The same as `test_tinygrad.py`, with kernels in PTX that tinygrad writes itself."""

import os

os.environ["DEV"] = "CUDA:PTX"

import test_tinygrad  # noqa: E402: it reads the variable


class TestOperators(test_tinygrad.TestOperators):
    pass


class TestGradients(test_tinygrad.TestGradients):
    pass


class TestRandom(test_tinygrad.TestRandom):
    pass


class TestTraining(test_tinygrad.TestTraining):
    pass
