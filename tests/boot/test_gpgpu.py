# SPDX-License-Identifier: MIT
"""GPU apps in the guest and as a Linux process: the contract, and the failures that must be noticed."""
import re

import pytest
from boot import boot

TARGETS = {
    "plic": {"MACHINE": "virt"},
    "aia": {"MACHINE": "virt,aia=aplic-imsic"},
    "poll": {"CONFIG": "poll"},
    "registers": {"CONFIG": "registers"},
    "no queue": {"DEVICES": "-device gpgpu,queue=off"},
    "linux": {"PLATFORM": "linux"},
}
target = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
FAULT = (r"wild_store: access outside every window \(cause 3\) at pc 0x[0-9a-f]+ \(wild_store\+0x1c\), "
         r"instruction 0x00552023, address 0x70000000, thread \(6,0,0\) of block \(1,0,0\)")

ENDLESS = (r"gpgpu0: nothing ended in time \(limit 3000 ms\): GLOBAL_STATUS 0x[0-9a-f]+, ERROR_STATUS 0x0, "
           r"IRQ_STATUS 0x[0-9a-f]+, DMA_STATUS 0x[0-9a-f]+: resetting it")


@target
def test_device_conforms(target):
    result = boot("gpgpu-conformance", **target)
    assert result.failure is None, result.output
    assert "[SKIP]" not in result.output
    assert len(re.findall(r"^\[OK\] ", result.output, re.M)) > 20
    if "PLATFORM" not in target:
        assert re.search(ENDLESS, result.output), result.output


def test_two_devices_conform():
    result = boot("gpgpu-conformance", DEVICES="-device gpgpu -device gpgpu,vram_size=16M,num_cus=1")
    assert result.failure is None, result.output
    assert "[OK] gpgpu1: a fault names its place" in result.output


def test_null_skips_what_it_cannot():
    result = boot("gpgpu-conformance", PLATFORM="linux", GPU="null")
    assert result.failure is None, result.output
    assert "[SKIP] gpgpu0: copies round trip" in result.output
    assert "[OK] gpgpu0: copies round trip" not in result.output


@target
def test_wrong_value_is_noticed(target):
    result = boot("gpgpu-fail", **target)
    assert result.failure == "[FAIL] vec_add: index 3: expected 45, got 44 (1 of 5 differ)", result.output
    assert result.code == 1


@target
def test_kernel_fault_is_reported_and_survived(target):
    result = boot("gpgpu-fault", **target)
    assert result.code == 1, result.output
    assert re.search(r"^\[FAIL\] wild_store: kernel " + FAULT, result.output, re.M), result.output
    assert re.search(r"gpgpu: error: gpgpu0: kernel " + FAULT, result.output), result.output
    assert "[OK] vec_add after the fault: 3 values match" in result.output


def test_machine_without_gpu_is_an_error():
    result = boot("lenet", DEVICES="")
    assert result.failure == "[FAIL] GPU 0: ENODEV", result.output
    assert result.code == 1


@pytest.mark.parametrize("app", ["gpgpu-demo", "lenet"])
def test_app_runs_as_a_process(app):
    result = boot(app, PLATFORM="linux")
    assert result.failure is None, result.output
