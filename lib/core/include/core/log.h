// SPDX-License-Identifier: MIT
/*
 * Log lines: "[  0.001234] bus: message". A source file names its module before it includes this header:
 *
 *     #define LOG_MODULE "bus"
 *     #include "core/log.h"
 *
 * Lines up to CONFIG_LOG_LEVEL are shown, or up to what log_set_level() says later. Lines above
 * CONFIG_LOG_MAX are compiled out (their arguments are still type-checked).
 */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_LEVEL_NONE  0
#define LOG_LEVEL_ERROR 1
#define LOG_LEVEL_WARN  2
#define LOG_LEVEL_INFO  3
#define LOG_LEVEL_DEBUG 4

#ifndef CONFIG_LOG_LEVEL
#define CONFIG_LOG_LEVEL LOG_LEVEL_INFO
#endif
#ifndef CONFIG_LOG_MAX
#define CONFIG_LOG_MAX LOG_LEVEL_DEBUG
#endif
#ifndef LOG_MODULE
#define LOG_MODULE "weft"
#endif

/* A line longer than this, with its prefix and newline, is cut and ends in "...". */
#define LOG_LINE_MAX 256

/* Where lines go. The hal sets it at boot; without it lines go to stdout and carry no time. */
struct log_output {
    void (*write)(const char *text, size_t length);
    uint64_t (*now_ns)(void); /* since boot */
};

/* `output` must stay valid while it is set; NULL restores the default. */
void log_set_output(const struct log_output *output);

/*
 * Shows lines up to the level of that name from now on: "none", "error", "warn", "info", "debug". Any other
 * name changes nothing and is told in a warning: it comes from the kernel command line (loglevel=debug).
 */
void log_set_level(const char *name);

/* Is that level shown? For what takes work to find out. */
bool log_shows(int level);

/* Writes one line if its level is shown; `format` has no newline. Call it through the macros below. */
void log_write(int level, const char *module, const char *format, ...) __attribute__((format(printf, 3, 4)));

#define LOG_AT(level, ...)                                                                                   \
    do {                                                                                                     \
        if ((level) <= CONFIG_LOG_MAX)                                                                       \
            log_write(level, LOG_MODULE, __VA_ARGS__);                                                       \
    } while (0)

#define log_error(...) LOG_AT(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)  LOG_AT(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...)  LOG_AT(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) LOG_AT(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
