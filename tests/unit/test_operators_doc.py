# SPDX-License-Identifier: MIT
"""docs/operators.md says what the catalogue says."""
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_operators_doc_is_current():
    run = subprocess.run([ROOT / "tools/operators-doc", "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
