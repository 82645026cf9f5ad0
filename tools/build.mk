# SPDX-License-Identifier: MIT
# From the folders' object lists to one image. A folder's Makefile sets obj-y (objects), dir-y (folders below it).
#@ Building

include-dirs := hal/include bus/include drivers/include lib/core/include lib/gpgpu/include lib/nn/include qemu/simt/include
CPPFLAGS := $(addprefix -I,$(wildcard $(include-dirs))) -include $(B)/config.h
CFLAGS := -std=gnu17 -O2 -g -ffile-prefix-map=$(CURDIR)=. -fno-common -ffunction-sections -fdata-sections \
	-Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
LDFLAGS := -Wl,--gc-sections
LDLIBS :=
objs :=

# Read folder $(1)/Makefile: its objects, then the folders it names.
define read-folder
obj-y :=
dir-y :=
d := $(1)
include $(1)/Makefile
objs += $$(addprefix $(1)/,$$(obj-y))
dirs-of-$(1) := $$(addprefix $(1)/,$$(dir-y))
$$(foreach sub,$$(dirs-of-$(1)),$$(eval $$(call read-folder,$$(sub))))
endef
$(foreach dir,hal bus drivers lib apps,$(eval $(call read-folder,$(dir))))

# The in-process GPU is the device model's own engine.
ifdef CONFIG_GPGPU_SIM
include qemu/simt/hosted.mk
LDLIBS += $(simt-libs)
endif

obj-files := $(addprefix $(B)/obj/,$(sort $(objs)))
compile = $(CC) $(CPPFLAGS) $(CFLAGS) $(cflags-$(basename $*)) -MMD -MP

$(B)/obj/%.o: %.c $(B)/config.h
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(compile) -c $< -o $@

$(B)/obj/%.o: %.S $(B)/config.h
	$(call say,AS,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(compile) -c $< -o $@

# A change of flags rebuilds everything, through this file's content.
all-flags = $(compile) $(foreach v,$(sort $(filter cflags-%,$(.VARIABLES))),$v=$($v)) $(LDFLAGS) $(LDLIBS) $(obj-files)
$(B)/flags: FORCE
	$(Q)mkdir -p $(@D); printf '%s\n' '$(all-flags)' | cmp -s - $@ || printf '%s\n' '$(all-flags)' > $@
$(obj-files): $(B)/flags | build/.setup/$(setup-group)

.PHONY: image
image: $(image) ## build the image of the current configuration (APP=NAME, CONFIG=NAME, PLATFORM=linux)

compile_commands.json: FORCE ## write the compiler commands for editors and analysers
	$(Q)$(MAKE) -nB V=1 image | $(PYTHON) tools/compile-commands > $@

-include $(obj-files:.o=.d)
