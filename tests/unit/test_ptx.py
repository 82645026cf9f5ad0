# SPDX-License-Identifier: MIT
"""tools/ptx.py refuses what a driver would refuse, and accepts what the compiler makes."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import ptx  # noqa: E402

GOOD = """//
// comment
.version 6.0
.target sm_70
.address_size 64
.extern .shared .align 4 .b8 shared_memory[];
.visible .entry scale(
	.param .u64 scale_param_0,
	.param .u32 scale_param_1,
	.param .f32 scale_param_2
)
{
	ret;
}
"""
TABLE = [("scale", "puf")]


def test_good():
    assert ptx.lint(GOOD, "sm_70", "6.0", TABLE) == []
    assert ptx.strip(GOOD).startswith(".version 6.0\n.target sm_70\n")


@pytest.mark.parametrize("text, word", [
    (GOOD.replace("comment", "é"), "ASCII"),
    (GOOD.replace("sm_70", "sm_61"), ".target"),
    (GOOD.replace("6.0", "8.5"), ".version"),
    (GOOD.replace(".f32", ".u32"), "scale: parameters"),
    (GOOD.replace("scale", "other"), "other: not in the table"),
    (GOOD + ".extern .func expf;\n", "unresolved"),
])
def test_bad(text, word):
    assert any(word in problem for problem in ptx.lint(text, "sm_70", "6.0", TABLE))
