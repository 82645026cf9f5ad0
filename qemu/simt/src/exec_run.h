/* SPDX-License-Identifier: MIT */
/* Included twice by exec_body.h: RUN names the function, SIMT_FULL says whether it is for full warps. */

#define PUT(v) put(d, l, (v), set)

#define DISPATCH() goto *labels[ip->op]
#define NEXT()                                                                                               \
    do {                                                                                                     \
        ip++;                                                                                                \
        DISPATCH();                                                                                          \
    } while (0)

#define LEAVE(why)                                                                                           \
    do {                                                                                                     \
        stop = (why);                                                                                        \
        goto leave;                                                                                          \
    } while (0)

/* Go on at the start of block index, which is at address target. */
#define GO(index, target)                                                                                    \
    do {                                                                                                     \
        uint32_t next_ = (index);                                                                            \
        if (__builtin_expect(next_ == SIMT_NO_BLOCK, 0)) {                                                   \
            p->pc = (target);                                                                                \
            LEAVE(SIMT_STOP_MISS);                                                                           \
        }                                                                                                    \
        blk = &prog->blocks[next_];                                                                          \
        goto enter;                                                                                          \
    } while (0)

#define PC() (blk->pc + 4 * (uint32_t)(ip - insns - blk->first))

/* Integer result from integer registers a, b and the immediate i. */
#define OP_X(name, expr)                                                                                     \
    op_##name:                                                                                               \
    {                                                                                                        \
        uint32_t *d = w->x[ip->rd];                                                                          \
        const uint32_t *a = w->x[ip->rs1], *b = w->x[ip->rs2];                                               \
        uint32_t i = (uint32_t)ip->imm;                                                                      \
        (void)a, (void)b, (void)i;                                                                           \
        EACH (l) {                                                                                           \
            PUT(expr);                                                                                       \
        }                                                                                                    \
        NEXT();                                                                                              \
    }

/* Bit-pattern operation between register files, no rounding, no flags. */
#define OP_BITS(name, dfile, sfile, expr)                                                                    \
    op_##name:                                                                                               \
    {                                                                                                        \
        uint32_t *d = w->dfile[ip->rd];                                                                      \
        const uint32_t *a = w->sfile[ip->rs1], *b = w->sfile[ip->rs2];                                       \
        (void)b;                                                                                             \
        EACH (l) {                                                                                           \
            PUT(expr);                                                                                       \
        }                                                                                                    \
        NEXT();                                                                                              \
    }

/* The same, but flags matter: exact when they are observed. */
#define OP_QUIET(name, dfile, expr)                                                                          \
    op_##name:                                                                                               \
    {                                                                                                        \
        uint32_t *d = w->dfile[ip->rd];                                                                      \
        const uint32_t *a = w->f[ip->rs1], *b = w->f[ip->rs2];                                               \
        if (__builtin_expect(cu->track_flags, 0)) {                                                          \
            goto soft;                                                                                       \
        }                                                                                                    \
        EACH (l) {                                                                                           \
            PUT(expr);                                                                                       \
        }                                                                                                    \
        NEXT();                                                                                              \
    }

/* Rounded float arithmetic on a, b, c; the host rounds to nearest. */
#define OP_F(name, expr)                                                                                     \
    op_##name:                                                                                               \
    {                                                                                                        \
        uint32_t *d = w->f[ip->rd];                                                                          \
        const uint32_t *ra = w->f[ip->rs1], *rb = w->f[ip->rs2], *rc = w->f[ip->rs3];                        \
        if (__builtin_expect(w->rm_mode[ip->rm] != SIMT_RNE, 0)) {                                           \
            goto soft;                                                                                       \
        }                                                                                                    \
        EACH (l) {                                                                                           \
            float a = as_float(ra[l]), b = as_float(rb[l]), c = as_float(rc[l]);                             \
            (void)b, (void)c;                                                                                \
            PUT(canonical(expr));                                                                            \
        }                                                                                                    \
        NEXT();                                                                                              \
    }

/* Integer to float. */
#define OP_FROM_INT(name, type)                                                                              \
    op_##name:                                                                                               \
    {                                                                                                        \
        uint32_t *d = w->f[ip->rd];                                                                          \
        const uint32_t *a = w->x[ip->rs1];                                                                   \
        if (__builtin_expect(w->rm_mode[ip->rm] != SIMT_RNE, 0)) {                                           \
            goto soft;                                                                                       \
        }                                                                                                    \
        EACH (l) {                                                                                           \
            PUT(canonical((float)(type)a[l]));                                                               \
        }                                                                                                    \
        NEXT();                                                                                              \
    }

#define TO_INT(mode, convert)                                                                                \
    case mode:                                                                                               \
        EACH (l) {                                                                                           \
            PUT(convert(round_mode(as_float(a[l]), mode)));                                                  \
        }                                                                                                    \
        NEXT();

/* Float to integer, any static rounding but RMM. */
#define OP_TO_INT(name, convert)                                                                             \
    op_##name:                                                                                               \
    {                                                                                                        \
        uint32_t *d = w->x[ip->rd];                                                                          \
        const uint32_t *a = w->f[ip->rs1];                                                                   \
        switch (w->rm_mode[ip->rm]) {                                                                        \
            TO_INT(SIMT_RNE, convert)                                                                        \
            TO_INT(SIMT_RTZ, convert)                                                                        \
            TO_INT(SIMT_RDN, convert)                                                                        \
            TO_INT(SIMT_RUP, convert)                                                                        \
        default:                                                                                             \
            goto soft;                                                                                       \
        }                                                                                                    \
    }

#define OP_BRANCH(name, expr)                                                                                \
    op_##name:                                                                                               \
    {                                                                                                        \
        const uint32_t *a = w->x[ip->rs1], *b = w->x[ip->rs2];                                               \
        _Alignas(64) uint32_t taken[SIMT_LANES];                                                             \
        EACH (l) {                                                                                           \
            taken[l] = (expr) ? UINT32_MAX : 0;                                                              \
        }                                                                                                    \
        cu->split_lanes = sign_bits(taken) & set.mask;                                                       \
        goto branch;                                                                                         \
    }

#define ACCESS(call)                                                                                         \
    do {                                                                                                     \
        access = (call);                                                                                     \
        if (__builtin_expect(access != SIMT_ACCESS_OK, 0)) {                                                 \
            goto not_ok;                                                                                     \
        }                                                                                                    \
    } while (0)

#define OP_LOAD_WORD(name, dfile)                                                                            \
    op_##name : ACCESS(load_word(cu, w, w->x[ip->rs1], ip->imm, w->dfile[ip->rd], set, &bad));               \
    NEXT();

/* v is the zero-extended value loaded. */
#define OP_LOAD(name, size, expr)                                                                            \
    op_##name:                                                                                               \
    {                                                                                                        \
        uint32_t *d = w->x[ip->rd];                                                                          \
        set_addresses(w, w->x[ip->rs1], ip->imm);                                                            \
        ACCESS(simt_load(cu, w, set.mask, size, d, &bad));                                                   \
        EACH (l) {                                                                                           \
            uint32_t v = d[l];                                                                               \
            PUT(expr);                                                                                       \
        }                                                                                                    \
        NEXT();                                                                                              \
    }

#define OP_STORE_WORD(name, sfile)                                                                           \
    op_##name : ACCESS(store_word(cu, w, w->x[ip->rs1], ip->imm, w->sfile[ip->rs2], set, &bad));             \
    NEXT();

#define OP_STORE(name, size)                                                                                 \
    op_##name : set_addresses(w, w->x[ip->rs1], ip->imm);                                                    \
    ACCESS(simt_store(cu, w, set.mask, size, w->x[ip->rs2], &bad));                                          \
    NEXT();

static enum simt_stop RUN(struct simt_cu *cu, struct simt_warp *w, struct simt_path *p)
{
    static const void *const labels[SIMT_OP_COUNT] = {
#define X(name, mnemonic, mask, match, format) [SIMT_OP_##name] = &&op_##name,
        SIMT_OPS(X) // cppcheck-suppress assignBoolToPointer
#undef X
            [SIMT_OP_ILLEGAL] = &&op_ILLEGAL,
        [SIMT_OP_END] = &&op_END,
    };
    const struct lane_set set = {.full = SIMT_FULL, .mask = SIMT_FULL ? UINT32_MAX : p->mask, .m = w->lanes};
    const struct simt_program *const prog = cu->prog;
    const struct simt_insn *const insns = prog->insns, *ip;
    const struct simt_path *const join = p->parent >= 0 ? &w->tree.path[p->parent] : NULL;
    const uint32_t join_pc = join ? join->pc : SIMT_NO_PC;
    const int32_t join_depth = join ? join->depth : INT32_MIN;
    const uint32_t frontier = cu->frontier;
    const bool join_at_return = join && join->at_return;
    const struct simt_block *blk;
    enum simt_access access;
    enum simt_stop stop;
    const int32_t start_depth = p->depth;
    int32_t depth = start_depth;
    int64_t fuel = cu->fuel, start_fuel = fuel;
    uint32_t bad = 0, offset;

    if (!SIMT_FULL) {
        EACH (l) {
            w->lanes[l] = 0u - (set.mask >> l & 1);
        }
    }
    /* Start at p->pc, which may be in the middle of a block and is not looked at for a join. */
    blk = simt_program_find(prog, p->pc, &offset);
    if (!blk) {
        LEAVE(SIMT_STOP_MISS);
    }
    goto start;

    /* Go on at p->pc after an indirect jump. */
find:
    blk = simt_program_find(prog, p->pc, &offset);
    if (!blk) {
        LEAVE(SIMT_STOP_MISS);
    }
    if (offset == 0) {
        goto enter;
    }
start:
    if (fuel <= 0) {
        LEAVE(SIMT_STOP_FUEL);
    }
    fuel -= blk->count - offset;
    ip = insns + blk->first + offset;
    DISPATCH();

    /* Go on at the start of blk. */
enter:
    if ((blk->pc == join_pc && depth == join_depth) || (blk->order >= frontier && depth == start_depth)) {
        p->pc = blk->pc;
        LEAVE(SIMT_STOP_JOIN);
    }
    if (fuel <= 0) {
        p->pc = blk->pc;
        LEAVE(SIMT_STOP_FUEL);
    }
    fuel -= blk->count;
    ip = insns + blk->first;
    DISPATCH();

op_END:
    GO(blk->fall, PC());

    OP_X(LUI, i)
    OP_X(ADDI, a[l] + i)
    OP_X(SLTI, (int32_t)a[l] < (int32_t)i)
    OP_X(SLTIU, a[l] < i)
    OP_X(XORI, a[l] ^ i)
    OP_X(ORI, a[l] | i)
    OP_X(ANDI, a[l] & i)
    OP_X(SLLI, a[l] << i)
    OP_X(SRLI, a[l] >> i)
    OP_X(SRAI, (uint32_t)((int32_t)a[l] >> i))
    OP_X(ADD, a[l] + b[l])
    OP_X(SUB, a[l] - b[l])
    OP_X(SLL, a[l] << (b[l] & 31))
    OP_X(SLT, (int32_t)a[l] < (int32_t)b[l])
    OP_X(SLTU, a[l] < b[l])
    OP_X(XOR, a[l] ^ b[l])
    OP_X(SRL, a[l] >> (b[l] & 31))
    OP_X(SRA, (uint32_t)((int32_t)a[l] >> (b[l] & 31)))
    OP_X(OR, a[l] | b[l])
    OP_X(AND, a[l] & b[l])
    OP_X(MUL, a[l] * b[l])
    OP_X(MULH, mulh_signed(a[l], b[l]))
    OP_X(MULHSU, mulh_mixed(a[l], b[l]))
    OP_X(MULHU, mulh_unsigned(a[l], b[l]))
    OP_X(DIV, div_signed(a[l], b[l]))
    OP_X(DIVU, div_unsigned(a[l], b[l]))
    OP_X(REM, rem_signed(a[l], b[l]))
    OP_X(REMU, rem_unsigned(a[l], b[l]))

op_AUIPC: {
    uint32_t *d = w->x[ip->rd], value = PC() + (uint32_t)ip->imm;
    EACH (l) {
        PUT(value);
    }
    NEXT();
}

    OP_LOAD_WORD(LW, x)
    OP_LOAD_WORD(FLW, f)
    OP_LOAD(LB, 1, (uint32_t)(int8_t)v)
    OP_LOAD(LBU, 1, v)
    OP_LOAD(LH, 2, (uint32_t)(int16_t)v)
    OP_LOAD(LHU, 2, v)
    OP_STORE_WORD(SW, x)
    OP_STORE_WORD(FSW, f)
    OP_STORE(SB, 1)
    OP_STORE(SH, 2)

op_LR:
op_SC:
op_AMOADD:
op_AMOSWAP:
op_AMOXOR:
op_AMOOR:
op_AMOAND:
op_AMOMIN:
op_AMOMAX:
op_AMOMINU:
op_AMOMAXU:
    set_addresses(w, w->x[ip->rs1], 0);
    ACCESS(simt_atomic(cu, w, set.mask, ip->op, w->x[ip->rs2], w->x[ip->rd], &bad));
    if (cu->turn_atomics >= SIMT_TURN_ATOMICS) { /* start no other block */
        start_fuel -= fuel > 0 ? fuel : 0;
        fuel -= fuel > 0 ? fuel : 0;
    }
    NEXT();

op_FENCE:
    atomic_thread_fence(memory_order_seq_cst);
    NEXT();

    OP_F(FMADD, __builtin_fmaf(a, b, c))
    OP_F(FMSUB, __builtin_fmaf(a, b, -c))
    OP_F(FNMSUB, __builtin_fmaf(-a, b, c))
    OP_F(FNMADD, __builtin_fmaf(-a, b, -c))
    OP_F(FADD, a + b)
    OP_F(FSUB, a - b)
    OP_F(FMUL, a * b)
    OP_F(FDIV, a / b)
    OP_F(FSQRT, __builtin_sqrtf(a))
    OP_BITS(FSGNJ, f, f, (a[l] & ~SIMT_F32_SIGN) | (b[l] & SIMT_F32_SIGN))
    OP_BITS(FSGNJN, f, f, (a[l] & ~SIMT_F32_SIGN) | (~b[l] & SIMT_F32_SIGN))
    OP_BITS(FSGNJX, f, f, a[l] ^ (b[l] & SIMT_F32_SIGN))
    OP_BITS(FMV_X, x, f, a[l])
    OP_BITS(FMV_W, f, x, a[l])
    OP_BITS(FCLASS, x, f, simt_f32_class(a[l]))
    OP_QUIET(FMIN, f, float_min(a[l], b[l]))
    OP_QUIET(FMAX, f, float_max(a[l], b[l]))
    OP_QUIET(FEQ, x, as_float(a[l]) == as_float(b[l]))
    OP_QUIET(FLT, x, as_float(a[l]) < as_float(b[l]))
    OP_QUIET(FLE, x, as_float(a[l]) <= as_float(b[l]))
    OP_TO_INT(FCVT_W, float_to_i32)
    OP_TO_INT(FCVT_WU, float_to_u32)
    OP_FROM_INT(FCVT_S_W, int32_t)
    OP_FROM_INT(FCVT_S_WU, uint32_t)

soft:
    bad = simt_soft_fp(w, set.mask, ip);
    if (__builtin_expect(bad != 0, 0)) {
        goto illegal;
    }
    NEXT();

op_FCVT_S_BF16:
op_FCVT_BF16_S:
op_FCVT_S_E4M3:
op_FCVT_E4M3_S:
op_FCVT_S_E5M2:
op_FCVT_E5M2_S:
op_FCVT_S_E2M1:
op_FCVT_E2M1_S:
    simt_soft_narrow(w, set.mask, ip);
    NEXT();

op_CSRRW:
op_CSRRS:
op_CSRRC:
op_CSRRWI:
op_CSRRSI:
op_CSRRCI:
    simt_soft_csr(cu, w, set.mask, ip,
                  p->retired + (uint64_t)(start_fuel - fuel) -
                      (blk->count - (uint32_t)(ip - insns - blk->first)));
    NEXT();

    OP_BRANCH(BEQ, a[l] == b[l])
    OP_BRANCH(BNE, a[l] != b[l])
    OP_BRANCH(BLT, (int32_t)a[l] < (int32_t)b[l])
    OP_BRANCH(BGE, (int32_t)a[l] >= (int32_t)b[l])
    OP_BRANCH(BLTU, a[l] < b[l])
    OP_BRANCH(BGEU, a[l] >= b[l])

branch:
    if (cu->split_lanes == set.mask) {
        GO(blk->taken, PC() + (uint32_t)ip->imm);
    }
    if (cu->split_lanes == 0) {
        GO(blk->fall, PC() + 4);
    }
    p->pc = PC();
    cu->split_block = blk;
    LEAVE(SIMT_STOP_BRANCH);

op_JAL: {
    uint32_t *d = w->x[ip->rd], link = PC() + 4;
    EACH (l) {
        PUT(link);
    }
    depth += simt_is_call(ip);
    GO(blk->taken, link - 4 + (uint32_t)ip->imm);
}

op_JALR: {
    uint32_t *d = w->x[ip->rd], link = PC() + 4, differs = 0;
    const uint32_t *a = w->x[ip->rs1];
    uint32_t first = (a[SIMT_FULL ? 0 : __builtin_ctz(set.mask)] + (uint32_t)ip->imm) & ~1u;
    EACH (l) {
        w->target[l] = (a[l] + (uint32_t)ip->imm) & ~1u;
        differs |= (w->target[l] ^ first) & (SIMT_FULL ? UINT32_MAX : set.m[l]);
    }
    EACH (l) {
        PUT(link);
    }
    depth += simt_is_call(ip) - simt_is_return(ip);
    cu->split_block = blk;
    if (differs != 0) {
        p->pc = PC();
        LEAVE(SIMT_STOP_INDIRECT);
    }
    p->pc = first;
    if (depth == join_depth && join_at_return) {
        LEAVE(SIMT_STOP_JOIN);
    }
    goto find;
}

op_EBREAK:
    p->pc = PC();
    LEAVE(SIMT_STOP_EXIT);

op_ILLEGAL:
    bad = set.mask;
illegal:
    simt_raise(cu, w, p, SIMT_ILLEGAL_INSN, bad, PC(), ip->word, 0);
    goto fault;

    /* A memory instruction that faulted or reached the barrier. */
not_ok:
    p->pc = PC();
    if (access == SIMT_ACCESS_BARRIER) {
        p->pc += 4;
        ip++;
        fuel += blk->count - (uint32_t)(ip - insns - blk->first);
        cu->split_lanes = bad;
        LEAVE(SIMT_STOP_BARRIER);
    }
    simt_raise(cu, w, p, access == SIMT_ACCESS_ALIGN ? SIMT_MISALIGNED_ATOMIC : SIMT_ACCESS_FAULT, bad, PC(),
               ip->word, w->addr[__builtin_ctz(bad)]);
fault:
    p->pc = PC();
    fuel += blk->count - (uint32_t)(ip - insns - blk->first);
    LEAVE(SIMT_STOP_FAULT);

leave:
    p->depth = depth;
    uint64_t retired = (uint64_t)(start_fuel - fuel);
    p->retired += retired;
    simt_count(&cu->counters.insns, retired);
    simt_count(&cu->counters.lane_insns, retired * lane_count(set));
    return stop;
}

#undef PUT
#undef DISPATCH
#undef NEXT
#undef LEAVE
#undef GO
#undef PC
#undef OP_X
#undef OP_BITS
#undef OP_QUIET
#undef OP_F
#undef OP_FROM_INT
#undef TO_INT
#undef OP_TO_INT
#undef OP_BRANCH
#undef ACCESS
#undef OP_LOAD_WORD
#undef OP_LOAD
#undef OP_STORE_WORD
#undef OP_STORE
