# SPDX-License-Identifier: MIT
"""tools/check-drivers reads the table out of a linked image and refuses contradictions."""
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

HEAD = """
#include "bus/driver.h"
static int probe(struct device *dev) { (void)dev; return 0; }
static void take_away(struct device *dev) { (void)dev; }
int main(void) { return driver_next(NULL) == NULL; }
"""
GOOD = """
static const struct pci_id one_ids[] = {{.vendor = 0x1234, .device = 0x1337}, {.vendor = 0x1234, .device = 7}, {0}};
static const struct pci_id class_ids[] = {
    {.vendor = PCI_ANY, .device = PCI_ANY, .class = 0x010800, .class_mask = 0xffff00}, {0}};
PCI_DRIVER(one) = {.name = "one", .ids = one_ids, .probe = probe, .remove = take_away};
PCI_DRIVER(two) = {.name = "two", .prio = 3, .ids = class_ids, .probe = probe, .remove = take_away};
PLATFORM_DRIVER(sim) = {.name = "sim", .prio = -1, .probe = probe, .remove = take_away};
"""
SAME_NAME = GOOD + 'DRIVER(other) = {.name = "one", .prio = 9, .probe = probe, .remove = take_away};'
SAME_ID = GOOD + """
static const struct pci_id dup_ids[] = {{.vendor = 1, .device = 1}, {.vendor = PCI_ANY, .device = 7}, {0}};
PCI_DRIVER(dup) = {.name = "dup", .ids = dup_ids, .probe = probe, .remove = take_away};
"""
OTHER_PRIORITY = SAME_ID.replace('.name = "dup",', '.name = "dup", .prio = 1,')


def check(tmp_path, source):
    (tmp_path / "drivers.c").write_text(HEAD + source, encoding="utf-8")
    image = tmp_path / "image"
    # Without -no-pie the pointers would be relocations, as they never are in a kernel image.
    subprocess.run(["gcc", "-std=gnu17", "-no-pie", *(f"-I{ROOT}/{d}/include" for d in ("bus", "lib/core")),
                    tmp_path / "drivers.c", ROOT / "bus/driver.c", "-o", image], check=True)
    return subprocess.run([ROOT / "tools/check-drivers", image], capture_output=True, text=True)


def test_prints_the_table(tmp_path):
    run = check(tmp_path, GOOD)
    assert run.returncode == 0, run.stderr
    assert [line.split() for line in run.stdout.splitlines()] == [
        ["-1", "sim", "platform"],
        ["0", "one", "1234:1337,", "1234:0007"],
        ["3", "two", "*:*", "class", "010800/ffff00"],
    ]


def test_empty_table(tmp_path):
    run = check(tmp_path, "void *uses[] = {probe, take_away};")
    assert (run.returncode, run.stdout) == (0, "")


@pytest.mark.parametrize("source, complaint", [
    (SAME_NAME, "two drivers are called one"),
    (SAME_ID, "dup and one have priority 0 and both claim *:0007"),
], ids=["name", "id"])
def test_contradictions_fail(tmp_path, source, complaint):
    run = check(tmp_path, source)
    assert run.returncode == 1 and complaint in run.stderr


def test_another_priority_may_claim_the_same_id(tmp_path):
    assert check(tmp_path, OTHER_PRIORITY).returncode == 0


def test_no_elf_file(tmp_path):
    (tmp_path / "text").write_text("hello", encoding="utf-8")
    run = subprocess.run([ROOT / "tools/check-drivers", tmp_path / "text"], capture_output=True, text=True)
    assert run.returncode == 1 and "not a 64-bit" in run.stderr
