# SPDX-License-Identifier: MIT
"""The gpgpu device as a test drives it. Offsets are written out here on purpose: they check the device's table."""
import functools
import struct
import subprocess
import tempfile
from pathlib import Path

import pci
import qtest

REGISTERS = {
    "DEV_ID": 0x0000, "DEV_VERSION": 0x0004, "DEV_CAPS": 0x0008, "VRAM_SIZE_LO": 0x000C, "VRAM_SIZE_HI": 0x0010,
    "DEV_CAPS2": 0x0014, "SHARED_MAX": 0x0018, "PRIVATE_SIZE": 0x001C,
    "GLOBAL_CTRL": 0x0100, "GLOBAL_STATUS": 0x0104, "ERROR_STATUS": 0x0108,
    "FAULT_CAUSE": 0x0110, "FAULT_PC": 0x0114, "FAULT_ADDR": 0x0118, "FAULT_INSN": 0x011C,
    "FAULT_MHARTID": 0x0120, "FAULT_COUNT": 0x0124,
    "IRQ_ENABLE": 0x0200, "IRQ_STATUS": 0x0204, "IRQ_ACK": 0x0208,
    "KERNEL_ADDR_LO": 0x0300, "KERNEL_ADDR_HI": 0x0304, "KERNEL_ARGS_LO": 0x0308, "KERNEL_ARGS_HI": 0x030C,
    "GRID_DIM_X": 0x0310, "GRID_DIM_Y": 0x0314, "GRID_DIM_Z": 0x0318,
    "BLOCK_DIM_X": 0x031C, "BLOCK_DIM_Y": 0x0320, "BLOCK_DIM_Z": 0x0324,
    "SHARED_MEM_SIZE": 0x0328, "DISPATCH": 0x0330,
    "DMA_SRC_LO": 0x0400, "DMA_SRC_HI": 0x0404, "DMA_DST_LO": 0x0408, "DMA_DST_HI": 0x040C,
    "DMA_SIZE": 0x0410, "DMA_CTRL": 0x0414, "DMA_STATUS": 0x0418,
    "COUNT_INSNS_LO": 0x0500, "COUNT_INSNS_HI": 0x0504, "COUNT_LANE_INSNS_LO": 0x0508, "COUNT_LANE_INSNS_HI": 0x050C,
    "COUNT_DIVERGENCES_LO": 0x0510, "COUNT_DIVERGENCES_HI": 0x0514,
    "COUNT_TRANSACTIONS_LO": 0x0518, "COUNT_TRANSACTIONS_HI": 0x051C,
    "COUNT_BYTES_LO": 0x0520, "COUNT_BYTES_HI": 0x0524, "COUNT_BARRIERS_LO": 0x0528, "COUNT_BARRIERS_HI": 0x052C,
    "COUNT_LAUNCHES_LO": 0x0530, "COUNT_LAUNCHES_HI": 0x0534, "COUNT_BUSY_NS_LO": 0x0538, "COUNT_BUSY_NS_HI": 0x053C,
    "COUNT_CLEAR": 0x05FC,
    "QUEUE_BASE_LO": 0x0600, "QUEUE_BASE_HI": 0x0604, "QUEUE_SIZE": 0x0608, "QUEUE_CTRL": 0x060C,
    "QUEUE_COMPLETED": 0x0610,
    "THREAD_ID_X": 0x1000, "THREAD_ID_Y": 0x1004, "THREAD_ID_Z": 0x1008,
    "BLOCK_ID_X": 0x1010, "BLOCK_ID_Y": 0x1014, "BLOCK_ID_Z": 0x1018, "WARP_ID": 0x1020, "LANE_ID": 0x1024,
    "BARRIER": 0x2000, "THREAD_MASK": 0x2004, "BALLOT": 0x2010, "SHUFFLE": 0x2020,
}
ENABLE, RESET = 1, 2
READY, BUSY, ERROR = 1, 2, 4
INVALID_COMMAND, VRAM_FAULT, KERNEL_FAULT, DMA_FAULT = 1, 2, 4, 8
IRQ_KERNEL, IRQ_DMA, IRQ_ERROR, IRQ_QUEUE = 1, 2, 4, 8
DMA_START, DMA_TO_HOST, DMA_IRQ, DMA_IN_VRAM = 1, 2, 4, 8
DMA_BUSY, DMA_COMPLETE, DMA_ERROR = 1, 2, 4
MSIX_TABLE, MSIX_PBA = 0xFE000, 0xFF000


class Gpgpu(pci.Function):
    """A gpgpu with its BARs assigned: control and doorbells at base, VRAM at base + 256 MiB unless vram is given."""

    def __init__(self, machine, slot=1, base=qtest.PCI_WINDOW, vram=None, bus=0):
        super().__init__(machine, slot, bus)
        self.ctrl, self.doorbell = base, base + 0x100000
        self.vram = vram or base + 0x10000000
        for index, address in ((0, self.ctrl), (2, self.vram), (4, self.doorbell)):
            self.assign(index, address)
        self.enable()

    def __getitem__(self, name):
        return self.machine.read(self.ctrl + REGISTERS[name])

    def __setitem__(self, name, value):
        self.machine.write(self.ctrl + REGISTERS[name], value)

    def wide(self, name):
        """A 64-bit register, low half first."""
        low = self[name + "_LO"]
        return self[name + "_HI"] << 32 | low

    def set_wide(self, name, value):
        self[name + "_LO"] = value & 0xFFFFFFFF
        self[name + "_HI"] = value >> 32

    def write_words(self, offset, words):
        self.machine.write_words(self.vram + offset, words)

    def read_words(self, offset, count):
        return self.machine.read_words(self.vram + offset, count)

    def prepare(self, code, grid=1, block=1, args=(), at=0x1000, args_at=0x800, shared=0):
        """Load code (assembly or words) and set the launch registers."""
        self.write_words(at, assemble(code) if isinstance(code, str) else code)
        self.write_words(args_at, [*args, *[0] * (8 - len(args))])
        self.set_wide("KERNEL_ADDR", at)
        self.set_wide("KERNEL_ARGS", args_at)
        for name, size in (("GRID", grid), ("BLOCK", block)):
            x, y, z = (*(size if isinstance(size, tuple) else (size,)), 1, 1)[:3]
            self[name + "_DIM_X"], self[name + "_DIM_Y"], self[name + "_DIM_Z"] = x, y, z
        self["SHARED_MEM_SIZE"] = shared
        self["GLOBAL_CTRL"] = ENABLE

    def launch(self, code, **options):
        """Run a kernel to its end."""
        self.prepare(code, **options)
        self["DISPATCH"] = 1
        self.wait_idle()

    def wait_idle(self):
        qtest.wait_until(lambda: not self["GLOBAL_STATUS"] & BUSY, "kernel")

    def start_dma(self, source, target, size, flags=0):
        self.set_wide("DMA_SRC", source)
        self.set_wide("DMA_DST", target)
        self["DMA_SIZE"] = size
        self["DMA_CTRL"] = DMA_START | flags

    def dma(self, source, target, size, flags=0):
        """Transfer and return the final DMA_STATUS."""
        self.start_dma(source, target, size, flags)
        qtest.wait_until(lambda: not self["DMA_STATUS"] & DMA_BUSY, "DMA")
        return self["DMA_STATUS"]


@functools.lru_cache(maxsize=None)
def assemble(text):
    """Instruction words of RV32IMAF assembly."""
    with tempfile.TemporaryDirectory() as folder:
        source, linked, binary = (Path(folder) / name for name in ("kernel.S", "kernel.elf", "kernel.bin"))
        source.write_text(text + "\n", encoding="utf-8")
        subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32imaf_zicsr", "-mabi=ilp32f", "-nostdlib", "-Wl,-Ttext=0",
                        "-Wl,-e0", "-o", linked, source], check=True)
        subprocess.run(["riscv64-unknown-elf-objcopy", "-O", "binary", "-j", ".text", linked, binary], check=True)
        data = binary.read_bytes()
    return [word for (word,) in struct.iter_unpack("<I", data + bytes(-len(data) % 4))]


def floats(words):
    return list(struct.unpack(f"<{len(words)}f", struct.pack(f"<{len(words)}I", *words)))


def float_words(values):
    return list(struct.unpack(f"<{len(values)}I", struct.pack(f"<{len(values)}f", *values)))
