# SPDX-License-Identifier: MIT
"""QEMU's virt machine without any guest software: this process does the loads and stores, and with accel="tcg"
processors run beside it.

The protocol is described in QEMU's system/qtest.c, the machine's addresses in hw/riscv/virt.c.
"""
import base64
import json
import os
import socket
import struct
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
ECAM = 0x30000000
PCI_WINDOW = 0x40000000  # 32-bit memory window, 1 GiB
RAM = 0x80000000
PLIC_INTX = 32  # first of the four interrupt lines of the PCI host bridge, on the PLIC and the APLIC
TIMEOUT_S = 60
PIECE = 48 << 10


def qemu_binary():
    return os.environ.get("QEMU") or str(ROOT / "build/qemu/qemu-system-riscv64")


class Lines:
    """A socket that QEMU connects to and talks lines on."""

    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(1)
        self.listener.settimeout(TIMEOUT_S)
        self.input = self.output = None

    def accept(self):
        connection, _ = self.listener.accept()
        connection.settimeout(TIMEOUT_S)
        # Two files: one for both directions forgets unread lines when it writes.
        self.input = connection.makefile("r", encoding="utf-8", newline="\n")
        self.output = connection.makefile("w", encoding="utf-8", newline="\n")
        connection.close()
        self.listener.close()

    def send(self, line):
        self.output.write(line + "\n")
        self.output.flush()

    def receive(self):
        line = self.input.readline()
        if not line:
            raise ConnectionError("QEMU closed the connection")
        return line.strip()

    def close(self):
        self.listener.close()
        for file in (self.input, self.output):
            if file:
                file.close()


class Machine:
    """A running QEMU. Use as a context manager; leaving it checks that QEMU ends cleanly."""

    def __init__(self, *devices, machine="virt", accel="qtest", arguments=()):
        self.folder = tempfile.TemporaryDirectory(prefix="weft-qtest-")
        path = Path(self.folder.name)
        self.qtest, self.qmp = Lines(str(path / "qtest")), Lines(str(path / "qmp"))
        self.log_path = path / "log"
        self.raised = set()  # interrupt lines that are up
        command = [qemu_binary(), "-M", machine, "-m", "128M", "-accel", accel, "-display", "none", "-nodefaults",
                   "-qtest", f"unix:{path / 'qtest'}", "-qtest-log", "/dev/null", "-qmp", f"unix:{path / 'qmp'}",
                   "-d", "guest_errors", "-D", str(self.log_path)]
        for device in devices:
            command += ["-device", device]
        self.process = subprocess.Popen([*command, *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True)
        try:
            self.qtest.accept()
            self.qmp.accept()
            self.qmp.receive()
            self.monitor("qmp_capabilities")
        except OSError as error:
            self.process.kill()
            message = self.process.stderr.read()
            self.kill()
            raise RuntimeError(f"QEMU did not start: {message}") from error

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            self.process.kill()
            print(f"QEMU's messages:\n{self.process.stderr.read()}{self.log()}")
            self.kill()
            return
        self.qmp.send(json.dumps({"execute": "quit"}))
        try:
            code = self.process.wait(TIMEOUT_S)
            errors = self.process.stderr.read()
        finally:
            self.kill()
        assert code == 0, f"QEMU ended with {code}: {errors}"

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        self.qtest.close()
        self.qmp.close()
        self.folder.cleanup()

    def log(self):
        """What QEMU told about guest errors so far."""
        return self.log_path.read_text(encoding="utf-8") if self.log_path.exists() else ""

    def monitor(self, command, **arguments):
        """Execute a QMP command; returns what it returns."""
        self.qmp.send(json.dumps({"execute": command, "arguments": arguments}))
        while True:
            reply = json.loads(self.qmp.receive())
            if "error" in reply:
                raise RuntimeError(reply["error"]["desc"])
            if "return" in reply:
                return reply["return"]

    def hmp(self, line):
        return self.monitor("human-monitor-command", **{"command-line": line})

    def command(self, line):
        """Send a qtest command, note interrupts that come meanwhile, return the reply's words after OK."""
        self.qtest.send(line)
        while True:
            words = self.qtest.receive().split()
            if words[0] == "IRQ":
                self.note_interrupt(words)
            elif words[0] == "OK":
                return words[1:]
            else:
                raise RuntimeError(" ".join(words))

    def note_interrupt(self, words):
        if words[1] == "raise":
            self.raised.add(int(words[2]))
        else:
            self.raised.discard(int(words[2]))

    def intercept(self, qom_type):
        """Record the input lines of the machine's one interrupt controller of that type in self.raised."""
        path = self.find("/machine/unattached", qom_type)
        self.command(f"irq_intercept_in {path}")

    def find(self, folder, qom_type):
        for entry in self.monitor("qom-list", path=folder):
            if entry["type"] == f"child<{qom_type}>":
                return f"{folder}/{entry['name']}"
        raise LookupError(qom_type)

    def read(self, address, size=4):
        letter = {1: "b", 2: "w", 4: "l", 8: "q"}[size]
        return int(self.command(f"read{letter} {address:#x}")[0], 0)

    def write(self, address, value, size=4):
        letter = {1: "b", 2: "w", 4: "l", 8: "q"}[size]
        self.command(f"write{letter} {address:#x} {value:#x}")

    def read_bytes(self, address, size):
        """Bytes of memory, in pieces: QEMU's time for a line grows with the square of its length."""
        pieces = [self.command(f"b64read {address + at:#x} {min(PIECE, size - at):#x}")[0]
                  for at in range(0, size, PIECE)]
        return b"".join(map(base64.b64decode, pieces))

    def write_bytes(self, address, data):
        for at in range(0, len(data), PIECE):
            piece = data[at:at + PIECE]
            self.command(f"b64write {address + at:#x} {len(piece):#x} {base64.b64encode(piece).decode()}")

    def read_words(self, address, count):
        return list(struct.unpack(f"<{count}I", self.read_bytes(address, 4 * count)))

    def write_words(self, address, words):
        self.write_bytes(address, struct.pack(f"<{len(words)}I", *words))


def wait_until(condition, what):
    """Poll condition until it holds. The limit finds hangs."""
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, f"waited too long: {what}"
        time.sleep(0.001)
