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

# With CONFIG_TRACE, guest and device write what happened to files, and after the run these become one.
trace-files := $(B)/guest.trace $(B)/device.trace
ifdef CONFIG_TRACE
append = trace=$(B)/guest.trace $(APPEND)
trace-qemu := -semihosting-config enable=on,target=native -global gpgpu.timeline=$(B)/device.trace
traced = rm -f $(trace-files); code=0; $(1) || code=$$?; \
	tools/trace2perfetto $(trace-files) -o $(B)/trace.json && tools/trace-plot $(B)/trace.json -o $(B)/trace.svg && \
	echo "$(B)/trace.json: open it at ui.perfetto.dev or in chrome://tracing; $(B)/trace.svg is a picture of it"; \
	exit $$code
else
append = $(APPEND)
traced = $(1)
endif

qemu-command = $(QEMU_BIN) -M $(MACHINE) -m $(MEM) -smp $(SMP) -display none -serial mon:stdio -no-reboot \
	-bios $(OPENSBI) -kernel $(image) $(if $(strip $(append)),-append $(call quoted,$(strip $(append)))) $(DEVICES) \
	$(trace-qemu) $(QEMU_ARGS) $(if $(DATA),-fw_cfg name=opt/weft/data$(comma)file=$(DATA))
process-args = $(append) $(if $(CONFIG_TRACE),timeline=$(B)/device.trace) $(if $(DATA),data=$(DATA))

.PHONY: trace
trace: run ## run the app, then show what happened when, on processor and GPU: APP=lenet (docs/trace.md)
	$(if $(CONFIG_TRACE),,$(error CONFIG=$(CONFIG): make trace needs a configuration with CONFIG_TRACE))@:

.PHONY: run debug run-command
ifdef CONFIG_PLATFORM_LINUX
$(call one-of,GPU,sim null)
$(call one-of,ENGINE,auto interp jit check)
hosted-environment = $(strip $(if $(GPU),WEFT_GPU=$(GPU)) $(if $(ENGINE),WEFT_ENGINE=$(ENGINE)))

run: $(image) ## run the app: APP=lenet; MACHINE=virt,aia=aplic-imsic SMP=1 DEVICES='-device gpgpu' APPEND='...' DATA=FILE
	$(Q)$(call traced,$(hosted-environment) $(image) $(process-args))

run-command: $(image)
	@echo "$(if $(hosted-environment),env $(hosted-environment)) $(image) $(process-args)"

debug: $(image)
	$(Q)gdb --args $(image) $(process-args)
else
run: $(image) $(QEMU_BIN) | build/.setup/guest
	$(call say,QEMU,$(image))
	$(Q)$(call traced,$(qemu-command))

run-command: $(image) $(QEMU_BIN) | build/.setup/guest
	@printf '%s\n' $(call quoted,$(qemu-command))

debug: $(image) $(QEMU_BIN) | build/.setup/guest ## run the app halted, waiting for gdb on port 1234
	@echo "gdb-multiarch $(image) -x tools/gdb/weft.py -ex 'target remote :1234'   (then: weft-devices, weft-pages, weft-heap)"
	$(Q)$(qemu-command) -S -s
endif
