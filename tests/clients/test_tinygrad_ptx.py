"""The same as `test_tinygrad.py`, with kernels in PTX that tinygrad writes itself."""

import os

os.environ["DEV"] = "CUDA:PTX"

from test_tinygrad import *  # noqa: E402, F403: the tests of that module are those of this one
