# SPDX-License-Identifier: MIT
"""Kernels run through the device: identity of threads, arithmetic, narrow floats, warps and blocks together.

The first ones do what the public tests of the educational device do; software written for it runs here unchanged.
What each instruction computes in every corner is tested against the engine itself, in tests/unit and
tests/conformance.
"""
import pytest

from gpgpu import READY, REGISTERS, RESET, Gpgpu, assemble, float_words, floats
from qtest import Machine

OUT = 0x4000
# Threads store at OUT + 4 * their number in the grid; t0 is that number, t1 the address.
PROLOGUE = """
    lui s0, 0x80000
    lw t0, 0x10(s0)     # block
    lw t1, 0x20(s0)     # threads of a block
    mul t0, t0, t1
    lw t1, 0(s0)        # thread
    add t0, t0, t1
    slli t1, t0, 2
    li t2, 0x4000
    add t1, t1, t2
"""


def narrow(name, to_single):
    """A conversion between single precision and a narrow format, fa0 to fa0."""
    funct7, rs2 = {"bf16": (0x22, 0), "e4m3": (0x24, 0), "e5m2": (0x24, 2), "e2m1": (0x26, 0)}[name]
    return f".insn r 0x53, 0, {funct7}, fa0, fa0, f{rs2 + (not to_single)}\n"


def run(gpu, body, count=1, **options):
    """The words that `count` threads of one block leave at OUT."""
    gpu.write_words(OUT, [0xDEADBEEF] * (count + 1))
    gpu.launch(PROLOGUE + body + "\n ebreak", **{"block": count, **options})
    assert gpu["ERROR_STATUS"] == 0, gpu.machine.log()
    assert gpu["GLOBAL_STATUS"] == READY
    assert gpu.read_words(OUT + 4 * count, 1) == [0xDEADBEEF]
    return gpu.read_words(OUT, count)


def test_kernel_at_address_zero_with_registers_otherwise_at_reset(gpu):
    """As the public tests launch: code at 0, no argument block."""
    code = assemble("csrr t1, mhartid\n andi t1, t1, 31\n slli t2, t1, 2\n lui t3, 1\n add t3, t3, t2\n sw t1, (t3)\n ebreak")
    gpu.write_words(0, code)
    gpu["GLOBAL_CTRL"] = 1
    for name in ("GRID_DIM_X", "GRID_DIM_Y", "GRID_DIM_Z", "BLOCK_DIM_Y", "BLOCK_DIM_Z"):
        gpu[name] = 1
    gpu["BLOCK_DIM_X"] = 8
    gpu["DISPATCH"] = 1
    assert gpu["GLOBAL_STATUS"] & READY
    assert gpu.read_words(0x1000, 9) == [*range(8), 0]


def test_simt_context_registers_are_cleared_by_reset(gpu):
    names = [name for name, offset in REGISTERS.items() if 0x1000 <= offset <= 0x2004 and name != "BARRIER"]
    for value, name in enumerate(names, 1):
        gpu[name] = value
    assert [gpu[name] for name in names] == list(range(1, len(names) + 1))
    gpu["GLOBAL_CTRL"] = RESET
    assert [gpu[name] for name in names] == [0] * len(names)


def test_mhartid_names_block_warp_and_lane(gpu):
    got = run(gpu, "csrr t2, mhartid\n sw t2, (t1)", count=3 * 70, grid=3, block=70)
    assert got == [block << 13 | thread // 32 << 5 | thread % 32 for block in range(3) for thread in range(70)]


def test_arguments_are_in_registers(gpu):
    body = "".join(f"sw a{i}, {4 * i}(t1)\n" for i in range(8))
    gpu.launch(PROLOGUE + body + "ebreak", args=range(100, 108))
    assert gpu.read_words(OUT, 8) == list(range(100, 108))


def test_integer_vector_add(gpu):
    count = 1000
    a, b = [i * 7 for i in range(count)], [0xFFFFFFFF - i * 3 for i in range(count)]
    gpu.write_words(0x10000, a)
    gpu.write_words(0x20000, b)
    body = """
        li t2, 1000
        bgeu t0, t2, 1f
        slli t3, t0, 2
        add t4, a0, t3
        lw t4, (t4)
        add t5, a1, t3
        lw t5, (t5)
        add t4, t4, t5
        sw t4, (t1)
     1:"""
    got = run(gpu, body, count, grid=16, block=64, args=[0x10000, 0x20000])
    assert got == [(x + y) & 0xFFFFFFFF for x, y in zip(a, b)]


def test_float_kernel(gpu):
    body = "fcvt.s.w fa0, t0\n li t2, 2\n fcvt.s.w fa1, t2\n fmul.s fa0, fa0, fa1\n li t2, 1\n fcvt.s.w fa1, t2\n" \
           "fadd.s fa0, fa0, fa1\n fcvt.w.s t2, fa0, rtz\n sw t2, (t1)"
    assert run(gpu, body, 8) == [2 * i + 1 for i in range(8)]


def test_float_vector_of_every_operation(gpu):
    values = [1.5, -2.25, 1e-3, 7.0]
    gpu.write_words(0x10000, float_words(values))
    body = "slli t2, t0, 2\n add t2, t2, a0\n flw fa0, (t2)\n {}\n fsw fa0, (t1)"
    for instruction, function in {
        "fadd.s fa0, fa0, fa0": lambda x: x + x, "fmul.s fa0, fa0, fa0": lambda x: x * x,
        "fsub.s fa0, fa0, fa0": lambda x: 0.0, "fdiv.s fa0, fa0, fa0": lambda x: 1.0,
        "fmul.s fa0, fa0, fa0\n fsqrt.s fa0, fa0": abs, "fmadd.s fa0, fa0, fa0, fa0": lambda x: x * x + x,
        "fneg.s fa0, fa0": lambda x: -x,
    }.items():
        got = floats(run(gpu, body.format(instruction), 4, args=[0x10000]))
        assert got == pytest.approx([function(x) for x in values], rel=1e-6), instruction


@pytest.mark.parametrize("kind, value, expected", [
    ("bf16", 42, 42), ("bf16", -3, -3), ("e4m3", 2, 2), ("e4m3", -2, -2), ("e5m2", 4, 4), ("e2m1", 2, 2),
    ("e4m3", 0, 0), ("e2m1", 0, 0), ("e2m1", 100, 6), ("e2m1", -100, -6), ("e4m3", 1000, 448), ("e4m3", -1000, -448),
    ("e5m2", 60000, 57344), ("e5m2", 100000, 57344),
])
def test_narrow_floats_there_and_back(gpu, kind, value, expected):
    body = f"fcvt.s.w fa0, a0\n {narrow(kind, False)} {narrow(kind, True)} fcvt.w.s t2, fa0, rtz\n sw t2, (t1)"
    assert run(gpu, body, 4, args=[value & 0xFFFFFFFF]) == [expected & 0xFFFFFFFF] * 4


@pytest.mark.parametrize("kind, expected", [("bf16", float("inf")), ("e4m3", 448.0), ("e5m2", 57344.0), ("e2m1", 6.0)])
def test_narrow_infinity(gpu, kind, expected):
    body = f"fmv.w.x fa0, a0\n {narrow(kind, False)} {narrow(kind, True)} fsw fa0, (t1)"
    assert floats(run(gpu, body, args=[0x7F800000])) == [expected]


@pytest.mark.parametrize("kind, one", [("bf16", 0x3F80), ("e4m3", 0x38), ("e5m2", 0x3C), ("e2m1", 0x2)])
def test_narrow_encoding_of_one(gpu, kind, one):
    body = f"li t2, 1\n fcvt.s.w fa0, t2\n {narrow(kind, False)} fmv.x.w t2, fa0\n sw t2, (t1)"
    assert run(gpu, body)[0] & 0xFFFF == one


def test_divergence_rejoins(gpu):
    """Odd lanes loop thread times, even ones not at all; then all store together."""
    body = "li t2, 0\n andi t3, t0, 1\n beqz t3, 2f\n mv t4, t0\n 1: addi t2, t2, 2\n addi t4, t4, -1\n bnez t4, 1b\n" \
           "2: addi t2, t2, 1\n sw t2, (t1)"
    assert run(gpu, body, 64) == [2 * i + 1 if i % 2 else 1 for i in range(64)]


def test_barrier_and_shared_memory(gpu):
    """A block of four warps reverses its threads' numbers."""
    body = """
        lui s1, 0x90000
        lw t3, (s0)
        slli t4, t3, 2
        add t4, t4, s1
        sw t3, (t4)
        li t5, 0x80001000
        sw zero, (t5)
        li t4, 127
        sub t4, t4, t3
        slli t4, t4, 2
        add t4, t4, s1
        lw t4, (t4)
        sw t4, (t1)"""
    assert run(gpu, body, 256, grid=2, block=128, shared=512) == [*range(127, -1, -1)] * 2


def test_ballot_and_exchange(gpu):
    body = """
        li t3, 0x80001000
        andi t4, t0, 3
        seqz t4, t4
        sw t4, 0x10(t3)      # every fourth lane votes
        lw t5, 0x10(t3)
        slli t4, t0, 2
        add t4, t4, t3
        sw t0, 0x100(t4)     # own slot
        xori t4, t0, 1
        slli t4, t4, 2
        add t4, t4, t3
        lw t4, 0x100(t4)     # the neighbour's
        slli t4, t4, 16
        andi t5, t5, 0xff
        or t5, t5, t4
        sw t5, (t1)"""
    assert run(gpu, body, 32) == [(i ^ 1) << 16 | 0x11 for i in range(32)]


def test_atomic_sum_over_blocks(gpu):
    gpu.write_words(0x3000, [0])
    gpu.launch("li t0, 0x3000\n li t1, 3\n amoadd.w zero, t1, (t0)\n ebreak", grid=(10, 5, 2), block=(8, 4, 3))
    assert gpu.read_words(0x3000, 1) == [3 * 100 * 96]


def test_code_changed_between_launches(gpu):
    for value in range(1, 50):
        gpu.launch(f"li t0, 0x2000\n li t1, {value}\n sw t1, (t0)\n ebreak")
        assert gpu.read_words(0x2000, 1) == [value]


@pytest.mark.parametrize("engine", ["auto", "interp", "jit", "check"])
def test_engines_agree(engine):
    with Machine(f"gpgpu,engine={engine}") as machine:
        gpu = Gpgpu(machine)
        test_divergence_rejoins(gpu)
        test_barrier_and_shared_memory(gpu)


def test_division_by_zero(gpu):
    """The results that the specification names, and no trap (M and F extensions)."""
    body = "div t2, a0, a1\n divu t3, a0, a1\n rem t4, a0, a1\n remu t5, a0, a1\n" \
           "fmv.w.x fa0, zero\n fdiv.s fa0, fa0, fa0\n fmv.x.w t6, fa0\n" \
           + "".join(f"sw {register}, {4 * i}(t1)\n" for i, register in enumerate(("t2", "t3", "t4", "t5", "t6")))
    for dividend in (0, 7, 0x80000000):
        gpu.launch(PROLOGUE + body + "ebreak", args=[dividend, 0])
        assert (gpu["ERROR_STATUS"], gpu.read_words(OUT, 5)) == (0, [0xFFFFFFFF, 0xFFFFFFFF, dividend, dividend, 0x7FC00000])


def test_blocks_are_numbered_x_fastest(gpu):
    """In mhartid, against the three indices of the control page."""
    body = """
        lw t0, 0x10(s0)
        lw t2, 0x14(s0)
        lw t3, 0x18(s0)
        csrr t1, mhartid
        srli t1, t1, 13
        slli t2, t2, 4
        slli t3, t3, 8
        or t0, t0, t2
        or t0, t0, t3
        slli t1, t1, 2
        li t2, 0x4000
        add t1, t1, t2
        sw t0, (t1)"""
    got = run(gpu, body, 3 * 4 * 5, grid=(3, 4, 5), block=1)
    assert got == [x | y << 4 | z << 8 for z in range(5) for y in range(4) for x in range(3)]
