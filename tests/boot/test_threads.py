# SPDX-License-Identifier: MIT
"""Threads: apps/threads on every machine and as a process, and apps that know nothing of threads among them."""
import re

import pytest
from boot import boot

MACHINES = {"plic": "virt", "aia": "virt,aia=aplic-imsic"}
TARGETS = {
    "plic": {"MACHINE": "virt"},
    "aia": {"MACHINE": "virt,aia=aplic-imsic"},
    "poll": {"CONFIG": "poll"},
    "linux": {"PLATFORM": "linux"},
}


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
def test_threads(target):
    result = boot("threads", **target)
    assert result.failure is None, result.output
    assert "[OK] the GPU added 65536 numbers while another thread had the processor" in result.output


@pytest.mark.parametrize("harts", [1, 4])
@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES.keys())
def test_harts(machine, harts):
    result = boot("threads", CONFIG="smp", MACHINE=machine, SMP=harts)
    assert result.failure is None, result.output
    assert f"] smp: {harts} of {harts} harts run" in result.output
    assert f"[OK] {harts} processors worked at the same time" in result.output
    assert f"[OK] {harts - 1} other harts saw a page mapped anew" in result.output
    lines = [line for line in result.output.splitlines() if "line" in line and "writer" in line]
    assert len(lines) == 25 * harts
    assert all(re.fullmatch(r"line [ \d]\d of one writer, which is whole", line) for line in lines), lines


def test_overrun_of_a_threads_stack_is_told():
    result = boot("threads", APPEND="case=stack")
    assert result.code == 1, result.output
    assert "page fault" in result.failure and "(stack overflow)" in result.failure
    assert "thread deep on hart 0" in result.output
    registers, _, trace = result.output.partition("backtrace:\n")
    assert "recurse+" in trace


@pytest.mark.parametrize("config", ["threads", "smp"])
@pytest.mark.parametrize("app", ["selftest", "lenet", "edu"])
def test_app_without_threads_runs_under_the_scheduler(app, config):
    variables = {"DEVICES": "-device edu"} if app == "edu" else {}
    result = boot(app, CONFIG=config, SMP=4 if config == "smp" else 1, MACHINE=MACHINES["aia"], **variables)
    assert result.failure is None, result.output


def test_panic_on_one_of_many_harts_is_told_whole():
    result = boot("threads", CONFIG="smp", SMP=4, APPEND="case=stack")
    assert result.code == 1, result.output
    assert "(stack overflow)" in result.failure and "recurse+" in result.output
