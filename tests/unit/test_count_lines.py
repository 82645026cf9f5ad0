# SPDX-License-Identifier: MIT
"""tools/count-lines counts what is neither blank nor comment, and nothing else."""
import importlib.machinery
import importlib.util
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOADER = importlib.machinery.SourceFileLoader("count_lines", str(ROOT / "tools/count-lines"))
TOOL = importlib.util.module_from_spec(importlib.util.spec_from_loader("count_lines", LOADER))
LOADER.exec_module(TOOL)

CASES = [
    ("x.c", 0, ""),
    ("x.c", 0, "\n  \n\t\n"),
    ("x.c", 0, "/* one\n * two\n */\n// three\n"),
    ("x.c", 1, "int a; /* and\n more */\n"),
    ("x.c", 2, "/* before */ int a;\nint b; // behind\n"),
    ("x.c", 2, "int a; /* from here\n to here */ int b;\n"),
    ("x.c", 2, 'const char *s = "/*";\nint a; /* */\n'),
    ("x.c", 2, 'const char *s = "\\"//";\nint a;\n'),
    ("x.c", 3, "int quote = '\"';\nint a;\nint other = '\\'';\n// \"\n"),
    ("x.c", 1, "// a comment goes on \\\n here\nint a;\n"),
    ("x.c", 2, "int a = b //* c */ d\n;\n"),
    ("x.h", 3, "#define A(x) \\\n    do { \\\n    } while (0)\n"),
    ("x.S", 2, "#include \"a.h\"\n    li a0, 0 # zero\n    # nothing\n/* nor this */\n"),
    ("x.S", 1, '    .ascii "# /* //"\n'),
]


@pytest.mark.parametrize("name, lines, text", CASES)
def test_counts(tmp_path, name, lines, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert TOOL.count(tmp_path / name) == lines


def test_the_kernel_is_without_the_hosted_platform():
    output = subprocess.run([ROOT / "tools/count-lines"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=1) for line in output.splitlines()]
    assert rows[-1][1] == "in all"
    assert int(rows[-1][0]) == sum(int(lines) for lines, _ in rows[:-1])
    names = {name for _, name in rows[:-1]}
    assert {"hal/riscv64/boot.S", "bus/driver.c", "lib/core/log.c"} <= names
    assert not any(name.startswith("hal/linux/") for name in names)
