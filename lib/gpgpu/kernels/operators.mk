# SPDX-License-Identifier: MIT
# lib/gpgpu/kernels/NAME.c -> one module, build/lib/gpgpu/kernels/operators.{elf,sm_61.ptx,sm_70.ptx} ->
# operators.image.c. All sources are one translation unit, since PTX has no linker outside the CUDA toolkit.
op-module := build/lib/gpgpu/kernels/operators
op-cc := clang-19 -std=gnu17 -O2 -ffreestanding -fno-builtin -ffp-contract=fast -fno-math-errno -Ilib/gpgpu/kernels \
	-Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes
op-rv32 := --target=riscv32 -march=rv32imaf -mabi=ilp32f -mcmodel=medany -fPIE -fvisibility=hidden -fno-jump-tables
op-limit := 131072 # bytes of RV32 code

$(op-module).c: $(wildcard lib/gpgpu/kernels/*.c)
	$(Q)mkdir -p $(@D)
	$(Q)printf '#include "%s"\n' $(^F) > $@

# Linked at two addresses: equal code does not depend on where it is loaded.
$(op-module).elf: $(op-module).c $(kernel-lds) | build/.setup/guest
	$(call say,KERNEL,$@)
	$(Q)$(op-cc) $(op-rv32) -MMD -MP -MT $@ -MF $(op-module).d -c $< -o $(op-module).o
	$(Q)for base in 0 0x12340; do \
		ld.lld-19 -e 0 -T $(kernel-lds) --defsym=kernel_base=$$base $(op-module).o -o $(op-module).$$base; \
		llvm-objcopy-19 -O binary -j .text $(op-module).$$base $(op-module).$$base.bin; done
	$(Q)cmp $(op-module).0.bin $(op-module).0x12340.bin
	$(Q)[ $$(stat -c %s $(op-module).0.bin) -le $(op-limit) ] || \
		{ echo "operators: $$(stat -c %s $(op-module).0.bin) bytes of code, at most $(op-limit)" >&2; exit 1; }
	$(Q)mv $(op-module).0 $@

# The least PTX version that knows the target (PTX ISA, "Release Notes"): older drivers then take it, too.
$(op-module).sm_61.ptx: ptx-version := 50
$(op-module).sm_70.ptx: ptx-version := 60
$(op-module).%.ptx: $(op-module).c $(op-module).elf | build/.setup/guest
	$(call say,PTX,$@)
	$(Q)$(op-cc) --target=nvptx64-nvidia-cuda -march=$* --cuda-feature=+ptx$(ptx-version) -S $< -o $@

$(op-module).image.c: $(op-module).elf $(op-module).sm_61.ptx $(op-module).sm_70.ptx tools/embed-kernels tools/ptx.py
	$(Q)$(PYTHON) tools/embed-kernels operators $< sm_61:5.0:$(op-module).sm_61.ptx sm_70:6.0:$(op-module).sm_70.ptx > $@

-include $(op-module).d

# The families of float operators: ops/, cpu/ and catalogue/ have a file each.
float-srcs := activation.c channel.c conv.c pool.c row.c sgemm.c shape.c train.c
