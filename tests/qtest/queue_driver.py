# SPDX-License-Identifier: MIT
"""The launch queue as a driver uses it."""
import struct

import qtest
from gpgpu import ENABLE, assemble

LAUNCH, CHAINED = 0x001, 0x100
SKIPPED = 0x10
HEADER, DESCRIPTOR, COMPLETION = 64, 64, 32
BASE = qtest.RAM + 0x100000


def descriptor(kernel=0x1000, args=0x800, grid=(1, 1, 1), block=(1, 1, 1), shared=0, command=LAUNCH, reserved=(0,) * 4):
    return struct.pack("<IIQQ3I3I4I", command, shared, kernel, args, *grid, *block, *reserved)


class Queue:
    """A queue of size descriptors at base, enabled unless told otherwise."""

    def __init__(self, gpu, size=8, base=BASE, enable=True):
        self.gpu, self.size, self.base, self.tail = gpu, size, base, 0
        gpu["GLOBAL_CTRL"] = ENABLE
        gpu.set_wide("QUEUE_BASE", base)
        gpu["QUEUE_SIZE"] = size
        if enable:
            gpu["QUEUE_CTRL"] = 1
            assert gpu["QUEUE_CTRL"] == 1, gpu.machine.log()

    @property
    def completed(self):
        return self.gpu.machine.read(self.base)

    def interrupt_at(self, count):
        self.gpu.machine.write(self.base + 4, count)

    def put(self, data):
        """Write one descriptor, not telling the device."""
        self.gpu.machine.write_bytes(self.base + HEADER + self.tail % self.size * DESCRIPTOR, data)
        self.tail += 1

    def ring(self, tail=None):
        self.gpu.machine.write(self.gpu.doorbell, (self.tail if tail is None else tail) & 0xFFFFFFFF)

    def push(self, *descriptors):
        for data in descriptors:
            self.put(data)
        self.ring()

    def wait(self):
        qtest.wait_until(lambda: self.completed == self.tail & 0xFFFFFFFF, "queue")

    def completion(self, index):
        """Status, cause, pc, addr, insn, mhartid, count, sequence number."""
        at = self.base + HEADER + self.size * DESCRIPTOR + index % self.size * COMPLETION
        return self.gpu.machine.read_words(at, COMPLETION // 4)

    def statuses(self, count):
        return [self.completion(i)[0] for i in range(count)]


def load(gpu, code, at=0x1000):
    gpu.write_words(at, assemble(code))
