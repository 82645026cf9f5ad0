/* SPDX-License-Identifier: MIT */
/* The builds of the interpreter; each is the run() of a struct simt_executor. */
#ifndef SIMT_EXEC_H
#define SIMT_EXEC_H

#include "cu.h"

enum simt_stop simt_exec_base(struct simt_cu *cu, struct simt_warp *w, struct simt_path *p);
#ifdef __x86_64__
enum simt_stop simt_exec_avx2(struct simt_cu *cu, struct simt_warp *w, struct simt_path *p);
enum simt_stop simt_exec_avx512(struct simt_cu *cu, struct simt_warp *w, struct simt_path *p);
#endif

#endif
