# SPDX-License-Identifier: MIT
"""Follow a tutorial: write the files it shows, run the commands it gives, compare with the output it promises.

Fenced blocks say what they are in their info string:

  c file=PATH                   the file's content
  c file=PATH above="TEXT"      goes into the file, above the line that begins with TEXT
  c file=PATH replace="TEXT"    takes the place of what begins with TEXT and ends with a line `}` or that ends in `;`
                                (a block that begins on one line and ends with `;` is one definition)
  sh                            commands, one a line
  output                        lines (parts of lines) that the commands before it print, in this order; `…` ends a part
"""
import os
import re
import subprocess
from dataclasses import dataclass

# Commands that a document may show and that are not run while following it.
ELSEWHERE = {"make test"}  # it is what runs this

FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.M | re.S)
ATTRIBUTE = re.compile(r'(\w+)=(?:"([^"]*)"|(\S+))')


@dataclass
class Block:
    kind: str
    attributes: dict
    text: str


def blocks(markdown):
    for kind, info, text in FENCE.findall(markdown):
        yield Block(kind, {key: quoted or plain for key, quoted, plain in ATTRIBUTE.findall(info)}, text)


def line_that_begins_with(content, text):
    places = [m.start() for m in re.finditer(rf"^{re.escape(text)}", content, re.M)]
    assert len(places) == 1, f"{len(places)} lines begin with {text!r}"
    return places[0]


def edit(content, block):
    if "above" in block.attributes:
        at = line_that_begins_with(content, block.attributes["above"])
        return content[:at] + block.text.rstrip("\n") + "\n\n" + content[at:]
    if "replace" in block.attributes:
        at = line_that_begins_with(content, block.attributes["replace"])
        # A definition ends with the first line that begins with } or, without a body, ends in ;
        end = re.compile(r"^(\}.*|\S.*;|\s.*\};)\n", re.M).search(content, at).end()
        return content[:at] + block.text + content[end:]
    return block.text


def write(root, block):
    path = root / block.attributes["file"]
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(edit(old, block), encoding="utf-8")


def run(root, command, environment):
    result = subprocess.run(["bash", "-c", command], cwd=root, capture_output=True, text=True, errors="replace",
                            env=environment, timeout=600)
    output = (result.stdout + result.stderr).replace("\r", "")
    assert result.returncode == 0, f"{command}\n{output}"
    return output


def expect(output, promised):
    at = 0
    for line in promised.replace("…", "\n").splitlines():
        at = output.find(line, at)
        assert at >= 0, f"not printed, or not in this order: {line}\n{output}"
        at += len(line)


def follow(root, markdown, variables):
    """Returns how many promised outputs were seen."""
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")} | variables
    output = ""
    seen = 0
    for block in blocks(markdown):
        if "file" in block.attributes:
            write(root, block)
        elif block.kind == "sh":
            output = "".join(run(root, line, environment) for line in block.text.splitlines()
                             if line not in ELSEWHERE)
        elif block.kind == "output":
            expect(output, block.text)
            seen += 1
    return seen
