# SPDX-License-Identifier: MIT
"""Follow a document as a reader would: write the files it shows, run its commands, compare what they print.

What a fenced block is, its first line says:

  ```c file=apps/greet/main.c     the file's content (any language; `append=` adds to an existing file)
  ```sh                           commands, run one by one; each must succeed
  ```output                       lines that the commands before printed, in this order; `…` stands for anything

All of it happens in a copy of the sources, with the emulator that is already built.
"""
import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 600
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.M | re.S)

# Commands that a document may show and that are not run while following it.
ELSEWHERE = {
    "make test": "it is what runs this",
    "make menuconfig": "needs a person",
}


def copy_sources(to):
    """What git tracks or would track, as it is now; the emulator and the downloads are shared."""
    shutil.rmtree(to, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                            check=True)
    for name in filter(lambda n: (ROOT / n).is_file(), listed.stdout.splitlines()):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, to / name)
    (to / "build").mkdir()
    for shared in ("deps", ".setup", "simt"):
        if (ROOT / "build" / shared).exists():
            (to / "build" / shared).symlink_to(ROOT / "build" / shared)


def environment():
    clean = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "APP", "CONFIG")}
    return clean | {"QEMU": str(ROOT / "build/qemu/qemu-system-riscv64")}


def run(command, where):
    done = subprocess.run(["bash", "-c", command], cwd=where, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=TIMEOUT_S, env=environment())
    assert done.returncode == 0, f"$ {command}\n{done.stdout}"
    return done.stdout.replace("\r", "")


def write(option, content, where):
    kind, name = option.split("=")
    path = where / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a" if kind == "append" else "w", encoding="utf-8") as out:
        out.write(content)


def compare(expected, printed):
    at = 0
    for line in expected.splitlines():
        pattern = ".*".join(map(re.escape, line.split("…")))
        match = re.compile(f"^{pattern}$", re.M).search(printed, at)
        assert match, f"the document shows `{line}`; printed was:\n{printed}"
        at = match.end()


def follow(document, scratch):
    """Raise AssertionError where the document does not hold. Returns how many steps were taken."""
    copy_sources(scratch)
    printed, steps = "", 0
    for language, option, content in BLOCK.findall((ROOT / document).read_text(encoding="utf-8")):
        option = option.strip()
        if option.startswith(("file=", "append=")):
            write(option, content, scratch)
        elif language == "sh":
            commands = [c for c in content.splitlines() if c and not c.startswith("#") and c not in ELSEWHERE]
            printed = "".join(run(command, scratch) for command in commands)
        elif language == "output":
            compare(content, printed)
        else:
            continue
        steps += 1
    return steps
