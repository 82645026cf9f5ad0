// SPDX-License-Identifier: MIT
#ifndef APPS_HELLO_FACTS_H
#define APPS_HELLO_FACTS_H

// Prints the [OK] line, which names what runs us, and a few lines about it. One implementation a platform.
void print_facts(void);

#endif
