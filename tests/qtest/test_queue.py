# SPDX-License-Identifier: MIT
"""The launch queue: order, wrap-around, faults, hostile guests, reset, unplug and migration."""
import random

import pytest

import pci
import qtest
from gpgpu import (BUSY, ENABLE, INVALID_COMMAND, IRQ_KERNEL, IRQ_QUEUE, KERNEL_FAULT, READY, RESET, VRAM_FAULT, Gpgpu)
from queue_driver import BASE, CHAINED, COMPLETION, DESCRIPTOR, HEADER, LAUNCH, SKIPPED, Queue, descriptor, load
from qtest import Machine
from test_lifecycle import Migration

# Appends the first argument word to a list at 0x2000, whose length is at 0x1ff0.
APPEND = "li t0, 0x1ff0\n lw t1, (t0)\n addi t2, t1, 1\n sw t2, (t0)\n slli t1, t1, 2\n add t0, t0, t1\n " \
         "sw a0, 16(t0)\n ebreak"
ILLEGAL = "nop\n .word 0"
FOREVER = "1: j 1b"
# Waits for the word at 0x3000, then appends.
WAIT_AND_APPEND = "li t0, 0x3000\n 1: lw t1, (t0)\n beqz t1, 1b\n " + APPEND
ARGS = 0x4000  # word i holds i + 1


@pytest.fixture(autouse=True)
def kernels(request):
    for name in ("gpu", "async_gpu", "msix_gpu"):
        if name in request.fixturenames:
            prepare(request.getfixturevalue(name))


def prepare(gpu):
    load(gpu, APPEND, 0x1000)
    load(gpu, ILLEGAL, 0x1100)
    load(gpu, FOREVER, 0x1200)
    load(gpu, WAIT_AND_APPEND, 0x1300)
    gpu.write_words(ARGS, range(1, 1001))


def append(number, **fields):
    return descriptor(args=ARGS + 4 * (number - 1), **fields)


def appended(gpu):
    return gpu.read_words(0x2000, gpu.read_words(0x1FF0, 1)[0])


def test_feature_bit(gpu):
    assert gpu["DEV_CAPS2"] & 0x80


def test_a_device_without_the_queue():
    with Machine("gpgpu,queue=off") as machine:
        gpu = Gpgpu(machine)
        assert gpu["DEV_CAPS2"] == 0x7F
        queue = Queue(gpu, enable=False)
        gpu["QUEUE_CTRL"] = 1
        assert (gpu["QUEUE_CTRL"], gpu["ERROR_STATUS"]) == (0, INVALID_COMMAND)
        queue.push(descriptor())
        assert (gpu["ERROR_STATUS"], gpu["GLOBAL_STATUS"] & BUSY) == (INVALID_COMMAND, 0)


def test_one_launch(gpu):
    queue = Queue(gpu)
    queue.push(append(7))
    assert queue.completed == 1
    assert queue.completion(0) == [0, 0, 0, 0, 0, 0, 0, 1]
    assert appended(gpu) == [7]
    assert (gpu["ERROR_STATUS"], gpu["IRQ_STATUS"], gpu["QUEUE_COMPLETED"]) == (0, 0, 1)
    assert gpu.wide("COUNT_LAUNCHES") == 1


def test_many_by_one_doorbell_in_order(gpu):
    queue = Queue(gpu)
    queue.push(*(append(i) for i in range(1, 9)))
    assert appended(gpu) == list(range(1, 9))
    assert [queue.completion(i)[7] for i in range(8)] == list(range(1, 9))


@pytest.mark.parametrize("size", [1, 2, 4, 256])
def test_the_ring_wraps(async_gpu, size):
    queue, rng, number = Queue(async_gpu, size), random.Random(size), 0
    while number < 300:
        batch = rng.randint(1, min(size, 300 - number))
        queue.push(*(append(number + i + 1) for i in range(batch)))
        number += batch
        queue.wait()
    assert appended(async_gpu) == list(range(1, 301))
    assert async_gpu["QUEUE_COMPLETED"] == 300


def test_doorbells_while_it_works(async_gpu):
    queue = Queue(async_gpu, 256)
    for i in range(1, 201):
        queue.push(append(i))
    queue.wait()
    assert appended(async_gpu) == list(range(1, 201))


def test_whole_grids(gpu):
    load(gpu, "csrr t0, mhartid\n slli t0, t0, 2\n li t1, 0x10000\n add t0, t0, t1\n sw a0, (t0)\n ebreak", 0x1400)
    Queue(gpu).push(append(5, kernel=0x1400, grid=(2, 1, 1), block=(64, 1, 1)))
    assert gpu.read_words(0x10000, 64) == [5] * 64
    assert gpu.read_words(0x10000 + (1 << 15), 64) == [5] * 64


def test_a_fault_is_in_its_completion_only(gpu):
    queue = Queue(gpu)
    queue.push(append(1), append(2, kernel=0x1100, block=(3, 1, 1)), append(3))
    assert queue.statuses(3) == [0, KERNEL_FAULT, 0]
    assert queue.completion(1) == [KERNEL_FAULT, 1, 0x1104, 0, 0, 0, 3, 2]
    assert appended(gpu) == [1, 3]
    assert (gpu["ERROR_STATUS"], gpu["FAULT_CAUSE"], gpu["IRQ_STATUS"]) == (0, 0, 0)
    assert "descriptor 1: " in gpu.machine.log()


def test_fault_address(gpu):
    load(gpu, "li t0, 0x70000000\n sw t0, 4(t0)", 0x1400)
    queue = Queue(gpu)
    queue.push(descriptor(kernel=0x1400))
    assert queue.completion(0)[:4] == [KERNEL_FAULT | VRAM_FAULT, 3, 0x1404, 0x70000004]


def test_chained_descriptors_are_skipped_after_a_failure(gpu):
    queue = Queue(gpu)
    chained = LAUNCH | CHAINED
    queue.push(append(1, command=chained), append(2, kernel=0x1100, command=chained), append(3, command=chained),
               append(4, command=chained), append(5), append(6, command=chained))
    assert queue.statuses(6) == [0, KERNEL_FAULT, SKIPPED, SKIPPED, 0, 0]
    assert appended(gpu) == [1, 5, 6]


BAD = {
    "no command": {"command": 0},
    "unknown command": {"command": 2},
    "unknown flag": {"command": LAUNCH | 0x200},
    "reserved": {"reserved": (0, 0, 0, 1)},
    "misaligned kernel": {"kernel": 0x1002},
    "kernel beyond vram": {"kernel": 64 << 20},
    "kernel beyond 4G": {"kernel": 0x1_0000_1000},
    "args beyond vram": {"args": (1 << 64) - 4},
    "empty grid": {"grid": (1, 0, 1)},
    "endless grid": {"grid": (0xFFFFFFFF,) * 3},
    "empty block": {"block": (0, 1, 1)},
    "large block": {"block": (1025, 1, 1)},
    "overflowing block": {"block": (0x10000, 0x10000, 1)},
    "shared": {"shared": 0x10001},
}


@pytest.mark.parametrize("fields", BAD.values(), ids=BAD.keys())
def test_bad_descriptors_are_refused_and_the_next_runs(gpu, fields):
    queue = Queue(gpu)
    queue.push(descriptor(**fields), append(9))
    assert queue.completion(0) == [INVALID_COMMAND, 7, 0, 0, 0, 0, 1, 1]
    assert (queue.statuses(2)[1], appended(gpu)) == (0, [9])
    assert "descriptor 0 refused" in gpu.machine.log()


def test_random_descriptors(async_gpu):
    """Nothing a descriptor holds harms the device; launches that run for ever are stopped by the reset."""
    gpu, seed = async_gpu, random.SystemRandom().getrandbits(32)
    print("seed", seed)
    rng = random.Random(seed)
    queue = Queue(gpu, 256)
    for _ in range(256):
        data = bytearray(append(1))
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(data))
            data[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        queue.put(bytes(data))
    queue.ring()
    gpu["GLOBAL_CTRL"] = RESET | ENABLE
    prepare(gpu)  # the launches may have written anywhere
    gpu.write_words(0x1FF0, [0])
    again = Queue(gpu)
    again.push(append(3))
    again.wait()
    assert appended(gpu) == [3]


def test_what_is_rewritten_after_the_doorbell_has_no_effect(async_gpu):
    gpu = async_gpu
    queue = Queue(gpu)
    queue.push(append(1, kernel=0x1300), append(2), append(3))
    gpu.machine.write_bytes(BASE + 8, b"\xff" * (HEADER - 8 + 8 * (DESCRIPTOR + COMPLETION)))
    gpu.write_words(0x3000, [1])
    queue.wait()
    assert appended(gpu) == [1, 2, 3]
    assert [queue.completion(i)[7] for i in range(3)] == [1, 2, 3]


def test_header_is_not_believed(gpu):
    queue = Queue(gpu)
    queue.push(append(1))
    gpu.machine.write(BASE, 0xDEAD)
    queue.push(append(2))
    assert (queue.completed, gpu["QUEUE_COMPLETED"], appended(gpu)) == (2, 2, [1, 2])


@pytest.mark.parametrize("tail", [9, 0x80000000, 0xFFFFFFFF])
def test_doorbell_beyond_the_ring(gpu, tail):
    queue = Queue(gpu)
    queue.ring(tail)
    assert (gpu["ERROR_STATUS"], gpu["QUEUE_COMPLETED"], gpu["GLOBAL_STATUS"] & BUSY) == (INVALID_COMMAND, 0, 0)
    gpu["ERROR_STATUS"] = INVALID_COMMAND
    queue.push(append(1))
    assert (queue.completed, gpu["ERROR_STATUS"]) == (1, 0)


def test_doorbell_while_full_and_backwards(async_gpu):
    gpu = async_gpu
    queue = Queue(gpu, 4)
    queue.push(append(1, kernel=0x1300), append(2), append(3), append(4))
    for tail in (5, 3, 0):
        gpu["ERROR_STATUS"] = INVALID_COMMAND
        queue.ring(tail)
        assert gpu["ERROR_STATUS"] == INVALID_COMMAND, tail
    gpu.write_words(0x3000, [1])
    queue.wait()
    queue.push(append(5))
    queue.wait()
    assert appended(gpu) == [1, 2, 3, 4, 5]


def test_doorbell_with_nothing_new(gpu):
    queue = Queue(gpu)
    queue.push(append(1))
    queue.ring()
    assert (appended(gpu), gpu["ERROR_STATUS"]) == ([1], 0)


@pytest.mark.parametrize("size, base", [
    (0, BASE), (3, BASE), (512, BASE), (0xFFFFFFFF, BASE), (0x80000000, BASE), (8, BASE + 32), (8, 0),
    (8, qtest.RAM + (128 << 20) - 64), (8, 0xFFFFFFFFFFFFFFC0), (256, 0xFFFFFFFFFFFF0000), (8, 0x20000000)])
def test_places_where_no_queue_can_be(gpu, size, base):
    """The last is flash, which is read-only memory."""
    queue = Queue(gpu, size, base, enable=False)
    gpu["QUEUE_CTRL"] = 1
    assert (gpu["QUEUE_CTRL"], gpu["ERROR_STATUS"]) == (0, INVALID_COMMAND)
    queue.size = 8
    queue.ring(1)
    assert (gpu["GLOBAL_STATUS"] & BUSY, gpu["QUEUE_COMPLETED"]) == (0, 0)


def test_own_registers_cannot_be_a_queue(gpu):
    for base in (gpu.ctrl, gpu.doorbell):
        Queue(gpu, 8, base, enable=False)
        gpu["QUEUE_CTRL"] = 1
        assert gpu["QUEUE_CTRL"] == 0


def test_a_queue_in_vram(gpu):
    queue = Queue(gpu, 8, gpu.vram + 0x100000)
    queue.push(append(4))
    assert (queue.completed, appended(gpu)) == (1, [4])


def test_moving_the_registers_does_not_move_the_queue(gpu):
    queue = Queue(gpu)
    gpu.set_wide("QUEUE_BASE", 0xFFFFFFFFFFFFFFFF)
    gpu["QUEUE_SIZE"] = 0xFFFFFFFF
    gpu["QUEUE_CTRL"] = 1
    queue.push(append(1))
    assert (queue.completed, gpu["ERROR_STATUS"]) == (1, 0)


def test_disabled_device(gpu):
    queue = Queue(gpu)
    gpu["GLOBAL_CTRL"] = 0
    queue.push(append(1))
    assert (gpu["ERROR_STATUS"], queue.completed) == (INVALID_COMMAND, 0)
    gpu["GLOBAL_CTRL"] = ENABLE
    queue.ring()
    assert queue.completed == 1


def test_disabling_stops_and_forgets(async_gpu):
    gpu = async_gpu
    queue = Queue(gpu)
    queue.push(append(1), append(2, kernel=0x1200), append(3))
    qtest.wait_until(lambda: queue.completed == 1, "first")
    assert gpu["GLOBAL_STATUS"] == BUSY
    gpu["QUEUE_CTRL"] = 0
    assert gpu["GLOBAL_STATUS"] == READY
    assert (queue.completed, queue.statuses(3), appended(gpu)) == (1, [0, 0, 0], [1])
    again = Queue(gpu)
    assert (again.completed, gpu["QUEUE_COMPLETED"]) == (0, 0)
    again.push(append(4))
    again.wait()
    assert appended(gpu) == [1, 4]


@pytest.mark.parametrize("how", ["soft", "machine", "bus master"])
def test_reset_in_flight(async_gpu, how):
    gpu = async_gpu
    queue = Queue(gpu)
    queue.interrupt_at(1)
    queue.push(append(1, kernel=0x1200), append(2))
    if how == "soft":
        gpu["GLOBAL_CTRL"] = RESET
    elif how == "machine":
        gpu.machine.monitor("system_reset")
        gpu = Gpgpu(gpu.machine)
    else:
        gpu.enable(pci.MEMORY)
        gpu.enable()
    assert (gpu["GLOBAL_STATUS"], gpu["QUEUE_CTRL"], gpu["IRQ_STATUS"]) == (READY, 0, 0)
    assert (queue.completed, gpu["QUEUE_COMPLETED"]) == (0, 0)
    queue.ring(1)
    assert gpu["ERROR_STATUS"] == INVALID_COMMAND
    again = Queue(gpu)
    again.push(append(3))
    again.wait()
    assert appended(gpu) == [3]


def test_without_bus_mastering_there_is_no_queue(gpu):
    gpu.enable(pci.MEMORY)
    Queue(gpu, enable=False)
    gpu["QUEUE_CTRL"] = 1
    assert (gpu["QUEUE_CTRL"], gpu["ERROR_STATUS"]) == (0, INVALID_COMMAND)


def test_interrupt_when_asked(gpu):
    gpu["IRQ_ENABLE"] = IRQ_QUEUE
    gpu.machine.intercept("riscv.sifive.plic")
    queue = Queue(gpu)
    queue.interrupt_at(3)
    queue.push(append(1), append(2))
    assert gpu["IRQ_STATUS"] == 0
    queue.push(append(3), append(4))
    assert gpu["IRQ_STATUS"] == IRQ_QUEUE
    assert gpu.machine.raised
    gpu["IRQ_ACK"] = IRQ_QUEUE
    assert not gpu.machine.raised


def test_interrupt_in_the_background(async_gpu):
    gpu = async_gpu
    queue = Queue(gpu)
    queue.interrupt_at(2)
    queue.push(append(1, kernel=0x1300), append(2))
    assert gpu["IRQ_STATUS"] == 0
    gpu.write_words(0x3000, [1])
    qtest.wait_until(lambda: gpu["IRQ_STATUS"] == IRQ_QUEUE, "interrupt")
    assert queue.completed == 2


def test_message_signalled_interrupt(msix_gpu):
    """Vector 3, pending while it is masked."""
    gpu = msix_gpu
    gpu.msix_control(pci.MSIX_ENABLE)
    gpu["IRQ_ENABLE"] = IRQ_QUEUE
    queue = Queue(gpu)
    queue.interrupt_at(1)
    queue.push(append(1))
    assert gpu.machine.read(gpu.ctrl + 0xFF000) == 1 << 3


def test_registers_and_queue_take_turns(async_gpu):
    """A dispatch is refused while descriptors run; descriptors wait for a dispatch."""
    gpu = async_gpu
    queue = Queue(gpu)
    queue.push(append(1, kernel=0x1300))
    gpu["DISPATCH"] = 1
    assert gpu["ERROR_STATUS"] == INVALID_COMMAND
    gpu.write_words(0x3000, [1])
    queue.wait()
    gpu["ERROR_STATUS"] = INVALID_COMMAND
    gpu.write_words(0x3000, [0])
    gpu.prepare(WAIT_AND_APPEND, at=0x1500, args=[2])
    gpu["DISPATCH"] = 1
    queue.push(append(3))
    assert queue.completed == 1
    gpu.write_words(0x3000, [1])
    queue.wait()
    assert appended(gpu) == [1, 2, 3]
    assert (gpu["ERROR_STATUS"], gpu["IRQ_STATUS"] & IRQ_KERNEL) == (0, IRQ_KERNEL)


def test_a_stop_completes_what_ends_soon_and_starts_nothing(async_gpu):
    gpu = async_gpu
    load(gpu, "1: addi a0, a0, -1\n bnez a0, 1b\n li a0, 1\n " + APPEND, 0x1500)
    gpu.write_words(0x5000, [3_000_000])
    queue = Queue(gpu)
    queue.interrupt_at(1)
    queue.push(descriptor(kernel=0x1500, args=0x5000), append(2))
    gpu.machine.monitor("stop")
    assert (queue.completed, appended(gpu), gpu["IRQ_STATUS"]) == (1, [1], IRQ_QUEUE)
    gpu.machine.monitor("cont")
    queue.wait()
    assert appended(gpu) == [1, 2]


def test_a_stop_interrupts_what_does_not_end_and_it_starts_again(async_gpu):
    gpu = async_gpu
    queue = Queue(gpu)
    queue.push(append(1, kernel=0x1300), append(2))
    gpu.machine.monitor("stop")
    assert (queue.completed, gpu["GLOBAL_STATUS"]) == (0, BUSY)
    gpu.write_words(0x3000, [1])
    assert queue.completed == 0
    gpu.machine.monitor("cont")
    queue.wait()
    assert (queue.statuses(2), appended(gpu)) == ([0, 0], [1, 2])


def test_migration_in_flight(tmp_path):
    """Fetched descriptors and the position in the ring arrive, though the ring was overwritten meanwhile."""
    migration = Migration(tmp_path, "gpgpu,sync=off")
    with migration.source() as machine:
        gpu = Gpgpu(machine)
        prepare(gpu)
        queue = Queue(gpu, 4)
        for i in range(1, 7):
            queue.push(append(i))
            queue.wait()
        queue.push(append(7, kernel=0x1300), append(8, kernel=0x1100), append(9, command=LAUNCH | CHAINED))
        machine.write_bytes(BASE + HEADER, bytes(4 * DESCRIPTOR))
        migration.save(machine)
    with migration.target() as machine:
        gpu = migration.arrived(machine)
        queue.gpu = gpu
        gpu.doorbell = gpu.ctrl + 0x100000
        assert (gpu["QUEUE_COMPLETED"], gpu["GLOBAL_STATUS"], gpu["QUEUE_CTRL"]) == (6, BUSY, 1)
        gpu.write_words(0x3000, [1])
        queue.wait()
        assert [queue.completion(i)[0] for i in (6, 7, 8)] == [0, KERNEL_FAULT, SKIPPED]
        queue.push(append(10))
        queue.wait()
        assert appended(gpu) == [1, 2, 3, 4, 5, 6, 7, 10]
