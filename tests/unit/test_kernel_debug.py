# SPDX-License-Identifier: MIT
"""A kernel can be stepped in a debugger, one thread at a time, as docs/write-a-kernel.md says: the unit test of the
operators has the kernels' sources in it as plain C, compiled without a warning (-Werror)."""
import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = "lib/gpgpu/kernels/activation.c"


def line_of(text):
    lines = (ROOT / SOURCE).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_gdb_stops_in_a_thread_of_a_kernel():
    """At the third element of relu, with its variables and its place in the grid."""
    commands = [f"break {SOURCE}:{line_of('y[i] = max_f32(x[i], 0.0f);')} if i == 2", "run", "print i",
                "print kernel_thread.thread[0]", "print x[i] == x[i]", "kill"]
    run = subprocess.run(["gdb", "-batch", "-nx", *(word for c in commands for word in ("-ex", c)),
                          "build/unit/operators"], cwd=ROOT, capture_output=True, text=True, timeout=300,
                         stdin=subprocess.DEVNULL, env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
    assert re.findall(r"^\$\d+ = (\d+)$", run.stdout, re.M) == ["2", "2", "1"], run.stdout + run.stderr
