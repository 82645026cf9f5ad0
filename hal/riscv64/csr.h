// SPDX-License-Identifier: MIT
// Control and status registers (RISC-V Privileged ISA 20240411; AIA 1.0 for the indirect ones) by number, as
// the assembler of Debian 12 does not know the newer names.
#ifndef HAL_RISCV64_CSR_H
#define HAL_RISCV64_CSR_H

#define CSR_SSTATUS  0x100
#define CSR_SIE      0x104
#define CSR_STVEC    0x105
#define CSR_SSCRATCH 0x140
#define CSR_SEPC     0x141
#define CSR_SCAUSE   0x142
#define CSR_STVAL    0x143
#define CSR_SIP      0x144
#define CSR_SISELECT 0x150
#define CSR_SIREG    0x151
#define CSR_STOPEI   0x15c
#define CSR_SATP     0x180
#define CSR_TIME     0xc01

#define SSTATUS_SIE        (1ul << 1)
#define SSTATUS_FS_INITIAL (1ul << 13)
#define SIE_SSIE           (1ul << 1)
#define SIE_STIE           (1ul << 5)
#define SIE_SEIE           (1ul << 9)
#define SATP_SV39          (8ul << 60)

#define SCAUSE_INTERRUPT (1ul << 63)
#define IRQ_S_SOFTWARE   1ul
#define IRQ_S_TIMER      5ul
#define IRQ_S_EXTERNAL   9ul

#define CAUSE_INSTRUCTION_PAGE_FAULT 12ul
#define CAUSE_LOAD_PAGE_FAULT        13ul
#define CAUSE_STORE_PAGE_FAULT       15ul

#ifndef __ASSEMBLER__

#define CSR_STRING(x)  #x
#define CSR_STRING2(x) CSR_STRING(x)

#define csr_read(csr)                                                                                        \
    ({                                                                                                       \
        unsigned long csr_value;                                                                             \
        __asm__ volatile("csrr %0, " CSR_STRING2(csr) : "=r"(csr_value)::"memory");                          \
        csr_value;                                                                                           \
    })

// One instruction that writes, sets or clears bits; and one that also returns what was there.
#define csr_change(op, csr, bits)                                                                            \
    __asm__ volatile(op " " CSR_STRING2(csr) ", %0" ::"rK"((unsigned long)(bits)) : "memory")
#define csr_exchange(op, csr, bits)                                                                          \
    ({                                                                                                       \
        unsigned long csr_value;                                                                             \
        __asm__ volatile(op " %0, " CSR_STRING2(csr) ", %1"                                                  \
                         : "=r"(csr_value)                                                                   \
                         : "rK"((unsigned long)(bits))                                                       \
                         : "memory");                                                                        \
        csr_value;                                                                                           \
    })

#define csr_write(csr, value)      csr_change("csrw", csr, value)
#define csr_set(csr, bits)         csr_change("csrs", csr, bits)
#define csr_clear(csr, bits)       csr_change("csrc", csr, bits)
#define csr_swap(csr, value)       csr_exchange("csrrw", csr, value)
#define csr_fetch_clear(csr, bits) csr_exchange("csrrc", csr, bits)

#endif
#endif
