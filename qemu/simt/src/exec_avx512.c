/* SPDX-License-Identifier: MIT */
/* The interpreter for x86-64 hosts with AVX-512. */
#include "exec.h"

#ifdef __x86_64__
#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(                                                                                \
    __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,bmi,bmi2,popcnt,lzcnt"))),            \
    apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,bmi,bmi2,popcnt,lzcnt")
#endif
#define EXEC_HAVE_AVX2 1
#define EXEC_RUN       simt_exec_avx512
#include "exec_body.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
