# SPDX-License-Identifier: MIT
# tests/bench/NAME_bench.c is one benchmark program on the host; it prints lines `BENCH name value unit`.
#@ Benchmarks

include qemu/simt/hosted.mk

BENCH := build/bench
bench-programs := $(patsubst tests/bench/%.c,$(BENCH)/%,$(wildcard tests/bench/*_bench.c))
BENCH_CFLAGS := -std=gnu17 -O3 -g -Wall -Wextra -Werror -Iqemu/simt/include $(simt-cflags) -pthread

$(BENCH)/obj/%.o: %.c
	$(call say,CC,$< [bench])
	$(Q)mkdir -p $(@D)
	$(Q)gcc $(BENCH_CFLAGS) -MMD -MP -c $< -o $@

$(BENCH)/%: $(BENCH)/obj/tests/bench/%.o $(simt-objs)
	$(call say,LINK,$@)
	$(Q)gcc $(BENCH_CFLAGS) $^ $(simt-libs) -lm -o $@
-include $(bench-programs:$(BENCH)/%=$(BENCH)/obj/tests/bench/%.d)

.PHONY: bench
.SECONDARY: $(bench-programs:$(BENCH)/%=$(BENCH)/obj/tests/bench/%.o)
bench: $(bench-programs) $(QEMU_BIN) | build/.setup/guest ## measure everything: a table and build/bench.json (T=WORD: only names that hold it; OPS=1 or OPS='sgemm relu': operators instead)
ifdef OPS
	$(Q)$(PYTHON) tools/bench-operators --limits $(BENCH)/host_limits_bench $(filter-out 1,$(OPS))
else
	$(Q)$(PYTHON) tools/bench --programs '$(bench-programs)' $(if $(T),--only '$(T)')
endif
