# SPDX-License-Identifier: MIT
"""Every float operator in the booted guest, through the PCI device and its interrupts."""
import re

from boot import boot


def test_operators_match_the_cpu():
    result = boot("opcheck")
    assert result.failure is None, result.output
    assert result.code == 0, result.output
    for what in ("pool", "events", "graph", "streams"):
        assert re.search(rf"^\[OK\] {what}: ", result.output, re.M), result.output
    assert len(re.findall(r"^\[OK\] \w+: \d+ shapes match the CPU$", result.output, re.M)) > 45


def test_process_ends_while_its_kernels_are_compiled():
    """The last kernel runs for less time than the compiler works on it; exit() must not take LLVM down beneath it."""
    result = boot("opbench", PLATFORM="linux", GPU="sim", APPEND="relu pool_max_backward")
    assert result.failure is None, result.output
    assert result.code == 0, result.output
