# SPDX-License-Identifier: MIT
# FOLDER/NAME.S, code for the SIMT device -> build/FOLDER/NAME.elf -> build/FOLDER/NAME.image.c, an image that any
# program of the project compiles in. Independent of the configuration.
ifndef KERNEL_CC
KERNEL_CC := riscv64-unknown-elf-gcc -march=rv32imf -mabi=ilp32

kernel-folders := lib/gpgpu/kernels lib/gpgpu/conformance/kernels
kernels := $(basename $(wildcard $(kernel-folders:%=%/*.S)))
kernel-lds := lib/gpgpu/kernels/kernels.lds

build/%.elf: %.S $(kernel-lds) | build/.setup/guest
	$(call say,KERNEL,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(KERNEL_CC) -MMD -MP -MF $(@:.elf=.d) -nostdlib -Wl,--build-id=none,-e,0,-T,$(kernel-lds) $< -o $@

build/%.image.c: build/%.elf tools/embed-kernels
	$(Q)$(PYTHON) tools/embed-kernels $(*F) $< > $@

include lib/gpgpu/kernels/operators.mk

.SECONDARY: $(kernels:%=build/%.elf) $(kernels:%=build/%.image.c)
-include $(kernels:%=build/%.d)
endif
