# SPDX-License-Identifier: MIT
# Which configuration is built, and where. APP=lenet picks configs/lenet_defconfig and build/lenet;
# CONFIG=debug APP=lenet starts from configs/debug_defconfig instead and builds in build/lenet-debug.
# Without either, the last `make NAME_defconfig` counts, else hello.
#@ Configuration

no-config-goals := help clean qemu setup check format %_defconfig test unit qtest boottest bench fuzz conformance tsan docs

PLATFORM ?= riscv64
ifneq ($(filter trace,$(MAKECMDGOALS)),)
CONFIG ?= trace
endif
apps := $(patsubst apps/%/Kconfig,%,$(wildcard apps/*/Kconfig))
configs := $(patsubst configs/%_defconfig,%,$(wildcard configs/*_defconfig))

# $(call one-of,VARIABLE,ALLOWED): stop with one line when the variable holds something else.
one-of = $(if $(filter-out $(2),$($(1))),$(error $(1)=$($(1)): choose one of: $(2)))
$(call one-of,APP,$(apps))
$(call one-of,CONFIG,$(configs))
$(call one-of,PLATFORM,riscv64 linux)

current := $(file < build/.current)
ifneq ($(APP)$(CONFIG),)
name := $(APP)$(if $(CONFIG),$(if $(APP),-)$(CONFIG))
else
name := $(or $(strip $(current)),hello)
endif
B := build/$(name)$(if $(filter-out riscv64,$(PLATFORM)),-$(PLATFORM))
kconfig := $(PYTHON) tools/kconfig

# Set-up runs once per group and per change of the script; it is quick when nothing is missing.
build/.setup/%: tools/setup
	$(Q)tools/setup $*
	$(Q)mkdir -p $(@D) && touch $@

kconfig-files = $(shell find . -name Kconfig -not -path './build/*')

$(B)/.config: | build/.setup/base
	$(Q)$(kconfig) create $@ --app '$(APP)' --config '$(or $(CONFIG),$(if $(APP),,$(name)))' --platform '$(PLATFORM)'

$(B)/auto.conf: $(B)/.config $(kconfig-files) tools/kconfig | build/.setup/base
	$(Q)$(kconfig) sync $<

$(B)/config.h: $(B)/auto.conf ;

.PHONY: menuconfig savedefconfig setup
menuconfig: $(B)/.config ## change the configuration in a menu (APP=NAME: of that app)
	$(Q)$(kconfig) menu $<

savedefconfig: $(B)/.config ## write the configuration's minimal form to configs/NAME_defconfig
	$(Q)$(kconfig) save $< configs/$(name)_defconfig

%_defconfig: configs/%_defconfig | build/.setup/base ## start from configs/NAME_defconfig and make it the current one
	$(Q)$(kconfig) create build/$*/.config --config $* --platform '$(PLATFORM)'
	$(Q)echo $* > build/.current

configs/%_defconfig:
	@echo "no configs/$*_defconfig: choose one of: $(configs:=_defconfig)" >&2; exit 1

setup: ## install every Debian package that any goal needs
	$(Q)tools/setup
