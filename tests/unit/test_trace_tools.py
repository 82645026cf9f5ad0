# SPDX-License-Identifier: MIT
"""tools/trace2perfetto and tools/trace-plot on files written here: the result, and what is wrong with a file."""
import json
import struct
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# 10 MHz: a tick is 100 ns. The first instruction was at tick 1000, or 100000 ns.
HEAD = "weft-trace 1\t10000000\t1000\n"


def events(*rows, lost=0):
    """A guest's file. A row: ticks since the first instruction, hart, kind, category, name, numbers."""
    lines = (f"{n}\t{1000 + ticks}\t{cpu}\t{kind}\t{category}\t{name}\t{a}\t{b}\n"
             for n, (ticks, cpu, kind, category, name, a, b) in enumerate(rows, 1))
    return HEAD + "".join(lines) + f"lost\t{lost}\n"


def thread(ticks, cpu, name, identity):
    a, b = struct.unpack("<QQ", name.encode().ljust(16, b"\0"))
    return ticks, cpu, "T", "thread", identity, a, b


def convert(tmp_path, guest, device=None):
    (tmp_path / "guest").write_text(guest)
    command = [ROOT / "tools/trace2perfetto", tmp_path / "guest", "-o", tmp_path / "trace.json"]
    if device is not None:
        (tmp_path / "device").write_text(device)
        command.append(tmp_path / "device")
    return subprocess.run(command, capture_output=True, text=True, check=False)


def tracks(tmp_path, guest, device=None):
    """{track: [(begin in us, duration, name, args)]}"""
    run = convert(tmp_path, guest, device)
    assert run.returncode == 0, run.stderr
    trace = json.loads((tmp_path / "trace.json").read_text())
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    result = {name: [] for name in names.values()}
    for e in trace["traceEvents"]:
        if e["ph"] == "X":
            result[names[e["pid"], e["tid"]]].append((e["ts"], e["dur"], e["name"], e["args"]))
    return result, trace


def test_spans_nest_and_interrupts_have_a_track_of_their_own(tmp_path):
    found, trace = tracks(tmp_path, events(
        (10, 0, "i", "boot", "entry", 0, 0),
        (30, 0, "i", "boot", "memory", 0, 0),
        (40, 0, "B", "copy", "to the device", 64, 0),
        (50, 0, "B", "interrupt", "device", 0, 0),
        (51, 0, "i", "irq", "taken", 33, 0),
        (52, 0, "E", "interrupt", "", 0, 0),
        (60, 0, "E", "copy", "", 0, 0)))
    assert found["boot"] == [(0, 1, "entry", {}), (1, 2, "memory", {})]
    assert found["hart 0"] == [(4, 2, "to the device", {"bytes": 64})]
    assert found["hart 0: interrupts"] == [(5, 0.2, "device", {})]
    irq = [e for e in trace["traceEvents"] if e["ph"] == "i"]
    assert [(e["ts"], e["args"]) for e in irq] == [(5.1, {"number": 33})]


def test_an_interrupted_event_comes_first_though_it_has_the_later_number(tmp_path):
    found, _ = tracks(tmp_path, events(
        (50, 0, "B", "interrupt", "timer", 0, 0),
        (52, 0, "E", "interrupt", "", 0, 0),
        (49, 0, "B", "wait", "wait_until", 0, 0),
        (60, 0, "E", "wait", "", 0, 0)))
    assert found["hart 0"] == [(4.9, 1.1, "wait_until", {})]


def test_threads_have_tracks_and_harts_show_whom_they_run(tmp_path):
    found, _ = tracks(tmp_path, events(
        (10, 2, "B", "wait", "wait_until", 0, 0),
        thread(20, 2, "worker", "a0"),
        (22, 2, "B", "copy", "within the device", 8, 0),
        thread(30, 2, "worker", "b0"),
        thread(35, 2, "idle", "c0"),
        thread(40, 2, "worker", "a0"),
        (45, 2, "E", "copy", "", 0, 0),
        thread(50, 2, "main", "d0"),
        (60, 2, "E", "wait", "", 0, 0)))
    assert found["thread main"] == [(1, 5, "wait_until", {})]
    assert found["thread worker"] == [(2.2, 2.3, "within the device", {"bytes": 8})]
    assert [(b, d, n) for b, d, n, _ in found["hart 2"]] == [
        (0, 2, "main"), (2, 1, "worker"), (3, 0.5, "worker (2)"), (4, 1, "worker"), (5, 1, "main")]


def test_requests_that_overlap_have_tracks_side_by_side(tmp_path):
    found, _ = tracks(tmp_path, events(
        (10, 0, "b", "block", "read", 0xa0, 8), (12, 0, "b", "block", "write", 0xb0, 16),
        (20, 0, "e", "block", "read", 0xa0, 0), (21, 0, "b", "block", "read", 0xa0, 8),
        (30, 0, "e", "block", "write", 0xb0, 0)))
    assert found["block requests"] == [(1, 1, "read", {"sectors": 8}), (2.1, 0.9, "read", {"sectors": 8, "unfinished": True})]
    assert found["block requests (2)"] == [(1.2, 1.8, "write", {"sectors": 16})]


def test_lost_beginnings_and_missing_ends_are_told(tmp_path):
    guest = events((10, 0, "E", "copy", "", 0, 0), (20, 0, "B", "main", "main", 0, 0),
                   (30, 0, "B", "wait", "x", 0, 0), (40, 0, "i", "irq", "taken", 1, 0), lost=77)
    found, trace = tracks(tmp_path, guest)
    assert sorted(found["hart 0"]) == [(2, 2, "main", {"unfinished": True}), (3, 1, "x", {"unfinished": True})]
    assert trace["otherData"]["events lost"] == 77 and trace["otherData"]["ends without a beginning"] == 1
    assert "events lost: 77" in convert(tmp_path, guest).stdout


LAUNCHES = events(
    (10, 0, "b", "gpu", "relu", 0xa0, 0x140), (50, 0, "e", "gpu", "relu", 0xa0, 0),
    (60, 0, "b", "gpu", "fc", 0xa0, 0x280), (90, 0, "e", "gpu", "fc", 0xa0, 5))


def device(*rows, name="device[0]", lost=0):
    """A device's file. A row: kind, unit, launch, begin and end in ns since the first instruction, three numbers."""
    lines = ("\t".join(map(str, (kind, cu, launch, 100000 + begin, 100000 + end, *rest))) + "\n"
             for kind, cu, launch, begin, end, *rest in rows)
    return f"weft-timeline 1\t{name}\t4\n" + "".join(lines) + f"lost\t{lost}\n"


def test_device_and_software_meet(tmp_path):
    found, trace = tracks(tmp_path, LAUNCHES, device(
        ("to_device", 0, 0, 300, 800, 4096, 0, 0),
        ("turn", 1, 0, 1600, 1700, 0, 0, 0), ("turn", 1, 0, 1701, 1800, 0, 1, 0),
        ("block", 1, 0, 1500, 1900, 0, 2, 2), ("merged", 2, 0, 1500, 2000, 300, 600, 0),
        ("launch", 0, 0, 1050, 2100, 301, 2, 320),
        ("launch", 0, 1, 6100, 9080, 1, 1, 640),  # by 80 ns after the software's clock ticked for the last time
        ("launch", 0, 2, 9500, 9600, 1, 1, 0x280)))
    assert found["DMA"] == [(0.3, 0.5, "to the device", {"bytes": 4096})]
    assert [n for _, _, n, _ in found["launches"]] == ["relu", "fc", "kernel at 0x280"]
    assert found["launches in flight"] == [(1, 4, "relu", {"kernel": 0x140}), (6, 3, "fc", {"kernel": 0x280, "result": 5})]
    assert found["compute unit 1"][0] == (1.5, 0.4, "relu: block 0", {"launch": 0, "block": 0, "warps": 2, "turns": 2})
    assert [n for _, _, n, _ in found["compute unit 1"][1:]] == ["warp 0", "warp 1"]
    assert found["compute unit 2"] == [(1.5, 0.5, "relu: 300 more blocks", {"launch": 0, "blocks": 300, "warps": 600})]
    assert trace["otherData"]["blocks shown merged"] == 300
    arrows = [(e["ph"], e["ts"]) for e in trace["traceEvents"] if e.get("cat") == "flow"]
    assert sorted(arrows) == [("f", 1.05), ("f", 6.1), ("s", 1.0), ("s", 6.0)]


def test_launches_that_queue_up_are_told_apart(tmp_path):
    """By kernel; those of one kernel in their order."""
    guest = events(*((10 + i, 0, "b", "gpu", name, i, kernel)
                     for i, (name, kernel) in enumerate([("a", 4), ("b", 8), ("b", 8)])),
                   *((90 + i, 0, "e", "gpu", "", i, 0) for i in range(3)))
    found, trace = tracks(tmp_path, guest, device(*(
        ("launch", 0, i, 2000 + 1000 * i, 2500 + 1000 * i, 1, 1, kernel) for i, kernel in enumerate([4, 8, 8]))))
    assert [n for _, _, n, _ in found["launches"]] == ["a", "b", "b"]
    arrows = sorted((e["id"], e["ph"], e["ts"]) for e in trace["traceEvents"] if e.get("cat") == "flow")
    assert [ts for _, ph, ts in arrows if ph == "s"] == [1, 1.1, 1.2]
    assert [ts for _, ph, ts in arrows if ph == "f"] == [2, 3, 4]


def test_two_devices_in_one_file(tmp_path):
    one = device(("launch", 0, 0, 1050, 2100, 1, 1, 0x140), name="first", lost=3)
    two = device(("launch", 0, 0, 6100, 7000, 1, 1, 0x280), name="second", lost=4)
    again = device(("launch", 0, 1, 9500, 9600, 1, 1, 0), name="first")
    found, trace = tracks(tmp_path, LAUNCHES, one + two + again)
    names = {e["pid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"}
    assert names == {1: "software", 2: "gpgpu first", 3: "gpgpu second"}
    assert trace["otherData"]["device spans lost"] == 7
    assert len(found["launches"]) == 3


@pytest.mark.parametrize("guest,timeline,message", [
    ("", None, "not a trace of this version"),
    ("weft-trace 2\t1\t1\n", None, "not a trace of this version"),
    (HEAD + "1\t2\t3\n", None, "not enough values"),
    (LAUNCHES, "launch\t0\n", "not a timeline of this version"),
    (LAUNCHES, "weft-timeline 1\tx\t4\nblock\t0\tx\n", "'block"),
], ids=["empty", "another version", "short line", "no head", "no number"])
def test_a_bad_file_is_told(tmp_path, guest, timeline, message):
    run = convert(tmp_path, guest, timeline)
    assert run.returncode == 1
    assert run.stderr.startswith("trace2perfetto: ") and message in run.stderr and "Traceback" not in run.stderr


# --- the picture ---

SVG = "{http://www.w3.org/2000/svg}"
ROW = 8  # lines of text closer than this are one line


def plot(tmp_path, *options):
    run = subprocess.run([ROOT / "tools/trace-plot", tmp_path / "trace.json", "-o", tmp_path / "out.svg", *options],
                         capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return ElementTree.parse(tmp_path / "out.svg").getroot()


def texts(svg):
    """(left, right, baseline, text), with a width that no usual font exceeds by much."""
    for text in svg.iter(f"{SVG}text"):
        x, y, width = float(text.get("x")), float(text.get("y")), 5.8 * len(text.text)
        left = {"start": x, "middle": x - width / 2, "end": x - width}[text.get("text-anchor")]
        yield left, left + width, y, text.text


def check_picture(svg):
    """Labels do not overlap, and everything lies inside."""
    width, height = float(svg.get("width")), float(svg.get("height"))
    labels = sorted(texts(svg), key=lambda t: (t[2], t[0]))
    for a in labels:
        assert a[0] >= 0 and a[1] <= width and 0 < a[2] < height, a
        for b in labels:
            assert a is b or abs(a[2] - b[2]) >= ROW or a[1] <= b[0] or b[1] <= a[0], (a, b)
    for rect in svg.iter(f"{SVG}rect"):
        x, w = float(rect.get("x", 0)), float(rect.get("width"))
        assert x >= 0 and w > 0 and x + w <= width + 0.01, rect.attrib


def test_the_timeline_is_drawn(tmp_path):
    test_device_and_software_meet(tmp_path)
    svg = plot(tmp_path, "--title", "a & b")
    check_picture(svg)
    drawn = [t for *_, t in texts(svg)]
    for wanted in ("a & b", "software", "gpgpu device[0]", "DMA", "compute unit 2", "relu", "fc", "copy, DMA"):
        assert wanted in drawn, (wanted, drawn)
    part = plot(tmp_path, "--begin", "1.4", "--end", "2")
    check_picture(part)
    drawn = [t for *_, t in texts(part)]
    assert "warp 0" in drawn and "DMA" not in drawn


def test_the_boot_is_drawn(tmp_path):
    tracks(tmp_path, events(
        (2000, 0, "i", "boot", "device tree", 0, 0), (9000, 0, "i", "boot", "paging", 0, 0),
        (9500, 0, "B", "init", "pci_bind", 300, 0), (9600, 0, "B", "probe", "qemu_gpgpu", 0, 0),
        (12000, 0, "E", "probe", "", 0, 0), (12500, 0, "E", "init", "", 0, 0)))
    svg = plot(tmp_path, "--boot")
    check_picture(svg)
    drawn = [t for *_, t in texts(svg)]
    for wanted in ("device tree", "200 µs", "paging", "700 µs", "probe of qemu_gpgpu", "240 µs"):
        assert wanted in drawn, (wanted, drawn)
    assert "main() after 900 µs; devices are there after 1.25 ms, when first asked for" in drawn


def test_nothing_to_draw_is_told(tmp_path):
    (tmp_path / "trace.json").write_text('{"traceEvents": []}')
    run = subprocess.run([ROOT / "tools/trace-plot", tmp_path / "trace.json", "-o", tmp_path / "out.svg"],
                         capture_output=True, text=True, check=False)
    assert run.returncode == 1 and "nothing to draw" in run.stderr
