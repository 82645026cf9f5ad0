# SPDX-License-Identifier: MIT
"""Interrupts: INTx as a level, MSI-X as messages. A message is a store: here it goes to RAM, where it can be read."""
import pytest

import pci
import qtest
from gpgpu import (DMA_IRQ, ENABLE, INVALID_COMMAND, IRQ_DMA, IRQ_ERROR, IRQ_KERNEL, MSIX_PBA, MSIX_TABLE, RESET, Gpgpu)
from qtest import Machine

MAILBOX = qtest.RAM + 0x100000
NOTHING = "ebreak"


def line(slot):
    """The PLIC input that INTA# of a slot is routed to."""
    return qtest.PLIC_INTX + slot % 4


@pytest.fixture
def intx(gpu):
    gpu.machine.intercept("riscv.sifive.plic")
    return gpu


def up(gpu):
    return line(gpu.slot) in gpu.machine.raised


@pytest.mark.parametrize("bit, act", [
    (IRQ_KERNEL, lambda gpu: gpu.launch(NOTHING)),
    (IRQ_DMA, lambda gpu: gpu.dma(qtest.RAM, 0, 64, DMA_IRQ)),
    (IRQ_ERROR, lambda gpu: gpu.launch(NOTHING, grid=0)),
])
def test_intx_raise_and_ack(intx, bit, act):
    intx["IRQ_ENABLE"] = bit
    act(intx)
    assert intx["IRQ_STATUS"] == bit and up(intx)
    intx["IRQ_ACK"] = 0xF & ~bit
    assert intx["IRQ_STATUS"] == bit and up(intx)
    intx["IRQ_ACK"] = bit
    assert intx["IRQ_STATUS"] == 0 and not up(intx)


def test_intx_is_the_line_of_the_slot():
    for slot in (1, 2, 3, 4):
        with Machine(f"gpgpu,addr={slot}") as machine:
            machine.intercept("riscv.sifive.plic")
            gpu = Gpgpu(machine, slot)
            gpu["IRQ_ENABLE"] = IRQ_KERNEL
            gpu.launch(NOTHING)
            assert machine.raised == {line(slot)}


def test_disabled_interrupts_are_pending_and_come_when_enabled(intx):
    intx.launch(NOTHING)
    assert intx["IRQ_STATUS"] == IRQ_KERNEL and not up(intx)
    intx["IRQ_ENABLE"] = IRQ_KERNEL
    assert up(intx)
    intx["IRQ_ENABLE"] = 0
    assert intx["IRQ_STATUS"] == IRQ_KERNEL and not up(intx)


def test_line_stays_up_until_the_last_pending_bit_is_acknowledged(intx):
    intx["IRQ_ENABLE"] = IRQ_KERNEL | IRQ_DMA
    intx.launch(NOTHING)
    intx.dma(qtest.RAM, 0, 64, DMA_IRQ)
    intx["IRQ_ACK"] = IRQ_KERNEL
    assert up(intx)
    intx["IRQ_ACK"] = IRQ_DMA
    assert not up(intx)


def test_dma_without_the_interrupt_bit_raises_none(intx):
    intx["IRQ_ENABLE"] = 0xF
    intx.dma(qtest.RAM, 0, 64)
    assert intx["IRQ_STATUS"] == 0 and not up(intx)


def test_intx_disable_bit_of_the_command_register(intx):
    intx["IRQ_ENABLE"] = IRQ_KERNEL
    intx.write(pci.COMMAND, 0x406, 2)
    intx.launch(NOTHING)
    assert not up(intx)
    assert intx.read(pci.STATUS, 2) & 0x8  # interrupt status
    intx.write(pci.COMMAND, 0x006, 2)
    assert up(intx)


def test_soft_reset_lowers_the_line(intx):
    intx["IRQ_ENABLE"] = IRQ_KERNEL
    intx.launch(NOTHING)
    intx["GLOBAL_CTRL"] = RESET
    assert not up(intx)


@pytest.fixture
def msix(msix_gpu):
    """MSI-X on, vector n unmasked and storing 0x100 + n into word n of the mailbox, every event enabled."""
    gpu = msix_gpu
    for vector in range(4):
        entry = gpu.ctrl + MSIX_TABLE + 16 * vector
        gpu.machine.write_words(entry, [MAILBOX + 4 * vector, 0, 0x100 + vector])
        mask(gpu, vector, False)
    gpu.msix_control(set_bits=pci.MSIX_ENABLE)
    gpu["IRQ_ENABLE"] = 0xF
    return gpu


def mask(gpu, vector, masked):
    gpu.machine.write(gpu.ctrl + MSIX_TABLE + 16 * vector + 12, int(masked))


def pending(gpu):
    return gpu.machine.read(gpu.ctrl + MSIX_PBA)


def take_messages(gpu):
    """The mailbox, emptied."""
    words = gpu.machine.read_words(MAILBOX, 4)
    gpu.machine.write_words(MAILBOX, [0] * 4)
    return words


def test_msix_capability(msix_gpu):
    at = msix_gpu.capability(pci.CAPABILITY_MSIX)
    assert msix_gpu.read(at + 2, 2) & 0x7FF == 3  # four vectors
    assert (msix_gpu.read(at + 4), msix_gpu.read(at + 8)) == (MSIX_TABLE, MSIX_PBA)  # both in BAR0


def test_msix_messages(msix):
    msix.launch(NOTHING)
    assert take_messages(msix) == [0x100, 0, 0, 0]
    msix.dma(qtest.RAM, 0, 64, DMA_IRQ)
    assert take_messages(msix) == [0, 0x101, 0, 0]
    msix["DMA_SIZE"] = 0xFFFFFFFF
    msix["DMA_CTRL"] = 1
    assert take_messages(msix) == [0, 0, 0x102, 0]


def test_msix_sends_one_message_per_event_even_unacknowledged(msix):
    for _ in range(3):
        msix.launch(NOTHING)
        assert take_messages(msix) == [0x100, 0, 0, 0]
    assert msix["IRQ_STATUS"] == IRQ_KERNEL


def test_msix_keeps_disabled_events_quiet(msix):
    msix["IRQ_ENABLE"] = IRQ_ERROR
    msix.launch(NOTHING)
    assert take_messages(msix) == [0] * 4 and pending(msix) == 0
    msix["IRQ_ENABLE"] = IRQ_KERNEL
    assert take_messages(msix) == [0x100, 0, 0, 0]


def test_masked_vector_becomes_pending_and_is_sent_when_unmasked(msix):
    mask(msix, 0, True)
    msix.launch(NOTHING)
    assert take_messages(msix) == [0] * 4 and pending(msix) == 1
    mask(msix, 0, False)
    assert take_messages(msix) == [0x100, 0, 0, 0] and pending(msix) == 0


def test_function_mask(msix):
    msix.msix_control(set_bits=pci.MSIX_MASK_ALL)
    msix.launch(NOTHING)
    msix["GLOBAL_CTRL"] = 0
    msix["DISPATCH"] = 1
    assert msix["ERROR_STATUS"] == INVALID_COMMAND
    assert take_messages(msix) == [0] * 4 and pending(msix) == IRQ_KERNEL | IRQ_ERROR
    msix.msix_control(clear_bits=pci.MSIX_MASK_ALL)
    assert take_messages(msix) == [0x100, 0, 0x102, 0] and pending(msix) == 0


def test_msix_off_moves_what_is_pending_to_intx(msix):
    msix.machine.intercept("riscv.aplic")
    msix.launch(NOTHING)
    assert line(msix.slot) not in msix.machine.raised
    msix.msix_control(clear_bits=pci.MSIX_ENABLE)
    assert line(msix.slot) in msix.machine.raised
    msix.msix_control(set_bits=pci.MSIX_ENABLE)
    assert line(msix.slot) not in msix.machine.raised


def test_soft_reset_keeps_the_vectors(msix):
    msix["GLOBAL_CTRL"] = RESET
    msix["IRQ_ENABLE"] = IRQ_KERNEL
    msix.launch(NOTHING)
    assert msix["GLOBAL_CTRL"] == ENABLE
    assert take_messages(msix) == [0x100, 0, 0, 0]


def test_message_into_the_devices_own_vram(msix):
    msix.machine.write_words(msix.ctrl + MSIX_TABLE, [msix.vram + 0x3000, 0])
    msix.launch(NOTHING)
    assert msix.read_words(0x3000, 1) == [0x100]


def test_message_into_the_devices_own_registers_is_harmless(msix):
    msix.machine.write_words(msix.ctrl + MSIX_TABLE, [msix.ctrl + 0x330, 0])  # DISPATCH: a launch that begets a launch
    msix.launch(NOTHING)
    assert msix.wide("COUNT_LAUNCHES") == 1
