/* SPDX-License-Identifier: MIT */
/* Kernels of the SIMT tests. Each writes one word a thread into out[] (or what it says), so that a run with
 * warps of 32 can be compared with a run of single threads. out has room for all threads; in is random words.
 */
typedef unsigned int u32;

#define CTRL(offset) (*(volatile u32 *)(0x80000000u + (offset)))
#define SHARED       ((volatile u32 *)0x90000000u)
#define OPAQUE(x)    __asm__ volatile("" : "+r"(x))

static inline void barrier(void)
{
    *(volatile u32 *)0x80001000u = 0;
    __asm__ volatile("" ::: "memory");
}

static inline u32 thread_in_block(void)
{
    return (CTRL(8) * CTRL(0x24) + CTRL(4)) * CTRL(0x20) + CTRL(0);
}

static inline u32 block_index(void)
{
    return (CTRL(0x18) * CTRL(0x34) + CTRL(0x14)) * CTRL(0x30) + CTRL(0x10);
}

static inline u32 block_threads(void)
{
    return CTRL(0x20) * CTRL(0x24) * CTRL(0x28);
}

static inline u32 thread(void)
{
    return block_index() * block_threads() + thread_in_block();
}

static inline u32 hash(u32 x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

void k_ids(u32 *out)
{
    u32 t = thread();
    out[t] = CTRL(0) | CTRL(4) << 10 | CTRL(8) << 20;
}

/* What tells a thread where it is. */
void k_places(u32 *out)
{
    u32 hart;
    __asm__("csrr %0, mhartid" : "=r"(hart));
    out[thread()] = hash(CTRL(0x10)) + hash(CTRL(0x14) + 1000) + hash(CTRL(0x18) + 2000) +
                    hash(CTRL(0x40) + 3000) + hash(CTRL(0x44) + 4000) + hash(hart);
}

/* All blocks write the same words. */
void k_last_block(u32 *out)
{
    out[thread_in_block()] = block_index();
}

void k_if_else(u32 *out, const u32 *in)
{
    u32 t = thread(), v = in[t];
    if (v & 1) {
        v = v * 3 + 1;
        OPAQUE(v);
    } else {
        v = v / 2;
        OPAQUE(v);
    }
    out[t] = v + t;
}

/* Each level: three quarters of the lanes go in, the others take the other arm. */
#define LEVEL(k, inner)                                                                                      \
    if (hash(v + (k)) & 3) {                                                                                 \
        a = a * 3 + (k);                                                                                     \
        OPAQUE(a);                                                                                           \
        inner a ^= (k) << 3;                                                                                 \
        OPAQUE(a);                                                                                           \
    } else {                                                                                                 \
        a = a * 5 + (k);                                                                                     \
        OPAQUE(a);                                                                                           \
    }
#define LEVELS5(k, inner) LEVEL(k, LEVEL(k + 1, LEVEL(k + 2, LEVEL(k + 3, LEVEL(k + 4, inner)))))
#define NOTHING

void k_nested10(u32 *out, const u32 *in)
{
    u32 t = thread(), v = in[t], a = 1;
    LEVELS5(0, LEVELS5(5, NOTHING))
    out[t] = a;
}

/* Forty deep through calls that are inlined by hand: gcc keeps every level as a branch. */
#define LEVEL40(k, inner)                                                                                    \
    if ((v >> ((k) & 31) & 1) || (k) < (v & 63)) {                                                           \
        a = a * 3 + (k);                                                                                     \
        OPAQUE(a);                                                                                           \
        inner a += (k);                                                                                      \
        OPAQUE(a);                                                                                           \
    } else {                                                                                                 \
        a ^= 0x55 + (k);                                                                                     \
        OPAQUE(a);                                                                                           \
    }
#define L40_5(k, inner) LEVEL40(k, LEVEL40(k + 1, LEVEL40(k + 2, LEVEL40(k + 3, LEVEL40(k + 4, inner)))))

void k_nested40(u32 *out, const u32 *in)
{
    u32 t = thread(), v = in[t], a = 1;
    L40_5(0, L40_5(5, L40_5(10, L40_5(15, L40_5(20, L40_5(25, L40_5(30, L40_5(35, NOTHING))))))))
    out[t] = a;
}

void k_trip_counts(u32 *out, const u32 *in)
{
    u32 t = thread(), a = 0;
    for (u32 i = 0; i < in[t] % 97; i++) {
        for (u32 j = 0; j < (in[t] >> 8) % 5; j++) {
            a = a * 31 + i + j;
            OPAQUE(a);
        }
    }
    out[t] = a;
}

void k_break_continue(u32 *out, const u32 *in)
{
    u32 t = thread(), v = in[t], a = 0;
    for (u32 i = 0; i < 50; i++) {
        v = hash(v);
        if ((v & 7) == 1) {
            continue;
        }
        a += i;
        OPAQUE(a);
        if ((v & 31) == 2) {
            break;
        }
        for (;;) {
            v = hash(v + 1);
            if ((v & 3) == 0) {
                break;
            }
            if ((v & 63) == 5) {
                goto out;
            }
            a ^= v;
            OPAQUE(a);
        }
    }
out:
    out[t] = a;
}

void k_multi_exit(u32 *out, const u32 *in)
{
    u32 t = thread(), v = in[t];
    for (u32 i = 0; i < 100; i++) {
        v = hash(v);
        if ((v & 15) == 0) {
            out[t] = v;
            return;
        }
        if ((v & 15) == 1) {
            out[t] = i;
            __asm__ volatile("ebreak");
        }
        if ((v & 31) == 2) {
            out[t] = v ^ i;
            return;
        }
    }
    out[t] = 7;
}

/* A bounds check whose out-of-range lanes end; the others go on with loops and branches. */
void k_early_exit(u32 *out, const u32 *in, u32 n)
{
    u32 t = thread(), a = 0;
    if (in[t] % 100 >= n) {
        out[t] = 1;
        __asm__ volatile("ebreak");
    }
    for (u32 i = 0; i < in[t] % 13; i++) {
        a += hash(i + t);
        OPAQUE(a);
    }
    out[t] = a;
}

void k_jump_table(u32 *out, const u32 *in)
{
    u32 t = thread(), a = in[t];
    for (u32 i = 0; i < 6; i++) {
        switch (a % 9) {
        case 0:
            a = a * 3 + 1;
            break;
        case 1:
            a = hash(a);
            /* fall through */
        case 2:
            a ^= t;
            break;
        case 3:
            a = a / 7;
            break;
        case 4:
            for (u32 j = 0; j < (a & 7); j++) {
                a += j;
                OPAQUE(a);
            }
            break;
        case 5:
            out[t] = a;
            return;
        case 6:
            a = ~a;
            break;
        case 7:
            continue;
        default:
            a += 1000;
            break;
        }
        a += i;
        OPAQUE(a);
    }
    out[t] = a;
}

__attribute__((noinline)) static u32 ackermannish(u32 n, u32 v)
{
    volatile u32 local = v; /* lives on the stack */
    if (n == 0) {
        return local + 1;
    }
    if (v & 1) {
        return ackermannish(n - 1, v >> 1) + local;
    }
    return ackermannish(n - 1, v + 3) * 3 + ackermannish(n / 2, v >> 2) + local;
}

void k_recursion(u32 *out, const u32 *in)
{
    u32 t = thread();
    out[t] = ackermannish(in[t] % 9, in[t] >> 4);
}

__attribute__((noinline)) static u32 f0(u32 v)
{
    return v + 1;
}
__attribute__((noinline)) static u32 f1(u32 v)
{
    return hash(v);
}
__attribute__((noinline)) static u32 f2(u32 v)
{
    u32 a = v;
    for (u32 i = 0; i < (v & 15); i++) {
        a = a * 3 + i;
        OPAQUE(a);
    }
    return a;
}
__attribute__((noinline)) static u32 f3(u32 v)
{
    return v & 1 ? f1(v) : f2(v) + 1;
}

static u32 (*const functions[])(u32) = {f0, f1, f2, f3};

void k_function_pointers(u32 *out, const u32 *in)
{
    u32 t = thread(), a = in[t];
    for (u32 i = 0; i < 8; i++) {
        a = functions[a & 3](a) + i;
    }
    out[t] = a;
}

/* Two entries into one loop. */
void k_irreducible(u32 *out, const u32 *in)
{
    u32 t = thread(), v = in[t], a = 0, i = 0;
    OPAQUE(v);
    if (v & 1) {
        goto second;
    }
first:
    a = a * 3 + 1;
    OPAQUE(a);
    if (i++ > (v >> 8) % 20) {
        goto done;
    }
second:
    a ^= v + i;
    OPAQUE(a);
    if (i++ > (v >> 16) % 20) {
        goto done;
    }
    if ((a & 7) == 3) {
        goto second;
    }
    goto first;
done:
    out[t] = a;
}

/* Arms that both end on their own. */
void k_never_rejoin(u32 *out, const u32 *in)
{
    u32 t = thread(), v = in[t];
    if (v & 1) {
        for (u32 i = 0; i < (v >> 4) % 10; i++) {
            v = hash(v);
        }
        out[t] = v;
        __asm__ volatile("ebreak");
        __builtin_unreachable();
    }
    if (v & 2) {
        out[t] = v * 9;
        __asm__ volatile("ebreak");
        __builtin_unreachable();
    }
    out[t] = v ^ t;
    __asm__ volatile("ebreak");
    __builtin_unreachable();
}

void k_short_circuit(u32 *out, const u32 *in)
{
    u32 t = thread(), a = in[t], b = hash(a), c = hash(b), r = 0;
    if ((a & 1 && b & 1) || (c & 1 && !(a & 2))) {
        r |= 1;
        OPAQUE(r);
    }
    if (((a & 4) || (b & 4)) && ((c & 4) || (a & 8))) {
        r |= 2;
        OPAQUE(r);
    }
    out[t] = r | (a & b & 16 ? 4 : 8);
}

/* Bytes, halves and misaligned words to different places from different arms. out has 8 bytes a thread. */
void k_divergent_stores(unsigned char *out, const u32 *in)
{
    u32 t = thread(), v = in[t];
    unsigned char *p = out + 8 * t;
    if (v & 1) {
        p[v >> 1 & 7] = (unsigned char)v;
    } else if (v & 2) {
        *(volatile unsigned short *)(p + (v >> 2 & 3)) = (unsigned short)v;
    } else {
        *(volatile u32 *)(p + (v >> 2 & 3)) = v;
    }
    out[8 * t + 7] = (unsigned char)(*(volatile signed char *)(p + (v >> 5 & 3)) >> 1);
}

/* Sum of the block by halving in shared memory; barriers in uniform code, also across warps. out: a word a
 * block. */
void k_reduce(u32 *out, const u32 *in)
{
    u32 i = thread_in_block(), n = block_threads();
    SHARED[i] = in[thread()];
    barrier();
    for (u32 width = 1024; width > 0; width /= 2) {
        if (i < width && i + width < n) {
            SHARED[i] += SHARED[i + width];
        }
        barrier();
    }
    if (i == 0) {
        out[block_index()] = SHARED[0];
    }
}

/* Each arm has its own barrier, and a quarter of the threads ends before it. */
void k_divergent_barrier(u32 *out, const u32 *in)
{
    u32 i = thread_in_block(), n = block_threads();
    SHARED[i] = in[thread()];
    out[thread()] = 5;
    if (i % 4 == 3) {
        return;
    }
    if (i % 4 == 1) {
        SHARED[i] = i;
        barrier();
    } else {
        SHARED[i] = i * 3;
        barrier();
    }
    u32 j = (i + 2) % n;
    out[thread()] = j % 4 == 3 ? 9 : SHARED[j];
}

static inline u32 swap(volatile u32 *p, u32 v)
{
    u32 old;
    __asm__ volatile("amoswap.w %0, %2, (%1)" : "=r"(old) : "r"(p), "r"(v) : "memory");
    return old;
}

/* A plain spin lock taken by every thread: lanes of a warp, warps and blocks wait for each other.
 * out[0] is the lock, out[1] a counter that is only right under mutual exclusion. */
void k_spin_lock(volatile u32 *out)
{
    while (swap(&out[0], 1) != 0) {
    }
    u32 v = out[1];
    OPAQUE(v);
    out[1] = v + 1;
    __asm__ volatile("fence" ::: "memory");
    swap(&out[0], 0);
}

/* Thread 0 waits for a plain store of the last thread of the block, which may be in its warp or another. */
void k_wait_for_flag(volatile u32 *out)
{
    u32 t = thread_in_block(), n = block_threads();
    if (t == 0) {
        while (n > 1 && SHARED[0] == 0) {
        }
        out[0] = 1;
    } else if (t == n - 1) {
        SHARED[0] = 1;
    }
}

/* out[0] counts threads by lr/sc, out[1] by amoadd, out[2] is their maximum. */
void k_atomics(volatile u32 *out)
{
    u32 t = thread(), old, failed, unused;
    do {
        __asm__ volatile("lr.w %0, (%3)\n addi %1, %0, 1\n sc.w %2, %1, (%3)"
                         : "=&r"(old), "=&r"(unused), "=&r"(failed)
                         : "r"(&out[0])
                         : "memory");
    } while (failed);
    __asm__ volatile("amoadd.w zero, %1, (%0)" ::"r"(&out[1]), "r"(1) : "memory");
    __asm__ volatile("amomaxu.w zero, %1, (%0)" ::"r"(&out[2]), "r"(t) : "memory");
    __asm__ volatile("amomin.w zero, %1, (%0)" ::"r"(&out[3]), "r"(-t) : "memory");
    __asm__ volatile("amoor.w zero, %1, (%0)" ::"r"(&out[4]), "r"(t) : "memory");
    __asm__ volatile("amoxor.w zero, %1, (%0)" ::"r"(&out[5]), "r"(hash(t)) : "memory");
    __asm__ volatile("amoand.w zero, %1, (%0)" ::"r"(&out[6]), "r"(~t) : "memory");
}

/* out[2t] = ballot of odd inputs, out[2t+1] = neighbour's value through the exchange window. */
void k_ballot_shuffle(u32 *out, const u32 *in)
{
    u32 t = thread(), lane = CTRL(0x44);
    volatile u32 *ballot = (volatile u32 *)0x80001010u, *window = (volatile u32 *)0x80001100u;
    *ballot = in[t] & 1;
    out[2 * t] = *ballot;
    window[lane] = in[t];
    out[2 * t + 1] = window[lane ^ 1];
}

void k_mandelbrot(u32 *out)
{
    u32 t = thread();
    float cx = (float)(int)(t % 64) / 24.0f - 2.0f, cy = (float)(int)(t / 64) / 24.0f - 1.3f, x = 0, y = 0;
    u32 i = 0;
    while (i < 60 && x * x + y * y < 4.0f) {
        float nx = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = nx;
        i++;
    }
    out[t] = i;
}

/* Fills and checks 512 bytes of stack, also with byte and misaligned accesses. */
void k_private(u32 *out, const u32 *in)
{
    volatile unsigned char bytes[512];
    u32 t = thread(), sum = 0;
    for (u32 i = 0; i < sizeof(bytes); i += 4) {
        *(volatile u32 *)(bytes + i) = hash(in[t] + i);
    }
    for (u32 i = 0; i < sizeof(bytes) - 4; i += 13) {
        sum = sum * 31 + *(volatile u32 *)(bytes + i) + bytes[(in[t] + i) % sizeof(bytes)];
    }
    out[t] = sum;
}

/* Reads fresh private and shared memory: it must be zero whatever earlier blocks left there. */
void k_is_zeroed(u32 *out)
{
    volatile u32 *stack = (volatile u32 *)0xA0000000u;
    u32 sum = 0, t = thread_in_block(), n = block_threads();
    for (u32 i = 0; i < 64; i++) {
        sum |= stack[i * 64];
    }
    sum |= SHARED[t];
    barrier();
    SHARED[t] = 0xdead;
    for (u32 i = 0; i < 64; i++) {
        stack[i * 64] = t + 1;
    }
    out[block_index() * n + t] = sum;
}

/* instret between two reads, with divergence in between. At the image's beginning: see kernels.S. */
__attribute__((section(".text.startup"))) void k_instret(u32 *out, const u32 *in)
{
    u32 t = thread(), v = in[t], start, end;
    __asm__ volatile("csrr %0, instret" : "=r"(start));
    for (u32 i = 0; i < v % 17; i++) {
        if (hash(v + i) & 1) {
            v++;
            OPAQUE(v);
        }
    }
    __asm__ volatile("csrr %0, instret" : "=r"(end));
    out[2 * t] = start;
    out[2 * t + 1] = end;
}

/* A loop that ends where a pointer of the thread's own gets to another one. */
void k_pointer_loop(u32 *out, const u32 *in)
{
    const u32 *p = in + thread(), *end = p + 37 * 64;
    u32 sum = 0;
    do {
        sum = hash(sum ^ *p);
        p += 64;
        OPAQUE(p);
    } while (p != end);
    out[thread()] = sum;
}

/* Words at an address that is the same in all lanes, `shift` bytes behind an aligned one. */
void k_uniform_words(u32 *out, const u32 *in, u32 shift)
{
    const char *p = (const char *)in + shift;
    u32 sum = 0;
    for (u32 i = 0; i < 40; i++, p += 12) {
        sum = hash(sum ^ ((const u32 *)p)[0]) + ((const u32 *)p)[2];
    }
    out[thread()] = sum;
}

/* Words of the stack that are the same in all lanes, or as far apart, or no longer: written over by some
 * lanes, by a byte, at an index that nobody knows, and on the other side of a barrier. The load in the loop
 * may be misaligned, which compiled code leaves to the interpreter. */
void k_stack_slots(u32 *out, const u32 *in, u32 shift)
{
    volatile u32 *volatile shared = SHARED;
    const u32 *volatile mine = in + thread();
    volatile u32 uniform = 5, some = 9, byte = 0x01020304, any[4] = {1, 2, 3, 4};
    u32 t = thread_in_block(), sum = 0;
    for (u32 i = 0; i < uniform; i++) {
        sum = hash(sum ^ mine[64 * i] ^ *(const u32 *)((const char *)in + shift + 4 * i));
        if (i == 1 && (sum & 3) == 0) {
            some = sum;
        }
        if (i == 2) {
            ((volatile unsigned char *)&byte)[1] = (unsigned char)sum;
        }
        any[sum & 3] += some;
        sum += byte + any[i & 3];
    }
    shared[t] = sum;
    barrier();
    out[thread()] = shared[t ^ 1] + some + byte + uniform + any[1];
}
