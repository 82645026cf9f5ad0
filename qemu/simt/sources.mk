# SPDX-License-Identifier: MIT
# The SIMT engine, for the hosted build and the QEMU build: paths are relative to the repository root.
simt-srcs := $(addprefix qemu/simt/src/, \
    cfg.c check.c decode.c device.c disasm.c exec.c exec_avx2.c exec_avx512.c exec_base.c fault.c fp.c memory.c \
    narrow.c path.c program.c sched.c soft.c timeline.c trace.c witness.c)

# Results are canonicalised and flags computed in software, so the host's traps and errno do not matter; contraction
# of a multiply and an add would. -O3 is what vectorises the interpreter.
simt-cflags := -O3 -std=gnu17 -ffp-contract=off -fno-math-errno -fno-trapping-math -pthread
simt-includes := -Iqemu/simt/include
simt-libs := -pthread -lm

# The JIT, where LLVM 19's development files are: LLVM_CONFIG=PATH names them, LLVM_CONFIG= builds without.
LLVM_CONFIG ?= $(firstword $(wildcard /usr/lib/llvm-19/bin/llvm-config) $(shell command -v llvm-config-19))
ifneq ($(LLVM_CONFIG),)
simt-srcs += $(addprefix qemu/simt/jit/, \
    abs.c cache.c compile.c emit.c emit_alu.c emit_flow.c emit_mem.c graph.c host.c rows.c run.c slice.c)
simt-cflags += -DSIMT_HAVE_JIT -isystem $(shell $(LLVM_CONFIG) --includedir)
simt-libs += $(shell $(LLVM_CONFIG) --link-shared --ldflags --libs)
endif
