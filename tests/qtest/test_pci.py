# SPDX-License-Identifier: MIT
"""Configuration space, BARs, VRAM and properties."""
import subprocess

import pytest

import pci
import qtest
from gpgpu import Gpgpu
from qtest import Machine

MIB = 1 << 20


def test_identity(gpu):
    assert gpu.read(0x00) == 0x13371234
    assert gpu.read(0x08) == 0x03020001  # 3D controller, revision 1
    assert gpu.read(pci.INTERRUPT_PIN, 1) == 1  # INTA#


def test_bars(gpu):
    assert [gpu.read(pci.BAR0 + 4 * index) & 0xF for index in (0, 2, 4)] == [0x4, 0xC, 0x0]
    assert [gpu.bar_size(index) for index in (0, 2, 4)] == [MIB, 64 * MIB, 64 << 10]
    assert gpu.read(pci.BAR0 + 20) == 0  # no sixth


@pytest.mark.parametrize("megabytes", [1, 16, 1024])
def test_vram_size(megabytes):
    """Up to 1 GiB, in the 64-bit window that virt has above its RAM."""
    with Machine(f"gpgpu,vram_size={megabytes}M") as machine:
        gpu = Gpgpu(machine, vram=0x400000000)
        assert gpu.bar_size(2) == megabytes * MIB
        assert gpu.wide("VRAM_SIZE") == megabytes * MIB
        last = gpu.vram + megabytes * MIB - 4
        machine.write(last, 0xFEEDFACE)
        assert machine.read(last) == 0xFEEDFACE


@pytest.mark.parametrize("option, message", [
    ("vram_size=3M", "vram_size=3145728: must be a power of two from 1 to 1024 MiB"),
    ("vram_size=64K", "vram_size=65536: must be a power of two from 1 to 1024 MiB"),
    ("vram_size=2G", "vram_size=2147483648: must be a power of two from 1 to 1024 MiB"),
    ("num_cus=0", "num_cus=0: must be from 1 to 64"),
    ("num_cus=65", "num_cus=65: must be from 1 to 64"),
    ("warps_per_cu=33", "warps_per_cu=33: must be from 1 to 32"),
    ("warp_size=33", "warp_size=33: must be from 1 to 32"),
    ("engine=fast", "engine=fast: choose auto, interp, jit or check"),
])
def test_wrong_properties_are_told(option, message):
    result = subprocess.run([qtest.qemu_binary(), "-M", "virt", "-accel", "qtest", "-display", "none", "-nodefaults",
                             "-device", f"gpgpu,{option}"], capture_output=True, text=True, timeout=qtest.TIMEOUT_S)
    assert result.returncode == 1
    assert message in result.stderr


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_vram_takes_any_size(gpu, size):
    value = 0x8877665544332211 & (1 << 8 * size) - 1
    for offset in (0, 0x1003, 64 * MIB - size):
        gpu.machine.write(gpu.vram + offset, value, size)
        assert gpu.machine.read(gpu.vram + offset, size) == value


def test_vram_is_memory_in_the_machine(gpu):
    tree = gpu.machine.hmp("info mtree -f")
    assert f"{gpu.vram:016x}-{gpu.vram + 64 * MIB - 1:016x} (prio 1, ram): gpgpu-vram" in tree


def test_two_devices_are_separate():
    with Machine("gpgpu,id=a,addr=1", "gpgpu,id=b,addr=2,vram_size=1M") as machine:
        first, second = Gpgpu(machine, 1), Gpgpu(machine, 2, base=qtest.PCI_WINDOW + 0x20000000)
        code = "li t0, 0x2000\n sw a0, (t0)\n ebreak"
        first.launch(code, args=[111])
        second.launch(code, args=[222])
        assert first.read_words(0x2000, 1) + second.read_words(0x2000, 1) == [111, 222]
        assert (first.wide("VRAM_SIZE"), second.wide("VRAM_SIZE")) == (64 * MIB, MIB)
        second["GLOBAL_CTRL"] = 2
        assert (first["GLOBAL_CTRL"], first["IRQ_STATUS"], second["IRQ_STATUS"]) == (1, 1, 0)


def test_works_behind_a_root_port_and_is_an_endpoint_there():
    with Machine("pcie-root-port,id=rp,slot=1,addr=1", "gpgpu,bus=rp") as machine:
        port = pci.Function(machine, 1)
        port.write(0x18, 0x00010100)  # primary 0, secondary 1, subordinate 1
        gpu = pci.Function(machine, 0, bus=1)
        assert gpu.read(0) == 0x13371234
        at = gpu.capability(0x10)
        assert gpu.read(at + 2, 2) >> 4 & 0xF == 0  # PCI Express endpoint
