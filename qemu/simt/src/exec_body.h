/* SPDX-License-Identifier: MIT */
/*
 * The interpreter, compiled once per host instruction set: exec_base.c, exec_avx2.c and exec_avx512.c include
 * it with EXEC_RUN naming the function to define. exec_run.h has the instructions, once for full warps (plain
 * loops over 32 lanes that the compiler vectorises) and once for masked ones (the same with a blend).
 */
#include <string.h>

#include "cu.h"
#include "fp.h"
#include "memory.h"
#include "soft.h"

#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* divisions stay scalar */
#define EACH(l) _Pragma("clang loop vectorize(assume_safety)") for (unsigned l = 0; l < SIMT_LANES; l++)
#else
#define EACH(l) _Pragma("GCC ivdep") for (unsigned l = 0; l < SIMT_LANES; l++)
#endif

#define INLINE static inline __attribute__((always_inline))

#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)

INLINE float as_float(uint32_t bits)
{
    union {
        uint32_t u;
        float f;
    } v = {.u = bits};
    return v.f;
}

/* Bits of a result; NaNs become the canonical one. */
INLINE uint32_t canonical(float value)
{
    union {
        float f;
        uint32_t u;
    } v = {.f = value};
    return value == value ? v.u : SIMT_F32_NAN;
}

/* Bit l of the result is set when row[l] has its sign bit set. */
INLINE uint32_t sign_bits(const uint32_t *row)
{
    uint32_t bits = 0;
#if defined(EXEC_HAVE_AVX2)
    for (unsigned i = 0; i < 4; i++) {
        __m256 v = _mm256_load_ps((const float *)(const void *)(row + 8 * i));
        bits |= (uint32_t)_mm256_movemask_ps(v) << 8 * i;
    }
#elif defined(__SSE2__)
    for (unsigned i = 0; i < 8; i++) {
        __m128 v = _mm_load_ps((const float *)(const void *)(row + 4 * i));
        bits |= (uint32_t)_mm_movemask_ps(v) << 4 * i;
    }
#else
    for (unsigned l = 0; l < SIMT_LANES; l++) {
        bits |= (row[l] >> 31) << l;
    }
#endif
    return bits;
}

INLINE uint32_t div_signed(uint32_t a, uint32_t b)
{
    if (b == 0) {
        return UINT32_MAX;
    }
    return a == 0x80000000u && b == UINT32_MAX ? a : (uint32_t)((int32_t)a / (int32_t)b);
}

INLINE uint32_t rem_signed(uint32_t a, uint32_t b)
{
    if (b == 0) {
        return a;
    }
    return b == UINT32_MAX ? 0 : (uint32_t)((int32_t)a % (int32_t)b);
}

INLINE uint32_t div_unsigned(uint32_t a, uint32_t b)
{
    return b == 0 ? UINT32_MAX : a / b;
}

INLINE uint32_t rem_unsigned(uint32_t a, uint32_t b)
{
    return b == 0 ? a : a % b;
}

INLINE uint32_t mulh_signed(uint32_t a, uint32_t b)
{
    return (uint32_t)(((int64_t)(int32_t)a * (int32_t)b) >> 32);
}

INLINE uint32_t mulh_unsigned(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a * b) >> 32);
}

/* Signed times unsigned: correct the unsigned product for a negative a. */
INLINE uint32_t mulh_mixed(uint32_t a, uint32_t b)
{
    return mulh_unsigned(a, b) - ((int32_t)a < 0 ? b : 0);
}

INLINE int32_t float_order(uint32_t a)
{
    return (int32_t)((int32_t)a < 0 ? a ^ 0x7fffffffu : a);
}

INLINE uint32_t float_min(uint32_t a, uint32_t b)
{
    uint32_t less = float_order(a) < float_order(b) ? a : b;
    uint32_t not_a = simt_f32_is_nan(b) ? SIMT_F32_NAN : b;
    return simt_f32_is_nan(a) ? not_a : simt_f32_is_nan(b) ? a : less;
}

INLINE uint32_t float_max(uint32_t a, uint32_t b)
{
    uint32_t more = float_order(a) > float_order(b) ? a : b;
    uint32_t not_a = simt_f32_is_nan(b) ? SIMT_F32_NAN : b;
    return simt_f32_is_nan(a) ? not_a : simt_f32_is_nan(b) ? a : more;
}

INLINE float round_mode(float v, unsigned mode)
{
    switch (mode) {
    case SIMT_RNE:
        return __builtin_rintf(v);
    case SIMT_RTZ:
        return __builtin_truncf(v);
    case SIMT_RDN:
        return __builtin_floorf(v);
    default:
        return __builtin_ceilf(v);
    }
}

/* Saturating converts of a value already rounded to an integer; out-of-range casts are undefined in C. */
INLINE uint32_t float_to_i32(float v)
{
    bool high = v >= 2147483648.0f, low = v < -2147483648.0f, number = v == v;
    int32_t i = (int32_t)(high || low || !number ? 0.0f : v);
    return high || !number ? 0x7fffffffu : low ? 0x80000000u : (uint32_t)i;
}

INLINE uint32_t float_to_u32(float v)
{
    bool high = v >= 4294967296.0f, low = v < 0.0f, number = v == v;
    bool upper = v >= 2147483648.0f;
    float in_range = high || low || !number ? 0.0f : upper ? v - 2147483648.0f : v;
    uint32_t i = (uint32_t)(int32_t)in_range + (upper ? 0x80000000u : 0);
    return high || !number ? UINT32_MAX : low ? 0 : i;
}

/* The lanes an instruction is for. A full set is a compile-time constant, so that no blend is left of it. */
struct lane_set {
    bool full;
    uint32_t mask;     /* not 0 */
    const uint32_t *m; /* the mask as a row */
};

INLINE void put(uint32_t *row, unsigned l, uint32_t value, struct lane_set s)
{
    row[l] = s.full ? value : (value & s.m[l]) | (row[l] & ~s.m[l]);
}

INLINE uint32_t lane_count(struct lane_set s)
{
    return s.full ? SIMT_LANES : (uint32_t)__builtin_popcount(s.mask);
}

enum pattern { UNIFORM, UNIT_STRIDE, SCATTERED };

/* How the lanes' words base[] are spread over words of memory. */
INLINE enum pattern classify(const uint32_t *base, struct lane_set s)
{
    uint32_t first = s.full ? 0 : (uint32_t)__builtin_ctz(s.mask), a = base[first];
    uint32_t differs = 0, strays = 0;

    EACH (l) {
        uint32_t delta = base[l] - a, stray = delta ^ 4 * (l - first);
        differs |= s.full ? delta : delta & s.m[l];
        strays |= s.full ? stray : stray & s.m[l];
    }
    return differs == 0 ? UNIFORM : strays == 0 ? UNIT_STRIDE : SCATTERED;
}

/* Host memory of guest bytes [lo, lo + length), all VRAM or all shared memory; NULL otherwise. */
INLINE uint8_t *linear_span(const struct simt_cu *cu, int64_t lo, unsigned length)
{
    if (lo >= 0 && (uint64_t)lo + length <= cu->vram_size) {
        return cu->vram + lo;
    }
    lo -= SIMT_SHARED_BASE;
    return lo >= 0 && (uint64_t)lo + length <= cu->shared_size ? cu->shared + lo : NULL;
}

/* The row of private memory at a word-aligned address that all lanes use; NULL when it is something else. */
INLINE uint32_t *private_row(const struct simt_cu *cu, const struct simt_warp *w, uint32_t addr)
{
    uint32_t offset = addr - SIMT_PRIVATE_BASE;
    bool hit = (offset & 3) == 0 && (uint64_t)offset + 4 <= cu->private_size;
    return hit ? w->priv + (size_t)(offset / 4) * SIMT_LANES : NULL;
}

/* Account for an access to the consecutive bytes [addr, addr + length) by lanes loading or storing words. */
INLINE void count_linear(struct simt_cu *cu, uint32_t addr, unsigned length, uint32_t lanes)
{
    if (addr < SIMT_SHARED_BASE) {
        cu->transactions += ((addr + length - 1) >> 6) - (addr >> 6) + 1;
    }
    cu->bytes += 4 * lanes;
}

INLINE void set_addresses(struct simt_warp *w, const uint32_t *base, int32_t imm)
{
    EACH (l) {
        w->addr[l] = base[l] + (uint32_t)imm;
    }
}

SIMT_GUEST_RACE INLINE bool load_uniform(struct simt_cu *cu, struct simt_warp *w, uint32_t addr, uint32_t *d,
                                         struct lane_set s)
{
    const uint8_t *p = linear_span(cu, addr, 4);
    const uint32_t *row;

    if (p) {
        uint32_t v = *(const simt_u32 *)p;
        EACH (l) {
            put(d, l, v, s);
        }
        count_linear(cu, addr, 4, lane_count(s));
    } else if ((row = private_row(cu, w, addr))) {
        EACH (l) {
            put(d, l, row[l], s);
        }
        cu->bytes += 4 * lane_count(s);
    } else {
        return false;
    }
    return true;
}

/* lane0: the address lane 0 has, or would have if it were active. */
SIMT_GUEST_RACE INLINE bool load_unit_stride(struct simt_cu *cu, int64_t lane0, uint32_t *d,
                                             struct lane_set s)
{
    const simt_u32 *v = (const simt_u32 *)(const void *)linear_span(cu, lane0, 4 * SIMT_LANES);
    uint32_t first = s.full ? 0 : (uint32_t)__builtin_ctz(s.mask);
    uint32_t end = s.full ? SIMT_LANES : SIMT_LANES - (uint32_t)__builtin_clz(s.mask);

    if (!v) {
        return false;
    }
    EACH (l) {
        put(d, l, v[l], s);
    }
    count_linear(cu, (uint32_t)lane0 + 4 * first, 4 * (end - first), lane_count(s));
    return true;
}

INLINE int64_t lane0_address(const uint32_t *base, int32_t imm, struct lane_set s)
{
    uint32_t first = s.full ? 0 : (uint32_t)__builtin_ctz(s.mask);
    return (int64_t)base[first] - 4 * (int64_t)first + imm;
}

/* Load a word for each lane: the two common patterns here, anything else in memory.c. */
INLINE enum simt_access load_word(struct simt_cu *cu, struct simt_warp *w, const uint32_t *base, int32_t imm,
                                  uint32_t *d, struct lane_set s, uint32_t *bad)
{
    enum pattern pattern = classify(base, s);
    int64_t lane0 = lane0_address(base, imm, s);

    if (pattern == UNIFORM &&
        load_uniform(cu, w, base[s.full ? 0 : __builtin_ctz(s.mask)] + (uint32_t)imm, d, s)) {
        return SIMT_ACCESS_OK;
    }
    if (pattern == UNIT_STRIDE && load_unit_stride(cu, lane0, d, s)) {
        return SIMT_ACCESS_OK;
    }
    set_addresses(w, base, imm);
    return simt_load(cu, w, s.mask, 4, d, bad);
}

SIMT_GUEST_RACE INLINE bool store_unit_stride(struct simt_cu *cu, int64_t lane0, const uint32_t *src)
{
    simt_u32 *v = (simt_u32 *)(void *)linear_span(cu, lane0, 4 * SIMT_LANES);

    if (!v) {
        return false;
    }
    EACH (l) {
        v[l] = src[l];
    }
    count_linear(cu, (uint32_t)lane0, 4 * SIMT_LANES, SIMT_LANES);
    return true;
}

INLINE bool store_private(struct simt_cu *cu, struct simt_warp *w, uint32_t addr, const uint32_t *src,
                          struct lane_set s)
{
    uint32_t *row = private_row(cu, w, addr);
    uint32_t index = (addr - SIMT_PRIVATE_BASE) / 4;

    if (!row) {
        return false;
    }
    w->priv_dirty = index < w->priv_dirty ? index : w->priv_dirty;
    EACH (l) {
        put(row, l, src[l], s);
    }
    cu->bytes += 4 * lane_count(s);
    return true;
}

/* Store a word for each lane: all lanes side by side, or the same place of the stack, else memory.c. */
INLINE enum simt_access store_word(struct simt_cu *cu, struct simt_warp *w, const uint32_t *base, int32_t imm,
                                   const uint32_t *src, struct lane_set s, uint32_t *bad)
{
    enum pattern pattern = classify(base, s);
    int64_t lane0 = lane0_address(base, imm, s);

    if (pattern == UNIT_STRIDE && s.full && store_unit_stride(cu, lane0, src)) {
        return SIMT_ACCESS_OK;
    }
    if (pattern == UNIFORM &&
        store_private(cu, w, base[s.full ? 0 : __builtin_ctz(s.mask)] + (uint32_t)imm, src, s)) {
        return SIMT_ACCESS_OK;
    }
    set_addresses(w, base, imm);
    return simt_store(cu, w, s.mask, 4, src, bad);
}

#define SIMT_FULL 1
#define RUN       run_full
#include "exec_run.h"
#undef SIMT_FULL
#undef RUN
#define SIMT_FULL 0
#define RUN       run_masked
#include "exec_run.h"
#undef SIMT_FULL
#undef RUN

enum simt_stop EXEC_RUN(struct simt_cu *cu, struct simt_warp *w, struct simt_path *p)
{
    return p->mask == UINT32_MAX ? run_full(cu, w, p) : run_masked(cu, w, p);
}
