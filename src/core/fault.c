/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include "core/fault.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/task/job.h"
#include "core/worker.h"

/* Without a terminal, so it works behind mpirun, too. */
static const char remedy[] =
	"To see where: compile with -g and give orrery run the option --wrapper "
	"\"gdb -batch -ex run -ex backtrace --args\", or put that command before the "
	"program's name";

struct text {
	char bytes[2048];
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text,
						      const char *format, ...)
{
	size_t left = sizeof(text->bytes) - text->used;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text->bytes + text->used, left, format, args);
	va_end(args);
	if (n > 0)
		text->used += (size_t)n < left ? (size_t)n : left - 1;
}

static void add_signal(struct text *text, const struct fault *fault)
{
	const siginfo_t *info = fault->info;
	const char *name = sigabbrev_np(fault->number);

	add(text, "signal %d (SIG%s", fault->number, name ? name : "?");
	if (fault->number == SIGABRT)
		add(text, ": abort(), a failed assert() or the like");
	else if (info->si_code > 0)
		add(text, ": %s, address %#lx", sigdescr_np(fault->number),
		    (unsigned long)(uintptr_t)info->si_addr);
	else if (info->si_pid != getpid())
		add(text, ", sent by process %d", (int)info->si_pid);
	add(text, ")");
}

static void add_codelet(struct text *text, const struct starpu_task *task)
{
	const struct job *job = task->starpu_private;
	const char *codelet = task->cl ? task->cl->name : NULL;
	char name[JOB_NAME_BYTES];

	if (!job || job->task != task) {
		add(text, "a task");
		return;
	}
	job->ops->describe(job, name, sizeof(name));
	add(text, "%s", name);
	if (codelet && task->name && strcmp(task->name, codelet) != 0)
		add(text, " of codelet \"%.80s\"", codelet);
}

static void add_place(struct text *text, const struct fault *fault)
{
	const struct plat_caller *caller = fault->caller;
	const struct worker *worker = caller ? caller->worker : NULL;

	if (caller && caller->task) {
		add(text, caller->depth ? " in a callback of " : " in the kernel of ");
		add_codelet(text, caller->task);
	} else if (caller && caller->depth) {
		add(text, " in a callback");
	} else if (!worker) {
		add(text, " in %s", fault->place);
	}
	if (worker)
		add(text, " on worker %d (%s %d)%s", worker->id,
		    worker->kind ? worker->kind->name : "device", worker->devid,
		    caller->task || caller->depth ? "" : ", between tasks");
}

static void add_where(struct text *text, const struct fault *fault)
{
	add_place(text, fault);
	if (fault->nranks > 0)
		add(text, " of rank %d of %d", fault->rank, fault->nranks);
	if (fault->date_s >= 0)
		add(text, ", after %.9g s of simulated time", fault->date_s);
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
	ssize_t n;

	if (fault->nranks > 0)
		snprintf(who, sizeof(who), "[orrery][rank %d]", fault->rank);
	add(&text, "%s ", who);
	add_signal(&text, fault);
	add_where(&text, fault);
	add(&text, ": the program ends\n%s %s\n", who, remedy);
	n = write(STDERR_FILENO, text.bytes, text.used);
	(void)n;
}
