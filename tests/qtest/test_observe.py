# SPDX-License-Identifier: MIT
"""What people see of the device: properties, trace events, one warp's instructions, fault messages."""
import re

import pytest

import qtest
from gpgpu import ENABLE, IRQ_KERNEL, RESET, Gpgpu
from qtest import Machine
from queue_driver import Queue, descriptor


def documented_properties():
    """Name and default of each row of the table in docs/device.md."""
    text = (qtest.ROOT / "docs/device.md").read_text(encoding="utf-8")
    table = text.split("<!-- table: properties -->")[1].split("<!-- end -->")[0]
    return dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", table, re.M))


def test_info_qtree_shows_every_property():
    with Machine("gpgpu,id=gpu0,num_cus=3,max_insns=77,engine=interp") as machine:
        tree = machine.hmp("info qtree")
    shown = dict(re.findall(r"^\s+(\w+) = (\S*)", tree[tree.index('dev: gpgpu, id "gpu0"'):], re.M))
    assert documented_properties().keys() <= shown.keys()
    assert (shown["num_cus"], shown["max_insns"], shown["engine"]) == ("3", "77", '"interp"')
    assert (shown["vram_size"], shown["warp_size"], shown["sync"]) == ("67108864", "32", '"auto"')


def test_trace_events():
    with Machine("gpgpu,id=gpu0", arguments=("-trace", "gpgpu_*")) as machine:
        gpu = Gpgpu(machine)
        gpu["IRQ_ENABLE"] = IRQ_KERNEL
        gpu.launch("ebreak", grid=(2, 3, 1), block=5)
        gpu.dma(qtest.RAM, 0x4000, 64)
        Queue(gpu).push(descriptor())
        gpu["GLOBAL_CTRL"] = RESET
        gpu["GLOBAL_CTRL"] = ENABLE
        log = machine.log()
    for line in (
        "gpgpu_reg_write gpu0: IRQ_ENABLE <- 0x1",
        "gpgpu_reg_read gpu0: GLOBAL_STATUS -> 0x1",
        "gpgpu_launch_start gpu0: kernel 0x1000 args 0x800 grid 2x3x1 block 5x1x1",
        "gpgpu_launch_done gpu0: cause 0",
        "gpgpu_irq gpu0: status 0x1 enable 0x1",
        f"gpgpu_dma_start gpu0: src {qtest.RAM:#x} dst 0x4000 size 0x40 ctrl 0x0",
        "gpgpu_dma_done gpu0: 64 bytes, ok 1",
        "gpgpu_queue_ring gpu0: tail 1",
        "gpgpu_queue_done gpu0: descriptor 0 status 0x0",
        "gpgpu_reset gpu0",
    ):
        assert line in log


@pytest.mark.parametrize("engine", ["interp", "auto"])
def test_trace_of_one_warp(tmp_path, engine):
    """Warp 1 of block 1 has two lanes, of which the second leaves the branch."""
    path = tmp_path / "trace"
    code = "csrr t0, mhartid\n andi t0, t0, 1\n bnez t0, 1f\n addi t1, zero, 9\n 1: ebreak"
    with Machine(f"gpgpu,trace={path},trace_block=1,trace_warp=1,engine={engine}") as machine:
        Gpgpu(machine).launch(code, grid=2, block=34)
    lines = [" ".join(line.split()) for line in path.read_text(encoding="utf-8").splitlines()]
    assert lines[:3] == [
        "00001000 csrrs t0,mhartid,zero 00000003 t0=[0:00002020 1:00002021]",
        "00001004 andi t0,t0,1 00000003 t0=[0:00000000 1:00000001]",
        "00001008 bne t0,zero,0x1010 00000003",
    ]
    assert "0000100c addi t1,zero,9 00000001 t1=00000009" in lines[3:]
    assert sum(line.startswith("00001010 ebreak") for line in lines) in (1, 2)  # lanes may meet again or not
    assert len(lines) in (5, 6)


def test_fault_message_shows_instruction_thread_and_mask(gpu):
    """Lanes 5 to 7 of block 3 load from nowhere."""
    gpu.launch("""
        csrr t0, mhartid
        li t1, 3 << 13 | 5
        lui t2, 0x70000
        blt t0, t1, 1f
        lw t3, 4(t2)
     1: ebreak
    """, grid=4, block=8)
    assert "gpu0: memory access fault at pc 0x00001014 (lw t3,4(t2)), address 0x70000004, thread (5,0,0) of block (3,0,0), " \
           "mask 0x000000e0, 3 threads" in gpu.machine.log()
