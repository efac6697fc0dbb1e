/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include "sim.h"

#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <sys/mman.h>

/*
 * stack.c - programs that run code on their stacks: a pointer to a nested function of
 * Fortran or of GNU C, such as a kernel that a main program contains, leads to
 * instructions on the stack of the function around it.  The linker marks such a program,
 * and the system makes the stacks of its processes and threads executable; those of
 * SimGrid's actors are memory like any other.
 */
static int has_code_on_stack(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	(void)bytes;
	(void)arg;
	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_GNU_STACK &&
		    object->dlpi_phdr[i].p_flags & PF_X)
			return 1;
	return 0;
}

/* The mapping that an address is in: a stack ends at its guard page and that of another.
 */
static void make_executable(FILE *maps, uintptr_t address)
{
	char line[512];
	uintptr_t low, high;

	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " rw-p", &low, &high) == 2 &&
		    low <= address && address < high)
			(void)mprotect((void *)low, high - low,
				       PROT_READ | PROT_WRITE | PROT_EXEC);
}

void stack_begin(struct sim *sim)
{
	FILE *maps;

	if (!sim->has_stack_code)
		sim->has_stack_code = dl_iterate_phdr(has_code_on_stack, NULL) ? 1 : -1;
	if (sim->has_stack_code < 0)
		return;
	maps = fopen("/proc/self/maps", "r");
	if (!maps)
		return;
	make_executable(maps, (uintptr_t)__builtin_frame_address(0));
	(void)fclose(maps);
}
