# SPDX-License-Identifier: MIT
"""BAR0: identity, reset values, and what of each register software can write."""
import pytest

from gpgpu import DMA_IRQ, DMA_IN_VRAM, DMA_TO_HOST, ENABLE, READY, REGISTERS, RESET, Gpgpu
from qtest import Machine

ALL = 0xFFFFFFFF
# Bits of each register that hold what is written to them.
WRITABLE = {
    "GLOBAL_CTRL": ENABLE, "IRQ_ENABLE": 0xF, "DMA_CTRL": DMA_TO_HOST | DMA_IRQ | DMA_IN_VRAM,
    "QUEUE_CTRL": 1,
    **{name: ALL for name in (
        "KERNEL_ADDR_LO KERNEL_ADDR_HI KERNEL_ARGS_LO KERNEL_ARGS_HI GRID_DIM_X GRID_DIM_Y GRID_DIM_Z "
        "BLOCK_DIM_X BLOCK_DIM_Y BLOCK_DIM_Z SHARED_MEM_SIZE DMA_SRC_LO DMA_SRC_HI DMA_DST_LO DMA_DST_HI DMA_SIZE QUEUE_BASE_LO QUEUE_BASE_HI QUEUE_SIZE "
        "THREAD_ID_X THREAD_ID_Y THREAD_ID_Z BLOCK_ID_X BLOCK_ID_Y BLOCK_ID_Z WARP_ID LANE_ID "
        "THREAD_MASK BALLOT SHUFFLE").split()},
}
RESET_VALUES = {
    "DEV_ID": 0x47505055, "DEV_VERSION": 0x00010000, "DEV_CAPS": 4 | 4 << 8 | 32 << 16, "VRAM_SIZE_LO": 64 << 20,
    "DEV_CAPS2": 0xFF, "SHARED_MAX": 64 << 10, "PRIVATE_SIZE": 16 << 10, "GLOBAL_STATUS": READY,
}
HAS_EFFECT = {"GLOBAL_CTRL", "DISPATCH", "DMA_CTRL", "QUEUE_CTRL"}


def everything(gpu):
    return {name: gpu[name] for name in REGISTERS}


def test_reset_values(gpu):
    assert everything(gpu) == {name: RESET_VALUES.get(name, 0) for name in REGISTERS}


@pytest.mark.parametrize("pattern", [0xA5A5A5A5, 0x5A5A5A5A, 0x12345678])
def test_writable_bits(gpu, pattern):
    """Every bit is writable or not as documented, and no write changes another register."""
    expected = everything(gpu)
    for name in REGISTERS:
        if name in HAS_EFFECT:
            continue
        gpu[name] = pattern
        expected[name] = pattern & WRITABLE[name] if name in WRITABLE else expected[name]
        assert gpu[name] == expected[name], name
    assert everything(gpu) == expected


def test_bits_that_act_are_not_stored(gpu):
    gpu["GLOBAL_CTRL"] = ALL & ~RESET
    assert gpu["GLOBAL_CTRL"] == ENABLE
    gpu["DMA_CTRL"] = ALL & ~1
    assert gpu["DMA_CTRL"] == WRITABLE["DMA_CTRL"]
    assert gpu["DMA_STATUS"] == 0


@pytest.mark.parametrize("size", [1, 2, 8])
def test_other_sizes_are_ignored(gpu, size):
    address = gpu.ctrl + REGISTERS["THREAD_MASK"]
    gpu["THREAD_MASK"] = ALL
    assert gpu.machine.read(address, size) == 0
    gpu.machine.write(address, 0, size)
    assert gpu["THREAD_MASK"] == ALL
    assert f"{size}-byte access at BAR0+0x2004" in gpu.machine.log()


def test_misaligned_word_is_ignored(gpu):
    gpu["THREAD_MASK"] = ALL
    assert gpu.machine.read(gpu.ctrl + 0x2002) == 0
    gpu.machine.write(gpu.ctrl + 0x2006, 0)
    assert gpu["THREAD_MASK"] == ALL


@pytest.mark.parametrize("offset", [0x0020, 0x010C, 0x0128, 0x0334, 0x041C, 0x0540, 0x100C, 0x2008, 0x2024, 0xFD000])
def test_no_register(gpu, offset):
    gpu.machine.write(gpu.ctrl + offset, ALL)
    assert gpu.machine.read(gpu.ctrl + offset) == 0
    assert f"no register at BAR0+{offset:#x}" in gpu.machine.log()


def test_write_of_a_read_only_register_is_told(gpu):
    gpu["DEV_ID"] = 0
    assert gpu["DEV_ID"] == 0x47505055
    assert "write of read-only register DEV_ID" in gpu.machine.log()


def test_other_doorbells_are_reserved(gpu):
    gpu.machine.write(gpu.doorbell + 8, 1)
    gpu.machine.write(gpu.doorbell, 1, 2)
    assert gpu.machine.read(gpu.doorbell + 8) == 0
    assert "doorbell 0x8 rung with 4 bytes" in gpu.machine.log()
    assert "doorbell 0x0 rung with 2 bytes" in gpu.machine.log()
    assert gpu["ERROR_STATUS"] == 0


def test_capabilities_follow_the_properties():
    with Machine("gpgpu,num_cus=3,warps_per_cu=7,warp_size=16,vram_size=1M") as machine:
        gpu = Gpgpu(machine)
        assert gpu["DEV_CAPS"] == 3 | 7 << 8 | 16 << 16
        assert gpu.wide("VRAM_SIZE") == 1 << 20


def test_soft_reset_clears_the_registers_and_keeps_vram(gpu):
    gpu.write_words(0, [0xCAFE])
    for name in WRITABLE.keys() - HAS_EFFECT:
        gpu[name] = ALL
    gpu["DISPATCH"] = 1  # not enabled: an error to be cleared
    assert gpu["ERROR_STATUS"] and gpu["IRQ_STATUS"]
    gpu["GLOBAL_CTRL"] = RESET
    assert everything(gpu) == {name: RESET_VALUES.get(name, 0) for name in REGISTERS}
    assert gpu.read_words(0, 1) == [0xCAFE]


def test_reset_and_enable_in_one_store(gpu):
    gpu["THREAD_ID_X"] = 5
    gpu["GLOBAL_CTRL"] = RESET | ENABLE
    assert (gpu["GLOBAL_CTRL"], gpu["THREAD_ID_X"]) == (ENABLE, 0)


def test_machine_reset_resets_the_device(gpu):
    gpu["THREAD_ID_X"] = 5
    gpu.machine.monitor("system_reset")
    assert gpu.read(4, 2) & 7 == 0  # memory decoding is off again
    again = Gpgpu(gpu.machine)
    assert again["THREAD_ID_X"] == 0
