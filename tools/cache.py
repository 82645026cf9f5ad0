# SPDX-License-Identifier: MIT
"""The cache by content that outlives build/ and is shared by clones.

${XDG_CACHE_HOME:-~/.cache}/weft, or $WEFT_CACHE, or build/cache when WEFT_CACHE=off. Files arrive by rename, so
that a name that exists is complete.
"""
import fcntl
import hashlib
import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def directory():
    chosen = os.environ.get("WEFT_CACHE", "")
    if chosen == "off":
        return ROOT / "build" / "cache"
    if chosen:
        return Path(chosen).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weft"


def put(source, target):
    """Copy the file source to the path target at once or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".new-")
    os.close(handle)
    try:
        shutil.copyfile(source, temporary)
        shutil.copymode(source, temporary)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def keep_newest(folder, count):
    """Remove all but the count most recently used folders in folder."""
    entries = [entry for entry in folder.iterdir() if entry.is_dir()]
    for entry in sorted(entries, key=lambda entry: entry.stat().st_mtime, reverse=True)[count:]:
        shutil.rmtree(entry)


@contextmanager
def lock(path):
    """Hold the advisory lock file path, so that parallel builds do a step once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def digest(strings, files):
    """Hash strings, and the relative names and contents of files (directories count with all they hold)."""
    state = hashlib.sha256()
    for string in strings:
        state.update(f"{len(string)}:{string}".encode())
    for name in sorted(walk(files)):
        content = name.read_bytes()
        state.update(f"{name.relative_to(ROOT)}:{len(content)}:".encode() + content)
    return state.hexdigest()


def walk(paths):
    for path in paths:
        if path.is_dir():
            yield from (name for name in path.rglob("*") if name.is_file() and "__pycache__" not in name.parts)
        else:
            yield path


def fail(program, message):
    sys.exit(f"{program}: {message}")
