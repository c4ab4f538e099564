#!/usr/bin/env python3
"""The decode step of `dacapo-bench --only gpt2`, as PyTorch makes it: a whole step in one CUDA graph.

    torch_decode.py [--batches 1,8,32] [--ways eager,compiled,tuned,max-autotune] [--blocks 21] [--launches 40] [--limit 150]
    torch_decode.py --check

Sizes, weights and what a step does are those of examples/decode, gpt2/ (weights.rs has the formula): GPT-2-small's sizes in
bf16, every sequence at position 99 of a cache of 128, keys and values written, the likeliest token at the end. The position is
device memory on both sides. A line of JSON for each figure:

- torch_decode_work: sizes, types and counts of what is measured, taken from the model itself.
- torch_decode_step: time of a step in replays back to back, median over blocks, by events on the device. Ways: `eager`, a graph
  of PyTorch's own kernels; `compiled`, torch.compile as it comes; `tuned`, with coordinate descent tuning on top, as gpt-fast
  does; `max-autotune`, its mode max-autotune-no-cudagraphs. All are captured into one graph here.
- torch_decode_skipped: a way that failed, or was not ready after --limit seconds.

With --check no GPU is needed: only the work, and the logits of a small model, in f32 and in bf16. Its output is committed as
torch-decode.jsonl, and examples/decode/tests/torch.rs holds both sides against it.
"""
import argparse
import gc
import json
import signal
import time

import torch
import torch.nn.functional as F

MASK, HEAD, SEED, EPSILON = 0xFFFFFFFF, 64, 1, 1e-5
SMALL = {"layers": 12, "dim": 768, "hidden": 3072, "vocabulary": 50257, "context": 128}
TINY = {"layers": 2, "dim": 128, "hidden": 160, "vocabulary": 75, "context": 40}
POSITION, TINY_STEPS = 99, 6


def emit(figure, **fields):
    print(json.dumps({"figure": figure, **fields}), flush=True)


def mix(x):
    """The finalizer of MurmurHash3 (Appleby, public domain), on tensors of 64 bits or on plain numbers."""
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & MASK
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & MASK
    return x ^ (x >> 16)


def numbers(matrix, count, middle, width, device):
    """As weights.rs, before they are rounded to bf16."""
    start = mix(mix((SEED + (matrix + 1) * 0x9E3779B9) & MASK))
    bits = mix((start + torch.arange(count, dtype=torch.int64, device=device)) & MASK)
    return ((bits >> 8).to(torch.float32) / (1 << 23) - 1.0) * width + middle


class Block(torch.nn.Module):
    def __init__(self, dim, hidden, context, batch):
        super().__init__()
        linear = lambda inputs, outputs: torch.nn.Linear(inputs, outputs, bias=False)
        self.attention_norm, self.mlp_norm = torch.nn.RMSNorm(dim, eps=EPSILON), torch.nn.RMSNorm(dim, eps=EPSILON)
        self.qkv, self.out = linear(dim, 3 * dim), linear(dim, dim)
        self.up, self.down = linear(dim, hidden), linear(hidden, dim)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(batch, dim // HEAD, context, HEAD))

    def forward(self, x, position, mask):
        batch, _, dim = x.shape
        qkv = self.qkv(self.attention_norm(x)).view(batch, 1, 3, dim // HEAD, HEAD)
        q, k, v = (part.transpose(1, 2) for part in qkv.unbind(2))
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        attended = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, 1, dim))
        return x + self.down(F.gelu(self.up(self.mlp_norm(x))))


class Gpt2(torch.nn.Module):
    def __init__(self, layers, dim, hidden, vocabulary, context, batch):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocabulary, dim)
        self.blocks = torch.nn.ModuleList(Block(dim, hidden, context, batch) for _ in range(layers))
        self.norm = torch.nn.RMSNorm(dim, eps=EPSILON)
        self.head = torch.nn.Linear(dim, vocabulary, bias=False)
        self.register_buffer("places", torch.arange(context))

    def logits(self, token, position):
        x, mask = self.embedding(token), (self.places <= position)[None, None, None, :]
        for block in self.blocks:
            x = block(x, position, mask)
        return self.head(self.norm(x))

    def forward(self, token, position):
        return self.logits(token, position).argmax(-1)

    @torch.no_grad()
    def by_formula(self):
        """Fills the weights as weights.rs does: embedding, head, last norm, then six a layer."""
        parts = [(self.embedding.weight, 0, None), (self.head.weight, 1, 2.0), (self.norm.weight, 2, "gain")]
        for layer, b in enumerate(self.blocks):
            inside = (b.attention_norm, b.qkv, b.out, b.mlp_norm, b.up, b.down)
            kinds = ("gain", 1.0, 1.0, "gain", 1.0, 1.0)
            parts += [(part.weight, 6 * layer + 3 + at, kind) for at, (part, kind) in enumerate(zip(inside, kinds))]
        for weight, matrix, kind in parts:
            inputs = torch.tensor(float(weight.shape[-1]))
            if kind is None:
                middle, width = 0.0, 1.0
            elif kind == "gain":
                middle, width = 1.0, 0.125
            else:
                middle, width = 0.0, (kind * torch.sqrt(3.0 / inputs)).item()
            values = numbers(matrix, weight.numel(), middle, width, weight.device).view_as(weight)
            weight.copy_(values.to(torch.bfloat16).to(weight.dtype))
        return self


def model(shape, batch, device, dtype):
    with torch.device(device):
        made = Gpt2(**shape, batch=batch)
    made = made.to(dtype).eval()
    return made if device == "meta" else made.by_formula()


def work(shape, batch, made):
    """What is measured, read off the model and not off the constants above."""
    block = made.blocks[0]
    count = sum(p.numel() for p in made.parameters())
    emit(
        "torch_decode_work", batch=block.keys.shape[0], layers=len(made.blocks), dim=block.qkv.weight.shape[1],
        heads=block.keys.shape[1], head=block.keys.shape[3], hidden=block.up.weight.shape[0],
        vocabulary=made.head.weight.shape[0], context=block.keys.shape[2], position=POSITION,
        dtype=str(made.head.weight.dtype).removeprefix("torch."), cache=str(block.keys.dtype).removeprefix("torch."),
        activation="gelu", approximate="none", norm="rms", epsilon=block.mlp_norm.eps, parameters=count,
        weights_read=count - made.embedding.weight.numel(), choice="argmax",
    )


def check():
    for batch in (1, 8, 32):
        work(SMALL, batch, model(SMALL, batch, "meta", torch.bfloat16))
    for dtype in (torch.float32, torch.bfloat16):
        made = model(TINY, 1, "cpu", dtype)
        with torch.inference_mode():
            for at in range(TINY_STEPS):
                token = (31 * at + 3) % TINY["vocabulary"]
                logits = made.logits(torch.tensor([[token]]), torch.tensor([at]))[0, 0]
                emit("torch_decode_logits", dtype=str(dtype).removeprefix("torch."), position=at, token=token,
                     logits=[round(x, 6) for x in logits.float().tolist()], **TINY)


WAYS = {
    "eager": lambda made: made,
    "compiled": lambda made: torch.compile(made, fullgraph=True),
    "tuned": lambda made: torch.compile(made, fullgraph=True, options={"coordinate_descent_tuning": True}),
    "max-autotune": lambda made: torch.compile(made, fullgraph=True, mode="max-autotune-no-cudagraphs"),
}


class Step:
    """A whole step in one graph."""

    def __init__(self, made, way, batch):
        torch._dynamo.reset()
        run = WAYS[way](made)
        token = torch.zeros(batch, 1, dtype=torch.long, device="cuda")
        position = torch.full((1,), POSITION, dtype=torch.long, device="cuda")
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(4):
                run(token, position)
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        self.graph, self.keep = torch.cuda.CUDAGraph(), (run, token, position)
        with torch.cuda.graph(self.graph):
            self.chosen = run(token, position)

    def block(self, launches):
        """Microseconds a step by the device's clock."""
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        start.record()
        for _ in range(launches):
            self.graph.replay()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) * 1e3 / launches


def spread(values):
    values = sorted(values)
    place = lambda fraction: round(values[int(fraction * (len(values) - 1))], 4)
    return {"median": place(0.5), "p10": place(0.1), "p90": place(0.9), "min": round(values[0], 4), "blocks": len(values)}


def out_of_time(*_):
    raise TimeoutError("not ready in time")


@torch.inference_mode()
def measure(arguments):
    signal.signal(signal.SIGALRM, out_of_time)
    for batch in arguments.batches:
        made = model(SMALL, batch, "cuda", torch.bfloat16)
        work(SMALL, batch, made)
        steps = {}
        for way in arguments.ways:
            began = time.perf_counter()
            signal.alarm(arguments.limit)
            try:
                steps[way] = Step(made, way, batch)
            except Exception as error:  # one way must not take the others down
                emit("torch_decode_skipped", batch=batch, way=way, why=f"{type(error).__name__}: {error}"[:300])
            signal.alarm(0)
            emit("torch_decode_ready", batch=batch, way=way, seconds=round(time.perf_counter() - began, 1))
        times = {way: [] for way in steps}
        for step in steps.values():
            step.block(arguments.launches)
        for block in range(arguments.blocks):
            for way in list(steps) if block % 2 == 0 else list(steps)[::-1]:
                times[way].append(steps[way].block(arguments.launches))
        for way, values in times.items():
            chosen = steps[way].chosen.flatten()[:4].tolist()
            emit("torch_decode_step", batch=batch, way=way, unit="us", clock="device", chosen=chosen, **spread(values))
        del made, steps
        gc.collect()
        torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    split = lambda text: text.split(",")
    parser.add_argument("--batches", type=lambda text: [int(part) for part in split(text)], default=[1, 8, 32])
    parser.add_argument("--ways", type=split, default=list(WAYS), help="which of " + ", ".join(WAYS))
    parser.add_argument("--blocks", type=int, default=21, help="alternating blocks of each way")
    parser.add_argument("--launches", type=int, default=40, help="steps of a block")
    parser.add_argument("--limit", type=int, default=150, help="seconds that a way may take to get ready")
    parser.add_argument("--check", action="store_true", help="the work and a small model's logits, without a GPU")
    arguments = parser.parse_args()
    if arguments.check:
        return check()
    torch.set_float32_matmul_precision("high")
    emit("torch_env", torch=torch.__version__, cuda=torch.version.cuda, device=torch.cuda.get_device_name(0))
    measure(arguments)
    emit("done")


if __name__ == "__main__":
    main()
