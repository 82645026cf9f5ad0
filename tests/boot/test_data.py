# SPDX-License-Identifier: MIT
"""Files that the program is started with, in the guest and in a process."""
import random
import shlex
import subprocess

import pytest
from boot import ROOT, boot

PLATFORMS = ["riscv64", "linux"]


def fnv1a(data):
    total = 0xCBF29CE484222325
    for byte in data:
        total = (total ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return total


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("size", [0, 1, 999, 1_000_003])
def test_file(tmp_path, platform, size):
    data = random.Random(size).randbytes(size)
    path = tmp_path / "file"
    path.write_bytes(data)
    result = boot("data", DATA=path, PLATFORM=platform)
    assert result.failure is None, result.output
    assert f"[OK] {size} bytes, checksum {fnv1a(data):016x}" in result.output


@pytest.mark.parametrize("platform", PLATFORMS)
def test_no_file_says_what_to_do(platform):
    result = boot("data", PLATFORM=platform)
    assert result.failure == "[FAIL] no file: run with DATA=FILE", result.output


def test_a_file_that_is_not_there_is_named():
    run = subprocess.run(shlex.split("make -s run APP=data DATA=nowhere/x"), cwd=ROOT, capture_output=True, text=True)
    assert run.returncode != 0
    assert "DATA=nowhere/x: there is no such file" in run.stderr
