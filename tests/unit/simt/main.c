/* SPDX-License-Identifier: MIT */
#include "fixture.h"
#include "suites.h"

int main(void)
{
    fixture_seed();
    return decode_suite() + cfg_suite() + path_suite() + fp_suite() + narrow_suite() + insn_suite() +
           divergence_suite() + sync_suite() + fault_suite() + device_suite();
}
