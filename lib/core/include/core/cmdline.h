// SPDX-License-Identifier: MIT
/*
 * The kernel command line: words with blanks between them, most of them key=value. Quotes, single or double,
 * keep blanks in a value and are not part of it: app.args="one 'two words'".
 */
#ifndef CORE_CMDLINE_H
#define CORE_CMDLINE_H

#include <stddef.h>

/*
 * Copies the value of the first `key=value` in `line` to `out`, without the outer quotes; cut to `size` bytes
 * (not 0) with the terminator. Returns its whole length (as snprintf() does), or -ENOENT when there is no
 * such key.
 */
int cmdline_value(const char *line, const char *key, char *out, size_t size);

/*
 * Splits `line` into its words in place: `words` gets pointers into it, at most `max`. Returns their number,
 * or -E2BIG when there are more.
 */
int cmdline_split(char *line, char **words, size_t max);

#endif
