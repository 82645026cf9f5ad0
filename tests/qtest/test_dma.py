# SPDX-License-Identifier: MIT
"""The DMA engine: every direction, every wrong range, and hosts that play with it."""
import random

import pytest

import pci
import qtest
from gpgpu import (DMA_BUSY, DMA_COMPLETE, DMA_ERROR, DMA_FAULT, DMA_IN_VRAM, DMA_START, DMA_TO_HOST, ENABLE,
                   INVALID_COMMAND, IRQ_ERROR, REGISTERS, RESET, Gpgpu)

VRAM = 64 << 20
BUFFER = qtest.RAM + 0x100000
END_OF_RAM = qtest.RAM + (128 << 20)
LARGE = 24 << 20


def noise(size):
    return random.Random(size).randbytes(size)


def poke(gpu, offset, data):
    gpu.machine.write_bytes(gpu.vram + offset, data)


def peek(gpu, offset, size):
    return gpu.machine.read_bytes(gpu.vram + offset, size)


@pytest.mark.parametrize("size", [1, 3, 4, 64, 4097, 65536, 65537, 300000])
@pytest.mark.parametrize("shift", [0, 1])
def test_host_to_vram(gpu, size, shift):
    gpu.machine.write_bytes(BUFFER + shift, noise(size))
    poke(gpu, 0x1000 - 4, b"\xee" * (size + 8))
    assert gpu.dma(BUFFER + shift, 0x1000, size) == DMA_COMPLETE
    assert peek(gpu, 0x1000 - 4, size + 8) == b"\xee" * 4 + noise(size) + b"\xee" * 4


@pytest.mark.parametrize("size", [1, 3, 4, 64, 4097, 65536, 65537, 300000])
@pytest.mark.parametrize("shift", [0, 1])
def test_vram_to_host(gpu, size, shift):
    poke(gpu, 0x1000 + shift, noise(size))
    gpu.machine.write_bytes(BUFFER - 4, b"\xee" * (size + 8))
    assert gpu.dma(0x1000 + shift, BUFFER, size, DMA_TO_HOST) == DMA_COMPLETE
    assert gpu.machine.read_bytes(BUFFER - 4, size + 8) == b"\xee" * 4 + noise(size) + b"\xee" * 4


@pytest.mark.parametrize("source, target", [(0x1000, 0x200000), (0x200000, 0x1000), (0x1000, 0x1000), (0x1000, 0x1040),
                                            (0x1040, 0x1000), (0x1000, 0x11003), (0x11003, 0x1000)])
def test_vram_to_vram(gpu, source, target):
    """As memmove, also where the ranges overlap."""
    size = 200000
    poke(gpu, source, noise(size))
    assert gpu.dma(source, target, size, DMA_IN_VRAM) == DMA_COMPLETE
    assert peek(gpu, target, size) == noise(size)


def test_the_last_byte_of_vram(gpu):
    gpu.machine.write_bytes(BUFFER, b"\x5a")
    assert gpu.dma(BUFFER, VRAM - 1, 1) == DMA_COMPLETE
    assert peek(gpu, VRAM - 1, 1) == b"\x5a"


@pytest.mark.parametrize("offset", [0, VRAM])
def test_nothing_is_a_transfer_too(gpu, offset):
    assert gpu.dma(BUFFER, offset, 0) == DMA_COMPLETE
    assert gpu["ERROR_STATUS"] == 0


@pytest.mark.parametrize("offset, size", [
    (VRAM - 3, 4), (VRAM, 1), (VRAM + 1, 0), (0, VRAM + 1), (4, 0xFFFFFFFF), (0xFFFFFFFF, 1), (1 << 63, 16),
    (0xFFFFFFFFFFFFFFFF, 1), (0xFFFFFFFFFFFFFFF0, 0x20), (0xFFFFFFFF00000010, 0xFFFFFFFF),
])
@pytest.mark.parametrize("flags", [0, DMA_TO_HOST, DMA_IN_VRAM, DMA_IN_VRAM | DMA_TO_HOST])
def test_ranges_outside_vram(gpu, offset, size, flags):
    """Nothing is moved, also where an addition would wrap."""
    poke(gpu, 0, noise(64))
    poke(gpu, VRAM - 64, noise(64))
    pairs = {0: [(BUFFER, offset)], DMA_TO_HOST: [(offset, BUFFER)]}
    for source, target in pairs.get(flags, [(offset, 0), (0, offset)]):
        gpu["IRQ_ACK"] = 0xF
        gpu["ERROR_STATUS"] = 0xF
        assert gpu.dma(source, target, size, flags) == DMA_ERROR
        assert gpu["ERROR_STATUS"] == DMA_FAULT
        assert gpu["IRQ_STATUS"] == IRQ_ERROR
    assert peek(gpu, 0, 64) == peek(gpu, VRAM - 64, 64) == noise(64)
    assert "leave the address space or VRAM" in gpu.machine.log()


@pytest.mark.parametrize("address", [END_OF_RAM - 16, 0xFFFFFFFFFFFFFFF0, 0xFFFFFFFFFFFFFF00, 0x18000000])
@pytest.mark.parametrize("flags", [0, DMA_TO_HOST])
def test_addresses_where_the_host_has_nothing(gpu, address, flags):
    source, target = (0x1000, address) if flags else (address, 0x1000)
    assert gpu.dma(source, target, 256, flags) == DMA_ERROR
    assert gpu["ERROR_STATUS"] == DMA_FAULT


def test_without_bus_mastering_there_is_no_dma(gpu):
    gpu.enable(pci.MEMORY)
    assert gpu.dma(BUFFER, 0, 64) == DMA_ERROR
    gpu.enable()
    gpu["ERROR_STATUS"] = DMA_FAULT
    assert gpu.dma(BUFFER, 0, 64) == DMA_COMPLETE
    assert gpu["ERROR_STATUS"] == 0


def test_own_registers_are_out_of_reach(gpu):
    """Also DISPATCH and DMA_CTRL, where a transfer would start the next one."""
    gpu["THREAD_ID_X"] = 7
    poke(gpu, 0x1000, b"\xff" * 0x3000)
    assert gpu.dma(0x1000, gpu.ctrl, 0x2100, DMA_TO_HOST) == DMA_ERROR
    assert gpu.dma(0x1000, gpu.ctrl + REGISTERS["DMA_CTRL"], 4, DMA_TO_HOST) == DMA_ERROR
    assert gpu.dma(gpu.ctrl, 0x1000, 0x100) == DMA_ERROR
    assert (gpu["THREAD_ID_X"], gpu["ERROR_STATUS"], gpu["DEV_ID"]) == (7, DMA_FAULT, 0x47505055)


def test_own_doorbells_are_out_of_reach(gpu):
    assert gpu.dma(0x1000, gpu.doorbell, 64, DMA_TO_HOST) == DMA_ERROR


@pytest.mark.parametrize("source, target", [(0x1000, 0x200000), (0x1000, 0x1003), (0x1003, 0x1000)])
def test_own_vram_as_host_memory(gpu, source, target):
    """Through the bus VRAM is memory like any other; up to a bounce buffer's size overlaps are no problem."""
    size = 60000
    for flags in (0, DMA_TO_HOST):
        poke(gpu, source, noise(size))
        pair = (source, gpu.vram + target) if flags else (gpu.vram + source, target)
        assert gpu.dma(*pair, size, flags) == DMA_COMPLETE
        assert peek(gpu, target, size) == noise(size)


def test_another_devices_registers_are_reachable():
    with qtest.Machine("gpgpu,addr=1", "gpgpu,addr=2") as machine:
        first, second = Gpgpu(machine, 1), Gpgpu(machine, 2, base=qtest.PCI_WINDOW + 0x20000000)
        second.write_words(0, [99])
        assert second.dma(0, first.ctrl + REGISTERS["THREAD_ID_X"], 4, DMA_TO_HOST) == DMA_COMPLETE
        assert first["THREAD_ID_X"] == 99


def test_large_transfers_go_on_in_the_background(async_gpu):
    gpu = async_gpu
    data = noise(LARGE)
    gpu.machine.write_bytes(BUFFER, data)
    gpu.start_dma(BUFFER, 0, LARGE)
    assert gpu["DMA_STATUS"] == DMA_BUSY
    gpu["DMA_CTRL"] = DMA_START
    assert gpu["ERROR_STATUS"] == INVALID_COMMAND
    gpu["DMA_SIZE"] = 0xFFFFFFFF  # of no account for the one in flight
    qtest.wait_until(lambda: not gpu["DMA_STATUS"] & DMA_BUSY, "DMA")
    assert gpu["DMA_STATUS"] == DMA_COMPLETE
    assert peek(gpu, 0, LARGE) == data


def test_small_transfers_are_done_with_the_store(async_gpu):
    async_gpu.machine.write_bytes(BUFFER, noise(4096))
    async_gpu.start_dma(BUFFER, 0, 4096)
    assert async_gpu["DMA_STATUS"] == DMA_COMPLETE


def test_overlapping_background_copy_within_vram(async_gpu):
    data = noise(8 << 20)
    poke(async_gpu, 0, data)
    assert async_gpu.dma(0, 70001, len(data), DMA_IN_VRAM) == DMA_COMPLETE
    assert peek(async_gpu, 70001, len(data)) == data


def test_reset_stops_a_transfer(async_gpu):
    gpu = async_gpu
    gpu.start_dma(BUFFER, 0, 48 << 20)
    gpu["GLOBAL_CTRL"] = RESET | ENABLE
    assert (gpu["DMA_STATUS"], gpu["IRQ_STATUS"]) == (0, 0)
    gpu.machine.write_bytes(BUFFER, noise(64))
    assert gpu.dma(BUFFER, 0x1000, 64) == DMA_COMPLETE
    assert peek(gpu, 0x1000, 64) == noise(64)


def test_losing_bus_mastering_ends_a_transfer(async_gpu):
    gpu = async_gpu
    gpu.start_dma(BUFFER, 0, 48 << 20)
    gpu.enable(pci.MEMORY)
    assert (gpu["DMA_STATUS"], gpu["ERROR_STATUS"], gpu["IRQ_STATUS"]) == (DMA_ERROR, DMA_FAULT, IRQ_ERROR)
    gpu.enable()
    gpu["ERROR_STATUS"] = DMA_FAULT
    gpu.machine.write_bytes(BUFFER, noise(1 << 20))
    assert gpu.dma(BUFFER, 0x1000, 1 << 20) == DMA_COMPLETE
    assert peek(gpu, 0x1000, 1 << 20) == noise(1 << 20)


@pytest.mark.parametrize("source, target", [(0x1000, 0x480001), (0x480001, 0x1000), (0, 20 << 20)])
def test_large_copies_within_vram(async_gpu, source, target):
    data = noise(10 << 20)
    poke(async_gpu, source, data)
    assert async_gpu.dma(source, target, len(data), DMA_IN_VRAM) == DMA_COMPLETE
    assert peek(async_gpu, target, len(data)) == data


def test_large_transfer_to_the_host(async_gpu):
    gpu, data = async_gpu, noise(10 << 20)
    poke(gpu, 0x1003, data)
    gpu.machine.write_bytes(BUFFER - 16, b"\xee" * (len(data) + 32))
    assert gpu.dma(0x1003, BUFFER, len(data), DMA_TO_HOST) == DMA_COMPLETE
    assert gpu.machine.read_bytes(BUFFER - 16, len(data) + 32) == b"\xee" * 16 + data + b"\xee" * 16


def test_large_transfer_to_what_is_no_memory():
    """In the background, too, registers are written one by one: here those of another device, behind its VRAM."""
    with qtest.Machine("gpgpu,addr=1,sync=off", "gpgpu,addr=2") as machine:
        base = qtest.PCI_WINDOW + 0x20000000
        first, second = Gpgpu(machine, 1), Gpgpu(machine, 2, base=base, vram=base - VRAM)
        size = 1 << 20
        poke(first, 0, noise(size))
        first.write_words(size + REGISTERS["THREAD_ID_X"], [0x1234])
        assert first.dma(0, base - size, size + REGISTERS["THREAD_ID_X"] + 4, DMA_TO_HOST) == DMA_COMPLETE
        assert second["THREAD_ID_X"] == 0x1234
        assert peek(second, VRAM - size, size) == noise(size)


def test_a_fault_in_the_background_is_reported(async_gpu):
    """The last megabyte of the range lies behind the end of RAM."""
    assert async_gpu.dma(END_OF_RAM - (4 << 20), 0, 5 << 20) == DMA_ERROR
    assert (async_gpu["ERROR_STATUS"], async_gpu["IRQ_STATUS"]) == (DMA_FAULT, IRQ_ERROR)
