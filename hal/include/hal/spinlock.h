// SPDX-License-Identifier: MIT
// Spin locks: for what an interrupt handler shares with threads, and for short sections that harts share. A
// holder does not wait, and does not take the same lock again. With one hart they cost nothing.
#ifndef HAL_SPINLOCK_H
#define HAL_SPINLOCK_H

#include "hal/cpu.h"
#include "hal/types.h"

// Free when zero.
struct spinlock {
    uint32_t held;
};

#ifdef CONFIG_SMP
static inline void spin_lock(struct spinlock *lock)
{
    while (__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(&lock->held, __ATOMIC_RELAXED))
            cpu_relax();
}

static inline void spin_unlock(struct spinlock *lock)
{
    __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
}
#else
#define spin_lock(lock)   ((void)(lock))
#define spin_unlock(lock) ((void)(lock))
#endif

// With interrupts disabled on this hart too: for a lock that handlers take. Returns what the unlock wants.
static inline unsigned long spin_lock_irq(struct spinlock *lock)
{
    unsigned long flags = cpu_irq_save();
    spin_lock(lock);
    return flags;
}

static inline void spin_unlock_irq(struct spinlock *lock, unsigned long flags)
{
    spin_unlock(lock);
    cpu_irq_restore(flags);
}

#endif
