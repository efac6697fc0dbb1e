/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>

#include "run.h"

/*
 * chains.c - work that submits work: tasks and acquisitions from callbacks and kernels,
 * tasks that regenerate or are submitted again, with their dependencies; and one task
 * on many data.
 */

/* How a step of a chain makes the next one. */
enum link {
	LINK_CALLBACK, /* a task, the next from its callback */
	LINK_ACQUIRE,  /* an acquisition, the next from its callback */
	LINK_KERNEL,   /* a task, the next from its kernel */
	LINK_EMPTY,    /* a task without a kernel, then an acquisition */
	LINK_MIXED,
	LINK_REGENERATE,
	LINK_RESUBMIT, /* one task, submitted again in its callback */
	NLINKS
};

struct chain {
	struct chain *next;
	struct run *run;
	const struct op *op;
	starpu_data_handle_t handle;
	struct starpu_task *task;
	uint64_t value, expected;
	int left, total, is_finished; /* finished: atomic */
	enum link link;
};

static void chain_next(struct chain *chain);

static void chain_ended_step(void *arg)
{
	struct chain *chain = arg;

	if (--chain->left > 0)
		chain_next(chain);
	else
		__atomic_store_n(&chain->is_finished, 1, __ATOMIC_RELEASE);
}

static enum link present_link(const struct chain *chain)
{
	if (chain->link == LINK_MIXED)
		return (enum link)((unsigned)chain->left % 4);
	return chain->link;
}

static void chain_kernel(void *buffers[], void *arg)
{
	struct chain *chain;
	uint64_t *x = (uint64_t *)STARPU_VARIABLE_GET_PTR(buffers[0]);

	starpu_codelet_unpack_args(arg, &chain);
	*x = *x * 5 + (uint64_t)chain->total;
	if (present_link(chain) == LINK_KERNEL)
		chain_ended_step(chain);
}

static void chain_acquired(void *arg)
{
	struct chain *chain = arg;
	uint64_t *x = (uint64_t *)starpu_variable_get_local_ptr(chain->handle);

	*x = *x * 5 + (uint64_t)chain->total;
	if (chain->left % 3 == 0)
		starpu_data_release_to(chain->handle, STARPU_R);
	starpu_data_release(chain->handle);
	chain_ended_step(chain);
}

static struct starpu_codelet *chain_codelet(void)
{
	static struct starpu_codelet codelet = {.cpu_funcs = {chain_kernel},
						.nbuffers = 1,
						.modes = {STARPU_RW},
						.model = &starpu_perfmodel_nop,
						.name = "chain"};

	return &codelet;
}

static void chain_insert(struct chain *chain, int with_callback)
{
	int ret;

	if (with_callback)
		ret = starpu_task_insert(chain_codelet(), STARPU_VALUE, &chain,
					 sizeof(chain), STARPU_RW, chain->handle,
					 STARPU_CALLBACK_WITH_ARG_NFREE, chain_ended_step,
					 chain, 0);
	else
		ret = starpu_task_insert(chain_codelet(), STARPU_VALUE, &chain,
					 sizeof(chain), STARPU_RW, chain->handle, 0);
	if (ret)
		run_bad(chain->run, chain->op, "insertion from a callback", 1, 0);
}

static void chain_next(struct chain *chain)
{
	struct starpu_task *empty;

	switch (present_link(chain)) {
	case LINK_CALLBACK:
		chain_insert(chain, 1);
		return;
	case LINK_KERNEL:
		chain_insert(chain, 0);
		return;
	case LINK_EMPTY:
		empty = starpu_task_create();
		empty->handles[0] = chain->handle;
		empty->modes[0] = STARPU_RW;
		empty->nbuffers = 1;
		if (starpu_task_submit(empty))
			run_bad(chain->run, chain->op, "submission from a callback", 1,
				0);
		break;
	default:
		break;
	}
	starpu_data_acquire_cb(chain->handle, STARPU_RW, chain_acquired, chain);
}

static void chain_regenerated(void *arg)
{
	struct chain *chain = arg;

	if (--chain->left > 0)
		return;
	chain->task->regenerate = 0;
	__atomic_store_n(&chain->is_finished, 1, __ATOMIC_RELEASE);
}

static void chain_resubmit(void *arg)
{
	struct chain *chain = arg;

	if (--chain->left > 0) {
		if (starpu_task_submit(chain->task))
			run_bad(chain->run, chain->op, "submission again", 1, 0);
		return;
	}
	__atomic_store_n(&chain->is_finished, 1, __ATOMIC_RELEASE);
}

/* One task that runs several times. */
static void chain_start_task(struct chain *chain)
{
	struct starpu_task *task = starpu_task_create();

	chain->task = task;
	starpu_codelet_pack_args(&task->cl_arg, &task->cl_arg_size, STARPU_VALUE, &chain,
				 sizeof(chain), 0);
	task->cl_arg_free = 1;
	task->cl = chain_codelet();
	task->handles[0] = chain->handle;
	task->callback_arg = chain;
	if (chain->link == LINK_REGENERATE) {
		task->regenerate = 1;
		task->callback_func = chain_regenerated;
	} else {
		task->destroy = 0;
		task->callback_func = chain_resubmit;
	}
	if (starpu_task_submit(task))
		run_bad(chain->run, chain->op, "submission", 1, 0);
}

static void chain_start(struct lane_run *lane, const struct op *op)
{
	struct chain *chain = calloc(1, sizeof(*chain));
	int nlinks =
		has_feature(lane->run->program, FEATURE_REPEAT) ? NLINKS : LINK_RESUBMIT;

	chain->run = lane->run;
	chain->op = op;
	chain->link = (enum link)(op->choice[1] % (unsigned)nlinks);
	chain->total = chain->left = 1 + (int)(op->choice[2] % 12);
	chain->value = chain->expected = op->salt;
	for (int i = 0; i < chain->total; i++)
		chain->expected = chain->expected * 5 + (uint64_t)chain->total;
	chain->next = lane->chains;
	lane->chains = chain;
	starpu_variable_data_register(&chain->handle, STARPU_MAIN_RAM,
				      (uintptr_t)&chain->value, sizeof(chain->value));
	if (chain->link >= LINK_REGENERATE)
		chain_start_task(chain);
	else
		chain_next(chain);
}

void chains_check_ended(struct lane_run *lane)
{
	for (struct chain *chain = lane->chains; chain; chain = chain->next)
		if (!__atomic_load_n(&chain->is_finished, __ATOMIC_ACQUIRE))
			run_bad(lane->run, chain->op,
				"wait_for_all() returned before a chain ended",
				(uint64_t)chain->left, 0);
}

void chains_finish(struct lane_run *lane)
{
	while (lane->chains) {
		struct chain *chain = lane->chains;

		lane->chains = chain->next;
		starpu_data_unregister(chain->handle);
		if (chain->link == LINK_RESUBMIT)
			starpu_task_destroy(chain->task);
		if (!__atomic_load_n(&chain->is_finished, __ATOMIC_ACQUIRE))
			run_bad(lane->run, chain->op, "a chain has not finished",
				(uint64_t)chain->left, 0);
		if (chain->value != chain->expected)
			run_bad(lane->run, chain->op, "value of a chain", chain->value,
				chain->expected);
		free(chain);
	}
}

/* ---- a subgraph that is submitted again ------------------------------ */

enum { MAX_LINKS = 5 };

/* Tasks in a row by dependencies alone: the value is not the library's. */
struct repeat {
	uint64_t value;
	int ntasks;
	struct starpu_task *tasks[MAX_LINKS];
};

struct repeat_ticket {
	struct repeat *repeat;
	int index;
};

static void repeat_kernel(void *buffers[], void *arg)
{
	struct repeat_ticket ticket;

	(void)buffers;
	starpu_codelet_unpack_args(arg, &ticket);
	ticket.repeat->value = ticket.repeat->value * 7 + (uint64_t)ticket.index;
}

static struct starpu_task *repeat_task(struct repeat *repeat, int index, starpu_tag_t tag)
{
	static struct starpu_codelet codelet = {.cpu_funcs = {repeat_kernel},
						.nbuffers = 0,
						.model = &starpu_perfmodel_nop,
						.name = "repeat"};
	struct repeat_ticket ticket = {repeat, index};
	struct starpu_task *task = starpu_task_create();

	starpu_codelet_pack_args(&task->cl_arg, &task->cl_arg_size, STARPU_VALUE, &ticket,
				 sizeof(ticket), 0);
	task->cl = &codelet;
	task->cl_arg_free = 1;
	task->detach = task->destroy = 0;
	if (tag) {
		task->use_tag = 1;
		task->tag_id = tag + (starpu_tag_t)index;
		if (index)
			starpu_tag_declare_deps(task->tag_id, 1, task->tag_id - 1);
	} else if (index) {
		starpu_task_declare_deps_array(task, 1, &repeat->tasks[index - 1]);
	}
	return task;
}

static void repeat_round(struct lane_run *lane, const struct op *op,
			 struct repeat *repeat, int reverse)
{
	for (int i = 0; i < repeat->ntasks; i++) {
		int which = reverse ? repeat->ntasks - 1 - i : i;

		if (starpu_task_submit(repeat->tasks[which]))
			run_bad(lane->run, op, "submission again", (uint64_t)which, 0);
	}
	for (int i = 0; i < repeat->ntasks; i++)
		if (starpu_task_wait(repeat->tasks[i]))
			run_bad(lane->run, op, "starpu_task_wait()", 1, 0);
}

static void repeat_subgraph(struct lane_run *lane, const struct op *op)
{
	struct repeat repeat = {.ntasks = 2 + (int)(op->choice[1] % (MAX_LINKS - 1))};
	starpu_tag_t tag = op->choice[3] % 2 ? ((starpu_tag_t)(lane->index + 1) << 52) +
						       ((starpu_tag_t)op->id << 8) + 1
					     : 0;
	uint64_t expected = 0;

	for (int i = 0; i < repeat.ntasks; i++)
		repeat.tasks[i] = repeat_task(&repeat, i, tag);
	for (unsigned round = 0; round < 1 + op->choice[2] % 4; round++) {
		/* One that is held back cannot submit what the others wait for. */
		int reverse =
			(op->choice[4] >> round) % 2 && !lane->run->program->limited;

		repeat_round(lane, op, &repeat, reverse);
		for (int i = 0; i < repeat.ntasks; i++)
			expected = expected * 7 + (uint64_t)i;
		if (repeat.value != expected)
			run_bad(lane->run, op, "value of a repeated subgraph",
				repeat.value, expected);
	}
	for (int i = 0; i < repeat.ntasks; i++)
		starpu_task_destroy(repeat.tasks[i]);
}

int run_chain_op(struct lane_run *lane, struct op *op)
{
	if (op->kind == OP_CHAIN)
		chain_start(lane, op);
	else if (op->kind == OP_REPEAT)
		repeat_subgraph(lane, op);
	else
		return 0;
	return 1;
}
