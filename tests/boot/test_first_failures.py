# SPDX-License-Identifier: MIT
"""What goes wrong first when somebody tries this out: each message names what to do next."""
import os
import re
import subprocess

from boot import ROOT, boot


def make_error(*arguments):
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    run = subprocess.run(["make", "-s", *arguments], cwd=ROOT, capture_output=True, text=True, env=environment)
    assert run.returncode != 0
    return run.stderr


def test_no_qemu():
    error = make_error("run", "APP=hello", "QEMU=nowhere/qemu")
    assert "QEMU=nowhere/qemu: no such program. Without QEMU= one is built; QEMU=FILE is a QEMU 10.0 that has" in error


def test_wrong_app():
    error = make_error("run", "APP=lennet")
    assert re.search(r"APP=lennet: choose one of: .*\blenet\b", error), error


def test_wrong_configuration():
    error = make_error("run", "APP=hello", "CONFIG=tinny")
    assert re.search(r"CONFIG=tinny: choose one of: .*\btiny\b", error), error


def test_missing_packages_without_root(tmp_path):
    """A machine with no packages whose user is nobody in particular."""
    for name, script in {"dpkg-query": "exit 1", "id": "echo 1000", "sudo": "exit 1", "apt-get": "exit 9"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin", "WEFT_SETUP": ""}
    run = subprocess.run([ROOT / "tools/setup", "qemu"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         env=environment)
    assert run.returncode == 1
    assert re.search(r"as root run: apt-get install --no-install-recommends .*\bninja-build\b", run.stderr), run.stderr


def test_machine_without_gpu():
    output = boot("lenet", DEVICES="").output
    assert "no GPU 0: 0 found; QEMU makes one of each -device gpgpu" in output


def test_full_vram():
    result = boot("together", DEVICES="-device gpgpu,vram_size=1M")
    assert result.failure.startswith("[FAIL] gpgpu0: 0 of 20 rounds (ENOMEM)"), result.output
    assert re.search(r"gpgpu0: no 360000 bytes left of 1048576 bytes of device memory: ENOMEM; free some, or "
                     r"-device gpgpu,vram_size=SIZE", result.output), result.output


def test_faulting_kernel():
    output = boot("gpgpu-fault").output
    assert re.search(r"error: gpgpu0: kernel wild_store: .*\n.*docs/write-a-kernel\.md, part 3, says how to find", output)
    assert "## 3. When it faults" in (ROOT / "docs/write-a-kernel.md").read_text(encoding="utf-8")
