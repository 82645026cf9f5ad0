/* SPDX-License-Identifier: MIT */
#include "kernel.h"

/* One spin lock for the block, taken by all lanes of every warp; then one for the whole grid. */
static void with_lock(volatile u32 *lock, volatile u32 *counter, u32 amount)
{
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        ;
    *counter = *counter + amount;
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 t = thread_index(), g = global_index();

    with_lock(&SHARED[0], &SHARED[1], t + 1);
    with_lock(&scratch[0], &scratch[1], 3);
    barrier();
    out[g * OUT_WORDS] = SHARED[1];
}
