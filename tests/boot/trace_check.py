# SPDX-License-Identifier: MIT
"""What must hold of every trace that tools/trace2perfetto makes."""
import json
import re
from collections import defaultdict
from pathlib import Path


def ns(us):
    return round(us * 1000)


def begin(span):
    return ns(span["ts"])


def end(span):
    return ns(span["ts"] + span["dur"])


def overlaps(spans):
    """The spans that neither contain each other nor lie apart."""
    bad, open_spans = [], []
    for span in sorted(spans, key=lambda s: (begin(s), -end(s))):
        while open_spans and end(open_spans[-1]) <= begin(span):
            open_spans.pop()
        if open_spans and end(span) > end(open_spans[-1]):
            bad.append((open_spans[-1], span))
        open_spans.append(span)
    return bad


class Trace:
    """A trace file, read and checked."""

    def __init__(self, path):
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        self.about = data["otherData"]
        self.events = data["traceEvents"]
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in self.events if e["name"] == "thread_name"}
        processes = {e["pid"]: e["args"]["name"] for e in self.events if e["name"] == "process_name"}
        self.tracks = defaultdict(list)  # (process, track): spans
        for event in self.events:
            if event["ph"] == "X":
                self.tracks[processes[event["pid"]], names[event["pid"], event["tid"]]].append(event)
        self.check_nesting()
        self.check_launches()
        self.check_compute_units()

    def of(self, process, track):
        """The spans of all tracks that match."""
        return [span for (p, t), spans in self.tracks.items() if re.fullmatch(process, p) and re.fullmatch(track, t)
                for span in spans]

    def check_nesting(self):
        for track, spans in self.tracks.items():
            assert all(span["dur"] >= 0 for span in spans), track
            assert not overlaps(spans), (track, overlaps(spans)[:3])

    def check_launches(self):
        """What a device ran lies within what software saw of it, and is called the same."""
        slack = self.about["clock resolution of the software's events, ns"]
        software = self.of("software", r"launches in flight.*")
        for launch in self.of("gpgpu .*", "launches"):
            assert any(begin(s) - slack <= begin(launch) and end(launch) <= end(s) + slack and s["name"] == launch["name"]
                       for s in software), launch

    def check_compute_units(self):
        """A unit does one thing at a time, within the launch, and together they do all of it."""
        for process in {p for p, _ in self.tracks if p.startswith("gpgpu ")}:
            launches = {s["args"]["launch"]: s for s in self.of(re.escape(process), "launches")}
            blocks, warps = defaultdict(int), defaultdict(int)
            for track in [t for p, t in self.tracks if p == process and t.startswith("compute unit ")]:
                spans = self.of(re.escape(process), re.escape(track))
                outer = [s for s in spans if s["cat"] != "warp"]
                for a, b in zip(sorted(outer, key=begin), sorted(outer, key=begin)[1:]):
                    assert end(a) <= begin(b), (a, b)
                turns = sorted((s for s in spans if s["cat"] == "warp"), key=begin)
                for a, b in zip(turns, turns[1:]):
                    assert end(a) <= begin(b), (a, b)
                for span in spans:
                    launch = launches[span["args"]["launch"]]
                    assert begin(launch) <= begin(span) and end(span) <= end(launch), (launch, span)
                for span in outer:
                    blocks[span["args"]["launch"]] += span["args"].get("blocks", 1)
                    warps[span["args"]["launch"]] += span["args"]["warps"]
            for number, launch in launches.items():
                if not launch["args"].get("failed"):
                    assert blocks[number] == launch["args"]["blocks"], launch
                    assert warps[number] == launch["args"]["blocks"] * launch["args"]["warps of a block"], launch
