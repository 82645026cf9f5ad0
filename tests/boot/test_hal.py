# SPDX-License-Identifier: MIT
"""The hal from inside (apps/selftest), and every way to die (apps/crash): told with its place, never code 0."""
import pytest
from boot import boot

MACHINES = {"plic": "virt", "aia": "virt,aia=aplic-imsic"}
machine = pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES.keys())

# case: (what the panic line says, what the backtrace names)
CRASHES = {
    "null": ("store page fault at 0x8 (null pointer)", "crash_null+"),
    "text": ("store page fault at 0x802", "crash_text+"),
    "rodata": ("store page fault at 0x802", "crash_rodata+"),
    "execute": ("instruction page fault at 0x802", "crash_execute+"),
    "firmware": ("load page fault at 0x80000000", "crash_firmware+"),
    "stack": ("(stack overflow)", "recurse+"),
    "smash": ("stack smashed", "crash_smash+"),
    "panic": ("asked for, value 42", "crash_panic+"),
    "assert": ("assertion failed: zero == 1", "crash_assert+"),
    "abort": ("abort()", "crash_abort+"),
    "double-free": ("freed twice", "crash_double_free+"),
    "overrun": ("overrun", "crash_overrun+"),
    "mmio": ("mmio: 4 bytes at offset 0x6 of 0x10000000, size 0x8", "crash_mmio+"),
    "unmapped": ("load page fault at 0xffffffc0", "crash_unmapped+"),
    "interrupt": ("store page fault at 0x8 (null pointer)", "bad_handler+"),
}


@machine
def test_selftest(machine):
    result = boot("selftest", MACHINE=machine, APPEND="selftest=12345678 app.args=\"one 'two words'\" loglevel=debug")
    assert result.failure is None, result.output
    assert 'a long value is cut: "1234567"' in result.output
    assert "main() gets the words of app.args: 2" in result.output
    assert "irq: " in result.output  # a line of the level debug


@pytest.mark.parametrize("size", ["32M", "3G"])
def test_selftest_with_other_memory_sizes(size):
    result = boot("selftest", MEM=size)
    assert result.failure is None, result.output


def test_selftest_on_whichever_hart_boots():
    result = boot("selftest", SMP="4", MACHINE=MACHINES["aia"])
    assert result.failure is None, result.output


@pytest.mark.parametrize("case", CRASHES)
def test_crash(case):
    reason, place = CRASHES[case]
    result = boot("crash", APPEND=f"case={case}")
    assert result.code == 1, result.output
    assert result.failure.startswith("panic: ") and reason in result.failure
    registers, _, trace = result.output.partition("backtrace:\n")
    assert " sp 0000000080" in registers and place in trace
    if case not in ("stack", "smash"):  # too deep, and the chain is what was smashed
        assert "main+" in trace and "hal_main+" in trace


def test_failed_check_is_a_failed_boot():
    result = boot("crash", APPEND="case=fail")
    assert result.code == 1
    assert result.failure == "[FAIL] two: index 3: expected 1, actual 0"
    assert "[OK] one" in result.output


def test_exit_code_is_what_main_returns():
    result = boot("crash", APPEND="case=nonsense")
    assert result.code == 2 and result.failure == "exit code 2"


def test_tiny_says_nothing_but_hello():
    result = boot("hello", CONFIG="tiny", DEVICES="")
    assert result.failure is None, result.output
    assert "] boot:" not in result.output


def test_debug_checks_the_page_table_and_tells_everything():
    result = boot("selftest", CONFIG="debug")
    assert result.failure is None, result.output
    assert "] irq: PLIC, " in result.output
