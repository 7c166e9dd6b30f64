#include "drivers/emu/fiber_switch.h"

#include <stdint.h>

#include "drivers/emu/sanitize.h"

#if EMU_FIBER_PORTABLE

void emu_fiber_context_make(emu_fiber_context *context, void *stack, size_t stack_bytes,
                            void (*entry)(void)) {
    (void)getcontext(context);
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = stack_bytes;
    context->uc_link = NULL;
    makecontext(context, entry, 0);
}

EMU_NO_TSAN void emu_fiber_context_switch(emu_fiber_context *from, emu_fiber_context *to) {
    (void)swapcontext(from, to);
}

#else

/* emu_fiber_registers_switch(void **save, void *load): pushes the registers that a callee has to
 * keep, stores the stack pointer, loads the other one, and pops. The control words of the floating
 * point units are kept too. */
void emu_fiber_registers_switch(void **save, void *load);

#if defined(__x86_64__)

enum { SAVED_WORDS = 7 }; /* rbp, rbx, r12 to r15, and the control words */

__asm__(".text\n"
        ".p2align 4\n"
        ".globl emu_fiber_registers_switch\n"
        ".hidden emu_fiber_registers_switch\n"
        ".type emu_fiber_registers_switch, @function\n"
        "emu_fiber_registers_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    subq $8, %rsp\n"
        "    stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    ldmxcsr (%rsp)\n"
        "    fldcw 4(%rsp)\n"
        "    addq $8, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size emu_fiber_registers_switch, . - emu_fiber_registers_switch\n");

static void keep_control_words(uint64_t *words) {
    uint32_t mxcsr;
    uint16_t x87;
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    words[0] = mxcsr | (uint64_t)x87 << 32;
}

void emu_fiber_context_make(emu_fiber_context *context, void *stack, size_t stack_bytes,
                            void (*entry)(void)) {
    /* The stack is aligned to 16 where a function is called, so it is 8 off where it begins. */
    uintptr_t top = ((uintptr_t)stack + stack_bytes) & ~(uintptr_t)15;
    uint64_t *words = (uint64_t *)top - 2 - SAVED_WORDS;
    for (int i = 0; i < SAVED_WORDS; i++)
        words[i] = 0;
    keep_control_words(words);
    words[SAVED_WORDS] = (uint64_t)(uintptr_t)entry;
    words[SAVED_WORDS + 1] = 0; /* nobody to return to */
    context->stack_pointer = words;
}

#elif defined(__aarch64__)

enum { SAVED_WORDS = 20 }; /* x19 to x30, d8 to d15 */

__asm__(".text\n"
        ".p2align 4\n"
        ".globl emu_fiber_registers_switch\n"
        ".hidden emu_fiber_registers_switch\n"
        ".type emu_fiber_registers_switch, %function\n"
        "emu_fiber_registers_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size emu_fiber_registers_switch, . - emu_fiber_registers_switch\n");

void emu_fiber_context_make(emu_fiber_context *context, void *stack, size_t stack_bytes,
                            void (*entry)(void)) {
    enum { LINK_REGISTER = 11 };
    uintptr_t top = ((uintptr_t)stack + stack_bytes) & ~(uintptr_t)15;
    uint64_t *words = (uint64_t *)top - SAVED_WORDS;
    for (int i = 0; i < SAVED_WORDS; i++)
        words[i] = 0;
    words[LINK_REGISTER] = (uint64_t)(uintptr_t)entry;
    context->stack_pointer = words;
}

#endif

EMU_NO_TSAN void emu_fiber_context_switch(emu_fiber_context *from, emu_fiber_context *to) {
    emu_fiber_registers_switch(&from->stack_pointer, to->stack_pointer);
}

#endif
