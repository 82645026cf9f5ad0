# SPDX-License-Identifier: MIT
# The engine's objects for programs of this machine: they depend on no configuration, so all share build/simt/.
ifndef simt-objs

# sources.mk looks for LLVM when make starts, so goals that compile the engine have it installed before: make reads
# its makefiles again once this file is there.
ifneq ($(filter test unit bench conformance fuzz tsan,$(MAKECMDGOALS))$(filter linux,$(PLATFORM)),)
include build/.setup/jit.mk
endif
build/.setup/jit.mk: tools/setup
	$(Q)tools/setup jit
	$(Q)mkdir -p $(@D) && touch $@

include qemu/simt/sources.mk
simt-objs := $(simt-srcs:qemu/simt/%.c=build/simt/%.o)

build/simt/%.o: qemu/simt/%.c qemu/simt/sources.mk
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)gcc -g -ffile-prefix-map=$(CURDIR)=. -Wall -Wextra -Werror -Wshadow $(simt-includes) $(simt-cflags) -MMD -MP \
		-c $< -o $@

-include $(simt-objs:.o=.d)
endif
