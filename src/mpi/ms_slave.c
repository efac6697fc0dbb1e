/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "core/data/data.h"
#include "core/data/routes.h"
#include "core/model/model.h"
#include "core/task/task.h"
#include "mpi/ms.h"
#include "mpi/ms_execute.h"

/* Addresses that a slave reserves: more than it has memory, since some are lost between
 * blocks; where bytes do not exist, and where the system refuses more. */
enum { ARENA_TIMES = 4 };
static const size_t arena_simulated = (size_t)1 << 36, arena_least = (size_t)1 << 30;

/* Of a codelet's flags, those that say how its kernel is simulated. */
enum { KINDS_OF_FLAGS = 4 };

/*
 * Ends of short tasks are told together, while the worker has others to execute: up to
 * TOLD_AT_ONCE of them, for held_s at most, which who polls sees to.
 */
enum { TOLD_AT_ONCE = 16 };
static const double held_s = 20e-6, short_s = 5e-6;

/* Of a worker. */
struct answers {
	struct orr_lock lock;
	int n;
	double since_s;
	struct ms_head head;
	struct ms_executed what[TOLD_AT_ONCE];
};

struct ms_slave {
	struct ms *ms;
	int master;
	char *base;
	size_t arena_bytes;
	/* What runs a command as a task of this node, by flags. */
	struct starpu_codelet codelets[KINDS_OF_FLAGS];
	struct starpu_perfmodel model;
	struct known *known;
	struct answers *answers; /* by worker */
	int nheld;               /* atomic: workers that hold answers back */
};

/* A kernel that has been looked for. */
struct known {
	struct known *next;
	struct symbol_place place;
	kernel_t kernel;
	char name[];
};

/* A command that is being executed. */
struct execution {
	struct ms_slave *slave;
	struct starpu_task *task;
	struct ms_head head;
	struct ms_execute how;
	kernel_t kernel;
	const char *name; /* the slave's */
	void *argument;
	void **buffers;
	/* What the interfaces have unpacked, by buffer; NULL: nothing. */
	int (**free)(void *interface);
	_Alignas(16) char body[];
};

/* ---- the kernel ------------------------------------------------------ */

static kernel_t find_kernel(const struct ms_slave *slave, const char *name,
			    const struct ms_execute *how)
{
	kernel_t kernel = name ? (kernel_t)symbols_named(name) : NULL;

	if (!kernel)
		kernel = (kernel_t)symbols_at(how->kernel);
	if (!kernel)
		orr_die(slave->ms->net->rank,
			"the kernel \"%s\" (cpu_funcs_name) is not in this slave's "
			"program, by its name or where the master has it: run the same "
			"program on all ranks, export the function (link with -rdynamic, "
			"not static), and load the same libraries",
			name ? name : "");
	return kernel;
}

static int is_known_as(const struct known *known, const char *name,
		       const struct ms_execute *how)
{
	return how->kernel.object == known->place.object &&
	       how->kernel.offset == known->place.offset &&
	       strcmp(name, known->name) == 0;
}

static struct known *known_kernel(struct ms_slave *slave, const char *name,
				  const struct ms_execute *how)
{
	struct known *known;

	for (known = slave->known; known; known = known->next)
		if (is_known_as(known, name ? name : "", how))
			return known;
	known = orr_alloc(sizeof(*known) + how->name_bytes + 1);
	known->kernel = find_kernel(slave, name, how);
	known->place = how->kernel;
	if (name)
		memcpy(known->name, name, how->name_bytes);
	known->next = slave->known;
	return slave->known = known;
}

static void set_kernel(struct execution *execution, const char *name)
{
	struct ms_slave *slave = execution->slave;
	const struct known *known;

	if (slave->ms->node->machine->one_environment) {
		execution->kernel = (kernel_t)(uintptr_t)execution->how.address;
		return;
	}
	known = known_kernel(slave, name, &execution->how);
	execution->kernel = known->kernel;
	execution->name = *known->name ? known->name : NULL;
}

static void call_kernel(void *buffers[], void *arg)
{
	struct execution *execution = arg;

	(void)buffers;
	/* Programs made for simulation declare kernels as (void *)1. */
	if ((uintptr_t)execution->kernel > 1)
		execution->kernel(execution->buffers, execution->argument);
}

/* ---- its duration ---------------------------------------------------- */

/* A GPU of a slave takes its data from the slave's memory, and gives them back. */
static double passage_s(struct worker *worker, struct starpu_task *task)
{
	double seconds = 0;

	if (worker->memory == STARPU_MAIN_RAM)
		return 0;
	for (int i = 0; i < (int)STARPU_TASK_GET_NBUFFERS(task); i++) {
		size_t bytes = data_bytes(STARPU_TASK_GET_HANDLE(task, (unsigned)i));
		unsigned mode = task_mode(task, i);

		if (mode & STARPU_R)
			seconds += routes_expected_s(worker->node, STARPU_MAIN_RAM,
						     worker->memory, bytes);
		if (mode & STARPU_W)
			seconds += routes_expected_s(worker->node, worker->memory,
						     STARPU_MAIN_RAM, bytes);
	}
	return seconds;
}

/* In microseconds, as programs say it. */
static double duration_us(struct starpu_task *task, unsigned workerid,
			  unsigned implementation)
{
	const struct execution *execution = task->cl_arg;
	struct node *node = execution->slave->ms->node;
	struct worker *worker = &node->workers[workerid];
	const struct job *job = execution->how.job;
	struct model_estimate estimate;

	(void)implementation;
	if (!node->machine->predicts)
		return NAN;
	estimate = model_expect(worker, job->task, job->implementation);
	if (estimate.source == MODEL_NONE)
		return job->may_be_timeless ? 0 : NAN;
	return 1e6 * (estimate.seconds + passage_s(worker, job->task));
}

static const struct job *master_s_job(const struct job *job)
{
	const struct starpu_task *task = job->task;
	const struct starpu_perfmodel *model = task && task->cl ? task->cl->model : NULL;
	const struct execution *execution = task ? task->cl_arg : NULL;

	return model && model->worker_cost_function == duration_us ? execution->how.job
								   : NULL;
}

/* ---- execution ------------------------------------------------------- */

static void free_execution(struct execution *execution)
{
	for (uint32_t i = 0; i < execution->how.nbuffers; i++)
		if (execution->free[i]) {
			execution->free[i](execution->buffers[i]);
			free(execution->buffers[i]);
		}
	free(execution->buffers);
	free(execution->free);
	free(execution);
}

/* The answers are locked, and unlocked. */
static void tell(struct ms_slave *slave, struct answers *answers)
{
	struct ms_executed what[TOLD_AT_ONCE];
	struct ms_head head = answers->head;
	size_t bytes = (size_t)answers->n * sizeof(*what);

	memcpy(what, answers->what, bytes);
	answers->n = 0;
	orr_unlock(&answers->lock);
	if (bytes)
		ms_send(slave->ms, slave->master, &head, what, bytes);
}

/* Somebody polls: what has been held for too long goes. */
static void tell_held(struct ms *ms)
{
	struct ms_slave *slave = ms->slave;
	double now_s;

	if (!orr_load(&slave->nheld))
		return;
	now_s = plat_now_s(ms->node->plat);
	for (int i = 0; i < ms->node->nworkers; i++) {
		struct answers *answers = &slave->answers[i];

		orr_lock(&answers->lock);
		if (!answers->n || now_s - answers->since_s < held_s) {
			orr_unlock(&answers->lock);
			continue;
		}
		orr_add(&slave->nheld, -1);
		tell(slave, answers);
	}
}

/* Another end of this worker's is due soon, and who polls looks after this one. */
static int may_hold(const struct answers *answers, struct worker *worker, double now_s)
{
	return worker->node->machine->polls_itself && orr_load(&worker->nbound) > 0 &&
	       answers->n < TOLD_AT_ONCE && now_s - answers->since_s < held_s &&
	       answers->what[answers->n - 1].duration_s < short_s;
}

static void hold_or_tell(struct ms_slave *slave, struct worker *worker,
			 const struct ms_head *head, double duration_s)
{
	struct answers *answers = &slave->answers[worker->id];
	double now_s = plat_now_s(worker->node->plat);
	int was_held;

	orr_lock(&answers->lock);
	was_held = answers->n > 0;
	if (!was_held)
		answers->since_s = now_s;
	answers->head = *head;
	answers->what[answers->n++] = (struct ms_executed){head->cookie, duration_s};
	if (may_hold(answers, worker, now_s)) {
		orr_add(&slave->nheld, !was_held);
		orr_unlock(&answers->lock);
		return;
	}
	orr_add(&slave->nheld, -was_held);
	tell(slave, answers);
}

/* The task's callback. */
static void on_executed(void *arg)
{
	struct execution *execution = arg;
	const struct starpu_task *task = execution->task;
	const struct job *job = task->starpu_private;
	struct ms_head head = execution->head;
	struct ms_slave *slave = execution->slave;

	head.kind = MS_EXECUTED;
	free_execution(execution);
	hold_or_tell(slave, &slave->ms->node->workers[task->workerid], &head,
		     job->duration_s);
}

/* Returns where the next buffer begins. */
static char *take_buffer(struct execution *execution, uint32_t i, char *at)
{
	const struct ms_buffer *buffer = (const void *)at;
	int (*unpack)(void **interface, void *ptr, starpu_ssize_t *count);
	starpu_ssize_t count = (starpu_ssize_t)buffer->bytes;

	at += ms_aligned(sizeof(*buffer));
	if (!buffer->unpack.object) {
		execution->buffers[i] = at;
		return at + ms_aligned(buffer->bytes);
	}
	unpack = (int (*)(void **, void *, starpu_ssize_t *))symbols_at(buffer->unpack);
	execution->free[i] = (int (*)(void *))symbols_at(buffer->free);
	if (!unpack || !execution->free[i])
		orr_die(execution->slave->ms->net->rank,
			"unpack_meta and free_meta of the interface of buffer %u are not "
			"in this slave's program: run the same program on all ranks",
			i);
	unpack(&execution->buffers[i], at, &count);
	return at + ms_aligned(buffer->bytes);
}

static struct execution *take_command(struct ms_slave *slave,
				      const struct ms_event *event)
{
	struct execution *execution = orr_alloc(sizeof(*execution) + event->bytes);
	char *at = execution->body;
	const char *name = NULL;

	memcpy(execution->body, event->body, event->bytes);
	execution->slave = slave;
	execution->head = event->head;
	memcpy(&execution->how, at, sizeof(execution->how));
	at += ms_aligned(sizeof(execution->how));
	if (execution->how.name_bytes)
		name = at;
	at += ms_aligned(execution->how.name_bytes);
	execution->argument = (void *)(uintptr_t)execution->how.argument;
	if (execution->how.argument_bytes)
		execution->argument = at;
	at += ms_aligned(execution->how.argument_bytes);
	execution->buffers =
		orr_alloc((execution->how.nbuffers + 1) * sizeof(*execution->buffers));
	execution->free =
		orr_alloc((execution->how.nbuffers + 1) * sizeof(*execution->free));
	for (uint32_t i = 0; i < execution->how.nbuffers; i++)
		at = take_buffer(execution, i, at);
	set_kernel(execution, name);
	return execution;
}

/* Seat number index of the slave: its cores are the first. */
static unsigned worker_of(const struct node *node, int index)
{
	int ncpus = node->nworkers_of[STARPU_CPU_WORKER];

	if (index < ncpus)
		return (unsigned)(node->first_worker_of[STARPU_CPU_WORKER] + index);
	return (unsigned)(node->first_worker_of[STARPU_CUDA_WORKER] + index - ncpus);
}

static void execute(struct ms_slave *slave, const struct ms_event *event)
{
	struct node *node = slave->ms->node;
	struct execution *execution = take_command(slave, event);
	struct starpu_task *task = task_create(node);

	execution->task = task;
	task->cl = &slave->codelets[execution->how.flags % KINDS_OF_FLAGS];
	task->name = execution->name;
	task->cl_arg = execution;
	task->execute_on_a_specific_worker = 1;
	task->workerid = worker_of(node, event->head.peer);
	task->callback_func = on_executed;
	task->callback_arg = execution;
	if (task_submit_ours(node, task) < 0)
		orr_die(node->rank, "worker %u cannot execute a command of rank %d",
			task->workerid, slave->master);
}

/* ---- the other commands ---------------------------------------------- */

static void answer(struct ms_slave *slave, const struct ms_head *to, int has_key)
{
	struct ms_head head = {.kind = MS_DONE,
			       .cookie = to->cookie,
			       .key = to->key,
			       .bytes = (uint64_t)has_key};

	ms_send(slave->ms, slave->master, &head, NULL, 0);
}

static void write_bytes(struct ms_slave *slave, const struct ms_event *event)
{
	struct layout layout;

	memcpy(&layout, event->body, sizeof(layout));
	layout_scatter(&layout, event->body + sizeof(layout));
	answer(slave, &event->head, 0);
}

static void move_bytes(struct ms_slave *slave, const struct ms_event *event,
		       enum outgoing_kind kind)
{
	struct layout layout;
	struct ms_bulk *bulk;

	memcpy(&layout, event->body, sizeof(layout));
	bulk = ms_bulk_new(slave->ms, event->head.peer, event->head.key, &layout);
	bulk->cookie = kind == OUTGOING_GET ? event->head.cookie : 0;
	ms_bulk_start(bulk, kind);
}

/* Only whole pages that are in the block. */
static void forget_pages(const struct ms_head *head)
{
	uintptr_t first = (head->address + 4095) & ~(uintptr_t)4095;
	uintptr_t end = (head->address + head->bytes) & ~(uintptr_t)4095;

	if (end > first)
		madvise((void *)first, end - first, MADV_DONTNEED);
}

static void handle(struct ms *ms, struct ms_event *event)
{
	struct ms_slave *slave = ms->slave;

	switch ((enum ms_kind)event->head.kind) {
	case MS_EXECUTE:
		execute(slave, event);
		break;
	case MS_WRITE:
		write_bytes(slave, event);
		break;
	case MS_GET:
		move_bytes(slave, event, OUTGOING_GET);
		break;
	case MS_PUT:
		move_bytes(slave, event, OUTGOING_PUT);
		break;
	case MS_MOVED:
		answer(slave, &event->head, 1);
		break;
	case MS_FREE:
		forget_pages(&event->head);
		break;
	case MS_END:
		plat_gate_open(ms->node->plat, &ms->gate);
		break;
	default:
		orr_die(ms->net->rank,
			"rank %d, the master, sends command %d; all ranks must run the "
			"same version of the library",
			event->peer, event->head.kind);
	}
}

/* ---- life ------------------------------------------------------------ */

static size_t memory_of(const struct node *node)
{
	size_t limit = node->memories[STARPU_MAIN_RAM].capacity_bytes;
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	int nlocal = node_knobs(node)->local_size > 0 ? node_knobs(node)->local_size : 1;

	if (limit || node->machine->one_environment || pages <= 0)
		return limit;
	return (size_t)pages / (size_t)nlocal * (size_t)page;
}

static int reserve(struct ms_slave *slave, size_t memory_bytes)
{
	size_t bytes = memory_bytes ? ARENA_TIMES * memory_bytes : arena_simulated;

	if (bytes < arena_least)
		bytes = arena_least;
	for (; bytes >= arena_least; bytes /= 2) {
		void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (base == MAP_FAILED)
			continue;
		slave->base = base;
		slave->arena_bytes = bytes;
		return 0;
	}
	orr_complain(slave->ms->net->rank,
		     "no %zu bytes of addresses for what a slave keeps for its master: "
		     "raise the limit (ulimit -v unlimited)",
		     arena_least);
	return -ENOMEM;
}

static void say_hello(struct ms_slave *slave, size_t memory_bytes)
{
	struct node *node = slave->ms->node;
	struct ms_head head = {.kind = MS_HELLO};
	struct ms_hello hello = {.base = (uintptr_t)slave->base,
				 .arena_bytes = slave->arena_bytes,
				 .memory_bytes = memory_bytes,
				 .ncpus = node->nworkers_of[STARPU_CPU_WORKER],
				 .ngpus = node->nworkers_of[STARPU_CUDA_WORKER]};

	if (node->machine->one_environment)
		hello.node = node;
	else
		hello.ngpus = 0;
	memcpy(hello.model, node->machine->devices[STARPU_CPU_WORKER].model,
	       sizeof(hello.model));
	ms_send(slave->ms, slave->master, &head, &hello, sizeof(hello));
}

static void describe(struct node *node, void (*say)(void *arg, const char *line),
		     void *arg)
{
	char line[160];

	snprintf(line, sizeof(line),
		 "starpu_init: a slave serves rank %d, its master, until that calls "
		 "starpu_shutdown()",
		 node->ms->slave->master);
	say(arg, line);
}

int ms_slave_lost(const struct ms *ms)
{
	int master = ms->slave->master;

	return ms_is_lost(ms, master) ? master : -1;
}

static void init_codelets(struct ms_slave *slave)
{
	slave->model.type = STARPU_PER_WORKER;
	slave->model.worker_cost_function = duration_us;
	if (slave->ms->node->machine->one_environment)
		slave->ms->node->stands_for = master_s_job;
	for (int i = 0; i < KINDS_OF_FLAGS; i++) {
		struct starpu_codelet *cl = &slave->codelets[i];

		cl->cpu_funcs[0] = cl->cuda_funcs[0] = call_kernel;
		cl->flags = i;
		cl->model = &slave->model;
	}
}

static void init_answers(struct ms_slave *slave)
{
	int n = slave->ms->node->nworkers;

	slave->answers = orr_alloc((size_t)n * sizeof(*slave->answers));
	for (int i = 0; i < n; i++)
		orr_lock_init(&slave->answers[i].lock);
	slave->ms->polled = tell_held;
}

int ms_serve(struct node *node, const struct ms_config *config)
{
	struct ms_slave slave = {.master = config->master};
	size_t memory_bytes = memory_of(node);
	struct ms_head bye = {.kind = MS_BYE};
	struct known *next;
	int ret = ms_open(node, config, handle);

	if (ret < 0)
		return ret;
	slave.ms = node->ms;
	slave.ms->slave = &slave;
	node->on_describe = describe;
	init_codelets(&slave);
	init_answers(&slave);
	ret = reserve(&slave, memory_bytes);
	if (ret < 0)
		return ret;
	orr_store(&node->serves, 1);
	ms_start(slave.ms);
	say_hello(&slave, memory_bytes);
	plat_gate_wait(node->plat, &slave.ms->gate);
	orr_store(&node->serves, 0);
	node_wait_submitted(node, 0);
	ms_send(slave.ms, slave.master, &bye, NULL, 0);
	ms_close(slave.ms);
	free(slave.answers);
	munmap(slave.base, slave.arena_bytes);
	for (; slave.known; slave.known = next) {
		next = slave.known->next;
		free(slave.known);
	}
	return 0;
}
