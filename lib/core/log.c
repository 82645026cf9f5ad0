// SPDX-License-Identifier: MIT
#define LOG_MODULE "log"
#include "core/log.h"
#include "core/util.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void write_stdout(const char *text, size_t length)
{
    fwrite(text, 1, length, stdout);
}

static const struct log_output standard_output = {.write = write_stdout};
static const struct log_output *out = &standard_output;

void log_set_output(const struct log_output *output)
{
    out = output ? output : &standard_output;
}

static int shown_level = CONFIG_LOG_LEVEL;

bool log_shows(int level)
{
    return level <= CONFIG_LOG_MAX && level <= shown_level;
}

void log_set_level(const char *name)
{
    static const char *const names[] = {"none", "error", "warn", "info", "debug"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcmp(name, names[i]) == 0) {
            shown_level = (int)i;
            return;
        }
    log_warn("no log level \"%s\": choose one of none, error, warn, info, debug", name);
}

/* Length of the text that snprintf() left in a buffer of `size`, given what it returned. */
static size_t stored(int wanted, size_t size)
{
    return wanted < 0 ? 0 : MIN((size_t)wanted, size - 1);
}

static size_t put_prefix(char *line, size_t size, int level, const char *module)
{
    const char *mark = level == LOG_LEVEL_ERROR ? "error: " : level == LOG_LEVEL_WARN ? "warning: " : "";
    uint64_t us;

    if (!out->now_ns)
        return stored(snprintf(line, size, "%s: %s", module, mark), size);
    us = out->now_ns() / 1000;
    return stored(snprintf(line, size, "[%3lu.%06lu] %s: %s", (unsigned long)(us / 1000000),
                           (unsigned long)(us % 1000000), module, mark),
                  size);
}

void log_write(int level, const char *module, const char *format, ...)
{
    char line[LOG_LINE_MAX + 1];
    size_t length = put_prefix(line, LOG_LINE_MAX, level, module);
    size_t room = LOG_LINE_MAX - length;
    va_list args;
    int wanted;

    if (!log_shows(level))
        return;
    va_start(args, format);
    wanted = vsnprintf(line + length, room, format, args);
    va_end(args);
    if (wanted >= 0 && (size_t)wanted >= room)
        memcpy(line + LOG_LINE_MAX - 4, "...", 3);
    length += stored(wanted, room);
    line[length++] = '\n';
    /* One call a line, so that lines of interrupt handlers do not land inside others. */
    out->write(line, length);
}
