#!/usr/bin/env python3
"""Makes checkpoints of a Llama-like model with made-up weights, in the layout that people have on disk, and says what a plain
PyTorch model makes of them.

    checkpoint.py fixtures FOLDER     the small ones that the tests decode with, and what is expected of them
    checkpoint.py large FOLDER        one of the sizes of a 1-billion-parameter model (2.5 GB), without expectations
    checkpoint.py compare FOLDER      holds the model below against transformers' LlamaForCausalLM on each of the fixtures

`fixtures` and `large` need torch and nothing else; the safetensors files are written by hand. `compare` needs transformers and
was run on fixtures of this script with torch 2.15.0 and transformers 5.22.2, in double precision; it printed:

    bf16: logits of 94 positions at most 1.4e-06 of the largest apart, same likeliest tokens: True, same tokens of the prompt: True
    f16: logits of 66 positions at most 1.7e-06 of the largest apart, same likeliest tokens: True, same tokens of the prompt: True
    f32: logits of 103 positions at most 9.6e-07 of the largest apart, same likeliest tokens: True, same tokens of the prompt: True

(transformers turns positions by sines in single precision.)

In each folder of the fixtures there is, besides the checkpoint, expected.safetensors:

    prompt      the prompt's bytes                       tokens       64 tokens, the likeliest each time, in double precision
    given       its tokens                               logits       what was thought of all tokens before each fourth of them
    apart       how far PyTorch's logits in the weights' own type are from those in double precision, at most, when it is fed
                the same tokens: the largest difference of a step over the largest logit of the step
    margin      the least distance of the likeliest from the next, over the largest logit of the step
"""
import argparse
import json
import math
import pathlib
import struct

import torch

NAMES = {torch.bfloat16: "BF16", torch.float16: "F16", torch.float32: "F32", torch.int64: "I64", torch.uint8: "U8",
         torch.float64: "F64"}
TYPES = {"bf16": (torch.bfloat16, "bfloat16"), "f16": (torch.float16, "float16"), "f32": (torch.float32, "float32")}
NEW = 64
# The logits of every so-manieth step are kept.
EVERY = 4
# The likeliest token is so far before the next, over the largest logit: well more than rounding can move them.
MARGIN = 6e-3

MERGES = ["Ġ t", "h e", "i n", "e r", "Ġt he", "o n", "Ġ a", "r e", "a t", "e n", "o r", "Ġ w", "i s", "Ġ s", "a n", "i t",
          "Ġ b", "e s", "Ġ c", "in g"]
# The first special token. A token more than there are: vocab_size may be larger than the tokenizer's.
BEGIN = 256 + len(MERGES)
VOCABULARY = BEGIN + 3 + 1

# Frequencies that are low, between and high at these sizes.
LLAMA3 = {"factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 64,
          "rope_type": "llama3"}
# What differs between the fixtures: a head that is not hidden_size / heads, tied embeddings or not, scaled positions or not, end
# tokens as a number, a list or in generation_config.json, files in one or two parts.
FIXTURES = {
    "bf16": dict(dim=64, layers=2, heads=4, kv_heads=2, head=16, hidden=64, tied=True, scaling=LLAMA3, theta=10000.0,
                 eos=[BEGIN + 1, BEGIN + 2], parts=2, prompt="Da capo al fine: höre, was \N{WHITE SMILING FACE} ist"),
    "f16": dict(dim=32, layers=3, heads=2, kv_heads=1, head=16, hidden=40, tied=False, scaling=None, theta=500.0, eos=BEGIN + 1,
                parts=1, prompt="x"),
    "f32": dict(dim=16, layers=2, heads=4, kv_heads=1, head=16, hidden=24, tied=False, scaling=None, theta=10000.0,
                eos=None, parts=1, prompt="The five boxing wizards jump quickly. 12345"),
}
# The sizes of Llama-3.2-1B.
LARGE = dict(dim=2048, layers=16, heads=32, kv_heads=8, head=64, hidden=8192, tied=True, theta=500000.0, eos=[BEGIN + 1, BEGIN + 2],
             scaling={"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                      "original_max_position_embeddings": 8192, "rope_type": "llama3"})


def byte_letters():
    """The letters that byte-level tokenizers write bytes with."""
    kept = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    others = [byte for byte in range(256) if byte not in kept]
    return {**{byte: chr(byte) for byte in kept}, **{byte: chr(256 + i) for i, byte in enumerate(others)}}


def tokenizer():
    """A byte-level BPE tokenizer in the manner of Llama 3: bytes, some merges, three special tokens; it puts the first special
    token before every text."""
    vocab = {letter: byte for byte, letter in byte_letters().items()}
    special = ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"]
    for i, merge in enumerate(MERGES):
        vocab[merge.replace(" ", "")] = 256 + i
    added = [{"id": BEGIN + i, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": True} for i, content in enumerate(special)]
    pattern = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
               r"|\s+(?!\S)|\s+")
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    begin = {"SpecialToken": {"id": special[0], "type_id": 0}}
    template = {"type": "TemplateProcessing", "single": [begin, {"Sequence": {"id": "A", "type_id": 0}}],
                "pair": [begin, {"Sequence": {"id": "A", "type_id": 0}}, begin, {"Sequence": {"id": "B", "type_id": 1}}],
                "special_tokens": {special[0]: {"id": special[0], "ids": [BEGIN], "tokens": [special[0]]}}}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
             "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": vocab,
             "merges": [merge.split(" ") for merge in MERGES]}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, level]}, "post_processor": template,
            "decoder": {**level, "use_regex": True}, "model": model}


def config(of, kind, vocabulary, positions):
    made = {"architectures": ["LlamaForCausalLM"], "attention_bias": False, "attention_dropout": 0.0, "bos_token_id": BEGIN,
            "eos_token_id": of["eos"], "head_dim": of["head"], "hidden_act": "silu", "hidden_size": of["dim"],
            "initializer_range": 0.02, "intermediate_size": of["hidden"], "max_position_embeddings": positions,
            "mlp_bias": False, "model_type": "llama", "num_attention_heads": of["heads"], "num_hidden_layers": of["layers"],
            "num_key_value_heads": of["kv_heads"], "pretraining_tp": 1, "rms_norm_eps": 1e-05,
            "rope_scaling": of["scaling"], "rope_theta": of["theta"], "tie_word_embeddings": of["tied"],
            "torch_dtype": TYPES[kind][1], "transformers_version": "4.45.0", "use_cache": True, "vocab_size": vocabulary}
    if of["head"] * of["heads"] == of["dim"]:
        del made["head_dim"]
    return made


def shapes(of, vocabulary):
    """Names and shapes of all tensors, in the order of a file."""
    dim, all_heads, kv = of["dim"], of["heads"] * of["head"], of["kv_heads"] * of["head"]
    yield "model.embed_tokens.weight", [vocabulary, dim]
    for i in range(of["layers"]):
        layer = f"model.layers.{i}."
        yield layer + "input_layernorm.weight", [dim]
        yield layer + "self_attn.q_proj.weight", [all_heads, dim]
        yield layer + "self_attn.k_proj.weight", [kv, dim]
        yield layer + "self_attn.v_proj.weight", [kv, dim]
        yield layer + "self_attn.o_proj.weight", [dim, all_heads]
        yield layer + "post_attention_layernorm.weight", [dim]
        yield layer + "mlp.gate_proj.weight", [of["hidden"], dim]
        yield layer + "mlp.up_proj.weight", [of["hidden"], dim]
        yield layer + "mlp.down_proj.weight", [dim, of["hidden"]]
    yield "model.norm.weight", [dim]
    if not of["tied"]:
        yield "lm_head.weight", [vocabulary, dim]


def made_up(name, shape, dtype, generator, device="cpu"):
    """Numbers that neither grow nor vanish through the layers."""
    if len(shape) == 1:
        return (1.0 + 0.2 * torch.randn(shape, generator=generator, device=device)).to(dtype)
    scale = 1.2 / math.sqrt(shape[1])
    if "embed_tokens" in name:
        # Small, so that the layers have their say also where the logits are products with this table.
        scale = 0.1
    return torch.randn(shape, generator=generator, device=device, dtype=torch.float32).mul_(scale).to(dtype)


def write_safetensors(path, tensors):
    """`tensors` is a list of (name, type, shape, a function that makes it): one is in memory at a time."""
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, dtype, shape, _ in tensors:
        end = at + math.prod(shape) * torch.empty(0, dtype=dtype).element_size()
        header[name] = {"dtype": NAMES[dtype], "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, _, make in tensors:
            file.write(make().contiguous().cpu().view(torch.uint8).numpy().data)


def read_safetensors(path):
    kinds = {name: dtype for dtype, name in NAMES.items()}
    data = bytearray(pathlib.Path(path).read_bytes())
    length, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    return {name: torch.frombuffer(data, dtype=torch.uint8)[8 + length + of["data_offsets"][0]:8 + length + of["data_offsets"][1]]
            .clone().view(kinds[of["dtype"]]).reshape(of["shape"]) for name, of in header.items()}


def write(folder, of, kind, vocabulary, positions, seed, device="cpu", parts=1):
    folder.mkdir(parents=True, exist_ok=True)
    dtype = TYPES[kind][0]
    generator = torch.Generator(device=device).manual_seed(seed)
    tensors = [(name, dtype, shape, lambda n=name, s=shape: made_up(n, s, dtype, generator, device))
               for name, shape in shapes(of, vocabulary)]
    if parts == 1:
        write_safetensors(folder / "model.safetensors", tensors)
    else:
        cut, names = len(tensors) // parts, {}
        for part in range(parts):
            name = f"model-{part + 1:05}-of-{parts:05}.safetensors"
            mine = tensors[part * cut:(part + 1) * cut if part + 1 < parts else None]
            write_safetensors(folder / name, mine)
            names.update({tensor[0]: name for tensor in mine})
        total = sum(file.stat().st_size for file in folder.glob("model-*"))
        index = {"metadata": {"total_size": total}, "weight_map": names}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1) + "\n")
    (folder / "config.json").write_text(json.dumps(config(of, kind, vocabulary, positions), indent=2) + "\n")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer(), ensure_ascii=False, separators=(",", ":")) + "\n")


class Model:
    """The model, written out. Everything is computed in `dtype`; frequencies always in double precision."""

    def __init__(self, folder, dtype):
        self.config = json.loads((folder / "config.json").read_text())
        self.w = {}
        for file in sorted(folder.glob("model*.safetensors")):
            self.w.update({name: tensor.to(dtype) for name, tensor in read_safetensors(file).items()})
        self.dtype, self.head = dtype, self.config.get("head_dim") or self.config["hidden_size"] // self.config["num_attention_heads"]

    def frequencies(self):
        half = torch.arange(0, self.head, 2, dtype=torch.float64)
        frequency = self.config["rope_theta"] ** (-half / self.head)
        scaling = self.config["rope_scaling"]
        if scaling is None:
            return frequency
        low, high, original = (scaling[key] for key in ("low_freq_factor", "high_freq_factor", "original_max_position_embeddings"))
        turns = original * frequency / (2 * math.pi)
        kept = ((turns - low) / (high - low)).clamp(0.0, 1.0)
        return (1 - kept) * frequency / scaling["factor"] + kept * frequency

    def norm(self, x, gain):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.config["rms_norm_eps"]) * gain

    def turn(self, x, cosine, sine):
        a, b = x.chunk(2, -1)
        return torch.cat([a * cosine - b * sine, b * cosine + a * sine], -1)

    def logits(self, tokens):
        """What is thought of the next token, behind each of `tokens`."""
        c, w, n = self.config, self.w, len(tokens)
        heads, kv_heads, head = c["num_attention_heads"], c["num_key_value_heads"], self.head
        angle = torch.arange(n, dtype=torch.float64)[:, None] * self.frequencies()
        cosine, sine = angle.cos().to(self.dtype), angle.sin().to(self.dtype)
        mask = torch.full((n, n), -math.inf, dtype=self.dtype).triu(1)
        x = w["model.embed_tokens.weight"][torch.tensor(tokens)]
        for i in range(c["num_hidden_layers"]):
            layer = lambda name: w[f"model.layers.{i}.{name}.weight"]
            y = self.norm(x, layer("input_layernorm"))
            q, k, v = ((y @ layer(f"self_attn.{name}_proj").T).view(n, -1, head).transpose(0, 1) for name in "qkv")
            q, k = self.turn(q, cosine, sine), self.turn(k, cosine, sine)
            k, v = (z.repeat_interleave(heads // kv_heads, 0) for z in (k, v))
            scores = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(head) + mask, -1)
            x = x + (scores @ v).transpose(0, 1).reshape(n, -1) @ layer("self_attn.o_proj").T
            y = self.norm(x, layer("post_attention_layernorm"))
            y = torch.nn.functional.silu(y @ layer("mlp.gate_proj").T) * (y @ layer("mlp.up_proj").T)
            x = x + y @ layer("mlp.down_proj").T
        last = w["model.embed_tokens.weight" if c["tie_word_embeddings"] else "lm_head.weight"]
        return self.norm(x, w["model.norm.weight"]) @ last.T


def encode(text):
    """As the tokenizer above does it: merges within words of its pattern; here by trying them in order on each word."""
    import re
    letters, words = byte_letters(), re.findall(r" ?[^\W\d_]+|\d{1,3}| ?[^\s\w]+|\s+", text)
    made = tokenizer()["model"]["vocab"]
    tokens = [BEGIN]
    for word in words:
        parts = [letters[byte] for byte in word.encode()]
        for merge in MERGES:
            a, b = merge.split(" ")
            i = 0
            while i + 1 < len(parts):
                if parts[i] == a and parts[i + 1] == b:
                    parts[i:i + 2] = [a + b]
                i += 1
        tokens += [made[part] for part in parts]
    return tokens


def greedy(model, given, ends):
    """The likeliest tokens. None where two are too close to call, the text ends, or it is a short loop."""
    tokens = list(given)
    for _ in range(NEW):
        logits = model.logits(tokens)[-1]
        (first, second), (token, _) = logits.topk(2)
        if first - second < MARGIN * logits.abs().max() or int(token) in ends or len(tokens) > 14 and len(set(tokens[-12:])) < 5:
            return None
        tokens.append(int(token))
    return tokens[len(given):] if len(set(tokens[len(given):])) >= 16 else None


def expect(folder, of, kind):
    """Says what is expected; None where these weights make no good example."""
    ends = of["eos"] if isinstance(of["eos"], list) else [of["eos"]]
    exact, given = Model(folder, torch.float64), encode(of["prompt"])
    tokens = greedy(exact, given, ends)
    if tokens is None:
        return None
    fed = given + tokens[:-1]
    logits = exact.logits(fed)[len(given) - 1:]
    largest = logits.abs().amax(-1)
    two = logits.topk(2, -1).values
    margin = float(((two[:, 0] - two[:, 1]) / largest).min())
    own = Model(folder, TYPES[kind][0]).logits(fed)[len(given) - 1:].double()
    apart = float(((own - logits).abs().amax(-1) / largest).max())
    f64 = lambda x: torch.tensor([x], dtype=torch.float64)
    prompt = torch.tensor(list(of["prompt"].encode()), dtype=torch.uint8)
    made = {"prompt": prompt, "given": torch.tensor(given), "tokens": torch.tensor(tokens), "logits": logits[::EVERY].float(),
            "apart": f64(apart), "margin": f64(margin)}
    write_safetensors(folder / "expected.safetensors",
                      [(name, x.dtype, list(x.shape), lambda x=x: x) for name, x in sorted(made.items(), key=lambda of: -of[1].element_size())])
    return margin, apart, len(set(tokens))


def fixtures(root):
    for kind, of in FIXTURES.items():
        for seed in range(20000):
            write(root / kind, of, kind, VOCABULARY, 160, seed, parts=of["parts"])
            made = expect(root / kind, of, kind)
            if made:
                break
        print(f"{kind}: seed {seed}, margin {made[0]:.2e}, {kind} apart {made[1]:.2e}, {made[2]} different tokens")
    # The end tokens of the first are in a file of their own, as newer checkpoints have them.
    (root / "bf16" / "generation_config.json").write_text(json.dumps({"bos_token_id": BEGIN, "eos_token_id": [BEGIN + 1, BEGIN + 2]}) + "\n")


def large(root):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    write(root, LARGE, "bf16", 128256, 131072, 1, device)
    print(sum(file.stat().st_size for file in root.iterdir()), "bytes")


def compare(root):
    import transformers
    print(f"torch {torch.__version__.split('+')[0]}, transformers {transformers.__version__}")
    for kind in FIXTURES:
        folder = root / kind
        given = read_safetensors(folder / "expected.safetensors")
        tokens = torch.cat([given["given"], given["tokens"]])
        theirs = transformers.LlamaForCausalLM.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager")
        theirs = theirs(tokens[None]).logits[0].double()
        ours = Model(folder, torch.float64).logits(tokens.tolist())
        apart = float(((ours - theirs).abs().amax(-1) / theirs.abs().amax(-1)).max())
        prompt = bytes(given["prompt"].tolist()).decode()
        encoded = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))(prompt)["input_ids"]
        print(f"{kind}: logits of {len(tokens)} positions at most {apart:.1e} of the largest apart, same likeliest tokens: "
              f"{bool((ours.argmax(-1) == theirs.argmax(-1)).all())}, same tokens of the prompt: {encoded == given['given'].tolist()}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["fixtures", "large", "compare"])
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    {"fixtures": fixtures, "large": large, "compare": compare}[arguments.what](arguments.folder)
