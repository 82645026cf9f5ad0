/* SPDX-License-Identifier: MIT */
#include "abs.h"

#include <stdlib.h>
#include <string.h>

#include "simt/simt.h"

#define F(r)      (32 + (r))
#define MAX_ALIGN 32

static unsigned trailing_zeros(uint32_t v)
{
    return v ? (unsigned)__builtin_ctz(v) : MAX_ALIGN;
}

static unsigned min_u(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

struct jit_abs jit_abs_const(uint32_t value)
{
    return (struct jit_abs){
        .kind = JIT_CONST, .align = (uint8_t)trailing_zeros(value), .value = (int32_t)value};
}

struct jit_abs jit_abs_of(enum jit_kind kind)
{
    return (struct jit_abs){.kind = (uint8_t)kind};
}

struct jit_abs jit_abs_affine(int32_t stride, unsigned align)
{
    return (struct jit_abs){.kind = stride ? JIT_AFFINE : JIT_UNIFORM,
                            .align = (uint8_t)min_u(align, MAX_ALIGN),
                            .value = stride};
}

static enum jit_window window_of_constant(uint32_t v)
{
    if (v < SIMT_CTRL_BASE) {
        return JIT_VRAM;
    }
    if (v < SIMT_SYNC_BASE) {
        return JIT_CTRL;
    }
    if (v < SIMT_PRIVATE_BASE) {
        return v < SIMT_SHARED_BASE ? JIT_SYNC : JIT_SHARED;
    }
    return v < SIMT_EXIT_PC ? JIT_PRIVATE : JIT_VRAM; /* the highest ones are negative offsets */
}

enum jit_window jit_window_of(struct jit_abs a)
{
    return a.kind == JIT_CONST ? window_of_constant((uint32_t)a.value) : (enum jit_window)a.window;
}

enum simt_op jit_base_op(enum simt_op op)
{
    switch (op) {
    case SIMT_OP_ADDI:
        return SIMT_OP_ADD;
    case SIMT_OP_SLTI:
        return SIMT_OP_SLT;
    case SIMT_OP_SLTIU:
        return SIMT_OP_SLTU;
    case SIMT_OP_XORI:
        return SIMT_OP_XOR;
    case SIMT_OP_ORI:
        return SIMT_OP_OR;
    case SIMT_OP_ANDI:
        return SIMT_OP_AND;
    case SIMT_OP_SLLI:
        return SIMT_OP_SLL;
    case SIMT_OP_SRLI:
        return SIMT_OP_SRL;
    case SIMT_OP_SRAI:
        return SIMT_OP_SRA;
    default:
        return op;
    }
}

/* Constant operands; false when the operation is not folded here. */
static bool fold(enum simt_op op, uint32_t a, uint32_t b, uint32_t *out)
{
    switch (op) {
    case SIMT_OP_ADD:
        *out = a + b;
        return true;
    case SIMT_OP_SUB:
        *out = a - b;
        return true;
    case SIMT_OP_AND:
        *out = a & b;
        return true;
    case SIMT_OP_OR:
        *out = a | b;
        return true;
    case SIMT_OP_XOR:
        *out = a ^ b;
        return true;
    case SIMT_OP_SLL:
        *out = a << (b & 31);
        return true;
    case SIMT_OP_SRL:
        *out = a >> (b & 31);
        return true;
    case SIMT_OP_MUL:
        *out = a * b;
        return true;
    default:
        return false;
    }
}

static unsigned result_align(enum simt_op op, struct jit_abs a, struct jit_abs b)
{
    switch (op) {
    case SIMT_OP_ADD:
    case SIMT_OP_SUB:
    case SIMT_OP_OR:
    case SIMT_OP_XOR:
        return min_u(a.align, b.align);
    case SIMT_OP_AND:
        return a.align > b.align ? a.align : b.align;
    case SIMT_OP_MUL:
        return min_u(a.align + b.align, MAX_ALIGN);
    case SIMT_OP_SLL:
        return b.kind == JIT_CONST ? min_u(a.align + (b.value & 31), MAX_ALIGN) : a.align;
    case SIMT_OP_SRL:
        return b.kind == JIT_CONST && a.align > (b.value & 31) ? a.align - (unsigned)(b.value & 31) : 0;
    default:
        return 0;
    }
}

/* The lane part of an affine value stays below its base's alignment: base and lane part share no bit. */
static bool disjoint(struct jit_abs a)
{
    return a.align < 32 && a.value > 0 && (uint64_t)a.value * (SIMT_LANES - 1) < 1ull << a.align;
}

static struct jit_abs and_affine(struct jit_abs a, uint32_t mask, unsigned align)
{
    uint32_t low = (1u << a.align) - 1;
    if ((mask & low) == low) {
        return jit_abs_affine(a.value, align);
    }
    return (mask & low) == 0 ? jit_abs_affine(0, align) : jit_abs_of(JIT_VARYING);
}

/* a is affine, b is not varying; the base operation on the bases gives the result's base. */
static struct jit_abs affine_alu(enum simt_op op, struct jit_abs a, struct jit_abs b, unsigned align)
{
    bool constant = b.kind == JIT_CONST;
    uint32_t k = (uint32_t)b.value;

    switch (op) {
    case SIMT_OP_ADD:
        return jit_abs_affine((int32_t)((uint32_t)a.value + (b.kind == JIT_AFFINE ? k : 0)), align);
    case SIMT_OP_SUB:
        return jit_abs_affine((int32_t)((uint32_t)a.value - (b.kind == JIT_AFFINE ? k : 0)), align);
    case SIMT_OP_SLL:
        return constant ? jit_abs_affine((int32_t)((uint32_t)a.value << (k & 31)), align)
                        : jit_abs_of(JIT_VARYING);
    case SIMT_OP_MUL:
        return constant ? jit_abs_affine((int32_t)((uint32_t)a.value * k), align) : jit_abs_of(JIT_VARYING);
    case SIMT_OP_SRL:
    case SIMT_OP_SRA:
        return constant && disjoint(a) && (k & 31) >= a.align ? jit_abs_affine(0, align)
                                                              : jit_abs_of(JIT_VARYING);
    case SIMT_OP_AND:
        return constant && disjoint(a) ? and_affine(a, k, align) : jit_abs_of(JIT_VARYING);
    case SIMT_OP_OR:
    case SIMT_OP_XOR:
        return b.kind != JIT_AFFINE && disjoint(a) && b.align >= a.align ? jit_abs_affine(a.value, a.align)
                                                                         : jit_abs_of(JIT_VARYING);
    default:
        return jit_abs_of(JIT_VARYING);
    }
}

static bool commutes(enum simt_op op)
{
    return op == SIMT_OP_ADD || op == SIMT_OP_MUL || op == SIMT_OP_AND || op == SIMT_OP_OR ||
           op == SIMT_OP_XOR;
}

static struct jit_abs kind_of_alu(enum simt_op op, struct jit_abs a, struct jit_abs b)
{
    unsigned align = result_align(op, a, b);
    uint32_t folded;

    if (a.kind == JIT_VARYING || b.kind == JIT_VARYING) {
        return jit_abs_of(JIT_VARYING);
    }
    if (a.kind == JIT_CONST && b.kind == JIT_CONST &&
        fold(op, (uint32_t)a.value, (uint32_t)b.value, &folded)) {
        return jit_abs_const(folded);
    }
    if (a.kind == JIT_AFFINE) {
        return affine_alu(op, a, b, align);
    }
    if (b.kind == JIT_AFFINE) {
        if (op == SIMT_OP_SUB) {
            return jit_abs_affine((int32_t)(0u - (uint32_t)b.value), align);
        }
        return commutes(op) ? affine_alu(op, b, a, align) : jit_abs_of(JIT_VARYING);
    }
    return jit_abs_affine(0, align);
}

struct jit_abs jit_abs_alu(enum simt_op op, struct jit_abs a, struct jit_abs b)
{
    struct jit_abs r = kind_of_alu(op, a, b);
    enum jit_window wa = jit_window_of(a), wb = jit_window_of(b);

    /* Addresses are a base, which comes from a constant, plus an index; other operations make no addresses.
     */
    bool address = op == SIMT_OP_ADD || op == SIMT_OP_SUB || op == SIMT_OP_OR;
    r.window = (uint8_t)(!address ? JIT_VRAM : wa == JIT_VRAM ? wb : wa);
    if (r.kind == JIT_VARYING) {
        r.align = 0;
    }
    return r;
}

bool jit_expects_quotient(const struct jit_variant *v, enum simt_op op, struct jit_abs a, struct jit_abs b)
{
    return v->hopes && (op == SIMT_OP_DIVU || op == SIMT_OP_REMU) && a.kind == JIT_AFFINE && a.value > 0 &&
           b.kind <= JIT_UNIFORM;
}

/* With one quotient q, lane l's remainder is base - q * b + stride * l. */
struct jit_abs jit_abs_register_op(const struct jit_variant *v, enum simt_op op, struct jit_abs a,
                                   struct jit_abs b)
{
    if (jit_expects_quotient(v, op, a, b)) {
        return jit_abs_affine(op == SIMT_OP_DIVU ? 0 : a.value, 0);
    }
    return jit_abs_alu(op, a, b);
}

struct jit_abs jit_abs_ctrl(const struct jit_variant *v, uint32_t offset)
{
    switch (offset) {
    case 0x00:
        return v->linear_x ? jit_abs_affine(1, 5) : jit_abs_of(JIT_VARYING);
    case 0x04:
    case 0x08:
        return jit_abs_of(v->linear_x ? JIT_UNIFORM : JIT_VARYING);
    case 0x44:
        return jit_abs_affine(1, MAX_ALIGN);
    default:
        return jit_abs_of(JIT_UNIFORM);
    }
}

static struct jit_abs address_of(const struct jit_state *s, const struct simt_insn *in)
{
    return jit_abs_alu(SIMT_OP_ADD, s->reg[in->rs1], jit_abs_const((uint32_t)in->imm));
}

unsigned jit_slot_of(const struct jit_variant *v, struct jit_abs addr)
{
    uint32_t below = v->private_top - (uint32_t)addr.value;
    bool known = addr.kind == JIT_CONST && jit_window_of(addr) == JIT_PRIVATE;

    return known && below % 4 == 0 && below > 0 && below <= 4 * JIT_SLOTS ? below / 4 - 1 : JIT_SLOTS;
}

static bool is_word(enum simt_op op)
{
    return op == SIMT_OP_LW || op == SIMT_OP_FLW || op == SIMT_OP_SW || op == SIMT_OP_FSW;
}

static struct jit_abs load_result(const struct jit_variant *v, const struct jit_state *s,
                                  const struct simt_insn *in)
{
    struct jit_abs addr = address_of(s, in);
    enum jit_window window = jit_window_of(addr);
    unsigned slot = jit_slot_of(v, addr);
    bool varying =
        addr.kind > JIT_UNIFORM || window == JIT_PRIVATE || window == JIT_SYNC || window == JIT_CTRL;

    if (slot < JIT_SLOTS && is_word(in->op)) {
        bool scalar = in->op == SIMT_OP_LW || s->slot[slot].kind <= JIT_UNIFORM;
        return scalar ? s->slot[slot] : jit_abs_of(JIT_VARYING);
    }
    if (window == JIT_CTRL && addr.kind == JIT_CONST) {
        return jit_abs_ctrl(v, (uint32_t)addr.value - SIMT_CTRL_BASE);
    }
    return jit_abs_of(varying ? JIT_VARYING : JIT_UNIFORM);
}

static struct jit_abs merge_kinds(struct jit_abs a, struct jit_abs b)
{
    return jit_abs_of(a.kind <= JIT_UNIFORM && b.kind <= JIT_UNIFORM ? JIT_UNIFORM : JIT_VARYING);
}

static struct jit_abs float_result(const struct jit_state *s, const struct simt_insn *in,
                                   enum simt_format format)
{
    struct jit_abs r = merge_kinds(s->reg[F(in->rs1)], s->reg[F(in->rs1)]);

    if (format == SIMT_FMT_FR || format == SIMT_FMT_FR4 || format == SIMT_FMT_FF || format == SIMT_FMT_FCMP) {
        r = merge_kinds(r, s->reg[F(in->rs2)]);
    }
    if (format == SIMT_FMT_FR4) {
        r = merge_kinds(r, s->reg[F(in->rs3)]);
    }
    return r;
}

static struct jit_abs with_bits(struct jit_abs a, enum jit_bits bits)
{
    a.bits = (uint8_t)bits;
    return a;
}

static bool is_nan(uint32_t v)
{
    return (v & 0x7fffffffu) > 0x7f800000u;
}

/* fmv.s is fsgnj.s rd, rs, rs: the bits go through unseen. */
static struct jit_abs sign_inject(const struct jit_state *s, const struct simt_insn *in)
{
    if (in->op == SIMT_OP_FSGNJ && in->rs1 == in->rs2) {
        return s->reg[F(in->rs1)];
    }
    return with_bits(float_result(s, in, SIMT_FMT_FF), JIT_BITS_EXACT);
}

static struct jit_abs move_to_float(struct jit_abs a)
{
    bool any = a.kind == JIT_CONST && !is_nan((uint32_t)a.value);
    a = a.kind == JIT_AFFINE ? jit_abs_of(JIT_VARYING) : a;
    return with_bits(a, any ? JIT_BITS_ANY : JIT_BITS_EXACT);
}

static struct jit_abs csr_result(const struct simt_insn *in)
{
    return in->imm == SIMT_CSR_MHARTID ? jit_abs_affine(1, 5) : jit_abs_of(JIT_VARYING);
}

struct jit_abs jit_abs_insn(const struct jit_variant *v, const struct jit_state *s,
                            const struct simt_insn *in, uint32_t pc)
{
    enum simt_format format = simt_op_format(in->op);

    if (jit_is_soft(in)) {
        return with_bits(jit_abs_of(JIT_VARYING), JIT_BITS_EXACT);
    }
    switch (format) {
    case SIMT_FMT_R:
        return jit_abs_register_op(v, in->op, s->reg[in->rs1], s->reg[in->rs2]);
    case SIMT_FMT_I:
    case SIMT_FMT_SHIFT:
        return jit_abs_alu(jit_base_op(in->op), s->reg[in->rs1], jit_abs_const((uint32_t)in->imm));
    case SIMT_FMT_LOAD:
        return load_result(v, s, in);
    case SIMT_FMT_FLOAD:
        return with_bits(load_result(v, s, in), JIT_BITS_EXACT);
    case SIMT_FMT_U:
        return jit_abs_const((uint32_t)in->imm + (in->op == SIMT_OP_AUIPC ? pc : 0));
    case SIMT_FMT_J:
    case SIMT_FMT_JALR:
        return jit_abs_const(pc + 4);
    case SIMT_FMT_CSR:
    case SIMT_FMT_CSRI:
        return csr_result(in);
    case SIMT_FMT_FR:
    case SIMT_FMT_FR4:
    case SIMT_FMT_FR1:
        return with_bits(float_result(s, in, format), JIT_BITS_RAW);
    case SIMT_FMT_FF:
        return in->op == SIMT_OP_FMIN || in->op == SIMT_OP_FMAX
                   ? with_bits(float_result(s, in, format), JIT_BITS_RAW)
                   : sign_inject(s, in);
    case SIMT_FMT_FCMP:
    case SIMT_FMT_F2X:
        return float_result(s, in, format);
    case SIMT_FMT_FMVX:
        return in->op == SIMT_OP_FCLASS ? jit_abs_of(JIT_VARYING) : float_result(s, in, format);
    case SIMT_FMT_X2F:
        return with_bits(merge_kinds(s->reg[in->rs1], s->reg[in->rs1]), JIT_BITS_ANY);
    case SIMT_FMT_XMVF:
        return move_to_float(s->reg[in->rs1]);
    default:
        return jit_abs_of(JIT_VARYING);
    }
}

static struct jit_abs merge_kind(struct jit_abs a, struct jit_abs b)
{
    if (a.kind == JIT_CONST && b.kind == JIT_CONST && a.value == b.value) {
        return a;
    }
    if (a.kind <= JIT_UNIFORM && b.kind <= JIT_UNIFORM) {
        return jit_abs_affine(0, min_u(a.align, b.align));
    }
    if (a.kind == JIT_AFFINE && b.kind == JIT_AFFINE && a.value == b.value) {
        return jit_abs_affine(a.value, min_u(a.align, b.align));
    }
    return jit_abs_of(JIT_VARYING);
}

static enum jit_bits merge_bits(unsigned a, unsigned b, bool prefer_raw)
{
    if (a == b) {
        return (enum jit_bits)a;
    }
    if (a == JIT_BITS_ANY || b == JIT_BITS_ANY) {
        return (enum jit_bits)(a + b);
    }
    return prefer_raw ? JIT_BITS_RAW : JIT_BITS_EXACT;
}

static struct jit_abs merge(struct jit_abs a, struct jit_abs b, bool prefer_raw)
{
    if (a.kind == JIT_UNSEEN) {
        return b;
    }
    struct jit_abs r = merge_kind(a, b);
    r.window = (uint8_t)(jit_window_of(a) == jit_window_of(b) ? jit_window_of(a) : JIT_VRAM);
    r.bits = (uint8_t)merge_bits(a.bits, b.bits, prefer_raw);
    return r;
}

bool jit_state_merge(struct jit_state *into, const struct jit_state *from, bool prefer_raw)
{
    bool changed = false;

    for (unsigned r = 0; r < JIT_REGS; r++) {
        struct jit_abs m = merge(into->reg[r], from->reg[r], prefer_raw);
        changed |= memcmp(&m, &into->reg[r], sizeof(m)) != 0;
        into->reg[r] = m;
    }
    for (unsigned i = 0; i < JIT_SLOTS; i++) {
        struct jit_abs m = merge(into->slot[i], from->slot[i], false);
        changed |= memcmp(&m, &into->slot[i], sizeof(m)) != 0;
        into->slot[i] = m;
    }
    return changed;
}

void jit_state_entry(struct jit_state *s, const struct jit_variant *v)
{
    for (unsigned r = 0; r < JIT_REGS; r++) {
        s->reg[r] = jit_abs_const(0);
    }
    for (unsigned i = 0; i < JIT_SLOTS; i++) {
        s->slot[i] = jit_abs_of(JIT_VARYING);
    }
    s->reg[1] = jit_abs_const(SIMT_EXIT_PC);
    s->reg[2] = jit_abs_const(v->private_top);
    for (unsigned a = 10; a < 10 + SIMT_ARG_REGS; a++) {
        s->reg[a] = jit_abs_of(JIT_UNIFORM);
    }
}

static void forget_slots(struct jit_state *s)
{
    for (unsigned i = 0; i < JIT_SLOTS; i++) {
        s->slot[i] = jit_abs_of(JIT_VARYING);
    }
}

/* What a store leaves in the slots. Code for one that is guessed to go elsewhere tests that it does. */
static void store_step(const struct jit_variant *v, struct jit_state *s, const struct simt_insn *in,
                       bool masked)
{
    struct jit_abs addr = address_of(s, in), value = s->reg[in->op == SIMT_OP_FSW ? F(in->rs2) : in->rs2];
    enum jit_window window = jit_window_of(addr);
    unsigned slot = jit_slot_of(v, addr);

    if (window == JIT_VRAM || window == JIT_SHARED || (window != JIT_PRIVATE && addr.kind == JIT_CONST)) {
        return;
    }
    if (!is_word(in->op) || addr.kind != JIT_CONST || (addr.value & 3) != 0) {
        forget_slots(s);
    } else if (slot < JIT_SLOTS) {
        value.bits = JIT_BITS_ANY; /* in memory bits are exact */
        s->slot[slot] = masked ? jit_abs_of(JIT_VARYING) : value;
    }
}

void jit_abs_step(const struct jit_variant *v, struct jit_state *s, const struct simt_insn *in, uint32_t pc,
                  bool masked)
{
    uint64_t defs = jit_defs(in);
    enum simt_format format = simt_op_format(in->op);
    struct jit_abs r = defs ? jit_abs_insn(v, s, in, pc) : (struct jit_abs){0};

    if (format == SIMT_FMT_STORE || format == SIMT_FMT_FSTORE) {
        store_step(v, s, in, masked);
    } else if (format == SIMT_FMT_AMO || format == SIMT_FMT_LR) {
        forget_slots(s);
    }
    if (defs) {
        s->reg[__builtin_ctzll(defs)] = r;
    }
}

void jit_state_through(const struct jit_graph *g, const struct jit_variant *v, uint32_t i, bool masked,
                       struct jit_state *s)
{
    const struct jit_node *node = &g->nodes[i];

    for (uint32_t k = 0; k < node->count; k++) {
        jit_abs_step(v, s, &g->prog->insns[node->first + k], node->pc + 4 * k, masked);
    }
}

static bool is_header(const struct jit_graph *g, uint32_t i)
{
    return g->nodes[i].loop != JIT_NO_NODE && g->loops[g->nodes[i].loop].header == i;
}

struct jit_state *jit_analyse_full(const struct jit_graph *g, const struct jit_variant *v)
{
    struct jit_state *states = calloc(g->n, sizeof(*states));
    bool changed = states != NULL;

    if (states) {
        jit_state_entry(&states[0], v);
    }
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < g->n; i++) {
            if (states[i].reg[0].kind == JIT_UNSEEN) {
                continue;
            }
            struct jit_state s = states[i];
            jit_state_through(g, v, i, false, &s);
            for (unsigned k = 0; k < 2; k++) {
                uint32_t t = g->nodes[i].succ[k];
                changed |= t != JIT_NO_NODE && jit_state_merge(&states[t], &s, is_header(g, t));
            }
        }
    }
    return states;
}

bool jit_branch_is_uniform(const struct jit_graph *g, uint32_t i, const struct jit_state *s)
{
    const struct jit_node *node = &g->nodes[i];
    const struct simt_insn *in = &g->prog->insns[node->first + node->count - 1];
    return jit_compares_scalars(in->op, s->reg[in->rs1], s->reg[in->rs2]);
}

bool jit_compares_scalars(enum simt_op op, struct jit_abs a, struct jit_abs b)
{
    bool apart = a.kind == JIT_AFFINE && b.kind == JIT_AFFINE && a.value == b.value;
    return (a.kind <= JIT_UNIFORM && b.kind <= JIT_UNIFORM) ||
           (apart && (op == SIMT_OP_BEQ || op == SIMT_OP_BNE));
}

/* ---- masked bodies ---- */

static uint64_t chain_live(const struct jit_graph *g, const struct jit_masked *m, uint32_t i)
{
    uint64_t live = i + 1 < g->n ? m->live_entry[i + 1] : 0;
    for (uint32_t l = g->nodes[i].loop; l != JIT_NO_NODE && g->loops[l].last == i; l = g->loops[l].parent) {
        live |= m->live_entry[g->loops[l].header];
    }
    return live;
}

static void masked_liveness(const struct jit_graph *g, struct jit_masked *m)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t i = g->n; i-- > 0;) {
            uint64_t after = chain_live(g, m, i), entry = after | g->nodes[i].live_in;
            changed |= entry != m->live_entry[i] || after != m->live_after[i];
            m->live_after[i] = after;
            m->live_entry[i] = entry;
        }
    }
}

/* Where full bodies hand over to masked ones. */
static void seed(const struct jit_graph *g, const struct jit_variant *v, const struct jit_state *full,
                 struct jit_masked *m)
{
    if (!v->full_warps) {
        jit_state_merge(&m->entry[0], &full[0], false);
    }
    for (uint32_t i = 0; i < g->n; i++) {
        const struct jit_node *node = &g->nodes[i];
        struct jit_state s = full[i];
        uint32_t first = node->succ[0] < node->succ[1] ? node->succ[0] : node->succ[1];

        if (node->end != JIT_END_BRANCH || s.reg[0].kind == JIT_UNSEEN || node->succ[0] == JIT_NO_NODE ||
            node->succ[1] == JIT_NO_NODE) {
            continue;
        }
        jit_state_through(g, v, i, false, &s);
        if (!jit_branch_is_uniform(g, i, &s)) {
            jit_state_merge(&m->entry[first], &s, false);
        }
    }
}

/* What a masked body leaves: written registers differ between its lanes and the others. */
static void masked_through(const struct jit_graph *g, const struct jit_variant *v, const struct jit_masked *m,
                           uint32_t i, struct jit_state *s)
{
    struct jit_state entry = *s;
    const struct jit_node *node = &g->nodes[i];
    uint64_t written = 0;

    jit_state_through(g, v, i, true, s);
    for (uint32_t k = 0; k < node->count; k++) {
        written |= jit_defs(&g->prog->insns[node->first + k]);
    }
    for (unsigned r = 0; r < JIT_REGS; r++) {
        if (!(written & m->live_after[i] & 1ull << r)) {
            s->reg[r] = entry.reg[r];
            continue;
        }
        s->reg[r] = merge(entry.reg[r], s->reg[r], false);
        s->reg[r].kind = JIT_VARYING;
        s->reg[r].align = 0;
        s->reg[r].value = 0;
    }
}

static bool masked_step(const struct jit_graph *g, const struct jit_variant *v, struct jit_masked *m,
                        uint32_t i)
{
    struct jit_state s = m->entry[i];
    bool changed = jit_state_merge(&m->after[i], &s, false);

    masked_through(g, v, m, i, &s);
    changed |= jit_state_merge(&m->after[i], &s, false);
    for (uint32_t l = g->nodes[i].loop; l != JIT_NO_NODE && g->loops[l].last == i; l = g->loops[l].parent) {
        uint32_t h = g->loops[l].header;
        if (m->entry[h].reg[0].kind != JIT_UNSEEN) {
            changed |= jit_state_merge(&m->entry[h], &m->after[i], false);
        }
    }
    if (i + 1 < g->n) {
        changed |= jit_state_merge(&m->entry[i + 1], &m->after[i], false);
    }
    return changed;
}

/* A branch of a masked body may go back to a header where no masked body was known yet. */
static bool reach_headers(const struct jit_graph *g, struct jit_masked *m, uint32_t i)
{
    bool changed = false;
    for (unsigned k = 0; k < 2; k++) {
        uint32_t t = g->nodes[i].succ[k];
        if (t != JIT_NO_NODE && m->entry[t].reg[0].kind == JIT_UNSEEN) {
            changed |= jit_state_merge(&m->entry[t], &m->after[i], false);
        }
    }
    return changed;
}

struct jit_masked *jit_analyse_masked(const struct jit_graph *g, const struct jit_variant *v,
                                      const struct jit_state *full)
{
    size_t states = g->n * sizeof(struct jit_state), bits = g->n * sizeof(uint64_t);
    struct jit_masked *m = calloc(1, sizeof(*m) + 2 * states + 2 * bits);
    bool changed = true;

    if (!m) {
        return NULL;
    }
    m->live_entry = (uint64_t *)(m + 1);
    m->live_after = m->live_entry + g->n;
    m->entry = (struct jit_state *)(m->live_after + g->n);
    m->after = m->entry + g->n;
    masked_liveness(g, m);
    if (!v->exact) {
        seed(g, v, full, m);
    }
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < g->n; i++) {
            if (m->entry[i].reg[0].kind != JIT_UNSEEN) {
                changed |= masked_step(g, v, m, i);
                changed |= reach_headers(g, m, i);
            }
        }
    }
    return m;
}
