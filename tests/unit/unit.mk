# SPDX-License-Identifier: MIT
# tests/unit/NAME/Makefile sets src-NAME (all sources of the test program, from the project's root), and where
# wanted cflags-NAME, libs-NAME and objs-NAME (objects made elsewhere). The result is build/unit/NAME, a cmocka
# program under ASan and UBSan.

U := build/unit
unit-tests := $(patsubst tests/unit/%/Makefile,%,$(wildcard tests/unit/*/Makefile))
include $(addprefix tests/unit/,$(addsuffix /Makefile,$(unit-tests)))

UNIT_CC ?= gcc
UNIT_CFLAGS := -std=gnu17 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
	-Wall -Wextra -Werror -Wshadow -pthread
UNIT_CPPFLAGS := $(addprefix -I,$(wildcard hal/include bus/include drivers/include lib/core/include lib/gpgpu/include \
	lib/nn/include qemu/simt/include tests/unit)) -include $(U)/config.h

$(U)/.config: configs/unit_defconfig | build/.setup/base
	$(Q)$(kconfig) create $@ --config unit --platform linux
$(U)/config.h: $(U)/.config $(kconfig-files) | build/.setup/base
	$(Q)$(kconfig) sync $<

# $(call unit-program,NAME): its objects go to a folder of its own, as tests may differ in flags.
define unit-program
unit-objs-$(1) := $$(src-$(1):%=$(U)/obj/$(1)/%.o)
$(U)/obj/$(1)/%.o: % $(U)/config.h | build/.setup/test
	$$(call say,CC,$$< [$(1)])
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(UNIT_CC) $$(UNIT_CPPFLAGS) $$(UNIT_CFLAGS) $$(cflags-$(1)) -MMD -MP -c $$< -o $$@
$(U)/$(1): $$(unit-objs-$(1)) $$(objs-$(1))
	$$(call say,LINK,$$@)
	$$(Q)$$(UNIT_CC) $$(UNIT_CFLAGS) $$(unit-objs-$(1)) $$(objs-$(1)) -lcmocka $$(libs-$(1)) -o $$@
-include $$(unit-objs-$(1):.o=.d)
endef
$(foreach test,$(unit-tests),$(eval $(call unit-program,$(test))))

.PHONY: unit-programs
unit-programs: $(addprefix $(U)/,$(unit-tests))
