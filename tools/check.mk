# SPDX-License-Identifier: MIT
# What can be said about the sources without running them.
#@ Checks

c-files := $(shell git ls-files '*.c' '*.h' 2>/dev/null)
CLANG_FORMAT ?= clang-format-19
CPPCHECK := cppcheck -q -j2 --std=c11 --error-exitcode=1 --inline-suppr --enable=warning,performance,portability \
	--suppressions-list=tools/check/cppcheck.txt

.PHONY: check format check-format check-sources check-docs check-kconfig check-cppcheck docs
check: check-format check-sources check-docs check-kconfig check-cppcheck ## formatting, layers, licences, Kconfig, cppcheck
	@echo "check: all passed"

format: | build/.setup/check ## rewrite the C files in the project's format
	$(Q)$(CLANG_FORMAT) -i $(c-files)

check-format: | build/.setup/check
	$(call say,CHECK,format of $(words $(c-files)) files)
	$(Q)$(CLANG_FORMAT) --dry-run -Werror $(c-files)

check-sources:
	$(call say,CHECK,layers and licences)
	$(Q)$(PYTHON) tools/check/layers
	$(Q)$(PYTHON) tools/check/spdx

check-docs:
	$(call say,CHECK,documents made from sources)
	$(Q)$(PYTHON) tools/device-doc --check

docs: build/unit/operator_server ## make the documents' tables anew from the sources
	$(Q)$(PYTHON) tools/device-doc --write
	$(Q)$(PYTHON) tools/operators-doc --write

check-kconfig: | build/.setup/base
	$(call say,CHECK,Kconfig)
	$(Q)$(PYTHON) tools/check/kconfig-symbols
	$(Q)for c in $(configs); do $(kconfig) create build/.check/.config --config $$c --platform riscv64; done

# Not the device's front end (it needs all of QEMU's headers) nor kernels (clang checks them for three targets).
check-cppcheck: | build/.setup/check
	$(call say,CHECK,cppcheck)
	$(Q)$(CPPCHECK) $(addprefix -I,$(wildcard */include lib/*/include qemu/simt/include)) \
		$(filter-out tests/% qemu/hw/% lib/gpgpu/kernels/%,$(filter %.c,$(c-files)))
