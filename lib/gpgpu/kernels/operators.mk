# SPDX-License-Identifier: MIT
# lib/gpgpu/kernels/NAME.c -> one module, build/lib/gpgpu/kernels/operators.{elf,sm_61.ptx,sm_70.ptx} ->
# operators.image.c. All sources are one translation unit, since PTX has no linker outside the CUDA toolkit.
OPS := build/lib/gpgpu/kernels/operators
OPS_CC := clang-19 -std=gnu17 -O2 -ffreestanding -fno-builtin -ffp-contract=fast -fno-math-errno -Ilib/gpgpu/kernels \
	-Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes
OPS_RV32 := --target=riscv32 -march=rv32imaf -mabi=ilp32f -mcmodel=medany -fPIE -fvisibility=hidden -fno-jump-tables
OPS_LIMIT := 131072 # bytes of RV32 code

$(OPS).c: $(wildcard lib/gpgpu/kernels/*.c)
	$(Q)mkdir -p $(@D)
	$(Q)printf '#include "%s"\n' $(^F) > $@

# Linked at two addresses: equal code does not depend on where it is loaded.
$(OPS).elf: $(OPS).c $(kernel-lds) | build/.setup/guest
	$(call say,KERNEL,$@)
	$(Q)$(OPS_CC) $(OPS_RV32) -MMD -MP -MT $@ -MF $(OPS).d -c $< -o $(OPS).o
	$(Q)for base in 0 0x12340; do \
		ld.lld-19 -e 0 -T $(kernel-lds) --defsym=kernel_base=$$base $(OPS).o -o $(OPS).$$base; \
		llvm-objcopy-19 -O binary -j .text $(OPS).$$base $(OPS).$$base.bin; done
	$(Q)cmp $(OPS).0.bin $(OPS).0x12340.bin
	$(Q)[ $$(stat -c %s $(OPS).0.bin) -le $(OPS_LIMIT) ] || \
		{ echo "operators: $$(stat -c %s $(OPS).0.bin) bytes of code, at most $(OPS_LIMIT)" >&2; exit 1; }
	$(Q)mv $(OPS).0 $@

# The least PTX version that knows the target (PTX ISA, "Release Notes"): older drivers then take it, too.
$(OPS).sm_61.ptx: ptx-version := 50
$(OPS).sm_70.ptx: ptx-version := 60
$(OPS).%.ptx: $(OPS).c $(OPS).elf | build/.setup/guest
	$(call say,PTX,$@)
	$(Q)$(OPS_CC) --target=nvptx64-nvidia-cuda -march=$* --cuda-feature=+ptx$(ptx-version) -S $< -o $@

$(OPS).image.c: $(OPS).elf $(OPS).sm_61.ptx $(OPS).sm_70.ptx tools/embed-kernels tools/ptx.py
	$(Q)$(PYTHON) tools/embed-kernels operators $< sm_61:5.0:$(OPS).sm_61.ptx sm_70:6.0:$(OPS).sm_70.ptx > $@

-include $(OPS).d

# The families of float operators: ops/, cpu/ and catalogue/ have a file each.
float-srcs := activation.c channel.c conv.c pool.c row.c sgemm.c shape.c train.c
