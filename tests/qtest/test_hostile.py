# SPDX-License-Identifier: MIT
"""Guests that mean harm, and the machine around them: it lives on, and the next kernel computes what it should.

Wild addresses and wrong launches are in test_dispatch.py, wrong transfers in test_dma.py, wrong queues in test_queue.py,
migration and unplugging in test_lifecycle.py.
"""
import random
import statistics
import time

import pytest

import qtest
from gpgpu import BUSY, DMA_BUSY, DMA_COMPLETE, ENABLE, INVALID_COMMAND, READY, REGISTERS, RESET, Gpgpu, assemble
from qtest import Machine, wait_until
from queue_driver import Queue, descriptor
from test_registers import RESET_VALUES, everything

BUFFER = qtest.RAM + 0x200000
COUNTERS = qtest.RAM + 0x1000
FOREVER = "1: j 1b"
STORE = "li t0, 0x2000\n sw a0, (t0)\n ebreak"
WAIT_AND_STORE = "li t0, 0x3000\n 1: lw t1, (t0)\n beqz t1, 1b\n li t0, 0x2000\n sw a0, (t0)\n ebreak"
# Processor 0 starts the kernel that the registers say; both count in words of memory for ever.
PROCESSORS = f"""
    csrr t0, mhartid
    li t1, 1
    slli t1, t1, 31          # RAM
    li t2, {COUNTERS - qtest.RAM}
    add t1, t1, t2
    slli t2, t0, 2
    add t1, t1, t2
    bnez t0, 1f
    li t2, {qtest.PCI_WINDOW + REGISTERS["DISPATCH"]}
    sw t2, (t2)
 1: lw t2, (t1)
    addi t2, t2, 1
    sw t2, (t1)
    j 1b
"""


def check_works(gpu, value=123):
    gpu.write_words(0x2000, [0])
    gpu.launch(STORE, args=[value])
    assert (gpu["ERROR_STATUS"], gpu.read_words(0x2000, 1)) == (0, [value])


def grows(read, what):
    """read() becomes larger: what it counts goes on."""
    before = read()
    wait_until(lambda: read() > before, what)


def round_trip(machine):
    """Seconds that the monitor takes to answer."""
    start = time.perf_counter()
    assert machine.monitor("query-status")["running"]
    return time.perf_counter() - start


def test_an_endless_kernel_keeps_nobody_waiting():
    """The processor that started it, another one and the monitor go on; a reset of the machine stops it."""
    with Machine("gpgpu", accel="tcg", arguments=("-smp", "2", "-bios", "none", "-S")) as machine:
        gpu = Gpgpu(machine)
        gpu.prepare(FOREVER, grid=8, block=64)
        machine.write_words(qtest.RAM, assemble(PROCESSORS))
        machine.monitor("cont")
        wait_until(lambda: gpu["GLOBAL_STATUS"] == BUSY, "the launch")
        for processor in (0, 1):
            grows(lambda at=COUNTERS + 4 * processor: machine.read(at), f"processor {processor}")
        grows(lambda: gpu.wide("COUNT_INSNS"), "the kernel")
        median = statistics.median(round_trip(machine) for _ in range(31))
        print(f"the monitor answers within {median * 1e3:.2f} ms")
        assert median < 0.1
        assert gpu["GLOBAL_STATUS"] == BUSY
        machine.write_words(qtest.RAM, assemble(FOREVER))  # for the processors, who begin again
        machine.monitor("system_reset")
        gpu = Gpgpu(machine)
        assert gpu["GLOBAL_STATUS"] == READY
        check_works(gpu)


@pytest.mark.parametrize("grid", [1 << 31, (1 << 11, 1 << 10, 1 << 10), (0xFFFFFFFF, 0xFFFFFFFF, 1)])
def test_grids_that_nobody_lives_to_see_the_end_of(async_gpu, grid):
    gpu = async_gpu
    gpu.prepare("ebreak", grid=grid)
    gpu["DISPATCH"] = 1
    assert (gpu["GLOBAL_STATUS"], gpu["ERROR_STATUS"]) == (BUSY, 0)
    grows(lambda: gpu.wide("COUNT_INSNS"), "the kernel")
    gpu["GLOBAL_CTRL"] = RESET
    assert gpu["GLOBAL_STATUS"] == READY
    check_works(gpu)


def test_a_kernel_that_rewrites_itself_runs_its_new_code_at_the_next_launch(gpu):
    code = """
        .option norelax
        lla t0, 1f
        lla t1, 2f
        lw t2, (t1)
        sw t2, (t0)
        fence
        li t3, 1
     1: nop
        li t0, 0x2000
        sw t3, (t0)
        ebreak
     2: addi t3, t3, 41
    """
    gpu.launch(code)
    assert (gpu["ERROR_STATUS"], gpu.read_words(0x2000, 1)) == (0, [1])
    gpu["DISPATCH"] = 1
    assert (gpu["ERROR_STATUS"], gpu.read_words(0x2000, 1)) == (0, [42])


def scribble(gpu, rng):
    gpu.write_words(0x1000, [rng.getrandbits(32) for _ in range(16)])
    gpu.write_words(0x800, [rng.getrandbits(32) for _ in range(8)])


@pytest.mark.parametrize("engine", ["interp", "auto", "jit"])
def test_code_and_arguments_rewritten_under_a_running_kernel(engine):
    """What runs has its code and its arguments; the next launch has what is there then."""
    with Machine(f"gpgpu,sync=off,engine={engine}") as machine:
        gpu, rng = Gpgpu(machine), random.Random(1)
        gpu.prepare(WAIT_AND_STORE, args=[77])
        gpu["DISPATCH"] = 1
        grows(lambda: gpu.wide("COUNT_INSNS"), "the kernel")
        for _ in range(50):
            scribble(gpu, rng)
        gpu.write_words(0x3000, [1])
        gpu.wait_idle()
        assert (gpu["ERROR_STATUS"], gpu.read_words(0x2000, 1)) == (0, [77])
        check_works(gpu)


@pytest.mark.parametrize("seed", range(4))
def test_code_and_arguments_rewritten_as_they_are_read(async_gpu, seed):
    """Any outcome will do but one: harm."""
    gpu, rng = async_gpu, random.Random(seed)
    for _ in range(15):
        gpu.prepare(WAIT_AND_STORE, grid=64, block=33)
        gpu["DISPATCH"] = 1
        for _ in range(10):
            scribble(gpu, rng)
        gpu["GLOBAL_CTRL"] = RESET
    check_works(gpu)


def test_a_transfer_and_a_launch_side_by_side(async_gpu):
    """Each goes on under the other, and neither starts twice."""
    gpu, size, end = async_gpu, 48 << 20, random.Random(2).randbytes(4096)
    gpu.machine.write_bytes(BUFFER + size - len(end), end)
    gpu.prepare(FOREVER)
    gpu["DISPATCH"] = 1
    gpu.start_dma(BUFFER, 1 << 20, size)
    gpu["DISPATCH"] = 1
    assert gpu["ERROR_STATUS"] == INVALID_COMMAND
    wait_until(lambda: gpu["DMA_STATUS"] != DMA_BUSY, "the transfer")
    assert (gpu["DMA_STATUS"], gpu["GLOBAL_STATUS"] & BUSY) == (DMA_COMPLETE, BUSY)
    assert gpu.machine.read_bytes(gpu.vram + (1 << 20) + size - len(end), len(end)) == end
    gpu["GLOBAL_CTRL"] = RESET
    gpu["GLOBAL_CTRL"] = ENABLE
    gpu.start_dma(BUFFER, 1 << 20, size)
    check_works(gpu)
    wait_until(lambda: gpu["DMA_STATUS"] == DMA_COMPLETE, "the transfer")


def test_a_device_beside_a_busy_one():
    with Machine("gpgpu,addr=1,sync=off", "gpgpu,addr=2,sync=off") as machine:
        busy, other = Gpgpu(machine, 1), Gpgpu(machine, 2, base=qtest.PCI_WINDOW + 0x20000000)
        busy.prepare(FOREVER, grid=8)
        busy["DISPATCH"] = 1
        check_works(other)
        other["GLOBAL_CTRL"] = RESET
        grows(lambda: busy.wide("COUNT_INSNS"), "the kernel of the first")


def start_kernel(gpu):
    gpu.prepare(FOREVER, grid=8, block=64)
    gpu["DISPATCH"] = 1


def start_transfer(gpu):
    gpu["GLOBAL_CTRL"] = ENABLE
    gpu.start_dma(BUFFER, 0x4000, 48 << 20)


def start_both(gpu):
    start_kernel(gpu)
    start_transfer(gpu)


def start_queue(gpu):
    gpu.write_words(0x1000, assemble(FOREVER))
    Queue(gpu).push(descriptor(), descriptor())


def start_queue_behind_a_dispatch(gpu):
    start_kernel(gpu)
    Queue(gpu).push(descriptor())


def fault(gpu):
    gpu["IRQ_ENABLE"] = 0xF
    gpu.launch(".word 0")
    assert gpu["FAULT_CAUSE"] and gpu["IRQ_STATUS"]


def interrupt_kernel(gpu):
    start_kernel(gpu)
    gpu.machine.monitor("stop")


STATES = {
    "disabled": lambda gpu: None,
    "idle": check_works,
    "kernel": start_kernel,
    "transfer": start_transfer,
    "kernel and transfer": start_both,
    "queue": start_queue,
    "queue behind a dispatch": start_queue_behind_a_dispatch,
    "fault": fault,
    "kernel interrupted by a stop": interrupt_kernel,
}


@pytest.mark.parametrize("how", ["soft", "machine"])
@pytest.mark.parametrize("begin", STATES.values(), ids=STATES.keys())
def test_reset_in_every_state(async_gpu, begin, how):
    gpu = async_gpu
    begin(gpu)
    if how == "soft":
        gpu["GLOBAL_CTRL"] = RESET
    else:
        gpu.machine.monitor("system_reset")
        gpu = Gpgpu(gpu.machine)
    gpu.machine.monitor("cont")
    assert everything(gpu) == {name: RESET_VALUES.get(name, 0) for name in REGISTERS}
    check_works(gpu)
    assert gpu.wide("COUNT_LAUNCHES") == 1
