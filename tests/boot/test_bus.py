# SPDX-License-Identifier: MIT
"""PCI in the machine: bridges, addresses, interrupts, as the apps lsdev and edu see them."""
import re
import shlex
import subprocess

import pytest
from boot import boot, make, run_command

MACHINES = {"plic": "virt", "aia": "virt,aia=aplic-imsic"}
INTERRUPT = {"plic": "INTx", "aia": "MSI"}  # of the edu device

PORT = "-device pcie-root-port,id=rp,chassis=1"
BRIDGE = "-device pci-bridge,id=bridge,chassis_nr=2,bus=rp"


def passed(result):
    assert result.failure is None, result.output
    return result.output


@pytest.mark.parametrize("devices", [
    "-device edu",
    "-device edu -device edu -device edu -device edu -device edu",
    f"{PORT} -device edu,bus=rp",
    f"{PORT} {BRIDGE} -device edu,bus=bridge,addr=3 -device edu,bus=bridge,addr=6",
], ids=["one", "five", "port", "bridge"])
@pytest.mark.parametrize("machine", MACHINES)
def test_edu(machine, devices):
    output = passed(boot("edu", MACHINE=MACHINES[machine], DEVICES=devices))
    count = devices.count("edu")
    assert output.count("3628800") == count
    assert output.count(f"interrupts by {INTERRUPT[machine]}") == count


@pytest.mark.parametrize("machine", MACHINES)
def test_edu_dma(machine):
    output = passed(boot("edu", MACHINE=MACHINES[machine], DEVICES="-device edu,dma_mask=0xffffffffff",
                         APPEND="app.args=dma"))
    assert "[OK] tutorial0: 4095 bytes went through it by DMA" in output


@pytest.mark.parametrize("machine", MACHINES)
def test_edu_whose_interrupt_gets_lost(machine):
    output = passed(boot("edu", MACHINE=MACHINES[machine], DEVICES="-device edu", APPEND="app.args=mute"))
    assert "[OK] tutorial0: mute: ETIMEDOUT" in output
    assert "tutorial0: no interrupt within 1000 ms after a factorial: status 0x80, interrupt status 0x1" in output


@pytest.mark.parametrize("config", ["", "threads"])
def test_interrupt_latency_is_measured(config):
    output = passed(boot("bench", DEVICES="-device edu", APPEND="app.args=irq", CONFIG=config))
    kind = f"{config}_" if config else ""
    assert re.search(rf"^BENCH guest.irq_{kind}handler_us [0-9.e+-]+ us\nBENCH guest.irq_{kind}wakeup_us [0-9.e+-]+ us$",
                     output, re.M), output


def test_edu_without_a_device_says_what_to_do():
    result = boot("edu", DEVICES="")
    assert result.code == 1
    assert "[FAIL] no edu device: run with DEVICES='-device edu'" in result.output


def test_boot_log_names_device_and_driver():
    output = passed(boot("lsdev", DEVICES=f"-device gpgpu,addr=4 -device virtio-rng-pci,addr=5 {PORT},addr=6"))
    assert "pci 00:00.0: 1b36:0008 host bridge: no driver" in output
    assert "pci 00:04.0: 1234:1337 3D controller → qemu_gpgpu" in output
    assert re.search(r"pci 00:05.0: 1af4:1005 .* → virtio_rng", output)
    assert "pci 00:06.0: 1b36:000c PCI bridge → bus 01" in output


def test_one_gib_of_vram_behind_a_bridge_lies_above_4_gib():
    output = passed(boot("lsdev", DEVICES=f"{PORT} -device gpgpu,bus=rp,vram_size=1G -device gpgpu"))
    device = output[output.index("pci 01:00.0: 1234:1337 3D controller, revision 01: qemu_gpgpu"):]
    address = re.search(r"BAR2 memory, 64-bit, prefetchable, 1 GiB at (0x[0-9a-f]+)", device)[1]
    assert int(address, 16) >= 1 << 32
    assert "gpgpu0: pci 01:00.0, driver qemu_gpgpu" in output


def test_the_debug_log_lists_devices():
    output = passed(boot("lsdev", DEVICES="-device edu,addr=3", APPEND="loglevel=debug"))
    device = r"^pci 00:03.0: 1234:11e8 device, revision 10: edu\n    BAR0 .*\n    interrupt \d+ \(INTx, vector 0\): taken 0 times$"
    assert len(re.findall(device, output, re.M)) == 2, output  # at boot, and by the app


def test_drivers_can_be_disabled():
    output = passed(boot("lsdev", DEVICES="-device edu,addr=3 -device gpgpu", APPEND="driver.disable=edu,nothing"))
    assert "bus: driver edu: disabled by the command line" in output
    assert 'bus: warning: driver.disable: there is no driver "nothing"' in output
    assert "driver edu: class tutorial, priority 0, disabled" in output
    assert "pci 00:03.0: 1234:11e8 device: no driver" in output
    assert "→ qemu_gpgpu" in output


def test_multi_function_devices():
    output = passed(boot("lsdev", DEVICES="-device edu,addr=3.0,multifunction=on -device edu,addr=3.5"))
    assert "pci 00:03.5: 1234:11e8 device → edu" in output


def shrink_windows(tmp_path, command):
    """A device tree with 16 MiB of 32-bit memory window and no 64-bit one; returns the file."""
    tree = tmp_path / "virt.dtb"
    machine = command[command.index("-M") + 1]
    subprocess.run([*command, "-M", f"{machine},dumpdtb={tree}"], check=True, capture_output=True)

    def words(*values):
        return b"".join(v.to_bytes(4, "big") for v in values)

    data = tree.read_bytes()
    mem32 = words(0x02000000, 0, 0x40000000, 0, 0x40000000, 0, 0x40000000)
    assert data.count(mem32) == 1
    start = data.index(mem32)
    # The 64-bit window, which follows, becomes a second small one: an empty window would be the tree's error.
    assert data[start + 28 : start + 32] == words(0x03000000)
    small = words(0x02000000, 0, 0x40000000, 0, 0x40000000, 0, 16 << 20)
    second = words(0x02000000, 0, 0x50000000, 0, 0x50000000, 0, 1 << 20)
    tree.write_bytes(data[:start] + small + second + data[start + 56 :])
    return tree


def test_a_window_that_is_too_small_is_named(tmp_path):
    command = shlex.split(make("run-command", "APP=lsdev", "DEVICES=-device gpgpu,addr=4").strip().splitlines()[-1])
    result = run_command([*command, "-dtb", str(shrink_windows(tmp_path, command))])
    assert re.search(r"pci 00:04.0: BAR2 needs 64 MiB, window has \d+ (MiB|KiB) left", result.output), result.output
    assert result.code == 1
    assert "→ qemu_gpgpu: probe failed: ENOSPC" in result.output
