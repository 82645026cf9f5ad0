# SPDX-License-Identifier: MIT
"""What must hold of PTX text before it is embedded: the driver's compiler is the first to see it otherwise."""
import re

# letters of struct gpgpu_kernel_entry -> parameter types (PTX ISA, "Kernel Function Parameters")
PARAMETER = {"p": "u64", "i": "u32", "u": "u32", "f": "f32"}
ENTRY = re.compile(r"^\.visible \.entry (\w+)\(\n(.*?)^\)", re.M | re.S)
EXTERN = re.compile(r"^\.extern (?!\.shared )(.*)$", re.M)


def parameters(text):
    """{kernel: [types of its parameters]}"""
    return {name: re.findall(r"\.param \.(\w+)", body) for name, body in ENTRY.findall(text)}


def lint(text, target, version, entries):
    """Problems as a list of lines. entries: [(kernel, signature)], all that the module must define."""
    problems = []
    if not text.isascii():
        problems.append("not ASCII: the driver takes nothing else")
    for directive, value in (("version", version), ("target", target)):
        found = re.findall(rf"^\.{directive} (.*)$", text, re.M)
        if found != [value]:
            problems.append(f".{directive} is {found}, expected {value}")
    problems += [f"unresolved: {line}" for line in EXTERN.findall(text)]
    found = parameters(text)
    for name, signature in entries:
        expected = [PARAMETER[letter] for letter in signature]
        if found.get(name) != expected:
            problems.append(f"{name}: parameters are {found.get(name)}, expected {expected}")
    problems += [f"{name}: not in the table" for name in found.keys() - {name for name, _ in entries}]
    return problems


def strip(text):
    """The text without comments and blank lines."""
    lines = (re.sub(r"\s*//.*", "", line) for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line)
