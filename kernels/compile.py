#!/usr/bin/env python3
"""Compile one CUDA C file to PTX with NVRTC. Needs no GPU, no driver, no network.

    compile.py SOURCE OUTPUT --arch compute_75 --folder kernels [--fast-math]

Run by `cargo xtask kernels` with the python of a virtual environment that has the NVRTC wheel. One process
compiles one file: NVRTC numbers call sequences across a process, and the output shall not depend on what was
compiled before. NVRTC puts the working directory before the source's name in `.file`; that is replaced by
the source's folder in the workspace, so that no machine's path gets into the PTX.
"""
import argparse
import ctypes
import pathlib
import re
import site
import sys


def open_nvrtc():
    """The NVRTC library of this python's own wheel, with its companion loaded first so that it is found."""
    for root in site.getsitepackages():
        folder = pathlib.Path(root, "nvidia", "cuda_nvrtc", "lib")
        library = folder / "libnvrtc.so.12"
        if library.exists():
            for companion in folder.glob("libnvrtc-builtins.so*"):
                ctypes.CDLL(str(companion), mode=ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(str(library))
    sys.exit("libnvrtc.so.12 is not in this python's environment: install nvidia-cuda-nvrtc-cu12")


class Program:
    """One translation unit in NVRTC."""

    def __init__(self, text, name):
        self.lib = open_nvrtc()
        self.lib.nvrtcGetErrorString.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p()
        self.must(self.lib.nvrtcCreateProgram(ctypes.byref(self.handle), text.encode(), name.encode(), 0, None, None))

    def must(self, code, log=""):
        if code:
            sys.exit(f"nvrtc: {self.lib.nvrtcGetErrorString(code).decode()}\n{log}")

    def compile(self, options):
        array = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        code = self.lib.nvrtcCompileProgram(self.handle, len(options), array)
        log = self.text("ProgramLog")
        self.must(code, log)
        return self.text("PTX"), log

    def text(self, what):
        size = ctypes.c_size_t()
        self.must(getattr(self.lib, f"nvrtcGet{what}Size")(self.handle, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(size.value)
        self.must(getattr(self.lib, f"nvrtcGet{what}")(self.handle, buffer))
        return buffer.value.decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--arch", required=True)
    parser.add_argument("--folder", required=True, help="the source's folder, as the PTX shall name it")
    parser.add_argument("--fast-math", action="store_true")
    arguments = parser.parse_args()

    options = [f"--gpu-architecture={arguments.arch}", "-lineinfo"]
    if arguments.fast_math:
        options.append("--use_fast_math")
    name = arguments.source.name
    ptx, log = Program(arguments.source.read_text(), name).compile(options)
    ptx = re.sub(r'(\.file\s+\d+ )"[^"]*' + re.escape(name) + '"', rf'\1"{arguments.folder}/{name}"', ptx)
    if log.strip("\0 \n"):
        print(log, file=sys.stderr)
    arguments.output.write_text(ptx)


if __name__ == "__main__":
    main()
