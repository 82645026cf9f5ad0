# SPDX-License-Identifier: MIT
"""CONFIG=trace: what a run leaves behind, from boot to exit, in software and on the device."""
import subprocess

from boot import ROOT, boot, make
from trace_check import Trace, begin, end


def traced(folder, app, **variables):
    """Boot an app that records; returns the boot and the trace, which was checked."""
    result = boot(app, **{"CONFIG": "trace"} | variables)
    build = ROOT / "build" / folder
    subprocess.run([ROOT / "tools/trace2perfetto", build / "guest.trace", build / "device.trace", "-o", build / "trace.json"],
                   check=True)
    return result, Trace(build / "trace.json")


def one(spans, name):
    found = [span for span in spans if span["name"] == name]
    assert len(found) == 1, (name, found)
    return found[0]


LENET_KERNELS = {"conv2d_3x3", "relu", "max_pool_2x2", "fc_layer"}


def check_lenet(trace):
    launches = trace.of("gpgpu .*", "launches")
    assert {span["name"] for span in launches} == LENET_KERNELS
    assert len(launches) == 4 * 101 == len(trace.of("software", "launches in flight"))
    assert sum(event["ph"] == "f" for event in trace.events) == len(launches)
    assert trace.about["events lost"] == trace.about["device spans lost"] == trace.about["ends without a beginning"] == 0
    assert all(span["cat"] == "warp" or span["args"]["turns"] >= span["args"]["warps"]
               for span in trace.of("gpgpu .*", "compute unit .*"))


def test_lenet():
    result, trace = traced("lenet-trace", "lenet")
    assert result.failure is None, result.output
    check_lenet(trace)
    hart = trace.of("software", "hart .")
    main, probe = one(hart, "main"), one(hart, "qemu_gpgpu")
    assert begin(main) < begin(probe) and end(probe) < end(main)
    boot_stages = trace.of("software", "boot")
    assert begin(min(boot_stages, key=begin)) == 0 and end(max(boot_stages, key=end)) <= begin(main)
    assert trace.of("software", "hart .: interrupts")
    assert {"the GPU", "wait_until"} <= {span["name"] for span in hart if span["cat"] == "wait"}


def test_lenet_as_a_process():
    result, trace = traced("lenet-trace-linux", "lenet", PLATFORM="linux")
    assert result.failure is None, result.output
    check_lenet(trace)


def test_harts_and_threads():
    result, trace = traced("threads-trace-smp", "threads", CONFIG="trace-smp", SMP=4)
    assert result.failure is None, result.output
    ran = {hart: {span["name"] for span in trace.of("software", f"hart {hart}")} for hart in range(4)}
    assert any("main" in threads for threads in ran.values()) and all(ran.values()), ran
    spans = [span for hart in range(4) for span in trace.of("software", f"hart {hart}")]
    mains = sorted((s for s in spans if s["name"] == "main"), key=begin)
    assert all(end(a) <= begin(b) for a, b in zip(mains, mains[1:]))  # on one hart at a time
    assert {"to the device", "from the device"} == {span["name"] for span in trace.of("gpgpu .*", "DMA")}


def test_a_panic_leaves_a_trace():
    result, trace = traced("crash-trace", "crash", APPEND="case=panic")
    assert result.code == 1 and "asked for, value 42" in result.failure
    assert one(trace.of("software", "hart ."), "main")["args"] == {"unfinished": True}


def test_without_a_file_nothing_is_written():
    command = make("run-command", "APP=hello", "CONFIG=trace").strip().splitlines()[-1]
    command = command.replace("trace=build/hello-trace/guest.trace", "")
    output = subprocess.run(["bash", "-c", f"rm -f build/hello-trace/guest.trace; {command}"], cwd=ROOT, text=True,
                            capture_output=True, check=True, timeout=120, stdin=subprocess.DEVNULL).stdout
    assert "[OK]" in output and "trace:" not in output
    assert not (ROOT / "build/hello-trace/guest.trace").exists()


def test_a_file_that_cannot_be_written_is_told():
    command = make("run-command", "APP=hello", "CONFIG=trace").strip().splitlines()[-1]
    command = command.replace("trace=build/hello-trace/guest.trace", "trace=/nowhere/at/all")
    output = subprocess.run(["bash", "-c", command], cwd=ROOT, text=True, capture_output=True, check=True, timeout=120,
                            stdin=subprocess.DEVNULL).stdout
    assert "error: the host cannot open /nowhere/at/all" in output
