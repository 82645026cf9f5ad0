# SPDX-License-Identifier: MIT
"""A PCI function seen from the host bridge: configuration space, BARs, MSI-X (PCI 3.0, chapter 6)."""
import qtest

COMMAND, STATUS, BAR0, CAPABILITIES, INTERRUPT_PIN = 0x04, 0x06, 0x10, 0x34, 0x3D
MEMORY, BUS_MASTER = 0x2, 0x4
CAPABILITY_MSIX = 0x11
MSIX_ENABLE, MSIX_MASK_ALL = 0x8000, 0x4000


class Function:
    """The function at bus 0, the given slot."""

    def __init__(self, machine, slot, bus=0):
        self.machine, self.slot = machine, slot
        self.config = qtest.ECAM + (bus << 20) + (slot << 15)

    def read(self, offset, size=4):
        return self.machine.read(self.config + offset, size)

    def write(self, offset, value, size=4):
        self.machine.write(self.config + offset, value, size)

    def bar_size(self, index):
        """Bytes that a 32- or 64-bit memory BAR decodes, by writing ones (6.2.5.1); the BAR keeps its value."""
        offset = BAR0 + 4 * index
        wide = self.read(offset) & 0x6 == 0x4
        old = [self.read(offset), self.read(offset + 4)]
        self.write(offset, 0xFFFFFFFF)
        ones = self.read(offset) & ~0xF
        self.write(offset, old[0])
        if wide:
            self.write(offset + 4, 0xFFFFFFFF)
            ones |= self.read(offset + 4) << 32
            self.write(offset + 4, old[1])
        return (~ones + 1) & (0xFFFFFFFFFFFFFFFF if wide else 0xFFFFFFFF)

    def assign(self, index, address):
        wide = self.read(BAR0 + 4 * index) & 0x6 == 0x4
        self.write(BAR0 + 4 * index, address & 0xFFFFFFFF)
        if wide:
            self.write(BAR0 + 4 * index + 4, address >> 32)

    def enable(self, bits=MEMORY | BUS_MASTER):
        self.write(COMMAND, bits, 2)

    def capability(self, wanted):
        """Offset of a capability, or None."""
        at = self.read(CAPABILITIES, 1)
        while at:
            if self.read(at, 1) == wanted:
                return at
            at = self.read(at + 1, 1)
        return None

    def msix_control(self, set_bits=0, clear_bits=0):
        at = self.capability(CAPABILITY_MSIX) + 2
        self.write(at, self.read(at, 2) & ~clear_bits | set_bits, 2)
