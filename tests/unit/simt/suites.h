/* SPDX-License-Identifier: MIT */
/* Each *_test.c of this folder is one group; main() runs them all. 0 when every test passed. */
#ifndef TESTS_UNIT_SIMT_SUITES_H
#define TESTS_UNIT_SIMT_SUITES_H

int decode_suite(void);
int cfg_suite(void);
int path_suite(void);
int fp_suite(void);
int narrow_suite(void);
int insn_suite(void);
int divergence_suite(void);
int sync_suite(void);
int fault_suite(void);
int device_suite(void);
int jit_suite(void);
int check_suite(void);
int timeline_suite(void);

#endif
