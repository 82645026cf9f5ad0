# SPDX-License-Identifier: MIT
# Every layer's tests. pytest runs them all, so that one line counts them.
#@ Tests

test-dirs := tests/unit tests/conformance tests/fuzz tests/onnx tests/qtest tests/boot tests/docs
JOBS ?= $(shell nproc)
PYTEST := $(PYTHON) -m pytest -q -p no:cacheprovider -n $(JOBS) $(if $(T),-k '$(T)')

.PHONY: test unit qtest boottest
test: unit-programs conformance-programs fuzz-programs $(QEMU_BIN) | build/.setup/test build/.setup/guest ## run every test (T=WORD: those whose name holds it)
	$(Q)$(PYTEST) $(wildcard $(test-dirs)) --junit-xml=build/test.xml

unit: unit-programs | build/.setup/test ## hosted unit tests, under ASan and UBSan
	$(Q)$(PYTEST) tests/unit

qtest: $(QEMU_BIN) | build/.setup/test ## the device's registers and kernels, no guest software
	$(Q)$(PYTEST) tests/qtest

boottest: $(QEMU_BIN) | build/.setup/test build/.setup/guest ## boot every app and read its verdict
	$(Q)$(PYTEST) tests/boot

include tests/unit/unit.mk
include tests/conformance/conformance.mk
include tests/fuzz/fuzz.mk
include tests/onnx/onnx.mk
include tests/bench/bench.mk
