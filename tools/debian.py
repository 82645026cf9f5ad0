# SPDX-License-Identifier: MIT
"""Files of Debian's suite SUITE, whatever release this machine runs.

apt does the work (mirror, proxy, signatures, retries) with a state of its own in the cache: the machine's sources,
lists and packages are not touched and root is not needed.
"""
import shutil
import subprocess
import tempfile
from pathlib import Path

import cache

SUITE = "trixie"
KEYRINGS = [Path("/usr/share/keyrings/debian-archive-keyring" + suffix) for suffix in (".gpg", ".pgp")]
SOURCES = """Types: deb deb-src
URIs: {uri}
Suites: {suite}
Components: main
Architectures: riscv64
Targets: Packages Sources
Signed-By: {keyring}
"""


class Unavailable(Exception):
    """The archive cannot be reached or lacks the file; the text says why."""


def run(command, **options):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **options)
    if result.returncode:
        reason = (result.stderr.strip() or result.stdout.strip()).splitlines()
        raise Unavailable(f"{' '.join(command[:1] + command[-2:])}: {reason[-1] if reason else 'failed'}")
    return result.stdout


def machine_uri():
    """The mirror this machine's own apt uses for Debian's archive."""
    if not shutil.which("apt-get"):
        raise Unavailable("no apt-get here: set QEMU_SRC=DIR to an unpacked QEMU 10.0, or QEMU=BINARY")
    wanted = ["Created-By: Packages", "Origin: Debian", "Label: Debian"]
    uris = run(["apt-get", "indextargets", "--format", "$(REPO_URI)", *wanted]).split()
    if not uris:
        raise Unavailable("apt has no Debian archive on this machine (run apt-get update once)")
    return uris[0]


def keyring():
    for path in KEYRINGS:
        if path.exists():
            return path
    raise Unavailable("package debian-archive-keyring is missing")


class Archive:
    """A private apt over SUITE, for riscv64 packages and for sources. Use as a context manager: it locks."""

    def __init__(self):
        self.downloads = cache.directory() / "debian"
        self.state = cache.directory() / "apt"
        self.guard = cache.lock(self.state / "lock")
        self.fresh = False

    def __enter__(self):
        self.guard.__enter__()
        return self

    def __exit__(self, *exception):
        return self.guard.__exit__(*exception)

    def options(self):
        settings = {
            "Dir::Etc::SourceList": "/dev/null",
            "Dir::Etc::SourceParts": self.state / "sources",
            "Dir::Etc::Preferences": "/dev/null",
            "Dir::Etc::PreferencesParts": "/dev/null",
            "Dir::State": self.state,
            "Dir::State::Lists": self.state / "lists",
            "Dir::State::status": self.state / "status",
            "Dir::Cache": self.state / "cache",
            "APT::Architecture": "riscv64",
            "APT::Architectures": "riscv64",
            "APT::Sandbox::User": "",
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
        }
        return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]

    def update(self):
        """Fetch the index of SUITE, once per object."""
        if self.fresh:
            return
        for folder in ("sources", "lists/partial", "cache/archives/partial"):
            (self.state / folder).mkdir(parents=True, exist_ok=True)
        (self.state / "status").touch()
        sources = SOURCES.format(uri=machine_uri(), suite=SUITE, keyring=keyring())
        (self.state / "sources" / "weft.sources").write_text(sources, encoding="utf-8")
        run(["apt-get", *self.options(), "-q", "update"])
        self.fresh = True

    def get(self, *words):
        """Run apt-get words in an empty folder and move what it fetched to the cache."""
        self.update()
        self.downloads.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.state) as folder:
            run(["apt-get", *self.options(), "-q", *words], cwd=folder)
            # The .dsc last: where it lies, its tarballs do.
            for file in sorted(Path(folder).iterdir(), key=lambda path: path.suffix == ".dsc"):
                file.rename(self.downloads / file.name)

    def cached(self, pattern):
        """The newest cached file that matches, or None."""
        found = sorted(self.downloads.glob(pattern), key=lambda path: path.stat().st_mtime)
        return found[-1] if found else None

    def source(self, name, version):
        """Path of the .dsc of source package name at version.*; its tarballs lie beside it."""
        pattern = f"{name}_{version}.*.dsc"
        if not self.cached(pattern):
            self.get("--download-only", "source", name)
        return self.cached(pattern) or self.lacks(f"{name} {version}")

    def binary(self, name):
        """Path of the riscv64 or architecture-independent package name."""
        pattern = f"{name}_*.deb"
        if not self.cached(pattern):
            self.get("download", name)
        return self.cached(pattern) or self.lacks(name)

    @staticmethod
    def lacks(what):
        raise Unavailable(f"Debian {SUITE} has no {what}")


def unpack_deb(package, folder):
    """Replace folder by the contents of a .deb."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run(["dpkg", "-x", str(package), str(folder)])
