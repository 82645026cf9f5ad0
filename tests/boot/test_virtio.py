# SPDX-License-Identifier: MIT
"""Virtio devices of QEMU as the apps disk and random see them: every bus, interrupt, size and kind of trouble."""
import array
import os
import random
import re

import pytest
from boot import boot

MACHINES = {"plic": "virt", "aia": "virt,aia=aplic-imsic"}
INTERRUPT = {"plic": "INTx", "aia": "MSI-X"}
PORT = "-device pcie-root-port,id=rp,chassis=1"
BRIDGE = "-device pci-bridge,id=bridge,chassis_nr=2,bus=rp"
# Where a device is plugged in: (what comes before it, its bus).
PLACES = {
    "root": ("", ""),
    "port": (PORT, ",bus=rp"),
    "bridge": (f"{PORT} {BRIDGE}", ",bus=bridge,addr=3"),
}
MIB = 1 << 20
SECTOR = 512
machine = pytest.mark.parametrize("machine", MACHINES)


def pattern(sector, sectors):
    """Bytes of those sectors: 64-bit words that hold their own number, as apps/disk/pattern.c has them."""
    return array.array("Q", range(sector * 64, (sector + sectors) * 64)).tobytes()


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "disk.img"
    path.write_bytes(pattern(0, 4 * MIB // SECTOR))
    return path


def drive(path, options="", device="", name="d"):
    return (f"-drive file={path},format=raw,if=none,id={name}{options} "
            f"-device virtio-blk-pci,drive={name}{device}")


def run(command, devices, **variables):
    return boot("disk", DEVICES=devices, APPEND=f'app.args="{command}"', **variables)


def passed(result):
    assert result.failure is None, result.output
    return result.output


# --- the bus ---


@machine
@pytest.mark.parametrize("place", PLACES)
def test_disk_on_every_bus(image, machine, place):
    before, bus = PLACES[place]
    output = passed(run("info", f"{before} {drive(image, device=bus)}", MACHINE=MACHINES[machine]))
    assert f"[OK] block0: interrupts by {INTERRUPT[machine]}" in output
    assert "block0: 4 MiB, 8192 sectors, blocks of 512 bytes, writable, write cache" in output
    assert re.search(r"geometry [1-9]\d*/[1-9]\d*/[1-9]", output)


@machine
@pytest.mark.parametrize("place", PLACES)
def test_entropy_on_every_bus(machine, place):
    before, bus = PLACES[place]
    devices = f"{before} -device virtio-rng-pci{bus} -device virtio-rng-pci"
    output = passed(boot("random", DEVICES=devices, MACHINE=MACHINES[machine]))
    assert output.count(f"interrupts by {INTERRUPT[machine]}") == 2


def test_modern_only_device(image):
    output = passed(run("read 0 8192", drive(image, device=",disable-legacy=on")))
    assert "1af4:1042 SCSI controller → virtio_blk" in output


def test_legacy_only_device_is_refused_with_the_reason(image):
    result = run("info", drive(image, device=",disable-modern=on,disable-legacy=off"))
    assert result.code == 1
    assert "virtio structure 1 has 0 bytes, needs 56: not a 1.x device" in result.output


def test_two_disks(image, tmp_path):
    other = tmp_path / "other.img"
    other.write_bytes(pattern(0, 100))
    output = passed(run("read 0 100", f"{drive(image)} {drive(other, name='e')}"))
    assert "[OK] block0: 100 sectors" in output and "[OK] block1: 100 sectors" in output


def test_no_device_says_what_to_do():
    assert "run with DEVICES='-drive file=FILE" in run("info", "").failure
    assert "run with DEVICES='-device virtio-rng-pci'" in boot("random", DEVICES="").failure


def test_disabled_driver(image):
    result = boot("disk", DEVICES=drive(image), APPEND="driver.disable=virtio_blk")
    assert result.failure.startswith("[FAIL] no disk")


# --- data ---


@machine
@pytest.mark.parametrize("command", ["read 0 8192", "read 8191 1", "read 3 7000", "many 10 1024", "many 0 333"])
def test_read(image, machine, command):
    passed(run(command, drive(image), MACHINE=MACHINES[machine]))


def test_wrong_data_is_noticed(image):
    with image.open("r+b") as file:
        file.seek(4000 * SECTOR + 8)
        file.write(b"\x07")
    result = run("read 0 8192", drive(image))
    assert result.failure.startswith("[FAIL] block0: sector 4000, word 1: expected 0x3e801"), result.output


@machine
def test_write_reaches_the_file(tmp_path, machine):
    path = tmp_path / "empty.img"
    path.write_bytes(bytes(4 * MIB))
    passed(run("write 100 5000", drive(path), MACHINE=MACHINES[machine]))
    data = path.read_bytes()
    assert data[100 * SECTOR : 5100 * SECTOR] == pattern(100, 5000)
    assert not any(data[: 100 * SECTOR]) and not any(data[5100 * SECTOR :])


def test_beyond_4_gib(tmp_path):
    path = tmp_path / "large.img"
    border = (4 << 30) // SECTOR
    with path.open("wb") as file:
        file.truncate(5 << 30)
        file.seek((border - 64) * SECTOR)
        file.write(pattern(border - 64, 128))
    passed(run(f"read {border - 64} 128", drive(path)))
    passed(run(f"write {border + 1000} 2000", drive(path)))
    with path.open("rb") as file:
        file.seek((border + 1000) * SECTOR)
        assert file.read(2000 * SECTOR) == pattern(border + 1000, 2000)
    passed(run("limits 8388600 16", drive(path)))
    assert "block0: 5 GiB, 10485760 sectors" in passed(run("info", drive(path)))


def test_discard_makes_a_hole(image):
    full = image.stat().st_blocks
    output = passed(run("discard 2048 4096", drive(image, ",discard=unmap")))
    assert "discard of 4096 sectors: OK" in output
    assert full - image.stat().st_blocks >= 4096
    data = image.read_bytes()
    assert data[: 2048 * SECTOR] == pattern(0, 2048) and data[6144 * SECTOR :] == pattern(6144, 2048)


def test_discard_that_the_device_lacks(image):
    result = run("discard 0 8", drive(image, device=",discard=off"))
    assert result.failure == "[FAIL] block0: discard of 8 sectors: ENOTSUP"


def test_large_blocks(image):
    large = drive(image, device=",logical_block_size=4096,physical_block_size=4096")
    assert "blocks of 4096 bytes" in passed(run("info", large))
    passed(run("limits 0 8", large))
    passed(run("read 8 8000", large))


# With 4 harts several threads are in the driver at once; with one they take turns while requests are in flight.
@machine
@pytest.mark.parametrize("config, harts", [("smp", 4), ("threads", 1)])
def test_disk_that_many_threads_share(tmp_path, machine, config, harts):
    path = tmp_path / "shared.img"
    path.write_bytes(bytes(4 * MIB))
    seed = random.randrange(1 << 32)
    output = passed(run(f"share 0 8192 {seed}", drive(path), MACHINE=MACHINES[machine], CONFIG=config, SMP=harts))
    assert output.count("] block0: thread ") == 8
    assert any(path.read_bytes())


def test_speed_is_measured(image):
    output = passed(run("speed 0 8192", drive(image)))
    assert re.search(r"^BENCH virtio_blk.read_gbps [0-9.e+-]+ GB/s$", output, re.M)


# --- trouble ---


def test_limits(image):
    passed(run("limits 0 8", drive(image)))


def test_read_only(image):
    output = passed(run("readonly 0 8192", drive(image, ",readonly=on")))
    assert re.search(r"virtio_blk: pci .*: 4 MiB, read-only", output)


@pytest.mark.parametrize("disk", ["write through", "read-only"])
def test_flush_of_a_disk_without_a_write_cache(image, disk):
    options = {"write through": ",cache=writethrough", "read-only": ",readonly=on"}[disk]
    assert "[OK] block0: flush: OK" in passed(run("info", drive(image, options)))


@machine
def test_a_bad_sector(image, machine):
    devices = (f"-blockdev driver=file,node-name=file,filename={image} "
               "-blockdev driver=blkdebug,node-name=bad,image=file,inject-error.0.event=none,"
               "inject-error.0.iotype=read,inject-error.0.sector=1000,inject-error.0.errno=5 "
               "-blockdev driver=raw,node-name=d,file=bad -device virtio-blk-pci,drive=d")
    output = passed(run("error 1000 50", devices, MACHINE=MACHINES[machine]))
    assert "virtio_blk: error: block0: read of 1 sectors at 1000: EIO" in output
    result = run("read 0 8192", devices)
    assert result.failure == "[FAIL] block0: read: EIO"


# So slow that requests are in flight for sure.
SLOW = ",throttling.iops-total=50"


@machine
@pytest.mark.parametrize("command", ["reset", "unbind"])
def test_stop_in_flight(image, machine, command):
    output = passed(run(f"{command} 0 8", drive(image, SLOW), MACHINE=MACHINES[machine]))
    assert "requests in flight: OK" in output
    assert output.count("→ virtio_blk") == (2 if command == "unbind" else 1)


def test_a_disk_that_does_not_answer(image):
    output = passed(run("timeout", drive(image, ",throttling.iops-total=1"), CONFIG="hasty"))
    assert re.search(r"block0: read of 1 sectors at 0: no answer after 300 ms, 1 in flight, status 0xf: reset", output)


def test_a_source_of_entropy_that_is_dry(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    handle = os.open(fifo, os.O_RDWR)  # with a writer, which writes nothing
    try:
        devices = f"-object rng-random,id=r,filename={fifo} -device virtio-rng-pci,rng=r"
        result = boot("random", DEVICES=devices, CONFIG="hasty")
    finally:
        os.close(handle)
    assert result.failure == "[FAIL] entropy0: ETIMEDOUT", result.output
    assert "entropy0: no random bytes within 300 ms: ETIMEDOUT, status 0xf: reset" in result.output


def test_interrupt_counts_are_listed(image):
    output = passed(boot("lsdev", DEVICES=drive(image, device=",addr=4"), MACHINE=MACHINES["aia"]))
    device = output[output.index("pci 00:04.0: 1af4:1001 SCSI controller, revision 00: virtio_blk"):]
    assert re.search(r"^    interrupt \d+ \(MSI-X, vector 0\): taken 0 times$", device, re.M)
