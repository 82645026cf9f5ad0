/* SPDX-License-Identifier: MIT */
#include "memory.h"

#define CTRL_SIZE     0x54u
#define SYNC_BARRIER  SIMT_SYNC_BASE
#define SYNC_BALLOT   (SIMT_SYNC_BASE + 0x10u)
#define SYNC_EXCHANGE (SIMT_SYNC_BASE + 0x100u)
#define SEGMENT_SHIFT 6 /* a memory transaction moves 64 bytes */

enum window { WINDOW_NONE, WINDOW_VRAM, WINDOW_SHARED, WINDOW_PRIVATE, WINDOW_CTRL, WINDOW_SYNC };

static bool inside(uint32_t addr, uint32_t base, uint64_t length, unsigned size)
{
    return addr >= base && (uint64_t)(addr - base) + size <= length;
}

static bool ctrl_word(uint32_t offset)
{
    return offset <= 0x50 && (offset & 3) == 0 && (offset >= 0x40 || (offset & 0xf) != 0xc);
}

static bool exchange_word(uint32_t addr)
{
    return addr >= SYNC_EXCHANGE && addr < SYNC_EXCHANGE + 4 * SIMT_LANES && (addr & 3) == 0;
}

static enum window window_of(const struct simt_cu *cu, uint32_t addr, unsigned size, bool store)
{
    if (inside(addr, 0, cu->vram_size, size)) {
        return WINDOW_VRAM;
    }
    if (inside(addr, SIMT_SHARED_BASE, cu->shared_size, size)) {
        return WINDOW_SHARED;
    }
    if (inside(addr, SIMT_PRIVATE_BASE, cu->private_size, size)) {
        return WINDOW_PRIVATE;
    }
    if (size != 4) {
        return WINDOW_NONE;
    }
    if (!store && inside(addr, SIMT_CTRL_BASE, CTRL_SIZE, size) && ctrl_word(addr - SIMT_CTRL_BASE)) {
        return WINDOW_CTRL;
    }
    if (addr == SYNC_BALLOT || exchange_word(addr) || (store && addr == SYNC_BARRIER)) {
        return WINDOW_SYNC;
    }
    return WINDOW_NONE;
}

SIMT_GUEST_RACE static uint32_t read_bytes(const uint8_t *p, unsigned size)
{
    return size == 4 ? *(const simt_u32 *)p : size == 2 ? *(const simt_u16 *)p : *p;
}

SIMT_GUEST_RACE static void write_bytes(uint8_t *p, unsigned size, uint32_t value)
{
    if (size == 4) {
        *(simt_u32 *)p = value;
    } else if (size == 2) {
        *(simt_u16 *)p = (uint16_t)value;
    } else {
        *p = (uint8_t)value;
    }
}

/* Byte offset of a private address of a lane in the interleaved storage. */
static uint8_t *private_byte(struct simt_warp *w, uint32_t lane, uint32_t offset)
{
    return (uint8_t *)&w->priv[(offset / 4) * SIMT_LANES + lane] + (offset & 3);
}

static uint32_t private_load(struct simt_warp *w, uint32_t lane, uint32_t offset, unsigned size)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < size; i++) {
        value |= (uint32_t)*private_byte(w, lane, offset + i) << 8 * i;
    }
    return value;
}

static void private_store(struct simt_warp *w, uint32_t lane, uint32_t offset, unsigned size, uint32_t value)
{
    if (offset / 4 < w->priv_dirty) {
        w->priv_dirty = offset / 4;
    }
    for (unsigned i = 0; i < size; i++) {
        *private_byte(w, lane, offset + i) = (uint8_t)(value >> 8 * i);
    }
}

/* The control window, docs/device.md: indices and dimensions x y z in groups of 16 bytes, then single words.
 */
static uint32_t ctrl_load(const struct simt_cu *cu, const struct simt_warp *w, uint32_t lane, uint32_t mask,
                          uint32_t offset)
{
    unsigned axis = (offset & 0xf) / 4;
    switch (offset & ~0xfu) {
    case 0x00:
        return w->thread[axis][lane];
    case 0x10:
        return cu->block[axis];
    case 0x20:
        return cu->launch.block[axis];
    case 0x30:
        return cu->launch.grid[axis];
    default:
        break;
    }
    switch (offset) {
    case 0x40:
        return w->index;
    case 0x44:
        return lane;
    case 0x48:
        return (uint32_t)cu->launch.args;
    case 0x4c:
        return cu->shared_size;
    default:
        return mask;
    }
}

static uint32_t ballot(const struct simt_warp *w, uint32_t mask)
{
    uint32_t bits = 0;
    EACH_LANE (mask, l) {
        bits |= (uint32_t)(w->ballot[l] != 0) << l;
    }
    return bits;
}

static uint32_t load_lane(struct simt_cu *cu, struct simt_warp *w, uint32_t lane, uint32_t mask,
                          unsigned size)
{
    uint32_t addr = w->addr[lane];
    switch (window_of(cu, addr, size, false)) {
    case WINDOW_VRAM:
        return read_bytes(cu->vram + addr, size);
    case WINDOW_SHARED:
        return read_bytes(cu->shared + (addr - SIMT_SHARED_BASE), size);
    case WINDOW_PRIVATE:
        return private_load(w, lane, addr - SIMT_PRIVATE_BASE, size);
    case WINDOW_CTRL:
        return ctrl_load(cu, w, lane, mask, addr - SIMT_CTRL_BASE);
    default:
        return addr == SYNC_BALLOT ? ballot(w, mask) : w->exchange[(addr - SYNC_EXCHANGE) / 4];
    }
}

static void store_lane(struct simt_cu *cu, struct simt_warp *w, uint32_t lane, unsigned size, uint32_t value)
{
    uint32_t addr = w->addr[lane];
    switch (window_of(cu, addr, size, true)) {
    case WINDOW_VRAM:
        write_bytes(cu->vram + addr, size, value);
        break;
    case WINDOW_SHARED:
        write_bytes(cu->shared + (addr - SIMT_SHARED_BASE), size, value);
        break;
    case WINDOW_PRIVATE:
        private_store(w, lane, addr - SIMT_PRIVATE_BASE, size, value);
        break;
    default:
        if (addr == SYNC_BALLOT) {
            w->ballot[lane] = value;
        } else if (addr != SYNC_BARRIER) {
            w->exchange[(addr - SYNC_EXCHANGE) / 4] = value;
        }
        break;
    }
}

/* Lanes of mask whose access is outside every window. */
static uint32_t bad_lanes(const struct simt_cu *cu, const struct simt_warp *w, uint32_t mask, unsigned size,
                          bool store)
{
    uint32_t bad = 0;
    EACH_LANE (mask, l) {
        bad |= (uint32_t)(window_of(cu, w->addr[l], size, store) == WINDOW_NONE) << l;
    }
    return bad;
}

static bool all_in_vram(const struct simt_cu *cu, const struct simt_warp *w, uint32_t mask, unsigned size)
{
    uint64_t limit = cu->vram_size - size;
    bool all = true;
    for (unsigned l = 0; l < SIMT_LANES; l++) {
        all &= !(mask >> l & 1) || w->addr[l] <= limit;
    }
    return all;
}

/* Count the distinct 64-byte segments of VRAM that an instruction touches. */
static unsigned segments(const struct simt_cu *cu, const struct simt_warp *w, uint32_t mask, unsigned size)
{
    uint32_t seen[128]; /* open addressing; at most two segments a lane; 0 is empty */
    unsigned count = 0;

    for (unsigned i = 0; i < 128; i++) {
        seen[i] = 0;
    }
    EACH_LANE (mask, l) {
        if (window_of(cu, w->addr[l], size, false) != WINDOW_VRAM) {
            continue;
        }
        uint32_t last = (w->addr[l] + size - 1) >> SEGMENT_SHIFT;
        for (uint32_t s = w->addr[l] >> SEGMENT_SHIFT; s <= last; s++) {
            unsigned i = s & 127;
            while (seen[i] != 0 && seen[i] != s + 1) {
                i = (i + 1) & 127;
            }
            count += seen[i] == 0;
            seen[i] = s + 1;
        }
    }
    return count;
}

/* The same when every lane's segment is at least the previous lane's, which strided access gives; -1 if not.
 */
static int sorted_segments(const struct simt_warp *w, uint32_t mask, unsigned size)
{
    uint32_t first = (uint32_t)__builtin_ctz(mask);
    uint32_t previous = w->addr[first] >> SEGMENT_SHIFT;
    int count = 1;

    EACH_LANE (mask, l) {
        uint32_t s = w->addr[l] >> SEGMENT_SHIFT;
        if (s < previous || s != (w->addr[l] + size - 1) >> SEGMENT_SHIFT) {
            return -1;
        }
        count += s != previous;
        previous = s;
    }
    return count;
}

unsigned simt_count_segments(const struct simt_cu *cu, const struct simt_warp *w, uint32_t mask,
                             unsigned size)
{
    int sorted = sorted_segments(w, mask, size);
    return sorted >= 0 ? (unsigned)sorted : segments(cu, w, mask, size);
}

static void count_access(struct simt_cu *cu, const struct simt_warp *w, uint32_t mask, unsigned size,
                         bool vram)
{
    cu->transactions += vram ? simt_count_segments(cu, w, mask, size) : segments(cu, w, mask, size);
    cu->bytes += size * (unsigned)__builtin_popcount(mask);
}

SIMT_GUEST_RACE static void gather(const uint8_t *base, const struct simt_warp *w, uint32_t mask,
                                   unsigned size, uint32_t *dst)
{
    EACH_LANE (mask, l) {
        dst[l] = read_bytes(base + w->addr[l], size);
    }
}

SIMT_GUEST_RACE static void scatter(uint8_t *base, const struct simt_warp *w, uint32_t mask, unsigned size,
                                    const uint32_t *src)
{
    EACH_LANE (mask, l) {
        write_bytes(base + w->addr[l], size, src[l]);
    }
}

/* All lanes read the same word of the control window, which kernels begin with. False: they do not. */
static bool load_ctrl(struct simt_cu *cu, const struct simt_warp *w, uint32_t mask, unsigned size,
                      uint32_t *dst)
{
    uint32_t addr = w->addr[__builtin_ctz(mask)], offset = addr - SIMT_CTRL_BASE;
    bool same = size == 4 && offset < CTRL_SIZE && ctrl_word(offset);

    for (unsigned l = 0; l < SIMT_LANES; l++) {
        same &= !(mask >> l & 1) || w->addr[l] == addr;
    }
    if (same) {
        EACH_LANE (mask, l) {
            dst[l] = ctrl_load(cu, w, l, mask, offset);
        }
        cu->bytes += size * (unsigned)__builtin_popcount(mask);
    }
    return same;
}

enum simt_access simt_load(struct simt_cu *cu, struct simt_warp *w, uint32_t mask, unsigned size,
                           uint32_t *dst, uint32_t *bad)
{
    if (all_in_vram(cu, w, mask, size)) {
        gather(cu->vram, w, mask, size, dst);
        count_access(cu, w, mask, size, true);
        return SIMT_ACCESS_OK;
    }
    if (load_ctrl(cu, w, mask, size, dst)) {
        return SIMT_ACCESS_OK;
    }
    *bad = bad_lanes(cu, w, mask, size, false);
    if (*bad) {
        return SIMT_ACCESS_BAD;
    }
    EACH_LANE (mask, l) {
        dst[l] = load_lane(cu, w, l, mask, size);
    }
    count_access(cu, w, mask, size, false);
    return SIMT_ACCESS_OK;
}

static uint32_t barrier_lanes(const struct simt_warp *w, uint32_t mask, unsigned size)
{
    uint32_t lanes = 0;
    if (size == 4) {
        EACH_LANE (mask, l) {
            lanes |= (uint32_t)(w->addr[l] == SYNC_BARRIER) << l;
        }
    }
    return lanes;
}

enum simt_access simt_store(struct simt_cu *cu, struct simt_warp *w, uint32_t mask, unsigned size,
                            const uint32_t *src, uint32_t *bad)
{
    if (all_in_vram(cu, w, mask, size)) {
        scatter(cu->vram, w, mask, size, src);
        count_access(cu, w, mask, size, true);
        return SIMT_ACCESS_OK;
    }
    *bad = bad_lanes(cu, w, mask, size, true);
    if (*bad) {
        return SIMT_ACCESS_BAD;
    }
    EACH_LANE (mask, l) {
        store_lane(cu, w, l, size, src[l]);
    }
    count_access(cu, w, mask, size, false);
    *bad = barrier_lanes(w, mask, size);
    return *bad ? SIMT_ACCESS_BARRIER : SIMT_ACCESS_OK;
}

/* The word an atomic works on, NULL outside VRAM and shared memory. */
static uint32_t *atomic_word(struct simt_cu *cu, uint32_t addr)
{
    switch (window_of(cu, addr, 4, false)) {
    case WINDOW_VRAM:
        return (uint32_t *)(void *)(cu->vram + addr);
    case WINDOW_SHARED:
        return (uint32_t *)(void *)(cu->shared + (addr - SIMT_SHARED_BASE));
    default:
        return NULL;
    }
}

static uint32_t combine(enum simt_op op, uint32_t old, uint32_t operand)
{
    switch (op) {
    case SIMT_OP_AMOMIN:
        return (int32_t)operand < (int32_t)old ? operand : old;
    case SIMT_OP_AMOMAX:
        return (int32_t)operand > (int32_t)old ? operand : old;
    case SIMT_OP_AMOMINU:
        return operand < old ? operand : old;
    default:
        return operand > old ? operand : old;
    }
}

static uint32_t amo_min_max(enum simt_op op, uint32_t *word, uint32_t operand)
{
    uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(word, &old, combine(op, old, operand), true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {
    }
    return old;
}

static uint32_t amo(enum simt_op op, uint32_t *word, uint32_t operand)
{
    switch (op) {
    case SIMT_OP_AMOSWAP:
        return __atomic_exchange_n(word, operand, __ATOMIC_SEQ_CST);
    case SIMT_OP_AMOADD:
        return __atomic_fetch_add(word, operand, __ATOMIC_SEQ_CST);
    case SIMT_OP_AMOXOR:
        return __atomic_fetch_xor(word, operand, __ATOMIC_SEQ_CST);
    case SIMT_OP_AMOOR:
        return __atomic_fetch_or(word, operand, __ATOMIC_SEQ_CST);
    case SIMT_OP_AMOAND:
        return __atomic_fetch_and(word, operand, __ATOMIC_SEQ_CST);
    default:
        return amo_min_max(op, word, operand);
    }
}

static uint32_t load_reserved(struct simt_warp *w, uint32_t lane, uint32_t *word)
{
    w->reserved |= 1u << lane;
    w->reserved_addr[lane] = w->addr[lane];
    w->reserved_value[lane] = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    return w->reserved_value[lane];
}

/* 0 when it stored. Succeeds when the word still holds what lr.w read: a change and change back in between
 * goes unnoticed (the ABA limit that QEMU's own RISC-V has). */
static uint32_t store_conditional(struct simt_warp *w, uint32_t lane, uint32_t *word, uint32_t value)
{
    bool held = (w->reserved >> lane & 1) && w->reserved_addr[lane] == w->addr[lane];
    uint32_t expected = w->reserved_value[lane];

    w->reserved &= ~(1u << lane);
    return !(held &&
             __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}

enum simt_access simt_atomic(struct simt_cu *cu, struct simt_warp *w, uint32_t mask, enum simt_op op,
                             const uint32_t *src, uint32_t *dst, uint32_t *bad)
{
    uint32_t misaligned = 0, outside = 0;

    EACH_LANE (mask, l) {
        misaligned |= (uint32_t)((w->addr[l] & 3) != 0) << l;
        outside |= (uint32_t)(!atomic_word(cu, w->addr[l])) << l;
    }
    *bad = misaligned | outside;
    if (*bad) {
        return (misaligned & -*bad & *bad) ? SIMT_ACCESS_ALIGN : SIMT_ACCESS_BAD; /* the lowest lane's */
    }
    EACH_LANE (mask, l) {
        uint32_t *word = atomic_word(cu, w->addr[l]);
        if (op == SIMT_OP_LR) {
            dst[l] = load_reserved(w, l, word);
        } else if (op == SIMT_OP_SC) {
            dst[l] = store_conditional(w, l, word, src[l]);
        } else {
            dst[l] = amo(op, word, src[l]);
        }
    }
    cu->turn_atomics++;
    count_access(cu, w, mask, 4, false);
    return SIMT_ACCESS_OK;
}
