/* SPDX-License-Identifier: MIT */
#include "fixture.h"
#include "suites.h"

/* Every suite that runs kernels, under one engine. */
static int engine_suites(enum simt_engine engine)
{
    fixture_engine = engine;
    return divergence_suite() + sync_suite() + fault_suite() + device_suite();
}

int main(void)
{
    fixture_seed();
    return decode_suite() + cfg_suite() + path_suite() + fp_suite() + narrow_suite() + insn_suite() +
           engine_suites(SIMT_ENGINE_AUTO) + engine_suites(SIMT_ENGINE_JIT);
}
