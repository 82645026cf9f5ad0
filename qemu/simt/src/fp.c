/* SPDX-License-Identifier: MIT */
#include "fp.h"

typedef unsigned __int128 u128;

enum { EXP_MIN = -126, EXP_MAX = 127, SIG_BITS = 24 };

/* A finite non-zero number: sig * 2^(exp - 23), sig in [2^23, 2^24). */
struct number {
    bool sign;
    int exp;
    uint32_t sig;
};

static bool is_signalling(uint32_t a)
{
    return simt_f32_is_nan(a) && !(a & 0x00400000u);
}

static bool is_inf(uint32_t a)
{
    return (a & ~SIMT_F32_SIGN) == SIMT_F32_INF;
}

static bool is_zero(uint32_t a)
{
    return (a & ~SIMT_F32_SIGN) == 0;
}

static bool sign_of(uint32_t a)
{
    return a >> 31;
}

static uint32_t with_sign(bool sign, uint32_t magnitude)
{
    return (sign ? SIMT_F32_SIGN : 0) | magnitude;
}

static struct number unpack(uint32_t a)
{
    struct number n = {.sign = sign_of(a), .exp = (int)(a >> 23 & 0xff) - 127, .sig = a & 0x7fffffu};
    if (n.exp == -127) {
        int shift = __builtin_clz(n.sig) - 8;
        n.sig <<= shift;
        n.exp = EXP_MIN - shift;
    } else {
        n.sig |= 0x800000u;
    }
    return n;
}

/* NaN result of an operation on operands of which at least one may be a NaN. */
static uint32_t nan_result(bool invalid, uint32_t *flags)
{
    *flags |= invalid ? SIMT_NV : 0;
    return SIMT_F32_NAN;
}

/* Shift right, keeping in bit 0 whether anything non-zero fell out. */
static uint64_t shift_jam(uint64_t v, int n)
{
    if (n == 0) {
        return v;
    }
    return n > 63 ? v != 0 : v >> n | ((v << (64 - n)) != 0);
}

/* Whether dropping rest (of 2 * half - 1 at most) rounds the magnitude q up. */
static bool rounds_up(bool sign, uint64_t q, uint64_t rest, uint64_t half, enum simt_rm rm)
{
    switch (rm) {
    case SIMT_RNE:
        return rest > half || (rest == half && (q & 1));
    case SIMT_RMM:
        return rest >= half;
    case SIMT_RDN:
        return sign && rest != 0;
    case SIMT_RUP:
        return !sign && rest != 0;
    default:
        return false;
    }
}

static uint32_t overflow(bool sign, enum simt_rm rm, uint32_t *flags)
{
    bool to_inf = rm == SIMT_RNE || rm == SIMT_RMM || (rm == SIMT_RDN ? sign : rm == SIMT_RUP && !sign);
    *flags |= SIMT_OF | SIMT_NX;
    return with_sign(sign, to_inf ? SIMT_F32_INF : SIMT_F32_INF - 1);
}

/* Round (-1)^sign * sig * 2^(exp - 63) to binary32. sig has bit 63 set; its bit 0 may be sticky. */
static uint32_t round_pack(bool sign, int exp, uint64_t sig, enum simt_rm rm, uint32_t *flags)
{
    int shift = 64 - SIG_BITS;
    bool tiny = false;

    if (exp < EXP_MIN) {
        uint64_t q = sig >> shift, half = 1ull << (shift - 1);
        bool carries = q + rounds_up(sign, q, sig & (2 * half - 1), half, rm) == 1u << SIG_BITS;
        tiny = exp < EXP_MIN - 1 || !carries;
        shift += EXP_MIN - exp;
        sig = shift_jam(sig, shift > 63 ? shift - 63 : 0);
        shift = shift > 63 ? 63 : shift;
        exp = EXP_MIN - 1; /* encodes as exponent field 0 */
    }
    uint64_t half = 1ull << (shift - 1), rest = sig & (2 * half - 1);
    uint32_t q = (uint32_t)(sig >> shift);
    q += rounds_up(sign, q, rest, half, rm);
    *flags |= rest ? SIMT_NX | (tiny ? SIMT_UF : 0) : 0;

    /* A carry out of the significand increments the exponent field by itself. */
    uint32_t field = (uint32_t)(exp + EXP_MAX);
    uint32_t magnitude = field == 0 ? q : (field << 23) + (q - 0x800000u);
    return magnitude >= SIMT_F32_INF ? overflow(sign, rm, flags) : with_sign(sign, magnitude);
}

/* Round sig * 2^(exp - 63) for any non-zero sig. */
static uint32_t normalize_round_pack(bool sign, int exp, uint64_t sig, enum simt_rm rm, uint32_t *flags)
{
    int shift = __builtin_clzll(sig);
    return round_pack(sign, exp - shift, sig << shift, rm, flags);
}

/* Sign of an exact zero sum: negative only when rounding down. */
static uint32_t zero_sum(enum simt_rm rm)
{
    return with_sign(rm == SIMT_RDN, 0);
}

/* Sum of x * 2^(xe) and y * 2^(ye) with signs; x and y are below 2^62 and non-zero. */
static uint32_t add_scaled(bool xs, int xe, uint64_t x, bool ys, int ye, uint64_t y, enum simt_rm rm,
                           uint32_t *flags)
{
    if (xe < ye) {
        return add_scaled(ys, ye, y, xs, xe, x, rm, flags);
    }
    /* 128 bits: x at the top with 64 bits below it for y; what y loses below that only matters as sticky. */
    u128 wide_x = (u128)x << 64, wide_y = (u128)y << 64;
    int distance = xe - ye;
    u128 lost = distance > 127 ? wide_y : distance ? wide_y & (((u128)1 << distance) - 1) : 0;
    wide_y = distance > 127 ? 0 : wide_y >> distance;
    wide_y |= lost != 0;
    u128 sum;
    bool sign = xs;
    if (xs == ys) {
        sum = wide_x + wide_y;
    } else if (wide_x >= wide_y) {
        sum = wide_x - wide_y;
    } else {
        sum = wide_y - wide_x;
        sign = ys;
    }
    if (sum == 0) {
        return zero_sum(rm);
    }
    uint64_t high = (uint64_t)(sum >> 64), low = (uint64_t)sum;
    int shift = high ? __builtin_clzll(high) : 64 + __builtin_clzll(low);
    sum <<= shift;
    /* The top bit of sum before the shift was worth 2^(xe + 63). */
    return round_pack(sign, xe + 63 - shift, (uint64_t)(sum >> 64) | ((uint64_t)sum != 0), rm, flags);
}

uint32_t simt_f32_add(uint32_t a, uint32_t b, enum simt_rm rm, uint32_t *flags)
{
    if (simt_f32_is_nan(a) || simt_f32_is_nan(b)) {
        return nan_result(is_signalling(a) || is_signalling(b), flags);
    }
    if (is_inf(a) || is_inf(b)) {
        bool opposite = is_inf(a) && is_inf(b) && sign_of(a) != sign_of(b);
        return opposite ? nan_result(true, flags) : is_inf(a) ? a : b;
    }
    if (is_zero(a) && is_zero(b)) {
        return sign_of(a) == sign_of(b) ? a : zero_sum(rm);
    }
    if (is_zero(a) || is_zero(b)) {
        return is_zero(a) ? b : a;
    }
    struct number x = unpack(a), y = unpack(b);
    return add_scaled(x.sign, x.exp - 23, x.sig, y.sign, y.exp - 23, y.sig, rm, flags);
}

uint32_t simt_f32_sub(uint32_t a, uint32_t b, enum simt_rm rm, uint32_t *flags)
{
    return simt_f32_add(a, simt_f32_is_nan(b) ? b : b ^ SIMT_F32_SIGN, rm, flags);
}

uint32_t simt_f32_mul(uint32_t a, uint32_t b, enum simt_rm rm, uint32_t *flags)
{
    bool sign = sign_of(a) != sign_of(b);

    if (simt_f32_is_nan(a) || simt_f32_is_nan(b)) {
        return nan_result(is_signalling(a) || is_signalling(b), flags);
    }
    if (is_inf(a) || is_inf(b)) {
        return is_zero(a) || is_zero(b) ? nan_result(true, flags) : with_sign(sign, SIMT_F32_INF);
    }
    if (is_zero(a) || is_zero(b)) {
        return with_sign(sign, 0);
    }
    struct number x = unpack(a), y = unpack(b);
    return normalize_round_pack(sign, x.exp + y.exp + 17, (uint64_t)x.sig * y.sig, rm, flags);
}

uint32_t simt_f32_div(uint32_t a, uint32_t b, enum simt_rm rm, uint32_t *flags)
{
    bool sign = sign_of(a) != sign_of(b);

    if (simt_f32_is_nan(a) || simt_f32_is_nan(b)) {
        return nan_result(is_signalling(a) || is_signalling(b), flags);
    }
    if ((is_inf(a) && is_inf(b)) || (is_zero(a) && is_zero(b))) {
        return nan_result(true, flags);
    }
    if (is_inf(a) || is_zero(b)) {
        *flags |= is_inf(a) ? 0 : SIMT_DZ;
        return with_sign(sign, SIMT_F32_INF);
    }
    if (is_zero(a) || is_inf(b)) {
        return with_sign(sign, 0);
    }
    struct number x = unpack(a), y = unpack(b);
    uint64_t dividend = (uint64_t)x.sig << 39;
    uint64_t q = dividend / y.sig << 1 | (dividend % y.sig != 0);
    return normalize_round_pack(sign, x.exp - y.exp + 23, q, rm, flags);
}

static uint64_t integer_sqrt(uint64_t v)
{
    uint64_t root = 0;
    for (uint64_t bit = 1ull << 31; bit; bit >>= 1) {
        if ((root + bit) * (root + bit) <= v) {
            root += bit;
        }
    }
    return root;
}

uint32_t simt_f32_sqrt(uint32_t a, enum simt_rm rm, uint32_t *flags)
{
    if (simt_f32_is_nan(a)) {
        return nan_result(is_signalling(a), flags);
    }
    if (is_zero(a) || (is_inf(a) && !sign_of(a))) {
        return a;
    }
    if (sign_of(a)) {
        return nan_result(true, flags);
    }
    struct number x = unpack(a);
    /* sig * 2^(exp - 23) = v * 2^(2 * half - 60), v in [2^60, 2^62): the root has 31 bits */
    bool odd = x.exp & 1;
    uint64_t v = (uint64_t)x.sig << (odd ? 38 : 37);
    uint64_t root = integer_sqrt(v);
    int half = (x.exp - odd) / 2;
    return normalize_round_pack(false, half + 32, root << 1 | (root * root != v), rm, flags);
}

uint32_t simt_f32_fma(uint32_t a, uint32_t b, uint32_t c, enum simt_rm rm, uint32_t *flags)
{
    bool sign = sign_of(a) != sign_of(b);
    bool inf_times_zero = (is_inf(a) && is_zero(b)) || (is_zero(a) && is_inf(b));

    if (simt_f32_is_nan(a) || simt_f32_is_nan(b) || simt_f32_is_nan(c) || inf_times_zero) {
        return nan_result(inf_times_zero || is_signalling(a) || is_signalling(b) || is_signalling(c), flags);
    }
    if (is_inf(a) || is_inf(b)) {
        bool opposite = is_inf(c) && sign_of(c) != sign;
        return opposite ? nan_result(true, flags) : with_sign(sign, SIMT_F32_INF);
    }
    if (is_inf(c)) {
        return c;
    }
    if (is_zero(a) || is_zero(b)) {
        if (!is_zero(c)) {
            return c;
        }
        return sign == sign_of(c) ? c : zero_sum(rm);
    }
    struct number x = unpack(a), y = unpack(b);
    uint64_t product = (uint64_t)x.sig * y.sig;
    if (is_zero(c)) {
        return normalize_round_pack(sign, x.exp + y.exp + 17, product, rm, flags);
    }
    struct number z = unpack(c);
    return add_scaled(sign, x.exp + y.exp - 46, product, z.sign, z.exp - 23, z.sig, rm, flags);
}

/* Order of bit patterns that are not NaN as signed integers, -0 below +0. */
static int32_t order(uint32_t a)
{
    return (int32_t)(sign_of(a) ? a ^ 0x7fffffffu : a);
}

static uint32_t pick(uint32_t a, uint32_t b, bool smaller, uint32_t *flags)
{
    *flags |= is_signalling(a) || is_signalling(b) ? SIMT_NV : 0;
    if (simt_f32_is_nan(a)) {
        return simt_f32_is_nan(b) ? SIMT_F32_NAN : b;
    }
    if (simt_f32_is_nan(b)) {
        return a;
    }
    return (order(a) < order(b)) == smaller ? a : b;
}

uint32_t simt_f32_min(uint32_t a, uint32_t b, uint32_t *flags)
{
    return pick(a, b, true, flags);
}

uint32_t simt_f32_max(uint32_t a, uint32_t b, uint32_t *flags)
{
    return pick(a, b, false, flags);
}

uint32_t simt_f32_eq(uint32_t a, uint32_t b, uint32_t *flags)
{
    *flags |= is_signalling(a) || is_signalling(b) ? SIMT_NV : 0;
    return !simt_f32_is_nan(a) && !simt_f32_is_nan(b) && (a == b || (is_zero(a) && is_zero(b)));
}

static bool ordered(uint32_t a, uint32_t b, uint32_t *flags)
{
    bool nan = simt_f32_is_nan(a) || simt_f32_is_nan(b);
    *flags |= nan ? SIMT_NV : 0;
    return !nan;
}

uint32_t simt_f32_lt(uint32_t a, uint32_t b, uint32_t *flags)
{
    return ordered(a, b, flags) && order(a) < order(b) && !(is_zero(a) && is_zero(b));
}

uint32_t simt_f32_le(uint32_t a, uint32_t b, uint32_t *flags)
{
    return ordered(a, b, flags) && (order(a) <= order(b) || (is_zero(a) && is_zero(b)));
}

uint32_t simt_f32_class(uint32_t a)
{
    bool sign = sign_of(a);
    if (simt_f32_is_nan(a)) {
        return is_signalling(a) ? 1u << 8 : 1u << 9;
    }
    if (is_inf(a)) {
        return sign ? 1u << 0 : 1u << 7;
    }
    if (is_zero(a)) {
        return sign ? 1u << 3 : 1u << 4;
    }
    bool subnormal = (a & SIMT_F32_INF) == 0;
    return subnormal ? (sign ? 1u << 2 : 1u << 5) : (sign ? 1u << 1 : 1u << 6);
}

/* Magnitude of a rounded to an integer; anything from 2^33 on is given as 2^33. Sets *inexact. */
static uint64_t to_integer(struct number x, enum simt_rm rm, bool *inexact)
{
    if (x.exp >= 33) {
        *inexact = false;
        return 1ull << 33;
    }
    /* Fixed point with 30 fraction bits. */
    int shift = x.exp - 23 + 30;
    uint64_t fixed = shift >= 0 ? (uint64_t)x.sig << shift : shift_jam(x.sig, -shift);
    uint64_t q = fixed >> 30, rest = fixed & ((1u << 30) - 1);
    *inexact = rest != 0;
    return q + rounds_up(x.sign, q, rest, 1u << 29, rm);
}

/* Round to an integer and saturate to [min, max], min at most 0. */
static uint32_t to_saturated(uint32_t a, int64_t min, int64_t max, enum simt_rm rm, uint32_t *flags)
{
    bool inexact = false;

    if (simt_f32_is_nan(a) || is_inf(a)) {
        *flags |= SIMT_NV;
        return (uint32_t)(!simt_f32_is_nan(a) && sign_of(a) ? min : max);
    }
    if (is_zero(a)) {
        return 0;
    }
    struct number x = unpack(a);
    int64_t value = (int64_t)to_integer(x, rm, &inexact);
    value = x.sign ? -value : value;
    if (value < min || value > max) {
        *flags |= SIMT_NV;
        return (uint32_t)(value < min ? min : max);
    }
    *flags |= inexact ? SIMT_NX : 0;
    return (uint32_t)value;
}

uint32_t simt_f32_to_i32(uint32_t a, enum simt_rm rm, uint32_t *flags)
{
    return to_saturated(a, INT32_MIN, INT32_MAX, rm, flags);
}

uint32_t simt_f32_to_u32(uint32_t a, enum simt_rm rm, uint32_t *flags)
{
    return to_saturated(a, 0, UINT32_MAX, rm, flags);
}

uint32_t simt_u32_to_f32(uint32_t a, enum simt_rm rm, uint32_t *flags)
{
    return a == 0 ? 0 : normalize_round_pack(false, 63, a, rm, flags);
}

uint32_t simt_i32_to_f32(uint32_t a, enum simt_rm rm, uint32_t *flags)
{
    bool sign = sign_of(a);
    uint32_t magnitude = sign ? 0u - a : a;
    return a == 0 ? 0 : normalize_round_pack(sign, 63, magnitude, rm, flags);
}
