# SPDX-License-Identifier: GPL-2.0-or-later
# The boards and devices in our QEMU; what the board itself is made of (UART, PLIC, AIA, fw_cfg, …) it selects.
CONFIG_RISCV_VIRT=y
CONFIG_PCI_BRIDGE=y
CONFIG_PCIE_PORT=y
CONFIG_PCIE_PCI_BRIDGE=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_BLK=y
CONFIG_VIRTIO_RNG=y
CONFIG_EDU=y
CONFIG_GPGPU=y
