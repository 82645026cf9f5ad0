# SPDX-License-Identifier: MIT
# Starting an image: under QEMU, or as the Linux process that it is.
#@ Running

OPENSBI ?= /usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin
MACHINE ?= virt
MEM ?= 256M
SMP ?= 1
DEVICES ?= -device gpgpu
APPEND ?=
DATA ?=
QEMU_ARGS ?=

$(if $(DATA),$(if $(wildcard $(DATA)),,$(error DATA=$(DATA): there is no such file)))

# One word for the shell, whatever quotes it holds.
comma := ,
quoted = '$(subst ','\'',$(1))'

qemu-command = $(QEMU_BIN) -M $(MACHINE) -m $(MEM) -smp $(SMP) -display none -serial mon:stdio -no-reboot \
	-bios $(OPENSBI) -kernel $(image) $(if $(APPEND),-append $(call quoted,$(APPEND))) $(DEVICES) $(QEMU_ARGS) \
	$(if $(DATA),-fw_cfg name=opt/weft/data$(comma)file=$(DATA))

.PHONY: run debug run-command
ifdef CONFIG_PLATFORM_LINUX
$(call one-of,GPU,sim null)

run: $(image) ## run the app: APP=lenet; MACHINE=virt,aia=aplic-imsic SMP=1 DEVICES='-device gpgpu' APPEND='...' DATA=FILE
	$(Q)$(if $(GPU),WEFT_GPU=$(GPU)) $(image) $(APPEND) $(if $(DATA),data=$(DATA))

run-command: $(image)
	@echo "$(if $(GPU),env WEFT_GPU=$(GPU)) $(image) $(APPEND) $(if $(DATA),data=$(DATA))"

debug: $(image)
	$(Q)gdb --args $(image) $(APPEND) $(if $(DATA),data=$(DATA))
else
run: $(image) $(QEMU_BIN) | build/.setup/guest
	$(call say,QEMU,$(image))
	$(Q)$(qemu-command)

run-command: $(image) $(QEMU_BIN) | build/.setup/guest
	@printf '%s\n' $(call quoted,$(qemu-command))

debug: $(image) $(QEMU_BIN) | build/.setup/guest ## run the app halted, waiting for gdb on port 1234
	@echo "gdb-multiarch $(image) -x tools/gdb/weft.py -ex 'target remote :1234'   (then: weft-devices, weft-pages, weft-heap)"
	$(Q)$(qemu-command) -S -s
endif
