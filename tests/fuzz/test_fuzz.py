# SPDX-License-Identifier: MIT
"""Every seed and every input that once failed, run again."""
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(__file__).parent / "corpus"


@pytest.mark.parametrize("target", sorted(p.name for p in CORPUS.iterdir()))
def test_corpus(target):
    inputs = sorted((CORPUS / target).iterdir())
    assert inputs, f"no inputs in {CORPUS / target}"
    done = subprocess.run(
        [ROOT / "build/conformance/check" / target, "-timeout=20", *inputs], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-8000:]
    assert done.stderr.count("Executed ") == len(inputs), done.stderr[-8000:]
