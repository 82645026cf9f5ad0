# SPDX-License-Identifier: MIT
"""What the engine decodes, against binutils' disassembler.

Every class of encodings, (opcode, funct3, funct7, rs2), is tried with sampled registers. A word is legal when objdump
names an instruction of RV32IMAF_Zicsr for it, with these corrections, each from the ISA manual or docs/device.md:

- objdump prints RV64 shift amounts in RV32 code; RV32 reserves them.
- It refuses FENCE with rd, rs1 or fm set; the manual wants those fields ignored.
- A reserved rounding mode ("unknown") makes the instruction illegal.
- The device has few CSRs, no privileged instructions, no ECALL and no FENCE.I.
- The device adds converts in OP-FP funct7 0x22, 0x24 and 0x26, whose rm field is ignored.
"""
import random
import re
import struct
import subprocess
import tempfile

OBJDUMP = "riscv64-unknown-elf-objdump"

LEGAL = set(
    """lui auipc jal jalr beq bne blt bge bltu bgeu lb lh lw lbu lhu sb sh sw
    addi slti sltiu xori ori andi slli srli srai add sub sll slt sltu xor srl sra or and
    mul mulh mulhsu mulhu div divu rem remu fence fence.tso pause ebreak
    csrrw csrrs csrrc csrrwi csrrsi csrrci
    flw fsw fmadd.s fmsub.s fnmsub.s fnmadd.s fadd.s fsub.s fmul.s fdiv.s fsqrt.s fsgnj.s fsgnjn.s fsgnjx.s
    fmin.s fmax.s fcvt.w.s fcvt.wu.s fmv.x.w feq.s flt.s fle.s fclass.s fcvt.s.w fcvt.s.wu fmv.w.x""".split()
)
LEGAL |= {
    f"{name}.w{order}"
    for name in "lr sc amoswap amoadd amoxor amoand amoor amomin amomax amominu amomaxu".split()
    for order in ("", ".aq", ".rl", ".aqrl")
}
READ_WRITE_CSRS = {0x001, 0x002, 0x003}
READ_ONLY_CSRS = {0xC00, 0xC80, 0xC02, 0xC82, 0xF14}
CONVERTS = {(0x22, 0), (0x22, 1), (0x24, 0), (0x24, 1), (0x24, 2), (0x24, 3), (0x26, 0), (0x26, 1)}

LINE = re.compile(r"^\s*[0-9a-f]+:\t([0-9a-f]{8})\s+(\S+)(?:\t(.*))?$")


def disassemble(words):
    """(mnemonic, operands) of each word; all must be 32-bit encodings."""
    with tempfile.NamedTemporaryFile(suffix=".bin") as f:
        f.write(struct.pack(f"<{len(words)}I", *words))
        f.flush()
        text = subprocess.run(
            [OBJDUMP, "-D", "-z", "-b", "binary", "-m", "riscv:rv32", "-M", "no-aliases", f.name],
            capture_output=True, text=True, check=True,
        ).stdout
    lines = [m.groups() for m in map(LINE.match, text.splitlines()) if m]
    if [int(word, 16) for word, _, _ in lines] != words:
        raise RuntimeError("objdump's listing does not have the words it was given")
    return [(mnemonic, operands or "") for _, mnemonic, operands in lines]


def csr_legal(word):
    csr, funct3, rs1 = word >> 20, word >> 12 & 7, word >> 15 & 31
    writes = funct3 & 3 == 1 or rs1 != 0
    return csr in READ_WRITE_CSRS or (csr in READ_ONLY_CSRS and not writes)


def legal(word, mnemonic, operands):
    opcode, funct3, funct7, rs2 = word & 0x7F, word >> 12 & 7, word >> 25, word >> 20 & 31
    if opcode == 0x0F:
        return funct3 == 0
    if opcode == 0x53 and (funct7, rs2) in CONVERTS:
        return True
    if mnemonic not in LEGAL or (mnemonic != "fence" and "unknown" in operands):
        return False
    if mnemonic in ("slli", "srli", "srai"):
        return not funct7 & 1
    return csr_legal(word) if mnemonic.startswith("csr") else True


def is_32_bit(word):
    return word & 3 == 3 and word & 0x1F != 0x1F


def register(rng):
    return rng.choice((0, rng.randrange(32)))


def words_of(opcode, all_rs2, rng):
    for funct7 in range(128):
        for funct3 in range(8):
            for rs2 in range(32) if all_rs2 else (0, rng.randrange(1, 32)):
                yield funct7 << 25 | rs2 << 20 | register(rng) << 15 | funct3 << 12 | register(rng) << 7 | opcode


def sample(seed, long):
    """The words to try."""
    rng = random.Random(seed)
    words = []
    for opcode in range(3, 128, 4):
        selectors = opcode in (0x2F, 0x53, 0x73)  # where rs2 selects the instruction
        for _ in range(2 if long or opcode == 0x73 else 1):
            words += words_of(opcode, long or selectors, rng)
    words += [0x00000073, 0x00100073, 0x00200073, 0x10200073, 0x30200073, 0x10500073, 0x12000073, 0x0000100F, 0x8330000F]
    words += [csr << 20 | rs1 << 15 | f3 << 12 | 0x573
              for csr in sorted(READ_WRITE_CSRS | READ_ONLY_CSRS) for rs1 in (0, 1, 31) for f3 in range(8)]
    words += [rng.getrandbits(32) for _ in range(1000000 if long else 20000)]
    return words


def check(decode_scan, seed, long):
    """How many words were compared, and (word, accepted, wanted, disassembly) of each difference."""
    words = sample(seed, long)
    listed = [w for w in words if is_32_bit(w)]
    names = dict(zip(listed, disassemble(listed)))
    done = subprocess.run([decode_scan], input=struct.pack(f"<{len(words)}I", *words), capture_output=True)
    if done.returncode or len(done.stdout) != len(words):
        raise RuntimeError(f"decode_scan: {done.stderr.decode()}")
    wrong = []
    for word, accepted in zip(words, done.stdout):
        name = names.get(word, ("longer or shorter than 32 bits", ""))
        wanted = word in names and legal(word, *name)
        if bool(accepted) != wanted:
            wrong.append((word, accepted, wanted, " ".join(name)))
    return len(words), wrong
