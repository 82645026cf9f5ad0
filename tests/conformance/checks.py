# SPDX-License-Identifier: MIT
"""The conformance checks: each compares the engine with something that shares no code with it."""
import os
import platform
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import decoder
import narrow

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path("build/conformance")
ORACLE = os.environ.get("QEMU_RISCV32", "qemu-riscv32")
SEED = int(os.environ.get("SEED", "1"))


class Skip(Exception):
    """The check cannot run here; says why."""


@dataclass
class Result:
    """One row of the table."""

    what: str
    against: str
    compared: str
    mismatches: int
    details: list = field(default_factory=list)


class Checks:
    """folder: of the programs, build/conformance/check (sanitizers) or build/conformance/fast. long: the long run."""

    def __init__(self, folder, long):
        self.folder, self.long = (ROOT / BUILD / folder).resolve(), long

    def program(self, name, *args):
        """Run one of our programs, which prints `compared ..., mismatches N` last: (compared, mismatches, messages)."""
        done = subprocess.run([self.folder / name, *map(str, args)], cwd=ROOT, capture_output=True, text=True)
        if done.returncode == 77:
            raise Skip(done.stdout.splitlines()[-1])
        match = re.search(r"^compared (.*), mismatches (\d+)$", done.stdout, re.M)
        if done.returncode not in (0, 1) or not match or (done.returncode == 1) != (match[2] != "0"):
            raise RuntimeError(f"{name} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-4000:]}")
        return match[1], int(match[2]), done.stderr.splitlines()

    def isa(self, interpreter):
        count = 10**7 if self.long else 5 * 10**4
        compared = self.program(f"isa_{interpreter}", "--count", count, "--seed", SEED, "--oracle", ORACLE, "--dir", BUILD)
        return Result(f"RV32IMAF_Zicsr, interpreter {interpreter}", "qemu-riscv32", *compared)

    def isa_base(self):
        return self.isa("base")

    def isa_avx2(self):
        return self.isa("avx2")

    def isa_avx512(self):
        return self.isa("avx512")

    def isa_jit(self, bits):
        """Compiling takes milliseconds per instruction, so this one is small."""
        compared = self.program("isa_base", "--jit", "--vector-bits", bits, "--count", 2000 if self.long else 50,
                                "--seed", SEED, "--oracle", ORACLE, "--dir", BUILD)
        return Result(f"RV32IMAF, JIT, {bits}-bit vectors", "qemu-riscv32", *compared)

    def isa_jit_128(self):
        return self.isa_jit(128)

    def isa_jit_256(self):
        return self.isa_jit(256)

    def isa_jit_512(self):
        return self.isa_jit(512)

    def divergence_compiled(self, engine, bits, quick):
        count = 100 if self.long else quick
        kernels = ["--kernels", BUILD / "kernels"] if self.long else []
        compared = self.program("divergence", f"--{engine}", "--vector-bits", bits, "--count", count, "--seed", SEED,
                                *kernels, "--dir", BUILD)
        return Result(f"control flow, engine={engine}, {bits}-bit vectors", "scalar interpreter", *compared)

    def divergence_jit(self):
        return self.divergence_compiled("jit", 256, 1)

    def divergence_check(self):
        return self.divergence_compiled("check", 512, 2)

    def divergence(self):
        count = 10**4 if self.long else 300
        compared = self.program(
            "divergence", "--count", count, "--seed", SEED, "--kernels", BUILD / "kernels", "--dir", BUILD
        )
        return Result("control flow: kernels and random programs", "scalar interpreter", *compared)

    def decoder(self):
        count, wrong = decoder.check(self.folder / "decode_scan", SEED, self.long)
        details = [f"{w:08x} ({name}): accepted {bool(a)}, legal {ok}" for w, a, ok, name in wrong[:20]]
        return Result("decoder: legal or illegal", "binutils objdump", f"{count} words", len(wrong), details)

    def widen(self):
        return self.narrow_formats("narrow formats: widening", lambda f: narrow.check_widen(self.folder / "run_image", f))

    def narrow(self):
        count = 10**6 if self.long else 2 * 10**4
        return self.narrow_formats(
            "narrow formats: narrowing", lambda f: narrow.check_narrow(self.folder / "run_image", f, count, SEED)
        )

    @staticmethod
    def narrow_formats(what, check):
        total, mismatches, details = 0, 0, []
        for fmt in narrow.FORMATS:
            count, wrong = check(fmt)
            total, mismatches = total + count, mismatches + len(wrong)
            details += [f"{fmt.name}: {i:08x} gives {got:x}, exactly {want}" for i, got, want in wrong[:10]]
        return Result(what, "exact rationals", f"{total} values", mismatches, details)


def interpreters():
    """The builds of the interpreter that this CPU can run (qemu/simt/src/exec.c)."""
    cpuinfo = Path("/proc/cpuinfo").read_text()
    flags = set(re.search(r"^flags\s*:(.*)$", cpuinfo, re.M)[1].split()) if platform.machine() == "x86_64" else set()
    needs = {"base": set(), "avx2": {"avx2", "fma", "bmi2"}}
    needs["avx512"] = needs["avx2"] | {"avx512f", "avx512vl", "avx512bw", "avx512dq"}
    return [name for name, wanted in needs.items() if wanted <= flags]


NAMES = [f"isa_{name}" for name in interpreters()] + ["isa_jit_128", "isa_jit_256", "isa_jit_512", "decoder", "widen", "narrow", "divergence", "divergence_jit", "divergence_check"]
