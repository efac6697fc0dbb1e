/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include "sim.h"

#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "core/outside.h"
#include "sim/posix_own.h"

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

struct mapping {
	uintptr_t low, high;
};

static int is_in(const struct mapping *mapping, uintptr_t address)
{
	return mapping->low <= address && address < mapping->high;
}

/* The writable mapping that an address is in: a stack ends at its guard page and that of
 * another.  1: found. */
static int find_mapping(uintptr_t address, struct mapping *found)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], rights[8];
	int is_found = 0;

	if (!maps)
		return 0;
	while (!is_found && fgets(line, sizeof(line), maps))
		is_found = sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &found->low,
				  &found->high, rights) == 3 &&
			   strncmp(rights, "rw", 2) == 0 && is_in(found, address);
	(void)fclose(maps);
	return is_found;
}

void stack_begin(struct sim *sim, struct sim_thread *thread)
{
	struct mapping mapping;

	thread->stack_at = (uintptr_t)__builtin_frame_address(0);
	if (!sim->has_stack_code)
		sim->has_stack_code = dl_iterate_phdr(has_code_on_stack, NULL) ? 1 : -1;
	if (sim->has_stack_code > 0 && find_mapping(thread->stack_at, &mapping))
		(void)mprotect((void *)mapping.low, mapping.high - mapping.low,
			       PROT_READ | PROT_WRITE | PROT_EXEC);
}

/* ---- jumps off the stack ------------------------------------------------ */

static int is_of_thread(const struct sim *sim, const struct mapping *mapping)
{
	const struct sim_thread *thread;
	size_t cursor = 0;

	for (thread = sim->first_main; thread; thread = thread->next)
		if (is_in(mapping, thread->stack_at))
			return 1;
	while (sim->posix && (thread = table_next(&sim->posix->threads, &cursor)))
		if (is_in(mapping, thread->stack_at))
			return 1;
	return 0;
}

/*
 * A kernel or a callback may have a stack of its own, as fibres have; but the stacks of
 * threads that wait for it are theirs.  Who is there all the same has jumped: to where
 * the thread called the library, which is still in that call.
 */
void stack_look(struct sim *sim)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	struct mapping mapping;

	if (sim_is_stranger() || (sim->aside_low <= here && here < sim->aside_high))
		return;
	if (!find_mapping(here, &mapping))
		return;
	if (is_of_thread(sim, &mapping)) {
		if (sim->current)
			outside_refuse(plat_caller(sim->current), "longjmp()");
		orr_die(ORR_NO_RANK, "a callback or kernel is left by longjmp(): let it "
				     "return");
	}
	sim->aside_low = mapping.low;
	sim->aside_high = mapping.high;
}
