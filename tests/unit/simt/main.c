/* SPDX-License-Identifier: MIT */
/* WEFT_TEST=PATTERN runs only the tests of that name (* and ? match as in a shell). */
#include <stdlib.h>

#include "fixture.h"
#include "suites.h"

/* The suites that run kernels, under one engine: engine=check runs in both engines what engine=jit runs. */
static int engine_suites(enum simt_engine engine)
{
    fixture_engine = engine;
    return sync_suite() + fault_suite() + timeline_suite() +
           (engine == SIMT_ENGINE_CHECK ? 0 : device_suite()) +
           (engine == SIMT_ENGINE_JIT ? 0 : divergence_suite());
}

/* What only a build with LLVM promises. */
static int compiled_suite(void)
{
#ifdef SIMT_HAVE_JIT
    fixture_engine = SIMT_ENGINE_AUTO;
    return jit_suite() + check_suite();
#else
    return 0;
#endif
}

/* Compiled code as hosts with AVX2 and with AVX-512 have it, whatever this one has. */
static int checked_suites(void)
{
    int failed;
    fixture_vector_bits = 256;
    failed = engine_suites(SIMT_ENGINE_CHECK);
    fixture_vector_bits = 512;
    failed += divergence_suite();
    fixture_vector_bits = 0;
    return failed;
}

int main(void)
{
    cmocka_set_test_filter(getenv("WEFT_TEST"));
    fixture_seed();
    return decode_suite() + cfg_suite() + path_suite() + fp_suite() + narrow_suite() + insn_suite() +
           engine_suites(SIMT_ENGINE_AUTO) + engine_suites(SIMT_ENGINE_JIT) + checked_suites() +
           compiled_suite();
}
