# SPDX-License-Identifier: MIT
"""The low-precision converts against exact rational arithmetic.

Formats: bfloat16 (Google), e4m3 and e5m2 (OCP 8-bit Floating Point Specification, rev. 1.0), e2m1 (OCP Microscaling
Formats, rev. 1.0). Every pattern is widened; narrowing is tried at every rounding boundary, next to it on both sides,
with both signs, and at random values.
"""
import bisect
import random
import struct
import subprocess
from fractions import Fraction

NAN, INFINITY = "nan", "infinity"


class Format:
    """A format of `bits` bits. top: what all-ones exponents mean: 'ieee' (infinity and NaN), 'nan' (only the last
    pattern is NaN), 'finite' (no special value)."""

    def __init__(self, name, exponent_bits, fraction_bits, top, funct7, widen_rs2):
        self.name, self.funct7 = name, funct7
        self.widen_rs2, self.narrow_rs2 = widen_rs2, widen_rs2 + 1
        self.exponent_bits, self.fraction_bits, self.top = exponent_bits, fraction_bits, top
        self.bits = 1 + exponent_bits + fraction_bits
        self.sign = 1 << (self.bits - 1)
        self.bias = (1 << (exponent_bits - 1)) - 1
        self.finite = [self.magnitude(p) for p in range(self.sign) if isinstance(self.magnitude(p), Fraction)]
        assert self.finite == sorted(self.finite)  # so that a magnitude's index is its pattern

    def magnitude(self, pattern):
        """Exact value of a pattern without its sign."""
        exponent, fraction = pattern >> self.fraction_bits, pattern & ((1 << self.fraction_bits) - 1)
        if exponent == (1 << self.exponent_bits) - 1:
            if self.top == "ieee":
                return NAN if fraction else INFINITY
            if self.top == "nan" and pattern == self.sign - 1:
                return NAN
        if exponent == 0:
            return Fraction(fraction, 1 << self.fraction_bits) * pow2(1 - self.bias)
        return (1 + Fraction(fraction, 1 << self.fraction_bits)) * pow2(exponent - self.bias)

    @property
    def saturates(self):
        return self.bits <= 8

    def has_nan(self):
        return self.top != "finite"

    def narrow(self, word):
        """Pattern of the binary32 word rounded to nearest even, None for 'any NaN of the format'."""
        negative, kind = self.sign if word >> 31 else 0, binary32(word & 0x7FFFFFFF)
        largest = len(self.finite) - 1
        if kind is NAN:
            return None if self.has_nan() else largest
        if kind is INFINITY:
            return negative | (largest if self.saturates else largest + 1)
        above = bisect.bisect_left(self.finite, kind)
        if above <= largest and self.finite[above] == kind:
            return negative | above
        if above > largest:
            return negative | self.overflow(kind, largest)
        return negative | nearest_even(kind, self.finite[above - 1], self.finite[above], above)

    def overflow(self, kind, largest):
        """Beyond the largest finite value: it, or infinity where the value it would round to is out of range."""
        if self.saturates:
            return largest
        step = self.finite[largest] - self.finite[largest - 1]
        return nearest_even(kind, self.finite[largest], self.finite[largest] + step, largest + 1)

    def widen(self, pattern):
        """The binary32 word of a pattern: NaN becomes the canonical one."""
        kind = self.magnitude(pattern & (self.sign - 1))
        if kind is NAN:
            return 0x7FC00000
        word = 0x7F800000 if kind is INFINITY else struct.unpack("<I", struct.pack("<f", float(kind)))[0]
        if kind is not INFINITY:
            assert binary32(word) == kind
        return word | (0x80000000 if pattern & self.sign else 0)

    def is_nan(self, pattern):
        return self.magnitude(pattern & (self.sign - 1)) is NAN

    def boundaries(self):
        """Binary32 words (without sign) at and next to each value and each midpoint between values."""
        points = list(self.finite)
        points += [(a + b) / 2 for a, b in zip(self.finite, self.finite[1:])]
        points.append(self.finite[-1] + (self.finite[-1] - self.finite[-2]) / 2)
        words = {0, 1, 2, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FBFFFFF, 0x7FC00000, 0x7FFFFFFF}
        for point in points:
            if point >= pow2(128):
                continue
            word = struct.unpack("<I", struct.pack("<f", float(point)))[0]
            words.update(w for w in range(word - 2, word + 3) if 0 <= w <= 0x7FFFFFFF)
        return words


def pow2(n):
    return Fraction(2) ** n


def nearest_even(value, low, high, index_of_high):
    """Index of low or high, whichever is nearer to value; in the middle the even one."""
    middle = (low + high) / 2
    if value != middle:
        return index_of_high if value > middle else index_of_high - 1
    return index_of_high if index_of_high % 2 == 0 else index_of_high - 1


def binary32(word):
    """Exact value of a non-negative binary32 word."""
    exponent, fraction = word >> 23, word & 0x7FFFFF
    if exponent == 255:
        return NAN if fraction else INFINITY
    if exponent == 0:
        return Fraction(fraction) * pow2(-149)
    return Fraction(0x800000 | fraction) * pow2(exponent - 150)


FORMATS = [
    Format("bf16", 8, 7, "ieee", 0x22, 0),
    Format("e4m3", 4, 3, "nan", 0x24, 0),
    Format("e5m2", 5, 2, "ieee", 0x24, 2),
    Format("e2m1", 2, 1, "finite", 0x26, 0),
]

# Thread i: out[i] = convert(in[i]). a0 = in, a1 = out; the index is block * 1024 + thread.
CODE, ARGS, DATA, BLOCK = 0x800, 0x100, 0x1000, 1024


def kernel(funct7, rs2):
    convert = funct7 << 25 | rs2 << 20 | 10 << 15 | 10 << 7 | 0x53  # fa0, fa0
    return [
        0x800002B7,  # lui t0, 0x80000
        0x0002A303,  # lw t1, 0(t0)
        0x0102A383,  # lw t2, 16(t0)
        0x00A39393,  # slli t2, t2, 10
        0x00730333,  # add t1, t1, t2
        0x00231313,  # slli t1, t1, 2
        0x00650533,  # add a0, a0, t1
        0x006585B3,  # add a1, a1, t1
        0x00052507,  # flw fa0, 0(a0)
        convert,
        0x00A5A027,  # fsw fa0, 0(a1)
        0x00008067,  # ret
    ]


def run(run_image, funct7, rs2, words):
    """The engine's results of one convert over words."""
    blocks = (len(words) + BLOCK - 1) // BLOCK
    size = 4 * blocks * BLOCK
    image = bytearray(DATA + 2 * size)
    struct.pack_into("<2I", image, ARGS, DATA, DATA + size)
    code = kernel(funct7, rs2)
    struct.pack_into(f"<{len(code)}I", image, CODE, *code)
    struct.pack_into(f"<{len(words)}I", image, DATA, *words)
    done = subprocess.run(
        [run_image, str(CODE), str(ARGS), str(blocks), str(BLOCK)], input=bytes(image), capture_output=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    return struct.unpack_from(f"<{len(words)}I", done.stdout, DATA + size)


def check_widen(run_image, fmt):
    """How many patterns were compared, and (input, got, want) of each difference."""
    patterns = list(range(1 << fmt.bits))
    garbage = [p | (0xA5A5A5A5 << fmt.bits & 0xFFFFFFFF) for p in patterns]  # upper bits are ignored
    inputs = patterns + garbage
    results = run(run_image, fmt.funct7, fmt.widen_rs2, inputs)
    wrong = [(i, r, fmt.widen(i & (2 * fmt.sign - 1))) for i, r in zip(inputs, results)]
    return len(inputs), [w for w in wrong if w[1] != w[2]]


def random_words(rng, fmt, count):
    """Half over all of binary32, half where the format has its values."""
    low, high = 127 - fmt.bias - fmt.fraction_bits - 2, min(127 + fmt.bias + 2, 255)
    words = [rng.getrandbits(32) for _ in range(count // 2)]
    words += [
        rng.getrandbits(1) << 31 | rng.randint(max(low, 0), high) << 23 | rng.getrandbits(23)
        for _ in range(count - count // 2)
    ]
    return words


def check_narrow(run_image, fmt, count, seed):
    """As check_widen, with count random words besides the boundaries."""
    magnitudes = sorted(fmt.boundaries())
    words = magnitudes + [w | 0x80000000 for w in magnitudes] + random_words(random.Random(seed), fmt, count)
    wrong = []
    for word, got in zip(words, run(run_image, fmt.funct7, fmt.narrow_rs2, words)):
        want = fmt.narrow(word)
        right = fmt.is_nan(got) and got < 2 * fmt.sign if want is None else got == want
        if not right:
            wrong.append((word, got, want))
    return len(words), wrong
