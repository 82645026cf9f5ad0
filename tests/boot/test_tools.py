# SPDX-License-Identifier: MIT
"""Tools for hunting a bug: file:line for a backtrace, and gdb's commands on a running image."""
import re
import shlex
import subprocess

from boot import ROOT, boot, make


def test_symbolize_adds_file_and_line(tmp_path):
    log = tmp_path / "boot.log"
    log.write_text(boot("crash", APPEND="case=null").output)
    output = subprocess.run([ROOT / "tools/symbolize", ROOT / "build/crash/weft.elf", log], capture_output=True,
                            text=True, check=True).stdout
    source = (ROOT / "apps/crash/main.c").read_text().splitlines()
    place = re.search(r"crash_null\+0x[0-9a-f]+  apps/crash/main\.c:(\d+)$", output, re.M)
    assert place and "(zero + 8) = 1" in source[int(place[1]) - 1], output
    call = re.search(r"  main\+0x[0-9a-f]+  apps/crash/main\.c:(\d+)$", output, re.M)
    assert call and "cases[i].run();" in source[int(call[1]) - 1], output


def test_gdb_lists_devices_pages_and_heap():
    command = shlex.split(make("run-command", "APP=gpgpu-demo").strip().splitlines()[-1])
    command[command.index("-serial") + 1] = "null"
    gdb = subprocess.run(
        ["gdb-multiarch", "-nx", "-batch", "build/gpgpu-demo/weft.elf", "-x", "tools/gdb/weft.py",
         "-ex", f"target remote | exec {shlex.join(command)} -S -gdb stdio",
         "-ex", "break init_exit_all", "-ex", "continue", "-ex", "weft-devices", "-ex", "weft-pages",
         "-ex", "weft-heap", "-ex", "kill"],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    output = gdb.stdout + gdb.stderr
    assert re.search(r"^gpgpu0 +00:01\.0 +1234:1337 3D controller +qemu_gpgpu$", output, re.M), output
    assert re.search(r"^ +0x80200000 \.\. .* -> +0x80200000 r-x$", output, re.M), output
    assert re.search(r"^0xffffffc0\w+ \.\. .* rw-$", output, re.M), output
    assert re.search(r"^heap: \d+ bytes in use", output, re.M), output
