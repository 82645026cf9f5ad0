# SPDX-License-Identifier: MIT
"""Threads: apps/threads on every machine and as a process, and apps that know nothing of threads among them."""
import pytest
from boot import boot

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


def test_overrun_of_a_threads_stack_is_told():
    result = boot("threads", APPEND="case=stack")
    assert result.code == 1, result.output
    assert "page fault" in result.failure and "(stack overflow)" in result.failure
    assert "thread deep on hart 0" in result.output
    registers, _, trace = result.output.partition("backtrace:\n")
    assert "recurse+" in trace


@pytest.mark.parametrize("app", ["selftest", "lenet", "edu"])
def test_app_without_threads_runs_under_the_scheduler(app):
    result = boot(app, CONFIG="threads", **({"DEVICES": "-device edu"} if app == "edu" else {}))
    assert result.failure is None, result.output
