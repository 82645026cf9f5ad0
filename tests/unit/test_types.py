# SPDX-License-Identifier: MIT
"""What the runtime's macros must reject when compiling, beside the same line done right."""
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPILER = ["gcc", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-xc", "-", "-Idrivers/include",
            "-Ilib/gpgpu/include"]
PROGRAM = """
#include "gpgpu/runtime.h"
int f(struct gpgpu_context *ctx, struct gpgpu_kernel *kernel, const int32_t *in, int32_t *out, float *floats,
      size_t size, gpgpu_addr_t addr);
int f(struct gpgpu_context *ctx, struct gpgpu_kernel *kernel, const int32_t *in, int32_t *out, float *floats,
      size_t size, gpgpu_addr_t addr)
{
    (void)ctx, (void)kernel, (void)in, (void)out, (void)floats, (void)size, (void)addr;
    struct gpgpu_dim3 one = gpgpu_dim(1, 1, 1);
    (void)one;
    GPGPU_BUFFER(int32_t) buffer = GPGPU_BUFFER_INIT;
    return %s;
}
"""
LAUNCH = "gpgpu_launch_kernel(ctx, kernel, one, one, %s)"
GOOD = [
    "gpgpu_buffer_from_host(ctx, &buffer, in, size)",
    "gpgpu_buffer_readback(&buffer, out)",
    LAUNCH % "&buffer.raw, 1, 2u, 0.5f",
    LAUNCH % "gpgpu_arg_addr(addr), (uint32_t)size",
]
BAD = {
    "float array into an int buffer": "gpgpu_buffer_from_host(ctx, &buffer, floats, size)",
    "int buffer into a float array": "gpgpu_buffer_readback(&buffer, floats)",
    "readback into a const array": "gpgpu_buffer_readback(&buffer, in)",
    "size_t argument": LAUNCH % "size",
    "device address without saying so": LAUNCH % "addr",
    "double argument": LAUNCH % "0.5",
    "host pointer argument": LAUNCH % "out",
    "one wrong of several": LAUNCH % "&buffer.raw, 1, 2u, size",
}


def compile_expression(expression):
    return subprocess.run(COMPILER, input=PROGRAM % expression, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("expression", GOOD)
def test_compiles(expression):
    run = compile_expression(expression)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("expression", BAD.values(), ids=BAD.keys())
def test_does_not_compile(expression):
    assert "error:" in compile_expression(expression).stderr
