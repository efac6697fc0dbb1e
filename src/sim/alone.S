/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * alone.S - where a simulated program begins that is started by itself.
 *
 * smpicc makes programs shared objects, which SMPI loads once for each rank.  By itself
 * such a one is run by no dynamic linker, and without this its first instruction would be
 * the header of its file.  Nothing is relocated here, and no library is there: only the
 * system can be called.  Programs are linked with it, so it is in an archive of its own.
 *
 * With SMPI_PRETEND_CC, which configure scripts set, smpicc makes a usual program, with a
 * usual start.
 */
#include <asm/unistd.h>

#define REFUSED 2 /* as scripts/orrery */
#define STDERR  2

	.section .rodata
	.hidden words
words:	.ascii "[orrery] this program is linked with liborrery-sim, the simulated "
	.ascii "flavour, and cannot be started by itself: start it with orrery run "
	.ascii "--sim PLATFORM -n N PROGRAM, or with smpirun; for a real run, link "
	.ascii "it with liborrery (orrery cc without --sim)\n"
words_end:

	.text
	.globl orrery_sim_alone
	.hidden orrery_sim_alone
	.type orrery_sim_alone, %function
	.weak _start
	.hidden _start
orrery_sim_alone:
#if defined(__x86_64__)
	movq _start@GOTPCREL(%rip), %rax
	testq %rax, %rax
	jz alone
	jmp *%rax
alone:	movl $__NR_write, %eax
	movl $STDERR, %edi
	leaq words(%rip), %rsi
	movl $(words_end - words), %edx
	syscall
	movl $__NR_exit_group, %eax
	movl $REFUSED, %edi
	syscall
#elif defined(__aarch64__)
	adrp x16, :got:_start
	ldr x16, [x16, :got_lo12:_start]
	cbz x16, alone
	br x16
alone:	mov x8, #__NR_write
	mov x0, #STDERR
	adrp x1, words
	add x1, x1, :lo12:words
	mov x2, #(words_end - words)
	svc #0
	mov x8, #__NR_exit_group
	mov x0, #REFUSED
	svc #0
#endif
	.size orrery_sim_alone, . - orrery_sim_alone
	.section .note.GNU-stack, "", %progbits
