# SPDX-License-Identifier: MIT
# tests/bench/NAME_bench.c is one benchmark program on the host; it prints lines `BENCH name value unit`.
#@ Benchmarks

include qemu/simt/hosted.mk

BENCH := build/bench
bench-programs := $(patsubst tests/bench/%.c,$(BENCH)/%,$(wildcard tests/bench/*_bench.c))
BENCH_CFLAGS := -std=gnu17 -O3 -g -Wall -Wextra -Werror -Iqemu/simt/include -I$(BENCH) $(simt-cflags) -pthread

$(BENCH)/obj/%.o: %.c
	$(call say,CC,$< [bench])
	$(Q)mkdir -p $(@D)
	$(Q)gcc $(BENCH_CFLAGS) -MMD -MP -c $< -o $@

# Kernels of jit_bench and time_bench: the image as bytes, and the address of each function as a macro.
$(BENCH)/jit_kernels.h: tests/bench/jit_kernels.c | build/.setup/guest
	$(call say,KERNEL,$<)
	$(Q)mkdir -p $(@D)
	$(Q)clang-19 --target=riscv32 -march=rv32imaf -mabi=ilp32f -O2 -std=gnu17 -ffreestanding -fno-builtin \
		-ffp-contract=fast -Wall -Wextra -Werror -nostdlib -fuse-ld=lld -Wl,-Ttext=0,-e,0,--no-relax $< -o $(@:.h=.elf)
	$(Q)llvm-objcopy-19 -O binary -j .text $(@:.h=.elf) $(@:.h=.bin)
	$(Q){ llvm-nm-19 $(@:.h=.elf) | awk '$$2 == "T" { printf "#define %s 0x%su\n", toupper($$3), $$1 }'; \
		echo 'static const unsigned char kernel_image[] = {'; \
		od -An -v -tu1 $(@:.h=.bin) | sed 's/[0-9]\+/&,/g'; echo '};'; } > $@
$(BENCH)/obj/tests/bench/jit_bench.o $(BENCH)/obj/tests/bench/time_bench.o: $(BENCH)/jit_kernels.h

$(BENCH)/%: $(BENCH)/obj/tests/bench/%.o $(simt-objs)
	$(call say,LINK,$@)
	$(Q)gcc $(BENCH_CFLAGS) $^ $(simt-libs) -lm -o $@
-include $(bench-programs:$(BENCH)/%=$(BENCH)/obj/tests/bench/%.d)

.PHONY: bench
.SECONDARY: $(bench-programs:$(BENCH)/%=$(BENCH)/obj/tests/bench/%.o)
bench: $(bench-programs) $(QEMU_BIN) | build/.setup/guest build/.setup/bench ## measure everything: a table and build/bench.json (T=WORD: only names that hold it; OPS=1 or OPS='sgemm relu': operators instead)
ifdef OPS
	$(Q)$(PYTHON) tools/bench-operators --limits $(BENCH)/host_limits_bench $(filter-out 1,$(OPS))
else
	$(Q)$(PYTHON) tools/bench --programs '$(bench-programs)' $(if $(T),--only '$(T)')
endif
