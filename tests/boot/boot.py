# SPDX-License-Identifier: MIT
"""Build an app, boot it, and judge what it printed together with how it ended."""
import fcntl
import os
import re
import shlex
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 120  # finds hangs; no test is judged by its speed


@dataclass
class Boot:
    """What a boot left behind. code is None when it had to be killed."""

    output: str
    code: int | None

    @property
    def failure(self):
        """Why the boot counts as failed, or None. Output alone is no verdict, nor is the exit code."""
        if self.code is None:
            return "timed out"
        if match := re.search(r"^.*panic:.*$", self.output, re.M):
            return match[0]
        if match := re.search(r"^\[FAIL\].*$", self.output, re.M):
            return match[0]
        if self.code != 0:
            return f"exit code {self.code}"
        if not re.search(r"^\[OK\] ", self.output, re.M):
            return "no [OK] line"
        return None


def make(*arguments):
    """Run a quiet make; one at a time, since tests may run side by side. Returns its output."""
    (ROOT / "build").mkdir(exist_ok=True)
    with open(ROOT / "build/.boot.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
        run = subprocess.run(["make", "-s", f"-j{os.cpu_count()}", *arguments], cwd=ROOT, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def run_command(command, timeout=TIMEOUT_S):
    """Run a command in a process group of its own, so that nothing of it outlives its time."""
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        output, _ = process.communicate(timeout=timeout)
        return Boot(output.replace("\r", ""), process.returncode)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return Boot(output.replace("\r", ""), None)


def boot(app, *, timeout=TIMEOUT_S, **variables):
    """Boot apps/<app>. Keyword arguments are make variables: MACHINE, DEVICES, APPEND, CONFIG, PLATFORM, …"""
    arguments = [f"APP={app}", *(f"{name}={value}" for name, value in variables.items())]
    command = make("run-command", *arguments).strip().splitlines()[-1]
    return run_command(shlex.split(command), timeout)
