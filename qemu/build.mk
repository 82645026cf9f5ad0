# SPDX-License-Identifier: MIT
# QEMU with our device: build/qemu/qemu-system-riscv64, or the binary that QEMU= names.
#@ Emulator

ifdef QEMU
QEMU_BIN := $(shell command -v $(QEMU))
$(if $(QEMU_BIN),,$(error QEMU=$(QEMU): no such program. Without QEMU= one is built; QEMU=FILE is a QEMU 10.0 that has the gpgpu device))
else
QEMU_BIN := build/qemu/qemu-system-riscv64

# Whether something changed is decided by content, in the script; the file keeps its time when nothing did.
$(QEMU_BIN): FORCE | build/.setup/qemu build/.setup/jit
	$(Q)tools/build-qemu build/qemu
endif

.PHONY: qemu
qemu: $(QEMU_BIN) ## build QEMU with the gpgpu device (QEMU_SRC=DIR: from that source; QEMU=FILE: use that one)
	$(Q)$(QEMU_BIN) -M none -device help | grep -q '"gpgpu"' || { echo 'qemu: $(QEMU_BIN) has no gpgpu device' >&2; exit 1; }
