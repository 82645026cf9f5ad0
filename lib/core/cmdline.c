// SPDX-License-Identifier: MIT
#include "core/cmdline.h"
#include "core/errno.h"
#include "core/util.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BLANKS " \t\n"

/*
 * Copies the word at *at, without its outer quotes, to `out` and moves *at behind the word and one blank.
 * `out` may be *at itself: what is written never overtakes what is read. Returns the whole length.
 */
static size_t take_word(const char **at, char *out, size_t size)
{
    size_t length = 0;
    char quote = '\0';
    const char *c = *at;

    for (; *c && (quote || !strchr(BLANKS, *c)); c++) {
        bool is_quote = quote ? *c == quote : *c == '"' || *c == '\'';

        if (is_quote)
            quote = quote ? '\0' : *c;
        else if (length++ < size)
            out[length - 1] = *c;
    }
    *at = *c ? c + 1 : c;
    if (size > 0)
        out[MIN(length, size - 1)] = '\0';
    return length;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, BLANKS);
}

int cmdline_value(const char *line, const char *key, char *out, size_t size)
{
    size_t length = strlen(key);
    const char *at = skip_blanks(line);

    for (; *at; at = skip_blanks(at)) {
        if (strncmp(at, key, length) == 0 && at[length] == '=') {
            at += length + 1;
            return (int)take_word(&at, out, size);
        }
        take_word(&at, NULL, 0);
    }
    return -ENOENT;
}

int cmdline_split(char *line, char **words, size_t max)
{
    const char *at = skip_blanks(line);
    char *out = line;
    size_t count = 0;

    for (; *at; at = skip_blanks(at)) {
        if (count == max)
            return -E2BIG;
        words[count++] = out;
        out += take_word(&at, out, SIZE_MAX) + 1;
    }
    return (int)count;
}
