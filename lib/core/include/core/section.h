// SPDX-License-Identifier: MIT
/*
 * Tables that the linker gathers: any source file adds an entry, none keeps a central list.
 *
 * The section holds *pointers* to const records, never the records themselves: compilers may over-align
 * objects in a section, which leaves holes in an array of structs; pointers have no room for holes.
 *
 *     SECTION_TABLE(weft_drivers, struct driver);                  in the header: declares the bounds
 *     SECTION_TABLE_ADD(weft_drivers, struct driver, edu_driver);  in a source file: adds &edu_driver
 *     section_table_for_each(weft_drivers, struct driver, d) …     d is a `const struct driver *`
 *
 * The name of a table is a C identifier, so GNU ld and lld make the symbols __start_NAME and __stop_NAME by
 * themselves in a hosted program; the bounds are weak, so an empty table links too. The kernel's linker
 * script must say, in a read-only output section,
 *
 *     . = ALIGN(8);
 *     __start_NAME = .;
 *     KEEP(*(NAME))
 *     __stop_NAME = .;
 *
 * The linker's order of the entries is not to be relied on (it differs from script to script): readers sort.
 */
#ifndef CORE_SECTION_H
#define CORE_SECTION_H

/* lld may collect an entry that only __start_NAME reaches; `retain` (SHF_GNU_RETAIN) forbids it. */
#ifdef __clang__
#define SECTION_TABLE_KEEP used, retain, no_sanitize("address")
#else
/* GNU ld keeps what __start_NAME refers to; gcc puts no red zones around objects in named sections. */
#define SECTION_TABLE_KEEP used
#endif

#define SECTION_TABLE(table, type)                                                                           \
    extern const type *const __start_##table[] __attribute__((weak, visibility("hidden")));                  \
    extern const type *const __stop_##table[] __attribute__((weak, visibility("hidden")))

#define SECTION_TABLE_ADD(table, type, object)                                                               \
    static const type *const table##_entry_##object                                                          \
        __attribute__((section(#table), aligned(sizeof(void *)), SECTION_TABLE_KEEP)) = &(object)

#define section_table_for_each(table, type, entry)                                                           \
    for (const type *const *entry##_slot = __start_##table, *entry;                                          \
         entry##_slot < __stop_##table && ((entry = *entry##_slot), 1); entry##_slot++)

#endif
