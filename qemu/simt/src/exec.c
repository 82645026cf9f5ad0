/* SPDX-License-Identifier: MIT */
#include "exec.h"

static const struct simt_executor base = {.name = "interp", .run = simt_exec_base};

#ifdef __x86_64__
static const struct simt_executor avx2 = {.name = "interp-avx2", .run = simt_exec_avx2};
static const struct simt_executor avx512 = {.name = "interp-avx512", .run = simt_exec_avx512};

static bool have_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}

static bool have_avx512(void)
{
    return have_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}
#endif

const struct simt_executor *simt_interpreter(void)
{
#ifdef __x86_64__
    if (have_avx512()) {
        return &avx512;
    }
    if (have_avx2()) {
        return &avx2;
    }
#endif
    return &base;
}
