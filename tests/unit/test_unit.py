# SPDX-License-Identifier: MIT
"""Each cmocka test of each program in build/unit is one test here."""
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(p.parent.name for p in Path(__file__).parent.glob("*/Makefile"))
TIMEOUT_S = 300


@pytest.mark.parametrize("name", PROGRAMS)
def test_unit(name):
    run = subprocess.run(
        [ROOT / "build/unit" / name], cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    output = run.stdout + run.stderr
    assert run.returncode == 0, output[-8000:]
    assert re.search(r"\[  PASSED  \] [1-9]\d* test", output), f"{name} ran no test:\n{output}"
