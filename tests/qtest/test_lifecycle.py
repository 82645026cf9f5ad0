# SPDX-License-Identifier: MIT
"""Stop, migrate and unplug, also while the device works."""
import random

import pytest

import pci
import qtest
from gpgpu import (BUSY, DMA_BUSY, DMA_COMPLETE, DMA_IRQ, IRQ_DMA, IRQ_KERNEL, MSIX_PBA, MSIX_TABLE, READY,
                   REGISTERS, RESET, Gpgpu)
from qtest import Machine, wait_until
from queue_driver import Queue, descriptor

BUFFER = qtest.RAM + 0x100000
# Waits for the word at 0x3000, then stores a0 at 0x2000.
WAIT_AND_STORE = "li t0, 0x3000\n 1: lw t1, (t0)\n beqz t1, 1b\n li t0, 0x2000\n sw a0, (t0)\n ebreak"
# Counts a0 down, then stores 1 at 0x2000.
COUNT_DOWN = "1: addi a0, a0, -1\n bnez a0, 1b\n li t0, 0x2000\n li t1, 1\n sw t1, (t0)\n ebreak"


def test_a_stop_waits_for_a_kernel_that_ends_soon(async_gpu):
    gpu = async_gpu
    gpu["IRQ_ENABLE"] = IRQ_KERNEL
    gpu.prepare(COUNT_DOWN, args=[3_000_000])
    gpu["DISPATCH"] = 1
    gpu.machine.monitor("stop")
    assert (gpu["GLOBAL_STATUS"], gpu["IRQ_STATUS"], gpu.read_words(0x2000, 1)) == (READY, IRQ_KERNEL, [1])
    gpu.machine.monitor("cont")
    assert gpu.wide("COUNT_LAUNCHES") == 1


def test_a_stop_interrupts_a_kernel_that_does_not_and_it_starts_again(async_gpu):
    gpu = async_gpu
    gpu.prepare(WAIT_AND_STORE, args=[5])
    gpu["DISPATCH"] = 1
    gpu.machine.monitor("stop")
    gpu.write_words(0x3000, [1])
    assert (gpu["GLOBAL_STATUS"], gpu["IRQ_STATUS"], gpu.read_words(0x2000, 1)) == (BUSY, 0, [0])
    gpu.machine.monitor("cont")
    gpu.wait_idle()
    assert (gpu["IRQ_STATUS"], gpu["ERROR_STATUS"], gpu.read_words(0x2000, 1)) == (IRQ_KERNEL, 0, [5])


def test_a_stop_completes_a_transfer(async_gpu):
    async_gpu.start_dma(BUFFER, 0, 48 << 20, DMA_IRQ)
    assert async_gpu["DMA_STATUS"] == DMA_BUSY
    async_gpu.machine.monitor("stop")
    assert (async_gpu["DMA_STATUS"], async_gpu["IRQ_STATUS"]) == (DMA_COMPLETE, IRQ_DMA)


class Migration:
    """One machine saved to a file, and another that goes on from it."""

    def __init__(self, folder, *devices, machine="virt"):
        self.path, self.devices, self.machine = folder / "state", devices, machine

    def source(self):
        return Machine(*self.devices, machine=self.machine)

    def save(self, machine):
        machine.monitor("migrate", uri=f"file:{self.path}")
        wait_until(lambda: machine.monitor("query-migrate").get("status") in ("completed", "failed"), "migration")
        assert machine.monitor("query-migrate")["status"] == "completed"

    def target(self):
        return Machine(*self.devices, machine=self.machine, arguments=("-incoming", f"file:{self.path}"))

    @staticmethod
    def arrived(machine):
        """The device on the target, whose BARs came along."""
        wait_until(lambda: machine.monitor("query-status")["running"], "arrival")
        gpu = Gpgpu.__new__(Gpgpu)
        pci.Function.__init__(gpu, machine, 1)
        gpu.ctrl, gpu.vram = qtest.PCI_WINDOW, qtest.PCI_WINDOW + 0x10000000
        return gpu


def test_migration_of_registers_counters_and_vram(tmp_path):
    migration = Migration(tmp_path, "gpgpu")
    with migration.source() as machine:
        gpu = Gpgpu(machine)
        gpu.launch("nop\n .word 0", grid=2, block=40, args=[1, 2, 3])  # a fault, to be kept
        gpu["IRQ_ENABLE"] = 0xF
        gpu["THREAD_MASK"] = 0x12345678
        gpu.machine.write_words(gpu.vram + (64 << 20) - 8, [0xAB, 0xCD])
        before = {name: gpu[name] for name in REGISTERS}
        migration.save(machine)
    with migration.target() as machine:
        gpu = migration.arrived(machine)
        assert {name: gpu[name] for name in REGISTERS} == before
        assert gpu.read_words((64 << 20) - 8, 2) == [0xAB, 0xCD]
        gpu["ERROR_STATUS"] = 0xF
        gpu.launch("li t0, 0x2000\n sw a0, (t0)\n ebreak", args=[8])
        assert gpu.read_words(0x2000, 1) == [8]
        assert gpu.wide("COUNT_LAUNCHES") == 2


def test_migration_of_a_pending_interrupt(tmp_path):
    migration = Migration(tmp_path, "gpgpu")
    with migration.source() as machine:
        gpu = Gpgpu(machine)
        gpu["IRQ_ENABLE"] = IRQ_KERNEL
        gpu.launch("ebreak")
        migration.save(machine)
    with migration.target() as machine:
        gpu = migration.arrived(machine)
        assert gpu.read(pci.STATUS, 2) & 0x8
        gpu["IRQ_ACK"] = IRQ_KERNEL
        assert not gpu.read(pci.STATUS, 2) & 0x8


def test_migration_of_a_masked_vector(tmp_path):
    migration = Migration(tmp_path, "gpgpu", machine="virt,aia=aplic-imsic")
    with migration.source() as machine:
        gpu = Gpgpu(machine)
        gpu.msix_control(set_bits=pci.MSIX_ENABLE)
        machine.write_words(gpu.ctrl + MSIX_TABLE, [BUFFER, 0, 0x77])
        gpu["IRQ_ENABLE"] = IRQ_KERNEL
        gpu.launch("ebreak")
        migration.save(machine)
    with migration.target() as machine:
        gpu = migration.arrived(machine)
        assert machine.read(gpu.ctrl + MSIX_PBA) == 1
        machine.write(gpu.ctrl + MSIX_TABLE + 12, 0)
        assert machine.read(BUFFER) == 0x77


def test_migration_while_a_kernel_runs(tmp_path):
    """It ends on the source, or starts again on the target; either way it ends once and its result is there."""
    migration = Migration(tmp_path, "gpgpu,sync=off")
    with migration.source() as machine:
        gpu = Gpgpu(machine)
        gpu.prepare(COUNT_DOWN, args=[20_000_000])
        gpu["DISPATCH"] = 1
        migration.save(machine)
    with migration.target() as machine:
        gpu = migration.arrived(machine)
        gpu.wait_idle()
        assert (gpu["IRQ_STATUS"], gpu.read_words(0x2000, 1)) == (IRQ_KERNEL, [1])


def test_migration_of_an_interrupted_kernel(tmp_path):
    migration = Migration(tmp_path, "gpgpu,sync=off")
    with migration.source() as machine:
        gpu = Gpgpu(machine)
        gpu.prepare(WAIT_AND_STORE, args=[31])
        gpu["DISPATCH"] = 1
        migration.save(machine)
    with migration.target() as machine:
        gpu = migration.arrived(machine)
        assert gpu["GLOBAL_STATUS"] == BUSY
        gpu.write_words(0x3000, [1])
        gpu.wait_idle()
        assert (gpu["IRQ_STATUS"], gpu.read_words(0x2000, 1)) == (IRQ_KERNEL, [31])


COUNT_AND_WAIT = """
    li t0, 0x3000
 1: lw t1, (t0)
    beqz t1, 1b
    li t1, 1
    li t2, 0x4000
    amoadd.w zero, t1, (t2)
 2: lw t1, 4(t0)
    beqz t1, 2b
    ebreak
"""


@pytest.mark.parametrize("by", ["dispatch", "queue"])
def test_migration_keeps_what_an_interrupted_kernel_wrote(tmp_path, by):
    """The kernel counts after its page has been sent, and counts again when it is started again."""
    migration = Migration(tmp_path, "gpgpu,sync=off")
    with migration.source() as machine:
        gpu = Gpgpu(machine)
        gpu.prepare(COUNT_AND_WAIT)
        machine.write_bytes(gpu.vram + (1 << 20), random.Random(1).randbytes(4 << 20))
        if by == "queue":
            queue = Queue(gpu)
            machine.monitor("stop")  # takes note of what was written so far
            machine.monitor("cont")
            queue.push(descriptor())
        else:
            gpu["DISPATCH"] = 1
        machine.monitor("migrate-set-parameters", **{"max-bandwidth": 1 << 20})
        machine.monitor("migrate", uri=f"file:{migration.path}")
        wait_until(lambda: machine.monitor("query-migrate").get("ram", {}).get("normal", 0) > 100, "half of the way")
        gpu.write_words(0x3000, [1])
        wait_until(lambda: gpu.read_words(0x4000, 1) == [1], "the kernel")
        machine.monitor("migrate-set-parameters", **{"max-bandwidth": 1 << 40})
        wait_until(lambda: machine.monitor("query-migrate")["status"] == "completed", "migration")
    with migration.target() as machine:
        gpu = migration.arrived(machine)
        wait_until(lambda: gpu.read_words(0x4000, 1) == [2], "the kernel, again")
        gpu.write_words(0x3004, [1])
        gpu.wait_idle()


def test_migration_to_another_vram_size_is_refused(tmp_path):
    migration = Migration(tmp_path, "gpgpu,vram_size=1M")
    with migration.source() as machine:
        Gpgpu(machine)
        migration.save(machine)
    migration.devices = ("gpgpu,vram_size=2M",)
    with pytest.raises(RuntimeError, match="gpgpu-vram: 0x100000 != 0x200000"):
        migration.target()


class Snapshots:
    """Snapshots of a machine, on a disk that only they use."""

    def __init__(self, machine, folder):
        self.machine, image = machine, folder / "snapshots.qcow2"
        image.touch()
        machine.monitor("blockdev-add", driver="file", filename=str(image), **{"node-name": "image"})
        self.job("blockdev-create", options={"driver": "qcow2", "file": "image", "size": 1 << 20})
        machine.monitor("blockdev-add", driver="qcow2", file="image", **{"node-name": "disk"})

    def job(self, command, **arguments):
        self.machine.monitor(command, **{"job-id": "job", **arguments})

        def job():
            return self.machine.monitor("query-jobs")[0]

        wait_until(lambda: job()["status"] == "concluded", command)
        assert "error" not in job(), job()
        self.machine.monitor("job-dismiss", id="job")

    def save(self, tag):
        self.job("snapshot-save", tag=tag, vmstate="disk", devices=["disk"])

    def load(self, tag):
        self.job("snapshot-load", tag=tag, vmstate="disk", devices=["disk"])


def test_snapshots_of_a_running_kernel(async_gpu, tmp_path):
    """It finishes with the right result after savevm, and once more when loadvm brings it back."""
    gpu = async_gpu
    snapshots = Snapshots(gpu.machine, tmp_path)

    def finishes():
        assert (gpu["GLOBAL_STATUS"], gpu["IRQ_STATUS"], gpu.read_words(0x2000, 1)) == (BUSY, 0, [0])
        gpu.write_words(0x3000, [1])
        gpu.wait_idle()
        assert (gpu["IRQ_STATUS"], gpu["ERROR_STATUS"], gpu.read_words(0x2000, 1)) == (IRQ_KERNEL, 0, [31])

    gpu.prepare(WAIT_AND_STORE, args=[31])
    gpu["DISPATCH"] = 1
    snapshots.save("waiting")
    finishes()
    gpu.prepare("1: j 1b", grid=8)  # what runs is given up for what was saved
    gpu["DISPATCH"] = 1
    snapshots.load("waiting")
    finishes()


def test_snapshots_of_a_transfer_and_a_queue(async_gpu, tmp_path):
    gpu, size = async_gpu, 48 << 20
    snapshots = Snapshots(gpu.machine, tmp_path)
    gpu.machine.write_words(BUFFER + size - 4, [0xABCD])
    gpu.prepare(WAIT_AND_STORE, args=[8])
    queue = Queue(gpu)

    def finish():
        assert (gpu["DMA_STATUS"], gpu["IRQ_STATUS"]) == (DMA_COMPLETE, IRQ_DMA)
        assert gpu.read_words(0x10000 + size - 4, 1) == [0xABCD]
        assert (queue.completed, gpu["GLOBAL_STATUS"]) == (0, BUSY)
        gpu.write_words(0x3000, [1])
        queue.wait()
        assert (queue.statuses(2), gpu.read_words(0x2000, 1)) == ([0, 0], [8])

    queue.push(descriptor(), descriptor())
    gpu.start_dma(BUFFER, 0x10000, size, DMA_IRQ)
    snapshots.save("busy")
    finish()
    gpu["GLOBAL_CTRL"] = RESET
    snapshots.load("busy")
    finish()


SLOT_CONTROL, POWER_OFF = 0x18, 0x0700  # power controller and indicator off (PCI Express 3.0, 7.8.10)


class Slot:
    """A root port with a hot-plug slot, and the device in it."""

    def __init__(self, machine):
        self.machine, self.port = machine, pci.Function(machine, 1)
        self.port.write(0x18, 0x00010100)  # primary 0, secondary 1, subordinate 1
        self.port.write(0x20, 0x5FF04000)  # memory window
        self.port.write(0x24, 0x7FF06001)  # prefetchable window
        self.port.enable()

    def gpu(self):
        return Gpgpu(self.machine, 0, vram=0x60000000, bus=1)

    def unplug(self, name):
        self.machine.monitor("device_del", id=name)
        at = self.port.capability(0x10) + SLOT_CONTROL
        self.port.write(at, self.port.read(at, 2) | POWER_OFF, 2)
        wait_until(lambda: name not in self.devices(), "unplug")
        self.port.write(at, self.port.read(at, 2) & ~POWER_OFF, 2)

    def devices(self):
        return [entry["name"] for entry in self.machine.monitor("qom-list", path="/machine/peripheral")]


@pytest.fixture
def slot():
    with Machine("pcie-root-port,id=rp,slot=1,addr=1", "gpgpu,id=gpu0,bus=rp,sync=off") as machine:
        yield Slot(machine)


@pytest.mark.parametrize("work", ["nothing", "kernel", "transfer", "queue"])
def test_unplug_and_plug_again(slot, work):
    gpu = slot.gpu()
    if work == "kernel":
        gpu.prepare("1: j 1b", grid=16, block=64)
        gpu["DISPATCH"] = 1
        assert gpu["GLOBAL_STATUS"] == BUSY
    elif work == "transfer":
        gpu.start_dma(BUFFER, 0, 48 << 20)
        assert gpu["DMA_STATUS"] == DMA_BUSY
    elif work == "queue":
        gpu.write_words(0x1000, [0x6F])  # 1: j 1b
        Queue(gpu).push(descriptor(), descriptor())
        assert gpu["GLOBAL_STATUS"] == BUSY
    slot.unplug("gpu0")
    assert gpu.read(0) == 0xFFFFFFFF
    slot.machine.monitor("device_add", driver="gpgpu", id="gpu1", bus="rp")
    again = slot.gpu()
    again.launch("li t0, 0x2000\n sw a0, (t0)\n ebreak", args=[3])
    assert again.read_words(0x2000, 1) == [3]


def test_a_device_that_cannot_be_leaves_nothing_behind(slot):
    slot.unplug("gpu0")
    for option in ({"engine": "fast"}, {"vram_size": 3}, {"num_cus": 0}, {"vram_size": 1 << 20}):
        try:
            slot.machine.monitor("device_add", driver="gpgpu", id="gpu1", bus="rp", **option)
        except RuntimeError as error:
            assert option != {"vram_size": 1 << 20}, error
    assert slot.gpu().wide("VRAM_SIZE") == 1 << 20
