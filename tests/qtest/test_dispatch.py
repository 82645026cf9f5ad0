# SPDX-License-Identifier: MIT
"""Dispatch: what it refuses, faults and their record, background launches, limits, reset and unplug while running."""
import pytest

import qtest
from gpgpu import (BUSY, ENABLE, ERROR, INVALID_COMMAND, IRQ_ERROR, IRQ_KERNEL, KERNEL_FAULT, READY, RESET, VRAM_FAULT,
                   Gpgpu, assemble)
from qtest import Machine, wait_until

VRAM = 64 << 20
STORE = "li t0, 0x2000\n sw a0, (t0)\n ebreak"
FOREVER = "1: j 1b"
ILLEGAL, FETCH, ACCESS, MISALIGNED_ATOMIC, LIMIT, DEADLOCK, BAD_LAUNCH = range(1, 8)


def refused(gpu, cause=0):
    """The dispatch that was just written did nothing but be an invalid command."""
    state = (gpu["ERROR_STATUS"], gpu["IRQ_STATUS"], gpu["FAULT_CAUSE"], gpu.wide("COUNT_LAUNCHES"))
    return state == (INVALID_COMMAND, IRQ_ERROR, cause, 0) and gpu.read_words(0x2000, 1) == [0]


def test_disabled(gpu):
    gpu.prepare(STORE, args=[1])
    gpu["GLOBAL_CTRL"] = 0
    gpu["DISPATCH"] = 1
    assert refused(gpu)
    assert gpu["GLOBAL_STATUS"] == READY | ERROR


@pytest.mark.parametrize("name, value", [
    *((f"GRID_DIM_{axis}", 0) for axis in "XYZ"), *((f"BLOCK_DIM_{axis}", 0) for axis in "XYZ"),
    *((f"BLOCK_DIM_{axis}", size) for axis in "XYZ" for size in (1025, 0xFFFFFFFF)),
    ("KERNEL_ADDR_LO", 0x1002), ("KERNEL_ADDR_LO", VRAM), ("KERNEL_ADDR_LO", 0xFFFFFFFC), ("KERNEL_ADDR_HI", 1),
    ("KERNEL_ADDR_HI", 0xFFFFFFFF), ("KERNEL_ARGS_LO", VRAM + 4), ("KERNEL_ARGS_HI", 1),
    ("SHARED_MEM_SIZE", (64 << 10) + 1), ("SHARED_MEM_SIZE", 0xFFFFFFFF),
])
def test_wrong_launches(gpu, name, value):
    gpu.prepare(STORE, args=[1])
    gpu[name] = value
    gpu["DISPATCH"] = 1
    assert refused(gpu, BAD_LAUNCH)
    assert "launch refused" in gpu.machine.log()


def test_a_block_of_too_many_threads_in_all(gpu):
    gpu.prepare(STORE, block=(32, 32, 2))
    gpu["DISPATCH"] = 1
    assert refused(gpu, BAD_LAUNCH)


def test_errors_clear_one_by_one_and_the_next_launch_runs(gpu):
    gpu["DISPATCH"] = 1
    gpu["ERROR_STATUS"] = 0xF & ~INVALID_COMMAND
    assert gpu["ERROR_STATUS"] == INVALID_COMMAND
    gpu["ERROR_STATUS"] = INVALID_COMMAND
    assert (gpu["ERROR_STATUS"], gpu["GLOBAL_STATUS"]) == (0, READY)
    gpu.launch(STORE, args=[42])
    assert gpu.read_words(0x2000, 1) == [42]


@pytest.mark.parametrize("code, cause, pc, address", [
    ("nop\n .word 0", ILLEGAL, 0x1004, 0),
    ("nop\n ecall", ILLEGAL, 0x1004, 0),
    ("li t0, 0x70000000\n jr t0", FETCH, 0x70000000, 0x70000000),
    ("li t0, 0x1002\n jr t0", FETCH, 0x1002, 0x1002),
    ("lui t0, 0x70000\n lw t1, 8(t0)", ACCESS, 0x1004, 0x70000008),
    ("li t0, -4\n sw t0, (t0)", ACCESS, 0x1004, 0xFFFFFFFC),
    ("lui t0, 0x4000\n lw t1, -2(t0)", ACCESS, 0x1004, VRAM - 2),
    ("li t0, 0x402\n amoadd.w t1, t0, (t0)", MISALIGNED_ATOMIC, 0x1004, 0x402),
])
def test_faults(gpu, code, cause, pc, address):
    gpu["IRQ_ENABLE"] = 0xF
    gpu.launch(code + "\n ebreak", block=8)
    assert (gpu["FAULT_CAUSE"], gpu["FAULT_PC"]) == (cause, pc)
    if address:
        assert gpu["FAULT_ADDR"] == address
    assert gpu["FAULT_MHARTID"] == 0
    assert gpu["FAULT_COUNT"] >= 1
    assert gpu["ERROR_STATUS"] == KERNEL_FAULT | (VRAM_FAULT if cause in (FETCH, ACCESS) else 0)
    assert gpu["IRQ_STATUS"] == IRQ_ERROR
    assert gpu["GLOBAL_STATUS"] == READY | ERROR
    assert f"{pc:x}" in gpu.machine.log()


def test_fault_names_instruction_and_thread(gpu):
    """Lane 5 of block 3 loads from nowhere."""
    code = """
        csrr t0, mhartid
        li t1, 3 << 13 | 5
        lui t2, 0x70000
        bne t0, t1, 1f
        lw t3, 4(t2)
     1: ebreak
    """
    gpu.launch(code, grid=4, block=8)
    words = assemble(code)
    index = next(i for i, word in enumerate(words) if word & 0x7F == 0x03)
    assert gpu["FAULT_PC"] == 0x1000 + 4 * index
    assert (gpu["FAULT_INSN"], gpu["FAULT_MHARTID"], gpu["FAULT_COUNT"]) == (words[index], 3 << 13 | 5, 1)


def test_the_record_keeps_the_first_fault_until_it_is_cleared(gpu):
    gpu.launch(".word 0")
    first = gpu["FAULT_COUNT"]
    gpu.launch("lui t0, 0x70000\n lw t0, (t0)")
    assert (gpu["FAULT_CAUSE"], gpu["FAULT_PC"]) == (ILLEGAL, 0x1000)
    assert gpu["FAULT_COUNT"] > first
    gpu["ERROR_STATUS"] = KERNEL_FAULT
    assert [gpu["FAULT_" + name] for name in ("CAUSE", "PC", "ADDR", "INSN", "MHARTID", "COUNT")] == [0] * 6
    assert gpu["ERROR_STATUS"] == VRAM_FAULT
    gpu.launch("lui t0, 0x70000\n lw t0, (t0)")
    assert gpu["FAULT_CAUSE"] == ACCESS


@pytest.mark.parametrize("limit", ["max_insns=100000", "timeout_ms=50"])
def test_limits_end_an_endless_kernel(limit):
    with Machine(f"gpgpu,{limit}") as machine:
        gpu = Gpgpu(machine)
        gpu.launch(FOREVER)
        assert (gpu["FAULT_CAUSE"], gpu["ERROR_STATUS"]) == (LIMIT, KERNEL_FAULT)
        gpu.launch(STORE, args=[1])
        assert gpu.read_words(0x2000, 1) == [1]


def test_launch_in_the_background(async_gpu):
    """The store returns at once, the machine lives on, a second dispatch is refused, reset stops the kernel."""
    gpu = async_gpu
    gpu.machine.intercept("riscv.sifive.plic")
    gpu.prepare(FOREVER, grid=8, block=64)
    gpu["IRQ_ENABLE"] = IRQ_KERNEL
    gpu["DISPATCH"] = 1
    assert gpu["GLOBAL_STATUS"] == BUSY
    assert gpu.machine.monitor("query-status")["running"]
    gpu["DISPATCH"] = 1
    assert gpu["ERROR_STATUS"] == INVALID_COMMAND
    assert gpu["GLOBAL_STATUS"] == BUSY | ERROR
    gpu["GLOBAL_CTRL"] = RESET
    assert (gpu["GLOBAL_STATUS"], gpu["ERROR_STATUS"], gpu["IRQ_STATUS"]) == (READY, 0, 0)
    gpu.launch(STORE, args=[5])
    assert gpu.read_words(0x2000, 1) == [5]
    assert gpu["IRQ_STATUS"] == IRQ_KERNEL and not gpu.machine.raised


def test_background_launch_interrupts(async_gpu):
    gpu = async_gpu
    gpu.machine.intercept("riscv.sifive.plic")
    gpu.prepare(STORE, args=[9])
    gpu["IRQ_ENABLE"] = IRQ_KERNEL
    gpu["DISPATCH"] = 1
    wait_until(lambda: gpu["IRQ_STATUS"] == IRQ_KERNEL, "interrupt")
    assert gpu["GLOBAL_STATUS"] == READY
    assert gpu.read_words(0x2000, 1) == [9]
    assert gpu.machine.raised == {qtest.PLIC_INTX + gpu.slot % 4}


def test_registers_are_latched_at_dispatch(async_gpu):
    """A kernel waits for a word in VRAM; what the host writes into the registers meanwhile is the next launch's."""
    gpu = async_gpu
    gpu.prepare("li t0, 0x3000\n 1: lw t1, (t0)\n beqz t1, 1b\n li t0, 0x2000\n sw a0, (t0)\n ebreak", args=[77])
    gpu["DISPATCH"] = 1
    for name in ("KERNEL_ADDR_LO", "KERNEL_ARGS_LO", "GRID_DIM_X", "BLOCK_DIM_X"):
        gpu[name] = 0xFFFFFFFF
    assert gpu["GLOBAL_STATUS"] == BUSY
    gpu.write_words(0x3000, [1])
    gpu.wait_idle()
    assert (gpu["ERROR_STATUS"], gpu.read_words(0x2000, 1)) == (0, [77])


@pytest.mark.parametrize("_", range(20))
def test_reset_races_with_the_end_of_a_launch(async_gpu, _):
    gpu = async_gpu
    gpu.prepare(STORE, grid=64, block=32)
    for _ in range(20):
        gpu["IRQ_ENABLE"] = IRQ_KERNEL
        gpu["GLOBAL_CTRL"] = ENABLE
        gpu["KERNEL_ADDR_LO"] = 0x1000
        gpu["GRID_DIM_X"] = gpu["BLOCK_DIM_X"] = 64
        gpu["GRID_DIM_Y"] = gpu["GRID_DIM_Z"] = gpu["BLOCK_DIM_Y"] = gpu["BLOCK_DIM_Z"] = 1
        gpu["DISPATCH"] = 1
        gpu["GLOBAL_CTRL"] = RESET
        assert (gpu["GLOBAL_STATUS"], gpu["IRQ_STATUS"]) == (READY, 0)


def test_machine_reset_stops_a_kernel(async_gpu):
    async_gpu.prepare(FOREVER)
    async_gpu["DISPATCH"] = 1
    async_gpu.machine.monitor("system_reset")
    gpu = Gpgpu(async_gpu.machine)
    assert gpu["GLOBAL_STATUS"] == READY
    gpu.launch(STORE, args=[6])
    assert gpu.read_words(0x2000, 1) == [6]


def test_quit_while_a_kernel_runs(async_gpu):
    """Leaving the fixture quits; QEMU must end by itself."""
    async_gpu.prepare(FOREVER)
    async_gpu["DISPATCH"] = 1
    assert async_gpu["GLOBAL_STATUS"] == BUSY


def test_counters(gpu):
    gpu.launch("nop\n nop\n ebreak", grid=3, block=40)
    assert gpu.wide("COUNT_LAUNCHES") == 1
    assert gpu.wide("COUNT_INSNS") == 3 * 2 * 3  # blocks, warps, instructions
    assert gpu.wide("COUNT_LANE_INSNS") == 3 * 40 * 3
    assert gpu.wide("COUNT_BUSY_NS") > 0
    gpu["COUNT_CLEAR"] = 1
    assert [gpu.wide("COUNT_" + name) for name in ("LAUNCHES", "INSNS", "LANE_INSNS", "BUSY_NS")] == [0] * 4
