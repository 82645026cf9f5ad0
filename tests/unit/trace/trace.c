// SPDX-License-Identifier: MIT
/* The ring of core/trace.h, small (configs/unit_defconfig): order, loss, and whoever comes in between. */
#include "core/trace.h"
#include "core/util.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define PLACES ((unsigned)CONFIG_TRACE_EVENTS)

/* What write() got. */
static char text[8192];
static size_t length;
static int write_error;

static int nested_dump;
static void (*interrupt)(void); /* comes in while an event is recorded, before or after it has a place */
static bool late;

static void take_interrupt(bool is_late)
{
    void (*handler)(void) = late == is_late ? interrupt : NULL;

    if (!handler)
        return;
    interrupt = NULL;
    handler();
}

static uint64_t ticks(void)
{
    static uint64_t now;
    uint64_t at = __atomic_add_fetch(&now, 1, __ATOMIC_RELAXED);

    take_interrupt(false);
    return at;
}

static uint32_t cpu(void)
{
    take_interrupt(true);
    return 3;
}

static int write(const char *part, size_t size)
{
    nested_dump = trace_dump();
    if (write_error)
        return write_error;
    assert_true(length + size < sizeof(text));
    memcpy(text + length, part, size);
    length += size;
    text[length] = '\0';
    return 0;
}

static const struct trace_host host = {.ticks = ticks, .cpu = cpu, .write = write};

struct line {
    uint64_t number, ticks, a, b;
    char kind, category[32], name[32];
};

/* The lines of a dump. */
static struct line lines[64];
static unsigned count;
static uint64_t lost;

static void parse(void)
{
    char *at = text;

    for (count = 0; sscanf(at, "lost\t%" SCNu64, &lost) != 1; count++) {
        struct line *l = &lines[count];
        uint32_t on;

        assert_int_equal(
            sscanf(at, "%" SCNu64 "\t%" SCNu64 "\t%" SCNu32 "\t%c\t%31[^\t]\t%31[^\t]\t%" SCNu64 "\t%" SCNu64,
                   &l->number, &l->ticks, &on, &l->kind, l->category, l->name, &l->a, &l->b),
            8);
        assert_int_equal(on, 3);
        at = strchr(at, '\n') + 1;
    }
    assert_string_equal(strchr(at, '\n'), "\n");
}

static void dump(void)
{
    length = 0;
    assert_int_equal(trace_dump(), 0);
    parse();
}

static int start_empty(void **state)
{
    (void)state;
    trace_start(&host);
    write_error = 0;
    dump();
    return 0;
}

static void record(uint64_t n)
{
    trace_instant("test", "event", n, ~n);
}

/* The events of the dump are whole, and each is `from` or later. */
static void check_whole(uint64_t from)
{
    for (unsigned i = 0; i < count; i++) {
        assert_true(lines[i].a >= from);
        assert_int_equal(lines[i].b, ~lines[i].a);
        assert_true(i == 0 || lines[i].number > lines[i - 1].number);
    }
}

static void nothing_is_recorded_before_the_start(void **state)
{
    (void)state;
    record(1);
    assert_int_equal(trace_dump(), -ENODEV);
    trace_start(&host);
    dump();
    assert_int_equal(count, 0);
    assert_int_equal(lost, 0);
}

static void kinds_and_numbers_are_written(void **state)
{
    static const char name[16] = "a thread";
    uint64_t half[2];

    (void)state;
    trace_begin("copy", "there", 5, UINT64_MAX);
    trace_end("copy");
    trace_counter("memory", "free", 77);
    trace_async_begin("block", "read", &length, 8);
    trace_async_end("block", "read", &length, 0);
    trace_switch(name);
    length = 0;
    assert_int_equal(trace_dump(), 0);
    assert_non_null(strstr(text, "\t3\tB\tcopy\tthere\t5\t18446744073709551615\n"));
    assert_non_null(strstr(text, "\t3\tE\tcopy\t\t0\t0\n"));
    assert_non_null(strstr(text, "\t3\tC\tmemory\tfree\t77\t0\n"));
    assert_non_null(strstr(text, "\t3\tb\tblock\tread\t"));
    assert_non_null(strstr(text, "\t3\te\tblock\tread\t"));
    const char *at = strstr(text, "\t3\tT\tthread\t");
    uintptr_t id;
    assert_non_null(at);
    assert_int_equal(
        sscanf(at, "\t3\tT\tthread\t%" SCNxPTR "\t%" SCNu64 "\t%" SCNu64, &id, &half[0], &half[1]), 3);
    assert_int_equal(id, (uintptr_t)name);
    assert_memory_equal(half, name, sizeof(name));
}

static void a_dump_takes_what_is_new(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < PLACES; n++)
        record(n);
    dump();
    assert_int_equal(count, PLACES);
    assert_int_equal(lost, 0);
    record(100);
    dump();
    assert_int_equal(count, 1);
    assert_int_equal(lines[0].a, 100);
    dump();
    assert_int_equal(count, 0);
}

static void the_oldest_are_lost_and_counted(void **state)
{
    (void)state;
    for (unsigned extra = 0; extra < 3 * PLACES; extra++) {
        for (uint64_t n = 0; n < PLACES + extra; n++)
            record(n);
        dump();
        assert_int_equal(count, PLACES);
        assert_int_equal(lost, extra);
        assert_int_equal(lines[0].a, extra);
        check_whole(extra);
    }
}

static void one_more(void)
{
    record(1000);
}

static void an_interrupt_takes_the_next_place(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        late = i;
        interrupt = one_more;
        record(1);
        dump();
        assert_int_equal(count, 2);
        assert_int_equal(lost, 0);
        assert_int_equal(lines[late].a, 1000);
        /* The interrupted event began first, whichever has the first place. */
        assert_true(lines[late].ticks > lines[!late].ticks);
        check_whole(1);
    }
}

static void storm(void)
{
    for (uint64_t n = 0; n < PLACES + 3; n++)
        record(1000 + n);
}

/* So many interrupts that they come round to the place of the event that they interrupted. */
static void a_storm_of_interrupts_tears_no_event(void **state)
{
    (void)state;
    late = true;
    interrupt = storm;
    record(1);
    dump();
    assert_int_equal(count + lost, PLACES + 4);
    assert_int_equal(count, PLACES - 1);
    check_whole(1000);
}

static void *writer(void *arg)
{
    (void)arg;
    for (uint64_t n = 0; n < 20000; n++)
        record(n);
    return NULL;
}

static void harts_record_at_the_same_time(void **state)
{
    pthread_t threads[4];
    uint64_t total = ARRAY_SIZE(threads) * 20000;

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, writer, NULL), 0);
    for (unsigned i = 0; i < 50; i++) { /* what a dump beside them shows is whole */
        dump();
        check_whole(0);
        total -= count + lost;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(threads); i++)
        pthread_join(threads[i], NULL);
    dump();
    check_whole(0);
    assert_int_equal(total, count + lost);
}

static void errors_of_the_host_are_returned(void **state)
{
    (void)state;
    record(1);
    write_error = -EIO;
    assert_int_equal(trace_dump(), -EIO);
    assert_int_equal(nested_dump, -EBUSY);
    write_error = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_recorded_before_the_start),
        cmocka_unit_test_setup(kinds_and_numbers_are_written, start_empty),
        cmocka_unit_test_setup(a_dump_takes_what_is_new, start_empty),
        cmocka_unit_test_setup(the_oldest_are_lost_and_counted, start_empty),
        cmocka_unit_test_setup(an_interrupt_takes_the_next_place, start_empty),
        cmocka_unit_test_setup(a_storm_of_interrupts_tears_no_event, start_empty),
        cmocka_unit_test_setup(harts_record_at_the_same_time, start_empty),
        cmocka_unit_test_setup(errors_of_the_host_are_returned, start_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
