# SPDX-License-Identifier: MIT
# libFuzzer targets over the engine's public functions. tests/fuzz/corpus/TARGET holds the seeds and every input that
# once failed; `make test` runs them again, `make fuzz` starts from them and leaves what it finds there.

FUZZ_SECONDS ?= 60
fuzz-targets := fuzz_program fuzz_engine fuzz_scalar
fuzz-objs := tests/fuzz/launch.c tests/conformance/scalar.c

define fuzz-target
$(CF)/check/$(1): $$(call cf-engine,check) $$(call cf-objs,check,tests/fuzz/$(1).c $(fuzz-objs))
	$$(call say,LINK,$$@)
	$$(Q)$$(CLANG) -fsanitize=fuzzer $$(CF_SANITIZE) $$^ $$(simt-libs) -o $$@
endef
$(foreach target,$(fuzz-targets),$(eval $(call fuzz-target,$(target))))

.PHONY: fuzz-programs fuzz
fuzz-programs: $(addprefix $(CF)/check/,$(fuzz-targets))

fuzz: fuzz-programs $(QEMU_BIN) ## fuzz the engine and the device's front end: FUZZ_SECONDS=60 for each
	$(Q)for t in $(fuzz-targets); do \
		mkdir -p build/fuzz/$$t; \
		echo "fuzz: $$t for $(FUZZ_SECONDS) s"; \
		$(CF)/check/$$t -max_total_time=$(FUZZ_SECONDS) -timeout=20 -max_len=16384 -print_final_stats=1 -verbosity=0 \
			-artifact_prefix=tests/fuzz/corpus/$$t/ build/fuzz/$$t tests/fuzz/corpus/$$t; \
	done
	$(Q)echo "fuzz: front end for $(FUZZ_SECONDS) s"
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) $(PYTHON) -m pytest -q -p no:cacheprovider tests/qtest/test_random.py
