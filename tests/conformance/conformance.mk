# SPDX-License-Identifier: MIT
# The engine against independent oracles, under fuzzers and ThreadSanitizer. It is built in three ways:
#   check  clang, ASan and UBSan, instrumented for libFuzzer: what `make test` and `make fuzz` run
#   fast   gcc, optimised, as the device has it: the long run of `make conformance`
#   tsan   clang, ThreadSanitizer

include qemu/simt/hosted.mk

CF := build/conformance
CF_CFLAGS := $(simt-cflags) $(simt-includes) -Itests/conformance -g -Wall -Wextra -Werror -Wshadow -MMD -MP
CF_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CLANG ?= clang-19

cf-cc-check := $(CLANG)
cf-cflags-check := -O1 -Wno-pass-failed $(CF_SANITIZE) -fsanitize=fuzzer-no-link
cf-ldflags-check := $(CF_SANITIZE)
cf-cc-fast := gcc
cf-cc-tsan := $(CLANG)
cf-cflags-tsan := -O1 -Wno-pass-failed -fsanitize=thread
cf-ldflags-tsan := -fsanitize=thread

# isa once for each build of the interpreter that this kind of host can run.
cf-interpreters := base $(if $(filter x86_64,$(shell uname -m)),avx2 avx512)
cf-isa := $(addprefix isa_,$(cf-interpreters))
cf-src-divergence := divergence.c progen.c scalar.c
cf-src-decode_scan := decode_scan.c
cf-src-run_image := run_image.c
cf-src-threads := threads.c
cf-programs := divergence decode_scan run_image

# $(call cf-objs,FLAVOUR,SOURCES), $(call cf-engine,FLAVOUR)
cf-objs = $(patsubst %,$(CF)/$(1)/obj/%.o,$(2))
cf-engine = $(if $(filter fast,$(1)),$(simt-objs),$(call cf-objs,$(1),$(simt-srcs)))

define cf-flavour
$(CF)/$(1)/obj/%.o: % tests/conformance/conformance.mk | build/.setup/test
	$$(call say,CC,$$< [$(1)])
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(cf-cc-$(1)) $$(CF_CFLAGS) $$(cf-cflags-$(1)) -c $$< -o $$@
-include $(wildcard $(CF)/$(1)/obj/*/*/*.d $(CF)/$(1)/obj/*/*/*/*.d)
endef
$(foreach flavour,check fast tsan,$(eval $(call cf-flavour,$(flavour))))

# $(call cf-program,FLAVOUR,NAME)
define cf-program
$(CF)/$(1)/$(2): $$(call cf-engine,$(1)) $$(call cf-objs,$(1),$(addprefix tests/conformance/,$(cf-src-$(2))))
	$$(call say,LINK,$$@)
	$$(Q)$$(cf-cc-$(1)) $$(cf-ldflags-$(1)) $$^ $$(simt-libs) -o $$@
endef
$(foreach flavour,check fast,$(foreach p,$(cf-programs),$(eval $(call cf-program,$(flavour),$(p)))))
$(eval $(call cf-program,tsan,threads))

# $(call cf-isa-program,FLAVOUR,INTERPRETER)
define cf-isa-program
$(CF)/$(1)/obj/interpreter_$(2).o: tests/conformance/interpreter.c tests/conformance/conformance.mk | build/.setup/test
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(cf-cc-$(1)) $$(CF_CFLAGS) $$(cf-cflags-$(1)) -Iqemu/simt/src -DINTERPRETER=simt_exec_$(2) -c $$< -o $$@
$(CF)/$(1)/isa_$(2): $$(filter-out %/exec.o %/exec.c.o,$$(call cf-engine,$(1))) $(CF)/$(1)/obj/interpreter_$(2).o \
		$(CF)/$(1)/obj/tests/conformance/isa.c.o
	$$(call say,LINK,$$@)
	$$(Q)$$(cf-cc-$(1)) $$(cf-ldflags-$(1)) $$^ $$(simt-libs) -o $$@
endef
$(foreach flavour,check fast,$(foreach i,$(cf-interpreters),$(eval $(call cf-isa-program,$(flavour),$(i)))))

# The divergence corpus, every kernel at two levels of optimisation.
cf-kernels := $(wildcard tests/conformance/kernels/*.[cS])
cf-images := $(foreach k,$(notdir $(cf-kernels)),$(CF)/kernels/$(basename $(k))-O1.bin $(CF)/kernels/$(basename $(k))-O2.bin)
CF_KERNEL_FLAGS := --target=riscv32 -march=rv32ima_zicsr -mabi=ilp32 -Wall -Wextra -Werror -ffreestanding -fno-builtin \
	-nostdlib -fuse-ld=lld -Wl,-T,tests/conformance/kernels/kernel.ld,--oformat=binary

define cf-kernel
$(CF)/kernels/$(basename $(notdir $(1)))-$(2).bin: $(1) tests/conformance/kernels/kernel.h tests/conformance/kernels/kernel.ld | build/.setup/test
	$$(call say,KERNEL,$(1) [$(2)])
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CLANG) $$(CF_KERNEL_FLAGS) -$(2) $$< -o $$@
endef
$(foreach k,$(cf-kernels),$(foreach o,O1 O2,$(eval $(call cf-kernel,$(k),$(o)))))

.PHONY: conformance-programs conformance tsan
conformance-programs: $(addprefix $(CF)/check/,$(cf-programs) $(cf-isa)) $(cf-images)

conformance: $(addprefix $(CF)/fast/,$(cf-programs) $(cf-isa)) $(cf-images) | build/.setup/test ## the engine against independent oracles, long run (SEED=N)
	$(Q)$(if $(SEED),SEED=$(SEED)) tests/conformance/conformance

tsan: $(CF)/tsan/threads ## the worker threads under ThreadSanitizer
	$(Q)$<
