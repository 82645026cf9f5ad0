# SPDX-License-Identifier: MIT
"""The documents that lead a reader somewhere, followed in a copy of the tree."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "boot"))
from boot import ROOT, make  # noqa: E402
from follow import Block, edit, expect, follow  # noqa: E402

QEMU = {"QEMU": str(ROOT / "build/qemu/qemu-system-riscv64")}


@pytest.fixture
def copy(tmp_path):
    """The tree as it is, without what was built but what is slow to make."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tmp_path / name)
    make("image", "APP=hello")  # fetches libraries
    (tmp_path / "build").mkdir()
    for shared in ("deps", "simt", ".setup"):
        if (ROOT / "build" / shared).exists():
            (tmp_path / "build" / shared).symlink_to(ROOT / "build" / shared)
    return tmp_path


def test_write_a_driver(copy):
    text = (copy / "docs/write-a-driver.md").read_text(encoding="utf-8")
    assert follow(copy, text, QEMU) == 5
    subprocess.run(["clang-format-19", "--dry-run", "-Werror", "drivers/mine/mine.c", "apps/mine/main.c"], cwd=copy,
                   check=True)


@pytest.mark.parametrize("document,outputs", [("README.md", 1), ("README.zh-CN.md", 1), ("docs/write-an-app.md", 2),
                                              ("docs/write-a-kernel.md", 1)])
def test_document(copy, document, outputs):
    assert follow(copy, (copy / document).read_text(encoding="utf-8"), QEMU) == outputs


def test_conformance_names_what_exists():
    """Each test or program that docs/conformance.md names; "…" stands for any end."""
    sources = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("*.*")
                      if file.suffix in (".c", ".h", ".py", ".mk") and "corpus" not in file.parts)
    names = re.findall(r"`(\w*_\w+)(…?)`", (ROOT / "docs/conformance.md").read_text(encoding="utf-8"))
    missing = [name for name, any_end in names if not re.search(rf"\b{name}" + (r"" if any_end else r"\b"), sources)]
    assert len(names) > 30 and not missing


# --- the follower itself ---

CONTENT = "int a;\n\nstatic int f(void)\n{\n    return 0;\n}\n\nint b;\n"


def test_edits():
    assert edit(CONTENT, Block("c", {"above": "static int f"}, "int g;\n")).startswith("int a;\n\nint g;\n\nstatic int f")
    replaced = edit(CONTENT, Block("c", {"replace": "static int f"}, "int g;\n"))
    assert replaced == "int a;\n\nint g;\n\nint b;\n"
    assert edit(CONTENT, Block("c", {"replace": "int b"}, "int c;\n")).endswith("}\n\nint c;\n")
    assert edit(CONTENT, Block("c", {}, "new\n")) == "new\n"
    with pytest.raises(AssertionError, match="2 lines begin"):
        edit(CONTENT, Block("c", {"above": "int"}, ""))


def test_missing_output_is_noticed():
    expect("one\ntwo\n", "one\ntwo")
    with pytest.raises(AssertionError, match="not in this order: one"):
        expect("one\ntwo\n", "two\none")
