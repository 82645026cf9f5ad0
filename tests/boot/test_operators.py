# SPDX-License-Identifier: MIT
"""Every float operator in the booted guest, through the PCI device and its interrupts."""
import re

from boot import boot


def test_operators_match_the_cpu():
    result = boot("opcheck")
    assert result.failure is None, result.output
    assert result.code == 0, result.output
    assert len(re.findall(r"^\[OK\] \w+: \d+ shapes match the CPU$", result.output, re.M)) > 45
