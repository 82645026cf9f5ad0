// SPDX-License-Identifier: MIT
// Threads and what they wait with. case=stack in the command line (or as argument) overruns a thread's stack.
#include "threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/test.h"
#include "core/util.h"
#include "hal/machine.h"
#include "hal/panic.h"
#include "hal/time.h"

#define MS UINT64_C(1000000) // in nanoseconds

struct thread *start(const char *name, int (*fn)(void *), void *arg)
{
    struct thread *thread = thread_create(name, fn, arg, 0);
    if (!thread)
        panic("no memory for thread %s", name);
    return thread;
}

static int return_argument(void *arg)
{
    thread_yield();
    return *(int *)arg;
}

static void test_join(void)
{
    enum { COUNT = 50 };
    struct thread *threads[COUNT];
    int values[COUNT], right = 0;
    for (int i = 0; i < COUNT; i++) {
        values[i] = i * i;
        threads[i] = start("worker", return_argument, &values[i]);
    }
    for (int i = COUNT; i-- > 0;)
        right += thread_join(threads[i]) == values[i];
    check(right == COUNT, "%d threads returned their argument", right);
    check(strcmp(thread_name(thread_self()), "main") == 0, "this thread is \"%s\"",
          thread_name(thread_self()));
}

// Own copies: errno, and the registers that a function call preserves.
static int keep_own(void *arg)
{
    int mine = *(int *)arg, kept = 0;
    double x = mine;
    errno = mine;
    for (int i = 0; i < 100; i++) {
        x += 0.5;
        thread_yield();
        kept += errno == mine && x == mine + 0.5 * (i + 1);
    }
    return kept;
}

static void test_own_state(void)
{
    int one = 1, two = 2;
    struct thread *a = start("one", keep_own, &one), *b = start("two", keep_own, &two);
    int kept_a = thread_join(a), kept_b = thread_join(b);
    check(kept_a == 100 && kept_b == 100, "errno and numbers are a thread's own (%d, %d of 100)", kept_a,
          kept_b);
}

struct ticket {
    struct semaphore *turn, *next;
    char *text;
    char letter;
};

static int write_in_turn(void *arg)
{
    struct ticket *t = arg;
    for (int round = 0; round < 3; round++) {
        semaphore_wait(t->turn, WAIT_FOREVER);
        t->text[strlen(t->text)] = t->letter;
        semaphore_post(t->next);
    }
    return 0;
}

static void test_semaphore(void)
{
    char text[16] = "";
    struct semaphore turns[3];
    struct ticket tickets[3];
    struct thread *threads[3];
    for (int i = 0; i < 3; i++)
        semaphore_init(&turns[i], i == 0);
    for (int i = 0; i < 3; i++)
        tickets[i] = (struct ticket){&turns[i], &turns[(i + 1) % 3], text, (char)('a' + i)};
    for (int i = 3; i-- > 0;)
        threads[i] = start("writer", write_in_turn, &tickets[i]);
    for (int i = 0; i < 3; i++)
        thread_join(threads[i]);
    check(strcmp(text, "abcabcabc") == 0, "semaphores hand the turn on: %s", text);
    check(semaphore_wait(&turns[1], time_now_ns() + 2 * MS) == -ETIMEDOUT, "a semaphore's deadline passes");
    check(semaphore_wait(&turns[0], 0) == 0, "a semaphore that has one gives it without waiting");
}

static struct mutex mutex = MUTEX_INIT(mutex);
static volatile int inside, worst;
static long balance;

// Gives way in the middle of the section, so that without exclusion the others would be inside too.
static int deposit(void *arg)
{
    (void)arg;
    for (int i = 0; i < 200; i++) {
        mutex_lock(&mutex);
        long old = balance;
        if (++inside > worst)
            worst = inside;
        thread_yield();
        balance = old + 1;
        inside--;
        mutex_unlock(&mutex);
    }
    return 0;
}

static void test_mutex(void)
{
    struct thread *threads[4];
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
        threads[i] = start("deposit", deposit, NULL);
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
        thread_join(threads[i]);
    check(balance == 800 && worst == 1, "a mutex let %d in at a time: %ld of 800 counted", worst, balance);
    check(mutex_try_lock(&mutex) && !mutex_try_lock(&mutex), "a mutex is taken once");
    mutex_unlock(&mutex);
}

static int sleep_for(void *arg)
{
    uint64_t ns = *(uint64_t *)arg, begin = time_now_ns();
    thread_sleep_ns(ns);
    return time_now_ns() - begin >= ns;
}

// The longest first: each must wake at its own time.
static void test_sleep(void)
{
    static uint64_t times[] = {30 * MS, 10 * MS, 20 * MS, 1 * MS};
    struct thread *threads[ARRAY_SIZE(times)];
    int long_enough = 0;
    uint64_t begin = time_now_ns();
    for (size_t i = 0; i < ARRAY_SIZE(times); i++)
        threads[i] = start("sleeper", sleep_for, &times[i]);
    for (size_t i = 0; i < ARRAY_SIZE(times); i++)
        long_enough += thread_join(threads[i]);
    check(long_enough == ARRAY_SIZE(times), "%d sleeps were not too short", long_enough);
    check(time_now_ns() - begin >= 30 * MS, "all sleepers are awake after the longest sleep");
}

static struct wait_queue queue = WAIT_QUEUE_INIT(queue);
static volatile bool open;

static bool is_open(void *arg)
{
    (void)arg;
    return open;
}

static int wait_for_opening(void *arg)
{
    (void)arg;
    return wait_queue_wait(&queue, is_open, NULL, WAIT_FOREVER);
}

static void test_wait_queue(void)
{
    struct thread *threads[3];
    int passed = 0;
    check(wait_queue_wait(&queue, is_open, NULL, time_now_ns() + MS) == -ETIMEDOUT,
          "a wait queue's deadline passes");
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
        threads[i] = start("waiter", wait_for_opening, NULL);
    thread_yield();
    wait_queue_wake_all(&queue); // for nothing: the condition does not hold
    thread_sleep_ns(MS);
    open = true;
    wait_queue_wake_all(&queue);
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
        passed += thread_join(threads[i]) == 0;
    check(passed == 3, "%d threads passed when it opened", passed);
}

static volatile int zero;

static int recurse(void *arg) // NOLINT: without end, on purpose
{
    volatile char frame[256];
    frame[0] = (char)(uintptr_t)arg;
    return zero ? frame[0] : recurse((void *)frame) + frame[0];
}

int main(void)
{
    char name[8] = "";
    if (machine_bootarg("case", name, sizeof(name)) && strcmp(name, "stack") == 0)
        return thread_join(start("deep", recurse, NULL));
    test_join();
    test_own_state();
    test_semaphore();
    test_mutex();
    test_sleep();
    test_wait_queue();
    test_parallel();
    test_references();
#ifdef CONFIG_SMP
    test_remap();
#endif
    test_gpu_overlap();
    return test_exit_code();
}
