# SPDX-License-Identifier: MIT
# build/unit/operator_server: the catalogue, for tests/onnx/test_onnx.py and tools/operators-doc.
include lib/gpgpu/kernels/kernels.mk
include qemu/simt/hosted.mk

src-operator_server := tests/onnx/operator_server.c $(addprefix drivers/gpgpu/,gpgpu.c rv32.c rv32_work.c vram.c sim/sim.c) \
	lib/gpgpu/pool.c $(wildcard lib/gpgpu/catalogue/*.c) $(addprefix lib/gpgpu/cpu/,$(float-srcs)) \
	$(addprefix lib/gpgpu/ops/,$(float-srcs) tensor.c check.c launch.c graph.c event.c) $(op-module).image.c \
	$(addprefix hal/linux/,time.c) $(wildcard bus/*.c lib/core/*.c)
# Large shapes: without sanitizers, which see the same code in tests/unit/operators.
cflags-operator_server := $(filter-out -O%,$(simt-cflags)) $(simt-includes) -O3 -fno-sanitize=all -Idrivers/gpgpu
libs-operator_server := $(simt-objs) $(simt-libs)
$(eval $(call unit-program,operator_server))
$(U)/operator_server: $(simt-objs)
unit-programs: $(U)/operator_server
