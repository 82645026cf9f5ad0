# SPDX-License-Identifier: MIT
"""QEMU's source with our patches and device, ready to configure.

It is Debian's source package: its patches let the tree configure without firmware blobs and without the network.
QEMU_SRC=DIR takes a copy of an unpacked tree instead.
"""
import filecmp
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
# Our folders and where they go in QEMU's tree.
OURS = {"qemu/hw": "hw/gpgpu", "qemu/simt": "simt", "qemu/simt/include/simt": "include/simt"}
ENGINE_FLAGS = ["srcs", "cflags", "includes", "libs"]
BOARD = cache.ROOT / "qemu" / "devices.mak"
# The better half of the tree, which this build does not look at.
UNUSED = ["roms", "tests/data", "tests/lcitool"]


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


def origin():
    """What the tree is unpacked from: QEMU_SRC and its version, or the name of a source package."""
    tree = own_tree()
    if tree:
        return f"{tree} {(tree / 'VERSION').read_text(encoding='utf-8').strip()}"
    with debian.Archive() as archive:
        return archive.source("qemu", VERSION).name


def unpack(folder):
    """Create folder, the unpatched source."""
    tree = own_tree()
    if tree:
        shutil.copytree(tree, folder, symlinks=True, ignore=shutil.ignore_patterns("build", ".git"))
        return
    with debian.Archive() as archive:
        package = archive.source("qemu", VERSION)
    debian.run(["dpkg-source", "--no-copy", "-x", str(package), str(folder)])


def patch(folder):
    for file in sorted(PATCHES.glob("*.patch")):
        with open(file, encoding="utf-8") as text:
            result = subprocess.run(["patch", "-p1", "-s", "-N", "-d", folder], stdin=text, check=False)
        if result.returncode:
            cache.fail("qemu", f"{file.name} does not apply to this source")


def prepare(folder):
    """Create folder, the patched source, at once or not at all."""
    if folder.exists():
        return
    print(f"qemu: unpacking {origin()}", flush=True)
    new = folder.with_name(folder.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    unpack(new)
    patch(new)
    for name in UNUSED:
        shutil.rmtree(new / name, ignore_errors=True)
    shutil.copyfile(BOARD, new / "configs/devices/riscv64-softmmu/weft.mak")
    new.rename(folder)


def mirror(source, target):
    """Make target hold source's files. Equal ones keep their time, so that ninja rebuilds only what changed."""
    wanted = {file.relative_to(source) for file in cache.walk([source])}
    for name in wanted:
        if not (target / name).exists() or not filecmp.cmp(source / name, target / name, shallow=False):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, target / name)
    for file in list(cache.walk([target])):
        if file.relative_to(target) not in wanted:
            file.unlink()


def engine_flags():
    """What qemu/simt/sources.mk says on this machine: the words of each simt-NAME, which depend on LLVM's presence."""
    show = f"show: ; @: $(foreach name,{' '.join(ENGINE_FLAGS)},$(info $(simt-$(name))))"
    command = ["make", "-s", "-f", "qemu/simt/sources.mk", "--eval", show, "show"]
    result = subprocess.run(command, cwd=cache.ROOT, capture_output=True, text=True, check=True)
    return dict(zip(ENGINE_FLAGS, result.stdout.splitlines()))


def write_changed(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def mirror_ours(folder):
    for source, target in OURS.items():
        mirror(cache.ROOT / source, folder / target)
    for name, words in engine_flags().items():
        write_changed(folder / "simt-flags" / name, words)


def in_our_words(line):
    """A compiler's message about a mirrored file, with the name the file has in our tree."""
    for source, target in OURS.items():
        line = line.replace(f"../src/{target}/", f"{source}/")
    return line


def system_meson():
    """Version of the meson that /usr/bin/python3 imports, as a tuple; (0,) without one."""
    query = [sys.executable, "-c", "import mesonbuild.coredata as c; print(c.version)"]
    result = subprocess.run(query, capture_output=True, text=True, check=False)
    return tuple(int(part) for part in result.stdout.split(".")[:2]) if result.returncode == 0 else (0,)


def fetch_meson(target):
    """Unpack a meson at target unless it is there or the system has one that is new enough."""
    if target.is_dir() or system_meson() >= MESON:
        return
    with debian.Archive() as archive:
        package = archive.binary("meson")
    new = target.with_name(target.name + ".new")
    debian.unpack_deb(package, new)
    new.rename(target)
