# SPDX-License-Identifier: MIT
"""The verdict itself, on the ways a boot can end."""
from boot import Boot, run_command


def test_passes_only_with_ok_line_and_exit_code_zero():
    assert Boot("[OK] one\n", 0).failure is None


def test_ok_line_does_not_excuse_an_exit_code():
    assert Boot("[OK] one\n", 3).failure == "exit code 3"


def test_exit_code_zero_does_not_excuse_a_fail_line():
    assert Boot("[OK] one\n[FAIL] two: index 3\n", 0).failure == "[FAIL] two: index 3"


def test_silence_is_a_failure():
    assert Boot("OpenSBI v1.1\n", 0).failure == "no [OK] line"


def test_panic_is_a_failure():
    assert "panic" in Boot("[OK] one\n[    0.01] panic: broken\n", 0).failure


def test_hang_is_killed_and_is_a_failure():
    result = run_command(["sh", "-c", "echo '[OK] one'; sleep 60"], timeout=1)
    assert result.failure == "timed out" and "[OK] one" in result.output
