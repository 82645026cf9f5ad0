/* SPDX-License-Identifier: MIT */
/* WEFT_TEST=PATTERN runs only the tests of that name (* and ? match as in a shell). */
#include <stdlib.h>

#include "fixture.h"
#include "suites.h"

/* The suites that run kernels, under one engine. */
static int kernel_suites(enum simt_engine engine)
{
    fixture_engine = engine;
    return divergence_suite() + sync_suite() + fault_suite();
}

static int engine_suites(enum simt_engine engine)
{
    return kernel_suites(engine) + device_suite();
}

int main(void)
{
    cmocka_set_test_filter(getenv("WEFT_TEST"));
    fixture_seed();
    return decode_suite() + cfg_suite() + path_suite() + fp_suite() + narrow_suite() + insn_suite() +
           engine_suites(SIMT_ENGINE_AUTO) + engine_suites(SIMT_ENGINE_JIT) +
           kernel_suites(SIMT_ENGINE_CHECK);
}
