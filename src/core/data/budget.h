/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_BUDGET_H
#define ORR_CORE_DATA_BUDGET_H

/*
 * budget.h - the account of a memory that the application asks for bytes from, with
 * starpu_malloc_flags() or for its data, against a limit such as STARPU_LIMIT_CPU_MEM.
 *
 * Who does not fit makes values leave (core/data/spill.h), waits, is refused, or goes
 * over the limit, as the flags say.
 */
#include "core/node.h"

/* Book bytes with STARPU_MEMORY_ flags.  0 or -ENOMEM; with STARPU_MEMORY_WAIT the user
 * thread blocks until there is room. */
int budget_take(struct node *node, unsigned memory, size_t bytes, int flags);
/* Give bytes back, with nothing locked; wakes who fits now. */
void budget_give(struct node *node, unsigned memory, size_t bytes);
/* See who fits now; with nothing locked. */
void budget_serve(struct node *node, unsigned memory);
/* What the first that waits asks for; 0: nobody does.  The memory is locked. */
size_t budget_wanted(const struct memory *memory);
/* Block the user thread until bytes would fit, without taking them. */
void budget_wait(struct node *node, unsigned memory, size_t bytes);
/* End the run, since what could not be allocated: names the limit, if there is one. */
void budget_complain(struct node *node, unsigned memory, size_t bytes, const char *what)
	__attribute__((noreturn));
/* The variable that limits a memory. */
const char *budget_limit_name(const struct memory *memory);

#endif
