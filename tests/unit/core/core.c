// SPDX-License-Identifier: MIT
#include "core/cmdline.h"
#include "core/errno.h"
#include "core/format.h"
#include "core/init.h"
#include "core/list.h"
#include "core/log.h"
#include "core/math.h"
#include "core/test.h"
#include "random.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* --- list --- */

struct item {
    int value;
    struct list_node node;
};

/* "1 2 3 " from first to last, and the same list backwards must be its mirror. */
static void assert_list(struct list_node *head, const char *expected)
{
    char forward[64] = "";
    char backward[64] = "";

    list_for_each (node, head)
        snprintf(forward + strlen(forward), sizeof(forward) - strlen(forward), "%d ",
                 list_entry(node, struct item, node)->value);
    for (struct list_node *node = head->prev; node != head; node = node->prev) {
        char text[64];

        snprintf(text, sizeof(text), "%d %.50s", list_entry(node, struct item, node)->value, backward);
        memcpy(backward, text, sizeof(text));
    }
    assert_string_equal(forward, expected);
    assert_string_equal(backward, expected);
}

static void list_keeps_order(void **state)
{
    struct list_node head = LIST_INIT(head);
    struct item a = {.value = 1}, b = {.value = 2}, c = {.value = 3}, d = {.value = 4};

    (void)state;
    assert_true(list_empty(&head));
    assert_list(&head, "");
    list_add_tail(&head, &b.node);
    list_add_tail(&head, &d.node);
    list_add_head(&head, &a.node);
    list_insert_before(&d.node, &c.node);
    assert_list(&head, "1 2 3 4 ");
    assert_ptr_equal(list_first(&head, struct item, node), &a);
    assert_ptr_equal(list_last(&head, struct item, node), &d);
    list_remove(&b.node);
    list_remove(&b.node); /* harmless */
    assert_list(&head, "1 3 4 ");
    list_for_each_safe (node, &head)
        list_remove(node);
    assert_true(list_empty(&head));
}

/* --- math, util, format, errno --- */

static void arithmetic_notices_overflow(void **state)
{
    uint64_t r;

    (void)state;
    assert_false(add_overflows(UINT64_MAX - 1, 1, &r));
    assert_true(add_overflows(UINT64_MAX, 1, &r));
    assert_true(sub_overflows(UINT64_C(1), UINT64_C(2), &r));
    assert_true(mul_overflows(UINT64_C(1) << 32, UINT64_C(1) << 32, &r));
    assert_false(align_up_overflows(UINT64_MAX - 4095, 4096, &r));
    assert_true(r == UINT64_MAX - 4095);
    assert_true(align_up_overflows(UINT64_MAX - 4094, 4096, &r));
    assert_int_equal(align_up(4097, 4096), 8192);
    assert_int_equal(align_up(0, 4096), 0);
    assert_int_equal(align_down(4097, 4096), 4096);
    assert_true(is_aligned(8192, 4096));
    assert_false(is_aligned(8193, 4096));
    assert_true(div_round_up(UINT64_MAX, 2) == UINT64_C(1) << 63);
    assert_int_equal(div_round_up(8, 4), 2);
}

static void powers_and_logarithms(void **state)
{
    (void)state;
    assert_false(is_power_of_two(0));
    assert_true(is_power_of_two(UINT64_C(1) << 63));
    assert_false(is_power_of_two(6));
    assert_int_equal(log2_floor(1), 0);
    assert_int_equal(log2_floor(UINT64_MAX), 63);
    assert_int_equal(log2_ceil(1), 0);
    assert_int_equal(log2_ceil(5), 3);
    assert_int_equal(log2_ceil(UINT64_MAX), 64);
}

static void ranges_do_not_wrap(void **state)
{
    (void)state;
    assert_true(range_inside(10, 5, 10, 5));
    assert_true(range_inside(15, 0, 10, 5));
    assert_false(range_inside(9, 2, 10, 5));
    assert_false(range_inside(14, 2, 10, 5));
    assert_false(range_inside(12, UINT64_MAX, 10, 5));
    assert_false(range_inside(UINT64_MAX, 2, 10, 5));
    assert_true(range_inside(UINT64_MAX, 1, UINT64_MAX - 9, 10));
}

static void small_macros(void **state)
{
    int a[7];
    int calls = 0;

    (void)state;
    assert_int_equal(ARRAY_SIZE(a), 7);
    assert_int_equal(MAX(++calls, 0), 1);
    assert_int_equal(MIN(++calls, 100), 2);
}

static void sizes_are_exact(void **state)
{
    (void)state;
    assert_string_equal(format_size(0).text, "0 bytes");
    assert_string_equal(format_size(100).text, "100 bytes");
    assert_string_equal(format_size(4096).text, "4 KiB");
    assert_string_equal(format_size(UINT64_C(64) << 20).text, "64 MiB");
    assert_string_equal(format_size((UINT64_C(1) << 30) + 1024).text, "1048577 KiB");
    assert_string_equal(format_size(UINT64_C(1) << 63).text, "8 EiB");
    assert_string_equal(format_size(UINT64_MAX).text, "18446744073709551615 bytes");
}

static void errors_have_names(void **state)
{
    (void)state;
    assert_string_equal(error_name(0), "OK");
    assert_string_equal(error_name(EINVAL), "EINVAL");
    assert_string_equal(error_name(-ENOSPC), "ENOSPC");
    assert_string_equal(error_name(-ETIMEDOUT), "ETIMEDOUT");
    assert_string_equal(error_name(123456), "E?");
}

/* --- log --- */

static char lines[4096];

static void keep(const char *text, size_t length)
{
    assert_true(strlen(lines) + length < sizeof(lines));
    strncat(lines, text, length);
}

static uint64_t fixed_time(void)
{
    return 12003004999; /* rounds down to the microsecond */
}

static void log_lines_have_time_module_and_mark(void **state)
{
    static const struct log_output timed = {.write = keep, .now_ns = fixed_time};
    static const struct log_output untimed = {.write = keep};

    (void)state;
    lines[0] = '\0';
    log_set_output(&timed);
    log_info("answer %d", 42);
    log_error("bad");
    log_debug("not shown");
    log_set_output(&untimed);
    log_warn("odd");
    log_set_output(NULL);
    assert_string_equal(lines, "[ 12.003004] weft: answer 42\n"
                               "[ 12.003004] weft: error: bad\n"
                               "weft: warning: odd\n");
}

static void the_level_is_chosen_by_name(void **state)
{
    static const struct log_output output = {.write = keep};

    (void)state;
    lines[0] = '\0';
    log_set_output(&output);
    log_set_level("debug");
    log_debug("shown now");
    log_set_level("loud");
    log_set_level("error");
    log_warn("not shown");
    log_set_level("info");
    log_set_output(NULL);
    assert_string_equal(
        lines, "weft: shown now\n"
               "log: warning: no log level \"loud\": choose one of none, error, warn, info, debug\n");
}

static void long_lines_are_cut(void **state)
{
    static const struct log_output output = {.write = keep};
    char text[2 * LOG_LINE_MAX];

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    log_set_output(&output);
    for (size_t length = LOG_LINE_MAX - 20; length < LOG_LINE_MAX + 5; length++) {
        bool fits = strlen("weft: ") + length < LOG_LINE_MAX;

        lines[0] = '\0';
        log_info("%.*s", (int)length, text);
        assert_true(strlen(lines) <= LOG_LINE_MAX);
        assert_int_equal(lines[strlen(lines) - 1], '\n');
        assert_int_equal(strstr(lines, "...\n") != NULL, !fits);
        if (fits)
            assert_int_equal(strlen(lines), strlen("weft: ") + length + 1);
    }
    log_set_output(NULL);
}

/* --- command line --- */

static void values_of_the_command_line(void **state)
{
    const char *line = "  a=1 ab=2\tquiet b= c=\"x 'y z'\" d='q\"q'e f=\"open end a=9 ";
    char value[8];

    (void)state;
    assert_int_equal(cmdline_value(line, "a", value, sizeof(value)), 1);
    assert_string_equal(value, "1");
    assert_int_equal(cmdline_value(line, "ab", value, sizeof(value)), 1);
    assert_string_equal(value, "2");
    assert_int_equal(cmdline_value(line, "b", value, sizeof(value)), 0);
    assert_string_equal(value, "");
    assert_int_equal(cmdline_value(line, "c", value, sizeof(value)), 7);
    assert_string_equal(value, "x 'y z'");
    assert_int_equal(cmdline_value(line, "d", value, sizeof(value)), 4);
    assert_string_equal(value, "q\"qe");
    assert_int_equal(cmdline_value(line, "f", value, sizeof(value)), 13);
    assert_string_equal(value, "open en"); /* cut */
    assert_int_equal(cmdline_value(line, "quiet", value, sizeof(value)), -ENOENT);
    assert_int_equal(cmdline_value(line, "g", value, sizeof(value)), -ENOENT);
    assert_int_equal(cmdline_value("", "a", value, sizeof(value)), -ENOENT);
}

static void words_of_the_command_line(void **state)
{
    char line[] = " one 'two words'  \"\" t\"hr\"ee ";
    char *words[4];

    (void)state;
    assert_int_equal(cmdline_split(line, words, 4), 4);
    assert_string_equal(words[0], "one");
    assert_string_equal(words[1], "two words");
    assert_string_equal(words[2], "");
    assert_string_equal(words[3], "three");
    strcpy(line, "a b c");
    assert_int_equal(cmdline_split(line, words, 2), -E2BIG);
    strcpy(line, "  ");
    assert_int_equal(cmdline_split(line, words, 2), 0);
}

/* --- init --- */

static char trace[64];

#define STEP(name, result)                                                                                   \
    static int name(void)                                                                                    \
    {                                                                                                        \
        strcat(trace, #name " ");                                                                            \
        return result;                                                                                       \
    }                                                                                                        \
    static void name##_exit(void)                                                                            \
    {                                                                                                        \
        strcat(trace, "~" #name " ");                                                                        \
    }

STEP(zeta, 0)
STEP(alpha, 0)
STEP(broken, -EIO)
STEP(late, 0)
INIT(INIT_LATE, late, late_exit);
INIT(INIT_BUS, zeta, zeta_exit);
INIT(INIT_BUS, alpha, alpha_exit);
INIT(INIT_BUS + 1, broken, broken_exit);

static void init_runs_by_level_and_name(void **state)
{
    static const struct log_output output = {.write = keep};

    (void)state;
    lines[0] = '\0';
    log_set_output(&output);
    assert_int_equal(init_run_all(), -EIO);
    log_set_output(NULL);
    assert_string_equal(trace, "alpha zeta broken late ");
    assert_string_equal(lines, "init: error: broken: EIO\n");
    trace[0] = '\0';
    init_exit_all();
    assert_string_equal(trace, "~late ~zeta ~alpha ");
    trace[0] = '\0';
    init_exit_all();
    assert_string_equal(trace, "");
}

static void init_runs_once(void **state)
{
    (void)state;
    trace[0] = '\0';
    assert_int_equal(init_run_once(), 0); /* init_run_all() was called */
    assert_string_equal(trace, "");
}

/* --- verdict lines --- */

static void verdicts_are_printed_and_counted(void **state)
{
    char text[256] = "";
    FILE *file = tmpfile();
    int saved = dup(STDOUT_FILENO);

    (void)state;
    assert_non_null(file);
    assert_int_equal(test_exit_code(), 1); /* nothing was tested */
    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
    ok("%d values match", 32);
    int after_ok = test_exit_code();
    bool held = check(1 > 2, "one is more than two");
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    rewind(file);
    assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "[OK] 32 values match\n[FAIL] one is more than two\n");
    assert_int_equal(after_ok, 0);
    assert_false(held);
    assert_int_equal(test_exit_code(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_keeps_order),
        cmocka_unit_test(arithmetic_notices_overflow),
        cmocka_unit_test(powers_and_logarithms),
        cmocka_unit_test(ranges_do_not_wrap),
        cmocka_unit_test(small_macros),
        cmocka_unit_test(sizes_are_exact),
        cmocka_unit_test(errors_have_names),
        cmocka_unit_test(log_lines_have_time_module_and_mark),
        cmocka_unit_test(the_level_is_chosen_by_name),
        cmocka_unit_test(values_of_the_command_line),
        cmocka_unit_test(words_of_the_command_line),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(init_runs_by_level_and_name),
        cmocka_unit_test(init_runs_once),
        cmocka_unit_test(verdicts_are_printed_and_counted),
    };

    random_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
