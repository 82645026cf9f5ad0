# SPDX-License-Identifier: MIT
"""The conformance checks at the size of every test run; `make conformance` is the long one."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import checks


@pytest.mark.parametrize("name", checks.NAMES)
def test_conformance(name):
    try:
        result = getattr(checks.Checks("check", long=False), name)()
    except checks.Skip as why:
        pytest.skip(str(why))
    print(f"seed {checks.SEED}: {result.what} against {result.against}: {result.compared}")
    assert result.mismatches == 0, "\n".join(result.details)
