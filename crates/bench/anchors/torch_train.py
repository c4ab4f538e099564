#!/usr/bin/env python3
"""The training steps of `dacapo-bench --only train`, as PyTorch makes them: a whole step in one CUDA graph.

    torch_train.py [--blocks 21] [--launches 40] [--fastest [--limit 120]]
    torch_train.py --check

Same sizes, first parameters and data as examples/train (data.rs has the formula), Adam at 1e-3, mean square loss. A line of
JSON for each figure:

- torch_train_step: time of a step in replays back to back, median over blocks; by events on the device and by the host's
  clock. Each of PyTorch's two ways to run Adam in a graph (foreach, fused), with and without tf32.
- torch_train_result: the losses of the first ten steps, and every so many parameters one after them.

With --fastest only torch_train_fastest: cuDNN's nn.GRU in place of cells, and both models by torch.compile, as it comes and in
its mode max-autotune-no-cudagraphs (the graph is captured here), with tf32 and fused Adam. The losses of the first ten steps
stand beside each time. A way that failed, or was not ready after --limit seconds, is torch_train_skipped. Before them,
torch_train_work: sizes and counts of what is trained, taken from the model itself. --check prints these alone and needs no GPU;
they are committed as torch-train.jsonl, and a test of dacapo-bench compares them with examples/train.
"""
import argparse
import json
import signal
import time

import torch

HIDDEN, BATCH, TIME, LAYERS, SEED, RATE = 256, 32, 16, 4, 1, 1e-3
STEPS, TOLD = 10, 1024
MASK = 0xFFFFFFFF


def emit(figure, **fields):
    print(json.dumps({"figure": figure, **fields}), flush=True)


def mix(x):
    """The finalizer of MurmurHash3 (Appleby, public domain), on tensors of 64 bits or on plain numbers."""
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & MASK
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & MASK
    return x ^ (x >> 16)


def numbers(purpose, count, width):
    """As data.rs: parameters are purpose 1, inputs 2, targets 3."""
    start = mix(mix((SEED + purpose * 0x9E3779B9) & MASK))
    bits = mix((start + torch.arange(count, dtype=torch.int64)) & MASK)
    return ((bits >> 8).to(torch.float32) / (1 << 23) - 1.0) * torch.tensor(width, dtype=torch.float32)


def check_formula():
    assert [mix(0), mix(1), mix(0x9E3779B9)] == [0, 0x514E28B7, 0x92CA2F0E]
    first = numbers(1, 4, 1.0) * (1 << 23)
    assert first.tolist() == [6050562.0, -3899370.0, 4264703.0, 6293690.0], first


class Gru(torch.nn.Module):
    """A GRU written as cells, and a linear layer over the last state."""

    def __init__(self):
        super().__init__()
        self.cell = torch.nn.GRUCell(HIDDEN, HIDDEN)
        self.output = torch.nn.Linear(HIDDEN, HIDDEN)

    def forward(self, x):
        h = torch.zeros(BATCH, HIDDEN, device=x.device)
        for t in range(TIME):
            h = self.cell(x[t], h)
        return self.output(h)

    def in_order(self):
        c, o = self.cell, self.output
        return [c.weight_ih, c.bias_ih, c.weight_hh, c.bias_hh, o.weight, o.bias]

    answers = BATCH


class CudnnGru(torch.nn.Module):
    """The same GRU as one call, which cuDNN runs."""

    def __init__(self):
        super().__init__()
        self.gru = torch.nn.GRU(HIDDEN, HIDDEN)
        self.output = torch.nn.Linear(HIDDEN, HIDDEN)

    def forward(self, x):
        states, _ = self.gru(x)
        return self.output(states[-1])

    def in_order(self):
        g, o = self.gru, self.output
        return [g.weight_ih_l0, g.bias_ih_l0, g.weight_hh_l0, g.bias_hh_l0, o.weight, o.bias]

    answers = BATCH


class Mlp(torch.nn.Module):
    """Linear layers, each with GELU behind it."""

    def __init__(self):
        super().__init__()
        layers = [layer for _ in range(LAYERS) for layer in (torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.GELU())]
        self.layers = torch.nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x.reshape(-1, HIDDEN))

    def in_order(self):
        return list(self.layers.parameters())

    answers = TIME * BATCH


class Step:
    """A whole training step in one graph."""

    def __init__(self, kind, fused, mode=None):
        self.model = kind().cuda()
        self.forward = torch.compile(self.model, mode=mode) if mode else self.model
        self.x = numbers(2, TIME * BATCH * HIDDEN, 1.7320508).reshape(TIME, BATCH, HIDDEN).cuda()
        self.y = numbers(3, kind.answers * HIDDEN, 1.7320508).reshape(-1, HIDDEN).cuda()
        how = {"fused": True} if fused else {"foreach": True}
        self.adam = torch.optim.Adam(self.model.parameters(), lr=RATE, capturable=True, **how)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.adam.zero_grad(set_to_none=True)
                self.once()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        self.adam.zero_grad(set_to_none=True)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = self.once()
        self.start_again()

    def once(self):
        loss = torch.nn.functional.mse_loss(self.forward(self.x), self.y)
        loss.backward()
        self.adam.step()
        return loss

    def start_again(self):
        """First parameters, and an optimiser that has seen nothing, in the memory that the graph knows."""
        tensors = self.model.in_order()
        flat = numbers(1, sum(tensor.numel() for tensor in tensors), HIDDEN**-0.5).cuda()
        with torch.no_grad():
            for tensor, values in zip(tensors, flat.split([tensor.numel() for tensor in tensors])):
                tensor.copy_(values.view_as(tensor))
                for state in self.adam.state[tensor].values():
                    state.zero_()
        torch.cuda.synchronize()

    def result(self):
        self.start_again()
        losses = []
        for _ in range(STEPS):
            self.graph.replay()
            losses.append(self.loss.item())
        flat = torch.cat([tensor.detach().flatten() for tensor in self.model.in_order()]).cpu()
        return {"losses": losses, "parameters_last": flat[:: max(len(flat) // TOLD, 1)].tolist()}

    def block(self, launches):
        """Microseconds a step by the device's clock and by the host's."""
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        began = time.perf_counter()
        start.record()
        for _ in range(launches):
            self.graph.replay()
        end.record()
        torch.cuda.synchronize()
        host = (time.perf_counter() - began) * 1e6 / launches
        return start.elapsed_time(end) * 1e3 / launches, host


def spread(values):
    values = sorted(values)
    place = lambda fraction: round(values[int(fraction * (len(values) - 1))], 4)
    return {"median": place(0.5), "p10": place(0.1), "p90": place(0.9), "min": round(values[0], 4), "blocks": len(values)}


def work(name, model):
    count = sum(parameter.numel() for parameter in model.parameters())
    fields = {"hidden": model.in_order()[0].shape[-1], "parameters": count, "dtype": "float32", "optimiser": "adam"}
    emit("torch_train_work", name=name, batch=BATCH, time=TIME, layers=LAYERS, rate=RATE, **fields)


def out_of_time(*_):
    raise TimeoutError("not ready in time")


def fastest(arguments):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.set_float32_matmul_precision("high")
    modes = {"compiled": "default", "max-autotune": "max-autotune-no-cudagraphs"}
    ways = [("train-gru", "nn.GRU", CudnnGru, None)]
    ways += [(name, way, kind, modes[way]) for name, kind in (("train-mlp", Mlp), ("train-gru", Gru)) for way in modes]
    signal.signal(signal.SIGALRM, out_of_time)
    for name, kind in (("train-gru", Gru), ("train-mlp", Mlp)):
        work(name, kind())
    for name, way, kind, mode in ways:
        torch._dynamo.reset()
        signal.alarm(arguments.limit)
        try:
            step = Step(kind, True, mode)
        except Exception as error:  # one way must not take the others down
            emit("torch_train_skipped", name=name, way=way, why=f"{type(error).__name__}: {error}"[:300])
            continue
        finally:
            signal.alarm(0)
        losses = step.result()["losses"]
        step.block(arguments.launches)
        device, host = zip(*(step.block(arguments.launches) for _ in range(arguments.blocks)))
        fields = {"name": name, "way": way, "tf32": True, "adam": "fused", "unit": "us", "losses": losses}
        emit("torch_train_fastest", clock="device", **fields, **spread(device))
        emit("torch_train_fastest", clock="host", **fields, **spread(host))
    emit("done")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=21, help="alternating blocks of each way")
    parser.add_argument("--launches", type=int, default=40, help="steps of a block")
    parser.add_argument("--fastest", action="store_true", help="only nn.GRU and torch.compile")
    parser.add_argument("--limit", type=int, default=120, help="seconds that a way may take to get ready")
    parser.add_argument("--check", action="store_true", help="only what is trained, without a GPU")
    arguments = parser.parse_args()
    check_formula()
    if arguments.check:
        return [work(name, kind()) for name, kind in (("train-gru", Gru), ("train-mlp", Mlp))]
    emit("torch_env", torch=torch.__version__, cuda=torch.version.cuda, device=torch.cuda.get_device_name(0))
    x = torch.randn(2048, 2048, device="cuda")
    for _ in range(200):
        x @ x
    torch.cuda.synchronize()
    if arguments.fastest:
        return fastest(arguments)
    for name, kind in (("train-gru", Gru), ("train-mlp", Mlp)):
        steps = {}
        for tf32 in (True, False):
            torch.backends.cuda.matmul.allow_tf32 = tf32
            for adam in ("foreach", "fused"):
                steps[tf32, adam] = Step(kind, adam == "fused")
            emit("torch_train_result", name=name, tf32=tf32, **steps[tf32, "foreach"].result())
        times = {way: [] for way in steps}
        for step in steps.values():
            step.block(arguments.launches)
        for block in range(arguments.blocks):
            for way in list(steps) if block % 2 == 0 else list(steps)[::-1]:
                times[way].append(steps[way].block(arguments.launches))
        for (tf32, adam), pairs in times.items():
            device, host = zip(*pairs)
            fields = {"name": name, "tf32": tf32, "adam": adam, "unit": "us"}
            emit("torch_train_step", clock="device", **fields, **spread(device))
            emit("torch_train_step", clock="host", **fields, **spread(host))
    emit("done")


if __name__ == "__main__":
    main()
