# SPDX-License-Identifier: MIT
"""Every app boots, says [OK] and powers off with code 0, with and without message-signalled interrupts."""
import pytest
from boot import boot

MACHINES = {"plic": "virt", "aia": "virt,aia=aplic-imsic"}
machine = pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES.keys())

LENET = """\
[OK] Conv2D: 32 values match CPU reference
[OK] ReLU: 32 values match
[OK] MaxPool: 8 values match
[OK] FC: output [40, 40, 40, 80]
[OK] Classification: class 3 (GPU) == class 3 (CPU)
"""


@machine
@pytest.mark.parametrize("app", ["hello", "gpgpu-demo", "lenet"])
def test_app(app, machine):
    result = boot(app, MACHINE=machine)
    assert result.failure is None, result.output


def test_lenet_prints_the_five_lines_then_random_networks():
    result = boot("lenet")
    lines = [line for line in result.output.splitlines() if line.startswith("[OK]")]
    assert "\n".join(lines[:5]) + "\n" == LENET
    assert len(lines) == 6 and "100 random" in lines[5]
