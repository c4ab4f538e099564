"""Times a training step of a small convolutional network, which tinygrad replays as a CUDA graph.

    python tinygrad_step.py STEPS

Two steps are run before: the first runs the kernels one by one, the second makes the graph. Prints the seconds of each
step that follows and the loss after it, which depends on nothing but the arithmetic; a line each.
"""

import sys
import time

import numpy as np
from tinygrad import Tensor, TinyJit, nn


class Net:
    def __init__(self):
        self.c1 = nn.Conv2d(1, 8, 3)
        self.c2 = nn.Conv2d(8, 16, 3)
        self.out = nn.Linear(16 * 5 * 5, 10)

    def __call__(self, x):
        x = self.c1(x).relu().max_pool2d()
        x = self.c2(x).relu().max_pool2d()
        return self.out(x.flatten(1))


def training(batch):
    """A step as a function of a batch, and a batch: 28 by 28 dots, 10 classes."""
    Tensor.manual_seed(1)
    net = Net()
    optimizer = nn.optim.SGD(nn.state.get_parameters(net), lr=0.05, momentum=0.9)
    random = np.random.default_rng(1)
    images = Tensor(random.standard_normal((batch, 1, 28, 28), dtype=np.float32)).realize()
    labels = Tensor(random.integers(0, 10, batch)).realize()

    @TinyJit
    @Tensor.train()
    def step(images, labels):
        optimizer.zero_grad()
        loss = net(images).sparse_categorical_crossentropy(labels).backward()
        return loss.realize(*optimizer.schedule_step())

    return step, images, labels


if __name__ == "__main__":
    step, images, labels = training(batch=128)
    for _ in range(2):
        step(images, labels).item()
    for _ in range(int(sys.argv[1])):
        begun = time.monotonic()
        loss = step(images, labels).item()
        print(f"{time.monotonic() - begun:.4f} {loss:.6f}", flush=True)
