// SPDX-License-Identifier: MIT
/*
 * Registers of configuration space: PCI Local Bus Specification 3.0, chapter 6; for headers of type 1
 * PCI-to-PCI Bridge Architecture Specification 1.2, chapter 3.
 */
#ifndef BUS_PCI_REGS_H
#define BUS_PCI_REGS_H

#define PCI_CONFIG_SIZE     4096u
#define PCI_BUS_CONFIG_SIZE 0x100000ul
#define PCI_SLOTS           32u
#define PCI_FUNCTIONS       8u

#define PCI_REG_VENDOR           0x00u
#define PCI_REG_DEVICE           0x02u
#define PCI_REG_COMMAND          0x04u
#define PCI_COMMAND_INTX_OFF     0x0400u
#define PCI_REG_STATUS           0x06u
#define PCI_STATUS_CAPABILITIES  0x0010u
#define PCI_REG_CLASS_REVISION   0x08u
#define PCI_REG_HEADER_TYPE      0x0eu
#define PCI_HEADER_TYPE_MASK     0x7fu
#define PCI_HEADER_DEVICE        0u
#define PCI_HEADER_BRIDGE        1u
#define PCI_HEADER_MULTIFUNCTION 0x80u
#define PCI_REG_BAR(n)           (0x10u + 4 * (n))
#define PCI_REG_ROM              0x30u
#define PCI_REG_CAPABILITIES     0x34u
#define PCI_REG_PIN              0x3du

/* Base address registers, section 6.2.5.1. */
#define PCI_BAR_REG_IO       0x1u
#define PCI_BAR_REG_IO_MASK  0xfffffffcu
#define PCI_BAR_REG_TYPE     0x6u
#define PCI_BAR_REG_TYPE_32  0x0u
#define PCI_BAR_REG_TYPE_64  0x4u
#define PCI_BAR_REG_PREFETCH 0x8u
#define PCI_BAR_REG_MEM_MASK 0xfffffff0u

/* Header type 1. */
#define PCI_BRIDGE_BARS                  2u
#define PCI_REG_BRIDGE_BUSES             0x18u /* primary, secondary, subordinate: a byte each */
#define PCI_REG_BRIDGE_IO                0x1cu
#define PCI_REG_BRIDGE_MEM               0x20u
#define PCI_REG_BRIDGE_PREFETCH          0x24u
#define PCI_REG_BRIDGE_PREFETCH_BASE_HI  0x28u
#define PCI_REG_BRIDGE_PREFETCH_LIMIT_HI 0x2cu
#define PCI_REG_BRIDGE_IO_HI             0x30u
#define PCI_REG_BRIDGE_ROM               0x38u
#define PCI_BRIDGE_WIDE                  0x1u /* low bits of a base register: 32-bit I/O, 64-bit prefetchable */
#define PCI_BRIDGE_IO_GRAIN              0x1000u
#define PCI_BRIDGE_MEM_GRAIN             0x100000u

/* Capability list, section 6.7. */
#define PCI_CAP_FIRST 0x40u
#define PCI_CAP_NEXT  1u /* offset inside a capability */

/* PCI Express capability, PCIe Base Specification 3.0 section 7.8.2. */
#define PCI_EXP_FLAGS           2u
#define PCI_EXP_TYPE(flags)     (((flags) >> 4) & 0xfu)
#define PCI_EXP_TYPE_ROOT_PORT  4u
#define PCI_EXP_TYPE_DOWNSTREAM 6u

/* MSI, section 6.8.1. */
#define PCI_MSI_CONTROL    2u
#define PCI_MSI_ENABLE     0x0001u
#define PCI_MSI_COUNT      0x0070u
#define PCI_MSI_64         0x0080u
#define PCI_MSI_ADDRESS    4u
#define PCI_MSI_ADDRESS_HI 8u
#define PCI_MSI_DATA_32    8u
#define PCI_MSI_DATA_64    12u

/* MSI-X, section 6.8.2. */
#define PCI_MSIX_CONTROL    2u
#define PCI_MSIX_ENABLE     0x8000u
#define PCI_MSIX_MASK_ALL   0x4000u
#define PCI_MSIX_SIZE       0x07ffu /* entries minus one */
#define PCI_MSIX_TABLE      4u
#define PCI_MSIX_BAR        0x7u
#define PCI_MSIX_ENTRY_SIZE 16u
#define PCI_MSIX_ENTRY_LO   0u
#define PCI_MSIX_ENTRY_HI   4u
#define PCI_MSIX_ENTRY_DATA 8u
#define PCI_MSIX_ENTRY_MASK 12u

#endif
