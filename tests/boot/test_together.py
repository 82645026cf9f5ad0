# SPDX-License-Identifier: MIT
"""Every driver at work at the same time, on each kind of machine: PLIC and AIA, one hart and four, with threads and without."""
import re

import pytest
from boot import boot

MACHINES = {"plic": "virt", "aia": "virt,aia=aplic-imsic"}
INTERRUPTS = {"plic": {"edu": "INTx", "other": "INTx"}, "aia": {"edu": "MSI", "other": "MSI-X"}}
# With threads there is a kind of scheduler for one hart, and one for several.
CONFIGS = {("off", 1): {}, ("off", 4): {"SMP": 4}, ("on", 1): {"CONFIG": "threads"}, ("on", 4): {"CONFIG": "smp", "SMP": 4}}
# Five devices on the four wires of a machine without messages: edu and the second GPU share one. The first GPU has no
# queue in memory, so that its launches end by interrupt, too.
DEVICES = ("-device edu,addr=1 -drive file={image},format=raw,if=none,id=d -device virtio-blk-pci,drive=d,addr=2 "
           "-device virtio-rng-pci,addr=3 -device gpgpu,queue=off,addr=4 -device gpgpu,addr=5")
NAMES = ["tutorial0", "block0", "entropy0", "gpgpu0", "gpgpu1"]


@pytest.mark.parametrize("threads, harts", CONFIGS)
@pytest.mark.parametrize("machine", MACHINES)
def test_all_drivers_at_once(tmp_path, machine, threads, harts):
    image = tmp_path / "disk.img"
    image.write_bytes(bytes(1 << 20))
    result = boot("together", MACHINE=MACHINES[machine], DEVICES=DEVICES.format(image=image), **CONFIGS[threads, harts])
    assert result.failure is None, result.output
    for name in NAMES:
        mode = INTERRUPTS[machine]["edu" if name == "tutorial0" else "other"]
        verdict = re.search(rf"^\[OK\] {name}: (\d+) of \1 rounds \(OK\), (\d+) interrupts by (.*)$", result.output, re.M)
        assert verdict and int(verdict[2]) >= int(verdict[1]) > 0 and verdict[3] == mode, result.output
    if machine == "aia":  # the vectors of a launch and of a copy
        gpu = result.output[result.output.index("pci 00:04.0:"):]
        assert re.search(r"vector 0\): taken [1-9].*\n.*vector 1\): taken [1-9]", gpu), result.output
