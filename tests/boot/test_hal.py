# SPDX-License-Identifier: MIT
"""The hal from inside (apps/selftest), and every way to die (apps/crash): told with its place, never code 0."""
import re
import shlex
import subprocess

import pytest
from boot import boot, make, run_command

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

# The same, of what only CONFIG=debug notices.
DEBUG_CRASHES = {
    "off-by-one": ("100 bytes, allocated in crash_off_by_one: overrun: byte 100 is 0x78", "crash_off_by_one+"),
    "underrun": ("100 bytes, allocated in crash_underrun: underrun: byte -1 is 0x78", "crash_underrun+"),
    "use-after-free": ("used after it was freed: byte 7 is 0x78", "crash_use_after_free+"),
    "double-free": ("allocated in crash_double_free: freed twice", "crash_double_free+"),
    "overflow": ("signed addition overflows at apps/crash/main.c:", "crash_overflow+"),
    "shift": ("shift by a count that is out of range", "crash_shift+"),
    "index": ("array index out of bounds at apps/crash/main.c:", "crash_index+"),
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


@pytest.mark.parametrize(("device", "reg", "size", "says"), [
    ("serial@10000000", (0x10000000, 0x100), 4, "fdt: error: serial: no usable reg"),
    ("serial@10000000", (0x10000000, 0x100), 1 << 32, ""),
    ("test@100000", (0x100000, 0x1000), 2, ""),
    ("test@100000", (0x100000, 0x1000), 1 << 16, ""),
])
def test_sizes_that_are_not_those_of_the_device(tmp_path, device, reg, size, says):
    """The console still speaks and the machine still ends, with the app's code."""
    command = shlex.split(make("run-command", "APP=hello", "DEVICES=").strip().splitlines()[-1])
    tree = tmp_path / "virt.dtb"
    subprocess.run([*command, "-M", f"{command[command.index('-M') + 1]},dumpdtb={tree}"], check=True, capture_output=True)
    base, old = (value.to_bytes(8, "big") for value in reg)
    data = tree.read_bytes()
    assert device.encode() in data and data.count(base + old) == 1
    tree.write_bytes(data.replace(base + old, base + size.to_bytes(8, "big")))
    result = run_command([*command, "-dtb", str(tree)])
    assert result.failure is None and says in result.output, result.output


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


@pytest.mark.parametrize("case", DEBUG_CRASHES)
def test_crash_that_the_debug_configuration_notices(case):
    reason, place = DEBUG_CRASHES[case]
    result = boot("crash", CONFIG="debug", APPEND=f"case={case}")
    assert result.code == 1, result.output
    assert result.failure.startswith("panic: ") and reason in result.failure
    assert place in result.output.partition("backtrace:\n")[2]


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
    image = re.findall(r"\] paging: +0x(802\w+) \.\. .* -> +0x(\w+) (r\S\S)$", result.output, re.M)
    assert [attributes for _, _, attributes in image[:3]] == ["r-x", "r--", "rw-"], result.output
    assert all(virt == phys for virt, phys, _ in image)


def test_boot_timing_adds_up():
    result = boot("lsdev", CONFIG="timing")
    assert result.failure is None, result.output
    rows = dict(re.findall(r"^  (\S.*?) +(\d+\.\d) us$", result.output, re.M))
    total, devices = float(rows.pop("all up to main()")), float(rows.pop("buses and drivers, when asked for"))
    assert {"device tree", "memory and its mapping", "paging"} <= set(rows)
    assert abs(sum(map(float, rows.values())) - total) < 0.1 * len(rows) and devices > 0
