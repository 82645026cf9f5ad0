# SPDX-License-Identifier: MIT
"""A guest that does anything: random accesses to registers, doorbells, MSI-X table, configuration space, VRAM and the
memory that queue and DMA work on, while the machine is stopped, continued and reset. After each round the device must still be there, stop when told, and run a kernel
right. FUZZ_SECONDS=N plays for N seconds, WEFT_SEED=N repeats a round."""
import os
import random
import time

import qtest
from gpgpu import DMA_START, ENABLE, REGISTERS, RESET, Gpgpu
from qtest import Machine

RAM = 0x80000000
ROUNDS = 12
ACCESSES = 400
LIMIT = 5  # FAULT_CAUSE
NOTABLE = [0, 1, 2, 3, 4, 7, 8, 31, 32, 0xFFF, 0x1000, 0x10000, 0xFFFFF, 0x100000, 0x3FFFFFF, 0x4000000, 0x7FFFFFFF,
           0x80000000, 0xFFFFFFFC, 0xFFFFFFFF]
OFFSETS = sorted(REGISTERS.values())
ADD_ONE = """
    csrr t0, mhartid
    andi t0, t0, 31
    slli t0, t0, 2
    add  a0, a0, t0
    lw   t1, 0(a0)
    addi t1, t1, 1
    sw   t1, 0(a0)
    ebreak
"""


def number(rng, gpu):
    """Mostly numbers that mean something to the device: sizes, edges, its own addresses, memory."""
    return rng.choice([
        lambda: rng.choice(NOTABLE),
        lambda: rng.getrandbits(32),
        lambda: RAM + rng.randrange(0, 1 << 20, 4),
        lambda: (gpu.ctrl + rng.choice(OFFSETS)) & 0xFFFFFFFF,
        lambda: (gpu.vram + rng.randrange(0, 1 << 16)) & 0xFFFFFFFF,
        lambda: (rng.choice(NOTABLE) + rng.randrange(-8, 8)) & 0xFFFFFFFF,
    ])()


def interfere(rng, gpu):
    """What the machine's owner does meanwhile."""
    if rng.randrange(3):
        gpu.machine.monitor("stop")
        gpu.machine.monitor("cont")
    else:
        gpu.machine.monitor("system_reset")
        set_up(gpu)


def set_up(gpu):
    for index, address in ((0, gpu.ctrl), (2, gpu.vram), (4, gpu.doorbell)):
        gpu.assign(index, address)
    gpu.enable()


def access(rng, gpu):
    machine, size = gpu.machine, rng.choice([4, 4, 4, 4, 1, 2, 8])
    value = number(rng, gpu)
    kind = rng.randrange(100)
    if kind < 55:
        machine.write(gpu.ctrl + rng.choice(OFFSETS), value, 4)
    elif kind < 65:
        machine.write(gpu.ctrl + rng.randrange(0, 1 << 20), value & (1 << 8 * size) - 1, size)
    elif kind < 72:
        machine.read(gpu.ctrl + rng.randrange(0, 1 << 20), size)
    elif kind < 78:
        machine.write(gpu.doorbell + rng.choice([0, 0, 0, rng.randrange(0, 1 << 16)]), value & (1 << 8 * size) - 1, size)
    elif kind < 84:
        machine.write_words(RAM + rng.randrange(0, 1 << 16, 4), [number(rng, gpu) for _ in range(16)])
    elif kind < 90:
        machine.write_words(gpu.vram + rng.randrange(0, 1 << 14, 4), [rng.getrandbits(32) for _ in range(8)])
    elif kind < 94:
        gpu["GLOBAL_CTRL"] = rng.choice([0, ENABLE, ENABLE, ENABLE | RESET])
    elif kind < 97:
        gpu["DMA_CTRL"] = DMA_START | rng.randrange(16)
    else:
        gpu.write(rng.choice([4, 0x34, rng.randrange(0x40, 0x100) & ~3]), rng.getrandbits(32))


def adds_one(gpu):
    """Whether a kernel ran; it must be right. On a busy machine the time limit may come first."""
    gpu["ERROR_STATUS"] = 0xF
    gpu.write_words(0x10000, range(100, 132))
    gpu.launch(ADD_ONE, block=32, args=(0x10000,))
    if gpu["FAULT_CAUSE"] == LIMIT:
        return False
    assert gpu["ERROR_STATUS"] == 0
    assert gpu.read_words(0x10000, 32) == list(range(101, 133))
    return True


def check_alive(gpu):
    """Set up anew what the round may have taken away; then the device works as after power-on."""
    set_up(gpu)
    gpu["GLOBAL_CTRL"] = ENABLE | RESET
    qtest.wait_until(lambda: gpu["GLOBAL_STATUS"] == 1, "reset")
    assert gpu["DEV_ID"] == 0x47505055
    qtest.wait_until(lambda: adds_one(gpu), "a kernel")


def play(seed, options):
    print(f"WEFT_SEED={seed} {options}")
    rng = random.Random(seed)
    with Machine(f"gpgpu,id=gpu0,{options}") as machine:
        gpu = Gpgpu(machine)
        for _ in range(ACCESSES):
            access(rng, gpu)
            if rng.randrange(100) == 0:
                interfere(rng, gpu)
        check_alive(gpu)


def test_random_accesses():
    if "WEFT_SEED" in os.environ:
        seeds = [int(os.environ["WEFT_SEED"])]
    else:
        seeds = range(1, ROUNDS + 1)
    for seed in seeds:
        play(seed, "sync=off,max_insns=100000" if seed % 2 else "sync=on,max_insns=100000,timeout_ms=200")
    end = time.monotonic() + int(os.environ.get("FUZZ_SECONDS", "0"))
    while time.monotonic() < end:
        play(random.randrange(1 << 32), "sync=off,timeout_ms=100")
