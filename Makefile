# SPDX-License-Identifier: MIT
# Weft. `make help` lists what there is; each folder's own Makefile lists its objects.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -ec
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory
.SECONDEXPANSION:
.DEFAULT_GOAL := image

PYTHON ?= /usr/bin/python3
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = @printf '  %-8s %s\n' '$(1)' '$(2)'

include tools/config.mk
include qemu/build.mk

# Goals that need no configuration do not read or make one.
ifneq ($(filter-out $(no-config-goals),$(or $(MAKECMDGOALS),image)),)
include $(B)/auto.conf
include tools/build.mk
include tools/run.mk
endif

include tests/tests.mk
include tools/check.mk

.PHONY: help clean FORCE
FORCE:
help: ## this list
	@$(PYTHON) tools/make-help Makefile tools/config.mk tools/build.mk tools/run.mk qemu/build.mk tests/tests.mk tests/conformance/conformance.mk tests/fuzz/fuzz.mk tests/bench/bench.mk tools/check.mk

clean: ## remove build/ (the cache of downloads and of the built QEMU stays)
	rm -rf build
