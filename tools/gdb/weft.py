# SPDX-License-Identifier: MIT
"""Commands for gdb on a running image: weft-devices, weft-pages, weft-heap. `make debug` says how to load them."""
import gdb

LIST_END = 100000  # longer lists are damaged ones


def static(name, file):
    """A variable of that name in the file: several files may have one."""
    return gdb.parse_and_eval(f"'{file}'::{name}")


def entries(head, type_name, member):
    """The elements of a core/list.h list."""
    pointer = gdb.lookup_type(type_name).pointer()
    offset = next(f.bitpos // 8 for f in pointer.target().fields() if f.name == member)
    node = head["next"]
    for _ in range(LIST_END):
        if node == head.address:
            return
        yield gdb.Value(int(node) - offset).cast(pointer).dereference()
        node = node["next"]
    raise gdb.GdbError("the list does not end")


class Devices(gdb.Command):
    """weft-devices: every registered device with its driver."""

    def __init__(self):
        super().__init__("weft-devices", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        for device in entries(static("devices", "bus/device.c"), "struct device", "node"):
            driver = device["driver"]
            print(f"{device['name'].string():12} {device['address'].string():10} {device['what'].string():32} "
                  f"{driver['name'].string() if driver else 'no driver'}")


class Pages(gdb.Command):
    """weft-pages: the page table, one line for each run of equal attributes."""

    def __init__(self):
        super().__init__("weft-pages", gdb.COMMAND_STATUS)

    @staticmethod
    def read(table):
        memory = gdb.selected_inferior().read_memory(table, 4096)
        return memoryview(memory).cast("B").cast("Q")

    def leaves(self, table, level, base):
        span = 4096 << (9 * level)
        for i, pte in enumerate(self.read(table)):
            virt = base + i * span
            if level == 2 and i >= 256:
                virt |= 0xFFFFFF8000000000
            phys = (pte >> 10 & ((1 << 44) - 1)) << 12
            if pte & 0xE:
                yield virt, phys, span, "".join(c if pte & bit else "-" for c, bit in (("r", 2), ("w", 4), ("x", 8)))
            elif pte & 1:
                yield from self.leaves(phys, level - 1, virt)

    def invoke(self, argument, from_tty):
        runs = []
        for virt, phys, size, attr in self.leaves(int(static("root", "hal/riscv64/paging.c").address), 2, 0):
            if runs and runs[-1][3] == attr and runs[-1][0] + runs[-1][2] == virt and runs[-1][1] + runs[-1][2] == phys:
                runs[-1][2] += size
            else:
                runs.append([virt, phys, size, attr])
        for virt, phys, size, attr in runs:
            print(f"{virt:#18x} .. {virt + size - 1:#18x} -> {phys:#12x} {attr}")


class Heap(gdb.Command):
    """weft-heap: bytes in use, pages free, and the free pieces of both."""

    def __init__(self):
        super().__init__("weft-heap", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        heap = static("heap", "hal/riscv64/memory.c")
        pool = static("pool", "hal/riscv64/memory.c")
        print(f"heap: {int(heap['used'])} bytes in use, {int(heap['peak'])} at most; "
              f"pages: {int(pool['free']) // 4096} of {int(static('pages_total', 'hal/riscv64/memory.c'))} free")
        for name, runs in ("heap", heap["pool"]), ("pages", pool):
            run = runs["first"]
            while run:
                print(f"  {name}: {int(run['size'])} bytes free at {int(run):#x}")
                run = run["next"]


Devices()
Pages()
Heap()
