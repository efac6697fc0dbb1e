/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include "core/fault.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "core/task/job.h"
#include "core/worker.h"

/* Without a terminal, so it works behind mpirun, too. */
static const char remedy[] =
	"To see where: compile with -g and give orrery run the option --wrapper "
	"\"gdb -batch -ex run -ex backtrace --args\", or put that command before the "
	"program's name";

static void add_signal(struct text *text, const struct fault *fault)
{
	const siginfo_t *info = fault->info;
	const char *name = sigabbrev_np(fault->number);

	text_add(text, "signal %d (SIG%s", fault->number, name ? name : "?");
	if (fault->number == SIGABRT)
		text_add(text, ": abort(), a failed assert() or the like");
	else if (info->si_code > 0)
		text_add(text, ": %s, address %#lx", sigdescr_np(fault->number),
			 (unsigned long)(uintptr_t)info->si_addr);
	else if (info->si_pid != getpid())
		text_add(text, ", sent by process %d", (int)info->si_pid);
	text_add(text, ")");
}

static void add_codelet(struct text *text, const struct starpu_task *task)
{
	const struct job *job = task->starpu_private;
	const char *codelet = task->cl ? task->cl->name : NULL;
	char name[JOB_NAME_BYTES];

	if (!job || job->task != task) {
		text_add(text, "a task");
		return;
	}
	job->ops->describe(job, name, sizeof(name));
	text_add(text, "%s", name);
	if (codelet && task->name && strcmp(task->name, codelet) != 0)
		text_add(text, " of codelet \"%.80s\"", codelet);
}

static void add_place(struct text *text, const struct fault *fault)
{
	const struct plat_caller *caller = fault->caller;
	const struct worker *worker = caller ? caller->worker : NULL;

	if (caller && caller->task) {
		text_add(text,
			 caller->depth ? " in a callback of " : " in the kernel of ");
		add_codelet(text, caller->task);
	} else if (caller && caller->depth) {
		text_add(text, " in a callback");
	} else if (!worker) {
		text_add(text, " in %s", fault->place);
	}
	if (worker)
		text_add(text, " on worker %d (%s %d)%s", worker->id,
			 worker->kind ? worker->kind->name : "device", worker->devid,
			 caller->task || caller->depth ? "" : ", between tasks");
}

static void add_where(struct text *text, const struct fault *fault)
{
	add_place(text, fault);
	if (fault->nranks > 0)
		text_add(text, " of rank %d of %d", fault->rank, fault->nranks);
	if (fault->date_s >= 0)
		text_add(text, ", after %.9g s of simulated time", fault->date_s);
}

void fault_describe(const struct fault *fault, char *bytes, size_t capacity)
{
	struct text text = {.used = 0};

	add_where(&text, fault);
	snprintf(bytes, capacity, "%s", text.bytes);
}

void fault_tell(const struct fault *fault)
{
	struct text text = {.used = 0};
	char who[64] = "[orrery]";

	if (fault->nranks > 0)
		snprintf(who, sizeof(who), "[orrery][rank %d]", fault->rank);
	text_add(&text, "%s ", who);
	add_signal(&text, fault);
	add_where(&text, fault);
	text_add(&text, ": the program ends\n%s %s\n", who, remedy);
	text_put(&text);
}
