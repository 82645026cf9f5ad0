# SPDX-License-Identifier: MIT
"""QEMU's source with our patches, ready to configure.

It is Debian's source package: its patches let the tree configure without firmware blobs and without the network.
QEMU_SRC=DIR takes a copy of an unpacked tree instead.
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import cache
import debian

VERSION = "10.0"
MESON = (1, 5)
PATCHES = cache.ROOT / "qemu" / "patches"
# Where our folders appear in QEMU's tree; links, so that ninja sees an edit at once.
LINKS = {
    "hw/gpgpu": "qemu/hw",
    "simt": "qemu/simt",
    "configs/devices/riscv64-softmmu/weft.mak": "qemu/devices.mak",
}


def own_tree():
    """The tree that QEMU_SRC names, or None."""
    name = os.environ.get("QEMU_SRC")
    if not name:
        return None
    tree = Path(name).resolve()
    version = tree / "VERSION"
    if not version.exists() or not version.read_text(encoding="utf-8").startswith(VERSION + "."):
        cache.fail("qemu", f"QEMU_SRC={name}: not the source of QEMU {VERSION}")
    return tree


def origin(directory):
    """Which source directory is built from: QEMU_SRC and its version, or the name of a source package."""
    tree = own_tree()
    if tree:
        return f"{tree} {(tree / 'VERSION').read_text(encoding='utf-8').strip()}"
    recorded = directory / "origin"
    if not recorded.exists():
        with debian.Archive() as archive:
            name = archive.source("qemu", VERSION).name
        directory.mkdir(parents=True, exist_ok=True)
        recorded.write_text(name, encoding="utf-8")
    return recorded.read_text(encoding="utf-8")


def unpack(directory):
    """Create directory/src, the unpatched source."""
    folder = directory / "src"
    shutil.rmtree(folder, ignore_errors=True)
    tree = own_tree()
    if tree:
        shutil.copytree(tree, folder, symlinks=True, ignore=shutil.ignore_patterns("build", ".git"))
        return
    with debian.Archive() as archive:
        package = archive.source("qemu", VERSION)
    debian.run(["dpkg-source", "--no-copy", "-x", str(package), str(folder)])
    (directory / "origin").write_text(package.name, encoding="utf-8")


def patch(folder):
    for file in sorted(PATCHES.glob("*.patch")):
        with open(file, encoding="utf-8") as text:
            result = subprocess.run(["patch", "-p1", "-s", "-N", "-d", folder], stdin=text, check=False)
        if result.returncode:
            cache.fail("qemu", f"{file.name} does not apply to this source")


def link(folder):
    for name, target in LINKS.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.is_symlink():
            place.symlink_to(os.path.relpath(cache.ROOT / target, place.parent))


def system_meson():
    """Version of the meson that /usr/bin/python3 imports, as a tuple; (0,) without one."""
    query = [sys.executable, "-c", "import mesonbuild.coredata as c; print(c.version)"]
    result = subprocess.run(query, capture_output=True, text=True, check=False)
    return tuple(int(part) for part in result.stdout.split(".")[:2]) if result.returncode == 0 else (0,)


def fetch_meson(target):
    if target.is_dir() or system_meson() >= MESON:
        return
    with debian.Archive() as archive:
        package = archive.binary("meson")
    debian.unpack_deb(package, target.with_name("meson.new"))
    target.with_name("meson.new").rename(target)


def fetch(directory):
    """Bring directory/src and directory/meson up to date. A new source starts a new build in directory/obj."""
    patches = cache.digest([], [PATCHES])
    stamp = directory / "src.stamp"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != f"{origin(directory)} {patches}":
        print(f"qemu: unpacking {origin(directory)}", flush=True)
        stamp.unlink(missing_ok=True)
        shutil.rmtree(directory / "obj", ignore_errors=True)
        unpack(directory)
        patch(directory / "src")
        link(directory / "src")
        stamp.write_text(f"{origin(directory)} {patches}", encoding="utf-8")
    fetch_meson(directory / "meson")
